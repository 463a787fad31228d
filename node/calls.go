package node

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/ledger/disk"
	"github.com/parley-mesh/parley/mesh"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/core"
	"github.com/parley-mesh/parley/node/internal/presence"
)

// call is a question or an act that the loop carries out. Each answers on its own channel, which holds
// one value, so that the loop never waits for the asker.
type call interface {
	// on carries it out on the loop. done is called once the effects are performed, with the error of that.
	on(n *Node) (effects []core.Effect, done func(error))
	// changes is false for what only looks: whoever looks again at every change would never rest.
	changes() bool
}

// errStopping tells an asker that the node ends.
var errStopping = errors.New("the node is stopping")

// put hands a call to the loop.
func (n *Node) put(ctx context.Context, c call) error {
	select {
	case n.calls <- c:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-n.stopped:
		return errStopping
	}
}

func await[T any](n *Node, ctx context.Context, from chan T) (T, error) {
	select {
	case v := <-from:
		return v, nil
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	case <-n.stopped:
		var none T
		return none, errStopping
	}
}

// show asks for a view.
type show[T any] struct {
	make func(viewer) (T, error)
	to   chan shown[T]
}

type shown[T any] struct {
	value T
	err   error
}

func (s show[T]) on(n *Node) ([]core.Effect, func(error)) {
	v, err := s.make(n.viewer())
	s.to <- shown[T]{v, err}
	return nil, func(error) {}
}

func (s show[T]) changes() bool { return false }

func view[T any](n *Node, make_ func(viewer) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	s := show[T]{make: make_, to: make(chan shown[T], 1)}
	if err := n.put(ctx, s); err != nil {
		var none T
		return none, err
	}
	out, err := await(n, ctx, s.to)
	if err != nil {
		return out.value, err
	}
	return out.value, out.err
}

func (n *Node) viewer() viewer {
	return viewer{
		core: n.core, cfg: n.cfg, device: n.id.Device(), fleet: n.fleet, running: true, now: n.wall(),
		since: n.cards.since, records: n.store.Records, graves: n.store, branch: n.branchOf, folded: n.lanes.get(),
	}
}

func (n *Node) branchOf(slug string) string {
	w := n.workspaceNamed(slug)
	if w == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	state, err := w.checkout.State(ctx)
	if err != nil {
		return ""
	}
	return state.Branch
}

// reader is the running node as [api.Reader].
type reader struct{ n *Node }

var _ api.Reader = reader{}

// Status is whether the node works and what needs its person.
func (r reader) Status() (api.Status, error) {
	peers, refused, by := r.n.mesh.Peers(), r.n.mesh.Refused(), r.n.mesh.RefusedTo()
	return view(r.n, func(v viewer) (api.Status, error) {
		out := v.status(peers)
		out.Refused = v.refusals(refused, by)
		return out, nil
	})
}

// refusals leaves out what never happened.
func (v viewer) refusals(all []mesh.Refused, by []mesh.Blamed) (out []api.Refused) {
	for _, r := range all {
		line := api.Refused{Why: r.Why, Times: r.Times}
		for _, b := range by {
			if b.Why == r.Why {
				line.By = append(line.By, api.Blamed{Name: v.core.Roster().Name(b.Device), Device: b.Device.String(), Times: b.Times})
			}
		}
		if r.Times > 0 || len(line.By) > 0 {
			out = append(out, line)
		}
	}
	return out
}

// Threads lists the conversations.
func (r reader) Threads() ([]api.ThreadLine, error) {
	return view(r.n, func(v viewer) ([]api.ThreadLine, error) { return v.threads(), nil })
}

// Thread shows one conversation.
func (r reader) Thread(ref string) (api.Thread, error) {
	return view(r.n, func(v viewer) (api.Thread, error) { return v.thread(ref) })
}

// Why answers why something is as it is.
func (r reader) Why(subject string) (api.Why, error) {
	return view(r.n, func(v viewer) (api.Why, error) { return v.why(subject) })
}

// Inbox lists the cards.
func (r reader) Inbox() ([]api.Card, error) {
	cards, err := view(r.n, func(v viewer) ([]api.Card, error) { return v.inbox(), nil })
	odd, broken := r.n.oddPasskeys()
	return append(append(cards, odd...), r.n.live.cards()...), errors.Join(err, broken)
}

// Log lists what happened.
func (r reader) Log(after uint64, most int) ([]api.LogLine, error) {
	return r.n.log.since(after, most), nil
}

// actor is the running node as [api.Actor].
type actor struct{ n *Node }

var _ api.Actor = actor{}

// Challenge gives the nonce that one act's proof must hold.
func (a actor) Challenge(act presence.Act) (string, error) { return a.n.persons.Challenge(act) }

// deed is an act on its way to the loop. What it may do is judged there, so that nothing can change between
// the check and the act.
type deed struct {
	do func(n *Node) (api.Outcome, []core.Effect, error)
	to chan shown[api.Outcome]
}

