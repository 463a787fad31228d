package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/mesh"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/core"
	"github.com/parley-mesh/parley/node/internal/presence"
)

// laner is the running node as [api.Laner].
type laner struct{ n *Node }

var _ api.Laner = laner{}

// InviteLane makes a code for another developer; an invitation that was open is cancelled.
func (v laner) InviteLane(_ context.Context, as string, p presence.Proof) (api.Invitation, error) {
	n := v.n
	if err := n.persons.Check(api.LaneInviteAct(as), p); err != nil {
		return api.Invitation{}, err
	}
	return n.openInvitation(true, func(i *invitation) (*mesh.Invitation, error) { return n.mesh.InviteLane(n.laneOptions(i, as)) })
}

// AcceptLane follows another developer's code, beside everything else that runs.
func (v laner) AcceptLane(_ context.Context, code, as string, p presence.Proof) (api.Invitation, error) {
	n := v.n
	if err := n.persons.Check(api.LaneAcceptAct(code, as), p); err != nil {
		return api.Invitation{}, err
	}
	read, err := ledger.ParseInviteCode(code)
	if err != nil {
		return api.Invitation{}, fmt.Errorf("lane accept: %w: %w", api.ErrCode, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), inviteFor)
	i := &invitation{id: inviteID(read), lane: true, cancel: cancel, state: api.InviteState{State: api.InviteWaiting, Lane: true}, yes: make(chan bool, 1)}
	n.invites.mu.Lock()
	if n.invites.open != nil {
		n.invites.open.cancel()
	}
	n.invites.open = i
	n.invites.mu.Unlock()
	stopping := make(chan struct{})
	n.work.Go(func() {
		defer close(stopping)
		defer cancel()
		l, err := n.mesh.AcceptLane(ctx, code, n.laneOptions(i, as))
		if err != nil {
			i.set(api.InviteState{State: api.InviteFailed, Text: err.Error(), Lane: true})
			return
		}
		i.set(api.InviteState{State: api.InviteJoined, Name: l.Name, Lane: true})
	})
	n.work.Go(func() {
		select {
		case <-n.stopped:
			cancel()
		case <-stopping:
		}
	})
	return api.Invitation{ID: i.id}, nil
}

func (n *Node) laneOptions(i *invitation, as string) mesh.LaneOptions {
	if as == "" {
		as = n.cfg.Name
	}
	return mesh.LaneOptions{
		TTL: inviteFor, Name: as, Spend: n.spend, Confirm: i.confirm,
		Roster: func() ([]*ledger.Record, error) {
			records, err := n.store.Records(n.fleet)
			return lanes.VisibleRoster(n.fleet, records), err
		},
		Bind: n.bindLane,
	}
}

// bindLane writes down what two persons agreed to. What the other side showed comes first, so that the pairing
// counts as soon as it is stored.
func (n *Node) bindLane(ctx context.Context, l mesh.LanePaired) error {
	if !lanes.FoldVisible(l.Fleet, l.Roster).Member(l.Device) {
		return errors.New("the roster that the other side shows does not hold its computer")
	}
	if _, err := n.keepLoose(l.Fleet, l.Roster); err != nil {
		return err
	}
	n.rememberPeer(l.Device, l.Addrs)
	_, err := n.ask(ctx, func(n *Node) (api.Outcome, []core.Effect, error) {
		effects, err := n.append(core.Append{
			Ledger: n.fleet, Deps: n.core.Roster().Deps(n.id.Device()),
			Content: &ledger.LaneBind{Fleet: l.Fleet, Invite: l.Invite, Accept: l.Accept, Name: l.Name},
		})
		if now, ok := n.lanes.of(l.Fleet); err == nil && (!ok || !now.Bound) {
			err = errors.New("the other side's signature does not count")
		}
		return api.Outcome{}, append(effects, n.hearLoose(l.Fleet)...), err
	})
	return err
}

// SwitchLane switches a lane on for repositories, or off.
func (v laner) SwitchLane(ctx context.Context, id string, repositories []string, on bool, p presence.Proof) (api.Outcome, error) {
	return v.n.change(ctx, func(n *Node) (api.Outcome, []core.Effect, error) {
		if err := n.persons.Check(api.LaneSwitchAct(id, repositories, on), p); err != nil {
			return api.Outcome{}, nil, err
		}
		l, err := n.laneNamed(id)
		if err != nil {
			return api.Outcome{}, nil, err
		}
		name := laneName(n.core.Roster(), l.Peer)
		next, said := core.Append{Ledger: l.Ledger, After: l.After(), Content: &ledger.LaneOff{}}, "the lane to "+name+" is off"
		if on {
			ids, err := n.repositoryIDs(repositories)
			if err != nil {
				return api.Outcome{}, nil, err
			}
			next.Content, said = l.SwitchOn(ids), fmt.Sprintf("the lane to %s is on here for %s", name, strings.Join(repositories, ", "))
		}
		effects, err := n.append(next)
		if err != nil {
			err = fmt.Errorf("switch the lane to %s: %w", name, err)
		}
		return api.Outcome{Text: said, Next: "parley lane list"}, effects, err
	})
}

