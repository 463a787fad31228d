package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/conflicts/overlap"
	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/internal/presence"
	"github.com/parley-mesh/parley/node/internal/worktree"
)

// callerOf is the session here that a call is for, and the side that it works for. The caller holds the lock.
func (l *live) callerOf(c api.Caller) (*session, ledger.ID, error) {
	name := strings.TrimSpace(c.Session)
	if name == "" {
		s, err := l.sessionIn(c.Cwd)
		if err != nil {
			return nil, ledger.ID{}, err
		}
		return s, l.sideOf(s), nil
	}
	for _, key := range l.sessionKeys() {
		if s := l.sessions[key]; key.name == name && key.agent != "" && s.id != (ledger.ID{}) {
			return s, l.sideOf(s), nil
		}
	}
	id, err := l.fold.SideNamed(name)
	if errors.Is(err, overlap.ErrAmbiguous) {
		return nil, id, fmt.Errorf("%w: %w", api.ErrAmbiguous, err)
	}
	for _, s := range l.sessions {
		if side := l.sideOf(s); err == nil && s.id != (ledger.ID{}) && (s.id == id || side == id || l.intentOf(id) == s.id) {
			return s, side, nil
		}
	}
	return nil, ledger.ID{}, fmt.Errorf("%s: %w", name, api.ErrNoSession)
}

// intentOf is the session that declared an intent.
func (l *live) intentOf(id ledger.ID) ledger.ID {
	s, ok := l.fold.Side(id)
	if !ok || s.Kind != detect.Intent {
		return ledger.ID{}
	}
	return s.Session
}

// sessionIn is the only live session in the checkout around a directory: an agent's, else the person's own.
func (l *live) sessionIn(dir string) (*session, error) {
	top := ""
	if dir != "" {
		top = topOf(worktree.Real(dir))
	}
	var found, worker []*session
	for _, key := range l.sessionKeys() {
		s := l.sessions[key]
		switch {
		case s.top != top || s.ended || s.id == (ledger.ID{}) || s.parent != nil:
		case s.key.agent == "":
			worker = append(worker, s)
		default:
			found = append(found, s)
		}
	}
	if len(found) == 0 {
		found = worker
	}
	switch {
	case dir == "" || len(found) == 0:
		return nil, fmt.Errorf("find the session: %w", api.ErrNoSession)
	case len(found) > 1:
		var names []string
		for _, s := range found {
			if v, ok := l.fold.Side(s.id); ok {
				names = append(names, v.Ref)
			}
		}
		return nil, fmt.Errorf("find the session in %s: %w: %s", top, api.ErrManySessions, strings.Join(names, ", "))
	}
	return found[0], nil
}

// Respond does what a side, or a person, chose about a conflict.
func (l *live) Respond(_ context.Context, r api.Response) (api.Conflict, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, err := l.conflictNamed(r.Conflict)
	if err != nil {
		return api.Conflict{}, err
	}
	action, ok := overlap.ActionNamed(r.Action)
	if !ok {
		return api.Conflict{}, fmt.Errorf("action %q: %w", r.Action, api.ErrUsage)
	}
	note, err := whole("note", r.Note, ledger.NoteBytesMax)
	if err != nil {
		return api.Conflict{}, err
	}
	act := &ledger.Act{Conflict: c.ID, Action: action, Note: note, Evidence: c.Evidence}
	if r.Proof.Kind != "" {
		if err := l.n.persons.Check(api.RespondAct(l.conflict(c), r.Action, r.Note), r.Proof); err != nil {
			return api.Conflict{}, err
		}
		act.Person = true
	} else if _, act.Side, err = l.callerOf(r.Caller); err != nil {
		return api.Conflict{}, err
	}
	if err := l.doAct(c, act); err != nil {
		return api.Conflict{}, err
	}
	c, _ = l.fold.Conflict(c.ID)
	return l.conflict(c), nil
}

// doAct checks an act and writes it. The caller holds the lock.
func (l *live) doAct(c overlap.Conflict, act *ledger.Act) error {
	err := l.fold.Check(act, l.n.id.Device())
	switch {
	case errors.Is(err, overlap.ErrClosed):
		return api.WithHint(fmt.Errorf("%w: %w", api.ErrConflictClosed, err), "run parley show "+c.Name+": it says how it was closed")
	case errors.Is(err, overlap.ErrNoRight) && act.Action == ledger.ActOverride:
		return fmt.Errorf("override %s: %w", c.Name, api.ErrNotAllowed)
	case errors.Is(err, overlap.ErrNoRight):
		return api.WithHint(fmt.Errorf("%s: %w", c.Name, api.ErrNotParticipant), "run parley show "+c.Name+": it names the sides")
	case errors.Is(err, overlap.ErrPerson):
		return fmt.Errorf("%s: %w", c.Name, presence.ErrNeeded)
	case err != nil:
		return fmt.Errorf("%s: %w", c.Name, api.ErrNoConflict)
	}
	r := l.repoOf(c.Place.Repo)
	if r == nil {
		return fmt.Errorf("%s: %w", c.Name, api.ErrNoRepository)
	}
	if _, err := l.write(r, act); err != nil {
		return err
	}
	l.fold.Settle()
	return nil
}

// Feedback notes what somebody thinks of a conflict (C12).
func (l *live) Feedback(_ context.Context, v api.Verdict) (api.Outcome, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, err := l.conflictNamed(v.Conflict)
	if err != nil {
		return api.Outcome{}, err
	}
	action, ok := overlap.FeedbackNamed(v.Verdict)
	if !ok {
		return api.Outcome{}, fmt.Errorf("verdict %q: %w", v.Verdict, api.ErrUsage)
	}
	note, err := whole("note", v.Note, ledger.NoteBytesMax)
	if err != nil {
		return api.Outcome{}, err
	}
	act := &ledger.Act{Conflict: c.ID, Action: action, Note: note, Evidence: c.Evidence}
	if v.Caller == (api.Caller{}) {
		act.Person = true // it decides nothing, so it needs no proof
	} else if _, act.Side, err = l.callerOf(v.Caller); err != nil {
		return api.Outcome{}, err
	}
	if err := l.doAct(c, act); err != nil {
		return api.Outcome{}, err
	}
	return api.Outcome{Text: "noted: " + c.Name + " is " + v.Verdict, Next: "parley saved"}, nil
}

// idsOf finds sides by their names, ascending.
func (l *live) idsOf(names []string) (ids []ledger.ID, err error) {
	for _, name := range names {
		id, err := l.fold.SideNamed(strings.TrimSpace(name))
		if errors.Is(err, overlap.ErrAmbiguous) {
			return nil, fmt.Errorf("%w: %w", api.ErrAmbiguous, err)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, api.ErrNoSide)
		}
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b ledger.ID) int { return bytes.Compare(a[:], b[:]) })
	return slices.Compact(ids), nil
}
