// Package disk keeps ledgers in Badger: records, how far each chain is held, and a node's own values
// beside them.
//
// Invariants:
//  1. What Apply acknowledged is synced to disk. A batch is stored whole or not at all.
//  2. A chain is stored without gaps. A record that comes too early waits in a bounded area in memory;
//     it is lost with the process, and the next catch-up brings it again.
//  3. Two records at one place of a chain are both kept, as the proof that they exist.
//  4. The records are the truth. Heads, the index by id and the digests follow from them, and Check
//     mends those.
package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"

	"github.com/parley-mesh/parley/ledger"
)

// Errors that callers branch on.
var (
	ErrLocked  = errors.New("another process has the ledger open")
	ErrDiskLow = errors.New("the disk is almost full")
	ErrClosed  = errors.New("the ledger is closed")
)

// Sizes of Badger's files. Values stay in the tree, so there is no value log to collect.
const (
	memTableBytes = 8 << 20
	valueLogBytes = 16 << 20
	minFreeBytes  = 256 << 20
)

// Options says how a store is opened.
type Options struct {
	Dir        string
	InMemory   bool   // nothing on disk; for simulations
	Compactors int    // 0, or at least 2; a compactor's ticker is dear in virtual time
	MinFree    uint64 // bytes that must stay free; 0: 256 MiB
}

// Store is one open ledger store. Its methods may be called from several goroutines.
type Store struct {
	db        *badger.DB
	o         Options
	salvaged  string
	temporary string // directory that Close removes
	jobs      chan job
	done      chan struct{}
	closing   chan struct{}
	once      sync.Once

	mu      sync.RWMutex
	ledgers map[ledger.TID]*book
	waiting map[ledger.Chain]map[ledger.TID][]*ledger.Record
	held    int // records that wait
}

// book is what memory knows of one ledger.
type book struct {
	family ledger.Family
	heads  map[ledger.Chain]ledger.Head
	digest ledger.Digest
}

// Open opens the store of a directory, which it makes if need be. A database that cannot be read is moved
// aside, never deleted, and an empty one takes its place; [Store.Salvaged] says where it went.
func Open(o Options) (*Store, error) {
	s := &Store{
		o: o, jobs: make(chan job, 256), done: make(chan struct{}), closing: make(chan struct{}),
		ledgers: map[ledger.TID]*book{}, waiting: map[ledger.Chain]map[ledger.TID][]*ledger.Record{},
	}
	if !o.InMemory {
		if err := os.MkdirAll(o.Dir, 0o700); err != nil {
			return nil, fmt.Errorf("open ledger %s: %w", o.Dir, err)
		}
		if err := s.room(); err != nil {
			return nil, fmt.Errorf("open ledger %s: %w", o.Dir, err)
		}
		if err := setEmptyFilesAside(o.Dir); err != nil {
			return nil, fmt.Errorf("open ledger %s: %w", o.Dir, err)
		}
	}
	if err := s.open(); err != nil {
		return nil, err
	}
	if err := s.load(); err != nil {
		return nil, errors.Join(err, s.db.Close())
	}
	go s.write()
	return s, nil
}

func (s *Store) open() error {
	var err error
	if s.db, err = badger.Open(s.badger()); err == nil {
		return nil
	}
	if strings.Contains(err.Error(), "Cannot acquire directory lock") {
		return fmt.Errorf("open ledger %s: %w", s.o.Dir, ErrLocked)
	}
	if s.o.InMemory || errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("open ledger %s: %w", s.o.Dir, err)
	}
	aside := fmt.Sprintf("%s.unreadable-%d", s.o.Dir, time.Now().UnixNano())
	if err := os.Rename(s.o.Dir, aside); err != nil {
		return fmt.Errorf("open ledger %s: %w", s.o.Dir, err)
	}
	s.salvaged = aside
	if err := os.MkdirAll(s.o.Dir, 0o700); err != nil {
		return fmt.Errorf("open ledger %s: %w", s.o.Dir, err)
	}
	if s.db, err = badger.Open(s.badger()); err != nil {
		return fmt.Errorf("open ledger %s: %w", s.o.Dir, err)
	}
	return nil
}

