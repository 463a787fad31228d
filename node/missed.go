package node

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"
)

// Missed are the moments at which an agent went on without an answer, as cmd/parley-hook noted them.
type Missed struct {
	Count int // at least so many; the note is bounded
	Last  time.Time
	Agent string // of the last one
	// Why of the last one: down (no node), slow, rubbish, refused, or big (a payload that is not asked about).
	Why string
}

// MissedPath is the file of the note.
func (h Home) MissedPath() string { return h.path("hook-missed") }

// missedBytesMax is more than the note can grow to.
const missedBytesMax = 256 << 10

// Missed reads the note, from the given time on. Lines that are spoiled are passed over.
func (h Home) Missed(since time.Time) (Missed, error) {
	text, err := os.ReadFile(h.MissedPath())
	if errors.Is(err, fs.ErrNotExist) {
		return Missed{}, nil
	}
	if err != nil {
		return Missed{}, err
	}
	var m Missed
	for line := range strings.Lines(string(text[:min(len(text), missedBytesMax)])) {
		fields := strings.Fields(line)
		if len(fields) != 3 || !strings.HasSuffix(line, "\n") {
			continue
		}
		seconds, err := strconv.ParseInt(fields[0], 10, 64)
		at := time.Unix(seconds, 0)
		if err != nil || at.Before(since) {
			continue
		}
		m.Count++
		if !at.Before(m.Last) {
			m.Last, m.Agent, m.Why = at, fields[1], fields[2]
		}
	}
	return m, nil
}

// RunsSince is when the running node took the home; false: none runs.
func (h Home) RunsSince() (time.Time, bool) {
	if _, running := h.Holder(); !running {
		return time.Time{}, false
	}
	info, err := os.Stat(h.path("pid"))
	if err != nil {
		return time.Time{}, false
	}
	return info.ModTime(), true
}
