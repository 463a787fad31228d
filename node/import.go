package node

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"

	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/ledger/disk"
	"github.com/parley-mesh/parley/node/api"
)

// importedAtOnce is how many records are stored in one go.
const importedAtOnce = 128

// Imported is what became of the records of an import.
type Imported struct {
	New     int // are in their conversations now
	Known   int // were there before
	Waiting int // follow records that are not here; they count once those come
	Refused []RefusedRecord
}

// RefusedRecord is a record that was not taken.
type RefusedRecord struct {
	Number int // its place among those given, from 1
	Why    string
}

// ImportThreads reads signed records of conversations, base64url without padding, into the ledger. Each is taken as one
// that another computer sent: if its signature holds, its author is or was a computer of this fleet or of a developer
// with a lane, and its conversation is here or is opened by such an author among them. Anything else is refused; what is
// here already stays as it is. The node must not run: [api.ErrHomeInUse].
func ImportThreads(ctx context.Context, home Home, wires []string) (out Imported, err error) {
	lock, err := home.Lock(ctx)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	fleet, err := home.Fleet()
	if err != nil {
		return out, fmt.Errorf("import: this computer knows of no fleet yet, so of no author: %w", err)
	}
	store, err := disk.Open(disk.Options{Dir: home.LedgerDir()})
	if err != nil {
		return out, err
	}
	i := importing{store: store, out: &out}
	return out, errors.Join(i.run(fleet, wires), store.Close())
}

// importing is one import on its way.
type importing struct {
	store *disk.Store
	known lanes.Rosters
	out   *Imported
}

// given is a record with its place in what was given.
type given struct {
	*ledger.Record
	number int
}

func (i *importing) run(fleet ledger.TID, wires []string) error {
	records, err := i.store.Records(fleet)
	if err != nil {
		return err
	}
	own := lanes.Fold(fleet, records)
	i.known = lanes.Rosters{own}
	for _, b := range own.Binds {
		i.known = append(i.known, lanes.FoldVisible(b.Fleet, looseIn(i.store, b.Fleet)))
	}
	var valid []given
	for n, wire := range wires {
		r, err := i.judge(wire)
		if err != nil {
			i.refuse(n+1, err.Error())
			continue
		}
		valid = append(valid, given{r, n + 1})
	}
	slices.SortStableFunc(valid, func(a, b given) int { return cmp.Compare(a.Lam, b.Lam) }) // what comes first in a chain goes first
	for some := range slices.Chunk(i.ofOpened(valid), importedAtOnce) {
		if err := i.apply(some); err != nil {
			return err
		}
	}
	slices.SortFunc(i.out.Refused, func(a, b RefusedRecord) int { return cmp.Compare(a.Number, b.Number) })
	return nil
}

func (i *importing) refuse(number int, why string) {
	i.out.Refused = append(i.out.Refused, RefusedRecord{number, why})
}

// judge takes one record apart and looks at all that it says of itself.
func (i *importing) judge(wire string) (*ledger.Record, error) {
	b, err := base64.RawURLEncoding.DecodeString(wire)
	if err != nil {
		return nil, errors.New("its bytes are not base64url")
	}
	r, err := ledger.Parse(b)
	if err != nil {
		return nil, err
	}
	if r.Family() != ledger.Conversation {
		return nil, errors.New("it is no record of a conversation")
	}
	if err := r.Verify(ledger.Conversation); err != nil {
		return nil, err
	}
	if _, ok := i.known.Of(r.Device); !ok {
		return nil, errors.New("its author is no computer of yours, nor of a developer with a lane")
	}
	return r, nil
}

// ofOpened leaves out records of conversations that are neither here nor opened by a known author among the given.
func (i *importing) ofOpened(all []given) (out []given) {
	opened := map[ledger.TID]bool{}
	for _, g := range all {
		if open, ok := g.Content.(*ledger.Open); ok && open.Key().Thread() == g.Ledger {
			opened[g.Ledger] = true
		}
	}
	for _, g := range all {
		family, held := i.store.Family(g.Ledger)
		switch {
		case held && family != ledger.Conversation:
			i.refuse(g.number, "it is of a ledger that is no conversation")
		case !held && !opened[g.Ledger]:
			i.refuse(g.number, "nothing here, nor in the file, opens its conversation")
		default:
			out = append(out, g)
		}
	}
	return out
}

func (i *importing) apply(some []given) error {
	var batch disk.Batch
	for _, g := range some {
		batch.Records = append(batch.Records, g.Record)
	}
	outcomes, err := i.store.Apply(batch)
	if err != nil {
		return fmt.Errorf("import %d records: %w", len(some), err)
	}
	for n, g := range some {
		switch outcomes[n] {
		case disk.Stored:
			i.out.New++
		case disk.Known:
			i.out.Known++
		case disk.Waiting:
			i.out.Waiting++
		case disk.Forked:
			i.refuse(g.number, "it does not continue what its author said; it is kept as proof of that alone")
		case disk.Forgotten:
			i.refuse(g.number, "its conversation was closed and forgotten here")
		}
	}
	return nil
}

// Wires are the signed bytes in an export, in order.
func Wires(threads []api.Thread) (out []string) {
	for _, t := range threads {
		for _, r := range t.Records {
			out = append(out, r.Wire)
		}
	}
	return out
}
