package mesh

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/parley-mesh/parley/ledger"
)

// pieceMax is how many wires are read from disk at once; frameRoom is what a frame holds of them, beside
// its own fields.
const (
	pieceMax  = 256
	frameRoom = ledger.FrameBytesMax - 512
)

// sendRecords sends what the peer lacks of one ledger, chain by chain, in order.
func (x *exchange) sendRecords(h *ledger.Have) error {
	heads, err := x.m.c.Book.Heads(h.Ledger)
	if err != nil || !x.shown(h.Ledger) {
		return err
	}
	family, ok := x.m.c.Book.Family(h.Ledger)
	if !ok || family == ledger.FamilyUnknown { // nobody could verify it
		return nil
	}
	there, err := x.lengths(h, heads)
	if err != nil {
		return err
	}
	out := framing{x: x, f: ledger.Records{Ledger: h.Ledger, Family: family}}
	for _, head := range heads {
		for next := there[head.Chain]; next < head.Next; {
			wires, err := x.m.c.Book.From(h.Ledger, head.Chain, next, pieceMax)
			if err != nil {
				return err
			}
			if len(wires) == 0 {
				break
			}
			last, err := ledger.Parse(wires[len(wires)-1])
			if err != nil {
				return err
			}
			next = last.Seq + 1
			for _, w := range wires {
				if err := out.add(w); err != nil {
					return err
				}
			}
		}
	}
	return out.flush()
}

// lengths is up to where the peer holds each chain for certain. A ledger is only asked about when the two
// differ in it: if every chain is as long there as here, the difference is a fork that neither knows of,
// and the peer needs all. It also needs all of a chain that is known to fork, since its length does not say
// on which branch.
func (x *exchange) lengths(h *ledger.Have, heads []ledger.Head) (map[ledger.Chain]uint64, error) {
	there := make(map[ledger.Chain]uint64, len(h.Positions))
	for _, p := range h.Positions {
		there[ledger.Chain{Device: p.Device, Inc: p.Inc}] = p.Next
	}
	other := func(o ledger.Head) bool { return there[o.Chain] != o.Next }
	if len(there) == len(heads) && !slices.ContainsFunc(heads, other) {
		return nil, nil
	}
	contended, err := x.m.c.Book.Contended(h.Ledger)
	for _, c := range contended {
		delete(there, c)
	}
	return there, err
}

// shown reports whether the peer may see a ledger.
func (x *exchange) shown(tid ledger.TID) bool {
	for _, l := range x.mine {
		if l.Ledger == tid {
			return true
		}
	}
	return false
}

// framing fills frames with wires.
type framing struct {
	x    *exchange
	f    ledger.Records
	size int
}

func (o *framing) add(wire []byte) error {
	if o.size+len(wire)+3 > frameRoom {
		if err := o.flush(); err != nil {
			return err
		}
	}
	o.f.Wires = append(o.f.Wires, wire)
	o.size += len(wire) + 3
	return nil
}

func (o *framing) flush() error {
	if len(o.f.Wires) == 0 {
		return nil
	}
	err := o.x.write(&o.f)
	o.f.Wires, o.size = nil, 0
	return err
}

// storingMax is how many verified frames wait for the disk: at most half a megabyte for each peer.
const storingMax = 8

// readRecords takes what the peer sends, stored frame by frame, so that an exchange that breaks off has
// not been for nothing. The next frame is verified while the last one is written.
func (x *exchange) readRecords() error {
	type piece struct {
		family  ledger.Family
		records []*ledger.Record
	}
	pieces := make(chan piece, storingMax)
	var stored error
	var storing sync.WaitGroup
	storing.Go(func() {
		for p := range pieces {
			if stored != nil {
				continue // the reader is told when it is done
			}
			if stored = x.m.c.Book.Receive(x.m.ctx, x.with, p.family, p.records); stored != nil {
				_ = x.s.Reset() // wakes the reader
				continue
			}
			x.received += len(p.records)
		}
	})
	err := func() error {
		for {
			f, err := x.read()
			if err != nil {
				return err
			}
			switch f := f.(type) {
			case *ledger.Records:
				if !x.m.ofFamily(f.Ledger, f.Family) {
					return fmt.Errorf("%w: ledger %s is of another family", errPeer, f.Ledger.Short())
				}
				records, err := verified(f)
				if err != nil {
					return err
				}
				pieces <- piece{f.Family, records}
			case *ledger.Bye:
				return nil
			default:
				return fmt.Errorf("%w: want records, got %T", errPeer, f)
			}
		}
	}()
	close(pieces)
	storing.Wait()
	return errors.Join(stored, err)
}

// verified parses a frame's records and checks their signatures, on every core.
func verified(f *ledger.Records) ([]*ledger.Record, error) {
	out := make([]*ledger.Record, len(f.Wires))
	workers := min(runtime.GOMAXPROCS(0), len(f.Wires))
	faults := make([]error, workers)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for i := w; i < len(f.Wires) && faults[w] == nil; i += workers {
				out[i], faults[w] = one(f, f.Wires[i])
			}
		})
	}
	all.Wait()
	for _, err := range faults {
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errPeer, err)
		}
	}
	return out, nil
}

func one(f *ledger.Records, wire []byte) (*ledger.Record, error) {
	r, err := ledger.Parse(wire)
	if err != nil {
		return nil, err
	}
	if r.Ledger != f.Ledger {
		return nil, fmt.Errorf("a record of ledger %s among those of %s", r.Ledger.Short(), f.Ledger.Short())
	}
	return r, r.Verify(f.Family)
}
