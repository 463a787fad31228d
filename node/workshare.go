package node

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/conflicts/overlap"
	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/ledger/disk"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/core"
	"github.com/parley-mesh/parley/node/internal/presence"
	"github.com/parley-mesh/parley/node/internal/worktree"
)

// exists reports whether something is at a path, a broken link included.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil || !errors.Is(err, fs.ErrNotExist)
}

// watchOwn begins to look at the configured checkouts, once it is known which repositories they are of. What a person does
// there counts without an agent.
func (l *live) watchOwn(ctx context.Context) {
	l.setRepos()
	for _, r := range l.repositories() {
		l.mu.Lock()
		active := l.activeIn(r)
		l.mu.Unlock()
		if !active {
			continue
		}
		at, err := worktree.Locate(ctx, worktree.Git{}, r.w.checkout.Dir())
		if err != nil {
			l.n.slog.Debug("locate a checkout", "repository", r.slug, "error", err)
			continue
		}
		at.Trunk = trunkOf(r, at)
		l.mu.Lock()
		if r.common != at.Common {
			r.common = at.Common
			clear(l.located) // some of them may be of it
		}
		if s := l.open(at, r); s != nil {
			s.own = true
		}
		l.mu.Unlock()
	}
}

// SetAgents is the switch of this computer for its agents (D-27), or that of one repository.
func (l *live) SetAgents(_ context.Context, repository string, on bool, p presence.Proof) (api.Outcome, error) {
	if err := l.n.persons.Check(api.AgentsAct(repository, on), p); err != nil {
		return api.Outcome{}, err
	}
	if repository != "" {
		w := l.n.workspaceNamed(repository)
		if w == nil {
			return api.Outcome{}, fmt.Errorf("%s: %w", repository, api.ErrNoRepository)
		}
		repository = w.slug
	}
	l.press.Lock()
	defer l.press.Unlock()
	l.mu.Lock()
	next := l.switches.with(repository, on)
	l.mu.Unlock()
	value, err := json.Marshal(next)
	if err != nil {
		return api.Outcome{}, err
	}
	if _, err := l.n.store.Apply(disk.Batch{Put: []disk.Pair{{Key: []byte(agentsKey), Value: value}}}); err != nil {
		return api.Outcome{}, err
	}
	l.mu.Lock()
	l.switches = next
	l.stopSpots()
	l.mu.Unlock()
	l.switched.Ring()
	text := api.AgentsAcross + ": " + map[bool]string{true: "on", false: "off"}[on]
	if repository != "" {
		text += " in " + repository
	}
	return api.Outcome{Text: text, Next: "parley sessions"}, nil
}

// switches are those of this computer for its agents: of all repositories, and of single ones in place of that.
type switches struct {
	All  bool
	Only map[string]bool `json:",omitempty"` // by owner/name, lower case
}

// with is one of them switched: that of a repository, or with "" of all.
func (s switches) with(repository string, on bool) switches {
	if repository == "" {
		return switches{All: on}
	}
	s.Only = maps.Clone(s.Only)
	if s.Only == nil {
		s.Only = map[string]bool{}
	}
	s.Only[strings.ToLower(repository)] = on
	return s
}

// readSwitches reads what is stored; earlier versions stored a word.
func readSwitches(value []byte) (s switches) {
	if len(value) > 0 && json.Unmarshal(value, &s) != nil {
		s.All = string(value) == "on"
	}
	return s
}

// activeIn reports whether live work in a repository is looked after: its switch is on, or the computer's, or a lane
// shares it and nobody switched it off here. The caller holds the lock.
func (l *live) activeIn(r *liveRepo) bool {
	if on, said := l.switches.Only[strings.ToLower(r.slug)]; said {
		return on
	}
	return l.switches.All || slices.ContainsFunc(l.n.lanes.grants(), func(g grant) bool { return g.Shares(l.n.id.Device(), r.Repo) })
}

