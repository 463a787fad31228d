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
)

// liveCount is how many live conflicts each side has. The caller holds the lock, here and below.
func (l *live) liveCount() map[ledger.ID]int {
	out := map[ledger.ID]int{}
	for _, c := range l.fold.Conflicts() {
		if !c.Status.Live() {
			break // live ones come first
		}
		for _, s := range c.Sides {
			out[s.ID]++
		}
	}
	return out
}

// computerOf is the name of one's own computer; "" for another developer's.
func (l *live) computerOf(s overlap.Side) (name string, own, here bool) {
	roster := l.n.roster.get()
	if own = s.Developer == roster.Fleet; own {
		name = roster.Name(s.Device)
	}
	return name, own, s.Device == l.n.id.Device()
}

// Sessions lists live ones first, newest first.
func (l *live) Sessions(_ context.Context, q api.WorkQuery) ([]api.Session, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.settled(); err != nil {
		return nil, err
	}
	counts := l.liveCount()
	out := []api.Session{}
	for _, s := range slices.Backward(l.fold.Sides()) {
		if s.Kind != detect.Session {
			continue
		}
		shown := l.shownSession(s, counts)
		over := shown.State != "live" && shown.State != "idle"
		if (q.All || !over) && (q.Repository == "" || strings.EqualFold(q.Repository, shown.Repository)) {
			out = append(out, shown)
		}
	}
	slices.SortStableFunc(out, func(a, b api.Session) int { return stateRank(a.State) - stateRank(b.State) })
	return out, nil
}

func stateRank(state string) int {
	return slices.Index([]string{"live", "idle", "expired", "ended", "merged", "abandoned"}, state)
}

func (l *live) shownSession(s overlap.Side, counts map[ledger.ID]int) api.Session {
	out := api.Session{
		Ref: s.Ref, ID: s.ID.String(), Agent: s.Agent, Developer: s.Name, Repository: l.slugOf(s.Place), Branch: s.Branch, State: stateWord(s),
		Conflicts: counts[s.ID] + counts[s.Intent], Seen: moment(s.Last), Since: moment(s.First), Expires: moment(s.Expires),
	}
	out.Computer, out.Own, out.Here = l.computerOf(s)
	if d := l.fold.Digest(s.ID); d != nil {
		out.Files = len(d.Files)
	}
	if intent, ok := l.fold.Side(s.Intent); ok {
		out.Intent = intent.Ref
		if d := l.fold.Digest(intent.ID); d != nil {
			out.Files += len(d.Files)
		}
	}
	for _, mine := range l.sessions {
		if mine.id == s.ID {
			out.Name, out.Checkout = mine.key.name, mine.top
		}
	}
	return out
}

// Intents lists what was declared, live ones first, newest first.
func (l *live) Intents(_ context.Context, q api.WorkQuery) ([]api.Intent, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.settled(); err != nil {
		return nil, err
	}
	counts := l.liveCount()
	out := []api.Intent{}
	for _, s := range slices.Backward(l.fold.Sides()) {
		if s.Kind != detect.Intent {
			continue
		}
		shown := l.shownIntent(s, counts)
		over := shown.State != "live" && shown.State != "idle"
		if (q.All || !over) && (q.Repository == "" || strings.EqualFold(q.Repository, shown.Repository)) {
			out = append(out, shown)
		}
	}
	slices.SortStableFunc(out, func(a, b api.Intent) int { return stateRank(a.State) - stateRank(b.State) })
	return out, nil
}

func (l *live) shownIntent(s overlap.Side, counts map[ledger.ID]int) api.Intent {
	out := api.Intent{
		Ref: s.Ref, ID: s.ID.String(), Agent: s.Agent, Developer: s.Name, Repository: l.slugOf(s.Place), Branch: s.Branch, State: stateWord(s),
		Task: s.Task, Mode: "shared", Conflicts: counts[s.ID], Seen: moment(s.Last), Since: moment(s.First), Expires: moment(s.Expires),
	}
	out.Computer, out.Own, out.Here = l.computerOf(s)
	if by, ok := l.fold.Side(s.Session); ok {
		out.Session = by.Ref
	}
	d := l.fold.Digest(s.ID)
	if d == nil {
		return out
	}
	out.DependsOn, out.Issues = slices.Clone(d.DependsOn), slices.Clone(d.Side.Issues)
	for _, c := range d.Claims {
		switch c.Kind {
		case detect.PathClaim:
			out.Scope.Paths = append(out.Scope.Paths, c.Pattern)
		case detect.SymbolClaim:
			out.Scope.Symbols = append(out.Scope.Symbols, c.Pattern)
		case detect.ContractClaim:
			out.Scope.Contracts = append(out.Scope.Contracts, c.Pattern)
		}
		if c.Exclusive {
			out.Mode = "exclusive"
		}
	}
	return out
}

