package lanes

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
	"slices"

	"github.com/parley-mesh/parley/ledger"
)

// Bind is a pairing with another developer's fleet, as a computer of this fleet wrote it down. It counts when a
// computer of that fleet has signed [ledger.LaneStatement] over the lane, the invitation and the author's key.
type Bind struct {
	Fleet  ledger.TID
	Invite ledger.Invite
	Device ledger.Device // the author
	Accept ledger.Signature
	Name   string // what the other developer is called here; "" when nothing was said
}

// Switch is what one end of a lane last said.
type Switch struct {
	On           bool
	Repositories []uint64        // GitHub's numeric ids, ascending; empty while off
	Live         []uint64        // those of them whose live work that end shares (D-26), ascending
	Said         ledger.ID       // the statement that says so; zero while off
	Names        ledger.NamesKey // by which the names in that live work are hidden; zero: they are shown
}

// Lane is the link between this developer's fleet and another one's, as folded from both rosters and the
// lane's own ledger. It has no memory beside those records.
type Lane struct {
	Own, Peer ledger.TID
	Ledger    ledger.TID // the lane's own
	Bound     bool       // persons paired the two fleets, and the other one's signature is there
	Ours      Switch
	Theirs    Switch
	Account   *Account // what the other developer publishes as, by their own answer; nil: not known
	Notes     []Noted  // notes of both ends, in order of their logical time

	own, peer  Roster
	last       ledger.ID        // of this end's records
	statements []*ledger.Record // ours: on and off, by logical time
	asked      [][16]byte       // our questions
	questions  [][16]byte       // theirs
	answers    []answer         // ours
}

// Noted is one note of a lane (P22).
type Noted struct {
	ledger.Note
	ID   ledger.ID
	Ours bool
	By   ledger.Device
	At   uint64 // author's wall clock, Unix milliseconds
}

// answer is one of our computers' answers to one of their questions.
type answer struct {
	by      ledger.Device
	account Account
}

// FoldLane computes the lane between two fleets. own is this fleet's whole roster, peer what the other shows of
// its own, and records those of the lane's ledger. The order of records is irrelevant.
func FoldLane(own, peer Roster, records []*ledger.Record) Lane {
	l := Lane{Own: own.Fleet, Peer: peer.Fleet, Ledger: ledger.LaneID(own.Fleet, peer.Fleet), own: own, peer: peer}
	l.Bound = own.boundTo(peer)
	followed, _ := ledger.Follow(records)
	slices.SortFunc(followed, byTime)
	var ours, theirs []*ledger.Record
	for _, r := range followed {
		switch {
		case r.Opaque && r.Kind != ledger.KindLaneOff || r.Ledger != l.Ledger:
		case own.Ever(r.Device):
			ours = append(ours, r)
		case peer.Ever(r.Device):
			theirs = append(theirs, r)
		}
	}
	if n := len(ours); n > 0 {
		l.last = ours[n-1].ID
	}
	l.Ours, l.statements = fold(own, ours)
	l.Theirs, _ = fold(peer, theirs)
	l.hearAccounts(ours, theirs)
	l.hearNotes(followed)
	return l
}

// byTime orders a ledger's records by logical time, then id.
func byTime(a, b *ledger.Record) int {
	return cmp.Or(cmp.Compare(a.Lam, b.Lam), bytes.Compare(a.ID[:], b.ID[:]))
}

func (r Roster) boundTo(peer Roster) bool {
	for _, b := range r.Binds {
		if b.Fleet != peer.Fleet {
			continue
		}
		said := ledger.LaneStatement(ledger.LaneID(r.Fleet, peer.Fleet), b.Invite, b.Device)
		for _, m := range peer.Members {
			if ed25519.Verify(m.Device[:], said, b.Accept[:]) {
				return true
			}
		}
	}
	return false
}

// fold is the switch of one end: on if an on knows every off that counts, and then the last such on. So an off
// that an on did not know of wins, whatever the clocks say.
func fold(end Roster, said []*ledger.Record) (out Switch, counted []*ledger.Record) {
	knows := map[ledger.ID]map[ledger.ID]bool{}
	last := map[ledger.Chain]ledger.ID{}
	var offs []ledger.ID
	for _, r := range said {
		on, isOn := r.Content.(*ledger.LaneOn)
		_, isOff := r.Content.(*ledger.LaneOff)
		if isOn && !end.within(r) || isOff && !end.Counts(r) || !isOn && !isOff {
			continue
		}
		known := map[ledger.ID]bool{}
		learn := func(id ledger.ID) {
			known[id] = true
			for k := range knows[id] {
				known[k] = true
			}
		}
		if before, ok := last[r.Chain()]; ok {
			learn(before)
		}
		if isOn {
			for _, id := range on.After {
				learn(id)
			}
		} else {
			offs = append(offs, r.ID)
		}
		last[r.Chain()], knows[r.ID] = r.ID, known
		counted = append(counted, r)
	}
	for _, r := range counted {
		on, isOn := r.Content.(*ledger.LaneOn)
		if isOn && !slices.ContainsFunc(offs, func(off ledger.ID) bool { return !knows[r.ID][off] }) {
			out = Switch{On: true, Repositories: on.Repos, Live: on.Live, Said: r.ID, Names: on.Names}
		}
	}
	return out, counted
}

