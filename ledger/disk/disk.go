// Package disk keeps ledgers in Badger: records, how far each chain is held, and a node's own values
// beside them.
//
// Invariants:
//  1. What Apply acknowledged is synced to disk. A batch is stored whole or not at all.
//  2. A chain is followed without gaps. A record that comes too early waits in a bounded area in memory;
//     it is lost with the process, and the next catch-up brings it again.
//  3. Records that contend for one place of a chain are all kept, as the proof that they exist. The
//     branch with the lowest id is followed, whatever the order in which they came.
//  4. The records are the truth. Heads, the index by id and the digests follow from them, and Check
//     mends those.
//  5. Nothing that cannot be read is deleted; it is moved aside.
package disk

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"

	"github.com/parley-mesh/parley/ledger"
)

// Errors that callers branch on.
var (
	// ErrLocked means that another process uses the directory.
	ErrLocked = errors.New("another process has the ledger open: ask it while it runs, or end it first")
	// ErrDiskLow means that nothing was written, since the disk is almost full. It passes: once there is
	// space again, the same call succeeds.
	ErrDiskLow = errors.New("the disk is almost full: free some space")
	// ErrClosed means that the store was closed.
	ErrClosed = errors.New("the ledger is closed")
)

// Sizes of Badger's files. Records stay in the tree, so there is no value log to collect.
const (
	memTableBytes = 8 << 20
	valueLogBytes = 16 << 20
	minFreeBytes  = max(256<<20, 4*(memTableBytes+valueLogBytes))
	// What opening may write without being asked: two memory tables of an unclean end and a compaction; and
	// closing: the memory tables.
	openingBytes = 64 << 20
	closingBytes = 3 * memTableBytes
)

// Options says how a store is opened.
type Options struct {
	Dir        string
	InMemory   bool   // nothing on disk; for simulations
	Compactors int    // 0: tables are never merged, for short lives and virtual time; else they are as they come
	MinFree    uint64 // bytes that must be free to write; 0: 256 MiB
	// Free tells how many bytes a directory's file system can still take, and whether that is known; nil
	// asks the system. It is called from several goroutines.
	Free     func(dir string) (uint64, bool)
	look     bool // a copy for reading: what cannot be read is an error, not a new beginning
	unmended bool // for a check: what is wrong is counted there, not mended before
}

// Store is one open ledger store. Its methods may be called from several goroutines.
type Store struct {
	db        *badger.DB
	o         Options
	salvaged  string
	unlock    func()
	temporary string // directory that Close removes
	readOnly  bool
	failed    error // why nothing more is written; the writer's own
	owed      bool  // what a low disk kept the start from doing, and the writer does first

	jobs     chan job
	tasks    chan func() // run by the writer, between two groups
	closing  chan struct{}
	done     chan struct{}
	growth   chan struct{} // to the merger
	merged   chan struct{} // closed when the merger has ended
	unmerged int           // bytes written since it was told; the writer's own
	once     sync.Once
	closed   error // what Close answers, from once on

	gate    sync.Mutex // guards shut, and the first Add of readers
	shut    bool
	readers sync.WaitGroup

	mu      sync.RWMutex
	books   map[ledger.TID]*book
	list    []Entry // every ledger, ascending, but for what is stale
	graves  map[ledger.TID]grave
	stale   map[ledger.TID]bool // ledgers whose entry is to be summed up anew
	digest  *ledger.Digest      // over every ledger; nil: to be summed up anew
	waiting room
}

// Open opens the store of a directory, which it makes if need be. A database that cannot be read is moved
// aside, never deleted, and an empty one takes its place; [Store.Salvaged] says where it went. After an
// unclean end the derived side is held against the records, and mended. While the disk is low, a store that
// is there opens and is read as always, nothing is mended or moved, and Apply answers [ErrDiskLow] until
// there is space. Errors are [ErrLocked], [ErrDiskLow] where less is free than opening itself may take,
// 64 MiB, or where there is no store yet or a damaged one, and what the system says.
func Open(o Options) (*Store, error) {
	s := &Store{
		o: o, jobs: make(chan job, 256), tasks: make(chan func()), done: make(chan struct{}),
		growth: make(chan struct{}, 1), merged: make(chan struct{}), closing: make(chan struct{}), books: map[ledger.TID]*book{}, stale: map[ledger.TID]bool{}, graves: map[ledger.TID]grave{}, unlock: func() {},
	}
	if err := s.open(); err != nil {
		s.unlock()
		return nil, fmt.Errorf("open ledger %s: %w", o.Dir, err)
	}
	err := guarded(s.begin)
	if errors.Is(err, errDamaged) && s.salvaged == "" && !o.look {
		if err = errors.Join(s.db.Close(), s.salvage()); err == nil {
			err = guarded(s.begin)
		}
	}
	if err != nil {
		err = errors.Join(err, s.db.Close())
		s.unlock()
		return nil, fmt.Errorf("open ledger %s: %w", o.Dir, err)
	}
	go s.write()
	if o.Compactors > 0 {
		go s.merge()
	} else {
		close(s.merged)
	}
	return s, nil
}

func (s *Store) open() (err error) {
	if s.o.InMemory {
		s.db, err = badger.Open(s.badger())
		return err
	}
	if err := os.MkdirAll(s.o.Dir, 0o700); err != nil {
		return err
	}
	if s.unlock, err = lockDir(s.o.Dir); err != nil {
		s.unlock = func() {}
		return err
	}
	if err := s.roomFor(min(s.minFree(), openingBytes)); err != nil {
		return err
	}
	return s.openOrSalvage()
}

