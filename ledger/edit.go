package ledger

import (
	"errors"
	"fmt"
	"strings"
)

// Edit is what a holder's work has made of one path so far, counted from the holder's base; the last one about a
// path counts. It holds names, hashes, lines and verdicts, and never code.
//
// An id of a symbol or a schema in it that has the form <scheme>:<language>:<path>#<name> with the edit's own path is
// written without the path: sym:go:#Run.
type Edit struct {
	Holder     ID              `cbor:"1,keyasint"` // a session, an intent or a branch
	Path       Path            `cbor:"2,keyasint"`
	Op         uint64          `cbor:"3,keyasint"` // EditModify to EditBack
	From       Path            `cbor:"4,keyasint,omitzero"`
	BaseBlob   OID             `cbor:"5,keyasint,omitzero"`
	Blob       OID             `cbor:"6,keyasint,omitzero"`
	BaseMode   uint64          `cbor:"7,keyasint,omitempty"`
	Mode       uint64          `cbor:"8,keyasint,omitempty"`
	Binary     bool            `cbor:"9,keyasint,omitempty"`
	Made       uint64          `cbor:"10,keyasint,omitempty"` // 1 generated, 2 lock file
	Quality    uint64          `cbor:"11,keyasint,omitempty"` // 1 clean, 2 recovered, 3 failed, 4 timed out
	Hunks      []Hunk          `cbor:"12,keyasint,omitempty"`
	Symbols    []SymbolEdit    `cbor:"13,keyasint,omitempty"`
	Contracts  []ContractEdit  `cbor:"14,keyasint,omitempty"`
	References []ReferenceEdit `cbor:"15,keyasint,omitempty"`
	Prints     []uint64        `cbor:"16,keyasint,omitempty"` // ascending
	Cut        bool            `cbor:"17,keyasint,omitempty"` // something was left out: what is missing here is not known
	Emptied    uint64          `cbor:"64,keyasint,omitempty"` // of a rename: how many folders around From are gone, from the innermost outward
}

// What an edit made of its path.
const (
	EditModify = 1
	EditAdd    = 2
	EditDelete = 3
	EditRename = 4
	EditBack   = 5 // as it is at the base again
)

// Hunk is one range of lines, counted from 0 at the base, that gave way to others.
type Hunk struct {
	_        struct{} `cbor:",toarray"`
	OldStart uint32
	OldLen   uint32
	NewLen   uint32
	Hash     uint64 // of the new lines
}

// SymbolEdit is one symbol that differs from the base.
type SymbolEdit struct {
	Symbol    string   `cbor:"1,keyasint"`
	From      string   `cbor:"2,keyasint,omitempty"` // the old id of a moved symbol
	Change    uint64   `cbor:"3,keyasint"`           // 1 body, 2 added, 3 moved, 4 signature, 5 removed
	Verdict   uint64   `cbor:"4,keyasint,omitempty"` // 1 compatible, 2 breaking; absent: cannot tell
	Why       []string `cbor:"5,keyasint,omitempty"`
	Container string   `cbor:"6,keyasint,omitempty"`
	Package   string   `cbor:"7,keyasint,omitempty"`
	Exported  bool     `cbor:"8,keyasint,omitempty"`
	Test      bool     `cbor:"9,keyasint,omitempty"`
	Signature uint64   `cbor:"10,keyasint,omitempty"` // hash
	Body      uint64   `cbor:"11,keyasint,omitempty"` // hash
	Sort      uint64   `cbor:"12,keyasint,omitempty"` // what it is: 1 function to 9 module
}

// ContractEdit is one route or schema that differs from the base.
type ContractEdit struct {
	Contract string   `cbor:"1,keyasint"`
	Sort     uint64   `cbor:"2,keyasint"` // 1 exported symbol, 2 route, 3 schema
	From     string   `cbor:"3,keyasint,omitempty"`
	Change   uint64   `cbor:"4,keyasint"`
	Verdict  uint64   `cbor:"5,keyasint,omitempty"`
	Why      []string `cbor:"6,keyasint,omitempty"`
	Tail     bool     `cbor:"7,keyasint,omitempty"` // only the end of the route is known
}

// ReferenceEdit is one use that the newer version of the file adds.
type ReferenceEdit struct {
	Target string `cbor:"1,keyasint"`
	Sort   uint64 `cbor:"2,keyasint"` // 1 import, 2 call, 3 type, 4 extends, 5 request, 6 schema
	Line   uint64 `cbor:"3,keyasint,omitempty"`
	Sure   bool   `cbor:"4,keyasint,omitempty"`
	Tail   bool   `cbor:"5,keyasint,omitempty"`
}

