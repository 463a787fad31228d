package node

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/internal/install"
	"github.com/parley-mesh/parley/node/page"
)

// pageSettings are what the page's Setup tab shows beside the status: what the commands agents, lane work, notices and
// policy explain show.
func (n *Node) pageSettings(ctx context.Context) (page.Settings, error) {
	wish, err := n.home.Notices()
	if err != nil {
		return page.Settings{}, err
	}
	out := page.Settings{Notices: page.Notices{On: wish.On, Quiet: wish.Quiet, Digest: wish.Digest, Snoozed: wish.Snoozed}}
	if out.Shared, err = view(n, func(v viewer) ([]page.Shared, error) { return v.shared(), nil }); err != nil {
		return page.Settings{}, err
	}
	out.Agents, out.AgentsIn, out.Policies = n.live.inForce()
	out.Tools = n.codingAgents(ctx)
	own := n.roster.get()
	out.Email = own.Email(own.Fleet)
	return out, nil
}

// shared is which live work each lane that is on carries from either end.
func (v viewer) shared() (out []page.Shared) {
	for _, l := range v.folded {
		if l.Bound {
			out = append(out, page.Shared{
				Lane: l.Peer.String(), Name: laneName(v.core.Roster(), l.Peer), On: l.Ours.On,
				For: v.slugs(l.Ours.Repositories), Here: v.slugs(l.Ours.Live), There: v.slugs(workOf(l.Theirs)),
				Hides: l.Ours.Names != ledger.NamesKey{}, Email: v.core.Roster().Email(l.Peer),
			})
		}
	}
	slices.SortStableFunc(out, func(a, b page.Shared) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// workOf is what an end shares while its lane is on.
func workOf(s lanes.Switch) []uint64 {
	if !s.On {
		return nil
	}
	return s.Live
}

// inForce is the switch of this computer for its agents, what holds in each repository, and its policy.
func (l *live) inForce() (on bool, in []page.AgentsIn, out []page.Policy) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.repos {
		_, own := l.switches.Only[strings.ToLower(r.slug)]
		in = append(in, page.AgentsIn{Repository: r.slug, On: l.activeIn(r), Own: own, Lines: l.lines.on[strings.ToLower(r.slug)]})
		p := detect.DefaultPolicy()
		if r.policy.rules != nil {
			p = r.policy.rules.Policy()
		}
		shown := page.Policy{Repository: r.slug, Commit: r.policy.commit, Fault: r.policy.fault}
		for _, line := range p.Lines() {
			shown.Lines = append(shown.Lines, api.PolicyLine{Key: line.Key, Value: line.Value, Means: line.Means})
		}
		out = append(out, shown)
	}
	return l.switches.All, in, out
}

// codingAgents are the agents whose settings are on this computer. Those that have a command of their own to be looked
// at with are not asked: a page that is open looks every few seconds.
func (n *Node) codingAgents(ctx context.Context) (out []page.Tool) {
	set, err := n.home.Agents(AgentOptions{})
	if err != nil {
		return nil // the commands say what is wrong with the settings
	}
	for _, name := range set.Names() {
		if len(set.Command(name, "check")) > 0 {
			out = append(out, page.Tool{Name: name, Text: "set up by a command of its own: parley agents check " + name, Set: true})
			continue
		}
		f := set.Check(ctx, name)
		x := page.Tool{Name: name, Text: f.Text, Set: f.State != install.Absent}
		if f.State != install.Whole {
			x.Mend = strings.TrimPrefix(f.Mend, "run ")
		}
		out = append(out, x)
	}
	return out
}

// setNotices changes when this desktop is told of the inbox, as parley notices does.
func (n *Node) setNotices(_ context.Context, wish page.Notices) (api.Outcome, error) {
	now, err := n.home.Notices()
	if err != nil {
		return api.Outcome{}, err
	}
	if wish.On && !now.On {
		now.Snoozed = time.Time{}
	}
	now.On, now.Quiet = wish.On, wish.Quiet
	if err := n.home.SetNotices(now); err != nil {
		return api.Outcome{}, err
	}
	n.changed.Ring()
	said := "notices are off"
	if now.On {
		said = "notices are on"
		if now.Quiet != "" {
			said += ", none in the hours " + now.Quiet
		}
	}
	return api.Outcome{Text: said, Next: "parley notices show"}, nil
}
