package mesh

import (
	"errors"
	"testing"

	"github.com/parley-mesh/parley/ledger"
)

// heardFrom is what a book holds, and how the exchange ended, after a peer sent frames of records.
func heardFrom(t *testing.T, sent ...ledger.Frame) (*shelf, error) {
	t.Helper()
	b := newShelf()
	m := alone(b)
	defer m.cancel()
	hello := &ledger.Hello{Version: 1, Inc: ledger.Incarnation{9}, Now: 1, Digest: ledger.Digest{9}}
	list := &ledger.List{Scope: ledger.ListAll}
	frames := append([]ledger.Frame{hello, &ledger.Detail{Fleet: fleet}, list, &ledger.Bye{}}, sent...)
	_, err := answered(m, said(t, append(frames, &ledger.Bye{})...))
	return b, err
}

func framed(f ledger.Family, records ...*ledger.Record) *ledger.Records {
	out := &ledger.Records{Ledger: records[0].Ledger, Family: f}
	for _, r := range records {
		out.Wires = append(out.Wires, r.Wire)
	}
	return out
}

func TestWhatCameBeforeABadFrameIsStored(t *testing.T) { // P24, case 10
	p := newPen(NewIdentity([32]byte{2}), ledger.TID{7})
	var good []ledger.Frame
	for range 30 {
		good = append(good, framed(ledger.Conversation, p.write(t), p.write(t)))
	}
	bad := framed(ledger.Conversation, p.write(t))
	bad.Wires[0] = append([]byte{}, bad.Wires[0]...)
	bad.Wires[0][len(bad.Wires[0])-1] ^= 1

	b, err := heardFrom(t, append(append(good, bad), framed(ledger.Conversation, p.write(t)))...)

	if !errors.Is(err, errPeer) || !errors.Is(err, ledger.ErrSignature) {
		t.Errorf("the exchange ends with %v", err)
	}
	if b.count() != 60 || b.disordered() > 0 {
		t.Errorf("%d records are stored, want the 60 before the bad one; %d out of order", b.count(), b.disordered())
	}
	if b, err := heardFrom(t, good...); err != nil || b.count() != 60 {
		t.Errorf("without it: %d records, %v", b.count(), err)
	}
}

func TestALedgerIsOfOneFamilyAlsoWithinOneBurst(t *testing.T) {
	id, tid := NewIdentity([32]byte{2}), ledger.TID{7}
	name, err := ledger.Seal(id.Key(), ledger.Header{Ledger: tid, Lam: 1, Inc: ledger.Incarnation{5}}, &ledger.Name{Device: id.Device(), Name: "laptop"})
	if err != nil {
		t.Fatal(err)
	}

	b, err := heardFrom(t, framed(ledger.Conversation, newPen(id, tid).write(t)), framed(ledger.Roster, name))

	if !errors.Is(err, errPeer) || b.count() != 1 {
		t.Errorf("%d records are stored, %v", b.count(), err)
	}
}
