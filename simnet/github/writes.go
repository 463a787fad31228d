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

// notesFile is where a repository's hook notes the branches that moved, one line each, beside git's own files.
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
		w, err := parseNote(string(line))
		if err != nil {
			return err
		}
		w.Repo = r.FullName()
		if w.At.IsZero() {
			w.At = s.Now()
		}
		s.writes = append(s.writes, w)
		if p := r.pull(w.Pull); w.Kind == KindMerge && p != nil {
			s.merged(p, w.New, w.Login, w.At)
		}
	}
	r.noted += int64(len(notes))
	s.changed = true
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

// parseNote reads what the reference-transaction hook prints: time, kind, login, pull request, ref, old and new object.
func parseNote(line string) (Write, error) {
	f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
	if len(f) != 7 {
		return Write{}, fmt.Errorf("note %q: %d fields where 7 belong", line, len(f))
	}
	w := Write{Kind: Kind(f[1]), Login: f[2], Ref: f[4], Old: f[5], New: f[6]}
	var err, bad error
	if f[0] != "" {
		w.At, err = time.Parse(time.RFC3339Nano, f[0])
	}
	if w.Pull, bad = strconv.Atoi(f[3]); err != nil || bad != nil {
		return Write{}, fmt.Errorf("note %q: %w", line, errors.Join(err, bad))
	}
	return w, nil
}

// edited logs a change of a pull request that no ref shows.
func (s *Server) edited(p *Pull, u *User) {
	p.now.UpdatedAt = s.Now()
	s.writes = append(s.writes, Write{Kind: KindEdit, Repo: p.base.FullName(), Pull: p.Number, Login: u.login(), At: s.Now()})
	s.changed = true
}
