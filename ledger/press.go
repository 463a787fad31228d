package ledger

// What a person may press for the main computer to do; the rules for each are the thread's.
const (
	PressRound  = "round"  // try again: a new round for the responsible side (D-15)
	PressClose  = "close"  // close the thread (D-14)
	PressAssign = "assign" // hand the final to another party (P23)
	PressFork   = "fork"   // go on although computers have two histories
)

// PressTextMax bounds a press's list of devices and the words of a refusal, in bytes.
const PressTextMax = 400

// Press is what a person pressed on another computer of the fleet and the main computer is to do. It is
// a request and no record: the main computer judges it as if the person had pressed there.
type Press struct {
	Type    FrameType `cbor:"1,keyasint"`
	Ledger  TID       `cbor:"2,keyasint"`           // the thread
	Action  string    `cbor:"3,keyasint"`           // one of the Press constants
	Round   uint64    `cbor:"4,keyasint"`           // the round that the person saw
	Party   uint64    `cbor:"5,keyasint"`           // PressAssign: index in the open's parties; else 0
	Devices string    `cbor:"6,keyasint,omitempty"` // PressFork: the computers that the person saw named, 1 to 400 bytes
	At      uint64    `cbor:"7,keyasint"`           // the other computer's wall clock, Unix milliseconds
}

// PressReply answers [Press].
type PressReply struct {
	Type FrameType `cbor:"1,keyasint"`
	OK   bool      `cbor:"2,keyasint"`
	Why  string    `cbor:"3,keyasint,omitempty"` // refused: the words for the person, at most 400 bytes
}

func (*Press) frame() FrameType      { return FramePress }
func (*PressReply) frame() FrameType { return FramePressReply }

func (p *Press) bounded() bool {
	switch p.Action {
	case PressRound, PressClose:
		return p.Party == 0 && p.Devices == ""
	case PressAssign:
		return p.Party < PartiesMax && p.Devices == ""
	case PressFork:
		return p.Party == 0 && p.Devices != "" && len(p.Devices) <= PressTextMax
	}
	return false
}

func (r *PressReply) bounded() bool { return len(r.Why) <= PressTextMax && (!r.OK || r.Why == "") }