// on answers once what follows is performed: a person is told only of what is kept.
func (d deed) on(n *Node) ([]core.Effect, func(error)) {
	out, effects, err := d.do(n)
	return effects, func(failed error) {
		err := errors.Join(err, translate(failed))
		if err == nil && out.Next != "" { // without one nothing came of it
			n.acted(n.core.Roster().Name(n.id.Device()), out.Text)
		}
		d.to <- shown[api.Outcome]{out, err}
	}
}

// acted puts into the log what somebody had this computer do, and what came of it. me is "" beside the loop.
func (n *Node) acted(me, text string) {
	n.log.add(core.Note{Level: "do", Kind: "act", Who: cmp.Or(me, n.cfg.Name), Text: text})
}

func (d deed) changes() bool { return true }

// change is ask for what a person or a program wants changed. While the disk is almost full nothing can be kept, so
// nothing is promised.
func (n *Node) change(ctx context.Context, do func(n *Node) (api.Outcome, []core.Effect, error)) (api.Outcome, error) {
	return n.ask(ctx, func(n *Node) (api.Outcome, []core.Effect, error) {
		if n.low {
			return api.Outcome{}, nil, api.ErrDiskLow
		}
		return do(n)
	})
}

func (n *Node) ask(ctx context.Context, do func(n *Node) (api.Outcome, []core.Effect, error)) (api.Outcome, error) {
	d := deed{do, make(chan shown[api.Outcome], 1)}
	if err := n.put(ctx, d); err != nil {
		return api.Outcome{}, err
	}
	out, err := await(n, ctx, d.to)
	if err != nil {
		return api.Outcome{}, err
	}
	return out.value, out.err
}

// Approve approves what a card asks for now.
func (a actor) Approve(ctx context.Context, key string, p presence.Proof) (api.Outcome, error) {
	return a.n.further(ctx, "approve", func(n *Node) (api.Outcome, []core.Effect, error) {
		card, ok := n.core.Card(key)
		if !ok || card.Binds == nil {
			return api.Outcome{}, nil, fmt.Errorf("approve %s: %w", key, api.ErrNoCard)
		}
		shown := n.viewer().card(card)
		if err := n.persons.Check(api.ApproveAct(shown), p); err != nil {
			return api.Outcome{}, nil, err
		}
		effects, err := n.core.Approve(key, *card.Binds, string(p.Kind), n.wall())
		return api.Outcome{Text: "approved: " + shown.Binds, Next: "parley log -f"}, effects, err
	})
}

// End ends a conversation.
func (a actor) End(ctx context.Context, ref string, p presence.Proof) (api.Outcome, error) {
	return a.n.further(ctx, "close", func(n *Node) (api.Outcome, []core.Effect, error) {
		t, err := n.viewer().find(ref)
		if err != nil {
			return api.Outcome{}, nil, err
		}
		if err := n.persons.Check(api.CloseAct(t.State.Ledger.String()), p); err != nil {
			return api.Outcome{}, nil, err
		}
		b := thread.Binds{Action: "close", Repo: t.State.Open.Repo, Pull: t.State.Open.Pull}
		return n.askThread(t, b, p)
	})
}

// Assign lets a named computer build the final.
func (a actor) Assign(ctx context.Context, ref, party string, p presence.Proof) (api.Outcome, error) {
	return a.n.further(ctx, "assign", func(n *Node) (api.Outcome, []core.Effect, error) {
		t, err := n.viewer().find(ref)
		if err != nil {
			return api.Outcome{}, nil, err
		}
		names := n.core.PartyNames(t)
		i := slices.Index(names, party)
		if i < 0 || slices.Index(names[i+1:], party) >= 0 {
			err := fmt.Errorf("%s in %s, or more than one: %w", party, t.State.Ref(), api.ErrNoParty)
			return api.Outcome{}, nil, api.WithHint(err, "run parley thread show "+t.State.Ref()+": it names who takes part")
		}
		if err := n.persons.Check(api.AssignAct(t.State.Ledger.String(), party), p); err != nil {
			return api.Outcome{}, nil, err
		}
		b := thread.Binds{Action: "assign", Repo: t.State.Open.Repo, Pull: t.State.Open.Pull, Round: t.State.Round, Party: i}
		return n.askThread(t, b, p)
	})
}

// askThread takes a press that no card offers.
func (n *Node) askThread(t *core.Conversation, b thread.Binds, p presence.Proof) (api.Outcome, []core.Effect, error) {
	effects, err := n.core.Ask(t.State.Ledger, b, string(p.Kind), n.wall())
	switch {
	case errors.Is(err, core.ErrEnded):
		err = fmt.Errorf("%s: %w", t.State.Ref(), api.ErrClosed)
	case errors.Is(err, core.ErrNotNow):
		err = api.WithHint(fmt.Errorf("%w: %w", api.ErrNotNow, err), "run parley why "+t.State.Ref()+": it says what is waited for")
	}
	if err != nil {
		return api.Outcome{}, nil, err
	}
	text := "asked for " + core.PressText(b, n.core.PartyNames(t))
	if !n.core.Main(n.wall()) {
		text += "; the main computer carries it out"
	}
	return api.Outcome{Text: text, Next: "parley log -f"}, effects, nil
}

