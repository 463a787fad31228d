package mesh

import (
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/parley-mesh/parley/ledger"
)

// Bounds of what one exchange holds in memory and stores at once: frames that are being verified or wait
// for the disk, half a megabyte at most; and a transaction that the store takes.
const (
	intakeFrames = 8
	storeRecords = 512
	storeBytes   = 4 * ledger.FrameBytesMax
)

// judges is how many frames are verified at a time, each on every core: while one waits for its last
// signature, the cores have the other.
const judges = 2

// piece is one frame of records on its way to the disk.
type piece struct {
	frame   *ledger.Records
	size    int
	ready   chan struct{} // closed when it was judged
	records []*ledger.Record
	err     error
}

// intake takes what a peer sends. Reading, verifying and storing run beside each other, and what is stored
// keeps the order in which it came.
type intake struct {
	x      *exchange
	judged chan *piece
	order  chan *piece
	family ledger.Family // of what is gathered
	batch  []*ledger.Record
	size   int
	err    error // the storer's
}

// readRecords takes what the peer sends, stored as it comes, so that an exchange that breaks off has not
// been for nothing.
func (x *exchange) readRecords() error {
	in := &intake{x: x, judged: make(chan *piece, intakeFrames), order: make(chan *piece, intakeFrames)}
	var work sync.WaitGroup
	for range judges {
		work.Go(in.judge)
	}
	work.Go(in.store)
	err := in.read()
	close(in.judged)
	close(in.order)
	work.Wait()
	return errors.Join(in.err, err)
}

// read hands on each frame up to the peer's mark. It waits for the storer once the order is full.
func (in *intake) read() error {
	for {
		f, err := in.x.read()
		if err != nil {
			return err
		}
		switch f := f.(type) {
		case *ledger.Records:
			p := &piece{frame: f, ready: make(chan struct{})}
			for _, w := range f.Wires {
				p.size += len(w)
			}
			in.order <- p
			in.judged <- p
		case *ledger.Tomb:
			if err := in.x.bury(f); err != nil {
				return err
			}
		case *ledger.Bye:
			return nil
		default:
			return fmt.Errorf("%w: want records, got %T", errPeer, f)
		}
	}
}

func (in *intake) judge() {
	for p := range in.judged {
		p.records, p.err = verified(p.frame)
		close(p.ready)
	}
}

// store gathers what is ready, and stores it once nothing more is. After an error it only empties the queue.
func (in *intake) store() {
	for p := range in.order {
		select {
		case <-p.ready:
		default:
			in.flush() // nothing waits for a signature once it could be stored
			<-p.ready
		}
		if p.frame.Family != in.family || len(in.batch)+len(p.records) > storeRecords || in.size+p.size > storeBytes {
			in.flush()
		}
		in.add(p)
		if len(in.order) == 0 {
			in.flush()
		}
	}
}

// add gathers a piece. All that came before it with another family is stored by now.
func (in *intake) add(p *piece) {
	if in.err != nil {
		return
	}
	if p.err == nil && !ofFamily(in.x.book, p.frame.Ledger, p.frame.Family) {
		p.err = fmt.Errorf("%w: %w: ledger %s", errPeer, errFamily, p.frame.Ledger.Short())
	}
	if p.err != nil {
		in.flush()
		in.fail(p.err)
		return
	}
	in.family, in.size = p.frame.Family, in.size+p.size
	in.batch = append(in.batch, p.records...)
}

func (in *intake) flush() {
	if len(in.batch) > 0 && in.err == nil {
		if err := in.x.book.Receive(in.x.m.ctx, in.x.with, in.family, in.batch); err != nil {
			in.fail(err)
		} else {
			in.x.received += len(in.batch)
			in.x.m.recent.touchAll(in.batch)
		}
	}
	in.batch, in.size = nil, 0
}

// fail remembers the first error and wakes the reader.
func (in *intake) fail(err error) {
	if in.err == nil {
		in.err = err
		_ = in.x.s.Reset()
	}
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