func (n *Node) laneNamed(id string) (lanes.Lane, error) {
	for _, l := range n.lanes.get() {
		if l.Peer.String() == id && l.Bound {
			return l, nil
		}
	}
	return lanes.Lane{}, fmt.Errorf("%q: %w", id, api.ErrNoLane)
}

// repositoryIDs are the numbers by which GitHub knows configured repositories.
func (n *Node) repositoryIDs(slugs []string) ([]uint64, error) {
	var out []uint64
	for _, slug := range slugs {
		w := n.workspaceNamed(slug)
		if w == nil {
			return nil, fmt.Errorf("%s: %w", slug, api.ErrNoRepository)
		}
		id := w.repository().ID
		if id == 0 {
			return nil, api.WithHint(fmt.Errorf("%s: %w: GitHub has not answered yet which repository that is", slug, api.ErrNotNow), "run the command again in a moment")
		}
		out = append(out, uint64(id))
	}
	if len(out) == 0 {
		return nil, api.WithHint(fmt.Errorf("lane on: %w: it wants at least one repository", api.ErrUsage), "name it with --repo owner/name")
	}
	return out, nil
}

// SetTeammates is the switch that lets teammates' conflicts start conversations too (P12).
func (v laner) SetTeammates(ctx context.Context, on bool, p presence.Proof) (api.Outcome, error) {
	return v.n.change(ctx, func(n *Node) (api.Outcome, []core.Effect, error) {
		if err := n.persons.Check(api.TeammatesAct(on), p); err != nil {
			return api.Outcome{}, nil, err
		}
		word := "off"
		if on {
			word = "on"
		}
		effects := n.core.SetTeammates(on, n.wall())
		return api.Outcome{Text: api.Teammates + ": " + word, Next: "parley status"}, effects, nil
	})
}

// Lanes lists the links to other developers.
func (r reader) Lanes() ([]api.Lane, error) {
	peers := r.n.mesh.Peers()
	return view(r.n, func(v viewer) ([]api.Lane, error) { return v.lanes(peers), nil })
}

// Lanes lists them as the home was left.
func (s *still) Lanes() ([]api.Lane, error) { return s.view.lanes(nil), nil }

func (v viewer) lanes(peers []mesh.PeerStatus) []api.Lane {
	var out []api.Lane
	for _, l := range v.folded {
		if l.Bound {
			out = append(out, v.lane(l, peers))
		}
	}
	slices.SortStableFunc(out, func(a, b api.Lane) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func (v viewer) lane(l lanes.Lane, peers []mesh.PeerStatus) api.Lane {
	out := api.Lane{
		ID: l.Peer.String(), Party: ledger.LaneParty(l.Peer).String(), Name: laneName(v.core.Roster(), l.Peer),
		Here: l.Ours.On, There: l.Theirs.On, Repositories: v.slugs(l.Ours.Repositories),
		Shares: v.slugs(l.Ours.Live), Hides: l.Ours.Names != ledger.NamesKey{},
		TheyShare: v.slugs(l.Theirs.Live), TheyHide: l.Theirs.Names != ledger.NamesKey{},
	}
	if g, ok := l.Grant(); ok {
		out.Computers = len(g.Computers())
		out.Common = v.slugs(slices.DeleteFunc(slices.Clone(l.Ours.Repositories), func(id uint64) bool { return !g.Covers(id) }))
		out.Connected = slices.ContainsFunc(peers, func(p mesh.PeerStatus) bool { return p.Connected && g.To(p.Device) })
	}
	if l.Account != nil {
		out.Account = l.Account.Login
	}
	out.State = laneState(out)
	return out
}

func laneState(l api.Lane) string {
	switch {
	case !l.Here:
		return "off here: nothing is sent to them"
	case !l.There:
		return "on here, and not known to be on at their end"
	case len(l.Common) == 0:
		return "on at both ends, for no repository in common"
	case !l.Connected:
		return "on, and none of their computers is connected"
	}
	return "on"
}

// slugs are the names of repositories where they are known here, else their numbers.
func (v viewer) slugs(ids []uint64) []string {
	var out []string
	for _, id := range ids {
		name := fmt.Sprint(id)
		for i, r := range v.core.Repos() {
			if r.ID == id {
				name = v.cfg.Repositories[i].Slug
			}
		}
		out = append(out, name)
	}
	return out
}
