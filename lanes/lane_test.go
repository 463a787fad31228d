package lanes

import (
	"crypto/ed25519"
	"slices"
	"testing"
	"time"

	"github.com/parley-mesh/parley/ledger"
)

// end is one developer's fleet, as a test writes for it.
type end struct {
	t       *testing.T
	fleet   ledger.TID
	pens    []*pen
	records []*ledger.Record
	said    map[*pen]*pen // how each of its computers writes into the lane's ledger
}

// newEnd founds a fleet of two computers with keys of its own.
func newEnd(t *testing.T, n byte) *end {
	e := &end{t: t, pens: []*pen{newPen(t, n), newPen(t, n+1)}, said: map[*pen]*pen{}}
	e.fleet = ledger.FleetID(e.pens[0].dev, [16]byte{n})
	e.write(e.pens[0], &ledger.Genesis{Nonce: [16]byte{n}}, nil)
	e.write(e.pens[0], e.pens[1].accept(e.fleet, e.pens[0]), nil)
	return e
}

func (e *end) roster() Roster { return Fold(e.fleet, e.records) }

func (e *end) write(p *pen, content ledger.Body, re []ledger.ID) *ledger.Record {
	r := p.write(e.fleet, content, re, e.roster().Heads...)
	e.records = append(e.records, r)
	return r
}

// bind lets a computer write the pairing down, signed by a computer of the other end.
func (e *end) bind(p *pen, other *end, by *pen) {
	bind := &ledger.LaneBind{Fleet: other.fleet, Invite: ledger.Invite{3}}
	copy(bind.Accept[:], ed25519.Sign(by.key, ledger.LaneStatement(ledger.LaneID(e.fleet, other.fleet), bind.Invite, p.dev)))
	e.write(p, bind, nil)
}

// link is a lane between two ends, and what both wrote into it.
type link struct {
	a, b    *end
	records []*ledger.Record
}

// paired is two fleets whose persons have paired them. The lane is off.
func paired(t *testing.T) *link {
	l := &link{a: newEnd(t, 10), b: newEnd(t, 20)}
	l.a.bind(l.a.pens[0], l.b, l.b.pens[0])
	l.b.bind(l.b.pens[0], l.a, l.a.pens[0])
	return l
}

// lane is how an end sees the lane.
func (l *link) lane(e *end) Lane {
	other := l.a
	if e == l.a {
		other = l.b
	}
	return FoldLane(e.roster(), FoldVisible(other.fleet, VisibleRoster(other.fleet, other.records)), l.records)
}

// says lets a computer of an end write into the lane's ledger.
func (l *link) says(e *end, i int, content ledger.Body) *ledger.Record {
	p := e.pens[i]
	if e.said[p] == nil {
		e.said[p] = &pen{t: p.t, key: p.key, dev: p.dev, inc: p.inc}
	}
	for _, r := range l.records {
		e.said[p].lam = max(e.said[p].lam, r.Lam)
	}
	r := e.said[p].write(ledger.LaneID(l.a.fleet, l.b.fleet), content, nil)
	l.records = append(l.records, r)
	return r
}

// on switches the lane on at an end, knowing everything said so far.
func (l *link) on(e *end, i int, repos ...uint64) *ledger.Record {
	return l.says(e, i, l.lane(e).SwitchOn(repos))
}

func TestNothingIsGrantedBeforeTheLaneIsOnHere(t *testing.T) { // L1, P13
	l := paired(t)
	if g, ok := l.lane(l.a).Grant(); ok || g.Given() || g.To(l.b.pens[0].dev) || g.Mutual() || g.Carries(l.b.pens[0].dev) {
		t.Error("a lane that is off grants something")
	}
	l.on(l.b, 0, 7)
	if g, ok := l.lane(l.a).Grant(); ok || g.Covers(7) {
		t.Error("the other end's switch grants something here")
	}
	if g, ok := l.lane(l.b).Grant(); !ok || g.Mutual() || g.Covers(7) || !g.To(l.a.pens[0].dev) {
		t.Error("on at one end grants more, or less, than to say so")
	}
	l.on(l.a, 0, 7, 8)
	g, ok := l.lane(l.a).Grant()
	if !ok || !g.Mutual() || !g.Covers(7) || g.Covers(8) || !g.To(l.b.pens[1].dev) || g.To(l.a.pens[0].dev) {
		t.Errorf("grant %+v", g)
	}
}