// Declare writes an intent of a session, with what it claims.
func (l *live) Declare(_ context.Context, n api.NewIntent) (api.Declared, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.settled(); err != nil {
		return api.Declared{}, err
	}
	s, _, err := l.callerOf(n.Caller)
	if err != nil {
		return api.Declared{}, err
	}
	depends, err := l.idsOf(n.DependsOn)
	if err != nil {
		return api.Declared{}, err
	}
	task, err := whole("task", n.Task, ledger.TaskBytesMax)
	if err != nil {
		return api.Declared{}, err
	}
	body := &ledger.Intent{Session: s.id, State: ledger.IntentLive, Task: task, Issues: issuesOf(n.Issues), Depends: depends}
	claims, err := l.claims(s, n.Scope, n.Mode == "exclusive")
	if err != nil {
		return api.Declared{}, err
	}
	r, err := l.write(s.repo, body)
	if err != nil {
		return api.Declared{}, err
	}
	if len(claims) > 0 {
		if _, err := l.write(s.repo, overlap.ClaimOf(r.ID, claims)); err != nil {
			return api.Declared{}, l.withdraw(s, r.ID, body, err)
		}
	}
	s.intent, s.wrote = r.ID, l.n.wall()
	l.keepSession(s)
	return l.declared(r.ID), nil
}

// withdraw takes an intent back whose claims could not be written: nobody shall see work that its agent was told is not
// declared.
func (l *live) withdraw(s *session, id ledger.ID, body *ledger.Intent, why error) error {
	gone := *body
	gone.First, gone.State = id, ledger.IntentAbandoned
	_, err := l.write(s.repo, &gone)
	return errors.Join(why, err)
}

// declared is an intent as it is now, with what it runs into.
func (l *live) declared(id ledger.ID) (out api.Declared) {
	l.fold.Settle()
	if s, ok := l.fold.Side(id); ok {
		out.Intent = l.shownIntent(s, l.liveCount())
	}
	out.Found = api.List[api.Conflict]{}
	for _, c := range l.fold.Conflicts() {
		if c.Status.Live() && slices.ContainsFunc(c.Sides, func(s overlap.Side) bool { return s.ID == id }) {
			out.Found = append(out.Found, l.conflict(c))
		}
	}
	return out
}

