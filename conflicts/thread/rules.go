package thread

import (
	"slices"

	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
)

// spineRule says why a spine record may not follow the present spine, or "" if it may. It looks at the
// spine alone: leaves never move it.
func (s *State) spineRule(r *ledger.Record) string {
	switch c := r.Content.(type) {
	case *ledger.Open:
		return "a thread has one open"
	case *ledger.Interim:
		if s.Phase == Opened || s.Phase == Interim && c.Why == ledger.InterimDecided && !s.Decided {
			return s.pickRule(c)
		}
		return "the interim is settled already"
	case *ledger.Reassign:
		return s.reassignRule(c)
	case *ledger.Final:
		if s.Phase != Opened && s.Phase != Interim {
			return "the final is named already"
		}
		if len(c.Files) != len(s.Open.Files) {
			return "the final does not name every file of the open"
		}
	case *ledger.Closed:
		if s.Phase == Closed {
			return "the thread is closed already"
		}
	default:
		return "this kind is not the main computer's"
	}
	return ""
}

func (s *State) pickRule(c *ledger.Interim) string {
	for _, i := range c.Pick {
		if i >= uint64(len(s.Open.Files)) {
			return "the interim picks a file that the open does not name"
		}
	}
	return ""
}

func (s *State) reassignRule(c *ledger.Reassign) string {
	raises := c.Why == ledger.ReassignPerson || c.Why == ledger.ReassignRefill
	want := s.Round
	if raises {
		want++
	}
	switch {
	case s.Phase != Opened && s.Phase != Interim:
		return "the final is named already"
	case c.To >= uint64(len(s.Open.Parties)):
		return "the new responsible side is no party"
	case s.Reassigns >= reassignsMax:
		return "the final changed hands too often"
	case c.Round != want:
		return "the round does not follow"
	case c.Why == ledger.ReassignRefill && int(c.To) != s.Responsible:
		return "a refill keeps the responsible side"
	}
	return ""
}

// leafRule says why a leaf counts for nothing, or "" if it counts. s has its whole spine.
func (s *State) leafRule(r *ledger.Record, rosters lanes.Rosters) string {
	party, ok := s.Party(r.Device, rosters)
	switch {
	case r.Open != s.Root.ID:
		return "it answers another open"
	case !ok:
		return "its author is no party"
	}
	switch c := r.Content.(type) {
	case *ledger.Ack:
		if len(c.Classes) != len(s.Open.Files) {
			return "it does not speak about every file of the open"
		}
		if r.Re[0] != s.Root.ID {
			return "an ack answers the open"
		}
	case *ledger.Object:
		if !slices.Contains(s.Spine, r.Re[0]) {
			return "it answers no record of the spine"
		}
		for _, f := range c.Files {
			if f.File >= uint64(len(s.Open.Files)) {
				return "it names a file that the open does not"
			}
		}
		if c.Why == ledger.ObjectGaveUp && party != s.Responsible {
			return "only the responsible side can give the final up"
		}
	case *ledger.FinalReady:
		if party != s.Responsible || r.Re[0] != s.Assign {
			return "its author is not the responsible side now"
		}
		if len(c.Files) != len(s.Open.Files) {
			return "it does not name every file of the open"
		}
	case *ledger.Adopted:
		if s.Final == nil || r.Re[0] != s.Final.ID {
			return "it confirms another final"
		}
		if len(c.Results) != len(s.Open.Files) {
			return "it does not speak about every file of the open"
		}
	}
	return ""
}
