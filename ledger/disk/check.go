package disk

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-mesh/parley/ledger"
)

// Report is what a check found.
type Report struct {
	Ledgers    int
	Records    int
	Contended  int    // records beyond the first at their place
	Gaps       int    // chains with a record stored beyond a missing one
	Unreadable int    // records set aside, since their bytes are not what their key or their signature says
	Mended     int    // heads, index entries and families that were wrong
	Salvaged   string // where files went that could not be read at all, with everything in them; "" if none
}

// Sound reports whether nothing was wrong.
func (r Report) Sound() bool { return r.Unreadable == 0 && r.Mended == 0 && r.Salvaged == "" }

// Fsck checks the store of a directory whose node does not run, and every signature in it. With mend, what
// is wrong is put right: heads, index and families are written anew from the records, and bytes that are
// no record of their author are set aside, so that the other computers' copies come with the next
// catch-up. Without, a copy is looked at and nothing is changed. Errors are [ErrLocked], [ErrDiskLow], and
// what the system says; without mend, damaged files are an error as well.
func Fsck(dir string, mend bool) (Report, error) {
	s, err := openToCheck(dir, mend)
	if err != nil {
		return Report{}, err
	}
	report, err := s.check(true)
	report.Salvaged = s.Salvaged()
	return report, errors.Join(err, s.Close())
}

// openToCheck opens a store that is there; a check makes none.
func openToCheck(dir string, mend bool) (*Store, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("check ledger: %w", err)
	}
	if !mend {
		return openCopy(dir, true)
	}
	s, err := Open(Options{Dir: dir, Compactors: 2, unmended: true})
	if err == nil && s.Low() {
		return nil, errors.Join(fmt.Errorf("check ledger %s: %w", dir, ErrDiskLow), s.Close())
	}
	return s, err
}

// Check holds heads, index and families against the records, and mends what differs. Records themselves
// are never changed; bytes that cannot be read as the record of their key are set aside. Writers wait
// meanwhile, and about 100 bytes of memory are taken for each record. An error says that a file is
// damaged, and then nothing was mended: the next start moves the database aside.
func (s *Store) Check() (Report, error) { return s.check(false) }

// check also holds the signatures against the records if it is told to.
func (s *Store) check(signatures bool) (Report, error) {
	type answer struct {
		report Report
		err    error
	}
	to := make(chan answer, 1)
	run := func() {
		if err := s.verify(); err != nil {
			to <- answer{err: fmt.Errorf("check ledger: %w: the next start moves it aside and begins anew", err)}
			return
		}
		r, err := s.mend(signatures)
		to <- answer{r, err}
	}
	select {
	case s.tasks <- run:
		a := <-to
		return a.report, a.err
	case <-s.closing:
		return Report{}, ErrClosed
	}
}

// load reads heads and families, and then puts them in the place of what memory knew: whoever asks
// meanwhile must not be told that a chain is shorter than it is.
func (s *Store) load() error {
	fresh := Store{books: map[ledger.TID]*book{}, stale: map[ledger.TID]bool{}, graves: map[ledger.TID]grave{}}
	var fault error
	for key, value := range s.each([]byte{prefixHead}, &fault) {
		l, c, ok := chainOf(key, value)
		if !ok {
			return fmt.Errorf("read ledger: head %x is not of its form", key)
		}
		if c.top > c.head.Next {
			c.gap = true
			for range s.each(placeKey(l, c.head.Next), &fault) {
				c.gap = false
				break
			}
			if fault != nil {
				return fault
			}
		}
		fresh.book(l.tid).chains[l.Chain] = c
	}
	if fault != nil {
		return fault
	}
	if err := s.loadGraves(fresh.graves); err != nil {
		return err
	}
	for tid := range fresh.graves {
		fresh.stale[tid] = true
	}
	for key, value := range s.each([]byte{prefixFamily}, &fault) {
		if len(key) == 33 && len(value) == 1 {
			fresh.book(ledger.TID(key[1:])).family = ledger.Family(value[0])
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.books, s.list, s.stale, s.digest, s.graves = fresh.books, nil, fresh.stale, nil, fresh.graves
	return fault
}

// verify reads every file of Badger's tree. Badger takes what it cannot read for the end of a table, so
// that records behind it would seem never to have been.
func (s *Store) verify() error {
	if s.o.InMemory {
		return nil
	}
	if err := guarded(s.db.VerifyChecksum); err != nil {
		return damaged(err)
	}
	return nil
}

// sound reports whether the heads agree with the keys of the records. It reads no record.
func (s *Store) sound() bool {
	type extent struct{ run, top uint64 }
	seen := map[line]extent{}
	for key := range s.keys([]byte{prefixRecord}) {
		l, seq, _, ok := recordPlace(key)
		if !ok {
			return false
		}
		e := seen[l]
		if seq == e.run {
			e.run++
		}
		e.top = seq + 1
		seen[l] = e
	}
	chains := 0
	for tid, b := range s.books {
		for c, held := range b.chains {
			chains++
			if e := seen[line{tid, c}]; e.top != held.top || e.run < held.head.Next {
				return false
			}
		}
	}
	return chains == len(seen)
}

// keys iterates over the keys under a prefix. They are valid until the next one.
func (s *Store) keys(prefix []byte) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		txn := s.db.NewTransaction(false)
		defer txn.Discard()
		o := badger.DefaultIteratorOptions
		o.Prefix, o.PrefetchValues = prefix, false
		it := txn.NewIterator(o)
		defer it.Close()
		for it.Seek(prefix); it.ValidForPrefix(prefix); it.Next() {
			if !yield(it.Item().Key()) {
				return
			}
		}
	}
}

// fix is one pair that is to be otherwise; a nil value deletes.
type fix struct{ key, value []byte }

