package ledger

import (
	"errors"
	"fmt"
)

// Git hash algorithms that an open may name.
const (
	SHA1   = 1
	SHA256 = 2
)

// File modes of git that a conversation can carry (D-12): a plain and an executable file.
const (
	ModePlain      = 0o100644
	ModeExecutable = 0o100755
)

// Open starts a thread: what conflicts, who takes part, who is responsible for the final (P16).
type Open struct {
	Host      string  `cbor:"1,keyasint"`
	Repo      uint64  `cbor:"2,keyasint"` // GitHub's numeric repository id
	Slug      string  `cbor:"3,keyasint"` // owner/name, for people
	Pull      uint64  `cbor:"4,keyasint"`
	Episode   uint64  `cbor:"5,keyasint"`
	Base      string  `cbor:"6,keyasint"` // base branch name
	Algorithm uint64  `cbor:"7,keyasint"` // SHA1 or SHA256
	Head      OID     `cbor:"8,keyasint"` // pull request head that was tried
	BaseHead  OID     `cbor:"9,keyasint"` // base branch tip that it was tried on
	MergeBase OID     `cbor:"10,keyasint"`
	Files     []File  `cbor:"11,keyasint"` // ascending by path
	Parties   []Party `cbor:"12,keyasint"` // ascending
	Resp      uint64  `cbor:"13,keyasint"` // index of the responsible side in Parties
	Auth      *uint64 `cbor:"14,keyasint,omitempty"`
	Author    uint64  `cbor:"15,keyasint"` // GitHub's numeric id of the pull request's author
	Fleet     TID     `cbor:"16,keyasint"` // the opener's fleet
}

// File is one conflicted file and its three published versions.
type File struct {
	Path   Path   `cbor:"1,keyasint"`
	Base   OID    `cbor:"2,keyasint,omitzero"` // blob at the merge base; absent when both sides added it
	Master OID    `cbor:"3,keyasint"`          // blob on the base branch
	Pull   OID    `cbor:"4,keyasint,omitzero"` // blob on the pull request; absent when it deletes the file
	Mode   uint64 `cbor:"5,keyasint"`          // mode on the base branch
}

// Kind is [KindOpen].
func (*Open) Kind() Kind { return KindOpen }

// Key is what the thread is about.
func (o *Open) Key() ConflictKey {
	return ConflictKey{Host: o.Host, Repo: o.Repo, Pull: o.Pull, Episode: o.Episode}
}

func (o *Open) check(h *Header) error {
	switch {
	case h.Claim == ID{}, h.Open != ID{}, h.Spine != ID{}, len(h.Re) > 0:
		return errors.New("an open names its claim, and no open, spine or answer")
	case len(o.Host) == 0 || len(o.Host) > 100, len(o.Slug) == 0 || len(o.Slug) > 140, len(o.Base) == 0 || len(o.Base) > 255:
		return errors.New("host, slug or base branch: length out of range")
	case o.Pull == 0:
		return errors.New("pull request number is zero")
	case o.Algorithm != SHA1 && o.Algorithm != SHA256:
		return fmt.Errorf("hash algorithm %d is unknown", o.Algorithm)
	case h.Ledger != o.Key().Thread():
		return errors.New("thread id does not match the conflict")
	case len(o.Parties) == 0 || len(o.Parties) > PartiesMax:
		return fmt.Errorf("%d parties, want 1 to %d", len(o.Parties), PartiesMax)
	case o.Resp >= uint64(len(o.Parties)), o.Auth != nil && *o.Auth >= uint64(len(o.Parties)):
		return errors.New("responsible or author index out of range")
	}
	for i, p := range o.Parties {
		if p[0] > 1 || i > 0 && !o.Parties[i-1].Less(p) {
			return errors.New("parties are not well formed and strictly ascending")
		}
	}
	return o.checkFiles()
}

func (o *Open) checkFiles() error {
	size := 20
	if o.Algorithm == SHA256 {
		size = 32
	}
	for _, id := range []OID{o.Head, o.BaseHead, o.MergeBase} {
		if len(id) != size {
			return errors.New("object id of the wrong length")
		}
	}
	if len(o.Files) == 0 || len(o.Files) > FilesMax {
		return fmt.Errorf("%d files, want 1 to %d", len(o.Files), FilesMax)
	}
	for i, f := range o.Files {
		if err := f.Path.Validate(); err != nil {
			return err
		}
		switch {
		case i > 0 && o.Files[i-1].Path >= f.Path:
			return errors.New("files are not strictly ascending by path")
		case len(f.Master) != size, f.Base != "" && len(f.Base) != size, f.Pull != "" && len(f.Pull) != size:
			return errors.New("blob id of the wrong length")
		case f.Mode != ModePlain && f.Mode != ModeExecutable:
			return fmt.Errorf("mode %o is neither plain nor executable", f.Mode)
		}
	}
	return nil
}

// Interim says which version everyone uses for now (P18).
type Interim struct {
	Why  uint64   `cbor:"1,keyasint"`
	Pick []uint64 `cbor:"2,keyasint,omitempty"` // files that take the pull request's copy; absent: all master's
}

