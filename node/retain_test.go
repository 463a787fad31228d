package node

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/ledger/disk"
)

// begun is a node that is not run: the test is its loop.
func begun(t *testing.T, home Home) *Node {
	t.Helper()
	n, err := start(t.Context(), RunConfig{Home: home, Demo: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// closedThread is a conversation of one computer, from open to closed, and the roster that permits it.
func closedThread(t *testing.T, n *Node) (roster, said []*ledger.Record) {
	t.Helper()
	at := uint64(n.wall().UnixMilli())
	seal := func(h ledger.Header, b ledger.Body) *ledger.Record {
		t.Helper()
		h.Inc, h.At = ledger.Incarnation{77}, at
		r, err := ledger.Seal(n.id.Key(), h, b)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	claim := seal(ledger.Header{Ledger: n.fleet, Lam: 5, Deps: n.deps()}, &ledger.MainClaim{Term: 1})
	oid := func(b byte) ledger.OID { return ledger.OID(slices.Repeat([]byte{b}, 20)) }
	open := &ledger.Open{
		Host: "github.com", Repo: 7, Slug: "acme/shop", Pull: 42, Base: "master", Algorithm: ledger.SHA1, Head: oid(1), BaseHead: oid(2), MergeBase: oid(3),
		Files:   []ledger.File{{Path: "a", Master: oid(4), Pull: oid(5), Mode: ledger.ModePlain}},
		Parties: []ledger.Party{ledger.DeviceParty(n.id.Device())}, Author: 9, Fleet: n.fleet,
	}
	tid := open.Key().Thread()
	first := seal(ledger.Header{Ledger: tid, Lam: 1, Claim: claim.ID}, open)
	leaf := seal(ledger.Header{Ledger: tid, Seq: 1, Prev: first.ID, Lam: 2, Open: first.ID, Re: []ledger.ID{first.ID}}, &ledger.Ack{Classes: []ledger.Class{ledger.HasMaster}})
	end := seal(ledger.Header{Ledger: tid, Seq: 2, Prev: leaf.ID, Lam: 3, Open: first.ID, Spine: first.ID, Claim: claim.ID}, &ledger.Closed{Why: ledger.ClosedPerson})
	records, err := n.store.Records(n.fleet)
	if err != nil {
		t.Fatal(err)
	}
	return append(records, claim), []*ledger.Record{first, leaf, end}
}

func (n *Node) holds(t *testing.T, records ...*ledger.Record) []disk.Outcome {
	t.Helper()
	out, err := n.store.Apply(disk.Batch{Records: records})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		n.hear(r.Ledger)
	}
	return out
}

func (n *Node) digestOf(t *testing.T, tid ledger.TID) (d ledger.Digest) {
	t.Helper()
	for _, l := range (book{n}).Visible(ledger.Device{}) {
		if l.Ledger == tid {
			return l.Digest
		}
	}
	return d
}

func TestAThreadThatClosedLongAgoKeepsItsEndAlone(t *testing.T) { // S9, P24
	home := demoHome(t)
	n := begun(t, home)
	roster, said := closedThread(t, n)
	n.holds(t, append(slices.Clone(roster), said...)...)
	tid := said[0].Ledger
	full := n.digestOf(t, tid)
	if len(n.core.Conversations()) != 1 {
		t.Fatalf("%d conversations", len(n.core.Conversations()))
	}
	n.retain(n.wall().AddDate(0, 0, keepClosedDays-1))
	if n.store.Pruned(tid) || n.digestOf(t, tid) != full {
		t.Fatal("it is pruned a day too early")
	}

	n.opens.of(n, tid)
	n.retain(n.wall().AddDate(0, 0, keepClosedDays+1))
	if n.opens.of(n, tid) != nil || len(n.opens.seen) > 0 {
		t.Error("who may see it is still remembered")
	}

	tomb, ok, err := n.store.Tomb(tid)
	if !n.store.Pruned(tid) || !ok || err != nil || len(tomb.Spine) != 1 || n.digestOf(t, tid) != ledger.TombDigest(said[2].ID) {
		t.Fatalf("tomb %+v, %v", tomb, err)
	}
	left, err := n.viewer().thread("acme/shop#42")
	if err != nil || len(left.Records) != 2 || left.Phase != "closed" || !strings.HasSuffix(left.Waiting, "kept no longer") {
		t.Errorf("what is left of it is shown as %+v, %v", left, err)
	}
	if out := n.holds(t, said[:2]...); out[0] != disk.Forgotten || len(n.core.Conversations()) != 0 || n.core.IsOpen(tid) {
		t.Errorf("a replay of its beginning opens it again: %v", out)
	}
	if err := (book{n}).Receive(t.Context(), ledger.Device{8}, ledger.Conversation, said[:2]); err != nil || n.mesh.Refused()[8].Times != 2 {
		t.Errorf("the replay is not counted: %v, %+v", err, n.mesh.Refused())
	}
}

func TestWhoHoldsAThreadAgreesWithItsTomb(t *testing.T) { // P24
	n := begun(t, demoHome(t))
	roster, said := closedThread(t, n)
	tid := said[0].Ledger
	tomb := &ledger.Tomb{Ledger: tid, Open: said[0].Wire, Spine: [][]byte{said[2].Wire}, Digest: ledger.TombDigest(said[2].ID)}
	for name, c := range map[string]struct {
		held   []*ledger.Record
		tomb   *ledger.Tomb
		pruned bool
		agrees bool
	}{
		"all of it":      {said, tomb, false, true},
		"its beginning":  {said[:2], tomb, true, true},
		"nothing":        {nil, tomb, true, true},
		"an unended one": {said[:2], &ledger.Tomb{Ledger: tid, Open: said[0].Wire, Digest: tomb.Digest}, false, false},
	} {
		home := demoHome(t)
		if err := home.SetFleet(n.fleet); err != nil {
			t.Fatal(err)
		}
		other := begun(t, home)
		other.holds(t, append(slices.Clone(roster), c.held...)...)
		other.roster.set(other.core.Roster())
		records, err := c.tomb.Records()
		if err != nil {
			t.Fatal(err)
		}

		err = (book{other}).Bury(t.Context(), n.id.Device(), c.tomb, records)
		other.hear(tid)

		if err != nil || other.store.Pruned(tid) != c.pruned || (other.digestOf(t, tid) == tomb.Digest) != c.agrees || c.agrees && other.core.IsOpen(tid) {
			t.Errorf("who holds %s: pruned %v, %v", name, other.store.Pruned(tid), err)
		}
		if left, err := other.store.Records(tid); err != nil || !c.pruned && len(left) != len(c.held) {
			t.Errorf("who holds %s: %d records are left, %v", name, len(left), err)
		}
	}
}

func TestAPrunedThreadIsStillPrunedAfterARestart(t *testing.T) { // P24
	home := demoHome(t)
	n, err := start(t.Context(), RunConfig{Home: home, Demo: true})
	if err != nil {
		t.Fatal(err)
	}
	roster, said := closedThread(t, n)
	n.holds(t, append(slices.Clone(roster), said...)...)
	n.retain(n.wall().Add(500 * 24 * time.Hour))
	if err := n.close(); err != nil {
		t.Fatal(err)
	}

	again := begun(t, home)

	if len(again.core.Conversations()) != 0 || !again.store.Pruned(said[0].Ledger) {
		t.Error("it is back")
	}
}

// holdsValue keeps one of the node's own values.
func (n *Node) holdsValue(t *testing.T, key, value string) {
	t.Helper()
	if _, err := n.store.Apply(disk.Batch{Put: []disk.Pair{{Key: []byte(key), Value: []byte(value)}}}); err != nil {
		t.Fatal(err)
	}
}
