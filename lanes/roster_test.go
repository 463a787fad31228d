package lanes

import (
	"crypto/ed25519"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/parley-mesh/parley/ledger"
)

// pen writes roster records for one computer, as its node would.
type pen struct {
	t    *testing.T
	key  ed25519.PrivateKey
	dev  ledger.Device
	inc  ledger.Incarnation
	seq  uint64
	prev ledger.ID
	lam  uint64
}

func newPen(t *testing.T, n byte) *pen {
	seed := make([]byte, 32)
	seed[0] = n
	key := ed25519.NewKeyFromSeed(seed)
	return &pen{t: t, key: key, dev: ledger.Device(key.Public().(ed25519.PublicKey)), inc: ledger.Incarnation{n}}
}

func (p *pen) write(fleet ledger.TID, content ledger.Body, re []ledger.ID, deps ...ledger.ID) *ledger.Record {
	p.t.Helper()
	p.lam++
	r, err := ledger.Seal(p.key, ledger.Header{
		Ledger: fleet, Inc: p.inc, Seq: p.seq, Prev: p.prev,
		Re: re, Lam: p.lam, At: 1, Deps: deps,
	}, content)
	if err != nil {
		p.t.Fatal(err)
	}
	p.seq, p.prev = p.seq+1, r.ID
	return r
}

func (p *pen) accept(fleet ledger.TID, inviter *pen) *ledger.Add {
	add := &ledger.Add{Device: p.dev, Invite: ledger.Invite{1}}
	copy(add.Accept[:], ed25519.Sign(p.key, ledger.JoinStatement(fleet, add.Invite, inviter.dev)))
	return add
}

// pair is a fleet of two computers and what they wrote so far.
func pair(t *testing.T) (fleet ledger.TID, a, b *pen, records []*ledger.Record) {
	a, b = newPen(t, 1), newPen(t, 2)
	fleet = ledger.FleetID(a.dev, [16]byte{7})
	genesis := a.write(fleet, &ledger.Genesis{Nonce: [16]byte{7}}, nil)
	add := a.write(fleet, b.accept(fleet, a), nil, genesis.ID)
	return fleet, a, b, []*ledger.Record{genesis, add}
}

func TestAComputerBelongsOnceItsAddIsCountersigned(t *testing.T) {
	fleet, a, b, records := pair(t)
	stranger := newPen(t, 3)
	forged := &ledger.Add{Device: stranger.dev, Invite: ledger.Invite{2}}
	records = append(records, a.write(fleet, forged, nil, records[1].ID))

	r := Fold(fleet, records)

	if !r.Member(a.dev) || !r.Member(b.dev) || r.Member(stranger.dev) {
		t.Errorf("members %v", r.Devices())
	}
}

func TestTwoClaimsThatKnewNothingOfEachOtherAreContested(t *testing.T) { // P22
	fleet, a, b, records := pair(t)
	first := a.write(fleet, &ledger.MainClaim{Term: 1}, nil, records[1].ID)
	second := b.write(fleet, &ledger.MainClaim{Term: 1}, nil, records[1].ID)
	records = append(records, first, second)

	r := Fold(fleet, records)
	if role, _ := r.Main(); role != RoleContested {
		t.Fatalf("role %v, want contested", role)
	}

	settled := append(records, b.write(fleet, r.Claiming(), nil, first.ID, second.ID))
	role, claim := Fold(fleet, settled).Main()
	if role != RoleMain || claim.Device != b.dev || claim.Term != 2 {
		t.Errorf("role %v by %v in term %d", role, claim.Device, claim.Term)
	}
}

func TestAReleaseLeavesTheFleetWithoutAMain(t *testing.T) { // P2
	fleet, a, b, records := pair(t)
	claim := a.write(fleet, &ledger.MainClaim{Term: 1}, nil, records[1].ID)
	foreign := b.write(fleet, &ledger.MainRelease{}, []ledger.ID{claim.ID}, claim.ID)
	records = append(records, claim, foreign)
	if role, _ := Fold(fleet, records).Main(); role != RoleMain {
		t.Fatal("another computer's release took the role away")
	}

	own := a.write(fleet, &ledger.MainRelease{}, []ledger.ID{claim.ID}, claim.ID)

	if role, _ := Fold(fleet, append(records, own)).Main(); role != RoleNone {
		t.Error("the role is still held")
	}
}