// within reports whether what a computer said on a lane may open it: it is a member, or was one and its removal
// names the chain. An off needs less ([Roster.Counts]): closing is always the safe side.
func (r Roster) within(rec *ledger.Record) bool {
	if r.Member(rec.Device) {
		return true
	}
	i, found := r.find(rec.Device)
	return found && slices.ContainsFunc(r.Members[i].Cut, func(c ledger.Cut) bool {
		return bytes.Equal(c.Ledger[:], rec.Ledger[:16]) && c.Inc == rec.Inc && rec.Seq < c.Next
	})
}

// SwitchOn is the statement by which a person here switches the lane on for repositories. It knows every
// statement of this end that is known here. Live work goes on being shared in those of them where it was.
func (l Lane) SwitchOn(repositories []uint64) *ledger.LaneOn {
	return l.statement(repositories, l.Ours.Live, l.Ours.Names)
}

// ShareWork is the statement by which a person here shares live work in exactly these repositories of the lane, which
// is on (D-26); others of the list are left out. With a key the names in it are hidden.
func (l Lane) ShareWork(repositories []uint64, names ledger.NamesKey) *ledger.LaneOn {
	return l.statement(l.Ours.Repositories, repositories, names)
}

func (l Lane) statement(repositories, live []uint64, names ledger.NamesKey) *ledger.LaneOn {
	out := &ledger.LaneOn{Repos: distinct(repositories)}
	for _, id := range distinct(live) {
		if _, listed := slices.BinarySearch(out.Repos, id); listed {
			out.Live = append(out.Live, id)
		}
	}
	if len(out.Live) > 0 {
		out.Names = names
	}
	last := map[ledger.Chain]bool{}
	for _, r := range slices.Backward(l.statements) {
		if !last[r.Chain()] && len(out.After) < ledger.AnswersMax {
			last[r.Chain()] = true
			out.After = append(out.After, r.ID)
		}
	}
	slices.SortFunc(out.After, func(a, b ledger.ID) int { return bytes.Compare(a[:], b[:]) })
	return out
}

func distinct(ids []uint64) []uint64 {
	out := slices.Clone(ids)
	slices.Sort(out)
	return slices.Compact(out)
}

// After is what the logical time of a new record of this end follows: the last of its own. The other end's times
// are not followed, so that no word of theirs can use up what is left of it.
func (l Lane) After() []ledger.ID {
	if l.last == (ledger.ID{}) {
		return nil
	}
	return []ledger.ID{l.last}
}

func (l *Lane) hearNotes(followed []*ledger.Record) {
	for _, r := range followed {
		note, is := r.Content.(*ledger.Note)
		ours, theirs := l.own.Ever(r.Device) && l.own.Counts(r), l.peer.Ever(r.Device) && l.peer.Counts(r)
		if is && !r.Opaque && (ours || theirs) {
			l.Notes = append(l.Notes, Noted{Note: *note, ID: r.ID, Ours: ours, By: r.Device, At: r.At})
		}
	}
}

// Told reports whether this end has sent a note about a thread for a cause: it goes out once, whichever of the
// fleet's computers found the cause.
func (l Lane) Told(thread ledger.TID, cause uint64) bool {
	return slices.ContainsFunc(l.Notes, func(n Noted) bool { return n.Ours && n.Thread == thread && n.Cause == cause })
}

// OurWork is what this end shares of its live work, and TheirWork the other one: zero while that end is off.
func (l Lane) OurWork() LiveWork { return l.Ours.work(l.Bound) }

// TheirWork is what the other end shares of its live work.
func (l Lane) TheirWork() LiveWork { return l.Theirs.work(l.Bound) }

func (s Switch) work(bound bool) LiveWork {
	if !bound || !s.On {
		return LiveWork{}
	}
	return LiveWork{Repositories: s.Live, On: s.Said, Names: s.Names}
}
