package mesh

import (
	"context"
	"fmt"

	"github.com/parley-mesh/parley/ledger"
)

// Graves is what a book can do besides that prunes closed threads. Its methods are called from many goroutines.
type Graves interface {
	// Tomb is what is left of a closed thread that was pruned here, or that is known to be pruned elsewhere.
	Tomb(tid ledger.TID) (*ledger.Tomb, bool, error)
	// Bury judges and keeps a peer's tomb, whose open and spine are parsed and verified. A tomb that does not
	// agree with what is held here is left alone; an error ends the exchange.
	Bury(ctx context.Context, from ledger.Device, tomb *ledger.Tomb, records []*ledger.Record) error
}

// tomb is what this side says of a closed thread in place of its records; nil where it has them to give, or
// the peer would not understand.
func (x *exchange) tomb(tid ledger.TID) (*ledger.Tomb, error) {
	g, ok := x.book.(Graves)
	if !ok || !x.tombs {
		return nil, nil
	}
	t, ok, err := g.Tomb(tid)
	if err != nil || !ok || !x.shown(tid) {
		return nil, err
	}
	return t, nil
}

// sendTomb sends what is left of a pruned thread, once, and reports whether there is such.
func (x *exchange) sendTomb(tid ledger.TID) (bool, error) {
	t, err := x.tomb(tid)
	if err != nil || t == nil {
		return false, err
	}
	if x.buried[tid] {
		return true, nil
	}
	x.buried[tid] = true
	return true, x.write(t)
}

// buryOnce takes a tomb in place of a have: a ledger is named once.
func (x *exchange) buryOnce(l *haveList, t *ledger.Tomb) error {
	if err := l.name(t.Ledger); err != nil {
		return err
	}
	return x.bury(t)
}

// bury takes a peer's tomb.
func (x *exchange) bury(t *ledger.Tomb) error {
	g, ok := x.book.(Graves)
	if !ok {
		return nil
	}
	records, err := t.Records()
	if err != nil {
		return fmt.Errorf("%w: tomb: %w", errPeer, err)
	}
	for _, r := range records {
		if r.Ledger != t.Ledger {
			return fmt.Errorf("%w: a tomb of %s with a record of %s", errPeer, t.Ledger.Short(), r.Ledger.Short())
		}
		if err := r.Verify(ledger.Conversation); err != nil {
			return fmt.Errorf("%w: tomb: %w", errPeer, err)
		}
	}
	if last := records[len(records)-1]; records[0].Kind != ledger.KindOpen || last.Kind != ledger.KindClosed || t.Digest != ledger.TombDigest(last.ID) {
		return fmt.Errorf("%w: a tomb of %s that is none", errPeer, t.Ledger.Short())
	}
	return g.Bury(x.m.ctx, x.with, t, records)
}
