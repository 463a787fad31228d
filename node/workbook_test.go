package node

import (
	"slices"
	"testing"
	"time"

	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/mesh"
)

// newSharing is a paired node with a mesh, and the present week.
func newSharing(t *testing.T) *paired {
	t.Helper()
	p := newPaired(t)
	p.cfg.GitHub.Host, p.id = "github.com", p.kim.id
	p.live = newLive(p.Node)
	m, err := mesh.Start(t.Context(), mesh.Config{
		Identity: p.id, Fleet: p.fleet, Listen: []string{"/ip4/127.0.0.1/tcp/0"}, Book: book{p.Node}, Peers: func() []mesh.Peer { return nil }, Wall: p.wall, Logger: p.slog, SyncEvery: time.Hour,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	p.mesh = m
	return p
}

func thisWeek() uint64 { return ledger.PeriodOf(uint64(time.Now().UnixMilli())) }

// works writes a record of live work.
func (p *paired) works(by *pen, repo, period uint64) *ledger.Record {
	p.t.Helper()
	scope := ledger.Scope{Host: "github.com", Repo: repo, Period: period}
	h := ledger.Header{Ledger: scope.Ledger()}
	if by.heads[h.Ledger].Next == 0 {
		h.Scope = scope
	}
	return by.write(p.t, h, &ledger.Session{State: ledger.SessionLive, Agent: "claude", Checkout: [16]byte{1}})
}

// worksFor writes a record of live work for the lane, under a statement that shares it.
func (p *paired) worksFor(by *pen, on ledger.ID, repo uint64) *ledger.Record {
	p.t.Helper()
	scope := ledger.Scope{Host: "github.com", Repo: repo, Period: thisWeek()}
	h := ledger.Header{Ledger: scope.Shared(on), For: ledger.Place{Lam: 1, ID: ledger.ID{1}}}
	if by.heads[h.Ledger].Next == 0 {
		h.Scope, h.Share = scope, on
	}
	return by.write(p.t, h, &ledger.Session{State: ledger.SessionLive, Agent: "claude", Checkout: [16]byte{1}})
}

// share switches the lane on at an end, with live work in some repositories, and is that statement.
func (p *paired) share(by *pen, live ...uint64) ledger.ID {
	p.t.Helper()
	return p.says(by, &ledger.LaneOn{Repos: []uint64{laneRepo, laneRepo + 1}, Live: live})
}

func (p *paired) says(by *pen, body ledger.Body) ledger.ID {
	p.t.Helper()
	r := by.write(p.t, ledger.Header{Ledger: p.lane()}, body)
	p.apply(r)
	p.refoldLanes()
	return r.ID
}

// crosses are the authors of everything that the lane would send of a ledger, by the bytes.
func (p *paired) crosses(tid ledger.TID) (out []ledger.Device) {
	p.t.Helper()
	v := p.view()
	all, err := p.store.Heads(tid)
	if err != nil {
		p.t.Fatal(err)
	}
	shown, err := v.Heads(tid)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, h := range all {
		wires, err := v.From(tid, h.Chain, 0, 100)
		if err != nil {
			p.t.Fatal(err)
		}
		for _, w := range wires {
			r, err := ledger.Parse(w)
			if err != nil {
				p.t.Fatal(err)
			}
			if !slices.ContainsFunc(shown, func(s ledger.Head) bool { return s.Chain == r.Chain() }) {
				p.t.Errorf("a chain is sent that is not listed")
			}
			if !slices.Contains(out, r.Device) {
				out = append(out, r.Device)
			}
		}
	}
	_, known := v.Family(tid)
	listed := slices.ContainsFunc(v.Visible(p.maya.device()), func(l ledger.Listing) bool { return l.Ledger == tid })
	if hidden := len(out) == 0; hidden && (listed || len(shown) > 0) || !hidden && !(known && listed) {
		p.t.Errorf("of what is sent: known %v, listed %v, %d heads", known, listed, len(shown))
	}
	return out
}

func TestALaneCarriesLiveWorkOnlyOfTheEndThatSharesIt(t *testing.T) { // D-26, L1, L5
	p := newSharing(t)
	eve := newPen(9) // a third developer, of another lane
	home := p.works(p.kim, laneRepo, thisWeek())
	p.apply(home, p.works(p.maya, laneRepo, thisWeek()))
	var written []*ledger.Record // under every statement so far
	reads := func() {
		p.workBook = workBook{}
		if err := p.readWorkBook(func(workScope, []*ledger.Record) {}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		what       string
		ours, hers []uint64
	}{
		{"nobody shares", nil, nil},
		{"we share", []uint64{laneRepo}, nil},
		{"she shares", nil, []uint64{laneRepo}},
		{"both share", []uint64{laneRepo}, []uint64{laneRepo}},
		{"both share the other one", []uint64{laneRepo + 1}, []uint64{laneRepo + 1}},
	} {
		ours, hers := p.share(p.kim, c.ours...), p.share(p.maya, c.hers...)
		mine, other := p.worksFor(p.kim, ours, laneRepo), p.worksFor(p.kim, ours, laneRepo+1)
		theirs, stranger := p.worksFor(p.maya, hers, laneRepo), p.worksFor(eve, ours, laneRepo)
		p.apply(mine, other, stranger)
		reads()
		for r, want := range map[*ledger.Record]bool{
			mine: slices.Contains(c.ours, laneRepo), other: slices.Contains(c.ours, laneRepo+1), home: false, stranger: false,
		} {
			if got := slices.Contains(p.crosses(r.Ledger), r.Device); got != want {
				t.Errorf("%s: the lane sends a record of %s for repository %d: %v", c.what, r.Device.Short(), r.Scope.Repo, got)
			}
			if err := p.mesh.SetLanes(p.lanes.grants()); err != nil {
				t.Fatal(err)
			}
			if err := p.mesh.Send(p.lanes.grants()[0], r); (err == nil) != want {
				t.Errorf("%s: a record of %s is sent: %v", c.what, r.Device.Short(), err)
			}
		}
		for _, r := range written {
			if len(p.crosses(r.Ledger)) > 0 {
				t.Errorf("%s: what was written under an earlier statement crosses", c.what)
			}
		}
		if err := p.view().Receive(t.Context(), p.maya.device(), ledger.Work, []*ledger.Record{theirs, p.worksFor(p.maya, ours, laneRepo)}); err != nil {
			t.Fatal(err)
		}
		if held, err := p.store.Record(theirs.ID); err != nil || (held != nil) != slices.Contains(c.hers, laneRepo) {
			t.Errorf("%s: her record is taken: %v, %v", c.what, held != nil, err)
		}
		if heads, err := p.store.Heads(mine.Ledger); err != nil || slices.ContainsFunc(heads, func(h ledger.Head) bool { return h.Device == p.maya.device() }) {
			t.Errorf("%s: what she wrote under this end's statement is taken: %v", c.what, err)
		}
		written = append(written, mine, other, theirs)
	}
}

func TestLiveWorkOfOtherWeeksIsRefusedAndOldWorkIsDropped(t *testing.T) { // D-5
	p := newSharing(t)
	week := thisWeek()
	for _, c := range []struct {
		period uint64
		kept   bool
	}{{week - workKept - 1, false}, {week - workKept, true}, {week, true}, {week + workAhead, true}, {week + workAhead + 1, false}} {
		r := p.works(p.kim, laneRepo, c.period)
		if err := (book{p.Node}).Receive(t.Context(), p.kim.device(), ledger.Work, []*ledger.Record{r}); err != nil {
			t.Fatal(err)
		}
		held, err := p.store.Record(r.ID)
		if err != nil || (held != nil) != c.kept {
			t.Errorf("week %d of %d is kept: %v, %v", c.period, week, held != nil, err)
		}
	}
	if n := refusedFor(p.mesh, mesh.RefusedPeriod); n != 2 {
		t.Errorf("%d were counted, want 2", n)
	}
	old := p.works(p.kim, laneRepo, week-workKept).Ledger
	later := time.Now().Add(8 * 24 * time.Hour)
	p.wall = func() time.Time { return later }
	if slices.ContainsFunc((book{p.Node}).Visible(p.kim.device()), func(l ledger.Listing) bool { return l.Ledger == old }) {
		t.Error("a week that is over is compared with others")
	}
	if err := p.retainWork(later); err != nil {
		t.Fatal(err)
	}
	if _, held := p.store.Family(old); held || len(p.workBook.all()) != 2 {
		t.Errorf("the old week is held: %v, and %d weeks in all", held, len(p.workBook.all()))
	}
}

func refusedFor(m *mesh.Mesh, why mesh.Refusal) (n uint64) {
	for _, r := range m.Refused() {
		if r.Why == why.String() {
			n += r.Times
		}
	}
	return n
}

func TestOneComputersLiveWorkIsBoundedAndCrowdsOutNoConversation(t *testing.T) { // D-5
	p := newSharing(t)
	first := p.works(p.kim, laneRepo, thisWeek())
	if err := p.keepWork([]*ledger.Record{first}); err != nil {
		t.Fatal(err)
	}
	p.workBook.ledgers[first.Ledger].by[p.kim.device()].records = workRecordsMax - 1
	fits, over, after := p.works(p.kim, laneRepo, thisWeek()), p.works(p.kim, laneRepo, thisWeek()), p.works(p.kim, laneRepo, thisWeek())
	hers := p.works(p.maya, laneRepo, thisWeek())
	open := p.opens(p.kim, laneRepo, 1)
	if err := (book{p.Node}).Receive(t.Context(), p.kim.device(), ledger.Work, []*ledger.Record{fits, over, after, hers}); err != nil {
		t.Fatal(err)
	}
	if err := (book{p.Node}).Receive(t.Context(), p.kim.device(), ledger.Conversation, []*ledger.Record{open}); err != nil {
		t.Fatal(err)
	}
	for i, r := range []*ledger.Record{fits, over, after, hers, open} {
		held, err := p.store.Record(r.ID)
		if want := i != 1 && i != 2; err != nil || (held != nil) != want {
			t.Errorf("record %d is kept: %v, %v", i, held != nil, err)
		}
	}
	if n := refusedFor(p.mesh, mesh.RefusedWork); n != 2 {
		t.Errorf("%d were counted, want 2", n)
	}
	heard := p.heard.take()
	if slices.Contains(heard, first.Ledger) || !slices.Contains(heard, open.Ledger) {
		t.Errorf("the core is woken for %d ledgers", len(heard))
	}
}
