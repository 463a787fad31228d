// Package lanes is who belongs together: the computers of one developer (a fleet), which of them has
// the main-computer role, and how another developer takes part.
//
// A roster is folded from the records of the fleet's own ledger. The fold is pure, total and
// order-free: it judges permission, so nothing is ever refused at the door for being unauthorised.
// Removal is strong: a valid revocation voids what the removed computer wrote beside it, and whatever
// hangs only on that.
package lanes

import (
	"bytes"
	"crypto/ed25519"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/ledger"
)

// Member is one computer of a fleet, present or removed.
type Member struct {
	Device  ledger.Device
	Name    string // what people call it; a short form of the key when none was given
	Revoked bool
	Cut     []ledger.Cut // how far its chains still count once removed
	AddedBy ledger.Device
}

// Claim is one live claim of the main-computer role.
type Claim struct {
	ID     ledger.ID
	Device ledger.Device
	Term   uint64
	At     uint64 // author's wall clock, Unix milliseconds
}

// Role is whether a fleet has a main computer.
type Role uint8

// The roles a fleet can be in (P2, P22). Only in RoleMain may anything be opened, finished or written
// to GitHub.
const (
	RoleNone      Role = iota // no computer has the switch on
	RoleMain                  // exactly one has
	RoleContested             // two or more claimed it without knowing of each other
)

// String is the word shown to people.
func (r Role) String() string {
	return [...]string{RoleNone: "none", RoleMain: "main", RoleContested: "contested"}[r]
}

// Roster is the state of one fleet.
type Roster struct {
	Fleet   ledger.TID
	Founder ledger.Device
	// Recovery is the key whose removals beat all others; zero in a fleet without one.
	Recovery ledger.Device
	Members  []Member                             // ascending by device, removed ones included
	Live     []Claim                              // ascending by device, then id
	Heads    []ledger.ID                          // what nothing that counts follows yet, the shown and the latest first
	Lam      uint64                               // highest logical time seen
	emails   map[ledger.TID]*ledger.Record        // the last address of each fleet
	Binds    []Bind                               // other developers' fleets that a person here paired with, in order of their records
	knows    map[ledger.ID]map[ledger.Device]bool // by head, where there are more than one record can name
	claims   map[ledger.ID]Claim
}

// Memory keeps, by record, whether an added computer's signature holds, which never changes: whoever folds a roster
// again and again has each checked once. The zero value is empty.
type Memory struct{ sound map[ledger.ID]bool }

// accepted reports whether the computer that an add names agreed to it.
func (m *Memory) accepted(r *ledger.Record, c *ledger.Add) bool {
	ok, known := m.sound[r.ID]
	if !known {
		if m.sound == nil {
			m.sound = map[ledger.ID]bool{}
		}
		ok = ed25519.Verify(c.Device[:], ledger.JoinStatement(r.Ledger, c.Invite, r.Device), c.Accept[:])
		m.sound[r.ID] = ok
	}
	return ok
}

// Fold computes a fleet's roster from the records of its ledger.
func Fold(fleet ledger.TID, records []*ledger.Record) Roster {
	return new(Memory).Fold(fleet, records)
}

// Fold is [Fold] with what is remembered.
func (m *Memory) Fold(fleet ledger.TID, records []*ledger.Record) Roster {
	followed, _ := ledger.Follow(records)
	f := newFolding(m, fleet, followed)
	f.settle()
	return f.roster()
}

// folding is the work in progress of one fold.
type folding struct {
	memory   *Memory
	fleet    ledger.TID
	recovery ledger.Device
	records  []*ledger.Record // complete ones, parents before children
	before   map[ledger.ID]map[ledger.ID]bool
	void     map[ledger.ID]bool
	valid    map[ledger.ID]bool

	shown   map[ledger.ID]bool      // not nil: parents that are not in it are passed over
	chained map[ledger.ID]ledger.ID // with shown: the record before in the same chain
}

func newFolding(m *Memory, fleet ledger.TID, followed []*ledger.Record) *folding {
	f := &folding{memory: m, fleet: fleet, recovery: recoveryOf(followed), before: map[ledger.ID]map[ledger.ID]bool{}}
	f.placeAll(slices.Clone(followed))
	return f
}

// settle judges every record, and repeats strong removal until nothing changes.
func (f *folding) settle() {
	f.judge()
	for range len(f.records) + 1 {
		if !f.voidBesideRevocations() {
			break
		}
	}
}

// placeAll places what can be placed of rest, which it uses up.
func (f *folding) placeAll(rest []*ledger.Record) {
	slices.SortFunc(rest, func(a, b *ledger.Record) int { return bytes.Compare(a.ID[:], b.ID[:]) })
	for placed := true; placed; {
		placed = false
		rest = slices.DeleteFunc(rest, func(r *ledger.Record) bool {
			ok := f.place(r)
			placed = placed || ok
			return ok
		})
	}
}