func TestALaneNeedsBothPersonsPairing(t *testing.T) { // L1
	for name, forge := range map[string]func(*link){
		"nobody signed":          func(l *link) { l.a.write(l.a.pens[0], &ledger.LaneBind{Fleet: l.b.fleet}, nil) },
		"a stranger signed":      func(l *link) { l.a.bind(l.a.pens[0], l.b, newPen(t, 99)) },
		"an own computer signed": func(l *link) { l.a.bind(l.a.pens[0], l.b, l.a.pens[1]) },
	} {
		l := &link{a: newEnd(t, 10), b: newEnd(t, 20)}
		forge(l)
		l.on(l.a, 0, 7)
		if _, ok := l.lane(l.a).Grant(); ok {
			t.Errorf("%s, and the lane is bound", name)
		}
	}
}

func TestOfTwoThatKnewNothingOfEachOtherOffWins(t *testing.T) { // P4
	l := paired(t)
	first := l.on(l.a, 0, 7)
	before := l.lane(l.a).SwitchOn([]uint64{7, 8})
	l.says(l.a, 1, &ledger.LaneOff{})
	if l.lane(l.a).Ours.On {
		t.Fatal("an off after an on leaves the lane on")
	}
	late := l.says(l.a, 0, before)
	if late.Lam < first.Lam || l.lane(l.a).Ours.On {
		t.Error("an on that knew nothing of the off counts")
	}
	l.on(l.a, 0, 8)
	if s := l.lane(l.a).Ours; !s.On || !slices.Equal(s.Repositories, []uint64{8}) {
		t.Errorf("after an on that knows everything the switch is %+v", s)
	}
}

func TestAStatementCountsForItsOwnEndAlone(t *testing.T) { // L5
	l := paired(t)
	l.on(l.a, 0, 7)
	l.says(l.b, 0, &ledger.LaneOff{})
	if s := l.lane(l.a); !s.Ours.On || s.Theirs.On {
		t.Errorf("ours %+v, theirs %+v", s.Ours, s.Theirs)
	}
	stranger := &end{pens: []*pen{newPen(t, 99)}, said: map[*pen]*pen{}}
	l.says(stranger, 0, &ledger.LaneOn{Repos: []uint64{7}})
	if l.lane(l.a).Theirs.On {
		t.Error("a computer of neither fleet switches the lane on")
	}
}

func TestARemovedComputerOpensNoLaneBeyondItsCut(t *testing.T) { // case 51
	l := paired(t)
	on := l.on(l.a, 1, 7)
	cut := ledger.Cut{Ledger: [16]byte(on.Ledger[:16]), Inc: on.Inc, Next: 1}
	l.a.write(l.a.pens[0], &ledger.Revoke{Device: l.a.pens[1].dev, Reason: 3, Cut: []ledger.Cut{cut}}, nil)
	if !l.lane(l.a).Ours.On {
		t.Error("what was said within the cut does not count")
	}
	l.on(l.a, 1, 7, 8)
	if s := l.lane(l.a).Ours; len(s.Repositories) != 1 {
		t.Errorf("beyond the cut it said %v, and that counts", s.Repositories)
	}
	other := paired(t)
	other.on(other.a, 1, 7)
	other.a.write(other.a.pens[0], &ledger.Revoke{Device: other.a.pens[1].dev, Reason: 3}, nil)
	if other.lane(other.a).Ours.On {
		t.Error("a removed computer's on counts although no cut names it")
	}
}

func TestTheOtherEndsRemovedComputersAreNotSentTo(t *testing.T) { // L1
	l := paired(t)
	l.on(l.a, 0, 7)
	l.b.write(l.b.pens[0], &ledger.Revoke{Device: l.b.pens[1].dev, Reason: 1}, nil)
	if g, _ := l.lane(l.a).Grant(); g.To(l.b.pens[1].dev) || !g.To(l.b.pens[0].dev) {
		t.Error("the grant is for computers that are none of theirs")
	}
}

