package lanes

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/parley-mesh/parley/ledger"
)

// recoverable is a fleet of two computers whose genesis names a recovery key.
func recoverable(t *testing.T) (fleet ledger.TID, a, thief, words *pen, records []*ledger.Record) {
	a, thief, words = newPen(t, 1), newPen(t, 2), newPen(t, 99)
	nonce := ledger.RecoveryNonce(words.dev)
	fleet = ledger.FleetID(a.dev, nonce)
	genesis := a.write(fleet, &ledger.Genesis{Recovery: words.dev, Nonce: nonce}, nil)
	add := a.write(fleet, thief.accept(fleet, a), nil, genesis.ID)
	return fleet, a, thief, words, []*ledger.Record{genesis, add}
}

// shuffled folds a few orders and fails where they differ.
func shuffled(t *testing.T, fleet ledger.TID, records []*ledger.Record) Roster {
	t.Helper()
	want := Fold(fleet, records)
	random := rand.New(rand.NewPCG(3, 4))
	for range 10 {
		random.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
		if got := Fold(fleet, records); !reflect.DeepEqual(got, want) {
			t.Fatalf("another order: %+v\nwant %+v", got, want)
		}
	}
	return want
}

func TestARemovedComputerIsNeverLetInAgain(t *testing.T) { // case 51
	fleet, a, b, records := pair(t)
	removal := a.write(fleet, &ledger.Revoke{Device: b.dev, Reason: 1}, nil, records[1].ID)
	again := a.write(fleet, b.accept(fleet, a), nil, removal.ID)
	own := b.write(fleet, &ledger.Name{Device: b.dev, Name: "back"}, nil, again.ID)

	if r := shuffled(t, fleet, append(records, removal, again, own)); r.Member(b.dev) || r.Name(b.dev) == "back" {
		t.Errorf("members %v, called %q", r.Devices(), r.Name(b.dev))
	}
}

func TestTheRecoveryKeyBeatsAThiefsRemovals(t *testing.T) { // case 52
	fleet, a, thief, words, records := recoverable(t)
	theft := thief.write(fleet, &ledger.Revoke{Device: a.dev, Reason: 3}, nil, records[1].ID)
	removal := words.write(fleet, &ledger.Revoke{Device: thief.dev, Reason: 3}, nil, records[1].ID)

	if r := shuffled(t, fleet, append(records, theft, removal)); !r.Member(a.dev) || r.Member(thief.dev) {
		t.Errorf("members %v", r.Devices())
	}
}

func TestTheRecoveryKeyUndoesWhatAThiefDidBefore(t *testing.T) { // case 52
	fleet, a, thief, words, records := recoverable(t)
	friend := newPen(t, 4)
	let := thief.write(fleet, friend.accept(fleet, thief), nil, records[1].ID)
	theft := thief.write(fleet, &ledger.Revoke{Device: a.dev, Reason: 3}, nil, let.ID)
	late := friend.write(fleet, &ledger.MainClaim{Term: 1}, nil, theft.ID)
	records = append(records, let, theft, late)
	if r := Fold(fleet, records); r.Member(a.dev) || !reflect.DeepEqual(r.AddedBy(thief.dev), []ledger.Device{friend.dev}) {
		t.Fatalf("before: members %v, let in by the thief %v", r.Devices(), r.AddedBy(thief.dev))
	}

	stolen := []ledger.Device{thief.dev, friend.dev}
	first := words.write(fleet, &ledger.Revoke{Device: thief.dev, Reason: 3}, nil, RecoveryDeps(fleet, records, stolen)...)
	second := words.write(fleet, &ledger.Revoke{Device: friend.dev, Reason: 3}, nil, first.ID)

	r := shuffled(t, fleet, append(records, first, second))
	if role, _ := r.Main(); role != RoleNone || !reflect.DeepEqual(r.Devices(), []ledger.Device{a.dev}) {
		t.Errorf("members %v, role %v", r.Devices(), role)
	}
}

