package node

import (
	"crypto/ed25519"
	"log/slog"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/ledger/disk"
	"github.com/parley-mesh/parley/mesh"
	"github.com/parley-mesh/parley/node/core"
)

// pen is one computer's key and how far its chains go.
type pen struct {
	id    mesh.Identity
	heads map[ledger.TID]ledger.Head
}

func newPen(n byte) *pen {
	return &pen{id: mesh.NewIdentity([32]byte{n}), heads: map[ledger.TID]ledger.Head{}}
}

func (p *pen) device() ledger.Device { return p.id.Device() }

func (p *pen) write(t testing.TB, h ledger.Header, content ledger.Body) *ledger.Record {
	t.Helper()
	head := p.heads[h.Ledger]
	h.Inc, h.Seq, h.Prev, h.Lam, h.At = ledger.Incarnation{1}, head.Next, head.ID, head.Lam+1, 1764500000000
	r, err := ledger.Seal(p.id.Key(), h, content)
	if err != nil {
		t.Fatal(err)
	}
	head.Chain = r.Chain()
	p.heads[h.Ledger] = head.After(r)
	return r
}

const laneRepo = 7

// paired is a node of kim's whose fleet is paired with maya's.
type paired struct {
	*Node
	t         *testing.T
	kim, maya *pen
	hers      ledger.TID
	claims    map[*pen]ledger.ID
	fleets    map[*pen]ledger.TID
}