func (s *Store) badger() badger.Options {
	dir := s.o.Dir
	if s.o.InMemory {
		dir = ""
	}
	return badger.DefaultOptions(dir).WithInMemory(s.o.InMemory).WithLogger(nil).WithSyncWrites(!s.o.InMemory).
		WithMemTableSize(memTableBytes).WithNumMemtables(2).WithBaseTableSize(2 << 20).
		WithNumLevelZeroTables(2).WithNumLevelZeroTablesStall(6).WithNumCompactors(s.o.Compactors).
		WithBlockCacheSize(4 << 20).WithIndexCacheSize(4 << 20).WithCompression(options.Snappy).
		WithValueLogFileSize(valueLogBytes).WithValueThreshold(1 << 20).
		WithDetectConflicts(false).WithMetricsEnabled(false)
}

// setEmptyFilesAside renames files that a crash left without a byte; Badger refuses to start over them.
func setEmptyFilesAside(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || info.Size() > 0 || !info.Mode().IsRegular() {
			continue
		}
		if ext := filepath.Ext(e.Name()); ext == ".mem" || ext == ".vlog" {
			path := filepath.Join(dir, e.Name())
			if err := os.Rename(path, path+".empty"); err != nil {
				return err
			}
		}
	}
	return nil
}

// Salvaged is where an unreadable database was moved when the store was opened, "" if none was.
func (s *Store) Salvaged() string { return s.salvaged }

// Close stores what waits to be written and closes the database.
func (s *Store) Close() error {
	s.once.Do(func() { close(s.closing) })
	<-s.done
	err := s.db.Close()
	if s.temporary != "" {
		err = errors.Join(err, os.RemoveAll(s.temporary))
	}
	return err
}

// room refuses to write when the disk is almost full: Badger would end the process with a signal that
// nothing can catch.
func (s *Store) room() error {
	need := s.o.MinFree
	if need == 0 {
		need = minFreeBytes
	}
	free, known := freeBytes(s.o.Dir)
	if known && free < need {
		return fmt.Errorf("%w: %d MiB free in %s, %d needed", ErrDiskLow, free>>20, s.o.Dir, need>>20)
	}
	return nil
}

// Entry is one ledger that is held.
type Entry struct {
	Listing ledger.Listing
	Family  ledger.Family
}

// Ledgers lists every ledger in ascending order, from memory.
func (s *Store) Ledgers() ([]Entry, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := make([]Entry, 0, len(s.ledgers))
	for tid, b := range s.ledgers {
		out = append(out, Entry{ledger.Listing{Ledger: tid, Digest: b.digest}, b.family})
	}
	slices.SortFunc(out, func(a, b Entry) int { return compare(a.Listing.Ledger, b.Listing.Ledger) })
	return out, nil
}

func compare(a, b ledger.TID) int {
	switch {
	case a.Less(b):
		return -1
	case b.Less(a):
		return 1
	}
	return 0
}

// Digest sums up every ledger.
func (s *Store) Digest() ledger.Digest {
	entries, _ := s.Ledgers() // from memory: it cannot fail
	all := make([]ledger.Listing, 0, len(entries))
	for _, e := range entries {
		all = append(all, e.Listing)
	}
	return ledger.DigestAll(all)
}

// Family is the family of a ledger, and whether the ledger is held here.
func (s *Store) Family(tid ledger.TID) (ledger.Family, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	b := s.ledgers[tid]
	if b == nil {
		return ledger.FamilyUnknown, false
	}
	return b.family, true
}

// Heads is how far each chain of a ledger is held, ascending by chain.
func (s *Store) Heads(tid ledger.TID) ([]ledger.Head, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	b := s.ledgers[tid]
	if b == nil {
		return nil, nil
	}
	out := make([]ledger.Head, 0, len(b.heads))
	for _, h := range b.heads {
		out = append(out, h)
	}
	slices.SortFunc(out, func(a, b ledger.Head) int { return a.Compare(b.Chain) })
	return out, nil
}

// Head is how far one chain is held, and whether anything of it is.
func (s *Store) Head(tid ledger.TID, c ledger.Chain) (ledger.Head, bool, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if b := s.ledgers[tid]; b != nil {
		if h, ok := b.heads[c]; ok {
			return h, true, nil
		}
	}
	return ledger.Head{Chain: c}, false, nil
}

// Waiting lists the ledgers with records that came before their predecessors.
func (s *Store) Waiting() []ledger.TID {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var out []ledger.TID
	for _, byLedger := range s.waiting {
		for tid := range byLedger {
			if !slices.Contains(out, tid) {
				out = append(out, tid)
			}
		}
	}
	slices.SortFunc(out, compare)
	return out
}
