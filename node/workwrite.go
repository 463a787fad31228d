package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/ledger/disk"
	"github.com/parley-mesh/parley/node/core"
)

// Bounds of what is written. Others refuse what is beyond theirs, so this computer stops before that; and what waits
// for the disk is bounded too.
const (
	ownWorkRecordsMax = workRecordsMax - 1000
	ownWorkBytesMax   = workBytesMax - 1<<20
	outboxMax         = 4096
	storeAtOnce       = 128
	storeRetry        = 5 * time.Second
)

var errWorkFull = errors.New("this computer has written as much live work this week as others take, or its disk is full")

// write seals a record of live work and folds it, and writes what lanes get of it. It is stored and published in order by
// [live.store]; until then only this process knows it, and a chain begins anew with each process, and where the one before
// was dropped. The caller holds the lock.
func (l *live) write(r *liveRepo, content ledger.Body, re ...ledger.ID) (*ledger.Record, error) {
	record, err := l.seal(r, ledger.ID{}, ledger.Header{Re: re, At: uint64(l.n.wall().UnixMilli())}, content)
	if err != nil {
		return nil, err
	}
	l.take(record)
	l.share(r, record)
	return record, nil
}

// seal makes the next record of this process's chain in the present week's ledger, at home or under a statement that
// shares live work, and lets it wait for the disk.
func (l *live) seal(r *liveRepo, on ledger.ID, h ledger.Header, content ledger.Body) (*ledger.Record, error) {
	scope := workScope{ledger.Scope{Host: r.Host, Repo: r.Repo, Period: ledger.PeriodOf(uint64(l.n.wall().UnixMilli()))}, on}
	tid := scope.ledger()
	has := l.n.workBook.has(tid, l.n.id.Device())
	if has.records >= ownWorkRecordsMax || has.bytes >= ownWorkBytesMax || len(l.outbox) >= outboxMax {
		return nil, errWorkFull
	}
	head := l.heads[tid]
	if head.Next == 0 {
		head.Inc = l.inc
	}
	h.Ledger, h.Inc, h.Seq, h.Prev = tid, head.Inc, head.Next, head.ID
	h.Lam = min(max(l.fold.Lam(), head.Lam)+1, ledger.LamportMax)
	if h.Seq == 0 {
		h.Scope, h.Share = scope.Scope, on
	} else {
		h.Lam = min(h.Lam, head.Lam+ledger.LamportJumpMax)
	}
	record, err := ledger.Seal(l.n.id.Key(), h, content)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", content.Kind(), err)
	}
	head.Chain = record.Chain()
	l.heads[tid] = head.After(record)
	l.n.workBook.count(scope, record)
	l.outbox = append(l.outbox, record)
	ring(l.out)
	return record, nil
}

// ring leaves one signal in a channel that holds one.
func ring(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // one is waiting
	}
}

// store keeps what was written on disk and then tells others, in order, until ctx ends; then it keeps the rest.
func (l *live) store(ctx context.Context) {
	for {
		select {
		case <-l.out:
		case <-ctx.Done():
			for l.storeSome() == nil && l.waiting() > 0 {
			}
			return
		}
		for l.waiting() > 0 && ctx.Err() == nil {
			if err := l.storeSome(); err == nil {
				continue
			} else if !errors.Is(err, disk.ErrDiskLow) {
				l.n.log.add(core.Note{Level: "warn", Kind: "live", Who: l.n.cfg.Name, Text: "live work could not be stored, and is tried again: " + err.Error()})
			}
			pause(ctx, storeRetry)
		}
	}
}

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// waiting is how much waits for the disk.
func (l *live) waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.outbox) + len(l.unsaved)
}

// atOnce is how much of what waits is stored at once: what was written for lanes goes with what it stands for, so that
// none of it is missing after a process died.
func atOnce(outbox []*ledger.Record) int {
	n := min(len(outbox), storeAtOnce)
	for n < min(len(outbox), 4*storeAtOnce) && outbox[n].For != (ledger.Place{}) {
		n++
	}
	return n
}

// storeSome stores what waits longest. Only what is on disk is told to others.
func (l *live) storeSome() error {
	l.mu.Lock()
	some := l.outbox[:atOnce(l.outbox)]
	batch := disk.Batch{Records: some, Put: l.unsaved}
	l.unsaved = nil
	l.mu.Unlock()
	if len(some) == 0 && len(batch.Put) == 0 {
		return nil
	}
	if _, err := l.n.store.Apply(batch); err != nil {
		l.mu.Lock()
		l.unsaved = append(batch.Put, l.unsaved...)
		l.mu.Unlock()
		return err
	}
	l.mu.Lock()
	l.outbox = l.outbox[len(some):]
	l.mu.Unlock()
	for _, r := range some {
		if err := l.n.mesh.Publish(r); err != nil {
			l.n.slog.Debug("publish", "record", r.ID.String(), "error", err)
		}
		l.n.sendThrough(r)
	}
	return nil
}
