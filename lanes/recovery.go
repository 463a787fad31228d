package lanes

import (
	"bytes"
	"slices"

	"github.com/parley-mesh/parley/ledger"
)

// recoveryOf is the key whose removals beat all others. One that the fleet's id does not commit to is no
// such key: whoever stole the founder's computer could have written another genesis.
func recoveryOf(records []*ledger.Record) ledger.Device {
	for _, r := range records {
		if g, ok := r.Content.(*ledger.Genesis); ok && g.Recovery != (ledger.Device{}) && g.Nonce == ledger.RecoveryNonce(g.Recovery) {
			return g.Recovery
		}
	}
	return ledger.Device{}
}

// recovers reports whether the recovery key may say a record: it admits, removes and names computers, and
// nothing else. Nobody can remove it.
func (f *folding) recovers(r *ledger.Record) bool {
	switch r.Content.(type) {
	case *ledger.Add, *ledger.Revoke, *ledger.Name:
	default:
		return false
	}
	return f.sound(r) && slices.ContainsFunc(f.records, func(a *ledger.Record) bool {
		return a.Kind == ledger.KindGenesis && f.before[r.ID][a.ID]
	})
}

// RecoveryDeps is what a removal of some computers by the recovery key is to build on: all that is known, but
// for their removals of others and whatever followed those. Those are then beside the removal, and void.
func RecoveryDeps(fleet ledger.TID, records []*ledger.Record, removed []ledger.Device) []ledger.ID {
	followed, _ := ledger.Follow(records)
	f := newFolding(new(Memory), fleet, followed)
	hostile := map[ledger.ID]bool{}
	for _, r := range f.records { // parents first
		c, ok := r.Content.(*ledger.Revoke)
		hostile[r.ID] = ok && slices.Contains(removed, r.Device) && !slices.Contains(removed, c.Device)
		for id := range f.before[r.ID] {
			hostile[r.ID] = hostile[r.ID] || hostile[id]
		}
	}
	f.records = slices.DeleteFunc(f.records, func(r *ledger.Record) bool { return hostile[r.ID] })
	return f.frontier()
}

// Deps is what the next record of a computer names: the heads, or as many as one record can name. Those come
// first that know of the author: a member that writes many heads beside each other keeps nobody from
// writing.
func (r Roster) Deps(by ledger.Device) []ledger.ID {
	out := slices.Clone(r.Heads)
	slices.SortStableFunc(out, func(a, b ledger.ID) int {
		switch {
		case r.knows[a][by] == r.knows[b][by]:
			return 0
		case r.knows[a][by]:
			return -1
		}
		return 1
	})
	return out[:min(len(out), ledger.DepsMax)]
}

// note remembers whom each head knows of, once there are too many to name all.
func (f *folding) note(out *Roster) {
	if len(out.Heads) <= ledger.DepsMax {
		return
	}
	out.knows = map[ledger.ID]map[ledger.Device]bool{}
	for _, head := range out.Heads {
		out.knows[head] = map[ledger.Device]bool{}
		for _, r := range f.records {
			if !f.before[head][r.ID] && head != r.ID || !f.valid[r.ID] {
				continue
			}
			switch c := r.Content.(type) {
			case *ledger.Add:
				out.knows[head][c.Device] = true
			case *ledger.Genesis:
				out.knows[head][r.Device] = true
			}
		}
	}
}

// AddedBy lists the computers that one let in and that belong to the fleet still, ascending: whoever stole
// it may have let in others before it was removed.
func (r Roster) AddedBy(d ledger.Device) []ledger.Device {
	var out []ledger.Device
	for _, m := range r.Members {
		if m.AddedBy == d && !m.Revoked && m.Device != d {
			out = append(out, m.Device)
		}
	}
	return out
}

// Named lists the computers that people call by a name, or whose key begins with it (eight digits or more),
// ascending; removed ones too.
func (r Roster) Named(name string) []Member {
	var out []Member
	for _, m := range r.Members {
		if m.Name == name || len(name) >= 8 && bytes.HasPrefix([]byte(m.Device.String()), []byte(name)) {
			out = append(out, m)
		}
	}
	return out
}
