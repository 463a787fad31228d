package api

import (
	"encoding/json"
	"time"
)

// List is a slice that is [] in JSON when it is empty, never null.
type List[T any] []T

// MarshalJSON writes an array.
func (l List[T]) MarshalJSON() ([]byte, error) {
	if l == nil {
		return []byte("[]"), nil
	}
	return json.Marshal([]T(l))
}

// Status answers whether a node is working and what needs its person.
type Status struct {
	Version         string           `json:"version"`
	Running         bool             `json:"running"` // false: read from the home of a node that is not running
	Computer        Computer         `json:"computer"`
	Main            MainComputer     `json:"main"`
	Peers           List[Peer]       `json:"peers"` // the other computers, by name
	Repositories    List[Repository] `json:"repositories"`
	Lanes           List[Lane]       `json:"lanes"`
	Teammates       bool             `json:"teammates"` // the switch [Teammates]
	ThreadsOpen     int              `json:"threads_open"`
	Cards           int              `json:"cards"`
	Demo            bool             `json:"demo"`             // a demo's home: proofs of nobody count
	TimersShortened bool             `json:"timers_shortened"` // deadlines are not those of the contract (D-32)
	Waiting         List[string]     `json:"waiting"`          // what is waited for, one sentence each
	Paused          *Pause           `json:"paused,omitempty"` // absent: it does not rest
	Refused         List[Refused]    `json:"refused"`          // by the mesh since the node started, by reason; [] without a node
}

// LedgerPart is one ledger as it is backed up.
type LedgerPart struct {
	Ledger string `json:"ledger"` // id, hexadecimal; "" beyond the last one
	Frames []byte `json:"frames"` // of FORMAT.md, each with its length before it
}

// Refused counts what the mesh refused for one reason (S18).
type Refused struct {
	Why   string       `json:"why"`
	Times uint64       `json:"times"`
	By    List[Blamed] `json:"by"` // computers of the fleet to whom it was refused
}

// Blamed is how often something was refused to one computer.
type Blamed struct {
	Name   string `json:"name"`
	Device string `json:"device"`
	Times  uint64 `json:"times"`
}

// Computer is the one that was asked.
type Computer struct {
	Name   string `json:"name"`
	Device string `json:"device"` // public key, hexadecimal
	Fleet  string `json:"fleet"`  // id of the developer's fleet, hexadecimal; "" before it was founded or joined
}

// MainComputer says who has the main computer's role (P2).
type MainComputer struct {
	State  string `json:"state"` // "live", "none", or "contested" when two claim it
	Name   string `json:"name"`  // "" unless live
	Device string `json:"device"`
	Me     bool   `json:"me"`
}

// Peer is another computer.
type Peer struct {
	Name      string    `json:"name"`
	Device    string    `json:"device"`
	Connected bool      `json:"connected"`
	Transport string    `json:"transport"`  // "quic", "tcp" or "websocket"; "" when not connected
	Path      string    `json:"path"`       // "lan", "direct" or "relayed"; "" when not connected
	LatencyMS int64     `json:"latency_ms"` // that its last greeting took, there and back
	Version   string    `json:"version"`    // of its program; "" unknown
	Address   string    `json:"address"`
	LastSeen  time.Time `json:"last_seen,omitzero"` // absent: never
}

// Repository is one repository that this computer looks after.
type Repository struct {
	Slug     string `json:"slug"`
	Base     string `json:"base"` // base branch; "" while GitHub has not told the default one
	Checkout string `json:"checkout"`
	Branch   string `json:"branch"` // that the checkout stands on; "" when detached or unknown
	State    string `json:"state"`  // a sentence
	// Unanswered is why GitHub never told what the repository is, so that nothing happens for it; "" when it did, or is
	// being asked.
	Unanswered string `json:"unanswered,omitempty"`
}

// ThreadLine is one conversation in a list.
type ThreadLine struct {
	Ref         string    `json:"ref"`         // acme/shop#42; with /2 for the second time that it conflicts
	ID          string    `json:"id"`          // ledger id, hexadecimal
	Phase       string    `json:"phase"`       // "open", "interim", "final", "closed"
	Since       time.Time `json:"since"`       // when it was opened
	Responsible string    `json:"responsible"` // name of the side that builds the final
	Waiting     string    `json:"waiting"`     // what it waits for, a sentence
	Next        time.Time `json:"next,omitzero"`
	Closed      time.Time `json:"closed,omitzero"` // when it was over; absent: it goes on
}

// Thread is one conversation whole.
type Thread struct {
	ThreadLine
	Base    string             `json:"base"` // base branch
	Head    string             `json:"head"` // pull request's head when it was opened, hexadecimal
	Files   List[ThreadFile]   `json:"files"`
	Parties List[ThreadParty]  `json:"parties"`
	Records List[ThreadRecord] `json:"records"` // in the order of the fold
}

