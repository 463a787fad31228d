package mesh

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/ledger/disk"
)

// yard is a disk store as a book that prunes.
type yard struct {
	*stored
	buried int
}

func (y *yard) Bury(_ context.Context, _ ledger.Device, tomb *ledger.Tomb, _ []*ledger.Record) error {
	y.buried++
	held, err := y.Records(tomb.Ledger)
	if err != nil {
		return err
	}
	_, err = y.Apply(disk.Batch{Bury: []disk.Grave{{Tomb: *tomb, Keep: len(held) > 2}}})
	return err
}

func newYard(t *testing.T, m *Mesh, records ...*ledger.Record) *yard {
	t.Helper()
	s, err := disk.Open(disk.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := s.Apply(disk.Batch{Records: records}); err != nil {
		t.Fatal(err)
	}
	y := &yard{stored: &stored{Store: s, want: 1 << 60}}
	m.c.Book = y
	return y
}

// ended is a thread of one chain, from open to closed, and its tomb.
func endedThread(t *testing.T, id Identity) ([]*ledger.Record, *ledger.Tomb) {
	t.Helper()
	oid := func(b byte) ledger.OID { return ledger.OID(slices.Repeat([]byte{b}, 20)) }
	open := &ledger.Open{
		Host: "github.com", Repo: 7, Slug: "acme/shop", Pull: 42, Base: "master", Algorithm: ledger.SHA1, Head: oid(1), BaseHead: oid(2), MergeBase: oid(3),
		Files:   []ledger.File{{Path: "a", Master: oid(4), Pull: oid(5), Mode: ledger.ModePlain}},
		Parties: []ledger.Party{ledger.DeviceParty(id.Device())}, Author: 9, Fleet: fleet,
	}
	seal := func(h ledger.Header, b ledger.Body) *ledger.Record {
		t.Helper()
		h.Ledger, h.Inc, h.At = open.Key().Thread(), ledger.Incarnation{1}, 1
		r, err := ledger.Seal(id.Key(), h, b)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	claim := ledger.ID{9}
	first := seal(ledger.Header{Lam: 1, Claim: claim}, open)
	leaf := seal(ledger.Header{Seq: 1, Prev: first.ID, Lam: 2, Open: first.ID, Re: []ledger.ID{first.ID}}, &ledger.Ack{Classes: []ledger.Class{ledger.HasMaster}})
	end := seal(ledger.Header{Seq: 2, Prev: leaf.ID, Lam: 3, Open: first.ID, Spine: first.ID, Claim: claim}, &ledger.Closed{Why: ledger.ClosedPerson})
	return []*ledger.Record{first, leaf, end}, &ledger.Tomb{Ledger: first.Ledger, Open: first.Wire, Spine: [][]byte{end.Wire}, Digest: ledger.TombDigest(end.ID)}
}

func TestOneExchangeMakesAPeerAgreeWithATomb(t *testing.T) { // P24, D-6
	for _, held := range []int{3, 2, 0} {
		for _, many := range []int{0, wholeMax + 1} {
			for _, prunedLeads := range []bool{true, false} {
				synctest.Test(t, func(t *testing.T) {
					a, b, pens := twins(t, max(many, 1), 0)
					records, tomb := endedThread(t, a.c.Identity)
					var common []*ledger.Record
					for _, p := range pens[:many] {
						common = append(common, p.nod(t))
					}
					common = slices.DeleteFunc(common, func(r *ledger.Record) bool { return r.Seq > 0 })
					for i := range many {
						common = append(common, newPen(a.c.Identity, ledger.TID{byte(i * 3), 5}).nod(t))
					}
					pruned := newYard(t, a, append(slices.Clone(common), records...)...)
					if _, err := pruned.Apply(disk.Batch{Bury: []disk.Grave{{Tomb: *tomb}}}); err != nil {
						t.Fatal(err)
					}
					other := newYard(t, b, append(slices.Clone(common), records[:held]...)...)
					lead, answer := a, b
					if !prunedLeads {
						lead, answer = b, a
					}

					compare(t, lead, answer, 0)

					left, err := other.Records(tomb.Ledger)
					if !same(a, b) || other.buried != 1 || err != nil || (len(left) == 3) != (held == 3) {
						t.Fatalf("holds %d, %d others, pruned leads %v: same %v, %d records left, buried %d times, %v",
							held, many, prunedLeads, same(a, b), len(left), other.buried, err)
					}
					if got := compare(t, lead, answer, 0); got.bytes > 200 {
						t.Errorf("the next round costs %d bytes", got.bytes)
					}
				})
			}
		}
	}
}

func TestATombThatIsNoneEndsTheExchange(t *testing.T) {
	records, good := endedThread(t, NewIdentity([32]byte{2}))
	stranger := newPen(NewIdentity([32]byte{2}), ledger.TID{7}).nod(t)
	forged := slices.Clone(records[2].Wire)
	forged[len(forged)-1] ^= 1
	hello := &ledger.Hello{Version: 1, Now: 1, Digest: ledger.Digest{9}, Features: ledger.FeatureStages | ledger.FeatureTombs}
	for name, tomb := range map[string]*ledger.Tomb{
		"another digest":         {Ledger: good.Ledger, Open: good.Open, Spine: good.Spine},
		"no end":                 {Ledger: good.Ledger, Open: good.Open, Spine: [][]byte{}, Digest: ledger.TombDigest(records[0].ID)},
		"no open":                {Ledger: good.Ledger, Open: records[1].Wire, Spine: good.Spine, Digest: good.Digest},
		"a forged signature":     {Ledger: good.Ledger, Open: good.Open, Spine: [][]byte{forged}, Digest: good.Digest},
		"another thread":         {Ledger: ledger.TID{7}, Open: good.Open, Spine: good.Spine, Digest: good.Digest},
		"another thread's word":  {Ledger: good.Ledger, Open: good.Open, Spine: [][]byte{stranger.Wire, records[2].Wire}, Digest: good.Digest},
		"bytes that are nothing": {Ledger: good.Ledger, Open: []byte{1, 2}, Spine: good.Spine, Digest: good.Digest},
	} {
		for at, frames := range map[string][]ledger.Frame{
			"a question": {hello, tomb}, "an answer": {hello, &ledger.Bye{}, tomb}, "the records": {hello, &ledger.Bye{}, &ledger.Bye{}, tomb},
		} {
			m := alone(newShelf())
			y := newYard(t, m)
			if _, err := answered(m, said(t, frames...)); !errors.Is(err, errPeer) || y.buried > 0 {
				t.Errorf("%s, in place of %s: buried %d times, %v", name, at, y.buried, err)
			}
			m.cancel()
		}
	}
	m := alone(newShelf())
	defer m.cancel()
	y := newYard(t, m)
	if _, err := answered(m, said(t, hello, good, good)); !errors.Is(err, errPeer) || y.buried != 1 {
		t.Errorf("one again: buried %d times, %v", y.buried, err)
	}
}

func TestAPeerThatKnowsNoTombsIsSentNone(t *testing.T) {
	records, tomb := endedThread(t, NewIdentity([32]byte{2}))
	m := alone(newShelf())
	defer m.cancel()
	y := newYard(t, m, records...)
	if _, err := y.Apply(disk.Batch{Bury: []disk.Grave{{Tomb: *tomb}}}); err != nil {
		t.Fatal(err)
	}
	hello := &ledger.Hello{Version: 1, Now: 1, Digest: ledger.Digest{9}}
	ask := []ledger.Frame{&ledger.List{Scope: ledger.ListAll}, &ledger.Have{Ledger: tomb.Ledger}, &ledger.Bye{}, &ledger.Bye{}}

	s, err := answered(m, said(t, append([]ledger.Frame{hello}, ask...)...))
	if err != nil || s.heard > 300 {
		t.Errorf("it heard %d bytes, %v", s.heard, err)
	}
}
