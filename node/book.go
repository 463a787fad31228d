package node

import (
	"context"
	"encoding/json"
	"fmt"
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
// the fleet. An unknown author's conversation records are set aside and the roster is asked for: gossip may be
// faster than it.
func (b book) Receive(_ context.Context, from ledger.Device, f ledger.Family, records []*ledger.Record) error {
	roster := b.n.roster.get()
	kept := make([]*ledger.Record, 0, len(records))
	var unknown []*ledger.Record
	for _, r := range records {
		switch {
		case f == ledger.Roster && r.Ledger == b.n.fleet || f == ledger.Conversation && roster.Ever(r.Device):
			kept = append(kept, r)
		case f == ledger.Conversation:
			unknown = append(unknown, r)
		}
	}
	if len(unknown) > 0 {
		refused := b.n.strangers.expire(b.n.wall()) + b.n.strangers.put(from, unknown, b.n.wall())
		b.n.mesh.Count(mesh.RefusedUnknown, refused)
		b.n.mesh.Ask(b.n.fleet)
	}
	return b.n.take(kept)
}

// take stores records whose authors are known. Once the roster has grown, it takes what waited for that, too.
func (n *Node) take(kept []*ledger.Record) error {
	for len(kept) > 0 {
		outcomes, err := n.store.Apply(disk.Batch{Records: kept})
		if err != nil {
			return fmt.Errorf("receive %d records: %w", len(kept), err)
		}
		grown := false
		for i, r := range kept {
			switch outcomes[i] {
			case disk.Stored, disk.Forked:
				grown = grown || r.Ledger == n.fleet
				n.heard.add(r.Ledger)
			case disk.Waiting:
				n.mesh.Ask(r.Ledger)
			case disk.Forgotten:
				n.mesh.Count(mesh.RefusedForgotten, 1)
			case disk.Known:
			}
		}
		kept = nil
		if grown {
			n.refoldRoster()
			kept = n.strangers.known(n.roster.get().Ever)
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
	return out
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
	for _, d := range n.roster.get().Devices() {
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
