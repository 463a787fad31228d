package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Signature is an Ed25519 signature carried inside a body.
type Signature [64]byte

// Genesis founds a fleet (D-1). Its ledger id is derived from its author and nonce.
type Genesis struct {
	Recovery Device   `cbor:"1,keyasint,omitzero"` // public half of the recovery key
	Nonce    [16]byte `cbor:"2,keyasint"`
}

// Name says what people call a computer. Lanes do not see it.
type Name struct {
	Device Device `cbor:"1,keyasint"`
	Name   string `cbor:"2,keyasint"` // 1 to 64 bytes
}

// Add admits a computer, after a person's yes on both.
type Add struct {
	Device Device    `cbor:"1,keyasint"`
	Invite Invite    `cbor:"2,keyasint"`
	Accept Signature `cbor:"3,keyasint"` // the new computer's, over [JoinStatement]
}

// Revoke removes a computer. What it wrote beyond the cut counts for nothing.
type Revoke struct {
	Device Device `cbor:"1,keyasint"`
	Reason uint64 `cbor:"2,keyasint"` // 1 lost, 2 retired, 3 stolen
	Cut    []Cut  `cbor:"3,keyasint,omitempty"`
}

// Cut is how far one chain of a revoked computer still counts.
type Cut struct {
	_      struct{} `cbor:",toarray"`
	Ledger [16]byte // first half of the ledger id
	Inc    Incarnation
	Next   uint64
}

// Rekey replaces a computer's key by another.
type Rekey struct {
	Old    Device    `cbor:"1,keyasint"`
	New    Device    `cbor:"2,keyasint"`
	Accept Signature `cbor:"3,keyasint"` // the new key's, over [RekeyStatement]
}

// MainClaim takes the main-computer role (P2). It is made by a person at that computer.
type MainClaim struct {
	Term uint64 `cbor:"1,keyasint"`           // 1 + the highest term known
	Over []ID   `cbor:"2,keyasint,omitempty"` // claims that it supersedes, ascending
}

// MainRelease gives the role up; the header answers the claim.
type MainRelease struct{}

// LaneBind names another developer's fleet that a person paired with. The lane stays off.
type LaneBind struct {
	Fleet  TID       `cbor:"1,keyasint"`
	Invite Invite    `cbor:"2,keyasint"`
	Accept Signature `cbor:"3,keyasint"`            // a computer's of the other fleet, over [LaneStatement]
	Name   string    `cbor:"16,keyasint,omitempty"` // what the other developer is called here, at most 64 bytes
}

// Address says which address a developer has as user:<email> in policies: this fleet's own, or that of one it has a
// lane with, as a person here confirmed it. The last one about a fleet counts. Lanes do not see it.
type Address struct {
	Fleet TID    `cbor:"1,keyasint"`
	Email string `cbor:"2,keyasint"` // name@host, 3 to 254 bytes
}

// Kind is [KindAddress].
func (*Address) Kind() Kind { return KindAddress }

// Kind is [KindGenesis].
func (*Genesis) Kind() Kind { return KindGenesis }

// Kind is [KindName].
func (*Name) Kind() Kind { return KindName }

// Kind is [KindAdd].
func (*Add) Kind() Kind { return KindAdd }

// Kind is [KindRevoke].
func (*Revoke) Kind() Kind { return KindRevoke }

// Kind is [KindRekey].
func (*Rekey) Kind() Kind { return KindRekey }

// Kind is [KindMainClaim].
func (*MainClaim) Kind() Kind { return KindMainClaim }

// Kind is [KindMainRelease].
func (*MainRelease) Kind() Kind { return KindMainRelease }

// Kind is [KindLaneBind].
func (*LaneBind) Kind() Kind { return KindLaneBind }

func (g *Genesis) check(h *Header) error {
	if h.Ledger != FleetID(h.Device, g.Nonce) || h.Seq != 0 || len(h.Deps) > 0 {
		return errors.New("a genesis is first, and its fleet is derived from its author and nonce")
	}
	if err := h.Device.Check(); err != nil {
		return err
	}
	if err := g.Recovery.Check(); g.Recovery != (Device{}) && err != nil {
		return fmt.Errorf("recovery: %w", err)
	}
	return plain(h)
}

func (n *Name) check(h *Header) error {
	if len(n.Name) == 0 || len(n.Name) > 64 {
		return errors.New("name: want 1 to 64 bytes")
	}
	return plain(h)
}

func (a *Add) check(h *Header) error {
	if err := a.Device.Check(); err != nil {
		return err
	}
	return plain(h)
}

func (r *Revoke) check(h *Header) error {
	if r.Reason < 1 || r.Reason > 3 {
		return fmt.Errorf("reason %d is unknown", r.Reason)
	}
	return plain(h)
}

func (r *Rekey) check(h *Header) error {
	if err := r.New.Check(); err != nil {
		return err
	}
	return plain(h)
}

func (m *MainClaim) check(h *Header) error {
	if m.Term == 0 || m.Term > 1<<40 || len(m.Over) > AnswersMax {
		return errors.New("term or superseded claims out of range")
	}
	for i := range m.Over {
		if i > 0 && !m.Over[i-1].Less(m.Over[i]) {
			return errors.New("superseded claims are not strictly ascending")
		}
	}
	return plain(h)
}

