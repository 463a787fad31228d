package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/ledger/disk"
	"github.com/parley-mesh/parley/mesh"
	"github.com/parley-mesh/parley/node/core"
)

// tickMax is how long the loop sleeps at most. Deadlines are wall times; a laptop that was suspended sees
// at the next tick that more time has passed than it slept.
const tickMax = 15 * time.Second

// errAgain ends a node that is to start with what it has learnt, such as a repository's new name.
var errAgain = errors.New("start over")

func (n *Node) startOver() {
	select {
	case n.again <- struct{}{}:
	default: // it is about to
	}
}

// run is the loop. It returns when ctx ends, or when a value that others follow could not be kept.
func (n *Node) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		var next func() []core.Effect
		done, changes := func(error) {}, true
		select {
		case <-ctx.Done():
			return nil
		case <-n.again:
			return errAgain
		case in := <-n.inputs:
			next = func() []core.Effect { return n.core.Handle(in, n.wall()) }
		case <-n.heard.news:
			next = n.hearAll
		case e := <-n.mesh.Events():
			next = func() []core.Effect { return n.meshEvent(e) }
		case c := <-n.calls:
			changes = c.changes()
			next = func() (effects []core.Effect) {
				effects, done = c.on(n)
				return effects
			}
		case <-timer.C:
			next = n.tick
		}
		effects := append(n.woke(), next()...)
		n.hold()
		err := n.perform(ctx, effects)
		done(err)
		if errors.Is(err, disk.ErrDiskLow) {
			err = n.readOnly()
		}
		if err != nil {
			return err
		}
		if err := n.saveCards(); err != nil {
			return err
		}
		n.tendAccount(ctx)
		if changes {
			n.changed.Ring()
		}
		timer.Reset(n.sleep())
	}
}

// woke is a wake-up when more time passed than the loop can have slept. It comes before whatever ended the
// sleep: after a suspension the network is often sooner than the clock, and no deadline may be judged before
// others were heard.
func (n *Node) woke() []core.Effect {
	now := n.wall()
	slept := now.Sub(n.lastTick)
	n.lastTick = now
	if slept <= 2*tickMax+time.Minute {
		return nil
	}
	n.mesh.SyncNow()
	return n.core.Handle(core.Woke{}, now)
}

// tick is the passing of time.
func (n *Node) tick() []core.Effect {
	now, ran := n.wall(), time.Since(n.ticked)
	n.ticked = n.ticked.Add(ran)
	var out []core.Effect
	for _, tid := range n.unheard {
		n.heard.add(tid)
	}
	n.unheard = nil
	out = append(out, n.roomAgain()...)
	// It goes on only once nothing runs that a core before this one began.
	if low := n.store.Low(); low != n.low && (low || n.running.Load() == 0) {
		n.low = low
		out = append(out, n.core.Handle(core.Space{Low: low}, now)...)
	}
	out = append(out, n.retain(now)...)
	return append(out, n.core.Handle(core.Tick{Ran: ran}, now)...)
}

// readOnly begins the time in which the disk is almost full. What was to follow a value that could not be
// kept was not done; the core starts over from what is kept, and asks again once there is space.
func (n *Node) readOnly() error {
	n.low = true
	n.newCore()
	if err := n.restore(); err != nil {
		return err
	}
	for _, w := range n.repos {
		if w.repository().ID != 0 {
			n.core.Handle(n.coreRepository(w), n.wall())
		}
	}
	for _, e := range n.core.Handle(core.Space{Low: true}, n.wall()) {
		if note, ok := e.(core.Note); ok {
			n.log.add(note)
		}
	}
	return nil
}

func (n *Node) sleep() time.Duration {
	now := n.wall()
	n.lastTick = now
	return min(max(n.core.Next(now).Sub(now), time.Millisecond), tickMax)
}

// heardSet is the ledgers that others wrote to since the loop last looked.
type heardSet struct {
	mu      sync.Mutex
	ledgers []ledger.TID
	news    chan struct{} // holds one signal; more would say nothing new
}

func (h *heardSet) add(tid ledger.TID) {
	h.mu.Lock()
	known := false
	for _, t := range h.ledgers {
		known = known || t == tid
	}
	if !known {
		h.ledgers = append(h.ledgers, tid)
	}
	h.mu.Unlock()
	select {
	case h.news <- struct{}{}:
	default: // a signal waits already
	}
}

