package node

import (
	"context"
	"encoding/json"
	"errors"
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
// the fleet or of another developer's. An unknown author's conversation records are set aside and the roster is
// asked for: gossip may be faster than it.
func (b book) Receive(_ context.Context, from ledger.Device, f ledger.Family, records []*ledger.Record) error {
	known := b.n.rosters()
	kept := make([]*ledger.Record, 0, len(records))
	var unknown []*ledger.Record
	loose := map[ledger.TID][]*ledger.Record{}
	for _, r := range records {
		_, heardOf := known.Of(r.Device)
		switch {
		case f == ledger.Roster && r.Ledger == b.n.fleet, f == ledger.Conversation && heardOf, f == ledger.Work && heardOf:
			kept = append(kept, r)
		case f == ledger.Work: // catch-up brings it again once the roster is here
			b.n.mesh.Ask(func() bool { return b.n.lacks(r) })
		case f == ledger.Lane && heardOf:
			if _, ok := b.n.lanes.ledger(r.Ledger); ok {
				kept = append(kept, r)
			}
		case f == ledger.Roster:
			loose[r.Ledger] = append(loose[r.Ledger], r)
		case f == ledger.Conversation:
			unknown = append(unknown, r)
		}
	}
	err := b.n.keep(kept)
	b.n.setAside(from, unknown)
	for _, p := range b.n.lanes.get() { // after the own roster, which says whose are kept
		if some := loose[p.Peer]; len(some) > 0 {
			err = errors.Join(err, b.n.receiveLoose(p.Peer, some))
		}
	}
	return err
}

// setAside lets records wait for a roster that names their authors.
func (n *Node) setAside(from ledger.Device, unknown []*ledger.Record) {
	if len(unknown) == 0 {
		return
	}
	n.mesh.Count(mesh.RefusedUnknown, n.strangers.expire(n.wall())+n.strangers.put(from, unknown, n.wall()))
	n.mesh.Ask(func() bool {
		return slices.ContainsFunc(unknown, func(r *ledger.Record) bool { return !n.heardOf(r.Device) })
	})
}

// lacks reports whether a record is not stored.
func (n *Node) lacks(r *ledger.Record) bool {
	held, err := n.store.Record(r.ID)
	return err == nil && held == nil
}

// heardOf reports whether a computer is or was of a fleet that is known here.
func (n *Node) heardOf(d ledger.Device) bool {
	_, ok := n.rosters().Of(d)
	return ok
}

// keep stores records whose authors are known, and lets the loop hear of them. Once a roster has grown, it keeps
// what waited for that, too.
func (n *Node) keep(records []*ledger.Record) error {
	var kept, work []*ledger.Record
	for _, r := range records {
		if n.isWork(r) {
			work = append(work, r)
		} else {
			kept = append(kept, r)
		}
	}
	err := n.keepWork(work)
	for len(kept) > 0 {
		outcomes, bad := n.store.Apply(disk.Batch{Records: kept})
		if bad != nil {
			return errors.Join(err, fmt.Errorf("receive %d records: %w", len(kept), bad))
		}
		grown, lane, news := false, false, make([]ledger.TID, 0, len(kept))
		for i, r := range kept {
			switch outcomes[i] {
			case disk.Stored, disk.Forked:
				_, ofLane := n.lanes.ledger(r.Ledger)
				grown, lane = grown || r.Ledger == n.fleet, lane || ofLane
				news = append(news, r.Ledger)
			case disk.Waiting:
				n.mesh.Ask(func() bool { return n.lacks(r) })
			case disk.Forgotten:
				n.mesh.Count(mesh.RefusedForgotten, 1)
			case disk.Known:
			}
		}
		if grown {
			n.refoldRoster()
		}
		if grown || lane {
			n.refoldLanes()
		}
		for _, tid := range news {
			n.heard.add(tid)
		}
		kept = nil
		if grown {
			kept = n.strangers.known(n.heardOf)
		}
	}
	return err
}

// refoldRoster lets the goroutine that stored a roster record judge the next ones by it.
func (n *Node) refoldRoster() {
	if records, err := n.store.Records(n.fleet); err == nil {
		n.roster.set(lanes.Fold(n.fleet, records))
	}
}

// Visible lists every ledger: a peer is a computer of the fleet, and those see all. Live work whose week is over is
// on its way out, and no more compared.
func (b book) Visible(ledger.Device) []ledger.Listing {
	entries, err := b.n.store.Ledgers()
	if err != nil {
		return nil
	}
	out := make([]ledger.Listing, 0, len(entries))
	for _, e := range entries {
		if e.Family != ledger.Work || b.n.seenWork(e.Listing.Ledger) {
			out = append(out, e.Listing)
		}
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
