// Package logtest holds stores of records to one set of promises, whatever they are made of.
package logtest

import (
	"bytes"
	"crypto/ed25519"
	"slices"
	"testing"

	"github.com/parley-mesh/parley/ledger"
)

// Outcome is what a store says of one record.
type Outcome string

// The outcomes.
const (
	Stored  Outcome = "stored"
	Known   Outcome = "known"
	Waiting Outcome = "waiting"
	Forked  Outcome = "forked"
)

// Pair is one value beside the records.
type Pair struct{ Key, Value string }

// Batch is stored whole or not at all; what is put comes before what is deleted.
type Batch struct {
	Records []*ledger.Record
	Put     []Pair
	Delete  []string
}

// Log is a store as the suite sees it.
type Log interface {
	Apply(Batch) ([]Outcome, error)
	Records(ledger.TID) ([]*ledger.Record, error)
	Record(ledger.ID) (*ledger.Record, error)
	From(ledger.TID, ledger.Chain, uint64, int) ([][]byte, error)
	Heads(ledger.TID) ([]ledger.Head, error)
	Family(ledger.TID) (ledger.Family, bool)
	Digest() ledger.Digest
	Waiting() []ledger.TID
	Get(key string) (value string, found bool, err error)
	Scan(prefix string) []Pair
	Close() error
}

// Kind is one kind of store. Open opens the store of a directory; one that forgets keeps nothing there.
type Kind struct {
	Open    func(t testing.TB, dir string) Log
	Forgets bool
}

// Run holds a kind of store to every promise.
func Run(t *testing.T, k Kind) {
	for _, c := range []struct {
		promise string
		check   func(*testing.T, *suite)
	}{
		{"records come back in order and once", inOrder},
		{"a record that comes early waits for its predecessor", gaps},
		{"any order of arrival ends alike", anyOrder},
		{"both sides of a fork are kept and the lowest followed", forks},
		{"copies that saw different branches agree in the end", copies},
		{"a batch is stored whole or not at all", whole},
		{"values are kept beside the records", values},
		{"everything survives a reopening", reopening},
	} {
		t.Run(c.promise, func(t *testing.T) { c.check(t, &suite{Kind: k, dir: t.TempDir()}) })
	}
}

type suite struct {
	Kind
	dir string
}

func (s *suite) open(t *testing.T) Log {
	t.Helper()
	l := s.Open(t, s.dir)
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return l
}

func apply(t *testing.T, l Log, records ...*ledger.Record) []Outcome {
	t.Helper()
	out, err := l.Apply(Batch{Records: records})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Chain is count records of one chain, the first at place 0, of the computer and process that first and
// inc stand for.
func Chain(t testing.TB, tid ledger.TID, first, inc byte, count int) []*ledger.Record {
	t.Helper()
	return Continue(t, tid, first, ledger.Head{Chain: ledger.Chain{Inc: ledger.Incarnation{inc}}}, 0, count)
}

// Continue is count records after a head. Another number of turns makes other records, as a copied key
// would.
func Continue(t testing.TB, tid ledger.TID, first byte, after ledger.Head, turns uint64, count int) []*ledger.Record {
	t.Helper()
	seed := make([]byte, ed25519.SeedSize)
	seed[0] = first
	key, open := ed25519.NewKeyFromSeed(seed), ledger.ID{1}
	var out []*ledger.Record
	for range count {
		h := ledger.Header{
			Ledger: tid, Inc: after.Inc, Seq: after.Next, Prev: after.ID, Open: open, Re: []ledger.ID{open},
			Lam: after.Lam + 1, At: 1, Turns: turns,
		}
		r, err := ledger.Seal(key, h, &ledger.Ack{Classes: []ledger.Class{ledger.HasMaster}})
		if err != nil {
			t.Fatal(err)
		}
		out, after = append(out, r), after.After(r)
	}
	return out
}

func ids(records []*ledger.Record) []ledger.ID {
	var out []ledger.ID
	for _, r := range records {
		out = append(out, r.ID)
	}
	return out
}

// holds checks what a store has of one chain: every record in stored, and followed without a gap.
func holds(t *testing.T, l Log, stored, followed []*ledger.Record) {
	t.Helper()
	tid, chain := followed[0].Ledger, followed[0].Chain()
	all, err := l.Records(tid)
	if err != nil {
		t.Fatal(err)
	}
	byID := func(a, b ledger.ID) int { return bytes.Compare(a[:], b[:]) }
	if !slices.Equal(slices.SortedFunc(slices.Values(ids(all)), byID), slices.SortedFunc(slices.Values(ids(stored)), byID)) {
		t.Errorf("%d records are stored, want %d", len(all), len(stored))
	}
	same, _ := ledger.Follow(all)
	if !slices.Equal(ids(same), ids(followed)) {
		t.Errorf("the stored records say %d, want %d", len(same), len(followed))
	}
	heads, err := l.Heads(tid)
	last := followed[len(followed)-1]
	want := ledger.Head{Chain: chain, Next: last.Seq + 1, ID: last.ID, Lam: last.Lam}
	if err != nil || len(heads) != 1 || heads[0] != want {
		t.Errorf("heads %v, %v, want %v", heads, err, want)
	}
}
