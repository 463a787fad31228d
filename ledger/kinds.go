package ledger

// The nine kinds of a conversation thread (P25). The main computer's are the spine; everybody's
// others are leaves.
const (
	KindOpen       Kind = "open"
	KindAck        Kind = "ack"
	KindObject     Kind = "object"
	KindInterim    Kind = "interim"
	KindFinalReady Kind = "final-ready"
	KindFinal      Kind = "final"
	KindReassign   Kind = "reassign"
	KindAdopted    Kind = "adopted"
	KindClosed     Kind = "closed"
)

// The kinds of a fleet's roster (D-1).
const (
	KindGenesis     Kind = "genesis"
	KindName        Kind = "name"
	KindAdd         Kind = "add"
	KindRevoke      Kind = "revoke"
	KindRekey       Kind = "rekey"
	KindMainClaim   Kind = "main-claim"
	KindMainRelease Kind = "main-release"
	KindLaneBind    Kind = "lane-bind"
	KindAddress     Kind = "address"
)

// The kinds of a lane's control ledger (D-1).
const (
	KindLaneOn  Kind = "on"
	KindLaneOff Kind = "off"
	KindWho     Kind = "who"
	KindAm      Kind = "am"
	KindNote    Kind = "note"
)

// The kinds of a ledger of live work (D-2).
const (
	KindSession Kind = "session"
	KindIntent  Kind = "intent"
	KindClaim   Kind = "claim"
	KindEdit    Kind = "edit"
	KindAttempt Kind = "attempt"
	KindAct     Kind = "act"
	KindFound   Kind = "found"
	KindMessage Kind = "message"
	KindBranch  Kind = "branch"
)

// form is what the package knows of a kind.
type form struct {
	kind   Kind
	family Family
	keys   uint64 // known body keys, as bits
	fresh  func() Body
}

// through is the key set 1 to n.
func through(n int) uint64 { return 1<<(n+1) - 2 }

var forms = [...]form{
	{KindOpen, Conversation, through(16), func() Body { return new(Open) }},
	{KindAck, Conversation, through(2), func() Body { return new(Ack) }},
	{KindObject, Conversation, through(2), func() Body { return new(Object) }},
	{KindInterim, Conversation, through(2), func() Body { return new(Interim) }},
	{KindFinalReady, Conversation, through(4), func() Body { return new(FinalReady) }},
	{KindFinal, Conversation, through(5), func() Body { return new(Final) }},
	{KindReassign, Conversation, through(3), func() Body { return new(Reassign) }},
	{KindAdopted, Conversation, through(2), func() Body { return new(Adopted) }},
	{KindClosed, Conversation, through(2), func() Body { return new(Closed) }},
	{KindGenesis, Roster, through(2), func() Body { return new(Genesis) }},
	{KindName, Roster, through(2), func() Body { return new(Name) }},
	{KindAdd, Roster, through(3), func() Body { return new(Add) }},
	{KindRevoke, Roster, through(3), func() Body { return new(Revoke) }},
	{KindRekey, Roster, through(3), func() Body { return new(Rekey) }},
	{KindMainClaim, Roster, through(2), func() Body { return new(MainClaim) }},
	{KindMainRelease, Roster, 0, func() Body { return new(MainRelease) }},
	{KindLaneBind, Roster, through(3) | 1<<16, func() Body { return new(LaneBind) }},
	{KindAddress, Roster, through(2), func() Body { return new(Address) }},
	{KindLaneOn, Lane, through(1) | 1<<16 | 1<<17 | 1<<18, func() Body { return new(LaneOn) }},
	{KindLaneOff, Lane, 0, func() Body { return new(LaneOff) }},
	{KindWho, Lane, through(1), func() Body { return new(Who) }},
	{KindAm, Lane, through(4), func() Body { return new(Am) }},
	{KindNote, Lane, through(2), func() Body { return new(Note) }},
	{KindSession, Work, through(9), func() Body { return new(Session) }},
	{KindIntent, Work, through(6), func() Body { return new(Intent) }},
	{KindClaim, Work, through(2), func() Body { return new(Claim) }},
	{KindEdit, Work, through(17), func() Body { return new(Edit) }},
	{KindAttempt, Work, through(2), func() Body { return new(Attempt) }},
	{KindAct, Work, through(7), func() Body { return new(Act) }},
	{KindFound, Work, through(7), func() Body { return new(Found) }},
	{KindMessage, Work, through(3), func() Body { return new(Message) }},
	{KindBranch, Work, through(9) | 1<<16, func() Body { return new(Branch) }},
}

func formOf(k Kind) *form {
	for i := range forms {
		if forms[i].kind == k {
			return &forms[i]
		}
	}
	return nil
}

// Family is the family that the kind belongs to, [FamilyUnknown] for an unknown kind.
func (k Kind) Family() Family {
	if f := formOf(k); f != nil {
		return f.family
	}
	return FamilyUnknown
}

// Spine reports whether the kind is one of the main computer's, which together decide a thread's phase.
func (k Kind) Spine() bool {
	switch k {
	case KindOpen, KindInterim, KindReassign, KindFinal, KindClosed:
		return true
	}
	return false
}

func newBody(k Kind) (Body, uint64) {
	if f := formOf(k); f != nil {
		return f.fresh(), f.keys
	}
	return nil, 0
}
