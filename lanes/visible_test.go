package lanes

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/parley-mesh/parley/ledger"
)

// clan is a fleet that grows at random: its computers restart, hear of each other late, and write what they
// like, each with the parents that its own fold names.
type clan struct {
	t       *testing.T
	fleet   ledger.TID
	pens    []*pen
	knows   map[*pen][]*ledger.Record
	records []*ledger.Record
}

func newClan(t *testing.T) *clan {
	founder := newPen(t, 1)
	c := &clan{t: t, fleet: ledger.FleetID(founder.dev, [16]byte{7}), pens: []*pen{founder}, knows: map[*pen][]*ledger.Record{}}
	c.say(founder, &ledger.Genesis{Nonce: [16]byte{7}}, nil)
	return c
}

// say lets a computer write with what it knows.
func (c *clan) say(p *pen, content ledger.Body, re []ledger.ID) {
	r := Fold(c.fleet, c.knows[p])
	p.lam = max(p.lam, r.Lam)
	rec := p.write(c.fleet, content, re, r.Heads...)
	c.knows[p] = append(c.knows[p], rec)
	c.records = append(c.records, rec)
}

// hear brings one computer what another one knows.
func (c *clan) hear(p, from *pen) {
	for _, r := range c.knows[from] {
		if !slices.Contains(c.knows[p], r) {
			c.knows[p] = append(c.knows[p], r)
		}
	}
}

func (c *clan) join(by *pen, n byte) {
	p := newPen(c.t, n)
	c.say(by, p.accept(c.fleet, by), nil)
	c.pens = append(c.pens, p)
	c.hear(p, by)
}

// step lets one computer do one thing.
func (c *clan) step(t *rapid.T, i int) {
	p := rapid.SampledFrom(c.pens).Draw(t, "who")
	other := rapid.SampledFrom(c.pens).Draw(t, "whom")
	switch rapid.IntRange(0, 8).Draw(t, "what") {
	case 0:
		c.join(p, byte(i+2))
	case 1:
		c.say(p, &ledger.Name{Device: other.dev, Name: "x"}, nil)
	case 2:
		c.say(p, &ledger.LaneBind{Fleet: ledger.TID{byte(i)}}, nil)
	case 3:
		c.say(p, &ledger.Revoke{Device: other.dev, Reason: 1}, nil)
	case 4:
		r := Fold(c.fleet, c.knows[p])
		c.say(p, r.Claiming(), nil)
	case 5:
		r := Fold(c.fleet, c.knows[p])
		for _, live := range r.Live {
			if live.Device == p.dev {
				c.say(p, &ledger.MainRelease{}, []ledger.ID{live.ID})
			}
		}
	case 6:
		p.inc, p.seq, p.prev = ledger.Incarnation{p.dev[0], byte(i + 1)}, 0, ledger.ID{}
	default:
		c.hear(p, other)
	}
}

// membership is a roster without what a lane does not see.
func membership(r Roster) Roster {
	r.Members = slices.Clone(r.Members)
	for i := range r.Members {
		r.Members[i].Name = ""
	}
	r.Heads, r.Lam, r.Binds = nil, 0, nil
	return r
}

func TestTheVisiblePartFoldsToTheSameMembership(t *testing.T) { // D-1
	rapid.Check(t, func(rt *rapid.T) {
		c := newClan(t)
		for i := range rapid.IntRange(1, 30).Draw(rt, "steps") {
			c.step(rt, i)
		}
		shown := VisibleRoster(c.fleet, rapid.Permutation(c.records).Draw(rt, "order"))
		for _, r := range shown {
			if r.Kind == ledger.KindName || r.Kind == ledger.KindLaneBind {
				rt.Fatalf("%s is shown", r.Kind)
			}
		}
		want, got := membership(Fold(c.fleet, c.records)), membership(FoldVisible(c.fleet, rapid.Permutation(shown).Draw(rt, "arrival")))
		if !reflect.DeepEqual(got, want) {
			rt.Fatalf("shown: %+v\nat home: %+v", got, want)
		}
	})
}

func TestAHiddenParentMovesNoRecordBeforeARemoval(t *testing.T) {
	fleet, a, b, records := pair(t)
	hidden := b.write(fleet, &ledger.Name{Device: b.dev, Name: "couch"}, nil, records[1].ID)
	removal := a.write(fleet, &ledger.Revoke{Device: b.dev, Reason: 3}, nil, records[1].ID, hidden.ID)
	friend := newPen(t, 4)
	smuggled := b.write(fleet, friend.accept(fleet, b), nil, hidden.ID, records[1].ID)

	r := FoldVisible(fleet, VisibleRoster(fleet, append(records, hidden, smuggled, removal)))

	if r.Member(b.dev) || r.Member(friend.dev) || !r.Member(a.dev) {
		t.Errorf("members %v", r.Devices())
	}
}

func TestAChainHoldsTogetherOverWhatIsHidden(t *testing.T) { // D-1: rosters whose authors named hidden parents alone
	fleet, a, _, records := pair(t)
	name := a.write(fleet, &ledger.Name{Device: a.dev, Name: "desk"}, nil, records[1].ID)
	claim := a.write(fleet, &ledger.MainClaim{Term: 1}, nil, name.ID)

	r := FoldVisible(fleet, VisibleRoster(fleet, append(records, name, claim)))

	if role, by := r.Main(); role != RoleMain || by.Device != a.dev {
		t.Errorf("role %v", role)
	}
}

func TestALaneSeesWhomTheRecoveryKeyRemoves(t *testing.T) { // case 52
	fleet, a, thief, words, records := recoverable(t)
	records = append(records, thief.write(fleet, &ledger.Name{Device: thief.dev, Name: "desk"}, nil, records[1].ID))
	deps := RecoveryDeps(fleet, records, []ledger.Device{thief.dev})
	records = append(records, words.write(fleet, &ledger.Revoke{Device: thief.dev, Reason: 3}, nil, deps...))

	r := FoldVisible(fleet, VisibleRoster(fleet, records))

	if r.Member(thief.dev) || !r.Member(a.dev) {
		t.Errorf("members %v", r.Devices())
	}
}

func TestADeveloperHasTheAddressThatWasSaidLastAndLanesDoNotSeeIt(t *testing.T) { // C8
	fleet, a, b, records := pair(t)
	other := ledger.TID{9}
	first := a.write(fleet, &ledger.Address{Fleet: other, Email: "Maya@acme.com"}, nil, records[1].ID)
	b.lam = 10
	last := b.write(fleet, &ledger.Address{Fleet: other, Email: "Maya@acme.org"}, nil, records[1].ID)
	stranger := newPen(t, 3)
	stranger.lam = 20
	void := stranger.write(fleet, &ledger.Address{Fleet: other, Email: "eve@acme.com"}, nil, records[1].ID)
	for _, order := range [][]*ledger.Record{{first, last, void}, {void, last, first}} {
		if got := Fold(fleet, append(order, records...)).Email(other); got != "maya@acme.org" {
			t.Errorf("address %q", got)
		}
	}
	if got := Fold(fleet, records).Email(other); got != "" {
		t.Errorf("address %q of a developer without one", got)
	}
	for _, r := range VisibleRoster(fleet, append(records, first, last)) {
		if r.Kind == ledger.KindAddress {
			t.Error("a lane sees an address")
		}
	}
}
