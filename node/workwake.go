package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/parley-mesh/parley/conflicts/overlap"
	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/ledger/disk"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/core"
	"github.com/parley-mesh/parley/node/internal/agents"
)

// How long something weighty waits for a session before the next rung of the ladder is climbed: its inbox, its next hook
// event, a turn of the desk, a card.
const (
	inboxAfter = 3 * time.Second
	turnAfter  = 10 * time.Minute
	turnsKey   = "live/turns/" // + conflict or session: how many turns it had
)

// errNoTurn says why nobody was woken.
var errNoTurn = errors.New("no agent turn is left for it")

// waits is something weighty that a session was not told.
type waits struct {
	since time.Time
	woken bool // its inbox was written to
	tried bool // a turn was spent, or there was none
	card  bool
	about ledger.ID
}

// ladder climbs for every session here that was not told something weighty. The caller holds the lock.
func (l *live) ladder(ctx context.Context, now time.Time) {
	for _, key := range l.sessionKeys() {
		s := l.sessions[key]
		if key.agent == "" || s.id == (ledger.ID{}) || s.parent != nil || s.spot == nil {
			continue
		}
		if side, ok := l.fold.Side(l.sideOf(s)); !ok || s.ended && side.Kind != detect.Intent || side.Phase != overlap.Working && side.Phase != overlap.Idle {
			s.waits = nil
			continue
		}
		l.wait(s, now)
		l.climb(ctx, s, now)
	}
}

// wait lists what a session was not told, since when.
func (l *live) wait(s *session, now time.Time) {
	next := map[string]*waits{}
	for _, f := range l.fold.Briefing(s.id).Facts {
		if f.Rank > messageRank || slices.Contains(s.told, f.Key) {
			continue
		}
		if next[f.Key] = s.waits[f.Key]; next[f.Key] == nil {
			next[f.Key] = &waits{since: now, about: f.Conflict}
		}
	}
	s.waits = next
}

func (l *live) climb(ctx context.Context, s *session, now time.Time) {
	var inbox, turn []*waits
	for _, key := range sortedKeys(s.waits) {
		w := s.waits[key]
		switch silent := now.Sub(s.seen); {
		case !w.woken && s.wake.Socket != "" && !s.ended && now.Sub(w.since) >= inboxAfter && silent >= inboxAfter:
			inbox = append(inbox, w)
		case !w.tried && now.Sub(w.since) >= turnAfter && silent >= turnAfter:
			turn = append(turn, w)
		}
	}
	if len(inbox) > 0 {
		l.knock(ctx, s, inbox)
	}
	if len(turn) > 0 {
		l.wakeDesk(ctx, s, turn)
	}
}

// knock writes to the inbox of a live session. What it says holds refs and commands alone.
func (l *live) knock(ctx context.Context, s *session, some []*waits) {
	for _, w := range some {
		w.woken = true
	}
	socket, text := s.wake.Socket, l.calls(s, some)
	l.n.work.Go(func() {
		if err := agents.Tell(ctx, socket, text); err != nil {
			l.n.slog.Debug("tell a live session", "error", err)
			return
		}
		l.n.log.add(core.Note{Level: "do", Kind: "woken", Who: l.n.cfg.Name, Text: "told the live session " + s.key.name + " that something waits"})
	})
}

// calls is what an agent is woken with.
func (l *live) calls(s *session, some []*waits) string {
	refs := l.refs(some)
	what := "messages wait for you"
	if len(refs) > 0 {
		what = strings.Join(refs, ", ") + " wait for you"
	}
	return fmt.Sprintf("parley: %s. Read them with the tool briefing, or run: parley briefing --session %s", what, s.key.name)
}

// refs are the conflicts among what waits.
func (l *live) refs(some []*waits) (refs []string) {
	for _, w := range some {
		if c, ok := l.fold.Conflict(w.about); ok && !slices.Contains(refs, c.Name) {
			refs = append(refs, c.Name)
		}
	}
	return refs
}

// wakeDesk wakes the desk for a silent session, once its turn is reserved; where there is none, a card tells the person.
func (l *live) wakeDesk(ctx context.Context, s *session, some []*waits) {
	for _, w := range some {
		w.tried = true
	}
	about := s.id.String()
	for _, w := range some {
		if w.about != (ledger.ID{}) {
			about = w.about.String()
			break
		}
	}
	side, _ := l.fold.Side(l.sideOf(s))
	task := agents.Task{Kind: agents.Brief, Repository: agents.Repository{Host: s.repo.Host, Slug: s.repo.slug, ID: s.repo.Repo}, Base: s.repo.w.baseBranch(), Side: side.Ref, About: l.refs(some)}
	l.n.work.Go(func() {
		err := l.turn(ctx, about, task)
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, w := range some {
			w.card = err != nil
		}
		if err != nil && ctx.Err() == nil && !errors.Is(err, errNoTurn) {
			l.n.log.add(core.Note{Level: "warn", Kind: "woken", Who: l.n.cfg.Name, Text: "the desk did not answer for " + side.Ref + ": " + err.Error()})
		}
	})
}