func (*MainRelease) check(h *Header) error {
	if len(h.Re) != 1 {
		return errors.New("a release answers the one claim that it gives up")
	}
	h2 := *h
	h2.Re = nil
	return plain(&h2)
}

func (l *LaneBind) check(h *Header) error {
	if len(l.Name) > 64 {
		return errors.New("name: want at most 64 bytes")
	}
	return plain(h)
}

func (a *Address) check(h *Header) error {
	name, host, _ := strings.Cut(a.Email, "@")
	if len(a.Email) > 254 || name == "" || host == "" || strings.ContainsAny(a.Email, " \t\r\n,<>") || strings.Contains(host, "@") {
		return errors.New("email: want name@host of at most 254 bytes")
	}
	return plain(h)
}

// plain checks that a record outside a conversation uses no conversation references.
func plain(h *Header) error {
	if h.Open != (ID{}) || h.Spine != (ID{}) || h.Claim != (ID{}) || len(h.Re) > 0 || h.Turns != 0 {
		return errors.New("open, spine, claim, turns and answers belong to conversations")
	}
	return nil
}

// JoinStatement is what a new computer signs to accept an invitation into a fleet.
func JoinStatement(fleet TID, invite Invite, inviter Device) []byte {
	b := append([]byte("parley/join/1\x00"), fleet[:]...)
	b = append(b, invite[:]...)
	return append(b, inviter[:]...)
}

// RekeyStatement is what a new key signs to accept an old key's place.
func RekeyStatement(fleet TID, old, replacement Device) []byte {
	b := append([]byte("parley/rekey/1\x00"), fleet[:]...)
	b = append(b, old[:]...)
	return append(b, replacement[:]...)
}

// LaneOn switches a lane on at the author's end, for the listed repositories.
type LaneOn struct {
	Repos []uint64 `cbor:"1,keyasint"`            // GitHub's numeric ids, ascending
	After []ID     `cbor:"16,keyasint,omitempty"` // statements of this end that its author knew, ascending
	Live  []uint64 `cbor:"17,keyasint,omitempty"` // those of Repos whose live work this end shares (D-26), ascending
	Names NamesKey `cbor:"18,keyasint,omitzero"`  // key of [HideName], by which the names in that live work are hidden; absent: they are shown
}

// LaneOff switches it off at the author's end.
type LaneOff struct{}

// Who asks which GitHub account the other developer publishes as (P13).
type Who struct {
	Nonce [16]byte `cbor:"1,keyasint"`
}

// Am answers, from the author's own signed-in gh.
type Am struct {
	Nonce [16]byte `cbor:"1,keyasint"`
	Host  string   `cbor:"2,keyasint"`
	User  uint64   `cbor:"3,keyasint"` // numeric id: logins can be renamed and registered again
	Login string   `cbor:"4,keyasint"` // for people
}

// Note tells the other developer that a thread needs a person (P22).
type Note struct {
	Thread TID    `cbor:"1,keyasint"`
	Cause  uint64 `cbor:"2,keyasint"` // 1 turns spent, 2 the day's turns spent, 3 final overdue
}

// Kind is [KindLaneOn].
func (*LaneOn) Kind() Kind { return KindLaneOn }

// Kind is [KindLaneOff].
func (*LaneOff) Kind() Kind { return KindLaneOff }

// Kind is [KindWho].
func (*Who) Kind() Kind { return KindWho }

// Kind is [KindAm].
func (*Am) Kind() Kind { return KindAm }

// Kind is [KindNote].
func (*Note) Kind() Kind { return KindNote }

func (l *LaneOn) check(h *Header) error {
	if len(l.Repos) == 0 || len(l.Repos) > 200 {
		return errors.New("repositories: want 1 to 200")
	}
	for i := range l.Repos {
		if i > 0 && l.Repos[i-1] >= l.Repos[i] {
			return errors.New("repositories are not strictly ascending")
		}
	}
	if len(l.After) > AnswersMax {
		return errors.New("earlier statements: at most 64")
	}
	for i := range l.After {
		if i > 0 && !l.After[i-1].Less(l.After[i]) {
			return errors.New("earlier statements are not strictly ascending")
		}
	}
	return cmp.Or(l.checkLive(), plain(h))
}

func (l *LaneOn) checkLive() error {
	for i, repo := range l.Live {
		if _, listed := slices.BinarySearch(l.Repos, repo); !listed || i > 0 && l.Live[i-1] >= repo {
			return errors.New("repositories of live work are not strictly ascending and among those of the lane")
		}
	}
	if l.Names != [32]byte{} && len(l.Live) == 0 {
		return errors.New("names are hidden of live work that is shared")
	}
	return nil
}

func (*LaneOff) check(h *Header) error { return plain(h) }

func (*Who) check(h *Header) error { return plain(h) }

func (a *Am) check(h *Header) error {
	if len(a.Host) == 0 || len(a.Host) > 100 || len(a.Login) == 0 || len(a.Login) > 64 {
		return errors.New("host or login: length out of range")
	}
	return plain(h)
}

func (n *Note) check(h *Header) error {
	if n.Cause < 1 || n.Cause > 3 {
		return fmt.Errorf("cause %d is unknown", n.Cause)
	}
	return plain(h)
}