func TestARemovedComputerSmugglesNobodyIn(t *testing.T) {
	fleet, a, b, records := pair(t)
	friend := newPen(t, 4)
	smuggled := b.write(fleet, friend.accept(fleet, b), nil, records[1].ID)
	removal := a.write(fleet, &ledger.Revoke{Device: b.dev, Reason: 3}, nil, records[1].ID)

	r := Fold(fleet, append(records, smuggled, removal))

	if r.Member(b.dev) || r.Member(friend.dev) || !r.Member(a.dev) {
		t.Errorf("members %v", r.Devices())
	}
}

func TestMutualRemovalRemovesBoth(t *testing.T) { // case 52
	fleet, a, b, records := pair(t)
	ab := a.write(fleet, &ledger.Revoke{Device: b.dev, Reason: 3}, nil, records[1].ID)
	ba := b.write(fleet, &ledger.Revoke{Device: a.dev, Reason: 3}, nil, records[1].ID)

	r := Fold(fleet, append(records, ab, ba))

	if r.Member(a.dev) || r.Member(b.dev) {
		t.Errorf("members %v", r.Devices())
	}
}

func TestTheRosterDependsOnTheSetOfRecordsAlone(t *testing.T) {
	fleet, a, b, records := pair(t)
	records = append(records,
		a.write(fleet, &ledger.Name{Device: a.dev, Name: "desk"}, nil, records[1].ID),
		b.write(fleet, &ledger.Name{Device: b.dev, Name: "couch"}, nil, records[1].ID),
		a.write(fleet, &ledger.MainClaim{Term: 1}, nil, records[1].ID),
		b.write(fleet, &ledger.MainClaim{Term: 1}, nil, records[1].ID))
	want := Fold(fleet, records)

	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		random.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
		got := Fold(fleet, records)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v\nwant %+v", got, want)
		}
	}
	if want.Name(a.dev) != "desk" || want.Name(b.dev) != "couch" {
		t.Errorf("names %q, %q", want.Name(a.dev), want.Name(b.dev))
	}
}

func TestARecordWithUnknownParentsWaits(t *testing.T) {
	fleet, a, b, records := pair(t)
	claim := a.write(fleet, &ledger.MainClaim{Term: 1}, nil, records[1].ID)
	over := b.write(fleet, &ledger.MainClaim{Term: 2, Over: []ledger.ID{claim.ID}}, nil, claim.ID)

	if role, _ := Fold(fleet, append(records, over)).Main(); role != RoleNone {
		t.Error("a claim counts although what it was based on is unknown")
	}
	if role, c := Fold(fleet, append(records, over, claim)).Main(); role != RoleMain || c.Device != b.dev {
		t.Error("the claim does not count once its parents are here")
	}
}

func TestWhatARemovedComputerWroteBeyondTheCutCountsForNothing(t *testing.T) { // case 51
	fleet, a, b, records := pair(t)
	thread := ledger.TID{9}
	cut := []ledger.Cut{{Ledger: [16]byte(thread[:16]), Inc: b.inc, Next: 2}}
	r := Fold(fleet, append(records, a.write(fleet, &ledger.Revoke{Device: b.dev, Reason: 1, Cut: cut}, nil, records[1].ID)))

	said := func(inc ledger.Incarnation, seq uint64) *ledger.Record {
		return &ledger.Record{Header: ledger.Header{Ledger: thread, Device: b.dev, Inc: inc, Seq: seq}}
	}

	if !r.Counts(said(b.inc, 1)) || r.Counts(said(b.inc, 2)) || r.Counts(said(ledger.Incarnation{99}, 0)) {
		t.Error("the cut is not where it was made")
	}
}
