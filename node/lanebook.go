package node

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/ledger/disk"
)

// loosePrefix is where records of other developers' rosters are kept. They are no chains, since a lane does not
// show all of a roster, and so they stand beside the ledgers.
const loosePrefix = "lane/roster/"

// Bounds of what is kept of another developer's roster. Its fold remembers for each record all that came before, so
// that twice as many take four times the memory and time: a thousand take 30 MB and a third of a second.
const (
	looseMax      = 1_000
	looseBytesMax = 4 << 20
)

func loosePrefixOf(fleet ledger.TID) []byte { return []byte(loosePrefix + fleet.String() + "/") }

// laneBook is the lanes as goroutines beside the loop see them. What it hands out is not changed any more.
type laneBook struct {
	refolding sync.Mutex

	mu    sync.RWMutex
	all   []lanes.Lane  // in order of their pairing
	peers lanes.Rosters // theirs, in the same order
}

func (b *laneBook) rosters() lanes.Rosters {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.peers
}

// peer reports whether a fleet is another developer's that was paired with.
func (b *laneBook) peer(fleet ledger.TID) bool {
	_, ok := b.of(fleet)
	return ok
}

// grants are the leaves to send, as the lanes stand.
func (b *laneBook) grants() (out []lanes.Grant) {
	for _, l := range b.get() {
		if g, ok := l.Grant(); ok {
			out = append(out, g)
		}
	}
	return out
}

// fleetOf is the other developer whose computer this is or was.
func (b *laneBook) fleetOf(d ledger.Device) (ledger.TID, bool) {
	r, ok := b.rosters().Of(d)
	return r.Fleet, ok
}

func (b *laneBook) get() []lanes.Lane {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.all
}

// of is the lane to a fleet.
func (b *laneBook) of(fleet ledger.TID) (lanes.Lane, bool) {
	all := b.get()
	i := slices.IndexFunc(all, func(l lanes.Lane) bool { return l.Peer == fleet })
	if i < 0 {
		return lanes.Lane{}, false
	}
	return all[i], true
}

// ledger is the lane whose own ledger this is.
func (b *laneBook) ledger(tid ledger.TID) (lanes.Lane, bool) {
	all := b.get()
	i := slices.IndexFunc(all, func(l lanes.Lane) bool { return l.Ledger == tid })
	if i < 0 {
		return lanes.Lane{}, false
	}
	return all[i], true
}

// refoldLanes computes the lanes anew from what the store holds, whenever a roster or a lane's ledger changed, and
// tells the mesh what it may do from now on.
func (n *Node) refoldLanes() {
	n.lanes.refolding.Lock()
	defer n.lanes.refolding.Unlock()
	own := n.roster.get()
	var all []lanes.Lane
	var peers lanes.Rosters
	var seen []ledger.TID
	for _, b := range own.Binds {
		if slices.Contains(seen, b.Fleet) {
			continue
		}
		seen = append(seen, b.Fleet)
		said, err := n.store.Records(ledger.LaneID(own.Fleet, b.Fleet))
		if err != nil {
			n.slog.Debug("read a lane", "fleet", b.Fleet.String(), "error", err)
		}
		peer := lanes.FoldVisible(b.Fleet, n.loose(b.Fleet))
		peers = append(peers, peer)
		all = append(all, lanes.FoldLane(own, peer, said))
	}
	n.lanes.mu.Lock()
	n.lanes.all, n.lanes.peers = all, peers
	n.lanes.mu.Unlock()
}

// loose is what is held of another developer's roster.
func (n *Node) loose(fleet ledger.TID) []*ledger.Record { return looseIn(n.store, fleet) }

func looseIn(store *disk.Store, fleet ledger.TID) (out []*ledger.Record) {
	for _, wire := range store.Scan(loosePrefixOf(fleet)) {
		if r, err := ledger.Parse(slices.Clone(wire)); err == nil {
			out = append(out, r)
		}
	}
	return out
}

// looseFleets are the other developers of whose rosters something is held, ascending.
func looseFleets(store *disk.Store) (out []ledger.TID) {
	for key := range store.Scan([]byte(loosePrefix)) {
		name, _, _ := strings.Cut(strings.TrimPrefix(string(key), loosePrefix), "/")
		var fleet ledger.TID
		if fleet.UnmarshalText([]byte(name)) == nil && !slices.Contains(out, fleet) {
			out = append(out, fleet)
		}
	}
	return out
}

// keepLoose adds to what is held of another developer's roster, durably. It reports whether something was new.
func (n *Node) keepLoose(fleet ledger.TID, records []*ledger.Record) (bool, error) {
	return keepLooseIn(n.store, fleet, records)
}

func keepLooseIn(store *disk.Store, fleet ledger.TID, records []*ledger.Record) (bool, error) {
	have, size := map[ledger.ID]bool{}, 0
	for _, r := range looseIn(store, fleet) {
		have[r.ID] = true
		size += len(r.Wire)
	}
	var batch disk.Batch
	for _, r := range lanes.VisibleKinds(records) {
		if r.Ledger != fleet || have[r.ID] {
			continue
		}
		have[r.ID] = true
		if size += len(r.Wire); len(have) > looseMax || size > looseBytesMax {
			return false, fmt.Errorf("roster %s: it shows more than %d records or %d bytes", fleet.Short(), looseMax, looseBytesMax)
		}
		batch.Put = append(batch.Put, disk.Pair{Key: append(loosePrefixOf(fleet), r.ID.String()...), Value: r.Wire})
	}
	if len(batch.Put) == 0 {
		return false, nil
	}
	_, err := store.Apply(batch)
	return err == nil, err
}

// laneName is what the other developer of a lane is called here: as they said when they paired last.
func laneName(own lanes.Roster, fleet ledger.TID) string {
	name := ""
	for _, b := range own.Binds {
		if b.Fleet == fleet && b.Name != "" {
			name = b.Name
		}
	}
	if name == "" {
		return fleet.Short()
	}
	return name
}
