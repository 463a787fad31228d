package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/ledger/disk"
	"github.com/parley-mesh/parley/mesh"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/core"
	"github.com/parley-mesh/parley/node/internal/presence"
)

// inviteFor is how long a code serves.
const inviteFor = 10 * time.Minute

// invitations is the one invitation that may be open.
type invitations struct {
	mu   sync.Mutex
	open *invitation
}

// invitation is one code and how far it has come.
type invitation struct {
	id     string
	lane   bool   // another developer, and no computer of one's own
	cancel func() // lets nobody in any more
	mu     sync.Mutex
	state  api.InviteState
	bell   api.Bell
	yes    chan bool // the person's answer; holds one
}

func (i *invitation) set(s api.InviteState) {
	i.mu.Lock()
	i.state = s
	i.mu.Unlock()
	i.bell.Ring()
}

func (i *invitation) now() api.InviteState {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.state
}

// inviter is the running node as [api.Inviter].
type inviter struct{ n *Node }

var _ api.Inviter = inviter{}

// Invite opens an invitation; one that was open is cancelled.
func (v inviter) Invite(_ context.Context, p presence.Proof) (api.Invitation, error) {
	n := v.n
	if err := n.persons.Check(api.InviteAct(), p); err != nil {
		return api.Invitation{}, err
	}
	return n.openInvitation(false, func(i *invitation) (*mesh.Invitation, error) {
		return n.mesh.Invite(mesh.InviteOptions{
			TTL: inviteFor, Name: n.cfg.Name, Spend: n.spend,
			Confirm: i.confirm, Add: n.admit,
		})
	})
}

// openInvitation opens an invitation of either kind in place of the one that was open.
func (n *Node) openInvitation(lane bool, open func(*invitation) (*mesh.Invitation, error)) (api.Invitation, error) {
	n.invites.mu.Lock()
	defer n.invites.mu.Unlock()
	if n.invites.open != nil {
		n.invites.open.cancel()
	}
	i := &invitation{lane: lane, state: api.InviteState{State: api.InviteWaiting, Lane: lane}, yes: make(chan bool, 1)}
	pairing, err := open(i)
	if err != nil {
		return api.Invitation{}, err
	}
	i.cancel = pairing.Cancel
	code, err := ledger.ParseInviteCode(pairing.Code())
	if err != nil {
		return api.Invitation{}, err
	}
	i.id = inviteID(code)
	n.invites.open = i
	n.work.Go(func() { n.follow(i, pairing) })
	return api.Invitation{ID: i.id, Code: pairing.Code(), Expires: n.wall().Add(inviteFor)}, nil
}

func inviteID(code ledger.InviteCode) string {
	id := code.ID()
	return fmt.Sprintf("%x", id[:8])
}

// follow waits for an invitation's end.
func (n *Node) follow(i *invitation, pairing *mesh.Invitation) {
	ctx, cancel := context.WithTimeout(context.Background(), inviteFor+time.Minute)
	defer cancel()
	stop := context.AfterFunc(ctx, pairing.Cancel)
	defer stop()
	go func() { // ends with ctx
		select {
		case <-n.stopped:
			cancel()
		case <-ctx.Done():
		}
	}()
	paired, err := pairing.Wait(ctx)
	if err != nil {
		i.set(api.InviteState{State: api.InviteFailed, Text: err.Error(), Lane: i.lane})
		return
	}
	text := "let " + paired.Name + " join, after its words were compared"
	if i.lane {
		text = "agreed to a lane with " + paired.Name + ", after the words were compared"
	}
	n.acted("", text)
	i.set(api.InviteState{State: api.InviteJoined, Name: paired.Name, Lane: i.lane})
}