func (h *heardSet) take() []ledger.TID {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := h.ledgers
	h.ledgers = nil
	return out
}

func (n *Node) hearAll() []core.Effect {
	var out []core.Effect
	for _, tid := range n.heard.take() {
		out = append(out, n.hear(tid)...)
	}
	return out
}

// hear folds a ledger as the store now holds it.
func (n *Node) hear(tid ledger.TID) []core.Effect {
	if n.lanes.peer(tid) {
		return n.hearLoose(tid)
	}
	records, err := n.store.Records(tid)
	if err != nil {
		n.log.add(core.Note{Level: "warn", Kind: "ledger", Who: n.cfg.Name, Text: "could not read " + tid.Short() + ", and reads it again in a moment: " + err.Error()})
		n.unheard = append(n.unheard, tid)
	}
	if n.store.Pruned(tid) {
		n.open.note(tid, false)
		n.opens.forget(tid)
		return n.core.Forget(tid)
	}
	if err != nil || len(records) == 0 {
		return nil
	}
	family, _ := n.family(tid)
	out := n.core.Handle(core.Heard{Ledger: tid, Family: family, Records: records}, n.wall())
	n.open.note(tid, n.core.IsOpen(tid))
	if tid == n.fleet {
		n.roster.set(n.core.Roster())
		n.mesh.SetMembers(n.core.Roster().Devices())
		n.setLanes()
		out = append(out, n.rehearThreads()...)
	}
	if family == ledger.Lane {
		n.setLanes()
	}
	return out
}

// rehearThreads folds every conversation again: who may say what follows from the roster.
func (n *Node) rehearThreads() []core.Effect {
	entries, err := n.store.Ledgers()
	if err != nil {
		return nil
	}
	var out []core.Effect
	for _, e := range entries {
		if e.Family == ledger.Conversation {
			out = append(out, n.hear(e.Listing.Ledger)...)
		}
	}
	return out
}

func (n *Node) meshEvent(e mesh.Event) []core.Effect {
	switch e.Kind {
	case mesh.PeerDown:
		return n.linked(e.Device)
	case mesh.LaneExcess:
		n.quotas.mu.Lock()
		n.mark(e.Lane)
		n.quotas.mu.Unlock()
		return n.core.Handle(core.Exceeded{Fleet: e.Lane, Excess: e.Excess}, n.wall())
	case mesh.PeerUp:
		n.rememberPeer(e.Device, e.Addrs)
		return append(n.linked(e.Device), n.core.Handle(core.Peer{Device: e.Device}, n.wall())...)
	case mesh.PeerMoved:
		n.rememberPeer(e.Device, e.Addrs)
	case mesh.ClockOff, mesh.TwoIncarnations:
		return n.core.Handle(core.Odd{Device: e.Device, Clock: e.Kind == mesh.ClockOff}, n.wall())
	case mesh.Synced:
		return n.core.Handle(core.Peer{Device: e.Device, Synced: e.Clean}, n.wall())
	}
	return nil
}

// perform does what the core asked for, in order. Saved values that follow each other are one
// transaction; an append is stored before anything that comes after it.
func (n *Node) perform(ctx context.Context, effects []core.Effect) error {
	var saves disk.Batch
	for len(effects) > 0 {
		e := effects[0]
		effects = effects[1:]
		if s, ok := e.(core.Save); ok {
			if s.Value == nil {
				saves.Delete = append(saves.Delete, []byte(corePrefix+s.Key))
			} else {
				saves.Put = append(saves.Put, disk.Pair{Key: []byte(corePrefix + s.Key), Value: s.Value})
			}
			continue
		}
		if err := n.flush(&saves); err != nil {
			return err
		}
		if a, ok := e.(core.Append); ok {
			more, err := n.append(a)
			if errors.Is(err, disk.ErrDiskLow) {
				return err
			}
			effects = append(effects, more...)
			continue
		}
		n.begin(ctx, e)
	}
	return n.flush(&saves)
}