func (s *Store) badger() badger.Options {
	dir := s.o.Dir
	if s.o.InMemory {
		dir = ""
	}
	return badger.DefaultOptions(dir).WithInMemory(s.o.InMemory).WithLogger(nil).WithSyncWrites(!s.o.InMemory).
		WithMemTableSize(memTableBytes).WithNumMemtables(2).WithBaseTableSize(2 << 20).
		WithNumLevelZeroTables(mergeTables).WithNumLevelZeroTablesStall(6).WithNumCompactors(0).
		WithBlockCacheSize(4 << 20).WithIndexCacheSize(4 << 20).WithCompression(options.Snappy).
		WithValueLogFileSize(valueLogBytes).WithValueThreshold(1 << 20).
		WithChecksumVerificationMode(options.OnBlockRead).WithBypassLockGuard(ownLock).
		WithDetectConflicts(false).WithMetricsEnabled(false)
}

// Names in the store's own key space.
const (
	schemaName = "schema"
	cleanName  = "clean" // there while the store is closed and was closed in order
)

// schema is the version of the layout in keys.go.
const schema = 1

// begin makes the opened database this store's: its schema, what memory knows of it, and the mark of a
// clean end, which is taken away.
func (s *Store) begin() error {
	version, err := s.get(metaKey(schemaName))
	if err != nil {
		return damaged(err)
	}
	clean, err := s.get(metaKey(cleanName))
	if err != nil {
		return damaged(err)
	}
	if version == nil {
		if !s.empty() {
			return fmt.Errorf("%w: it does not say how it is laid out", errDamaged)
		}
		if err := s.room(); err != nil {
			return err
		}
		return s.db.Update(func(txn *badger.Txn) error { return txn.Set(metaKey(schemaName), []byte{schema}) })
	}
	if len(version) != 1 || version[0] != schema {
		return fmt.Errorf("it has layout %x and this version of parley knows %d: update parley", version, schema)
	}
	if err := s.verify(); err != nil {
		return err
	}
	if err := s.load(); err != nil {
		return damaged(err)
	}
	if s.owed = clean != nil || !s.sound(); s.owed && !s.Low() && !(s.o.unmended && clean == nil) {
		return s.settle()
	}
	return nil
}

// settle does what has to come before the first write: the mark of a clean end goes, or what an unclean
// end left wrong is mended.
func (s *Store) settle() error {
	clean, err := s.get(metaKey(cleanName))
	if err != nil {
		return err
	}
	if clean != nil {
		err = s.db.Update(func(txn *badger.Txn) error { return txn.Delete(metaKey(cleanName)) })
	} else {
		_, err = s.mend(false)
	}
	s.owed = err != nil
	return err
}

func (s *Store) empty() bool {
	for range s.each(nil, nil) {
		return false
	}
	return true
}

// Salvaged is where an unreadable database was moved when the store was opened, "" if none was.
func (s *Store) Salvaged() string { return s.salvaged }

// Close stores what waits to be written, waits for reads that have begun and closes the database. A read
// or write after it is answered with [ErrClosed].
func (s *Store) Close() error {
	s.once.Do(func() {
		close(s.closing)
		<-s.done
		<-s.merged
		s.gate.Lock()
		s.shut = true
		s.gate.Unlock()
		s.readers.Wait()
		if s.closed = s.end(); errors.Is(s.closed, ErrDiskLow) {
			return
		}
		s.unlock()
		if s.temporary != "" {
			s.closed = errors.Join(s.closed, os.RemoveAll(s.temporary))
		}
	})
	return s.closed
}

// end closes the database. Badger writes what it holds in memory into files as it closes, and dies where they
// do not fit. All of it is in its log already, so it is left as a crash would, with the directory locked
// until the process ends.
func (s *Store) end() error {
	if !s.o.InMemory {
		if err := s.roomFor(min(s.minFree(), closingBytes)); err != nil {
			leave(s.unlock)
			return fmt.Errorf("close ledger %s: left as it is: %w", s.o.Dir, err)
		}
	}
	return errors.Join(s.markClean(), s.db.Close())
}

// left holds the locks of directories whose databases could not be closed and still run.
var left struct {
	mu    sync.Mutex
	locks []func()
}

func leave(unlock func()) {
	left.mu.Lock()
	defer left.mu.Unlock()
	left.locks = append(left.locks, unlock)
}

func (s *Store) markClean() error {
	if s.o.InMemory || s.failed != nil || s.owed || s.room() != nil {
		return nil
	}
	return s.db.Update(func(txn *badger.Txn) error { return txn.Set(metaKey(cleanName), []byte{1}) })
}

// enter begins a read, unless the store is closed.
func (s *Store) enter() error {
	s.gate.Lock()
	defer s.gate.Unlock()
	if s.shut {
		return ErrClosed
	}
	s.readers.Add(1)
	return nil
}

// Low reports whether the disk is almost full: reading goes on, writing answers [ErrDiskLow]. It asks the
// system each time, which costs microseconds.
func (s *Store) Low() bool { return !s.o.InMemory && s.room() != nil }

func (s *Store) minFree() uint64 {
	if s.o.MinFree == 0 {
		return minFreeBytes
	}
	return s.o.MinFree
}

// room refuses to write when the disk is almost full: Badger would end the process with a signal that
// nothing can catch.
func (s *Store) room() error { return s.roomFor(s.minFree()) }

func (s *Store) roomFor(need uint64) error {
	ask := s.o.Free
	if ask == nil {
		ask = freeBytes
	}
	free, known := ask(s.o.Dir)
	if known && free < need {
		return fmt.Errorf("%w: %d MiB free in %s, %d needed", ErrDiskLow, free>>20, s.o.Dir, need>>20)
	}
	return nil
}
