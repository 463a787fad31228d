package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Diff is what differs between two commits, for a person to read.
type Diff struct {
	Files []DiffFile
	Text  string // as git shows it
	Cut   bool   // Text goes on beyond what was asked for
}

// DiffFile is how many lines of one file differ; both are -1 where it is binary.
type DiffFile struct {
	Path           string
	Added, Removed int
}

// diffFilesMax is how many files of a diff are listed.
const diffFilesMax = 500

var errEnough = errors.New("enough")

// Diff compares two commits of the mirror. At most so many bytes of text are read; nothing that a repository
// configures is started.
func (m *Mirror) Diff(ctx context.Context, old, new OID, most int) (Diff, error) {
	if !old.Valid() || !new.Valid() {
		return Diff{}, fmt.Errorf("diff of %q and %q: not commits", old, new)
	}
	plain := func(args ...string) call {
		args = append([]string{"diff", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames"}, args...)
		return call{args: append(args, string(old), string(new), "--")}
	}
	counts, err := m.git.must(ctx, plain("--numstat", "-z"))
	if err != nil {
		return Diff{}, err
	}
	var out Diff
	for rec := range strings.SplitSeq(string(counts), "\x00") {
		if f := strings.SplitN(rec, "\t", 3); len(f) == 3 && len(out.Files) < diffFilesMax {
			out.Files = append(out.Files, DiffFile{Path: f[2], Added: count(f[0]), Removed: count(f[1])})
		}
	}
	var text bytes.Buffer
	err = m.git.stream(ctx, plain(), func(r io.Reader) error {
		n, err := io.Copy(&text, io.LimitReader(r, int64(most)+1))
		if n > int64(most) {
			return errEnough
		}
		return err
	})
	if errors.Is(err, errEnough) {
		out.Cut, err = true, nil
		text.Truncate(most)
	}
	out.Text = readable(text.String())
	return out, err
}

// readable is text in which nothing moves a cursor, and whose bytes are characters.
func readable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < ' ' || r >= 0x7f && r < 0xa0:
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(s, string(utf8.RuneError)))
}

func count(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1 // git writes "-" for a binary file
	}
	return n
}
