package demo

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/parley-mesh/parley/node/api"
)

// cast are the six sessions: who works where, on which branch, and what its person asks of it.
var cast = []struct {
	kind           string
	at             int
	branch, prompt string
}{
	{"claude", kimDesktop, "feat/partial-refunds", "Let customers refund a part of an order."},
	{"codex", kimDesktop, "feat/ledger", "Keep a ledger of payments."},
	{"gemini", kimLaptop, "feat/refund-button", "Put a refund button on the page."},
	{"claude", kimLaptop, "feat/rounding", "Round amounts of money to cents and split them evenly."},
	{"codex", mayaStudio, "feat/refund-fee", "Take a fee from refunds."},
	{"opencode", mayaStudio, "feat/cents", "Round amounts of money to cents and split them evenly."},
}

// The six sessions by what they do.
const (
	partial = iota
	bookkeeper
	button
	rounder
	fee
	penny
)

// play lets the day go by: a scene for each kind of conflict.
func (d *day) play(ctx context.Context) error {
	for _, scene := range []func(context.Context) error{
		d.begin, d.sameFile, d.sameSymbol, d.brokenContract, d.unmergeable, d.exclusively, d.protected, d.lidIsClosed,
		d.order, d.goHome,
	} {
		if err := scene(ctx); err != nil {
			return err
		}
	}
	return nil
}

// begin starts the sessions, each in a working copy and on a branch of its own.
func (d *day) begin(ctx context.Context) error {
	d.printf("The day begins")
	for i, c := range cast {
		dir := d.path(d.machines[c.at].name, strings.TrimPrefix(c.branch, "feat/"))
		if _, err := git(ctx, d.checkout(c.at), "worktree", "add", "-q", "-b", c.branch, dir); err != nil {
			return err
		}
		dir, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return err
		}
		a := &agent{
			kind: c.kind, at: c.at, who: c.kind + " on " + d.machines[c.at].name, dir: dir, home: d.home(c.at).Dir, hook: d.o.Hook,
			session: fmt.Sprintf("%s-%d", c.kind, i+1), wrote: map[string]string{},
		}
		a.say = func(format string, args ...any) { d.line(a.who, format, args...) }
		d.agents = append(d.agents, a)
		if err := a.start(ctx, c.prompt); err != nil {
			return err
		}
	}
	for _, a := range d.agents {
		if err := d.known(ctx, a); err != nil {
			return err
		}
	}
	return d.policyHolds(ctx)
}

// known waits until an agent's computer has its session: a computer that has just started learns first from GitHub
// which repository the working copies are of.
func (d *day) known(ctx context.Context, a *agent) error {
	return d.await(ctx, d.machines[a.at].name+" knows the session of "+a.who, func() (bool, error) {
		if len(d.refs(ctx, a)) > 0 {
			return true, nil
		}
		return false, a.next(ctx)
	})
}

// policyHolds waits until the base branch's policy is in force where it matters.
func (d *day) policyHolds(ctx context.Context) error {
	a := d.agents[fee]
	return d.await(ctx, "the policy is in force", func() (bool, error) {
		var all []api.ClaimsAnswer
		err := a.parley(ctx, d.o.Program, &all, "claims", "check", "db/migrations/0042_refunds.sql", "--json")
		return err == nil && len(all) == 1 && all[0].Verdict == "block", nil
	})
}

// dayStep is how long one step of the story may take, on a machine that does much else.
const dayStep = 4 * time.Minute

// await waits for a step of the story.
func (d *day) await(ctx context.Context, what string, is func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, dayStep)
	defer cancel()
	for {
		ok, err := is()
		if err != nil || ok {
			return err
		}
		if pause(ctx, 200*time.Millisecond) != nil {
			return fmt.Errorf("%w: not within %s: %s", ErrBroken, dayStep, what)
		}
	}
}

// refs are the names of an agent's side in conflicts.
func (d *day) refs(ctx context.Context, a *agent) []string {
	if a.ref == "" {
		_ = d.client(a.at, func(c *api.Client) error { // it is asked again when it matters
			all, err := c.Sessions(ctx, api.WorkQuery{All: true})
			for _, s := range all {
				if s.Here && s.Name == a.session {
					a.ref = s.Ref
				}
			}
			return err
		})
	}
	return slices.DeleteFunc([]string{a.ref, a.intent}, func(s string) bool { return s == "" })
}

// between reports whether a conflict has exactly these agents among its sides.
func (d *day) between(ctx context.Context, c api.Conflict, who []*agent) bool {
	return !slices.ContainsFunc(who, func(a *agent) bool {
		names := d.refs(ctx, a)
		return !slices.ContainsFunc(c.Sides, func(s api.ConflictSide) bool { return slices.Contains(names, s.Ref) })
	})
}