// confirm shows the name and words of the computer that asks, and waits for the person.
func (i *invitation) confirm(ctx context.Context, name string, words [4]string) (bool, error) {
	i.set(api.InviteState{State: api.InviteAsking, Name: name, Words: words, Lane: i.lane})
	select {
	case yes := <-i.yes:
		return yes, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// spentPrefix is where used invitations are remembered: a code serves once, over a crash too.
const spentPrefix = "spent/"

func (n *Node) spend(id ledger.Invite) error {
	key := []byte(spentPrefix + fmt.Sprintf("%x", id))
	have, err := n.store.Get(key)
	if err != nil {
		return err
	}
	if have != nil {
		return mesh.ErrSpentCode
	}
	_, err = n.store.Apply(disk.Batch{Put: []disk.Pair{{Key: key, Value: []byte{1}}}})
	return err
}

// admit writes the records that make a computer one of the fleet, on the loop, and returns the roster.
func (n *Node) admit(ctx context.Context, d ledger.Device, id ledger.Invite, accept ledger.Signature, name string) ([]*ledger.Record, error) {
	_, err := n.ask(ctx, func(n *Node) (api.Outcome, []core.Effect, error) {
		effects, err := n.append(core.Append{
			Ledger: n.fleet, Content: &ledger.Add{Device: d, Invite: id, Accept: accept}, Deps: n.deps(),
		})
		if err != nil {
			return api.Outcome{}, nil, err
		}
		if !n.core.Roster().Member(d) {
			return api.Outcome{}, effects, errors.New("the new computer's signature does not count")
		}
		more, err := n.append(core.Append{Ledger: n.fleet, Content: &ledger.Name{Device: d, Name: name}, Deps: n.deps()})
		return api.Outcome{}, append(effects, more...), err
	})
	if err != nil {
		return nil, err
	}
	return n.store.Records(n.fleet)
}

func (n *Node) invitation(id string) (*invitation, error) {
	n.invites.mu.Lock()
	defer n.invites.mu.Unlock()
	if n.invites.open == nil || n.invites.open.id != id {
		return nil, fmt.Errorf("%s: %w", id, api.ErrNoInvite)
	}
	return n.invites.open, nil
}

// AwaitInvite waits for news of an invitation.
func (v inviter) AwaitInvite(ctx context.Context, id, last string) (api.InviteState, error) {
	i, err := v.n.invitation(id)
	if err != nil {
		return api.InviteState{}, err
	}
	for {
		changed := i.bell.Changed()
		if s := i.now(); s.State != last {
			return s, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return i.now(), nil
		case <-v.n.stopped:
			return i.now(), errStopping
		}
	}
}

// ConfirmInvite lets the computer in whose name and words the person saw.
func (v inviter) ConfirmInvite(_ context.Context, id string, p presence.Proof) (api.Outcome, error) {
	i, err := v.n.invitation(id)
	if err != nil {
		return api.Outcome{}, err
	}
	s := i.now()
	if s.State == api.InviteFailed {
		return api.Outcome{}, fmt.Errorf("%w: %s", api.ErrCode, s.Text)
	}
	if s.State != api.InviteAsking {
		return api.Outcome{}, fmt.Errorf("%s: %w", id, api.ErrNoInvite)
	}
	if err := v.n.persons.Check(api.ConfirmAct(id, s), p); err != nil {
		return api.Outcome{}, err
	}
	select {
	case i.yes <- true:
	default: // answered already
	}
	if s.Lane {
		return api.Outcome{Text: "agreed here to a lane with " + s.Name, Next: "parley lane list"}, nil
	}
	return api.Outcome{Text: s.Name + " joins", Next: "parley status"}, nil
}

// CancelInvite lets nobody in by this code.
func (v inviter) CancelInvite(_ context.Context, id string) (api.Outcome, error) {
	i, err := v.n.invitation(id)
	if err != nil {
		return api.Outcome{}, err
	}
	select {
	case i.yes <- false:
	default: // answered already
	}
	i.cancel()
	return api.Outcome{Text: "the invitation is cancelled"}, nil
}
