// Package agents runs the desk, the command that a person configured to settle conflicts: one process, one
// JSON task and one JSON result for each turn (D-29). DESIGN.md holds the protocol.
package agents

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"
)

// Version is the version of the protocol that every task names.
const Version = 1

// Kind is what a turn is for.
type Kind string

// The kinds of turns (D-29).
const (
	Decide Kind = "decide" // name the files whose pull request version holds for the time being
	Merge  Kind = "merge"  // settle, test and commit the merge that is under way in the scratch
	Brief  Kind = "brief"  // read what waits for a side of live work, and respond to it with parley's own commands
)

// Repository is the repository on GitHub. The ID never changes, the slug may.
type Repository struct {
	Host string `json:"host"`
	Slug string `json:"slug"` // owner/name
	ID   uint64 `json:"id"`
}

// File is one file in conflict. The blob ids are hex digits, "" where that side has no such file.
type File struct {
	Path       string `json:"path"`
	PathBase64 string `json:"path_base64,omitempty"` // the exact bytes of a path that is not UTF-8
	Mode       string `json:"mode"`                  // on the base branch, 100644 or 100755
	Base       string `json:"base"`                  // blob of the merge base
	Master     string `json:"master"`                // blob of the base branch
	Pull       string `json:"pull"`                  // blob of the pull request
}

// NewFile describes a file whose path may be any bytes.
func NewFile(path, mode, base, master, pull string) File {
	f := File{Path: path, Mode: mode, Base: base, Master: master, Pull: pull}
	if !utf8.ValidString(path) {
		f.Path = strings.ToValidUTF8(path, "\uFFFD")
		f.PathBase64 = base64.StdEncoding.EncodeToString([]byte(path))
	}
	return f
}

// Task is what a desk is asked to do in one turn.
type Task struct {
	Kind       Kind
	Repository Repository
	Thread     string
	Pull       uint64
	Base       string // name of the base branch
	Files      []File
	Turn       int       // number of this turn in the round, from 1
	Turns      int       // turns that the round allows
	Deadline   time.Time // when the process is asked to stop; zero: after the template's time
	Head       string    // commit of the pull request
	Tip        string    // commit of the base branch
	Scratch    string    // the checkout to work in, absolute
	Result     string    // where the result belongs; Run fills it in
	Side       string    // brief: the side that it is about, INT-… or S-…
	About      []string  // brief: the conflicts that wait, CF-…
}

// taskFile is the form of a task in its file.
type taskFile struct {
	Version    int        `json:"version"`
	Kind       Kind       `json:"kind"`
	Repository Repository `json:"repository"`
	Thread     string     `json:"thread"`
	Pull       uint64     `json:"pull"`
	Base       string     `json:"base"`
	Files      []File     `json:"files"`
	Turn       int        `json:"turn"`
	Turns      int        `json:"turns"`
	Deadline   time.Time  `json:"deadline"`
	Head       string     `json:"head"`
	Tip        string     `json:"tip"`
	Scratch    string     `json:"scratch"`
	Result     string     `json:"result"`
	Side       string     `json:"side,omitempty"`
	About      []string   `json:"about,omitempty"`
}

func (t Task) encode() ([]byte, error) {
	f := taskFile{
		Version: Version, Kind: t.Kind, Repository: t.Repository, Thread: t.Thread, Pull: t.Pull, Base: t.Base,
		Files: t.Files, Turn: t.Turn, Turns: t.Turns, Deadline: t.Deadline.UTC().Truncate(time.Second), Head: t.Head, Tip: t.Tip,
		Scratch: t.Scratch, Result: t.Result, Side: t.Side, About: t.About,
	}
	if f.Files == nil {
		f.Files = []File{}
	}
	b, err := json.MarshalIndent(f, "", "  ")
	return append(b, '\n'), err
}
