package ledger

import (
	"errors"
	"fmt"
)

// Limits of the bodies of live work. Lengths are in bytes. A body that keeps each of them may still be over
// [RecordBytesMax]; its writer leaves out what does not fit and says so ([Edit.Cut]).
const (
	TaskBytesMax    = 1000 // of an intent's task, and of a branch's subjects
	IssuesMax       = 16
	DependsMax      = 32
	ClaimsMax       = 128 // of one holder
	PatternBytesMax = 512
	HunksMax        = 256
	SymbolsMax      = 64
	ContractsMax    = 32
	ReferencesMax   = 128
	PrintsMax       = 256
	WhyMax          = 4
	AttemptsMax     = 16
	NoteBytesMax    = 2000
	ReasonBytesMax  = 5000 // of an override's reason once it is sealed
	SidesMax        = 64
	AboutMax        = 16
	MessageBytesMax = 4000
	MessageSidesMax = 16
)

// WeekMS is the length of a period of live work in milliseconds.
const WeekMS = 7 * 24 * 3600 * 1000

// Scope is what a ledger of live work is about: one repository during one week. The first record of each chain
// carries it.
type Scope struct {
	Host   string
	Repo   uint64 // GitHub's numeric repository id
	Period uint64 // whole weeks since the Unix epoch
}

// PeriodOf is the period of a time in Unix milliseconds.
func PeriodOf(ms uint64) uint64 { return ms / WeekMS }

// MarshalCBOR is the list of host, repository and period.
func (s Scope) MarshalCBOR() ([]byte, error) {
	b := append(appendHead([]byte{0x83}, majorText, uint64(len(s.Host))), s.Host...)
	return appendHead(appendHead(b, majorUint, s.Repo), majorUint, s.Period), nil
}

// UnmarshalCBOR reads such a list that is not all zeros.
func (s *Scope) UnmarshalCBOR(b []byte) (err error) {
	var ok bool
	if *s, ok = scopeOf(b); !ok {
		err = errors.New("scope: want host, repository and period")
	}
	return err
}

// Ledger is the ledger of live work of that scope.
func (s Scope) Ledger() TID {
	return hashed("parley-work/1\x00", mustEncoded(s))
}

// mustEncoded encodes a value of a type that always does.
func mustEncoded(v any) []byte {
	b, err := encode.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("ledger: a %T always encodes: %v", v, err))
	}
	return b
}

// Place is where a record stands among all of live work: by logical time, then id.
type Place struct {
	Lam uint64
	ID  ID
}

// MarshalCBOR is the list of logical time and id.
func (p Place) MarshalCBOR() ([]byte, error) {
	return appendBytes(appendHead([]byte{0x82}, majorUint, p.Lam), p.ID[:]), nil
}

// UnmarshalCBOR reads such a list.
func (p *Place) UnmarshalCBOR(b []byte) (err error) {
	var ok bool
	if *p, ok = placeOf(b); !ok {
		err = errors.New("place: want a logical time and the id of a record")
	}
	return err
}

// Shared is the ledger of live work of that scope that one end of a lane writes for the other one, under one statement
// that shares it.
func (s Scope) Shared(on ID) TID {
	return hashed("parley-work-lane/1\x00", on[:], mustEncoded(s))
}

// Place is where a record of live work stands: its own place, or that of the record at home that it is written for.
func (r *Record) Place() Place {
	if r.For != (Place{}) {
		return r.For
	}
	return Place{Lam: r.Lam, ID: r.ID}
}

// working checks the header of every record of live work: its chain begins with the scope that the ledger is derived
// from, and it uses no reference of a conversation.
func working(h *Header) error {
	switch s := h.Scope; {
	case (h.Seq == 0) != (s != Scope{}):
		return errors.New("scope is present exactly in the first record of a chain")
	case h.Seq == 0 && (len(s.Host) == 0 || len(s.Host) > 100 || s.Repo == 0):
		return errors.New("scope: host or repository out of range")
	case h.Share != (ID{}) && (h.Seq != 0 || h.For == Place{}):
		return errors.New("share is of the first record of a chain, which stands for another one")
	case h.Share == (ID{}) && h.Seq == 0 && h.For != (Place{}):
		return errors.New("a record stands for another one only in a ledger that is shared")
	case h.For.Lam > LamportMax:
		return errors.New("logical time of the place out of range")
	case h.Seq == 0 && h.Share == (ID{}) && h.Ledger != s.Ledger(), h.Share != (ID{}) && h.Ledger != s.Shared(h.Share):
		return errors.New("ledger does not match the scope")
	}
	return plain(h)
}