// stopSpots ends looking where it is switched off, and the sessions there. The caller holds the lock.
func (l *live) stopSpots() {
	for _, top := range sortedKeys(l.spots) {
		s := l.spots[top]
		if l.activeIn(s.repo) {
			continue
		}
		l.leave(s)
		s.gone = true
		s.stop()
		delete(l.spots, top)
	}
}

// SwitchWork shares live work on repositories with the developer of a lane that is on, or stops that (D-26).
func (l *live) SwitchWork(ctx context.Context, w api.WorkSwitch, p presence.Proof) (api.Outcome, error) {
	repositories, on := w.Repositories, w.On
	var names ledger.NamesKey
	if on && w.HideNames {
		if _, err := rand.Read(names[:]); err != nil {
			return api.Outcome{}, err
		}
	}
	out, err := l.n.change(ctx, func(n *Node) (api.Outcome, []core.Effect, error) {
		if err := n.persons.Check(api.WorkSwitchAct(w), p); err != nil {
			return api.Outcome{}, nil, err
		}
		lane, err := n.laneNamed(w.Lane)
		if err != nil {
			return api.Outcome{}, nil, err
		}
		name := laneName(n.core.Roster(), lane.Peer)
		var ids []uint64
		said := "live work is shared with " + name + " no more"
		if on {
			if len(repositories) == 0 {
				ids = lane.Ours.Repositories
			} else if ids, err = n.repositoryIDs(repositories); err != nil {
				return api.Outcome{}, nil, err
			}
			said = "live work on " + strings.Join(n.viewer().slugs(ids), ", ") + " is shared with " + name
			if w.HideNames {
				said += ", its names hidden"
			}
		}
		if !lane.Ours.On || slices.ContainsFunc(ids, func(id uint64) bool { return !slices.Contains(lane.Ours.Repositories, id) }) {
			return api.Outcome{}, nil, api.WithHint(fmt.Errorf("share live work with %s: %w: the lane is not on here for it", name, api.ErrNotNow), "parley lane on "+name+" --repo owner/name")
		}
		effects, err := n.append(core.Append{Ledger: lane.Ledger, After: lane.After(), Content: lane.ShareWork(ids, names)})
		return api.Outcome{Text: said, Next: "parley lane show " + name}, effects, err
	})
	l.switched.Ring()
	return out, err
}

// SetEmail says which user:<email> of a policy this developer is, or the one of a lane.
func (l *live) SetEmail(ctx context.Context, lane, email string, p presence.Proof) (api.Outcome, error) {
	email = strings.ToLower(strings.TrimSpace(email))
	if err := l.n.persons.Check(api.EmailAct(lane, email), p); err != nil {
		return api.Outcome{}, err
	}
	return l.n.change(ctx, func(n *Node) (api.Outcome, []core.Effect, error) {
		fleet, who := n.fleet, "you"
		if lane != "" {
			peer, err := n.laneNamed(lane)
			if err != nil {
				return api.Outcome{}, nil, err
			}
			fleet, who = peer.Peer, laneName(n.core.Roster(), peer.Peer)
		}
		effects, err := n.address(fleet, email)
		return api.Outcome{Text: "policies know " + who + " as user:" + email, Next: "parley policy explain"}, effects, err
	})
}

// address writes which address a developer has in policies.
func (n *Node) address(fleet ledger.TID, email string) ([]core.Effect, error) {
	effects, err := n.append(core.Append{Ledger: n.fleet, Deps: n.core.Roster().Deps(n.id.Device()), Content: &ledger.Address{Fleet: fleet, Email: email}})
	if err == nil {
		n.live.setPeople()
	}
	return effects, err
}