func newPaired(t *testing.T) *paired {
	t.Helper()
	store, err := disk.Open(disk.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	p := &paired{t: t, kim: newPen(1), maya: newPen(2), claims: map[*pen]ledger.ID{}, fleets: map[*pen]ledger.TID{}}
	p.Node = &Node{store: store, wall: time.Now, slog: slog.New(slog.DiscardHandler), inputs: make(chan core.Input, 8)}
	p.heard.news = make(chan struct{}, 1)
	rosters := map[*pen][]*ledger.Record{p.kim: p.found(p.kim), p.maya: p.found(p.maya)}
	p.fleet, p.hers = p.fleets[p.kim], p.fleets[p.maya]
	bind := &ledger.LaneBind{Fleet: p.hers, Invite: ledger.Invite{3}, Name: "maya"}
	copy(bind.Accept[:], ed25519.Sign(p.maya.id.Key(), ledger.LaneStatement(p.lane(), bind.Invite, p.kim.device())))
	own := append(rosters[p.kim], p.kim.write(t, ledger.Header{Ledger: p.fleet, Deps: []ledger.ID{p.claims[p.kim]}}, bind))
	p.apply(own...)
	p.roster.set(lanes.Fold(p.fleet, own))
	if _, err := p.keepLoose(p.hers, rosters[p.maya]); err != nil {
		t.Fatal(err)
	}
	p.refoldLanes()
	return p
}

func (p *paired) lane() ledger.TID { return ledger.LaneID(p.fleets[p.kim], p.fleets[p.maya]) }

// found makes a fleet of one computer, which is the main one.
func (p *paired) found(of *pen) []*ledger.Record {
	genesis := &ledger.Genesis{Nonce: [16]byte{1}}
	fleet := ledger.FleetID(of.device(), genesis.Nonce)
	first := of.write(p.t, ledger.Header{Ledger: fleet}, genesis)
	claim := of.write(p.t, ledger.Header{Ledger: fleet, Deps: []ledger.ID{first.ID}}, &ledger.MainClaim{Term: 1})
	p.fleets[of], p.claims[of] = fleet, claim.ID
	return []*ledger.Record{first, claim}
}

func (p *paired) apply(records ...*ledger.Record) {
	p.t.Helper()
	if _, err := p.store.Apply(disk.Batch{Records: records}); err != nil {
		p.t.Fatal(err)
	}
}

// on switches the lane on at an end.
func (p *paired) on(by *pen) {
	p.apply(by.write(p.t, ledger.Header{Ledger: p.lane()}, &ledger.LaneOn{Repos: []uint64{laneRepo}}))
	p.refoldLanes()
}

// view is what the lane sees by the grant that there is now.
func (p *paired) view() laneView {
	p.t.Helper()
	l, _ := p.lanes.of(p.hers)
	g, _ := l.Grant()
	return laneView{book{p.Node}, g}
}

func (p *paired) opens(by *pen, repo, pull uint64, parties ...ledger.Party) *ledger.Record {
	key := ledger.ConflictKey{Host: "github.com", Repo: repo, Pull: pull}
	id := func(n byte) ledger.OID { return ledger.OID(slices.Repeat([]byte{n}, 20)) }
	parties = append(parties, ledger.DeviceParty(by.device()))
	slices.SortFunc(parties, func(a, b ledger.Party) int { return slices.Compare(a[:], b[:]) })
	return by.write(p.t, ledger.Header{Ledger: key.Thread(), Claim: p.claims[by]}, &ledger.Open{
		Host: key.Host, Repo: repo, Slug: "acme/shop", Pull: pull, Base: "master", Algorithm: ledger.SHA1,
		Head: id(1), BaseHead: id(2), MergeBase: id(3), Author: 77, Fleet: p.fleets[by], Parties: parties,
		Files: []ledger.File{{Path: "a.go", Base: id(4), Master: id(5), Pull: id(6), Mode: ledger.ModePlain}},
	})
}

// sees lists the ledgers that the view shows in any way.
func (p *paired) sees(v laneView, of ...ledger.TID) (out []ledger.TID) {
	listed := v.Visible(p.maya.device())
	for _, tid := range of {
		heads, err := v.Heads(tid)
		if err != nil {
			p.t.Fatal(err)
		}
		_, known := v.Family(tid)
		wires, err := v.From(tid, ledger.Chain{Device: p.kim.device(), Inc: ledger.Incarnation{1}}, 0, 10)
		if err != nil {
			p.t.Fatal(err)
		}
		if slices.ContainsFunc(listed, func(l ledger.Listing) bool { return l.Ledger == tid }) || len(heads) > 0 || known || len(wires) > 0 {
			out = append(out, tid)
		}
	}
	return out
}

func TestALaneSeesOnlyWhatItsGrantLetsPass(t *testing.T) { // L1, L5, 2.6
	p := newPaired(t)
	named := p.opens(p.kim, laneRepo, 1, ledger.LaneParty(p.hers))
	unnamed := p.opens(p.kim, laneRepo, 2)
	elsewhere := p.opens(p.kim, 8, 3, ledger.LaneParty(p.hers)) // a repository that the lane is not for
	p.apply(named, unnamed, elsewhere)
	threads := []ledger.TID{named.Ledger, unnamed.Ledger, elsewhere.Ledger}

	if v := p.view(); len(p.sees(v, append(threads, p.fleet, p.hers, p.lane())...)) > 0 || len(v.Visible(p.maya.device())) > 0 {
		t.Error("a lane that is off sees something")
	}
	p.on(p.kim)
	if got := p.sees(p.view(), threads...); len(got) > 0 {
		t.Errorf("a lane that is on at one end sees %v", got)
	}
	if _, ok := p.view().Loose(p.fleet); !ok {
		t.Error("it does not see who belongs to the fleet")
	}
	p.on(p.maya)
	if got := p.sees(p.view(), threads...); !slices.Equal(got, threads[:1]) {
		t.Errorf("it sees %v, want %v", got, threads[:1])
	}
	if wires, _ := p.view().Loose(p.fleet); len(wires) != 2 { // neither the lane-bind nor a name
		t.Errorf("it sees %d records of the roster", len(wires))
	}
}

func TestALaneBringsOnlyWhatItMay(t *testing.T) { // L5, L6, L9
	p := newPaired(t)
	p.on(p.kim)
	p.on(p.maya)
	mine := p.opens(p.kim, laneRepo, 2)
	p.apply(mine)
	stranger := newPen(9)
	p.claims[stranger], p.fleets[stranger] = p.claims[p.maya], p.hers
	leaf := func(by *pen, open *ledger.Record) *ledger.Record {
		return by.write(t, ledger.Header{Ledger: open.Ledger, Open: open.ID, Re: []ledger.ID{open.ID}}, &ledger.Ack{Classes: []ledger.Class{ledger.HasMaster}})
	}
	own := ledger.LaneParty(p.fleet)
	hers := p.opens(p.maya, laneRepo, 4, own)
	for name, c := range map[string]struct {
		f    ledger.Family
		r    *ledger.Record
		want bool
	}{
		"her own open":                       {ledger.Conversation, hers, true},
		"an open without us":                 {ledger.Conversation, p.opens(p.maya, 8, 5, own), false},
		"a leaf in a thread without her":     {ledger.Conversation, leaf(p.maya, mine), false},
		"a stranger's open":                  {ledger.Conversation, p.opens(stranger, laneRepo, 6, own), false},
		"a record of our roster":             {ledger.Roster, p.maya.write(t, ledger.Header{Ledger: p.fleet, Deps: []ledger.ID{{1}}}, &ledger.MainClaim{Term: 9}), false},
		"a statement in another lane":        {ledger.Lane, p.maya.write(t, ledger.Header{Ledger: ledger.TID{5}}, &ledger.LaneOff{}), false},
		"a thread's record in a lane family": {ledger.Lane, leaf(p.maya, hers), false},
	} {
		if err := p.view().Receive(t.Context(), p.maya.device(), c.f, []*ledger.Record{c.r}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		r, err := p.store.Record(c.r.ID)
		if held := err == nil && r != nil; held != c.want {
			t.Errorf("%s: kept %v", name, held)
		}
	}
	if r := lanes.Fold(p.fleet, mustRecords(t, p.store, p.fleet)); !r.Member(p.kim.device()) || r.Member(p.maya.device()) {
		t.Error("the roster has changed")
	}
}

func TestALaneBuriesNothingAndSeesNoGrave(t *testing.T) { // L5, S9
	p := newPaired(t)
	p.on(p.kim)
	p.on(p.maya)
	open := p.opens(p.maya, laneRepo, 1, ledger.LaneParty(p.fleet))
	tid := open.Ledger
	closed := p.maya.write(t, ledger.Header{Ledger: tid, Spine: open.ID, Open: open.ID, Claim: p.claims[p.maya]}, &ledger.Closed{Why: ledger.ClosedPerson})
	tomb := &ledger.Tomb{Ledger: tid, Open: open.Wire, Spine: [][]byte{closed.Wire}, Digest: ledger.TombDigest(closed.ID)}
	var byLane, byOwn mesh.Graves = p.view(), book{p.Node}

	if err := byLane.Bury(t.Context(), p.maya.device(), tomb, []*ledger.Record{open, closed}); err != nil || p.store.Pruned(tid) {
		t.Errorf("the lane buried a conversation: %v", err)
	}
	if err := byOwn.Bury(t.Context(), p.kim.device(), tomb, []*ledger.Record{open, closed}); err != nil || !p.store.Pruned(tid) {
		t.Fatalf("an own computer's tomb of a teammate's conversation is not believed: %v", err)
	}
	if seen, ok, err := byLane.Tomb(tid); seen != nil || ok || err != nil {
		t.Errorf("the lane sees %+v, %v", seen, err)
	}
}

func TestARosterThatALaneFillsIsFoldedInLittleMemory(t *testing.T) { // L9, S18
	p := newPaired(t)
	h := ledger.Header{Ledger: p.hers}
	var all []*ledger.Record
	for n := range looseMax - len(p.loose(p.hers)) {
		all = append(all, p.maya.write(t, h, &ledger.MainClaim{Term: uint64(n + 2)}))
	}
	if changed, err := p.keepLoose(p.hers, all); err != nil || !changed {
		t.Fatalf("changed %v, %v", changed, err)
	}

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := lanes.FoldVisible(p.hers, p.loose(p.hers))
	runtime.ReadMemStats(&after)

	if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 200 || !r.Member(p.maya.device()) {
		t.Errorf("folding it takes %d MB", mb)
	}
	more := []*ledger.Record{p.maya.write(t, h, &ledger.MainClaim{Term: 1 << 40})}
	if changed, err := p.keepLoose(p.hers, more); err == nil || changed {
		t.Error("more is kept than is folded")
	}
}

func TestWhatWaitsForALanesRosterCountsOnceTheLaneShowsIt(t *testing.T) { // D-4
	p := newPaired(t)
	p.on(p.kim)
	p.on(p.maya)
	second := newPen(9) // a new computer of hers, of which an own computer told before the lane did
	open := p.opens(p.maya, laneRepo, 1, ledger.LaneParty(p.fleet))
	said := second.write(t, ledger.Header{Ledger: open.Ledger, Open: open.ID, Re: []ledger.ID{open.ID}}, &ledger.Ack{Classes: []ledger.Class{ledger.HasMaster}})
	p.strangers.put(ledger.Device{8}, []*ledger.Record{said}, p.wall())
	add := &ledger.Add{Device: second.device(), Invite: ledger.Invite{4}}
	copy(add.Accept[:], ed25519.Sign(second.id.Key(), ledger.JoinStatement(p.hers, add.Invite, p.maya.device())))
	shown := p.maya.write(t, ledger.Header{Ledger: p.hers, Deps: []ledger.ID{p.claims[p.maya]}}, add)

	if err := p.view().Receive(t.Context(), p.maya.device(), ledger.Roster, []*ledger.Record{shown}); err != nil {
		t.Fatal(err)
	}

	if r, err := p.store.Record(said.ID); err != nil || r == nil {
		t.Errorf("it waits still: %v", err)
	}
}

func TestWhatALaneBringsOfAForgottenConversationTakesNoRoom(t *testing.T) { // L9
	p := newPaired(t)
	p.mesh = &mesh.Mesh{} // counts what is refused
	p.on(p.kim)
	p.on(p.maya)
	open := p.opens(p.maya, laneRepo, 1, ledger.LaneParty(p.fleet))
	closed := p.maya.write(t, ledger.Header{Ledger: open.Ledger, Spine: open.ID, Open: open.ID, Claim: p.claims[p.maya]}, &ledger.Closed{Why: ledger.ClosedPerson})
	p.apply(open, closed)
	tomb := &ledger.Tomb{Ledger: open.Ledger, Open: open.Wire, Spine: [][]byte{closed.Wire}, Digest: ledger.TombDigest(closed.ID)}
	if _, err := p.store.Apply(disk.Batch{Bury: []disk.Grave{{Tomb: *tomb}}}); err != nil {
		t.Fatal(err)
	}
	bring := func(records ...*ledger.Record) {
		if err := p.view().Receive(t.Context(), p.maya.device(), ledger.Conversation, records); err != nil {
			t.Fatal(err)
		}
	}

	for range lanes.OpenThreadsMax + 1 { // the other end keeps it for longer, and brings it at each catch-up
		bring(open, closed)
	}
	fresh := p.opens(p.maya, laneRepo, 2, ledger.LaneParty(p.fleet))
	bring(fresh)

	if r, err := p.store.Record(fresh.ID); err != nil || r == nil {
		t.Errorf("there is no room for a new conversation: %v", err)
	}
	if q := p.quotas.of[p.hers]; q.Threads != 1 || q.Bytes > 2*len(fresh.Wire) {
		t.Errorf("counted: %d conversations, %d bytes", q.Threads, q.Bytes)
	}
}

func mustRecords(t *testing.T, s *disk.Store, tid ledger.TID) []*ledger.Record {
	t.Helper()
	out, err := s.Records(tid)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestALaneThatBringsTooMuchIsRefusedMoreAndTold(t *testing.T) { // L9
	p := newPaired(t)
	p.on(p.kim)
	p.on(p.maya)
	own := ledger.LaneParty(p.fleet)
	var all []*ledger.Record
	for i := range lanes.OpenThreadsMax + 3 {
		all = append(all, p.opens(p.maya, laneRepo, uint64(100+i), own))
	}
	if err := p.view().Receive(t.Context(), p.maya.device(), ledger.Conversation, all); err != nil {
		t.Fatal(err)
	}
	entries, err := p.store.Ledgers()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range entries {
		if e.Family == ledger.Conversation {
			n++
		}
	}
	if n != lanes.OpenThreadsMax {
		t.Errorf("%d conversations are kept", n)
	}
	select {
	case in := <-p.inputs:
		if got, ok := in.(core.Exceeded); !ok || got.Excess != lanes.TooManyThreads || got.Fleet != p.hers {
			t.Errorf("told %+v", in)
		}
	default:
		t.Error("nobody is told")
	}
}
