package github

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
)

// stateFile holds all that the bare repositories do not, beside them. It is replaced as a whole after every change.
const stateFile = "github.json"

type savedState struct {
	LastID int64
	Users  []*User
	Tokens map[string]string // login by token
	Repos  []savedRepo
	Moved  map[string]int64
	Writes []Write
}

type savedRepo struct {
	ID                   int64
	Owner, Name, Default string
	Parent               int64 // 0 for none
	Noted                int64
	Announced            []Write
	Settings             settings
	Pulls                []savedPull
}

type savedPull struct {
	ID     int64
	Author string
	Head   int64 // 0 once the fork is deleted
	State  PullState
}

// save replaces the file. A folder that cannot be written is broken.
func (s *Server) save() {
	s.changed = false
	if err := s.writeState(); err != nil {
		s.broken = fmt.Errorf("save stand-in %s: %w", s.dir, err)
	}
}

func (s *Server) writeState() error {
	text, err := json.MarshalIndent(s.snapshot(), "", "\t")
	if err != nil {
		return err
	}
	file := filepath.Join(s.dir, stateFile)
	if err := os.WriteFile(file+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

func (s *Server) snapshot() savedState {
	state := savedState{LastID: s.lastID, Users: s.users, Tokens: map[string]string{}, Moved: s.moved, Writes: s.writes}
	for token, u := range s.tokens {
		state.Tokens[token] = u.Login
	}
	for _, r := range s.repos {
		saved := savedRepo{
			ID: r.ID, Owner: r.Owner.Login, Name: r.Name, Default: r.Default, Noted: r.noted,
			Announced: r.announced, Settings: r.settings,
		}
		if r.parent != nil {
			saved.Parent = r.parent.ID
		}
		for _, p := range r.pulls {
			pull := savedPull{ID: p.ID, Author: p.Author.Login, State: p.now}
			if p.head != nil {
				pull.Head = p.head.ID
			}
			saved.Pulls = append(saved.Pulls, pull)
		}
		state.Repos = append(state.Repos, saved)
	}
	return state
}

// load reads the file of an earlier server, if there is one.
func (s *Server) load() error {
	text, err := os.ReadFile(filepath.Join(s.dir, stateFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var state savedState
	if err := json.Unmarshal(text, &state); err != nil {
		return fmt.Errorf("read %s: %w", stateFile, err)
	}
	return s.restore(state)
}

func (s *Server) restore(state savedState) error {
	s.lastID, s.users, s.writes = state.LastID, state.Users, state.Writes
	maps.Copy(s.moved, state.Moved)
	for token, login := range state.Tokens {
		s.tokens[token] = s.user(login)
	}
	for _, saved := range state.Repos {
		s.repos = append(s.repos, &Repo{
			ID: saved.ID, Owner: s.user(saved.Owner), Name: saved.Name,
			Dir: s.repoDir(saved.ID), Default: saved.Default, noted: saved.Noted,
			announced: saved.Announced, settings: saved.Settings,
		})
	}
	for i, saved := range state.Repos {
		r := s.repos[i]
		if r.Owner == nil {
			return fmt.Errorf("read %s: repository %s has an unknown owner %s", stateFile, r.Name, saved.Owner)
		}
		r.parent = s.repoByID(saved.Parent)
		for n, p := range saved.Pulls {
			r.pulls = append(r.pulls, &Pull{ID: p.ID, Number: n + 1, Author: s.user(p.Author), base: r, head: s.repoByID(p.Head), now: p.State})
		}
	}
	return nil
}

func (s *Server) repoByID(id int64) *Repo {
	return s.repoWhere(func(r *Repo) bool { return r.ID == id })
}
