package node

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sort"

	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/ledger/disk"
	"github.com/parley-mesh/parley/mesh"
)

// rosterView is a roster that no later fold changes.
type rosterView = lanes.Roster

func (m *members) set(r lanes.Roster) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.roster = r
}

func (m *members) get() lanes.Roster {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.roster
}

// book is what the mesh sees of the node's ledgers. Its methods run on the mesh's goroutines.
type book struct{ n *Node }

var _ mesh.Book = book{}

// Receive stores what a peer brought. The signatures have been verified. Roster records are stored
// whoever wrote them, since the fold judges them; anything else is stored if its author is or was one of
// the fleet. An unknown author's records are left out: the roster that names the author comes first in
// every catch-up, and with it the records are asked for again.
func (b book) Receive(_ context.Context, _ ledger.Device, f ledger.Family, records []*ledger.Record) error {
	known := b.n.rosters()
	kept := make([]*ledger.Record, 0, len(records))
	loose := map[ledger.TID][]*ledger.Record{}
	for _, r := range records {
		_, heardOf := known.Of(r.Device)
		switch {
		case f == ledger.Roster && r.Ledger == b.n.fleet, f == ledger.Conversation && heardOf:
			kept = append(kept, r)
		case f == ledger.Lane && heardOf:
			if _, ok := b.n.lanes.ledger(r.Ledger); ok {
				kept = append(kept, r)
			}
		case f == ledger.Roster:
			loose[r.Ledger] = append(loose[r.Ledger], r)
		}
	}
	if err := b.n.keep(kept); err != nil {
		return err
	}
	for _, p := range b.n.lanes.get() { // after the own roster, which says whose are kept
		if some := loose[p.Peer]; len(some) > 0 {
			if err := b.n.receiveLoose(p.Peer, some); err != nil {
				return err
			}
		}
	}
	return nil
}

// keep stores records, and lets the loop hear of them.
func (n *Node) keep(kept []*ledger.Record) error {
	if len(kept) == 0 {
		return nil
	}
	outcomes, err := n.store.Apply(disk.Batch{Records: kept})
	if err != nil {
		return fmt.Errorf("receive %d records: %w", len(kept), err)
	}
	for i, r := range kept {
		switch outcomes[i] {
		case disk.Stored, disk.Forked:
			if r.Ledger == n.fleet {
				n.refoldRoster()
				n.refoldLanes()
			} else if _, ok := n.lanes.ledger(r.Ledger); ok {
				n.refoldLanes()
			}
			n.heard.add(r.Ledger)
		case disk.Waiting:
			n.mesh.Ask(r.Ledger)
		case disk.Known:
		}
	}
	return nil
}

// refoldRoster lets the goroutine that stored a roster record judge the next ones by it.
func (n *Node) refoldRoster() {
	if records, err := n.store.Records(n.fleet); err == nil {
		n.roster.set(lanes.Fold(n.fleet, records))
	}
}

// Visible lists every ledger: a peer is a computer of the fleet, and those see all.
func (b book) Visible(ledger.Device) []ledger.Listing {
	entries, err := b.n.store.Ledgers()
	if err != nil {
		return nil
	}
	out := make([]ledger.Listing, 0, len(entries))
	for _, e := range entries {
		out = append(out, e.Listing)
	}
	for _, l := range b.n.lanes.get() {
		out = append(out, ledger.Listing{Ledger: l.Peer, Digest: lanes.SetDigest(b.n.loose(l.Peer))})
	}
	slices.SortFunc(out, func(a, b ledger.Listing) int { return slices.Compare(a.Ledger[:], b.Ledger[:]) })
	return out
}

// rosters are all fleets known here, this one first.
func (n *Node) rosters() lanes.Rosters {
	return append(lanes.Rosters{n.roster.get()}, n.lanes.rosters()...)
}

// Heads is how far a ledger is held here, from disk.
func (b book) Heads(tid ledger.TID) ([]ledger.Head, error) { return b.n.store.Heads(tid) }

// Contended lists the chains that fork.
func (b book) Contended(tid ledger.TID) ([]ledger.Chain, error) { return b.n.store.Contended(tid) }

// From is the next records of a chain.
func (b book) From(tid ledger.TID, c ledger.Chain, next uint64, max int) ([][]byte, error) {
	return b.n.store.From(tid, c, next, max)
}

// Family is the family of a ledger that is known here.
func (b book) Family(tid ledger.TID) (ledger.Family, bool) { return b.n.family(tid) }

func (n *Node) family(tid ledger.TID) (ledger.Family, bool) {
	if tid == n.fleet {
		return ledger.Roster, true
	}
	if _, ok := n.lanes.ledger(tid); ok {
		return ledger.Lane, true
	}
	if _, ok := n.lanes.of(tid); ok {
		return ledger.Roster, true
	}
	return n.store.Family(tid)
}

// addressPrefix is where the last known addresses of peers are kept.
const addressPrefix = "addr/"

// rememberPeer keeps the addresses under which a computer was last reached.
func (n *Node) rememberPeer(d ledger.Device, addrs []string) {
	if len(addrs) == 0 {
		return
	}
	value, err := json.Marshal(addrs)
	if err != nil {
		return
	}
	if have, err := n.store.Get([]byte(addressPrefix + d.String())); err == nil && string(have) == string(value) {
		return
	}
	if _, err := n.store.Apply(disk.Batch{Put: []disk.Pair{{Key: []byte(addressPrefix + d.String()), Value: value}}}); err != nil {
		n.slog.Debug("remember addresses", "device", d.String(), "error", err)
	}
}

// peers is every other computer of the fleet with its last known addresses.
func (n *Node) peers() []mesh.Peer {
	var out []mesh.Peer
	devices := n.roster.get().Devices()
	for _, g := range n.lanes.grants() {
		devices = append(devices, g.Computers()...)
	}
	for _, d := range devices {
		if d == n.id.Device() {
			continue
		}
		p := mesh.Peer{Device: d}
		if value, err := n.store.Get([]byte(addressPrefix + d.String())); err == nil && value != nil {
			if json.Unmarshal(value, &p.Addrs) != nil {
				p.Addrs = nil
			}
		}
		out = append(out, p)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Device.Less(out[j].Device) })
	return out
}