func (f *folding) parents(r *ledger.Record) []ledger.ID {
	parents := slices.Clone(r.Deps)
	if f.shown == nil {
		if r.Seq > 0 {
			parents = append(parents, r.Prev)
		}
		return parents
	}
	parents = slices.DeleteFunc(parents, func(id ledger.ID) bool { return !f.shown[id] })
	if before, ok := f.chained[r.ID]; ok {
		parents = append(parents, before)
	}
	return parents
}

// place adds a record whose parents are all here, with the set of its ancestors.
func (f *folding) place(r *ledger.Record) bool {
	ancestors := map[ledger.ID]bool{}
	for _, p := range f.parents(r) {
		of, ok := f.before[p]
		if !ok {
			return false
		}
		ancestors[p] = true
		for id := range of {
			ancestors[id] = true
		}
	}
	f.before[r.ID] = ancestors
	f.records = append(f.records, r)
	return true
}

// judge decides which records are permitted: their author was a member, by what the author knew.
func (f *folding) judge() {
	f.valid = map[ledger.ID]bool{}
	for _, r := range f.records {
		if !f.void[r.ID] && f.permitted(r) {
			f.valid[r.ID] = true
		}
	}
}

func (f *folding) permitted(r *ledger.Record) bool {
	if _, ok := r.Content.(*ledger.Genesis); ok {
		return r.Ledger == f.fleet
	}
	if r.Device == f.recovery {
		return f.recovers(r)
	}
	member := false
	for _, a := range f.records {
		if !f.before[r.ID][a.ID] || !f.valid[a.ID] {
			continue
		}
		switch c := a.Content.(type) {
		case *ledger.Genesis:
			member = member || a.Device == r.Device
		case *ledger.Add:
			member = member || c.Device == r.Device
		case *ledger.Revoke:
			if c.Device == r.Device {
				return false
			}
		}
	}
	return member && f.sound(r)
}

// sound checks what a record says against its author and the fleet.
func (f *folding) sound(r *ledger.Record) bool {
	switch c := r.Content.(type) {
	case *ledger.Add:
		return c.Device != f.recovery && r.Ledger == f.fleet && f.memory.accepted(r, c)
	case *ledger.MainRelease:
		for _, claim := range f.records {
			if claim.ID == r.Re[0] {
				return claim.Kind == ledger.KindMainClaim && claim.Device == r.Device
			}
		}
		return false
	}
	return true
}

// voidBesideRevocations applies strong removal once and reports whether it changed anything: what a
// removed computer wrote that the removal did not know of is void, except its own removals of others; those
// are void too where the recovery key removes it.
func (f *folding) voidBesideRevocations() bool {
	void := map[ledger.ID]bool{}
	for _, v := range f.records {
		revoke, ok := v.Content.(*ledger.Revoke)
		if !ok || !f.valid[v.ID] || revoke.Device == f.recovery {
			continue
		}
		for _, r := range f.records {
			mutual := r.Kind == ledger.KindRevoke && !f.before[r.ID][v.ID] && v.Device != f.recovery
			if r.Device == revoke.Device && !f.before[v.ID][r.ID] && !mutual {
				void[r.ID] = true
			}
		}
	}
	same := len(void) == len(f.void)
	for id := range void {
		same = same && f.void[id]
	}
	if same {
		return false
	}
	f.void = void
	f.judge()
	return true
}

func (f *folding) roster() Roster {
	out := Roster{Fleet: f.fleet, Recovery: f.recovery, claims: map[ledger.ID]Claim{}, emails: map[ledger.TID]*ledger.Record{}}
	names := map[ledger.Device]*ledger.Record{}
	gone := map[ledger.ID]bool{}
	for _, r := range f.records {
		out.Lam = max(out.Lam, r.Lam)
		if !f.valid[r.ID] {
			continue
		}
		switch c := r.Content.(type) {
		case *ledger.Genesis:
			out.Founder = r.Device
			out.admit(r.Device, r.Device)
		case *ledger.Add:
			out.admit(c.Device, r.Device)
		case *ledger.Name:
			if later(names[c.Device], r) {
				names[c.Device] = r
			}
		case *ledger.Address:
			if later(out.emails[c.Fleet], r) {
				out.emails[c.Fleet] = r
			}
		case *ledger.MainClaim:
			out.claims[r.ID] = Claim{ID: r.ID, Device: r.Device, Term: c.Term, At: r.At}
			for _, id := range c.Over {
				gone[id] = true
			}
		case *ledger.MainRelease:
			gone[r.Re[0]] = true
		case *ledger.LaneBind:
			out.Binds = append(out.Binds, Bind{c.Fleet, c.Invite, r.Device, c.Accept, c.Name})
		}
	}
	f.revoke(&out)
	for i := range out.Members {
		m := &out.Members[i]
		m.Name = m.Device.Short()
		if n := names[m.Device]; n != nil {
			m.Name = n.Content.(*ledger.Name).Name
		}
	}
	out.Heads = f.frontier()
	for _, r := range f.records {
		if c, ok := out.claims[r.ID]; ok && !gone[r.ID] && out.Member(c.Device) {
			out.Live = append(out.Live, c)
		}
	}
	f.note(&out)
	slices.SortFunc(out.Live, func(a, b Claim) int {
		if c := bytes.Compare(a.Device[:], b.Device[:]); c != 0 {
			return c
		}
		return bytes.Compare(a.ID[:], b.ID[:])
	})
	return out
}

