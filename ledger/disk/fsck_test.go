package disk

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-mesh/parley/ledger"
)

func TestFsckMendsAndSetsAsideSoThatThePeersCopyComes(t *testing.T) { // P25, case 43
	dir := filepath.Join(t.TempDir(), "ledger")
	s := open(t, Options{Dir: dir})
	r, other := writer(t, ledger.TID{1}, 1, 5), writer(t, ledger.TID{2}, 1, 3)
	apply(t, s, append(r, other...)...)
	digest := s.Digest()
	wire := bytes.Clone(r[2].Wire)
	wire[len(wire)-1] ^= 1 // the body is as it was: only the signature tells
	body := bytes.Clone(other[1].Wire)
	body[len(body)/2] ^= 1
	spoil(t, s, func(txn *badger.Txn) error {
		return errors.Join(
			txn.Set(recordKey(r[2]), wire), txn.Set(recordKey(other[1]), body),
			txn.Delete(idKey(r[3].ID)), txn.Delete(ledgerKey(prefixFamily, ledger.TID{2})),
		)
	})
	if _, err := Fsck(dir, true); ownLock && !errors.Is(err, ErrLocked) {
		t.Errorf("beside a node: %v", err)
	}
	closed(t, s)

	before := contents(t, dir)
	looked, err := Fsck(dir, false)
	if err != nil || looked.Sound() || contents(t, dir) != before {
		t.Fatalf("looking finds %+v, %v; nothing is changed: %v", looked, err, contents(t, dir) == before)
	}
	mended, err := Fsck(dir, true)
	if err != nil || mended != looked || mended.Unreadable != 2 || mended.Gaps != 2 || mended.Records != 6 {
		t.Fatalf("mending finds %+v, looking %+v, %v", mended, looked, err)
	}
	if again, err := Fsck(dir, true); err != nil || !again.Sound() || again.Gaps != 2 {
		t.Errorf("again: %+v, %v", again, err)
	}

	s = open(t, Options{Dir: dir})
	defer closed(t, s)
	if out := apply(t, s, r[2], other[1]); out[0] != Stored || out[1] != Stored || s.Digest() != digest {
		t.Errorf("the peer's copies: %v; the digest is the same: %v", out, s.Digest() == digest)
	}
	if kept, err := s.get(append([]byte{prefixAside}, recordKey(r[2])...)); err != nil || !bytes.Equal(kept, wire) {
		t.Errorf("the bytes are gone: %x, %v", kept, err)
	}
}

func TestFsckCountsWhatAnUncleanEndLeftWrong(t *testing.T) { // P25
	s := open(t, Options{})
	r := writer(t, ledger.TID{1}, 1, 5)
	apply(t, s, r...)
	spoil(t, s, func(txn *badger.Txn) error { return txn.Delete(lineKey(prefixHead, lineOf(r[0]))) })
	dir := crashed(t, s)
	closed(t, s)

	for _, mend := range []bool{false, true} {
		if got, err := Fsck(dir, mend); err != nil || got.Mended != 1 || got.Records != 5 {
			t.Errorf("mend %v: %+v, %v", mend, got, err)
		}
	}
	if got, err := Fsck(dir, true); err != nil || !got.Sound() {
		t.Errorf("again: %+v, %v", got, err)
	}
}

func TestFsckMakesNoLedgerAndSaysWhereUnreadableFilesWent(t *testing.T) { // case 43
	dir := filepath.Join(t.TempDir(), "ledger")
	for _, mend := range []bool{false, true} {
		if _, err := Fsck(dir, mend); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("mend %v of nothing: %v", mend, err)
		}
	}
	s := open(t, Options{Dir: dir})
	apply(t, s, writer(t, ledger.TID{1}, 1, 50)...)
	closed(t, s)
	flip(t, tables(t, dir)[0], 40)

	if got, err := Fsck(dir, false); err == nil {
		t.Errorf("damaged files are sound: %+v", got)
	}
	if got, err := Fsck(dir, true); err != nil || got.Salvaged == "" || got.Sound() {
		t.Errorf("%+v, %v", got, err)
	}
}