// live reports whether a conflict still goes on.
func live(c api.Conflict) bool { return slices.Contains(api.Statuses[:3], c.Status) }

// found waits until every computer of the sides names the conflict of a kind between them.
func (d *day) found(ctx context.Context, kind string, who ...*agent) (out api.Conflict, err error) {
	for _, i := range d.computersOf(who) {
		err := d.await(ctx, fmt.Sprintf("%s finds a %s of %s", d.machines[i].name, kind, whoAll(who)), func() (bool, error) {
			c, ok := d.look(ctx, i, func(c api.Conflict) bool { return c.Kind == kind && live(c) && d.between(ctx, c, who) })
			if ok {
				out = c
			}
			return ok, nil
		})
		if err != nil {
			return out, err
		}
	}
	if !d.seen[out.ID] {
		d.line("parley", "%s  %s, %s: %s", out.Ref, out.Kind, out.Severity, firstLines(out.Sentence))
	}
	d.seen[out.ID] = true
	return out, nil
}

// gone waits until no computer that runs holds the conflict for live.
func (d *day) gone(ctx context.Context, was api.Conflict) error {
	for i, m := range d.machines {
		if m.run == nil {
			continue
		}
		err := d.await(ctx, m.name+" closes "+was.Ref, func() (bool, error) {
			var there bool
			err := d.client(i, func(c *api.Client) error {
				all, err := c.Conflicts(ctx, api.ConflictQuery{})
				there = slices.ContainsFunc(all, func(c api.Conflict) bool { return c.ID == was.ID && live(c) })
				return err
			})
			return err == nil && !there, nil
		})
		if err != nil {
			return err
		}
	}
	d.line("parley", "%s  is over: the overlap is gone", was.Ref)
	return nil
}

// look is the first conflict that a computer holds and that is meant.
func (d *day) look(ctx context.Context, i int, meant func(api.Conflict) bool) (out api.Conflict, ok bool) {
	err := d.client(i, func(c *api.Client) error {
		all, err := c.Conflicts(ctx, api.ConflictQuery{All: true})
		if k := slices.IndexFunc(all, meant); k >= 0 {
			out, ok = all[k], true
		}
		return err
	})
	return out, ok && err == nil
}

func (d *day) computersOf(who []*agent) (out []int) {
	for _, a := range who {
		out = append(out, a.at)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func whoAll(who []*agent) string {
	var names []string
	for _, a := range who {
		names = append(names, a.who)
	}
	return strings.Join(names, " and ")
}

// heard waits until an agent's hooks have told it of a conflict, which they do at its next moment.
func (d *day) heard(ctx context.Context, a *agent, c api.Conflict) error {
	return d.await(ctx, a.who+" is told of "+c.Ref, func() (bool, error) {
		if a.knows(c) {
			return true, nil
		}
		return false, a.next(ctx)
	})
}

func (a *agent) knows(c api.Conflict) bool {
	about := func(text string) bool { return strings.Contains(text, c.Ref) }
	return slices.ContainsFunc(a.told, about) || slices.ContainsFunc(a.blocked, about)
}

// writes is an edit that must be let through.
func (d *day) writes(ctx context.Context, a *agent, path, content string) error {
	ok, err := a.edit(ctx, path, content)
	if err == nil && !ok {
		err = fmt.Errorf("%w: %s may not edit %s, and should", ErrBroken, a.who, path)
	}
	return err
}

// refusedTo is an edit that must be refused; the file is then as it was.
func (d *day) refusedTo(ctx context.Context, a *agent, path, content string) error {
	ok, err := a.edit(ctx, path, content)
	if err == nil && ok {
		err = fmt.Errorf("%w: %s may edit %s, and should not", ErrBroken, a.who, path)
	}
	d.refused[a.who]++
	return err
}

// allowedAt waits until an edit is let through.
func (d *day) allowedAt(ctx context.Context, a *agent, path, content string) error {
	return d.await(ctx, a.who+" may edit "+path, func() (bool, error) {
		ok, err := a.edit(ctx, path, content)
		if err == nil && !ok {
			d.refused[a.who]++
		}
		return ok, err
	})
}

// mustNotKnow fails when an agent was told of what only informs.
func (d *day) mustNotKnow(a *agent, c api.Conflict) error {
	if a.knows(c) {
		return fmt.Errorf("%w: %s was bothered with %s, which only informs", ErrBroken, a.who, c.Ref)
	}
	return nil
}

var errNoWarning = errors.New("it does not warn")

// warns checks how loud a conflict is.
func warns(c api.Conflict, severity string) error {
	if c.Severity != severity || c.Blocking != (severity == "block") {
		return fmt.Errorf("%w: %s is %s, and should be %s: %w", ErrBroken, c.Ref, c.Severity, severity, errNoWarning)
	}
	return nil
}
