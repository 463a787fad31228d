package lanes

import (
	"slices"

	"github.com/parley-mesh/parley/ledger"
)

// Grant is the leave to send something to one other developer's computers (rule L1). Only [Lane.Grant] makes
// one that grants anything; the zero value grants nothing. Whatever dials, accepts, asks or sends takes one.
type Grant struct {
	given    bool
	own      ledger.TID
	peer     ledger.TID
	mutual   bool
	repos    []uint64    // that both ends listed, ascending
	live     [2]LiveWork // what this end shares of its live work, and the other one
	rosters  Rosters
	computer []ledger.Device
}

// LiveWork is what one end of a lane shares of its live work (D-26).
type LiveWork struct {
	Repositories []uint64        // of both ends, ascending
	On           ledger.ID       // the statement that says so: what is written for it, and nothing older, crosses
	Names        ledger.NamesKey // by which names in it are hidden; zero: they are shown
}

// Has reports whether live work in a repository is shared.
func (s LiveWork) Has(repository uint64) bool {
	_, has := slices.BinarySearch(s.Repositories, repository)
	return has
}

// Grant is the leave to send through the lane: a person paired the fleets and has it switched on at this end.
func (l Lane) Grant() (Grant, bool) {
	if !l.Bound || !l.Ours.On {
		return Grant{}, false
	}
	g := Grant{given: true, own: l.Own, peer: l.Peer, rosters: Rosters{l.own, l.peer}, computer: l.peer.Devices()}
	if g.mutual = l.Theirs.On; g.mutual {
		for _, id := range l.Ours.Repositories {
			if _, both := slices.BinarySearch(l.Theirs.Repositories, id); both {
				g.repos = append(g.repos, id)
			}
		}
		for i, end := range []Switch{l.Ours, l.Theirs} {
			g.live[i] = end.work(true)
			g.live[i].Repositories = slices.DeleteFunc(slices.Clone(end.Live), func(id uint64) bool { return !g.Covers(id) })
		}
	}
	return g, true
}

// Given reports whether this grants anything at all.
func (g Grant) Given() bool { return g.given }

// Peer is the other developer's fleet.
func (g Grant) Peer() ledger.TID { return g.peer }

// Own is this developer's fleet.
func (g Grant) Own() ledger.TID { return g.own }

// Ledger is the lane's own ledger.
func (g Grant) Ledger() ledger.TID { return ledger.LaneID(g.own, g.peer) }

// To reports whether a computer is one that the grant is about: a present one of the other fleet.
func (g Grant) To(d ledger.Device) bool { return g.given && slices.Contains(g.computer, d) }

// Computers lists the other fleet's present computers, ascending.
func (g Grant) Computers() []ledger.Device { return slices.Clone(g.computer) }

// Mutual reports whether the lane is on at both ends. Until it is, only the lane's own ledger and the visible
// roster may be sent.
func (g Grant) Mutual() bool { return g.given && g.mutual }

// Covers reports whether conversations about a repository may cross: the lane is on at both ends for it.
func (g Grant) Covers(repository uint64) bool {
	_, found := slices.BinarySearch(g.repos, repository)
	return g.Mutual() && found
}

// CarriesWork reports whether the lane carries what a computer wrote of its live work in a repository under a
// statement of its end: the lane is on at both ends for the repository, and the statement is the one in force (D-26).
func (g Grant) CarriesWork(d ledger.Device, on ledger.ID, repository uint64) bool {
	s := g.sharedBy(d)
	return g.Mutual() && s.On == on && s.Has(repository)
}

// CarriesAnyWork is [Grant.CarriesWork] for some repository.
func (g Grant) CarriesAnyWork(d ledger.Device) bool {
	return g.Mutual() && len(g.sharedBy(d).Repositories) > 0
}

// Shares reports whether the end that a computer is of shares live work in a repository.
func (g Grant) Shares(d ledger.Device, repository uint64) bool {
	return g.Mutual() && g.sharedBy(d).Has(repository)
}

// SharesWork reports whether live work in a repository that was written under a statement crosses.
func (g Grant) SharesWork(on ledger.ID, repository uint64) bool {
	return g.Mutual() && slices.ContainsFunc(g.live[:], func(s LiveWork) bool { return s.On == on && s.Has(repository) })
}

func (g Grant) sharedBy(d ledger.Device) LiveWork {
	fleet, known := g.rosters.Of(d)
	switch {
	case !known:
		return LiveWork{}
	case fleet.Fleet == g.own:
		return g.live[0]
	}
	return g.live[1]
}

// Carries reports whether the lane carries what a computer said: one that is or was of either fleet. What a third
// developer says in the same conversation stays with the lane that it came by.
func (g Grant) Carries(d ledger.Device) bool {
	_, known := g.rosters.Of(d)
	return g.given && known
}

// MaySee reports whether the other developer may see a conversation, given its records or only its opens: an
// open that counts, about a repository of the lane, names their fleet as a party or was made by it.
func (g Grant) MaySee(records []*ledger.Record) bool {
	return slices.ContainsFunc(records, func(r *ledger.Record) bool {
		open, is := r.Content.(*ledger.Open)
		if !is || !g.Covers(open.Repo) {
			return false
		}
		fleet, known := g.rosters.Of(r.Device)
		if _, claimed := fleet.Term(r.Claim, r.Device); !known || !claimed || fleet.Fleet != open.Fleet || !fleet.Counts(r) {
			return false
		}
		return open.Fleet == g.peer || slices.Contains(open.Parties, ledger.LaneParty(g.peer))
	})
}
