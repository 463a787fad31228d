package ledger

import (
	"errors"
	"fmt"
)

// Act is what somebody says about a conflict between live work (C11 to C14).
type Act struct {
	Conflict ID       `cbor:"1,keyasint"`
	Side     ID       `cbor:"2,keyasint,omitzero"` // the session or intent that acts; absent: a person
	Action   Action   `cbor:"3,keyasint"`
	Note     string   `cbor:"4,keyasint,omitempty"`
	Evidence [16]byte `cbor:"5,keyasint,omitzero"` // what the conflict rested on when this was said
	Person   bool     `cbor:"6,keyasint,omitempty"`
	Reason   []byte   `cbor:"7,keyasint,omitempty"` // of an override, encrypted
}

// Action is what is said.
type Action uint64

// The actions. The last three are feedback.
const (
	ActAcknowledge     Action = 1
	ActWillRebase      Action = 2
	ActProposeSequence Action = 3
	ActNarrowScope     Action = 4
	ActTakeOver        Action = 5
	ActRequestOverride Action = 6
	ActFalsePositive   Action = 7
	ActResolve         Action = 8
	ActOverride        Action = 9
	ActUseful          Action = 10
	ActSaidFalse       Action = 11
	ActTooLate         Action = 12
)

// Found is the life of a conflict as a side's own computer saw it, for lists, the audit log and the time saved.
type Found struct {
	Conflict ID       `cbor:"1,keyasint"`
	Sort     string   `cbor:"2,keyasint"` // the kind of conflict: "path_overlap"
	State    uint64   `cbor:"3,keyasint"` // FoundHere or FoundGone
	Sides    []ID     `cbor:"4,keyasint"` // in the order of the sentence
	Evidence [16]byte `cbor:"5,keyasint"`
	Severity uint64   `cbor:"6,keyasint"`           // 1 info, 2 warn, 3 block
	About    []string `cbor:"7,keyasint,omitempty"` // the first of the paths, symbols or contracts
}

// The states of what was found.
const (
	FoundHere = 1
	FoundGone = 2
)

// Message is a word from one side, or a person, to others (message_send).
type Message struct {
	From ID     `cbor:"1,keyasint,omitzero"`  // absent: a person
	To   []ID   `cbor:"2,keyasint,omitempty"` // ascending; absent: everybody near
	Text string `cbor:"3,keyasint"`
}

// Branch is a pushed branch or a pull request, by whoever published it last. Its edits have [BranchSide] as holder.
type Branch struct {
	Name     string   `cbor:"1,keyasint"` // of the branch; "#42" for a pull request from elsewhere
	Head     OID      `cbor:"2,keyasint"`
	Base     OID      `cbor:"3,keyasint"` // commit that its edits are counted from
	Pull     uint64   `cbor:"4,keyasint,omitempty"`
	Author   uint64   `cbor:"5,keyasint,omitempty"` // GitHub user id
	Gone     bool     `cbor:"6,keyasint,omitempty"` // merged, closed or deleted
	Subjects string   `cbor:"7,keyasint,omitempty"` // of its commits
	Issues   []string `cbor:"8,keyasint,omitempty"` // ascending
	Grammars string   `cbor:"9,keyasint,omitempty"`
	// Of is the fleet of the developer whose work it is, by the addresses that its publisher confirmed; zero: nobody known.
	Of TID `cbor:"16,keyasint,omitzero"`
}

// Kind is [KindAct].
func (*Act) Kind() Kind { return KindAct }

// Kind is [KindFound].
func (*Found) Kind() Kind { return KindFound }

// Kind is [KindMessage].
func (*Message) Kind() Kind { return KindMessage }

// Kind is [KindBranch].
func (*Branch) Kind() Kind { return KindBranch }

func (a *Act) check(h *Header) error {
	switch {
	case a.Action < ActAcknowledge || a.Action > ActTooLate:
		return fmt.Errorf("action %d is unknown", a.Action)
	case len(a.Note) > NoteBytesMax:
		return fmt.Errorf("note: want at most %d bytes", NoteBytesMax)
	case !a.Person && a.Side == (ID{}):
		return errors.New("an agent acts for a side")
	case a.Action == ActOverride && !a.Person:
		return errors.New("only a person overrides")
	case a.Action == ActOverride && a.Evidence == [16]byte{}:
		return errors.New("an override names the evidence that it is about")
	case len(a.Reason) > ReasonBytesMax || len(a.Reason) > 0 && a.Action != ActOverride:
		return errors.New("reason: too long, or of no override")
	}
	return working(h)
}

func (f *Found) check(h *Header) error {
	switch {
	case !Kind(f.Sort).sortOfConflict():
		return fmt.Errorf("sort %q, want 1 to 32 of a-z and _", f.Sort)
	case f.State < FoundHere || f.State > FoundGone, f.Severity < 1 || f.Severity > 3:
		return errors.New("state or severity is unknown")
	case len(f.Sides) == 0 || len(f.Sides) > SidesMax:
		return fmt.Errorf("%d sides, want 1 to %d", len(f.Sides), SidesMax)
	case len(f.About) > AboutMax:
		return fmt.Errorf("about %d things, at most %d", len(f.About), AboutMax)
	}
	for _, s := range f.About {
		if !named(s) {
			return fmt.Errorf("about: want 1 to %d bytes", nameBytesMax)
		}
	}
	return working(h)
}

func (k Kind) sortOfConflict() bool {
	for _, c := range []byte(k) {
		if (c < 'a' || c > 'z') && c != '_' {
			return false
		}
	}
	return len(k) >= 1 && len(k) <= 32
}

func (m *Message) check(h *Header) error {
	switch {
	case len(m.Text) == 0 || len(m.Text) > MessageBytesMax:
		return fmt.Errorf("text: want 1 to %d bytes", MessageBytesMax)
	case len(m.To) > MessageSidesMax || !ascending(m.To):
		return fmt.Errorf("receivers: want at most %d, strictly ascending", MessageSidesMax)
	}
	h2 := *h
	h2.Re = nil
	return working(&h2)
}

func (b *Branch) check(h *Header) error {
	if len(b.Name) == 0 || len(b.Name) > 255 || len(b.Subjects) > TaskBytesMax || len(b.Grammars) > 100 {
		return errors.New("name, subjects or grammars: length out of range")
	}
	if err := checkIssues(b.Issues); err != nil {
		return err
	}
	return working(h)
}