// checking is one check in progress.
type checking struct {
	s          *Store
	signatures bool // are looked at
	report     Report
	fixes      []fix
	at         line
	now        chain // of the chain at; gap: nothing is stored at its head
	last       uint64
	started    bool
	families   map[ledger.TID]ledger.Family
	heads      map[string][]byte
	lines      []line
	ids        map[ledger.ID]place
}

// place is where a record is stored: the chain's position in checking.lines, and the sequence number.
type place struct {
	line int
	seq  uint64
}

// mend holds the derived side against the records.
func (s *Store) mend(signatures bool) (Report, error) {
	if !s.o.InMemory {
		if err := s.room(); err != nil {
			return Report{}, err
		}
	}
	k := &checking{s: s, signatures: signatures, families: map[ledger.TID]ledger.Family{}, heads: map[string][]byte{}, ids: map[ledger.ID]place{}}
	var fault error
	for key, wire := range s.each([]byte{prefixRecord}, &fault) {
		k.record(key, wire)
	}
	if fault != nil {
		return Report{}, fault
	}
	k.endChain()
	if err := k.derived(); err != nil {
		return Report{}, err
	}
	if s.owed { // it is settled with this
		k.fixes = append(k.fixes, fix{key: metaKey(cleanName)})
	}
	if err := k.write(); err != nil {
		return Report{}, fmt.Errorf("check ledger: %w", err)
	}
	s.owed = false
	return k.report, s.load()
}

func (k *checking) record(key, wire []byte) {
	l, seq, id, ok := recordPlace(key)
	r, err := ledger.Parse(wire)
	if !ok || err != nil || r.ID != id || lineOf(r) != l || r.Seq != seq || k.signatures && !k.signed(r) {
		k.report.Unreadable++
		k.fixes = append(k.fixes, fix{slices.Concat([]byte{prefixAside}, key), wire}, fix{key: key})
		return // its index entry goes too, else it would count as known and never come again
	}
	if !k.started || l != k.at {
		k.endChain()
		k.started, k.at, k.now = true, l, chain{head: ledger.Head{Chain: l.Chain}, gap: true}
		k.lines = append(k.lines, l)
		if _, ok := k.families[l.tid]; !ok {
			k.families[l.tid] = ledger.FamilyUnknown
			k.report.Ledgers++
		}
	} else if k.last == seq {
		k.report.Contended++
	}
	k.report.Records++
	k.last = seq
	switch next := k.now.head.Next; {
	case k.now.head.Extends(r):
		k.now = chain{head: k.now.head.After(r), gap: true}
	case seq == next:
		k.now.gap = false
	}
	k.now.top = seq + 1
	if k.families[l.tid] == ledger.FamilyUnknown {
		k.families[l.tid] = r.Family()
	}
	k.ids[id] = place{len(k.lines) - 1, seq}
}

// signed verifies a record under its family, or its ledger's where its kind is unknown. Where that is
// unknown too nobody could have verified it.
func (k *checking) signed(r *ledger.Record) bool {
	f := r.Family()
	if f == ledger.FamilyUnknown {
		f, _ = k.s.Family(r.Ledger)
	}
	return f == ledger.FamilyUnknown || r.Verify(f) == nil
}

func (k *checking) endChain() {
	if !k.started {
		return
	}
	k.heads[string(lineKey(prefixHead, k.at))] = k.now.value()
	if k.now.gap && k.now.top > k.now.head.Next {
		k.report.Gaps++
	}
}

func (k *checking) mended(key, value []byte) {
	k.report.Mended++
	k.fixes = append(k.fixes, fix{key, value})
}

// derived compares heads, families and the index with what the records say.
func (k *checking) derived() error {
	var fault error
	for key, value := range k.s.each([]byte{prefixHead}, &fault) {
		want, ok := k.heads[string(key)]
		if !ok || !bytes.Equal(want, value) {
			k.mended(key, want)
		}
		delete(k.heads, string(key))
	}
	for key, want := range k.heads {
		k.mended([]byte(key), want)
	}
	for key, value := range k.s.each([]byte{prefixFamily}, &fault) {
		if len(key) != 33 || len(value) != 1 {
			k.mended(key, nil)
			continue
		}
		tid := ledger.TID(key[1:])
		if _, ok := k.families[tid]; !ok {
			k.mended(key, nil)
		}
		delete(k.families, tid)
	}
	for tid, f := range k.families {
		if f != ledger.FamilyUnknown {
			k.mended(ledgerKey(prefixFamily, tid), []byte{byte(f)})
		}
	}
	if fault != nil {
		return fault
	}
	return k.index()
}

// index compares the index by id with the places of the records.
func (k *checking) index() error {
	var fault error
	for key, value := range k.s.each([]byte{prefixID}, &fault) {
		var id ledger.ID
		copy(id[:], key[1:])
		p, ok := k.ids[id]
		switch {
		case !ok:
			k.mended(key, nil)
		case !bytes.Equal(value, k.value(p)):
			k.mended(key, k.value(p))
		}
		delete(k.ids, id)
	}
	for id, p := range k.ids {
		k.mended(idKey(id), k.value(p))
	}
	return fault
}

func (k *checking) value(p place) []byte { return placeKey(k.lines[p.line], p.seq)[1:] }

// write applies what was found, in pieces: each of them alone is an improvement.
func (k *checking) write() error {
	slices.SortStableFunc(k.fixes, func(a, b fix) int { return bytes.Compare(a.key, b.key) })
	wb := k.s.db.NewWriteBatch()
	defer wb.Cancel()
	for _, f := range k.fixes {
		var err error
		if f.value == nil {
			err = wb.Delete(f.key)
		} else {
			err = wb.Set(f.key, f.value)
		}
		if err != nil {
			return err
		}
	}
	return wb.Flush()
}
