package detect

import (
	"cmp"
	"slices"
	"strings"
)

// Digest is all that detectors know of one participant's work. Slices are in the order that [Digest.Normalize]
// gives them; nobody changes a digest once it was handed out.
type Digest struct {
	Side Side
	// Base is the commit that the changes are counted from. Two digests speak of the same lines only when
	// they have the same Base: that of the pair (its merge base), not of each side.
	Base string
	Head string // the commit with the work; "" while work is uncommitted
	// Grammars names the set of grammars that read the code, "" for none. Hashes of symbols from different
	// sets are never compared.
	Grammars string

	Files      []File     // every changed path, ascending
	Delta                 // what changed in the meaning of those files
	Prints     []uint64   // fingerprints of the added code, ascending (see duplicate work)
	Claims     []Claim    // what the intent or the session holds
	Upcoming   []Upcoming // what the side is about to do: the edit or command that waits for an answer
	DependsOn  []string   // refs of the intents that this one waits for
	Unreadable []string   // paths that could not be looked at: they are never taken for unchanged
}

// Delta is what the readers of code (detect/code) say about two versions of a set of files.
type Delta struct {
	Symbols    []SymbolChange   // ascending by id
	Contracts  []ContractChange // routes and schemas, ascending by id; exported symbols stand in Symbols
	References []Reference      // uses that the newer version added, ascending by target, path and line
}

// Side is who works: one side of every conflict.
type Side struct {
	Ref      string // as in sentences: "INT-12", "S-4", a branch, the path of a worktree, "#42"
	Kind     SideKind
	User     string // the developer's email address, lower case; "" when it is not known
	Name     string // how sentences call the developer: "jordan"
	Agent    string // "claude_code"; "" for work without an agent
	Branch   string
	Repo     string   // owner/name; sides of different repositories meet only in contracts
	Checkout string   // names one working copy: two sides that share it see each other's files
	Folds    bool     // its file system takes names that differ only in case or Unicode form for one
	Arrived  uint64   // logical time of the first edit or claim; the greater of two is the newcomer
	State    State    // of an intent
	Task     string   // the intent's own words, or the subjects of a branch's commits
	Issues   []string // the issues it names: "#42" or "owner/name#42", ascending
}

// SideKind is what kind of participant a side is (C1).
type SideKind uint8

// The kinds of sides.
const (
	Intent   SideKind = iota + 1
	Session           // an agent that declared no intent
	Branch            // pushed or local
	Worktree          // a working copy with uncommitted work
	PullRequest
)

// State is how far an intent is.
type State uint8

// The states of an intent. Only live ones overlap with anything; the others matter to those that depend on them.
const (
	Live State = iota
	Merged
	Abandoned
	Expired
)

// File is one changed path. A rename is one File under its new path.
type File struct {
	Path     string
	From     string // the old path of a rename, else ""
	Op       Op
	BaseBlob string // id of the content at Base, "" when there was none
	Blob     string // id of the content now, "" when there is none
	BaseMode uint32 // git's mode, as 0o100644; 0 when there was none
	Mode     uint32
	Binary   bool   // git would not merge it line by line
	Made     Made   // by a program rather than by hand
	Hunks    []Hunk // ascending; none for files that are added, deleted or binary
	Quality  Quality
	// Emptied says of a rename how many of the folders that From stood in are gone, from the innermost outward.
	Emptied int
	Since   uint64 // logical time of the first touch; 0 when only the side's Arrived is known
}

// Op is what happened to a path.
type Op uint8

// What can happen to a path.
const (
	Modify Op = iota + 1
	Add
	Delete
	Rename
)

// Made is whether a file is written by a program; such a file is made again, not merged.
type Made uint8

// The kinds of files.
const (
	ByHand    Made = iota
	Generated      // says so itself, or .gitattributes does
	LockFile       // of a package manager
)

// Hunk is one replaced range of lines. Lines are counted from 0 in the content at Base: [OldStart, OldStart+OldLen)
// gave way to NewLen lines. An insertion has OldLen 0 and stands before line OldStart.
type Hunk struct {
	OldStart uint32
	OldLen   uint32
	NewLen   uint32
	Hash     uint64 // of the new lines; equal hunks of two sides are one change
}

// Quality is how well a file could be read as code, in both of its versions: the worse of the two counts.
type Quality uint8

// The qualities. Only Clean can show that something was removed or that a signature broke.
const (
	Unread    Quality = iota // no language that is known, or nobody looked
	Clean                    // read from end to end
	Recovered                // with errors: what is seen is there, what is not seen may be there
	Failed                   // nothing could be read
	TimedOut                 // the time or size limit was hit
)

// Claim is what an intent or a session holds without having touched it (scope.paths, scope.symbols,
// scope.contracts).
type Claim struct {
	Kind      ClaimKind
	Pattern   string // a path or glob, a symbol's id, a contract's id
	Exclusive bool   // mode "exclusive"
	Since     uint64 // logical time of the claim
	Covers    int    // how many files the pattern covers at Base; -1 when that is not known
}

// ClaimKind is what a claim is about.
type ClaimKind uint8

// The kinds of claims.
const (
	PathClaim ClaimKind = iota + 1
	SymbolClaim
	ContractClaim
)

// Upcoming is one path that a side is about to edit, delete or rename.
type Upcoming struct {
	Path string
	Op   Op
}

// Normalize puts everything in the order that detectors count on, and each fingerprint, issue and hunk once.
func (d *Digest) Normalize() {
	slices.SortFunc(d.Files, func(a, b File) int { return firstOf(strings.Compare(a.Path, b.Path), strings.Compare(a.From, b.From)) })
	for i := range d.Files {
		slices.SortFunc(d.Files[i].Hunks, func(a, b Hunk) int {
			return firstOf(cmp.Compare(a.OldStart, b.OldStart), cmp.Compare(a.OldLen, b.OldLen))
		})
	}
	slices.SortStableFunc(d.Symbols, func(a, b SymbolChange) int {
		return firstOf(strings.Compare(a.Symbol.ID, b.Symbol.ID), strings.Compare(a.From, b.From), cmp.Compare(a.Change, b.Change))
	})
	slices.SortStableFunc(d.Contracts, func(a, b ContractChange) int {
		return firstOf(strings.Compare(a.Contract.ID, b.Contract.ID), strings.Compare(a.From, b.From), cmp.Compare(a.Change, b.Change))
	})
	slices.SortStableFunc(d.References, func(a, b Reference) int {
		return firstOf(strings.Compare(a.Target, b.Target), strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
	})
	slices.SortFunc(d.Claims, compareClaims)
	d.Claims = slices.CompactFunc(d.Claims, func(a, b Claim) bool {
		return a.Kind == b.Kind && a.Pattern == b.Pattern && a.Exclusive == b.Exclusive
	})
	slices.SortStableFunc(d.Upcoming, func(a, b Upcoming) int { return strings.Compare(a.Path, b.Path) })
	d.Prints = Prints(d.Prints)
	d.Side.Issues = distinct(d.Side.Issues)
	d.DependsOn = distinct(d.DependsOn)
	d.Unreadable = distinct(d.Unreadable)
}

// compareClaims puts the oldest of equal claims first.
func compareClaims(a, b Claim) int {
	exclusive := 0
	if a.Exclusive != b.Exclusive {
		exclusive = 1
		if a.Exclusive {
			exclusive = -1
		}
	}
	return firstOf(cmp.Compare(a.Kind, b.Kind), strings.Compare(a.Pattern, b.Pattern), exclusive,
		cmp.Compare(a.Since, b.Since), cmp.Compare(a.Covers, b.Covers))
}
