package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// table prints rows in columns. A cell holds no tab and no line break.
func table(w io.Writer, indent string, rows [][]string) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, c := range row {
			cells[i] = oneLine(c)
		}
		fmt.Fprintln(t, indent+strings.Join(cells, "\t"))
	}
	_ = t.Flush() // what cannot be printed cannot be reported there either
}

// oneLine keeps what others wrote from moving the cursor or breaking a table.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, s)
}

// short is the start of an id, enough for people.
func short(id string) string { return id[:min(8, len(id))] }

// orDash keeps an empty cell visible.
func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// ago is how long before now something was.
func ago(t, now time.Time) string {
	switch d := now.Sub(t); {
	case t.IsZero():
		return "never"
	case d < 0:
		return "in " + span(-d)
	case d < 2*time.Second:
		return "now"
	default:
		return span(d) + " ago"
	}
}

// span is a duration in its one biggest unit.
func span(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 2*day:
		return fmt.Sprintf("%d h", d/time.Hour)
	default:
		return fmt.Sprintf("%d days", d/day)
	}
}

// many counts a noun.
func many(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// verb agrees with a number.
func verb(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}