// opened is an open by an end's first computer, which holds the main-computer role.
func (l *link) opened(e *end, repo uint64, parties ...ledger.Party) *ledger.Record {
	claim := e.write(e.pens[0], e.roster().Claiming(), nil)
	return &ledger.Record{
		Header:  ledger.Header{Device: e.pens[0].dev, Claim: claim.ID, Kind: ledger.KindOpen},
		Content: &ledger.Open{Repo: repo, Fleet: e.fleet, Parties: parties},
	}
}

func TestATeammateSeesTheConversationsOfTheLane(t *testing.T) { // P3, P13
	l := paired(t)
	named := l.opened(l.a, 7, ledger.DeviceParty(l.a.pens[0].dev), ledger.LaneParty(l.b.fleet))
	alone := l.opened(l.a, 7, ledger.DeviceParty(l.a.pens[0].dev))
	elsewhere := l.opened(l.a, 8, ledger.LaneParty(l.b.fleet))
	theirs := l.opened(l.b, 7, ledger.DeviceParty(l.b.pens[0].dev))
	forged := &ledger.Record{Header: named.Header, Content: &ledger.Open{Repo: 7, Fleet: l.b.fleet}}
	unclaimed := &ledger.Record{Header: ledger.Header{Device: l.a.pens[1].dev}, Content: named.Content}
	l.on(l.a, 0, 7, 8)
	if g, _ := l.lane(l.a).Grant(); g.MaySee([]*ledger.Record{named}) {
		t.Error("a conversation is seen before the lane is on at both ends")
	}
	l.on(l.b, 0, 7)
	g, _ := l.lane(l.a).Grant()
	for name, c := range map[string]struct {
		open *ledger.Record
		sees bool
	}{
		"names them": {named, true}, "names only us": {alone, false}, "about another repository": {elsewhere, false},
		"made by them": {theirs, true}, "speaks for another fleet": {forged, false}, "made without a claim": {unclaimed, false},
	} {
		if g.MaySee([]*ledger.Record{c.open}) != c.sees {
			t.Errorf("an open that %s: seen %v", name, !c.sees)
		}
	}
	if !g.MaySee([]*ledger.Record{alone, theirs}) {
		t.Error("two rival opens do not meet")
	}
}

var ada, bob = Account{"github.com", 1, "ada"}, Account{"github.com", 2, "bob"}

// asks and answers let an end do what it has to.
func (l *link) asks(e *end, i int) {
	if q := l.lane(e).Question(); q != nil {
		l.says(e, i, q)
	}
}

func (l *link) answers(e *end, i int, a Account) bool {
	am := l.lane(e).Answer(e.pens[i].dev, a)
	if am != nil {
		l.says(e, i, am)
	}
	return am != nil
}

func TestAnAccountIsAskedForOnceAndAnsweredAgainOnlyWhenItChanges(t *testing.T) { // L3, P13
	l := paired(t)
	if l.answers(l.b, 0, bob) {
		t.Error("an account is told that nobody asked for")
	}
	l.asks(l.a, 0)
	if l.lane(l.a).Question() != nil {
		t.Error("it is asked twice")
	}
	if !l.answers(l.b, 0, bob) || l.answers(l.b, 0, bob) || l.answers(l.b, 1, ada) {
		t.Error("not exactly one computer answered once")
	}
	if a := l.lane(l.a).Account; a == nil || *a != bob {
		t.Fatalf("account %v", a)
	}
	renamed := bob
	renamed.Login = "bobby"
	if l.answers(l.b, 0, renamed) {
		t.Error("a new login of the same account is told")
	}
	if !l.answers(l.b, 0, ada) || !l.lane(l.a).Account.Same(ada) {
		t.Error("a new account is not told")
	}
	l.b.write(l.b.pens[1], &ledger.Revoke{Device: l.b.pens[0].dev, Reason: 1}, nil)
	if l.lane(l.a).Account != nil || !l.answers(l.b, 1, bob) {
		t.Error("a removed computer still answers for its fleet")
	}
}