// Override lets all sides go on in spite of a conflict (C14). The reason is encrypted for the computers of this developer
// and of the conflict's sides.
func (l *live) Override(_ context.Context, ref, reason string, p presence.Proof) (api.Outcome, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, err := l.conflictNamed(ref)
	if err != nil {
		return api.Outcome{}, err
	}
	reason = strings.TrimSpace(reason)
	if err := l.n.persons.Check(api.OverrideAct(l.conflict(c), reason), p); err != nil {
		return api.Outcome{}, err
	}
	if n := len([]rune(reason)); n == 0 && l.policyOf(c).Override.RequireReason || n > 0 && n < api.ReasonMin || n > api.NoteMax {
		return api.Outcome{}, fmt.Errorf("override %s: %w: a reason has %d to %d characters", c.Name, api.ErrUsage, api.ReasonMin, api.NoteMax)
	}
	act := &ledger.Act{Conflict: c.ID, Action: ledger.ActOverride, Evidence: c.Evidence, Person: true}
	if reason != "" {
		if act.Reason, err = l.sealReason(c, reason); err != nil {
			return api.Outcome{}, err
		}
	}
	if err := l.doAct(c, act); err != nil {
		return api.Outcome{}, err
	}
	return api.Outcome{Text: c.Name + " is overridden until its evidence changes", Next: "parley audit " + c.Name}, nil
}

// historyMax is how many lines of the audit log are given where nobody says.
const historyMax = 200

// History is what was decided about conflicts, and what it was worth.
func (l *live) History(_ context.Context, q api.HistoryQuery) (api.History, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.settled(); err != nil {
		return api.History{}, err
	}
	var only ledger.ID
	if q.Conflict != "" {
		c, err := l.conflictNamed(q.Conflict)
		if err != nil {
			return api.History{}, err
		}
		only = c.ID
	}
	out := api.History{Audit: api.List[api.AuditLine]{}, Saved: api.Saved{By: api.List[api.SavedLine]{}, Basis: savedBasis}}
	saved := map[detect.Severity]*api.SavedLine{}
	for _, c := range l.fold.Conflicts() {
		if only != (ledger.ID{}) && c.ID != only || q.Repository != "" && !strings.EqualFold(q.Repository, l.slugOf(c.Place)) {
			continue
		}
		out.Audit = append(out.Audit, l.audit(c)...)
		if c.Minutes == 0 {
			out.Saved.Zero++
			continue
		}
		if saved[c.Severity] == nil {
			saved[c.Severity] = &api.SavedLine{Severity: c.Severity.String()}
		}
		line := saved[c.Severity]
		line.Conflicts, line.Minutes = line.Conflicts+1, line.Minutes+c.Minutes
		out.Saved.Conflicts, out.Saved.Minutes = out.Saved.Conflicts+1, out.Saved.Minutes+c.Minutes
	}
	for _, s := range []detect.Severity{detect.Block, detect.Warn, detect.Info} {
		if saved[s] != nil {
			out.Saved.By = append(out.Saved.By, *saved[s])
		}
	}
	slices.SortStableFunc(out.Audit, func(a, b api.AuditLine) int { return b.At.Compare(a.At) })
	most := q.Max
	if most == 0 {
		most = historyMax
	}
	out.Audit = out.Audit[:min(len(out.Audit), most)]
	return out, nil
}

const savedBasis = "An estimate: 5 minutes for a conflict that informs, 20 for one that warns, 45 for one that blocks, if it was found before a merge; " +
	"none for what was overridden, false, too late, or of one developer."

// audit lists what was done about a conflict, and when it came and went.
func (l *live) audit(c overlap.Conflict) (out []api.AuditLine) {
	for _, a := range c.Acts {
		out = append(out, api.AuditLine{
			At: moment(a.At), Conflict: c.Name, Kind: string(c.Kind), Who: l.whoOf(a), Person: a.Person, Side: a.By.Ref, Action: overlap.WordOf(a.Action),
			Note: a.Note, Reason: l.openReason(a.Reason), Evidence: hex.EncodeToString(a.Evidence[:]),
		})
	}
	for _, t := range l.turnsOf(c.ID) {
		out = append(out, api.AuditLine{At: moment(t.at), Conflict: c.Name, Kind: string(c.Kind), Action: foundWord(t.State), Evidence: hex.EncodeToString(t.Evidence[:])})
	}
	return out
}
