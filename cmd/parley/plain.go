package main

import (
	"cmp"
	"io"
	"os"
	"strings"
)

// drawn reports whether the terminal may be drawn on: moved about in, and given pictures. A screen reader's person says
// no, with --plain or PARLEY_PLAIN, and so does a terminal that calls itself dumb.
func (a *app) drawn() bool {
	return terminal(a.out) && !a.plain && os.Getenv("PARLEY_PLAIN") == "" && os.Getenv("TERM") != "dumb"
}

// bold marks a word on a terminal that wants it (NO_COLOR).
func (a *app) bold(s string) string {
	if !a.drawn() || os.Getenv("NO_COLOR") != "" || cmp.Or(os.Getenv("TERM"), "dumb") == "dumb" {
		return s
	}
	return "\x1b[1m" + s + "\x1b[0m"
}

// spelled puts words in the place of signs, where nothing may be drawn.
func (a *app) spelled(w io.Writer) io.Writer {
	if terminal(a.out) && !a.drawn() || a.plain || os.Getenv("PARLEY_PLAIN") != "" {
		return inWords{w}
	}
	return w
}

// inWords writes the signs of a demo as words.
type inWords struct{ w io.Writer }

var signs = strings.NewReplacer("✓", "holds:", "✗", "FAILED:", "  …  ", "  then ", "…", "...")

// Write takes whole lines: a sign is never cut in two.
func (s inWords) Write(b []byte) (int, error) {
	if _, err := io.WriteString(s.w, signs.Replace(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}
