package page

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/node/api"
)

func (s *Server) inbox(_ context.Context, q url.Values) (shown, error) {
	cards, err := s.Reader.Inbox()
	if err != nil {
		return shown{}, err
	}
	some, pages := cut(cards, q, "/", cardsMax)
	return shown{"Inbox", inboxView(some, pages), many(len(cards), "card") + " in the inbox"}, nil
}

func (s *Server) threads(_ context.Context, q url.Values) (shown, error) {
	all, err := s.Reader.Threads()
	if err != nil {
		return shown{}, err
	}
	who, err := s.people()
	if err != nil {
		return shown{}, err
	}
	some, pages := cut(all, q, "/threads", rowsMax)
	return shown{"Threads", threadsView(some, pages, who), many(len(all), "conversation")}, nil
}

// people turns what machines call the developers of lanes into their names.
func (s *Server) people() (*strings.Replacer, error) {
	lanes, err := s.Reader.Lanes()
	var pairs []string
	for _, l := range lanes {
		pairs = append(pairs, l.Party, l.Name+" (another developer)")
	}
	return strings.NewReplacer(pairs...), err
}

// conversation is one thread with what stands beside it.
type conversation struct {
	api.Thread
	Facts   []api.Fact
	Cards   []api.Card
	Shown   []api.ThreadRecord // newest first
	Pages   pager
	Ongoing bool
	Who     *strings.Replacer
}

func (s *Server) thread(_ context.Context, q url.Values) (shown, error) {
	t, err := s.Reader.Thread(q.Get("ref"))
	if err != nil {
		return shown{}, err
	}
	c := conversation{Thread: t, Ongoing: t.Phase != "closed"}
	if c.Who, err = s.people(); err != nil {
		return shown{}, err
	}
	slices.Reverse(t.Records)
	c.Shown, c.Pages = cut(t.Records, q, "/thread", rowsMax)
	if why, err := s.Reader.Why(t.ID); err == nil {
		c.Facts = slices.DeleteFunc(why.Facts, func(f api.Fact) bool {
			return f.About == "inbox" || f.About == "phase" || f.About == "builds the final"
		})
	}
	cards, err := s.Reader.Inbox()
	if err != nil {
		return shown{}, err
	}
	for _, card := range cards {
		if card.Thread == t.ID {
			c.Cards = append(c.Cards, card)
		}
	}
	return shown{t.Ref, threadView(c), t.Ref + ": " + t.Phase + ", " + many(len(t.Records), "record")}, nil
}

func (s *Server) computers(context.Context, url.Values) (shown, error) {
	status, err := s.Reader.Status()
	if err != nil {
		return shown{}, err
	}
	here := 0
	for _, p := range status.Peers {
		if p.Connected {
			here++
		}
	}
	return shown{"Computers", computersView(status), fmt.Sprintf("%d of %s connected", here, many(len(status.Peers), "other computer"))}, nil
}

// setting is the Setup tab.
type setting struct {
	api.Status
	Settings
	Routes   []Route
	Passkeys []api.Passkey
	Demo     bool
}

func (s *Server) setup(ctx context.Context, _ url.Values) (shown, error) {
	status, err := s.Reader.Status()
	if err != nil {
		return shown{}, err
	}
	out := setting{Status: status, Demo: s.Demo}
	if out.Routes, err = s.Routes(); err != nil {
		return shown{}, err
	}
	if out.Passkeys, err = s.Pages.Passkeys(ctx); err != nil {
		return shown{}, err
	}
	if out.Settings, err = s.Settings(ctx); err != nil {
		return shown{}, err
	}
	return shown{title: "Setup", body: setupView(out), say: "the settings changed"}, nil
}

// logLines is how much of the log the page shows at most.
const logLines = 500

func (s *Server) audit(ctx context.Context, q url.Values) (shown, error) {
	switch q.Get("of") {
	case "decisions":
		return s.decisions(ctx, q)
	case "kept":
		all, err := s.Reader.Kept(ctx)
		if err != nil {
			return shown{}, err
		}
		some, pages := cut(all, q, "/audit", rowsMax)
		return shown{"Kept files", auditView("kept", keptView(some, pages)), many(len(all), "kept file")}, nil
	case "log":
		lines, err := s.Reader.Log(0, logLines)
		if err != nil {
			return shown{}, err
		}
		who, err := s.people()
		if err != nil {
			return shown{}, err
		}
		slices.Reverse(lines)
		some, pages := cut(lines, q, "/audit", rowsMax)
		return shown{"Log", auditView("log", logView(some, pages, who)), "the log has grown"}, nil
	}
	all, err := s.Reader.Operations(ctx)
	if err != nil {
		return shown{}, err
	}
	some, pages := cut(all, q, "/audit", rowsMax)
	return shown{"Operations", auditView("operations", operationsView(some, pages)), many(len(all), "operation")}, nil
}

// many is a number of things.
func many(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func short(id string) string { return id[:min(8, len(id))] }

func orDash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

// fixes are the commands of a card that has several.
func fixes(c api.Card) []string { return strings.Split(c.Command, "; ") }

// label is an id that stays the same while the matter stands, so that the focus finds its place again.
func label(parts ...string) string {
	text := strings.Join(parts, "-")
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-':
			return r
		}
		return '_'
	}, text)
}

func phaseStyle(phase string) string {
	switch phase {
	case "open":
		return "badge-warning"
	case "interim":
		return "badge-info"
	case "final":
		return "badge-success"
	}
	return "badge-neutral"
}
