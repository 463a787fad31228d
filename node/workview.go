package node

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/parley-mesh/parley/conflicts/overlap"
	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/node/api"
)

var _ api.Live = (*live)(nil)

// settled is the state of live work for one answer. The caller holds the lock until it is done with it.
func (l *live) settled() error {
	if !l.activeNow() {
		return api.ErrAgentsOff
	}
	l.fold.Tick(uint64(l.n.wall().UnixMilli()))
	l.fold.Settle()
	return nil
}

// Conflicts lists live ones first, loudest first.
func (l *live) Conflicts(_ context.Context, q api.ConflictQuery) ([]api.Conflict, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.settled(); err != nil {
		return nil, err
	}
	var sides []ledger.ID
	if q.Side != "" {
		var err error
		if sides, err = l.idsOf([]string{q.Side}); err != nil {
			return nil, err
		}
	}
	out := []api.Conflict{}
	for _, c := range l.fold.Conflicts() {
		shown := l.conflict(c)
		if q.Repository != "" && !strings.EqualFold(shown.Repository, q.Repository) || !q.All && !c.Status.Live() {
			continue
		}
		if q.Side != "" && !slices.ContainsFunc(c.Sides, func(s overlap.Side) bool { return slices.Contains(sides, s.ID) }) {
			continue
		}
		out = append(out, shown)
	}
	return out, nil
}

// Conflict shows one with what was done about it.
func (l *live) Conflict(ctx context.Context, ref string) (api.ConflictShown, error) {
	l.seeConflict(ctx, ref)
	l.mu.Lock()
	defer l.mu.Unlock()
	c, err := l.conflictNamed(ref)
	if err != nil {
		return api.ConflictShown{}, err
	}
	out := api.ConflictShown{Conflict: l.conflict(c), Lines: l.quotations(l.wishes(&c, ledger.ID{}))}
	for _, a := range c.Acts {
		out.Acts = append(out.Acts, api.ConflictAct{At: moment(a.At), Who: l.whoOf(a), Side: a.By.Ref, Action: overlap.WordOf(a.Action), Note: a.Note, Person: a.Person})
	}
	for _, t := range l.turnsOf(c.ID) {
		out.Turns = append(out.Turns, api.Turn{At: moment(t.at), State: foundWord(t.State), Severity: detect.Severity(t.Severity).String()})
	}
	return out, nil
}

func foundWord(state uint64) string {
	if state == ledger.FoundHere {
		return "found"
	}
	return "gone"
}

// whoOf is who did something: a developer, or a computer of one's own.
func (l *live) whoOf(a overlap.Said) string {
	own := l.n.roster.get()
	if a.Who.Fleet == own.Fleet {
		return own.Name(a.Device)
	}
	return a.Who.Name
}

// conflictNamed finds a conflict by CF-… or its id. The caller holds the lock.
func (l *live) conflictNamed(ref string) (overlap.Conflict, error) {
	if err := l.settled(); err != nil {
		return overlap.Conflict{}, err
	}
	ref = strings.TrimSpace(ref)
	var id ledger.ID
	if len(ref) == 64 && id.UnmarshalText([]byte(strings.ToLower(ref))) == nil {
		if c, ok := l.fold.Conflict(id); ok {
			return c, nil
		}
	}
	c, err := l.fold.ConflictNamed(ref)
	switch {
	case errors.Is(err, overlap.ErrAmbiguous):
		return c, fmt.Errorf("%w: %w", api.ErrAmbiguous, err)
	case err != nil:
		return c, fmt.Errorf("%s: %w", ref, api.ErrNoConflict)
	}
	return c, nil
}

// conflict is one as callers see it.
func (l *live) conflict(c overlap.Conflict) api.Conflict {
	out := api.Conflict{
		Ref: c.Name, ID: c.ID.String(), Repository: l.slugOf(c.Place), Kind: string(c.Kind), Status: string(c.Status), Severity: c.Severity.String(),
		Blocking: c.Blocking, Evidence: string(c.Class), Confidence: float64(c.Confidence) / 100, Sentence: c.Sentence, Suggestion: c.Suggestion,
		About: c.About, Since: moment(c.Since), Changed: moment(c.Since), Seal: hex.EncodeToString(c.Evidence[:]), Tuned: c.Doubtful, Requested: c.Asked,
	}
	for _, s := range c.Sides {
		out.Sides = append(out.Sides, l.conflictSide(&c, s))
		if s.ID == c.Blocked {
			out.Blocked = s.Ref
		}
	}
	for _, a := range c.Acts {
		if at := moment(a.At); at.After(out.Changed) {
			out.Changed = at
		}
	}
	if out.Sentence == "" {
		out.Sentence = wasAbout(&out)
	}
	return out
}

// wasAbout says what a conflict was that is over: of what it rested on only the sides and the things stay known.
func wasAbout(c *api.Conflict) string {
	var sides []string
	for _, s := range c.Sides {
		sides = append(sides, s.Ref)
	}
	text := strings.Join(sides, " and ") + ": " + c.Kind
	if len(c.About) > 0 {
		text += " about " + strings.Join(c.About, ", ")
	}
	return text + ". It is over."
}

func (l *live) conflictSide(c *overlap.Conflict, s overlap.Side) api.ConflictSide {
	own := l.n.roster.get()
	out := api.ConflictSide{
		Ref: s.Ref, Kind: sideWord(s.Kind), Developer: s.Name, Agent: s.Agent, Branch: s.Branch, Muted: slices.Contains(c.Muted, s.Root), State: stateWord(s),
		Own: s.Developer == own.Fleet, Here: s.Device == l.n.id.Device() && s.Kind != detect.Branch && s.Kind != detect.PullRequest,
	}
	if out.Own {
		out.Computer = own.Name(s.Device)
	}
	return out
}

