package worktree

import (
	"fmt"
	"strings"
)

// MaxFiles is how many files one conversation can hold (C4).
const MaxFiles = 25

// Kind says who can settle a merge.
type Kind int

// The kinds of judgement.
const (
	Clean        Kind = iota // git merges it
	Conversation             // the computers can settle it among themselves
	Person                   // a person has to
)

// String is the kind in a word.
func (k Kind) String() string {
	switch k {
	case Clean:
		return "clean"
	case Conversation:
		return "conversation"
	}
	return "person"
}

// Judgement is what follows from a verdict. Reason is a sentence for the card and is set for Person alone.
type Judgement struct {
	Kind   Kind
	Reason string
}

// Judge applies D-12: a conversation is about at most 25 ordinary files that the base branch still has, each
// under the name that both sides know it by. Everything else is for a person.
func (v Verdict) Judge() Judgement {
	switch {
	case v.Unrelated:
		return person("The two histories have no common commit.")
	case v.Clean:
		return Judgement{Kind: Clean}
	case len(v.Files) > MaxFiles:
		return person(fmt.Sprintf("%d files conflict; a conversation can hold %d.", len(v.Files), MaxFiles))
	}
	for _, m := range v.Messages {
		if reason := structural(m); reason != "" {
			return person(reason)
		}
	}
	if len(v.Files) == 0 {
		return person("git reports a conflict but names no file.")
	}
	for _, f := range v.Files {
		if reason := f.needsPerson(); reason != "" {
			return person(reason)
		}
	}
	return Judgement{Kind: Conversation}
}

func person(reason string) Judgement { return Judgement{Kind: Person, Reason: reason} }

// structural finds the conflicts that are not about the content of a file. git's types are stable; one of them
// lacks the space after CONFLICT.
func structural(m Message) string {
	kind, found := strings.CutPrefix(m.Type, "CONFLICT")
	if !found {
		return ""
	}
	path := strings.Join(m.Paths, ", ")
	for _, s := range []struct{ word, reason string }{
		{"rename/rename", "Both sides renamed the same file differently"},
		{"rename/delete", "One side renamed a file that the other deleted"},
		{"rename involved in collision", "Two files were renamed to the same name"},
		{"directory rename", "A directory was renamed and git cannot tell where its files belong"},
		{"file/directory", "A file and a directory have the same name"},
		{"distinct", "A path is of a different type on the two sides"},
		{"submodule", "A submodule conflicts"},
	} {
		if strings.Contains(kind, s.word) {
			return s.reason + ": " + path + "."
		}
	}
	return ""
}

// needsPerson is the reason why the computers cannot settle this file, or "".
func (f Conflict) needsPerson() string {
	base, ours, theirs := f.Stage[1], f.Stage[2], f.Stage[3]
	for _, e := range f.Stage[1:] {
		switch {
		case e.Mode == modeSubmodule:
			return f.Path + " is a submodule."
		case e.Mode == modeSymlink && (base.Absent() || base.Mode == modeSymlink) && ours.Mode == theirs.Mode:
			return f.Path + " is a symbolic link."
		case !e.Absent() && !e.regular():
			return f.Path + " is of a different type on the two sides."
		}
	}
	switch {
	case ours.Absent():
		return f.Path + " was deleted on the base branch."
	case f.MadeUp:
		return f.Path + " was renamed on one side."
	case ValidPath(f.Path) != nil:
		return fmt.Sprintf("%q is a name that not every system can hold.", f.Path)
	}
	return ""
}
