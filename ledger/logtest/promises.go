package logtest

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parley-mesh/parley/ledger"
)

var thread = ledger.TID{1}

func inOrder(t *testing.T, s *suite) {
	l := s.open(t)
	a, b := Chain(t, thread, 1, 1, 5), Chain(t, thread, 1, 2, 3)
	if out := apply(t, l, b[0], a[0], a[1], b[1], a[2], a[3], b[2], a[4]); slices.ContainsFunc(out, func(o Outcome) bool { return o != Stored }) {
		t.Errorf("outcomes %v", out)
	}
	if out := apply(t, l, a[1], b[0], b[0]); !slices.Equal(out, []Outcome{Known, Known, Known}) {
		t.Errorf("stored again: %v", out)
	}
	all, err := l.Records(thread)
	if err != nil || !slices.Equal(ids(all), ids(slices.Concat(a, b))) {
		t.Errorf("%d records, %v", len(all), err)
	}
	for _, want := range slices.Concat(a, b) {
		if r, err := l.Record(want.ID); err != nil || r == nil || !bytes.Equal(r.Wire, want.Wire) {
			t.Errorf("by id: %v, %v", r, err)
		}
	}
	if r, err := l.Record(ledger.ID{9}); err != nil || r != nil {
		t.Errorf("a record that is not there: %v, %v", r, err)
	}
	wires, err := l.From(thread, a[0].Chain(), 1, 3)
	if err != nil || len(wires) != 3 || !bytes.Equal(wires[0], a[1].Wire) || !bytes.Equal(wires[2], a[3].Wire) {
		t.Errorf("from 1: %d wires, %v", len(wires), err)
	}
	if f, ok := l.Family(thread); !ok || f != ledger.Conversation {
		t.Errorf("family %v, %v", f, ok)
	}
	if _, ok := l.Family(ledger.TID{2}); ok {
		t.Error("another ledger is known")
	}
}

func gaps(t *testing.T, s *suite) {
	l := s.open(t)
	r := Chain(t, thread, 1, 1, 6)
	if out := apply(t, l, r[5], r[2], r[1], r[2]); !slices.Equal(out, []Outcome{Waiting, Waiting, Waiting, Waiting}) {
		t.Errorf("early: %v", out)
	}
	if all, err := l.Records(thread); err != nil || len(all) != 0 || len(l.Waiting()) != 1 {
		t.Errorf("%d records beyond a gap, %v, waiting %v", len(all), err, l.Waiting())
	}
	apply(t, l, r[0])
	holds(t, l, r[:3], r[:3])
	if len(l.Waiting()) != 1 {
		t.Error("the second gap is forgotten")
	}
	apply(t, l, r[3], r[4])
	holds(t, l, r, r)
	if len(l.Waiting()) != 0 {
		t.Error("something still waits")
	}
}

func anyOrder(t *testing.T, s *suite) {
	l := s.open(t)
	for seed := range uint64(100) {
		tid := ledger.TID{byte(seed), 1}
		a := Chain(t, tid, 1, 1, 6)
		left := Continue(t, tid, 1, headOf(a[2]), 7, 4)
		right := Continue(t, tid, 1, headOf(left[1]), 9, 2)
		order := slices.Concat(a, left, right)
		want, _ := ledger.Follow(order)
		random := rand.New(rand.NewPCG(seed, 0))
		random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for rest := order; len(rest) > 0; {
			n := 1 + random.IntN(len(rest))
			apply(t, l, rest[:n]...)
			rest = rest[n:]
			agrees(t, l, tid)
		}
		holds(t, l, order, want)
		if t.Failed() || len(l.Waiting()) != 0 {
			t.Fatalf("seed %d: waiting %v", seed, l.Waiting())
		}
	}
}

// agrees checks that the heads say what the stored records do, whatever is missing still.
func agrees(t *testing.T, l Log, tid ledger.TID) {
	t.Helper()
	all, err := l.Records(tid)
	if err != nil {
		t.Fatal(err)
	}
	followed, _ := ledger.Follow(all)
	want := map[ledger.Chain]ledger.Head{}
	for _, r := range followed {
		want[r.Chain()] = headOf(r)
	}
	heads, err := l.Heads(tid)
	if err != nil || len(heads) != len(want) {
		t.Errorf("%d heads, %v, want %d", len(heads), err, len(want))
	}
	for _, h := range heads {
		if h != want[h.Chain] {
			t.Errorf("head %v, want %v", h, want[h.Chain])
		}
	}
}

func headOf(r *ledger.Record) ledger.Head {
	return ledger.Head{Chain: r.Chain(), Next: r.Seq + 1, ID: r.ID, Lam: r.Lam}
}

