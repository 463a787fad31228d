package disk

import (
	"errors"
	"fmt"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/parley-mesh/parley/ledger"
)

// A group of batches is synced once. It is closed at groupRecords records or groupBytes bytes, and never
// waits longer than groupWait for as many callers as there were in the last one: a batch that comes alone
// does not wait.
const (
	groupRecords = 128
	groupBytes   = 768 << 10
	groupWait    = 5 * time.Millisecond
)

// Outcome is what became of one record of a batch.
type Outcome uint8

// The outcomes.
const (
	Stored    Outcome = iota // it is now part of its chain
	Known                    // it was stored before
	Waiting                  // its predecessor is missing; it is appended once that comes
	Forked                   // it does not continue its chain as held; it is kept as proof
	Forgotten                // its ledger is a closed thread that was pruned; it changes nothing and is not kept
)

// Pair is one of a node's own values.
type Pair struct{ Key, Value []byte }

// Batch is stored whole or not at all. Within it, Put comes before Delete.
type Batch struct {
	Records []*ledger.Record // signatures verified by the caller
	Put     []Pair
	Delete  [][]byte
	Bury    []Grave // after the records
	// Drop names ledgers of which nothing stays, not even that they were held; after the records. Whoever keeps
	// them out from then on is the caller.
	Drop []ledger.TID
}

func (b Batch) bytes() int {
	n := 0
	for _, r := range b.Records {
		n += len(r.Wire) + 2*recordBytes
	}
	for _, g := range b.Bury {
		n += len(g.Tomb.Open) + 2*recordBytes
	}
	for _, p := range b.Put {
		n += len(p.Key) + len(p.Value)
	}
	return n
}

type job struct {
	batch Batch
	to    chan result
}

type result struct {
	outcomes []Outcome
	err      error
}

var errReadOnly = errors.New("the ledger was opened for reading")

// Apply stores a batch and returns once it is synced. The outcomes are in the order of the batch's
// records. Callers at the same time share one sync. [ErrDiskLow] and [ErrClosed] come before anything is
// touched. After any other failure to write it is unknown what reached the disk, so the store writes
// nothing more until it is opened again.
func (s *Store) Apply(b Batch) ([]Outcome, error) {
	if s.readOnly {
		return nil, errReadOnly
	}
	j := job{b, make(chan result, 1)}
	select {
	case s.jobs <- j:
	case <-s.closing:
		return nil, ErrClosed
	}
	select {
	case r := <-j.to:
		return r.outcomes, r.err
	case <-s.done:
		select {
		case r := <-j.to:
			return r.outcomes, r.err
		default:
			return nil, ErrClosed
		}
	}
}

// write is the one writer. It ends when the store is closed and nothing waits to be written.
func (s *Store) write() {
	defer close(s.done)
	g := gathering{jobs: s.jobs}
	for {
		select {
		case j := <-s.jobs:
			s.commit(g.from(j))
		case run := <-s.tasks:
			run()
		case <-s.closing:
			for {
				select {
				case j := <-s.jobs:
					s.commit(g.from(j))
				default:
					return
				}
			}
		}
	}
}

// gathering puts groups together.
type gathering struct {
	jobs chan job
	last int // jobs of the group before
}

// from takes what waits already, and waits a moment for those who took part last time.
func (g *gathering) from(first job) []job {
	group := []job{first}
	records, size := max(1, len(first.batch.Records)), first.batch.bytes()
	var moment <-chan time.Time
	for records < groupRecords && size < groupBytes {
		var j job
		select {
		case j = <-g.jobs:
		default:
			if len(group) >= g.last {
				g.last = len(group)
				return group
			}
			if moment == nil {
				timer := time.NewTimer(groupWait)
				defer timer.Stop()
				moment = timer.C
			}
			select {
			case j = <-g.jobs:
			case <-moment:
				g.last = len(group)
				return group
			}
		}
		group = append(group, j)
		records, size = records+max(1, len(j.batch.Records)), size+j.batch.bytes()
	}
	g.last = len(group)
	return group
}

// commit writes a group in one transaction. A batch that cannot be stored must not take the others with
// it, so a group that was refused before anything was written is tried again in halves; one that is too
// large for Badger is too.
func (s *Store) commit(group []job) {
	outcomes, err := s.transact(group)
	var refused *refusal
	if half := len(group) / 2; half > 0 && errors.As(err, &refused) {
		s.commit(group[:half])
		s.commit(group[half:])
		return
	}
	for i, j := range group {
		if err != nil {
			j.to <- result{err: fmt.Errorf("store: %w", err)}
			continue
		}
		j.to <- result{outcomes: outcomes[i]}
	}
}

// refusal is an error of some batch in a group, none of which was written.
type refusal struct{ error }

func (r *refusal) Unwrap() error { return r.error }

func (s *Store) transact(group []job) ([][]Outcome, error) {
	if s.failed != nil {
		return nil, s.failed
	}
	if !s.o.InMemory {
		if err := s.room(); err != nil {
			return nil, err
		}
	}
	if s.owed {
		if err := s.settle(); err != nil {
			return nil, err
		}
	}
	txn := s.db.NewTransaction(true)
	defer txn.Discard()
	w := writing{s: s, txn: txn, chains: map[line]chain{}, families: map[ledger.TID]ledger.Family{}, graves: map[ledger.TID]grave{}, dropped: map[ledger.TID]bool{}}
	out := make([][]Outcome, len(group))
	for i, j := range group {
		var err error
		if out[i], err = w.batch(j.batch); err != nil {
			return nil, &refusal{err}
		}
	}
	if err := w.putChains(); err != nil {
		return nil, &refusal{err}
	}
	if err := txn.Commit(); errors.Is(err, badger.ErrTxnTooBig) {
		return nil, &refusal{err}
	} else if err != nil {
		s.failed = fmt.Errorf("an earlier write failed, open the ledger again: %w", err)
		return nil, err
	}
	s.learn(&w)
	for _, j := range group {
		s.grown(j.batch.bytes())
	}
	return out, nil
}
