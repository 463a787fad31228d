package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/parley-mesh/parley/node/api"
)

// watched is what a screen of watch shows.
type watched struct {
	at        time.Time
	sessions  []api.Session
	conflicts []api.Conflict
	events    []api.LiveEvent // oldest first
}

// eventsKept is how many of the last events a screen can show.
const eventsKept = 200

func (a *app) watchCommand(c *cobra.Command) {
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.asking(func(client *api.Client) error {
			if a.json || !a.drawn() {
				return a.watchLines(c.Context(), client)
			}
			return a.watchScreen(c.Context(), client)
		})
	}
}

// watchLines prints events until it is interrupted or the node ends.
func (a *app) watchLines(ctx context.Context, client *api.Client) error {
	var seen uint64
	for {
		events, err := client.Watch(ctx, seen)
		if err != nil {
			return err
		}
		for _, e := range events {
			seen = e.Seq
			if a.json {
				err = printJSONLine(a.out, e)
			} else {
				_, err = fmt.Fprintln(a.out, eventLine(e))
			}
			if err != nil {
				return err
			}
		}
	}
}

func eventLine(e api.LiveEvent) string {
	words := []string{clock(e.At), fmt.Sprintf("%-8s", e.Kind)}
	for i, w := range []string{e.Ref, e.Who, e.Severity} {
		if w != "" && (i > 0 || !strings.HasPrefix(e.Who, w)) { // a side's label begins with its ref
			words = append(words, oneLine(w))
		}
	}
	return strings.Join(append(words, oneLine(e.Text)), "  ")
}

// watchScreen draws the screen anew whenever something happened.
func (a *app) watchScreen(ctx context.Context, client *api.Client) error {
	var w watched
	var seen uint64
	for {
		if err := a.look(ctx, client, &w); err != nil {
			return err
		}
		width, height, err := term.GetSize(int(a.out.Fd()))
		if err != nil || width < 1 || height < 1 { // a terminal that does not know its size
			width, height = 80, 24
		}
		if _, err := fmt.Fprint(a.out, "\x1b[H\x1b[2J"+strings.Join(a.screen(w, width, height), "\r\n")); err != nil {
			return err
		}
		events, err := client.Watch(ctx, seen)
		if err != nil {
			fmt.Fprintln(a.out)
			return err
		}
		for _, e := range events {
			seen = e.Seq
		}
		w.events = append(w.events, events...)
		w.events = slices.Clone(w.events[max(0, len(w.events)-eventsKept):])
	}
}

func (a *app) look(ctx context.Context, client *api.Client, w *watched) (err error) {
	w.at = time.Now()
	if w.sessions, err = client.Sessions(ctx, api.WorkQuery{}); err != nil {
		return err
	}
	w.conflicts, err = client.Conflicts(ctx, api.ConflictQuery{})
	return err
}

// screen is the lines that fit: who works, what conflicts, and below it the last that happened.
func (a *app) screen(w watched, width, height int) []string {
	lines := []string{a.bold("parley watch") + "  " + w.at.Local().Format("15:04:05") + "  " + many(len(w.sessions), "session") + ", " +
		many(len(w.conflicts), "conflict") + "  (Ctrl-C ends)", ""}
	for _, s := range w.sessions {
		lines = append(lines, strings.Join([]string{" ", fixed(s.Ref, 10), fixed(orDash(s.Agent), 12), fixed(orDash(s.Developer), 10), fixed(s.State, 5), s.Repository, s.Branch, s.Intent}, " "))
	}
	if len(w.conflicts) > 0 {
		lines = append(lines, "")
	}
	for _, c := range w.conflicts {
		lines = append(lines, "  "+fixed(c.Ref, 11)+a.tinted(c.Severity, fixed(c.Severity, 6))+fixed(c.Status, 13)+oneLine(c.Sentence))
	}
	lines = append(lines, "")
	room := max(height-1-len(lines), 3)
	for _, e := range w.events[max(0, len(w.events)-room):] {
		lines = append(lines, "  "+a.tinted(e.Severity, e.At.Local().Format("15:04:05"))+"  "+strings.TrimSpace(oneLine(e.Who)+"  "+oneLine(e.Text)))
	}
	for i, l := range lines {
		lines[i] = cut(l, width)
	}
	return lines[:min(len(lines), max(height-1, 1))]
}

// fixed is a word in a column of that width.
func fixed(s string, width int) string {
	s = oneLine(s)
	if n := len([]rune(s)); n < width {
		return s + strings.Repeat(" ", width-n)
	}
	return s
}

// cut shortens a line to what a terminal shows. What colours it takes no room.
func cut(line string, width int) string {
	var b strings.Builder
	shown, escape := 0, false
	for _, r := range line {
		switch {
		case r == '\x1b':
			escape = true
		case escape:
			escape = r != 'm'
		case shown == width:
			continue
		default:
			shown++
		}
		b.WriteRune(r)
	}
	return b.String()
}

// tinted colours a word by severity on a terminal that wants it.
func (a *app) tinted(severity, word string) string {
	colour := map[string]string{"block": "31", "warn": "33"}[severity]
	if colour == "" || a.bold("x") == "x" {
		return word
	}
	return "\x1b[" + colour + "m" + word + "\x1b[0m"
}