// fork is a start and two branches after it, the one that is followed first.
func fork(t *testing.T, low, high int) (start, followed, other []*ledger.Record) {
	t.Helper()
	start = Chain(t, thread, 1, 1, 3)
	at := headOf(start[2])
	for turns := uint64(1); ; turns++ {
		followed, other = Continue(t, thread, 1, at, 2*turns, low), Continue(t, thread, 1, at, 2*turns+1, high)
		if followed[0].ID.Less(other[0].ID) {
			return start, followed, other
		}
	}
}

func forks(t *testing.T, s *suite) {
	l := s.open(t)
	start, followed, other := fork(t, 2, 4)
	apply(t, l, slices.Concat(start, other)...)
	if out := apply(t, l, followed...); !slices.Equal(out, []Outcome{Forked, Stored}) {
		t.Errorf("outcomes %v", out)
	}
	holds(t, l, slices.Concat(start, followed, other), slices.Concat(start, followed))
	more := Continue(t, thread, 1, headOf(other[3]), 5, 1)
	if out := apply(t, l, more...); !slices.Equal(out, []Outcome{Forked}) {
		t.Errorf("after the branch that is not followed: %v", out)
	}
	wires, err := l.From(thread, start[0].Chain(), 3, 1)
	if err != nil || len(wires) != 2 {
		t.Errorf("the proof of the fork does not spread: %d wires, %v", len(wires), err)
	}
}

func copies(t *testing.T, s *suite) {
	a, b := s.Open(t, t.TempDir()), s.Open(t, t.TempDir())
	defer a.Close()
	defer b.Close()
	start, followed, other := fork(t, 2, 4)
	apply(t, a, slices.Concat(start, followed)...)
	apply(t, b, slices.Concat(start, other)...)
	if a.Digest() == b.Digest() {
		t.Error("the digest does not tell the branches apart")
	}
	apply(t, a, other...)
	apply(t, b, followed...)
	if a.Digest() != b.Digest() {
		t.Error("copies with the same records differ")
	}
}

func whole(t *testing.T, s *suite) {
	l := s.open(t)
	r := Chain(t, thread, 1, 1, 2)
	impossible := Pair{string(make([]byte, 1<<17)), "x"}
	_, err := l.Apply(Batch{Records: r, Put: []Pair{{"k", "v"}, impossible}})
	if err == nil {
		t.Fatal("a key of 128 KiB is stored")
	}
	if all, err := l.Records(thread); err != nil || len(all) != 0 {
		t.Errorf("half of a batch is stored: %d records, %v", len(all), err)
	}
	if _, found, err := l.Get("k"); err != nil || found {
		t.Errorf("half of a batch is stored: %v", err)
	}
	apply(t, l, r...)
	holds(t, l, r, r)
}

func values(t *testing.T, s *suite) {
	l := s.open(t)
	for _, b := range []Batch{
		{Put: []Pair{{"a/2", "y"}, {"a/1", "x"}, {"b", "z"}, {"empty", ""}}},
		{Put: []Pair{{"a/1", "new"}, {"c", "1"}}, Delete: []string{"b", "c", "never"}},
	} {
		if _, err := l.Apply(b); err != nil {
			t.Fatal(err)
		}
	}
	if got := l.Scan("a/"); !slices.Equal(got, []Pair{{"a/1", "new"}, {"a/2", "y"}}) {
		t.Errorf("below a/: %v", got)
	}
	for key, want := range map[string]bool{"empty": true, "b": false, "c": false, "a/": false} {
		if v, found, err := l.Get(key); err != nil || found != want || v != "" {
			t.Errorf("%s: %q, found %v, %v", key, v, found, err)
		}
	}
}

func reopening(t *testing.T, s *suite) {
	if s.Forgets {
		t.Skip("it keeps nothing")
	}
	l := s.Open(t, s.dir)
	start, followed, other := fork(t, 2, 4)
	apply(t, l, slices.Concat(start, other, followed)...)
	if _, err := l.Apply(Batch{Put: []Pair{{"k", "v"}}}); err != nil {
		t.Fatal(err)
	}
	digest := l.Digest()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = s.open(t)
	holds(t, l, slices.Concat(start, followed, other), slices.Concat(start, followed))
	if v, _, err := l.Get("k"); err != nil || v != "v" || l.Digest() != digest {
		t.Errorf("k is %q, %v; the digest is the same: %v", v, err, l.Digest() == digest)
	}
	if f, ok := l.Family(thread); !ok || f != ledger.Conversation {
		t.Errorf("family %v, %v", f, ok)
	}
	apply(t, l, Continue(t, thread, 1, headOf(followed[1]), 1, 1)...)
}