// SetMain takes the main-computer role or gives it up.
func (a actor) SetMain(ctx context.Context, on bool, p presence.Proof) (api.Outcome, error) {
	return a.n.change(ctx, func(n *Node) (api.Outcome, []core.Effect, error) {
		if err := n.persons.Check(api.MainAct(on), p); err != nil {
			return api.Outcome{}, nil, err
		}
		next, held := n.core.LeaveMain()
		me := n.core.Roster().Name(n.id.Device())
		said := api.Outcome{Text: me + " gives the role up", Next: "parley status"}
		switch {
		case on && n.core.Main(n.wall()):
			return api.Outcome{Text: me + " is the main computer already"}, nil, nil
		case on:
			next, said.Text = n.core.TakeMain(), me+" is now the main computer"
		case !held:
			return api.Outcome{Text: me + " does not have the role"}, nil, nil
		}
		effects, err := n.append(next) // a person is told only of what is stored
		if err != nil {
			err = fmt.Errorf("switch the main computer's role: %w", err)
		}
		return said, effects, err
	})
}

// Scan starts a run over the pull requests. What a person has to see to first becomes a card (P10).
func (a actor) Scan(ctx context.Context) (api.Outcome, error) {
	return a.n.further(ctx, "scan", func(n *Node) (api.Outcome, []core.Effect, error) {
		if !n.core.Main(n.wall()) {
			return api.Outcome{}, nil, fmt.Errorf("scan: %w", api.ErrNotMain)
		}
		return api.Outcome{Text: "looking at GitHub now", Next: "parley log -f"}, n.core.ScanNow(n.wall()), nil
	})
}

// Sync pauses the master sync of a repository, lets it go on, or runs it at once.
func (a actor) Sync(ctx context.Context, slug string, how api.SyncHow) (api.Outcome, error) {
	change := a.n.change
	if how == api.SyncNow {
		change = func(ctx context.Context, do func(*Node) (api.Outcome, []core.Effect, error)) (api.Outcome, error) {
			return a.n.further(ctx, "sync now", do)
		}
	}
	return change(ctx, func(n *Node) (api.Outcome, []core.Effect, error) {
		var effects []core.Effect
		var names []string
		for _, r := range n.cfg.Repositories {
			if slug != "" && !strings.EqualFold(slug, r.Slug) {
				continue
			}
			var some []core.Effect
			if how == api.SyncNow {
				some, _ = n.core.SyncNow(r.Slug, n.wall())
			} else {
				some, _ = n.core.Pause(r.Slug, how == api.SyncPause, n.wall())
			}
			effects, names = append(effects, some...), append(names, r.Slug)
		}
		if len(names) == 0 {
			return api.Outcome{}, nil, fmt.Errorf("sync %s %s: %w", how, slug, api.ErrNoRepository)
		}
		words := map[api.SyncHow]string{
			api.SyncNow: "bringing %s to its base branch", api.SyncResume: "the master sync of %s goes on",
			api.SyncPause: "the master sync of %s is paused",
		}
		return api.Outcome{Text: fmt.Sprintf(words[how], strings.Join(names, ", ")), Next: "parley status"}, effects, nil
	})
}

// Reroute reads again where the conversation goes.
func (a actor) Reroute(ctx context.Context) (api.Outcome, error) {
	return a.n.change(ctx, func(n *Node) (api.Outcome, []core.Effect, error) {
		if err := n.reroute(); err != nil {
			return api.Outcome{}, nil, err
		}
		effects := n.core.Handle(core.Routed{On: n.route.on()}, n.wall())
		if n.core.Main(n.wall()) {
			effects = append(effects, n.core.ScanNow(n.wall())...) // a card about a missing route goes away at once
		}
		return api.Outcome{Text: "the route counts from now on", Next: "parley status"}, effects, nil
	})
}

// cardsKey keeps the inbox as last shown, for a home that is read without a node.
const cardsKey = "cards"

// cardBox is the inbox as last saved.
type cardBox struct {
	since map[string]time.Time
	saved string
}

// saveCards keeps the inbox when it has changed.
func (n *Node) saveCards() error {
	since := map[string]time.Time{}
	for _, c := range n.core.Cards() {
		if since[c.Key] = n.cards.since[c.Key]; since[c.Key].IsZero() {
			since[c.Key] = n.wall()
		}
	}
	n.cards.since = since
	value, err := json.Marshal(n.viewer().inbox())
	if err != nil || string(value) == n.cards.saved {
		return err
	}
	_, err = n.store.Apply(disk.Batch{Put: []disk.Pair{{Key: []byte(cardsKey), Value: value}}})
	if errors.Is(err, disk.ErrDiskLow) {
		return nil // they are kept once there is space
	}
	n.cards.saved = string(value)
	return err
}
