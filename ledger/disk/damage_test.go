package disk

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-mesh/parley/ledger"
)

// crashed is a copy of a store's files as a kill at this moment would leave them.
func crashed(t *testing.T, s *Store) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "ledger")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := copyFiles(s.o.Dir, dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// written is how much of a log is in use: what follows is zeros.
func written(text []byte) int { return len(bytes.TrimRight(text, "\x00")) }

func TestADamagedPageCostsNoMoreThanWhatFollowsIt(t *testing.T) { // case 43
	s := open(t, Options{})
	defer closed(t, s)
	var all [3][]*ledger.Record
	for i := range all {
		all[i] = writer(t, ledger.TID{byte(i)}, byte(i), 200)
	}
	for n := range 200 {
		apply(t, s, all[0][n], all[1][n], all[2][n])
	}
	for seed := range uint64(8) {
		dir := crashed(t, s)
		logs, err := filepath.Glob(filepath.Join(dir, "*.mem"))
		if err != nil || len(logs) == 0 {
			t.Fatalf("no log: %v", err)
		}
		text, err := os.ReadFile(logs[0])
		if err != nil {
			t.Fatal(err)
		}
		at := rand.New(rand.NewPCG(seed, 0)).IntN(written(text))
		copy(text[at:], bytes.Repeat([]byte{0xa5}, 4096))
		if err := os.WriteFile(logs[0], text, 0o600); err != nil {
			t.Fatal(err)
		}

		d := open(t, Options{Dir: dir})
		for i := range all {
			tid := ledger.TID{byte(i)}
			h, _, err := d.Head(tid, all[i][0].Chain())
			wires, err2 := d.From(tid, h.Chain, 0, 1<<20)
			if err := errors.Join(err, err2); err != nil || uint64(len(wires)) != h.Next {
				t.Fatalf("seed %d: the chain of %d has %d records, %v", seed, h.Next, len(wires), err)
			}
			for n, w := range wires {
				if !bytes.Equal(w, all[i][n].Wire) {
					t.Fatalf("seed %d: record %d is another", seed, n)
				}
			}
			apply(t, d, all[i]...)
		}
		if d.Digest() != s.Digest() || len(d.Waiting()) != 0 {
			t.Errorf("seed %d: a catch-up does not restore it", seed)
		}
		if r, err := d.Check(); err != nil || r.Mended != 0 || r.Records != 600 {
			t.Errorf("seed %d: %+v, %v", seed, r, err)
		}
		closed(t, d)
	}
}

// spoil writes pairs behind the store's back.
func spoil(t *testing.T, s *Store, change func(*badger.Txn) error) {
	t.Helper()
	if err := s.db.Update(change); err != nil {
		t.Fatal(err)
	}
}

func TestCheckMendsWhatFollowsFromTheRecords(t *testing.T) { // P25
	for name, o := range modes {
		t.Run(name, func(t *testing.T) {
			s := open(t, o)
			defer closed(t, s)
			tid := ledger.TID{1}
			first, left, right := fork(t, tid)
			r := writer(t, ledger.TID{2}, 1, 5)
			apply(t, s, append(r, first, left, right)...)
			digest := s.Digest()
			if got, err := s.Check(); err != nil || got != (Report{Ledgers: 2, Records: 8, Contended: 1}) {
				t.Fatalf("a sound store: %+v, %v", got, err)
			}
			spoil(t, s, func(txn *badger.Txn) error {
				high := chain{head: ledger.Head{Next: 9, ID: ledger.ID{1}}, top: 9}
				return errors.Join(
					txn.Delete(lineKey(prefixHead, lineOf(left))),
					txn.Set(lineKey(prefixHead, lineOf(r[0])), high.value()),
					txn.Delete(idKey(r[2].ID)),
					txn.Set(idKey(ledger.ID{77}), recordKey(r[1])[1:placeBytes]),
					txn.Delete(ledgerKey(prefixFamily, tid)),
				)
			})

			got, err := s.Check()

			if err != nil || got.Mended != 5 || s.Digest() != digest {
				t.Errorf("%+v, %v; the digest is the same: %v", got, err, s.Digest() == digest)
			}
			if found, err := s.Record(r[2].ID); err != nil || found == nil {
				t.Errorf("by id: %v, %v", found, err)
			}
			if got, err := s.Check(); err != nil || got.Mended != 0 {
				t.Errorf("again: %+v, %v", got, err)
			}
		})
	}
}

func TestBytesThatAreNoRecordAreSetAsideAndAskedForAgain(t *testing.T) { // case 43
	s := open(t, Options{})
	defer closed(t, s)
	r := writer(t, ledger.TID{1}, 1, 5)
	apply(t, s, r...)
	digest := s.Digest()
	spoil(t, s, func(txn *badger.Txn) error { return txn.Set(recordKey(r[2]), []byte("spoiled")) })

	got, err := s.Check()

	if err != nil || got.Unreadable != 1 || got.Gaps != 1 || got.Records != 4 {
		t.Errorf("%+v, %v", got, err)
	}
	if h, _, _ := s.Head(ledger.TID{1}, r[0].Chain()); h.Next != 2 || len(s.Waiting()) != 1 {
		t.Errorf("held up to %d, waiting %v", h.Next, s.Waiting())
	}
	kept, err := s.get(append([]byte{prefixAside}, recordKey(r[2])...))
	if err != nil || string(kept) != "spoiled" {
		t.Errorf("the bytes are gone: %q, %v", kept, err)
	}
	if out := apply(t, s, r[2]); out[0] != Stored || s.Digest() != digest || len(s.Waiting()) != 0 {
		t.Errorf("outcome %v, waiting %v", out, s.Waiting())
	}
}

func TestLookingWorksAfterAKillAndNotBesideANode(t *testing.T) {
	s := open(t, Options{})
	defer closed(t, s)
	r := writer(t, ledger.TID{1}, 1, 5)
	apply(t, s, r...)

	if _, err := OpenReadOnly(s.o.Dir); !errors.Is(err, ErrLocked) {
		t.Errorf("beside a node: %v", err)
	}
	look, err := OpenReadOnly(crashed(t, s))
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, look)
	if look.Digest() != s.Digest() {
		t.Error("it shows something else")
	}
	if _, err := look.Apply(Batch{}); err == nil {
		t.Error("it can be written")
	}
	none, err := OpenReadOnly(filepath.Join(t.TempDir(), "none"))
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, none)
	if e, err := none.Ledgers(); err != nil || len(e) != 0 {
		t.Errorf("%v, %v", e, err)
	}
}
