package github

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// notesFile is where a repository's hook notes the branches that move, a line for each phase of each, beside git's own files.
const notesFile = "moved-branches"

// Kind tells how something on the stand-in was changed.
type Kind string

// The kinds of writes.
const (
	KindPush   Kind = "push"   // a branch moved by git push or update-branch
	KindMerge  Kind = "merge"  // a branch moved by the merge button
	KindEdit   Kind = "edit"   // a pull request opened, edited or closed through the API
	KindDirect Kind = "direct" // a branch moved by somebody at work in the bare repository itself
)

// Write is one change. A branch made new has an Old of zeros, a deleted one a New of zeros; an edit has no ref and no object ids.
type Write struct {
	Kind     Kind
	Repo     string // owner/name
	Ref      string // full name, refs/heads/...
	Pull     int    // the pull request of a merge or an edit, else 0
	Old, New string
	Login    string
	At       time.Time
}

// Writes lists every change since the folder was made, in the order they happened. Filling a new repository is none.
func (s *Server) Writes() []Write {
	s.enter()
	defer s.leave()
	return slices.Clone(s.writes)
}

// takeIn reads what git noted since and applies it. It runs at every entry, so a change is taken in once, whether this process made it, one
// that was killed before it could tell, or a git that outlived it.
func (s *Server) takeIn() {
	for _, r := range s.repos {
		if err := s.takeInRepo(r); err != nil {
			s.broken = fmt.Errorf("take in %s: %w", r.FullName(), err)
			return
		}
	}
}

func (s *Server) takeInRepo(r *Repo) error {
	notes, err := r.newNotes()
	if err != nil || len(notes) == 0 {
		return err
	}
	for line := range bytes.Lines(notes) {
		phase, w, err := parseNote(string(line))
		if err != nil {
			return err
		}
		w.Repo = r.FullName()
		s.takeInNote(r, phase, w)
	}
	r.noted += int64(len(notes))
	s.changed = true
	return s.refsMoved(r)
}

// takeInNote applies one note. A move counts when it was announced and then made, and then once.
func (s *Server) takeInNote(r *Repo, phase string, w Write) {
	same := func(other Write) bool { return other.Ref == w.Ref && other.Old == w.Old && other.New == w.New }
	announced := slices.IndexFunc(r.announced, same)
	switch {
	case phase == "prepared" && announced < 0:
		r.announced = append(r.announced, w)
		return
	case phase == "prepared" || announced < 0:
		return
	}
	r.announced = slices.Delete(r.announced, announced, announced+1)
	if phase != "committed" {
		return
	}
	if w.At.IsZero() {
		w.At = s.Now()
	}
	s.writes = append(s.writes, w)
	if p := r.pull(w.Pull); w.Kind == KindMerge && p != nil {
		s.merged(p, w.New, w.Login, w.At)
	}
}

// settle takes in the moves that were made although git was killed before it could say so: those announced whose branch is where it was to go.
// A git that still lives and says so later is not heard twice.
func (s *Server) settle(r *Repo) error {
	if err := s.takeInRepo(r); err != nil {
		return err
	}
	for _, w := range slices.Clone(r.announced) {
		if tip := r.bare().resolve(w.Ref); tip == w.New || tip == "" && strings.Trim(w.New, "0") == "" {
			s.takeInNote(r, "committed", w)
		}
	}
	return s.refsMoved(r)
}

// newNotes returns the whole lines not taken in yet.
func (r *Repo) newNotes() ([]byte, error) {
	f, err := os.Open(filepath.Join(r.Dir, notesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	notes, err := io.ReadAll(io.NewSectionReader(f, r.noted, 1<<40))
	if err != nil {
		return nil, err
	}
	return notes[:bytes.LastIndexByte(notes, '\n')+1], nil
}

// parseNote reads what the reference-transaction hook prints: git's phase, time, kind, login, pull request, ref, old and new object.
func parseNote(line string) (phase string, w Write, err error) {
	f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
	if len(f) != 8 {
		return "", w, fmt.Errorf("note %q: %d fields where 8 belong", line, len(f))
	}
	w = Write{Kind: Kind(f[2]), Login: f[3], Ref: f[5], Old: f[6], New: f[7]}
	if f[1] != "" {
		if w.At, err = time.Parse(time.RFC3339Nano, f[1]); err != nil {
			return "", w, fmt.Errorf("note %q: %w", line, err)
		}
	}
	if w.Pull, err = strconv.Atoi(f[4]); err != nil {
		return "", w, fmt.Errorf("note %q: %w", line, err)
	}
	return f[0], w, nil
}

// edited logs a change of a pull request that no ref shows.
func (s *Server) edited(p *Pull, u *User) {
	p.now.UpdatedAt = s.Now()
	s.writes = append(s.writes, Write{Kind: KindEdit, Repo: p.base.FullName(), Pull: p.Number, Login: u.login(), At: s.Now()})
	s.changed = true
}