func sideWord(k detect.SideKind) string {
	switch k {
	case detect.Intent:
		return "intent"
	case detect.Branch:
		return "branch"
	case detect.PullRequest:
		return "pull_request"
	}
	return "session"
}

// stateWord is how far a side is.
func stateWord(s overlap.Side) string {
	switch s.Phase {
	case overlap.Idle:
		return "idle"
	case overlap.Expired:
		return "expired"
	case overlap.MergedIn:
		return "merged"
	case overlap.Ended:
		if s.Kind == detect.Intent {
			return "abandoned"
		}
		return "ended"
	}
	return "live"
}

// moment is a time of records; zero for none.
func moment(ms uint64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(ms))
}

// slugOf is what a repository is called here.
func (l *live) slugOf(p overlap.Place) string {
	if r := l.repoOf(p.Repo); r != nil && r.Place == p {
		return r.slug
	}
	return fmt.Sprint(p.Repo)
}

// activeNow is [live.active] for who holds the lock.
func (l *live) activeNow() bool {
	return l.switches.All || slices.Contains(slices.Collect(maps.Values(l.switches.Only)), true) ||
		slices.ContainsFunc(l.n.lanes.grants(), func(g grant) bool { return g.CarriesAnyWork(l.n.id.Device()) })
}

// ExplainConflict says why there is a conflict, and why it is as loud as it is.
func (l *live) ExplainConflict(_ context.Context, ref string) (api.Explanation, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, err := l.conflictNamed(ref)
	if err != nil {
		return api.Explanation{}, err
	}
	out := api.Explanation{Conflict: l.conflict(c), Rule: rulesByKind[c.Kind], CanTell: true}
	out.Why = []string{"it is over, and what it rested on is not kept"}
	if c.Class != "" {
		out.Why = []string{
			"the evidence is " + string(c.Class) + ": " + classMeans[c.Class],
			fmt.Sprintf("confidence %s, and blocking needs it to be at least the policy's block_min_confidence", c.Confidence),
			"severity " + c.Severity.String() + ", as the policy has it for " + string(c.Kind),
		}
	}
	if c.Blocking {
		out.Why = append(out.Why, "the side that came second waits: "+out.Blocked)
	}
	for _, d := range l.fold.Doubts() {
		if d.Kind == c.Kind && slices.ContainsFunc(c.Sides, func(s overlap.Side) bool { return slices.Contains(d.Sides, s.Ref) }) {
			out.CanTell, out.Why = false, append(out.Why, "nobody can tell "+d.Why)
		}
	}
	for _, s := range c.From {
		out.From = append(out.From, api.SeenIn{Side: s.Side, Path: s.Path, Base: s.Base, Old: s.Old, New: s.New})
	}
	if r := l.repoOf(c.Place.Repo); r != nil {
		out.PolicyAt, out.Policy = r.policy.commit, r.linesAbout(c.Kind)
	}
	return out, nil
}

var rulesByKind = map[detect.Kind]string{
	detect.ProtectedPath:   "The policy protects the path, and the developer is none of its owners.",
	detect.ContractBreak:   "One side changes something that the other side's new code uses, or that it claims.",
	detect.TextualMerge:    "Both sides change the same lines, so that git cannot merge them.",
	detect.SymbolOverlap:   "Both sides change or claim the same function, class, method or type.",
	detect.PathOverlap:     "Both sides touch or claim the same files.",
	detect.DependencyOrder: "An intent depends on one that will not be delivered, or intents wait for each other.",
	detect.DuplicateWork:   "Both sides seem to do the same work.",
}

var classMeans = map[detect.Evidence]string{
	detect.Declared: "a side said that it will do so",
	detect.Observed: "it was seen in a checkout or a pushed commit",
	detect.Inferred: "it follows from what was seen, likely; nothing is ever blocked by it",
}

// linesAbout are the lines of the policy in force that bear on a kind.
func (r *liveRepo) linesAbout(k detect.Kind) (out []api.PolicyLine) {
	p := detect.DefaultPolicy()
	if r.policy.rules != nil {
		p = r.policy.rules.Policy()
	}
	for _, line := range p.Lines() {
		bears := line.Key == "severity."+string(k) || line.Key == "block_min_confidence" ||
			k == detect.ProtectedPath && strings.HasPrefix(line.Key, "protected_paths") ||
			k == detect.PathOverlap && strings.HasPrefix(line.Key, "exclusive") ||
			k == detect.ContractBreak && (strings.HasPrefix(line.Key, "block_contract") || strings.HasPrefix(line.Key, "criticality") || line.Key == "cross_repo_contracts")
		if bears {
			out = append(out, api.PolicyLine{Key: line.Key, Value: line.Value, Means: line.Means})
		}
	}
	return out
}

// Desk is what lies on this computer's desk.
func (l *live) Desk(ctx context.Context) (api.Desk, error) {
	if !l.active() && len(l.n.lanes.grants()) == 0 {
		return api.Desk{}, api.ErrAgentsOff
	}
	var out api.Desk
	var err error
	if out.Conversations, err = (reader{l.n}).Threads(); err != nil || !l.active() {
		return out, err
	}
	out.Conflicts, err = l.Conflicts(ctx, api.ConflictQuery{})
	return out, err
}
