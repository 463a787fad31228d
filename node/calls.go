package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/parley-mesh/parley/ledger/disk"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/core"
	"github.com/parley-mesh/parley/node/internal/presence"
)

// call is a question or an act that the loop carries out. Each answers on its own channel, which holds
// one value, so that the loop never waits for the asker.
type call interface{ on(n *Node) []core.Effect }

func (n *Node) answer(c call) []core.Effect { return c.on(n) }

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

func (s show[T]) on(n *Node) []core.Effect {
	v, err := s.make(n.viewer())
	s.to <- shown[T]{v, err}
	return nil
}

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
		since: n.cards.since, records: n.store.Records, branch: n.branchOf,
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
	peers := r.n.mesh.Peers()
	return view(r.n, func(v viewer) (api.Status, error) { return v.status(peers), nil })
}

// Threads lists the conversations.
func (r reader) Threads() ([]api.ThreadLine, error) {
	return view(r.n, func(v viewer) ([]api.ThreadLine, error) { return v.threads(), nil })
}

// Thread shows one conversation.
func (r reader) Thread(ref string) (api.Thread, error) {
	return view(r.n, func(v viewer) (api.Thread, error) { return v.thread(ref) })
}

// Inbox lists the cards.
func (r reader) Inbox() ([]api.Card, error) {
	return view(r.n, func(v viewer) ([]api.Card, error) { return v.inbox(), nil })
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

// press is a person's approval on its way to the loop.
type press struct {
	key   string
	proof presence.Proof
	to    chan shown[api.Outcome]
}

func (p press) on(n *Node) []core.Effect {
	out, effects, err := n.press(p)
	p.to <- shown[api.Outcome]{out, err}
	return effects
}

// press checks the proof against what the card asks for at this moment, on the loop, so that nothing can
// change between the check and the act.
func (n *Node) press(p press) (api.Outcome, []core.Effect, error) {
	card, ok := n.core.Card(p.key)
	if !ok || card.Binds == nil {
		return api.Outcome{}, nil, fmt.Errorf("approve %s: %w", p.key, api.ErrNoCard)
	}
	if err := n.persons.Check(api.ApproveAct(n.viewer().card(card)), p.proof); err != nil {
		return api.Outcome{}, nil, err
	}
	effects, err := n.core.Approve(p.key, *card.Binds, string(p.proof.Kind), n.wall())
	if err != nil {
		return api.Outcome{}, nil, err
	}
	return api.Outcome{Text: "approved: " + bindsText(*card.Binds), Next: "parley log -f"}, effects, nil
}

// Approve approves what a card asks for now.
func (a actor) Approve(ctx context.Context, key string, p presence.Proof) (api.Outcome, error) {
	return ask(a.n, ctx, press{key, p, make(chan shown[api.Outcome], 1)})
}

// asked is a call that answers with an outcome.
type asked interface {
	call
	reply() chan shown[api.Outcome]
}

func (p press) reply() chan shown[api.Outcome] { return p.to }

func ask(n *Node, ctx context.Context, c asked) (api.Outcome, error) {
	if err := n.put(ctx, c); err != nil {
		return api.Outcome{}, err
	}
	out, err := await(n, ctx, c.reply())
	if err != nil {
		return api.Outcome{}, err
	}
	return out.value, out.err
}

// role switches the main-computer role here.
type role struct {
	on_   bool
	proof presence.Proof
	to    chan shown[api.Outcome]
}

func (r role) reply() chan shown[api.Outcome] { return r.to }

func (r role) on(n *Node) []core.Effect {
	if err := n.persons.Check(api.MainAct(r.on_), r.proof); err != nil {
		r.to <- shown[api.Outcome]{err: err}
		return nil
	}
	next, held := n.core.LeaveMain()
	me := n.core.Roster().Name(n.id.Device())
	said := api.Outcome{Text: me + " gives the role up", Next: "parley status"}
	switch {
	case r.on_ && n.core.Main(n.wall()):
		r.to <- shown[api.Outcome]{value: api.Outcome{Text: me + " is the main computer already"}}
		return nil
	case r.on_:
		next, said.Text = n.core.TakeMain(), me+" is now the main computer"
	case !held:
		r.to <- shown[api.Outcome]{value: api.Outcome{Text: me + " does not have the role"}}
		return nil
	}
	effects, err := n.tryAppend(next)
	if err != nil {
		r.to <- shown[api.Outcome]{err: fmt.Errorf("switch the main computer's role: %w", err)}
		return effects
	}
	r.to <- shown[api.Outcome]{value: said}
	return effects
}

// SetMain takes the main-computer role or gives it up.
func (a actor) SetMain(ctx context.Context, on bool, p presence.Proof) (api.Outcome, error) {
	return ask(a.n, ctx, role{on, p, make(chan shown[api.Outcome], 1)})
}

// scanNow lets the main computer look at GitHub at once.
type scanNow struct{ to chan shown[api.Outcome] }

func (s scanNow) reply() chan shown[api.Outcome] { return s.to }

func (s scanNow) on(n *Node) []core.Effect {
	if !n.core.Main(n.wall()) {
		s.to <- shown[api.Outcome]{err: fmt.Errorf("scan: %w", api.ErrNotMain)}
		return nil
	}
	s.to <- shown[api.Outcome]{value: api.Outcome{Text: "looking at GitHub now", Next: "parley log -f"}}
	return n.core.ScanNow(n.wall())
}

// Scan starts a run over the pull requests. What a person has to see to first becomes a card (P10).
func (a actor) Scan(ctx context.Context) (api.Outcome, error) {
	return ask(a.n, ctx, scanNow{make(chan shown[api.Outcome], 1)})
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
	n.cards.saved = string(value)
	_, err = n.store.Apply(disk.Batch{Put: []disk.Pair{{Key: []byte(cardsKey), Value: value}}})
	return err
}
