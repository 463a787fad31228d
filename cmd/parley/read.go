package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
)

// reader is the running node, or else the home as the last node left it.
func (a *app) reader() (api.Reader, func() error, error) {
	home := a.openHome()
	if err := home.Check(); err != nil {
		return nil, nil, err
	}
	client := api.NewClient(home.SocketPath())
	if _, err := client.Status(); err == nil {
		return client, client.Close, nil
	} else if !errors.Is(err, api.ErrUnreachable) {
		return nil, nil, err
	}
	if pid, running := home.Holder(); running {
		err := fmt.Errorf("process %d holds home %s and does not answer: %w", pid, home.Dir, api.ErrUnreachable)
		return nil, nil, api.WithHint(err, "run the command again in a moment")
	}
	if errors.Is(home.CheckIdentity(), os.ErrNotExist) {
		return nil, nil, fmt.Errorf("home %s: its node has not run yet: %w", home.Dir, api.ErrUnreachable)
	}
	a.note("no node runs on %s; this is what the last one left", home.Dir)
	return node.OpenReader(home)
}

// reading does something with a reader and closes it.
func (a *app) reading(do func(api.Reader) error) error {
	r, done, err := a.reader()
	if err != nil {
		return err
	}
	return errors.Join(do(r), done())
}

func (a *app) status(*cobra.Command, []string) error {
	return a.reading(func(r api.Reader) error {
		s, err := r.Status()
		if err != nil {
			return err
		}
		if a.json {
			return a.printJSON(s)
		}
		a.printStatus(s, time.Now())
		return nil
	})
}

func (a *app) printStatus(s api.Status, now time.Time) {
	running := "running"
	if !s.Running {
		running = "not running"
	}
	table(a.out, "", [][]string{
		{"Computer", s.Computer.Name, short(s.Computer.Device), running},
		{"Fleet", orDash(short(s.Computer.Fleet)), many(len(s.Peers)+1, "computer")},
		{"Main", mainWord(s.Main)},
	})
	if s.Paused != nil {
		fmt.Fprintln(a.out, pausedWords(*s.Paused))
	}
	if s.TimersShortened {
		fmt.Fprintln(a.out, "Timers are shortened: this is a demo.")
	}
	if len(s.Peers) > 0 {
		rows := [][]string{{"COMPUTER", "STATE", "ADDRESS", "SEEN"}}
		for _, p := range s.Peers {
			rows = append(rows, []string{p.Name, peerWord(p), orDash(p.Address), ago(p.LastSeen, now)})
		}
		fmt.Fprintln(a.out)
		table(a.out, "", rows)
	}
	if len(s.Repositories) > 0 {
		rows := [][]string{{"REPOSITORY", "BASE", "CHECKOUT", "ON", "STATE"}}
		for _, r := range s.Repositories {
			rows = append(rows, []string{r.Slug, orDash(r.Base), r.Checkout, orDash(r.Branch), r.State})
		}
		fmt.Fprintln(a.out)
		table(a.out, "", rows)
	}
	a.printLanesOf(s)
	fmt.Fprintln(a.out)
	for _, w := range s.Waiting {
		fmt.Fprintln(a.out, oneLine(w))
	}
	fmt.Fprintln(a.out, summary(s))
}

func mainWord(m api.MainComputer) string {
	switch {
	case m.State == "contested":
		return "contested: two computers claim the role; nothing is opened or published"
	case m.State != "live":
		return "none: nothing is opened or published (parley main on)"
	case m.Me:
		return m.Name + " (this computer)"
	}
	return m.Name
}

func peerWord(p api.Peer) string {
	if !p.Connected {
		return "away"
	}
	return "connected, " + p.Transport
}

func summary(s api.Status) string {
	threads := "No conversation runs."
	if s.ThreadsOpen > 0 {
		threads = many(s.ThreadsOpen, "conversation") + " open (parley threads)."
	}
	if s.Cards == 0 {
		return threads + " Nothing waits for you."
	}
	return threads + " " + many(s.Cards, "card") + " for you: parley inbox"
}