// turn reserves one agent turn durably, and only then wakes the desk for it.
func (l *live) turn(ctx context.Context, about string, task agents.Task) error {
	n := l.n
	if !n.route.on() {
		return errNoTurn
	}
	used := 0
	if value, err := n.store.Get([]byte(turnsKey + about)); err != nil {
		return err
	} else if value != nil && json.Unmarshal(value, &used) != nil {
		used = thread.TurnsPerComputer
	}
	if used >= thread.TurnsPerComputer {
		return errNoTurn
	}
	value, err := json.Marshal(used + 1)
	if err != nil {
		return err
	}
	if _, err := n.store.Apply(disk.Batch{Put: []disk.Pair{{Key: []byte(turnsKey + about), Value: value}}}); err != nil {
		return err
	}
	_, err = n.ask(ctx, func(n *Node) (api.Outcome, []core.Effect, error) {
		effects := n.core.ReserveLiveTurn(n.wall())
		if effects == nil {
			return api.Outcome{}, nil, errNoTurn
		}
		return api.Outcome{}, effects, nil
	})
	if err != nil {
		return err
	}
	select {
	case n.desks <- struct{}{}:
		defer func() { <-n.desks }()
	case <-ctx.Done():
		return ctx.Err()
	}
	return l.runBrief(ctx, about, task, used+1)
}

func (l *live) runBrief(ctx context.Context, about string, task agents.Task, turn int) error {
	dir := filepath.Join(l.n.home.DeskDir(), "live-"+about[:16])
	task.Scratch, task.Turn, task.Turns = filepath.Join(dir, "scratch"), turn, thread.TurnsPerComputer
	if err := os.MkdirAll(task.Scratch, 0o700); err != nil {
		return err
	}
	l.n.log.add(core.Note{Level: "do", Kind: "woken", Who: l.n.cfg.Name, Text: fmt.Sprintf("wakes its desk for %s (turn %d of %d)", task.Side, turn, thread.TurnsPerComputer)})
	result, err := agents.Run(ctx, l.n.route.now().template(), task, dir)
	if err == nil && result.Words != "" {
		l.n.log.add(core.Note{Level: "say", Kind: "woken", Who: l.n.cfg.Name, Text: task.Side + ": " + result.Words})
	}
	return err
}

// cards are what only a person can see to: what no agent was told, and overrides that this person may give.
func (l *live) cards() (out []api.Card) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.activeNow() {
		return nil
	}
	own := l.n.roster.get()
	email := own.Email(own.Fleet)
	for _, c := range l.fold.Conflicts() {
		part := slices.ContainsFunc(c.Sides, func(s overlap.Side) bool { return s.Developer == own.Fleet })
		if c.Asked && c.Status.Live() && l.policyOf(c).Overrides(email, part) {
			out = append(out, api.Card{
				Key: "C22/" + c.ID.String(), Code: "C22", Title: overlap.OverrideMessage(c.Name), What: c.Sentence, Why: c.Suggestion,
				Since: moment(c.Since), Ref: c.Name, Verb: "override", Button: "Override…", Command: "parley override " + c.Name + " --reason …",
			})
		}
	}
	for _, key := range l.sessionKeys() {
		s := l.sessions[key]
		var some []*waits
		for _, k := range sortedKeys(s.waits) {
			if s.waits[k].card {
				some = append(some, s.waits[k])
			}
		}
		if side, ok := l.fold.Side(l.sideOf(s)); ok && len(some) > 0 {
			out = append(out, api.Card{
				Key: "C21/" + s.id.String(), Code: "C21", Title: side.Ref + " does not answer", What: l.calls(s, some), Since: some[0].since,
				Why: "its session in " + s.top + " is silent, and no agent turn is left for it", Ref: side.Ref, Verb: "briefing", Command: "parley briefing --session " + side.Ref,
			})
		}
	}
	return out
}

// policyOf is the policy in force where a conflict is.
func (l *live) policyOf(c overlap.Conflict) *detect.Policy {
	if r := l.repoOf(c.Place.Repo); r != nil && r.policy.rules != nil {
		return r.policy.rules.Policy()
	}
	return detect.DefaultPolicy()
}
