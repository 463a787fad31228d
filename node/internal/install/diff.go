package install

import (
	"fmt"
	"strings"
)

// around is how many lines stand before and after a change.
const around = 3

// Diff shows the change as a unified diff; "" when nothing changes.
func (c Change) Diff() string {
	if c.Same() {
		return ""
	}
	from, to := "a"+slash(c.Path), "b"+slash(c.Path)
	before, after := c.Before, c.After
	if !c.Exists {
		from, before = "/dev/null", ""
	}
	if c.Gone {
		to, after = "/dev/null", ""
	}
	return "--- " + from + "\n+++ " + to + "\n" + hunks(lines(before), lines(after))
}

func slash(path string) string {
	path = strings.ReplaceAll(path, `\`, "/")
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return path
}

// lines are a text's lines with their ends.
func lines(s string) []string {
	var out []string
	for l := range strings.Lines(s) {
		out = append(out, l)
	}
	return out
}

// step is a line that stays, goes or comes.
type step struct {
	sign byte
	line string
}

// hunks prints what differs, with a few lines around.
func hunks(a, b []string) string {
	steps := script(a, b)
	var out strings.Builder
	for i := 0; i < len(steps); {
		if steps[i].sign == ' ' {
			i++
			continue
		}
		from, to, same := max(0, i-around), i, 0
		for to < len(steps) && same <= 2*around {
			same++
			if steps[to].sign != ' ' {
				same = 0
			}
			to++
		}
		to -= max(0, same-around)
		out.WriteString(hunk(steps, from, to))
		i = to
	}
	return out.String()
}

func hunk(steps []step, from, to int) string {
	at := func(sign byte, end int) (n int) {
		for _, s := range steps[:end] {
			if s.sign == ' ' || s.sign == sign {
				n++
			}
		}
		return n
	}
	span := func(sign byte) string {
		start, n := at(sign, from), at(sign, to)-at(sign, from)
		if n > 0 {
			start++
		}
		return fmt.Sprintf("%d,%d", start, n)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "@@ -%s +%s @@\n", span('-'), span('+'))
	for _, s := range steps[from:to] {
		b.WriteByte(s.sign)
		b.WriteString(strings.TrimSuffix(s.line, "\n") + "\n")
		if !strings.HasSuffix(s.line, "\n") {
			b.WriteString("\\ No newline at end of file\n")
		}
	}
	return b.String()
}

// script is a way from a to b. Where they part it goes on at the nearest lines that are the same in both: parley's
// changes are short.
func script(a, b []string) []step {
	var out []step
	x, y := 0, 0
	for x < len(a) || y < len(b) {
		if x < len(a) && y < len(b) && a[x] == b[y] {
			out = append(out, step{' ', a[x]})
			x, y = x+1, y+1
			continue
		}
		gone, come := meet(a[x:], b[y:])
		for range gone {
			out = append(out, step{'-', a[x]})
			x++
		}
		for range come {
			out = append(out, step{'+', b[y]})
			y++
		}
	}
	return out
}

// meet is how many lines of each to pass until both go on alike, or end.
func meet(a, b []string) (gone, come int) {
	for all := 1; all < len(a)+len(b); all++ {
		for gone := max(0, all-len(b)); gone <= min(all, len(a)); gone++ {
			come := all - gone
			if gone < len(a) && come < len(b) && a[gone] == b[come] {
				return gone, come
			}
		}
	}
	return len(a), len(b)
}