// later reports whether r stands after old, which may be absent.
func later(old, r *ledger.Record) bool {
	return old == nil || old.Lam < r.Lam || old.Lam == r.Lam && old.ID.Less(r.ID)
}

func (f *folding) revoke(out *Roster) {
	for _, r := range f.records {
		c, ok := r.Content.(*ledger.Revoke)
		if !ok || !f.valid[r.ID] {
			continue
		}
		if i, found := out.find(c.Device); found {
			out.Members[i].Revoked = true
			out.Members[i].Cut = append(out.Members[i].Cut, c.Cut...)
		}
	}
}

func (r *Roster) find(d ledger.Device) (int, bool) {
	return slices.BinarySearchFunc(r.Members, d, func(m Member, d ledger.Device) int {
		return bytes.Compare(m.Device[:], d[:])
	})
}

func (r *Roster) admit(d, by ledger.Device) {
	if i, found := r.find(d); !found {
		r.Members = slices.Insert(r.Members, i, Member{Device: d, AddedBy: by})
	}
}

// Member reports whether a computer belongs to the fleet now.
func (r Roster) Member(d ledger.Device) bool {
	i, found := r.find(d)
	return found && !r.Members[i].Revoked
}

// Ever reports whether a computer belongs or belonged to the fleet.
func (r Roster) Ever(d ledger.Device) bool {
	_, found := r.find(d)
	return found
}

// Devices lists the computers that belong to the fleet now, ascending.
func (r Roster) Devices() []ledger.Device {
	var out []ledger.Device
	for _, m := range r.Members {
		if !m.Revoked {
			out = append(out, m.Device)
		}
	}
	return out
}

// Name is what people call a computer.
func (r Roster) Name(d ledger.Device) string {
	if i, found := r.find(d); found {
		return r.Members[i].Name
	}
	return d.Short()
}

// Email is the address by which policies call a developer, lower case: this fleet's own, or another's that it has a
// lane with. It is "" until a person here confirmed one.
func (r Roster) Email(fleet ledger.TID) string {
	if rec := r.emails[fleet]; rec != nil {
		return strings.ToLower(rec.Content.(*ledger.Address).Email)
	}
	return ""
}

// Main says whether the fleet has a main computer, and with which claim.
func (r Roster) Main() (Role, Claim) {
	switch len(r.Live) {
	case 0:
		return RoleNone, Claim{}
	case 1:
		return RoleMain, r.Live[0]
	}
	return RoleContested, Claim{}
}

// Term is the term of a claim, live or superseded, that a computer validly made. Spine records made
// without one count for nothing.
func (r Roster) Term(claim ledger.ID, by ledger.Device) (uint64, bool) {
	c, ok := r.claims[claim]
	return c.Term, ok && c.Device == by
}

// Claiming is the claim that takes the role over every claim known here.
func (r Roster) Claiming() *ledger.MainClaim {
	next := &ledger.MainClaim{Term: 1}
	for _, c := range r.claims {
		next.Term = max(next.Term, c.Term+1)
	}
	for _, c := range r.Live {
		next.Over = append(next.Over, c.ID)
	}
	slices.SortFunc(next.Over, func(a, b ledger.ID) int { return bytes.Compare(a[:], b[:]) })
	return next
}

// Counts reports whether a conversation record is within what a removed computer may still say:
// chains in a ledger that the removal names end where it cut them (case 51).
func (r Roster) Counts(rec *ledger.Record) bool {
	i, found := r.find(rec.Device)
	if !found || !r.Members[i].Revoked {
		return true
	}
	named := false
	for _, c := range r.Members[i].Cut {
		if !bytes.Equal(c.Ledger[:], rec.Ledger[:16]) {
			continue
		}
		named = true
		if c.Inc == rec.Inc {
			return rec.Seq < c.Next
		}
	}
	return !named
}

// Rosters are the fleets that a thread involves.
type Rosters []Roster

// Of is the fleet that a computer belongs or belonged to.
func (rs Rosters) Of(d ledger.Device) (Roster, bool) {
	for _, r := range rs {
		if r.Ever(d) {
			return r, true
		}
	}
	return Roster{}, false
}