func (a *app) inbox(*cobra.Command, []string) error {
	return a.reading(func(r api.Reader) error {
		cards, err := r.Inbox()
		if err != nil {
			return err
		}
		if a.json {
			return a.printJSON(api.List[api.Card](cards))
		}
		if len(cards) == 0 {
			fmt.Fprintln(a.out, "Nothing waits for you.")
		}
		for i, c := range cards {
			if i > 0 {
				fmt.Fprintln(a.out)
			}
			a.printCard(c, time.Now())
		}
		return nil
	})
}

func (a *app) printCard(c api.Card, now time.Time) {
	title := a.bold(oneLine(c.Title))
	if !c.Since.IsZero() {
		title += "  (" + ago(c.Since, now) + ")"
	}
	fmt.Fprintf(a.out, "%-3s %s\n", c.Code, title)
	for _, line := range [][2]string{{"what", c.What}, {"why", c.Why}, {"run", c.Command}, {"see", c.Pull}} {
		if line[1] != "" {
			fmt.Fprintf(a.out, "    %-5s %s\n", line[0], oneLine(line[1]))
		}
	}
}

func (a *app) threads(*cobra.Command, []string) error {
	return a.reading(func(r api.Reader) error {
		threads, err := r.Threads()
		if err != nil {
			return err
		}
		if a.json {
			return a.printJSON(api.List[api.ThreadLine](threads))
		}
		if len(threads) == 0 {
			fmt.Fprintln(a.out, "No conversation yet.")
			return nil
		}
		now := time.Now()
		rows := [][]string{{"CONVERSATION", "PHASE", "SINCE", "FINAL BY", "NOW"}}
		for _, t := range threads {
			rows = append(rows, []string{t.Ref, t.Phase, ago(t.Since, now), orDash(t.Responsible), t.Waiting})
		}
		table(a.out, "", rows)
		return nil
	})
}

func (a *app) logCommand(c *cobra.Command) {
	follow := c.Flags().BoolP("follow", "f", false, "go on printing as things happen")
	last := c.Flags().IntP("lines", "n", 50, "how many of the last lines")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if *last < 1 {
			return usage(c, "--lines: want 1 or more, not "+strconv.Itoa(*last))
		}
		return a.reading(func(r api.Reader) error {
			client, running := r.(*api.Client)
			if *follow && !running {
				return fmt.Errorf("follow the log: %w", api.ErrUnreachable)
			}
			lines, err := r.Log(0, *last)
			if err != nil {
				return err
			}
			seen, err := a.printLog(lines, 0)
			if err != nil || !*follow {
				return err
			}
			return a.follow(c.Context(), client, seen)
		})
	}
}

// follow prints until it is interrupted or the node ends.
func (a *app) follow(ctx context.Context, client *api.Client, seen uint64) error {
	for {
		lines, err := client.Follow(ctx, seen)
		if err != nil {
			return err
		}
		if seen, err = a.printLog(lines, seen); err != nil {
			return err
		}
	}
}

// printLog prints lines and returns the number of the last one.
func (a *app) printLog(lines []api.LogLine, seen uint64) (uint64, error) {
	for _, l := range lines {
		seen = l.Seq
		if a.json {
			if a.jq != "" {
				if err := a.printJSON(l); err != nil {
					return seen, err
				}
			} else if err := printJSONLine(a.out, l); err != nil {
				return seen, err
			}
			continue
		}
		if _, err := fmt.Fprintln(a.out, logText(l)); err != nil {
			return seen, err
		}
	}
	return seen, nil
}

func logText(l api.LogLine) string {
	var text strings.Builder
	text.WriteString(l.At.Local().Format("2006-01-02 15:04:05"))
	for _, part := range []string{l.Ref, l.Who} {
		if part != "" {
			text.WriteString("  " + oneLine(part))
		}
	}
	if l.Level == "warn" {
		text.WriteString("  warning:")
	}
	return text.String() + "  " + oneLine(l.Text)
}
