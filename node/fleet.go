package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/ledger/disk"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/core"
	"github.com/parley-mesh/parley/node/internal/presence"
)

// cutsMax is how many chains a removal names: what fits into one record.
const cutsMax = 200

// memberNamed is the one computer that a person means.
func memberNamed(r lanes.Roster, name string) (lanes.Member, error) {
	found := r.Named(name)
	there := slices.DeleteFunc(slices.Clone(found), func(m lanes.Member) bool { return m.Revoked })
	switch {
	case len(there) == 1:
		return there[0], nil
	case len(there) > 1:
		return lanes.Member{}, fmt.Errorf("%q: %w: several are called so; give the first digits of its key", name, api.ErrNoComputer)
	case len(found) > 0:
		return lanes.Member{}, fmt.Errorf("%q: %w: it was removed before", name, api.ErrNoComputer)
	}
	return lanes.Member{}, fmt.Errorf("%q: %w", name, api.ErrNoComputer)
}

// cutOf is how far a computer's chains count from now on: as they are known here, in the threads named, or in
// every conversation. Where it said nothing yet it says nothing any more.
func cutOf(store *disk.Store, d ledger.Device, threads []ledger.TID) ([]ledger.Cut, error) {
	if threads == nil {
		entries, err := store.Ledgers()
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if e.Family == ledger.Conversation {
				threads = append(threads, e.Listing.Ledger)
			}
		}
	}
	var out, silent []ledger.Cut
	for _, tid := range threads {
		heads, err := store.Heads(tid)
		if err != nil {
			return nil, err
		}
		before := len(out)
		for _, h := range heads {
			if h.Device == d {
				out = append(out, ledger.Cut{Ledger: [16]byte(tid[:16]), Inc: h.Inc, Next: h.Next})
			}
		}
		if len(out) == before {
			silent = append(silent, ledger.Cut{Ledger: [16]byte(tid[:16])})
		}
	}
	out = append(out, silent...)
	return out[:min(len(out), cutsMax)], nil
}

// Revoke removes a computer from the fleet.
func (a actor) Revoke(ctx context.Context, name string, why api.RevokeWhy, p presence.Proof) (api.Outcome, error) {
	reason := uint64(slices.Index(api.RevokeWhys, why)) + 1
	if reason == 0 {
		return api.Outcome{}, fmt.Errorf("revoke %s: %w: %q is no reason", name, api.ErrUsage, why)
	}
	return a.n.change(ctx, func(n *Node) (api.Outcome, []core.Effect, error) {
		m, err := memberNamed(n.core.Roster(), name)
		if err != nil {
			return api.Outcome{}, nil, err
		}
		if err := n.persons.Check(api.RevokeAct(name, why), p); err != nil {
			return api.Outcome{}, nil, err
		}
		if m.Device == n.id.Device() {
			return api.Outcome{}, nil, api.WithHint(fmt.Errorf("%s is this computer: %w", name, api.ErrNotNow), "run the command on another computer of yours")
		}
		cut, err := cutOf(n.store, m.Device, append([]ledger.TID{}, n.open.all()...))
		if err != nil {
			return api.Outcome{}, nil, err
		}
		said := removedText(n.core.Roster(), m)
		effects, err := n.append(core.Append{Ledger: n.fleet, Content: &ledger.Revoke{Device: m.Device, Reason: reason, Cut: cut}, Deps: n.deps()})
		if err == nil && n.core.Roster().Member(m.Device) {
			err = errors.New("this computer may remove nobody: it was removed itself")
		}
		return api.Outcome{Text: said, Next: "parley status"}, effects, err
	})
}

// deps are the roster's heads, as many as one record names.
func (n *Node) deps() []ledger.ID { return n.core.Roster().Deps(n.id.Device()) }

// removedText says what the removal of a computer means, and whom it had let in.
func removedText(r lanes.Roster, m lanes.Member) string {
	text := m.Name + " is removed: it is cut off, and what it says from now on counts for nothing"
	if role, claim := r.Main(); role == lanes.RoleMain && claim.Device == m.Device {
		text += "; it was the main computer, so run parley main on on the one that shall be"
	}
	var names []string
	for _, d := range r.AddedBy(m.Device) {
		names = append(names, r.Name(d))
	}
	if len(names) > 0 {
		text += "; it had let in " + strings.Join(names, ", ") + ": remove what is not yours"
	}
	return text
}

// Rename gives a computer another name.
func (a actor) Rename(ctx context.Context, old, name string, p presence.Proof) (api.Outcome, error) {
	return a.n.change(ctx, func(n *Node) (api.Outcome, []core.Effect, error) {
		m, err := memberNamed(n.core.Roster(), old)
		if err != nil {
			return api.Outcome{}, nil, err
		}
		if err := n.persons.Check(api.RenameAct(old, name), p); err != nil {
			return api.Outcome{}, nil, err
		}
		if _, err := memberNamed(n.core.Roster(), name); err == nil {
			return api.Outcome{}, nil, fmt.Errorf("rename %s: %w: another computer is called %s", old, api.ErrUsage, name)
		}
		if len(name) == 0 || len(name) > 64 || strings.TrimSpace(name) != name {
			return api.Outcome{}, nil, fmt.Errorf("rename %s: %w: a name has 1 to 64 bytes, and no space around it", old, api.ErrUsage)
		}
		effects, err := n.append(core.Append{Ledger: n.fleet, Content: &ledger.Name{Device: m.Device, Name: name}, Deps: n.deps()})
		return api.Outcome{Text: old + " is now called " + name, Next: "parley status"}, effects, err
	})
}
