package mesh

import (
	"fmt"

	"github.com/parley-mesh/parley/ledger"
)

// trade is the exchange with a peer that compares whole lists, the same for both sides: tell what is held,
// compare, tell how far, and send what the other lacks.
func (x *exchange) trade() error {
	var theirs []ledger.Listing
	var haves []*ledger.Have
	listed, asked := make(chan struct{}), make(chan struct{})
	return x.beside(func() error {
		var err error
		if theirs, err = x.readLists(); err != nil {
			return err
		}
		close(listed)
		if haves, err = x.readHaves(&haveList{}); err != nil {
			return err
		}
		close(asked)
		return x.readRecords()
	}, func(failed <-chan struct{}) error {
		if err := x.sendLists(); err != nil || !known(listed, failed) {
			return err
		}
		if err := x.sendHaves(theirs); err != nil || !known(asked, failed) {
			return err
		}
		if err := x.sendAll(haves); err != nil {
			return err
		}
		return x.write(&ledger.Bye{})
	})
}

func (x *exchange) sendLists() error {
	if err := x.write(x.detail(x.sum)); err != nil {
		return err
	}
	return x.sendList(ledger.ListAll, x.mine)
}

// readLists reads the peer's details and what it holds. Every frame but the last brings something new, so
// that the peer cannot list for ever.
func (x *exchange) readLists() ([]ledger.Listing, error) {
	var out []ledger.Listing
	for first := true; ; first = false {
		f, err := x.read()
		if err != nil {
			return nil, err
		}
		switch f := f.(type) {
		case *ledger.Detail:
			if !first || f.Fleet != x.fleet {
				return nil, fmt.Errorf("%w: details again, or of another fleet", errPeer)
			}
		case *ledger.List:
			if f.Scope != ledger.ListAll || f.More && len(f.Entries) == 0 {
				return nil, fmt.Errorf("%w: a list of scope %d with %d entries", errPeer, f.Scope, len(f.Entries))
			}
			if out = append(out, f.Entries...); len(out) > listingsMax {
				return nil, fmt.Errorf("%w: it names more than %d ledgers", errPeer, listingsMax)
			}
			if !f.More {
				return out, nil
			}
		default:
			return nil, fmt.Errorf("%w: want a list, got %T", errPeer, f)
		}
	}
}

// sendHaves says how far this side holds each ledger that the two hold differently.
func (x *exchange) sendHaves(theirs []ledger.Listing) error {
	there := make(map[ledger.TID]ledger.Digest, len(theirs))
	for _, l := range theirs {
		there[l.Ledger] = l.Digest
	}
	here := make(map[ledger.TID]bool, len(x.mine))
	for _, l := range x.mine {
		here[l.Ledger] = true
		if d, ok := there[l.Ledger]; ok && d != l.Digest {
			if err := x.sendHave(l.Ledger); err != nil {
				return err
			}
		}
	}
	for _, l := range theirs {
		if !here[l.Ledger] {
			if err := x.sendHave(l.Ledger); err != nil {
				return err
			}
		}
	}
	return x.write(&ledger.Bye{})
}