// Why an interim was settled.
const (
	InterimAgreed   = 1
	InterimDeadline = 2
	InterimDecided  = 3
)

// Kind is [KindInterim].
func (*Interim) Kind() Kind { return KindInterim }

func (i *Interim) check(h *Header) error {
	switch {
	case i.Why < InterimAgreed || i.Why > InterimDecided:
		return fmt.Errorf("why %d is unknown", i.Why)
	case len(i.Pick) > 0 && i.Why != InterimDecided:
		return errors.New("only a decision picks")
	}
	for n, idx := range i.Pick {
		if idx >= FilesMax || n > 0 && i.Pick[n-1] >= idx {
			return errors.New("picked files are not strictly ascending indices")
		}
	}
	return h.follows()
}

// Reassign hands the final to another party, or raises the round (P23, P24, D-15).
type Reassign struct {
	To    uint64 `cbor:"1,keyasint"` // index in the open's parties
	Why   uint64 `cbor:"2,keyasint"`
	Round uint64 `cbor:"3,keyasint"`
}

// Why a final was reassigned.
const (
	ReassignOverdue = 1
	ReassignGaveUp  = 2
	ReassignPerson  = 3
	ReassignRefill  = 4
	ReassignRevoked = 5
)

// Kind is [KindReassign].
func (*Reassign) Kind() Kind { return KindReassign }

func (r *Reassign) check(h *Header) error {
	if r.Why < ReassignOverdue || r.Why > ReassignRevoked || r.To >= PartiesMax {
		return errors.New("reason or party index out of range")
	}
	return h.follows()
}

// Final names the published commit and each file's version (P20).
type Final struct {
	Via    uint64        `cbor:"1,keyasint"`
	Commit OID           `cbor:"2,keyasint"` // on the base branch
	Base   string        `cbor:"3,keyasint"`
	Files  []FileVersion `cbor:"4,keyasint"` // one per file of the open, ascending
	Head   OID           `cbor:"5,keyasint"` // pull request head that was merged
}

// Who merged the pull request.
const (
	FinalHere      = 1
	FinalElsewhere = 2
)

// FileVersion is the published version of one file of the open; an absent blob means deleted.
type FileVersion struct {
	File uint64 `cbor:"1,keyasint"`
	Blob OID    `cbor:"2,keyasint,omitzero"`
}

// Kind is [KindFinal].
func (*Final) Kind() Kind { return KindFinal }

func (f *Final) check(h *Header) error {
	switch {
	case f.Via != FinalHere && f.Via != FinalElsewhere:
		return fmt.Errorf("via %d is unknown", f.Via)
	case f.Via == FinalHere && len(h.Re) != 1:
		return errors.New("a final merged here answers one final-ready")
	case len(f.Base) == 0 || len(f.Base) > 255:
		return errors.New("base branch: length out of range")
	}
	if err := versions(f.Files); err != nil {
		return err
	}
	return h.follows()
}

func versions(files []FileVersion) error {
	if len(files) == 0 || len(files) > FilesMax {
		return fmt.Errorf("%d files, want 1 to %d", len(files), FilesMax)
	}
	for i, f := range files {
		if f.File != uint64(i) {
			return errors.New("each file of the open stands exactly once, in order")
		}
	}
	return nil
}

// Closed ends a thread (D-14).
type Closed struct {
	Why     uint64   `cbor:"1,keyasint"`
	Skipped []uint64 `cbor:"2,keyasint,omitempty"` // parties that had not confirmed
}

// Why a thread was closed.
const (
	ClosedConfirmed  = 1
	ClosedUnmerged   = 2
	ClosedNoConflict = 3
	ClosedPerson     = 4
	ClosedRetargeted = 5
	ClosedRepoGone   = 6
)

// Kind is [KindClosed].
func (*Closed) Kind() Kind { return KindClosed }

func (c *Closed) check(h *Header) error {
	switch {
	case c.Why < ClosedConfirmed || c.Why > ClosedRepoGone:
		return fmt.Errorf("why %d is unknown", c.Why)
	case c.Why == ClosedConfirmed && len(h.Re) == 0:
		return errors.New("closing by confirmation answers the confirmations")
	}
	for n, idx := range c.Skipped {
		if idx >= PartiesMax || n > 0 && c.Skipped[n-1] >= idx {
			return errors.New("skipped parties are not strictly ascending indices")
		}
	}
	return h.follows()
}

// follows checks the references of a spine record other than open.
func (h *Header) follows() error {
	if h.Open == (ID{}) || h.Spine == (ID{}) || h.Claim == (ID{}) {
		return errors.New("a spine record names its open, its predecessor and its claim")
	}
	return nil
}

// answers checks the references of a leaf.
func (h *Header) answers() error {
	if h.Open == (ID{}) || len(h.Re) != 1 || h.Spine != (ID{}) || h.Claim != (ID{}) {
		return errors.New("a leaf names its open and the one record that it answers, no spine and no claim")
	}
	return nil
}