func TestAnAnswerCountsForItsSignersFleetAlone(t *testing.T) { // L3, case 48
	l := paired(t)
	l.asks(l.a, 0)
	nonce := l.lane(l.b).questions[0]
	l.says(l.a, 1, &ledger.Am{Nonce: nonce, Host: bob.Host, User: bob.User, Login: bob.Login})
	l.says(l.b, 0, &ledger.Am{Nonce: [16]byte{1}, Host: bob.Host, User: bob.User, Login: bob.Login})
	if a := l.lane(l.a).Account; a != nil {
		t.Errorf("account %v, answered by this end itself or to no question", a)
	}
}

func TestTwoDevelopersWithOneAccountNameNeither(t *testing.T) { // L4, P13, case 48
	lane := func(n byte, a *Account) Lane { return Lane{Peer: ledger.TID{n}, Bound: true, Account: a} }
	renamed := bob
	renamed.Login = "robert"
	names := NameAccounts([]Lane{lane(1, &bob), lane(2, &renamed), lane(3, nil), lane(4, &ada), lane(5, &Account{"github.com", 5, "eve"})}, []Account{ada})
	if _, ok := names.Fleet(bob.Host, bob.User); ok || len(names.Shared) != 1 || len(names.Shared[0].Fleets) != 2 {
		t.Errorf("shared %+v", names.Shared)
	}
	if _, ok := names.Fleet(ada.Host, ada.User); ok || !slices.Equal(names.Ours, []ledger.TID{{4}}) {
		t.Errorf("a fleet that answers our own account is taken by it: %v", names.Ours)
	}
	if f, ok := names.Fleet("github.com", 5); !ok || f != (ledger.TID{5}) {
		t.Error("the one who answered alone is not named")
	}
	if _, ok := names.Fleet("ghe.example", 5); ok {
		t.Error("another host's account is the same")
	}
}

func TestANoteGoesOutOncePerCause(t *testing.T) { // P22, D-17
	l := paired(t)
	thread := ledger.TID{9}
	if l.lane(l.a).Told(thread, 3) {
		t.Fatal("told before anything was said")
	}
	l.says(l.a, 1, &ledger.Note{Thread: thread, Cause: 3})
	if s := l.lane(l.a); !s.Told(thread, 3) || s.Told(thread, 1) || s.Told(ledger.TID{8}, 3) || !s.Notes[0].Ours {
		t.Error("what was told is not known")
	}
	if s := l.lane(l.b); s.Told(thread, 3) || len(s.Notes) != 1 || s.Notes[0].Ours {
		t.Error("the other end takes it for its own")
	}
}

func TestALaneBringsOnlySoMuch(t *testing.T) { // L9, S18
	now := time.Unix(0, 0)
	q := Quota{Threads: OpenThreadsMax - 1}
	if q.Take(Arrival{Opens: true}, now) != Within || q.Take(Arrival{Opens: true}, now) != TooManyThreads {
		t.Error("the limit of conversations is elsewhere")
	}
	q.Ended()
	if q.Take(Arrival{Opens: true}, now) != Within {
		t.Error("a closed conversation makes no room")
	}
	q = Quota{Bytes: LaneBytesMax - 10}
	if q.Take(Arrival{Bytes: 10}, now) != Within || q.Take(Arrival{Bytes: 1}, now) != TooManyBytes {
		t.Error("the limit of bytes is elsewhere")
	}
	q = Quota{}
	for i := range GossipPerMinuteMax {
		if e := q.Take(Arrival{Fresh: true}, now.Add(time.Duration(i)*time.Second/2)); e != Within {
			t.Fatalf("record %d: %v", i, e)
		}
	}
	if q.Take(Arrival{Fresh: true}, now.Add(59*time.Second)) != TooFast || q.Take(Arrival{}, now.Add(59*time.Second)) != Within {
		t.Error("the limit of a minute is elsewhere, or counts catch-up")
	}
	if q.Take(Arrival{Fresh: true}, now.Add(time.Minute)) != Within || q.Take(Arrival{Fresh: true}, now.Add(time.Minute)) != TooFast {
		t.Error("the minute does not slide")
	}
}
