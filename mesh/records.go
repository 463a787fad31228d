package mesh

import (
	"slices"

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
	if buried, err := x.sendTomb(h.Ledger); buried || err != nil {
		return err
	}
	if loose, ok := x.book.Loose(h.Ledger); ok && x.shown(h.Ledger) {
		return x.sendLoose(h.Ledger, loose)
	}
	heads, err := x.book.Heads(h.Ledger)
	if err != nil || !x.shown(h.Ledger) {
		return err
	}
	family, ok := x.book.Family(h.Ledger)
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
			wires, err := x.book.From(h.Ledger, head.Chain, next, pieceMax)
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

// sendLoose sends all of a roster of which a lane sees a part: its chains have gaps, so that no length says what
// is held.
func (x *exchange) sendLoose(tid ledger.TID, wires [][]byte) error {
	out := framing{x: x, f: ledger.Records{Ledger: tid, Family: ledger.Roster}}
	for _, w := range wires {
		if err := out.add(w); err != nil {
			return err
		}
	}
	return out.flush()
}

// lengths is up to where the peer holds each chain for certain. A ledger is only asked about when the two
// differed in it: if every chain is as long there as this side said it is here, either gossip has closed the gap
// meanwhile, and both hold the same, or the difference is a fork that neither knows of, and the peer needs all. It also
// needs all of a chain that is known to fork, since its length does not say on which branch.
func (x *exchange) lengths(h *ledger.Have, heads []ledger.Head) (map[ledger.Chain]uint64, error) {
	there := make(map[ledger.Chain]uint64, len(h.Positions))
	for _, p := range h.Positions {
		there[ledger.Chain{Device: p.Device, Inc: p.Inc}] = p.Next
	}
	if said, ok := x.said[h.Ledger]; ok {
		heads = said // what came since closes no gap that was there
	}
	other := func(o ledger.Head) bool { return there[o.Chain] != o.Next }
	if len(there) == len(heads) && !slices.ContainsFunc(heads, other) {
		if h.Digest == ledger.DigestOf(heads) {
			return there, nil
		}
		return nil, nil
	}
	contended, err := x.book.Contended(h.Ledger)
	for _, c := range contended {
		delete(there, c)
	}
	return there, err
}

// shown reports whether the peer may see a ledger.
func (x *exchange) shown(tid ledger.TID) bool {
	_, ok := x.digestOf(tid)
	return ok
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