// Session is one run of one agent in one checkout. The id of its first record is the session's id; each later one
// says everything anew.
type Session struct {
	First    ID       `cbor:"1,keyasint,omitzero"` // absent in the first record
	State    uint64   `cbor:"2,keyasint"`          // SessionLive or SessionEnded
	Agent    string   `cbor:"3,keyasint,omitempty"`
	Checkout [16]byte `cbor:"4,keyasint"` // names one working copy, and says nothing about where it is
	Branch   string   `cbor:"5,keyasint,omitempty"`
	Folds    bool     `cbor:"6,keyasint,omitempty"` // its file system takes names that differ only in case or Unicode form for one
	Base     OID      `cbor:"7,keyasint,omitzero"`  // commit that the session's edits are counted from
	Head     OID      `cbor:"8,keyasint,omitzero"`
	Grammars string   `cbor:"9,keyasint,omitempty"` // what read its code
}

// The states of a session.
const (
	SessionLive  = 1
	SessionEnded = 2
)

// Intent is what somebody declares to work on. The id of its first record is the intent's id; each later one says
// everything anew.
type Intent struct {
	First   ID       `cbor:"1,keyasint,omitzero"` // absent in the first record
	Session ID       `cbor:"2,keyasint,omitzero"` // absent: a person's
	State   uint64   `cbor:"3,keyasint"`          // IntentLive to IntentAbandoned
	Task    string   `cbor:"4,keyasint"`
	Issues  []string `cbor:"5,keyasint,omitempty"` // ascending
	Depends []ID     `cbor:"6,keyasint,omitempty"` // intents that it waits for, ascending
}

// The states of an intent.
const (
	IntentLive      = 1
	IntentMerged    = 2
	IntentAbandoned = 3
)

// Claim is all that a session or an intent holds from now on.
type Claim struct {
	Holder ID     `cbor:"1,keyasint"`
	Claims []Held `cbor:"2,keyasint,omitempty"` // ascending by kind, then pattern; absent: none
}

// Held is one thing that is claimed (scope.paths, scope.symbols, scope.contracts).
type Held struct {
	Kind      uint64  `cbor:"1,keyasint"` // HeldPath to HeldContract
	Pattern   string  `cbor:"2,keyasint"`
	Exclusive bool    `cbor:"3,keyasint,omitempty"`
	Covers    *uint64 `cbor:"4,keyasint,omitempty"` // how many files it covers; absent: not known
}

// The kinds of what is held.
const (
	HeldPath     = 1
	HeldSymbol   = 2
	HeldContract = 3
)

// Kind is [KindSession].
func (*Session) Kind() Kind { return KindSession }

// Kind is [KindIntent].
func (*Intent) Kind() Kind { return KindIntent }

// Kind is [KindClaim].
func (*Claim) Kind() Kind { return KindClaim }

func (s *Session) check(h *Header) error {
	switch {
	case s.State < SessionLive || s.State > SessionEnded:
		return fmt.Errorf("state %d is unknown", s.State)
	case len(s.Agent) > 32, len(s.Branch) > 255, len(s.Grammars) > 100:
		return errors.New("agent, branch or grammars: too long")
	}
	return working(h)
}

func (i *Intent) check(h *Header) error {
	switch {
	case i.State < IntentLive || i.State > IntentAbandoned:
		return fmt.Errorf("state %d is unknown", i.State)
	case len(i.Task) == 0 || len(i.Task) > TaskBytesMax:
		return fmt.Errorf("task: want 1 to %d bytes", TaskBytesMax)
	case len(i.Depends) > DependsMax || !ascending(i.Depends):
		return fmt.Errorf("dependencies: want at most %d, strictly ascending", DependsMax)
	}
	if err := checkIssues(i.Issues); err != nil {
		return err
	}
	return working(h)
}

func (c *Claim) check(h *Header) error {
	if len(c.Claims) > ClaimsMax {
		return fmt.Errorf("%d claims, at most %d", len(c.Claims), ClaimsMax)
	}
	for i, held := range c.Claims {
		switch {
		case held.Kind < HeldPath || held.Kind > HeldContract:
			return fmt.Errorf("kind %d of a claim is unknown", held.Kind)
		case len(held.Pattern) == 0 || len(held.Pattern) > PatternBytesMax:
			return fmt.Errorf("pattern: want 1 to %d bytes", PatternBytesMax)
		case i > 0 && !c.Claims[i-1].before(held):
			return errors.New("claims are not strictly ascending")
		}
	}
	return working(h)
}

func (h Held) before(o Held) bool {
	return h.Kind < o.Kind || h.Kind == o.Kind && h.Pattern < o.Pattern
}

func checkIssues(issues []string) error {
	if len(issues) > IssuesMax {
		return fmt.Errorf("%d issues, at most %d", len(issues), IssuesMax)
	}
	for i, s := range issues {
		if len(s) == 0 || len(s) > 140 || i > 0 && issues[i-1] >= s {
			return errors.New("issues: want 1 to 140 bytes each, strictly ascending")
		}
	}
	return nil
}

func ascending(ids []ID) bool {
	for i := range ids {
		if i > 0 && !ids[i-1].Less(ids[i]) {
			return false
		}
	}
	return true
}