func TestTheRecoveryKeyLetsAComputerInWhenNobodyIsLeft(t *testing.T) { // case 52
	fleet, a, b, words, records := recoverable(t)
	records = append(records, a.write(fleet, &ledger.Revoke{Device: b.dev, Reason: 3}, nil, records[1].ID),
		b.write(fleet, &ledger.Revoke{Device: a.dev, Reason: 3}, nil, records[1].ID))
	if n := len(Fold(fleet, records).Devices()); n != 0 {
		t.Fatalf("%d computers are left", n)
	}
	fresh := newPen(t, 7)
	add := words.write(fleet, fresh.accept(fleet, words), nil, Fold(fleet, records).Heads...)
	claim := fresh.write(fleet, &ledger.MainClaim{Term: 1}, nil, add.ID)

	r := shuffled(t, fleet, append(records, add, claim))
	if role, by := r.Main(); role != RoleMain || by.Device != fresh.dev || len(r.Devices()) != 1 {
		t.Errorf("members %v, role %v", r.Devices(), role)
	}
}

func TestTheRecoveryKeySaysNothingElseAndNobodyRemovesIt(t *testing.T) { // case 52
	fleet, a, thief, words, records := recoverable(t)
	against := thief.write(fleet, &ledger.Revoke{Device: words.dev, Reason: 3}, nil, records[1].ID)
	claim := words.write(fleet, &ledger.MainClaim{Term: 9}, nil, against.ID)
	removal := words.write(fleet, &ledger.Revoke{Device: thief.dev, Reason: 3}, nil, claim.ID)
	r := shuffled(t, fleet, append(records, against, claim, removal))
	if role, _ := r.Main(); role != RoleNone || r.Member(thief.dev) || r.Recovery != words.dev {
		t.Errorf("members %v, role %v", r.Devices(), role)
	}
	if _, ok := r.Term(claim.ID, words.dev); ok {
		t.Error("the recovery key's claim counts")
	}
	asMember := a.write(fleet, words.accept(fleet, a), nil, records[1].ID)
	if r := Fold(fleet, append(records, asMember)); r.Member(words.dev) {
		t.Error("the recovery key is a computer")
	}
}

func TestAFoundersThiefCannotNameAnotherRecoveryKey(t *testing.T) { // case 52
	fleet, a, b, words, records := recoverable(t)
	own := newPen(t, 66)
	founder := newPen(t, 1) // the same key, in another process
	founder.inc = ledger.Incarnation{66}
	rival := founder.write(fleet, &ledger.Genesis{Recovery: own.dev, Nonce: ledger.RecoveryNonce(words.dev)}, nil)
	theft := own.write(fleet, &ledger.Revoke{Device: b.dev, Reason: 3}, nil, rival.ID, records[1].ID)

	r := shuffled(t, fleet, append(records, rival, theft))
	if !r.Member(a.dev) || !r.Member(b.dev) || r.Recovery != words.dev {
		t.Errorf("members %v, recovery key %s", r.Devices(), r.Recovery.Short())
	}
}

func TestAKeyThatTheFleetDoesNotCommitToRecoversNothing(t *testing.T) {
	a, b, words := newPen(t, 1), newPen(t, 2), newPen(t, 99)
	fleet := ledger.FleetID(a.dev, [16]byte{7})
	genesis := a.write(fleet, &ledger.Genesis{Recovery: words.dev, Nonce: [16]byte{7}}, nil)
	add := a.write(fleet, b.accept(fleet, a), nil, genesis.ID)
	removal := words.write(fleet, &ledger.Revoke{Device: b.dev, Reason: 3}, nil, add.ID)

	if r := shuffled(t, fleet, []*ledger.Record{genesis, add, removal}); !r.Member(b.dev) || r.Recovery != (ledger.Device{}) {
		t.Errorf("members %v", r.Devices())
	}
}

func TestAComputerIsNamedByItsNameOrTheStartOfItsKey(t *testing.T) {
	fleet, a, b, records := pair(t)
	records = append(records, a.write(fleet, &ledger.Name{Device: b.dev, Name: "couch"}, nil, records[1].ID))
	r := Fold(fleet, records)
	for name, want := range map[string]int{"couch": 1, b.dev.String(): 1, b.dev.String()[:8]: 1, b.dev.String()[:7]: 0, "": 0, "cou": 0} {
		if got := r.Named(name); len(got) != want {
			t.Errorf("%q names %d computers", name, len(got))
		}
	}
}
