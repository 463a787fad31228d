package netns

import (
	"context"
	"io"
	"os"

	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/mesh"
)

// invite opens an invitation, tells its code, and later who joined. The person here says yes to everybody.
func (b *book) invite() error {
	i, err := b.m.Invite(mesh.InviteOptions{
		Name:    "inviter",
		Spend:   func(ledger.Invite) error { return nil },
		Confirm: func(context.Context, string, [4]string) (bool, error) { return true, nil },
		Add: func(context.Context, ledger.Device, ledger.Invite, ledger.Signature, string) ([]*ledger.Record, error) {
			return nil, nil
		},
	})
	if err != nil {
		return err
	}
	tell(Fact{What: "code", Text: i.Code()})
	b.work.Go(func() {
		if p, err := i.Wait(context.Background()); err == nil {
			tell(Fact{What: "paired", Text: p.Name})
		}
	})
	return nil
}

// join follows a code as a computer that belongs to nobody, and tells the inviter's name.
func join(ctx context.Context, s Setup) error {
	tell(Fact{What: "ready", Addrs: s.Listen})
	j, err := mesh.Join(ctx, mesh.JoinOptions{Identity: Seeded(s.Seed), Code: s.Code, Name: "joiner", Listen: s.Listen})
	if err != nil {
		return err
	}
	tell(Fact{What: "paired", Text: j.InviterName})
	_, _ = io.Copy(io.Discard, os.Stdin)
	return nil
}