// flush makes saved values durable. A reservation or a consumed approval that could not be saved must not
// be followed by its work, so a failure ends the node: it starts again and asks again.
func (n *Node) flush(saves *disk.Batch) error {
	if len(saves.Put) == 0 && len(saves.Delete) == 0 {
		return nil
	}
	_, err := n.store.Apply(*saves)
	*saves = disk.Batch{}
	return err
}

// append seals, stores and only then publishes an own record, and folds it like anybody else's. An error says
// that it is not stored; the core has been told, unless the disk is almost full.
func (n *Node) append(a core.Append) ([]core.Effect, error) {
	r, err := n.seal(a)
	if err == nil {
		_, err = n.store.Apply(disk.Batch{Records: []*ledger.Record{r}})
	}
	if errors.Is(err, disk.ErrDiskLow) {
		return nil, err
	}
	if err != nil {
		return n.core.Handle(core.NotAppended{Ledger: a.Ledger, TooLarge: errors.Is(err, ledger.ErrTooLarge), Why: err.Error()}, n.wall()), err
	}
	if err := n.mesh.Publish(r); err != nil {
		n.slog.Debug("publish", "record", r.ID.String(), "error", err)
	}
	effects := n.hear(a.Ledger)
	n.sendThrough(r)
	return effects, nil
}

// seal makes the next record of this process's chain in a ledger.
func (n *Node) seal(a core.Append) (*ledger.Record, error) {
	chain := ledger.Chain{Device: n.id.Device(), Inc: n.inc}
	head, _, err := n.store.Head(a.Ledger, chain)
	if err != nil {
		return nil, err
	}
	h := ledger.Header{
		Ledger: a.Ledger, Inc: n.inc, Seq: head.Next, Prev: head.ID, Spine: a.Spine, Open: a.Open,
		Re: a.Re, Claim: a.Claim, Deps: a.Deps, Turns: a.Turns, At: uint64(n.wall().UnixMilli()), Lam: head.Lam,
	}
	records, err := n.store.Records(a.Ledger)
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		// What this computer said under an earlier incarnation counts too: a statement must come after it.
		if r.Device == n.id.Device() || r.ID == a.Spine || r.ID == a.Open || slices.Contains(a.Re, r.ID) || slices.Contains(a.Deps, r.ID) || slices.Contains(a.After, r.ID) {
			h.Lam = max(h.Lam, r.Lam)
		}
	}
	h.Lam++
	return ledger.Seal(n.id.Key(), h, a.Content)
}

// begin starts one piece of long work; its outcome comes back as an input.
func (n *Node) begin(ctx context.Context, e core.Effect) {
	switch e := e.(type) {
	case core.Note:
		n.log.add(e)
	case core.Renew:
		n.startOver()
	case core.Look:
		n.beside(ctx, "look at a conversation's files", n.slots, func(ctx context.Context) core.Input { return n.look(ctx, e) })
	case core.Do:
		slots, asked := n.slots, n.wall()
		if _, turn := e.Action.(thread.Wake); turn {
			slots = n.desks
		}
		n.beside(ctx, fmt.Sprintf("%T", e.Action), slots, func(ctx context.Context) core.Input {
			e.Until = e.Until.Add(n.wall().Sub(asked)) // a turn has its whole time, however long it waited
			return n.act(ctx, e)
		})
	case core.Scan:
		n.beside(ctx, "scan "+e.Slug, n.slots, func(ctx context.Context) core.Input { return n.scan(ctx, e) })
	case core.SyncMaster:
		slots, asked := n.slots, n.wall()
		if e.Settle {
			slots = n.desks
		}
		n.beside(ctx, "sync "+e.Slug, slots, func(ctx context.Context) core.Input {
			e.Until = e.Until.Add(n.wall().Sub(asked))
			return n.syncMaster(ctx, e)
		})
	}
}

// beside runs work in one of a few slots and gives its outcome to the loop.
func (n *Node) beside(ctx context.Context, name string, slots chan struct{}, work func(context.Context) core.Input) {
	n.running.Add(1)
	n.work.Go(func() {
		defer n.running.Add(-1)
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		traced, end := n.trace.Begin(ctx, name)
		in := work(traced)
		end(nil)
		<-slots
		n.send(ctx, in)
	})
}

func (n *Node) send(ctx context.Context, in core.Input) {
	select {
	case n.inputs <- in:
	case <-ctx.Done():
	}
}
