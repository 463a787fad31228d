package node

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/core"
)

// journalLinesMax is how many lines are kept in memory for those who ask what happened. The file holds
// more: beyond journalBytesMax a new one is begun, and the one before it stays as log.jsonl.1.
const (
	journalLinesMax = 2000
	journalBytesMax = 8 << 20
)

// journal is the timeline of one computer: a file of JSON lines, and the last of them in memory.
type journal struct {
	mu    sync.Mutex
	file  *os.File
	size  int64 // of the file
	out   io.Writer
	wall  func() time.Time
	lines []api.LogLine
	bell  api.Bell
}

func openJournal(path string, out io.Writer, wall func() time.Time) (*journal, error) {
	before, _, err := readJournal(path + ".1")
	if err != nil {
		return nil, err
	}
	lines, size, err := readJournal(path)
	if err != nil {
		return nil, err
	}
	lines = last(slices.Concat(before, lines), journalLinesMax)
	j := &journal{out: out, wall: wall, lines: lines, size: size}
	if j.file, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
		return nil, err
	}
	return j, nil
}

// readJournal reads the last lines of a timeline. A line that a killed node left half written is passed
// over.
func readJournal(path string) (lines []api.LogLine, size int64, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	r := bufio.NewReader(f)
	for {
		text, err := r.ReadString('\n')
		size += int64(len(text))
		var l api.LogLine
		if json.Unmarshal([]byte(text), &l) == nil && l.Seq > 0 {
			lines = append(lines, l)
		}
		if len(lines) > 2*journalLinesMax {
			lines = slices.Clone(lines[journalLinesMax:])
		}
		if errors.Is(err, io.EOF) {
			return last(lines, journalLinesMax), size, nil
		}
		if err != nil {
			return nil, 0, fmt.Errorf("read the log %s: %w", path, err)
		}
	}
}

func last[T any](s []T, n int) []T { return s[max(0, len(s)-n):] }

// add notes one line. A log that cannot be written must not stop the node; the line stays in memory.
func (j *journal) add(n core.Note) {
	j.mu.Lock()
	defer j.mu.Unlock()
	l := api.LogLine{Seq: 1, At: j.wall(), Level: n.Level, Kind: n.Kind, Who: n.Who, Ref: n.Ref, Text: n.Text}
	if n.Ref != "" {
		l.Thread = n.Thread.String()
	}
	if k := len(j.lines); k > 0 {
		l.Seq = j.lines[k-1].Seq + 1
	}
	j.lines = append(j.lines, l)
	if len(j.lines) > 2*journalLinesMax {
		j.lines = slices.Clone(last(j.lines, journalLinesMax))
	}
	j.write(l)
	if j.out != nil {
		fmt.Fprintln(j.out, lineText(l))
	}
	j.bell.Ring()
}

func (j *journal) write(l api.LogLine) {
	b, err := json.Marshal(l)
	if err != nil {
		return
	}
	if j.size+int64(len(b)) > journalBytesMax {
		j.rotate()
	}
	n, err := j.file.Write(append(b, '\n'))
	j.size += int64(n)
	if err != nil && j.out != nil {
		fmt.Fprintln(j.out, "the log cannot be written:", err)
	}
}

// rotate begins a new file. The full one stays beside it, and takes the place of the one before.
func (j *journal) rotate() {
	name := j.file.Name()
	if os.Rename(name, name+".1") != nil {
		return // it grows on
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return // the old file, under its new name
	}
	_ = j.file.Close()
	j.file, j.size = f, 0
}

func (j *journal) since(after uint64, most int) []api.LogLine {
	j.mu.Lock()
	defer j.mu.Unlock()
	return linesSince(j.lines, after, most)
}

func linesSince(lines []api.LogLine, after uint64, most int) []api.LogLine {
	if after == 0 {
		return slices.Clone(last(lines, most))
	}
	i := slices.IndexFunc(lines, func(l api.LogLine) bool { return l.Seq > after })
	if i < 0 {
		return nil
	}
	return slices.Clone(lines[i:min(len(lines), i+most)])
}

func (j *journal) close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.file.Close()
}

// lineText is a line as a terminal shows it.
func lineText(l api.LogLine) string {
	var b strings.Builder
	b.WriteString(l.At.Local().Format("15:04:05"))
	for _, part := range []string{l.Ref, l.Who} {
		if part != "" {
			b.WriteString("  " + part)
		}
	}
	b.WriteString("  " + l.Text)
	return b.String()
}