// Attempt is an edit that waits for its turn or was refused, so that the other side learns of it; the last one of a
// session counts.
type Attempt struct {
	Session ID       `cbor:"1,keyasint"`
	Paths   []Trying `cbor:"2,keyasint,omitempty"` // absent: none any more
}

// Trying is one path of an attempt.
type Trying struct {
	_    struct{} `cbor:",toarray"`
	Path Path
	Op   uint64 // EditModify to EditRename
}

// Kind is [KindEdit].
func (*Edit) Kind() Kind { return KindEdit }

// Kind is [KindAttempt].
func (*Attempt) Kind() Kind { return KindAttempt }

func (e *Edit) check(h *Header) error {
	if err := e.Path.Validate(); err != nil {
		return err
	}
	if e.From != "" {
		if err := e.From.Validate(); err != nil {
			return err
		}
	}
	switch {
	case e.Op < EditModify || e.Op > EditBack:
		return fmt.Errorf("op %d is unknown", e.Op)
	case (e.From != "") != (e.Op == EditRename):
		return errors.New("exactly a rename says from where")
	case e.Emptied > uint64(strings.Count(string(e.From), "/")):
		return errors.New("more folders are gone than there were")
	case e.Op == EditBack && e.tells():
		return errors.New("what is as at the base again has no changes")
	case e.BaseMode >= 1<<18, e.Mode >= 1<<18, e.Made > 2, e.Quality > 4:
		return errors.New("mode, maker or quality out of range")
	}
	if err := e.checkLists(); err != nil {
		return err
	}
	return working(h)
}

func (e *Edit) tells() bool {
	return e.Blob != "" || e.Mode != 0 || len(e.Hunks)+len(e.Symbols)+len(e.Contracts)+len(e.References)+len(e.Prints) > 0
}

func (e *Edit) checkLists() error {
	if len(e.Hunks) > HunksMax || len(e.Prints) > PrintsMax || len(e.Symbols) > SymbolsMax ||
		len(e.Contracts) > ContractsMax || len(e.References) > ReferencesMax {
		return errors.New("a list is too long")
	}
	for i, k := range e.Hunks {
		if i > 0 && (e.Hunks[i-1].OldStart > k.OldStart || e.Hunks[i-1] == k) {
			return errors.New("hunks are not ascending")
		}
	}
	for i, p := range e.Prints {
		if i > 0 && e.Prints[i-1] >= p {
			return errors.New("fingerprints are not strictly ascending")
		}
	}
	for _, s := range e.Symbols {
		if !named(s.Symbol) || len(s.From)+len(s.Container)+len(s.Package) > 3*nameBytesMax || !changed(s.Change, s.Verdict) || s.Sort > 9 || !words(s.Why) {
			return fmt.Errorf("the symbol %q is out of range", s.Symbol)
		}
	}
	for _, c := range e.Contracts {
		if !named(c.Contract) || len(c.From) > nameBytesMax || !changed(c.Change, c.Verdict) || c.Sort < 1 || c.Sort > 3 || !words(c.Why) {
			return fmt.Errorf("the contract %q is out of range", c.Contract)
		}
	}
	for _, r := range e.References {
		if !named(r.Target) || r.Sort < 1 || r.Sort > 6 || r.Line >= 1<<32 {
			return fmt.Errorf("the reference to %q is out of range", r.Target)
		}
	}
	return nil
}

// nameBytesMax is the length of one id of a symbol or a contract.
const nameBytesMax = 1200

func named(id string) bool { return len(id) >= 1 && len(id) <= nameBytesMax }

func changed(change, verdict uint64) bool { return change >= 1 && change <= 5 && verdict <= 2 }

func words(why []string) bool {
	for _, w := range why {
		if len(w) == 0 || len(w) > 200 {
			return false
		}
	}
	return len(why) <= WhyMax
}

func (a *Attempt) check(h *Header) error {
	if len(a.Paths) > AttemptsMax {
		return fmt.Errorf("%d paths, at most %d", len(a.Paths), AttemptsMax)
	}
	for i, p := range a.Paths {
		if err := p.Path.Validate(); err != nil {
			return err
		}
		if p.Op < EditModify || p.Op > EditRename || i > 0 && a.Paths[i-1].Path >= p.Path {
			return errors.New("paths are not strictly ascending, or an op is unknown")
		}
	}
	return working(h)
}