// issuesOf are issues as a record holds them. What an agent names was refused before if it is too much; of those in the title of
// a branch's work the first ones are looked for, and the title itself says all.
func issuesOf(list []string) (out []string) {
	for _, s := range list {
		if s = strings.TrimSpace(s); s != "" && len(s) <= api.IssueBytesMax {
			out = append(out, s)
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return out[:min(len(out), ledger.IssuesMax)]
}

// claims are a scope as it is written down. How many files a pattern covers is counted where the checkout was looked at.
func (l *live) claims(s *session, scope api.Scope, exclusive bool) (out []detect.Claim, err error) {
	add := func(k detect.ClaimKind, list []string) {
		for _, p := range list {
			if p = strings.TrimSpace(p); p == "" || len(p) > ledger.PatternBytesMax {
				err = fmt.Errorf("scope %q: %w: want 1 to %d bytes", p, api.ErrUsage, ledger.PatternBytesMax)
				continue
			}
			if _, bad := detect.ParseGlob(p); k == detect.PathClaim && bad != nil {
				err = fmt.Errorf("scope %q: %w: %w", p, api.ErrUsage, bad)
				continue
			}
			out = append(out, detect.Claim{Kind: k, Pattern: p, Exclusive: exclusive, Covers: -1})
		}
	}
	add(detect.PathClaim, scope.Paths)
	add(detect.SymbolClaim, scope.Symbols)
	add(detect.ContractClaim, scope.Contracts)
	for i := range out {
		if out[i].Kind == detect.PathClaim && s.spot != nil {
			out[i].Covers = s.spot.covers(out[i].Pattern)
		}
	}
	return out, err
}

// covers is how many files of the base a pattern covers; -1 where that is not known.
func (s *spot) covers(pattern string) int {
	g, err := detect.ParseGlob(pattern)
	if err != nil || s.files == nil {
		return -1
	}
	if g.Plain() {
		return 1
	}
	n := 0
	for _, path := range s.files {
		if g.Match(path) {
			n++
		}
	}
	return n
}

// ChangeIntent changes an intent of this computer.
func (l *live) ChangeIntent(_ context.Context, i api.IntentChange) (api.Declared, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.settled(); err != nil {
		return api.Declared{}, err
	}
	id, s, err := l.intentNamed(i)
	if err != nil {
		return api.Declared{}, err
	}
	d := l.fold.Digest(id)
	body := &ledger.Intent{First: id, Session: s.id, State: ledger.IntentLive, Task: d.Side.Task, Issues: slices.Clone(d.Side.Issues)}
	if task := strings.TrimSpace(i.Task); task != "" {
		if body.Task, err = whole("task", task, ledger.TaskBytesMax); err != nil {
			return api.Declared{}, err
		}
	}
	switch i.State {
	case "merged":
		body.State = ledger.IntentMerged
	case "abandoned":
		body.State = ledger.IntentAbandoned
	}
	if body.Depends, err = l.dependsOf(id, i); err != nil {
		return api.Declared{}, err
	}
	var claims []detect.Claim
	if i.Scope != nil {
		if claims, err = l.claims(s, *i.Scope, i.Mode == "exclusive" || i.Mode == "" && exclusiveNow(d)); err != nil {
			return api.Declared{}, err
		}
	} else if i.Mode != "" {
		claims = slices.Clone(d.Claims)
		for n := range claims {
			claims[n].Exclusive = i.Mode == "exclusive"
		}
	}
	if _, err := l.write(s.repo, body); err != nil {
		return api.Declared{}, err
	}
	if i.Scope != nil || i.Mode != "" {
		if _, err := l.write(s.repo, overlap.ClaimOf(id, claims)); err != nil {
			return api.Declared{}, err
		}
	}
	return l.declared(id), nil
}

func exclusiveNow(d *detect.Digest) bool {
	return slices.ContainsFunc(d.Claims, func(c detect.Claim) bool { return c.Exclusive })
}

// dependsOf is what an intent depends on after a change.
func (l *live) dependsOf(intent ledger.ID, i api.IntentChange) ([]ledger.ID, error) {
	ids, names := l.fold.Depends(intent)
	var known []string
	var gone []ledger.ID
	for _, ref := range i.DependsOnRemove { // one that nobody here knows goes by its name
		at := slices.IndexFunc(names, func(name string) bool { return strings.EqualFold(name, strings.TrimSpace(ref)) })
		if at < 0 {
			known = append(known, ref)
			continue
		}
		gone = append(gone, ids[at])
	}
	more, err := l.idsOf(known)
	if err != nil {
		return nil, err
	}
	add, err := l.idsOf(i.DependsOnAdd)
	if err != nil {
		return nil, err
	}
	gone = append(gone, more...)
	ids = slices.DeleteFunc(append(ids, add...), func(id ledger.ID) bool { return slices.Contains(gone, id) })
	slices.SortFunc(ids, func(a, b ledger.ID) int { return bytes.Compare(a[:], b[:]) })
	if ids = slices.Compact(ids); len(ids) > ledger.DependsMax {
		return nil, fmt.Errorf("depends_on: %w: more than %d", api.ErrUsage, ledger.DependsMax)
	}
	return ids, nil
}

// intentNamed is an intent of this computer, by its name or as the last of the caller's session.
func (l *live) intentNamed(i api.IntentChange) (ledger.ID, *session, error) {
	id := ledger.ID{}
	if i.Intent != "" {
		ids, err := l.idsOf([]string{i.Intent})
		switch {
		case errors.Is(err, api.ErrAmbiguous):
			return id, nil, err
		case err != nil:
			return id, nil, fmt.Errorf("%s: %w", i.Intent, api.ErrNoIntent)
		}
		id = ids[0]
	} else {
		s, _, err := l.callerOf(i.Caller)
		if err != nil {
			return id, nil, err
		}
		if id = s.intent; id == (ledger.ID{}) {
			return id, nil, fmt.Errorf("the session declared none: %w", api.ErrNoIntent)
		}
	}
	by := l.intentOf(id)
	for _, s := range l.sessions {
		if s.id == by && by != (ledger.ID{}) {
			return id, s, nil
		}
	}
	return id, nil, fmt.Errorf("%s: %w on this computer", i.Intent, api.ErrNoIntent)
}

// Claims says of each path, symbol and contract whether it is free.
func (l *live) Claims(_ context.Context, q api.ClaimsQuery) ([]api.ClaimsAnswer, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.settled(); err != nil {
		return nil, err
	}
	s, _, err := l.callerOf(q.Caller)
	if err != nil && q.Caller != (api.Caller{}) {
		return nil, err
	}
	out := []api.ClaimsAnswer{}
	for _, p := range q.Scope.Paths {
		out = append(out, l.free(s, detect.PathClaim, p, q.Repository))
	}
	for _, p := range q.Scope.Symbols {
		out = append(out, l.free(s, detect.SymbolClaim, p, q.Repository))
	}
	for _, p := range q.Scope.Contracts {
		out = append(out, l.free(s, detect.ContractClaim, p, q.Repository))
	}
	return out, nil
}

func (l *live) free(s *session, k detect.ClaimKind, what, repository string) api.ClaimsAnswer {
	a := api.ClaimsAnswer{What: what, Verdict: "allow", Holders: api.List[api.Holder]{}}
	for _, o := range l.fold.Sides() {
		slug := l.slugOf(o.Place)
		if o.Phase != overlap.Working && o.Phase != overlap.Idle || s != nil && (o.Session == s.id || slug != s.repo.slug) || repository != "" && !strings.EqualFold(slug, repository) {
			continue
		}
		if h, holds := holderOf(l.fold.Digest(o.ID), o, k, what); holds {
			a.Holders = append(a.Holders, h)
		}
	}
	a.Free = len(a.Holders) == 0
	if s != nil && k == detect.PathClaim {
		if d := l.fold.Decide(s.id, []detect.Upcoming{{Path: what, Op: detect.Modify}}); d.Verdict != overlap.Allow {
			a.Verdict, a.Words = d.Verdict.String(), quoted(d.Words)
		}
	}
	if a.Words == "" {
		a.Words = what + " is free."
		if !a.Free {
			a.Words = fmt.Sprintf("%s: %s by %s.", what, a.Holders[0].How, a.Holders[0].Label)
		}
	}
	return a
}

// holderOf is how a side has to do with a path, symbol or contract.
func holderOf(d *detect.Digest, o overlap.Side, k detect.ClaimKind, what string) (h api.Holder, holds bool) {
	h = api.Holder{Ref: o.Ref, Label: o.Label, How: "edited", Since: moment(o.First)}
	switch k {
	case detect.PathClaim:
		holds = slices.ContainsFunc(d.Files, func(f detect.File) bool { return covered(what, f.Path) || f.From != "" && covered(what, f.From) })
	case detect.SymbolClaim:
		holds = slices.ContainsFunc(d.Symbols, func(c detect.SymbolChange) bool { return c.Symbol.ID == what || c.From == what })
	case detect.ContractClaim:
		holds = slices.ContainsFunc(d.Contracts, func(c detect.ContractChange) bool { return c.Contract.ID == what || c.From == what })
	}
	for _, c := range d.Claims {
		if c.Kind == k && (c.Pattern == what || k == detect.PathClaim && (covered(c.Pattern, what) || covered(what, c.Pattern))) {
			h.Exclusive = h.Exclusive || c.Exclusive
			if !holds {
				holds, h.How = true, "claimed"
			}
		}
	}
	return h, holds
}

// covered reports whether a path or glob covers a path.
func covered(pattern, path string) bool {
	if pattern == path {
		return true
	}
	g, err := detect.ParseGlob(pattern)
	return err == nil && g.Match(path)
}