// ThreadFile is one conflicting file. Versions are git blob ids in hexadecimal, "" where there is none.
type ThreadFile struct {
	Path    string `json:"path"` // quoted as git does where it is not UTF-8
	Master  string `json:"master"`
	Pull    string `json:"pull"`
	Interim string `json:"interim"`
	Final   string `json:"final"`
	Here    string `json:"here"` // what this computer holds, in words
}

// ThreadParty is one side of a conversation.
type ThreadParty struct {
	Name        string `json:"name"`
	Statement   string `json:"statement"` // what it last said about the files, in words; "" nothing yet
	Adopted     bool   `json:"adopted"`
	Responsible bool   `json:"responsible"`
}

// ThreadRecord is one record of a conversation.
type ThreadRecord struct {
	ID       string    `json:"id"`
	Short    string    `json:"short"`
	Kind     string    `json:"kind"`
	Who      string    `json:"who"`
	At       time.Time `json:"at"`
	Sentence string    `json:"sentence"`
	Turns    uint64    `json:"turns"` // of agents that its computer had spent by then in the round
	Counted  bool      `json:"counted"`
	Rule     string    `json:"rule,omitempty"` // why it does not count
	Wire     string    `json:"wire,omitempty"` // the signed bytes, base64url without padding; only on request
}

// Card is one thing that a person must see or decide.
type Card struct {
	Key     string    `json:"key"`  // C2/<thread id>; one card per key
	Code    string    `json:"code"` // C1 to C16
	Title   string    `json:"title"`
	What    string    `json:"what"`
	Why     string    `json:"why"`
	Since   time.Time `json:"since,omitzero"`
	Ref     string    `json:"ref"`     // of its conversation, "" when it is about none
	Thread  string    `json:"thread"`  // ledger id, hexadecimal
	Button  string    `json:"button"`  // words on the button; "" when there is nothing to press
	Verb    string    `json:"verb"`    // name in the table of verbs
	Action  string    `json:"action"`  // "push" or "merge" of approve
	Binds   string    `json:"binds"`   // exactly what pressing agrees to
	Command string    `json:"command"` // the command that acts
	Pull    string    `json:"pull"`    // address of the pull request on GitHub, "" when it is about none
}

// Why is the plain answer to why something is as it is.
type Why struct {
	Subject string     `json:"subject"` // what was asked about
	Answer  string     `json:"answer"`  // one sentence
	Facts   List[Fact] `json:"facts"`
	Next    time.Time  `json:"next,omitzero"` // when something happens by itself
	Thread  string     `json:"thread"`        // ledger id of the conversation that decides; "" none
}

// Fact is one line of an answer.
type Fact struct {
	About string `json:"about"`
	Text  string `json:"text"`
}

// KeptFile is content that parley took out of a checkout. It stays for 90 days (D-22).
type KeptFile struct {
	ID         string    `json:"id"`
	Repository string    `json:"repository"`
	Path       string    `json:"path"`
	At         time.Time `json:"at"`
	Why        string    `json:"why"`
	File       string    `json:"file"`    // where it lies
	Changed    bool      `json:"changed"` // a program that had it open wrote to it afterwards
}

// KeptContent is a kept file with its bytes.
type KeptContent struct {
	KeptFile
	Content []byte `json:"content"` // base64 in JSON
}

// Operation is one change that parley made in a checkout.
type Operation struct {
	ID         string       `json:"id"`
	Repository string       `json:"repository"`
	At         time.Time    `json:"at"`
	Kind       string       `json:"kind"`
	Why        string       `json:"why"`
	Paths      List[string] `json:"paths"`
	From       string       `json:"from"` // commit that the base branch stood at; "" when it did not move
	To         string       `json:"to"`
	Undone     bool         `json:"undone"`
}

// LogLine is one thing that happened here.
type LogLine struct {
	Seq    uint64    `json:"seq"` // counts up from 1, over restarts too
	At     time.Time `json:"at"`
	Level  string    `json:"level"` // "say" for records, "do" for acts, "warn"
	Kind   string    `json:"kind"`
	Who    string    `json:"who"`
	Ref    string    `json:"ref"`
	Thread string    `json:"thread"`
	Text   string    `json:"text"`
}

// Outcome is what came of an act.
type Outcome struct {
	Text string `json:"text"`           // a sentence
	Next string `json:"next,omitempty"` // a command that shows what follows
}

// Invitation is a code that lets one computer join.
type Invitation struct {
	ID      string    `json:"id"`
	Code    string    `json:"code"`
	Expires time.Time `json:"expires"`
}

// InviteState is how far an invitation has come.
type InviteState struct {
	State string    `json:"state"` // one of the Invite constants
	Name  string    `json:"name"`  // of the computer that asks or has joined
	Words [4]string `json:"words"` // of the computer that asks; the same on its screen
	Text  string    `json:"text"`  // why it failed
	Lane  bool      `json:"lane"`  // another developer, and no computer of one's own
}

// The states of an invitation. Joined and failed are last.
const (
	InviteWaiting = "waiting"
	InviteAsking  = "asking"
	InviteJoined  = "joined"
	InviteFailed  = "failed"
)
