package main

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"github.com/rivo/uniseg"
)

// columnGap is how many blanks stand between two columns.
const columnGap = 2

// table prints rows in columns, as wide as a terminal shows them. A cell holds no line break.
func table(w io.Writer, indent string, rows [][]string) {
	var wide []int // by column; the last cell of a row needs no room behind it
	for _, row := range rows {
		for i, c := range row[:max(0, len(row)-1)] {
			if i == len(wide) {
				wide = append(wide, 0)
			}
			wide[i] = max(wide[i], uniseg.StringWidth(oneLine(c)))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, c := range row {
			c = oneLine(c)
			line.WriteString(c)
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", wide[i]-uniseg.StringWidth(c)+columnGap))
			}
		}
		fmt.Fprintln(w, indent+line.String())
	}
}

// oneLine keeps what others wrote from moving the cursor, breaking a table, or turning the words around it round.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r), r == '\u2028', r == '\u2029':
			return ' '
		case unicode.Is(unicode.Bidi_Control, r):
			return -1
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
