package ledger

import (
	"errors"
	"fmt"
)

// Class says what a computer holds of one file.
type Class uint64

// The classes of an ack (P18, P19).
const (
	HasMaster    Class = 1 // master's copy
	HasPull      Class = 2 // the pull request's copy
	HasOther     Class = 3 // another published copy
	NotHere      Class = 4 // no checkout of it here, or nothing parley may replace
	KeepsAuthor  Class = 5 // the author's computer: keeps the pull request's copy until the final
	KeepsNoLines Class = 6 // differs from everything published, without a line of its own; kept
)

// Ack agrees with the interim and says what is here.
type Ack struct {
	Classes []Class `cbor:"1,keyasint"`           // one per file of the open
	Wait    uint64  `cbor:"2,keyasint,omitempty"` // 1: the result is built and waits for its person
}

// Kind is [KindAck].
func (*Ack) Kind() Kind { return KindAck }

func (a *Ack) check(h *Header) error {
	if len(a.Classes) == 0 || len(a.Classes) > FilesMax || a.Wait > 1 {
		return errors.New("classes or wait out of range")
	}
	for _, c := range a.Classes {
		if c < HasMaster || c > KeepsNoLines {
			return fmt.Errorf("class %d is unknown", c)
		}
	}
	return h.answers()
}

// Object keeps this computer's own copy, visibly, until the final (P19). It carries no content and no
// hash of unpublished content.
type Object struct {
	Why   uint64     `cbor:"1,keyasint"`
	Files []OwnLines `cbor:"2,keyasint,omitempty"`
}

// Why a party objects.
const (
	ObjectUnpublished = 1 // lines that are in neither the pull request nor master
	ObjectPerson      = 2
	ObjectGaveUp      = 3 // the responsible side cannot build the final
)

// OwnLines counts one file's unpublished lines.
type OwnLines struct {
	File  uint64 `cbor:"1,keyasint"`
	Lines uint64 `cbor:"2,keyasint"`
}

// Kind is [KindObject].
func (*Object) Kind() Kind { return KindObject }

func (o *Object) check(h *Header) error {
	if o.Why < ObjectUnpublished || o.Why > ObjectGaveUp || len(o.Files) > FilesMax {
		return errors.New("reason or number of files out of range")
	}
	for i, f := range o.Files {
		if f.File >= FilesMax || i > 0 && o.Files[i-1].File >= f.File {
			return errors.New("files are not strictly ascending indices")
		}
	}
	return h.answers()
}

// FinalReady says that the responsible side has tested the merged result and updated the pull request.
type FinalReady struct {
	Head     OID           `cbor:"1,keyasint"` // pull request head as it now is on GitHub
	BaseHead OID           `cbor:"2,keyasint"` // base branch tip that was merged in
	Files    []FileVersion `cbor:"3,keyasint"`
	Tests    uint64        `cbor:"4,keyasint"`
}

// How the result was tested.
const (
	TestsPassed   = 1
	TestsNone     = 2
	TestsAccepted = 3 // failed, and a person accepted it
)

// Kind is [KindFinalReady].
func (*FinalReady) Kind() Kind { return KindFinalReady }

func (f *FinalReady) check(h *Header) error {
	if f.Tests < TestsPassed || f.Tests > TestsAccepted {
		return fmt.Errorf("tests %d is unknown", f.Tests)
	}
	if err := versions(f.Files); err != nil {
		return err
	}
	return h.answers()
}

// Adopted confirms that this party verified the final and holds it.
type Adopted struct {
	Tip     OID      `cbor:"1,keyasint"` // base branch tip that it was verified on
	Results []Result `cbor:"2,keyasint"` // one per file of the open
}

// Result says what became of one file at a party.
type Result uint64

// The results of an adoption.
const (
	Took         Result = 1
	HadIt        Result = 2
	KeptOwn      Result = 3
	WasNotHere   Result = 4
	TookDeletion Result = 5
)

// Kind is [KindAdopted].
func (*Adopted) Kind() Kind { return KindAdopted }

func (a *Adopted) check(h *Header) error {
	if len(a.Results) == 0 || len(a.Results) > FilesMax {
		return errors.New("number of results out of range")
	}
	for _, r := range a.Results {
		if r < Took || r > TookDeletion {
			return fmt.Errorf("result %d is unknown", r)
		}
	}
	return h.answers()
}
