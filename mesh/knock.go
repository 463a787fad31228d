package mesh

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/parley-mesh/parley/ledger"
)

// knocker follows the addresses of a code.
type knocker struct {
	h       host.Host
	code    ledger.InviteCode
	inviter peer.ID
	visit   func(peer.ID) (done func()) // lets a stranger be dialled
}

const (
	directTime = 5 * time.Second // to reach the inviter where it listens, if there is a relay beside
	knockTries = 5
	knockEvery = 2 * time.Second // the inviter may not have told the relay yet
)

// connect reaches the inviter where it listens, else by a relay that the code tells. What it returns is done when all
// was said.
func (k knocker) connect(ctx context.Context) (done func(), err error) {
	addrs, err := addrsOf(k.code)
	if err != nil {
		return nil, err
	}
	direct := slices.DeleteFunc(slices.Clone(addrs), circuit)
	over := slices.DeleteFunc(addrs, func(a ma.Multiaddr) bool { return !circuit(a) })
	err = errors.New("the code tells no address")
	if len(direct) > 0 {
		soon, cancel := ctx, func() {}
		if len(over) > 0 {
			soon, cancel = context.WithTimeout(ctx, directTime)
		}
		err = k.h.Connect(soon, peer.AddrInfo{ID: k.inviter, Addrs: direct})
		cancel()
		if err == nil {
			return func() {}, nil
		}
	}
	for _, a := range over {
		relay, ok := relayIn(a)
		if !ok || relay.ID == k.inviter {
			continue
		}
		done := k.visit(relay.ID)
		knocked := k.knock(ctx, relay)
		if knocked == nil {
			knocked = k.h.Connect(ctx, peer.AddrInfo{ID: k.inviter, Addrs: []ma.Multiaddr{a}})
		}
		if knocked == nil {
			return done, nil
		}
		done()
		err = errors.Join(err, knocked)
	}
	return nil, fmt.Errorf("%w: %v", ErrUnreachable, err)
}

var errNoDoor = errors.New("the relay knows of no such invitation")

// knock shows a relay the pass until it lets this computer through.
func (k knocker) knock(ctx context.Context, relay peer.AddrInfo) error {
	var err error
	for i := range knockTries {
		if i > 0 {
			timer := time.NewTimer(knockEvery)
			select {
			case <-timer.C:
			case <-ctx.Done():
				timer.Stop()
				return errors.Join(err, ctx.Err())
			}
		}
		if err = k.knockOnce(ctx, relay); err == nil {
			return nil
		}
	}
	return err
}

func (k knocker) knockOnce(ctx context.Context, relay peer.AddrInfo) error {
	ctx, cancel := context.WithTimeout(network.WithForceDirectDial(ctx, "parley"), relayTimeout)
	defer cancel()
	if err := k.h.Connect(ctx, relay); err != nil {
		return err
	}
	s, err := k.h.NewStream(ctx, relay.ID, passProtocol)
	if err != nil {
		return err
	}
	pass := k.code.Pass()
	var word passWord
	if err := tradeJSON(s, passAsk{Version: 1, To: k.code.Inviter.String(), Pass: hex.EncodeToString(pass[:])}, &word); err != nil {
		_ = s.Reset() // nothing more comes of it
		return err
	}
	_ = s.Close() // the answer is here
	if !word.Through {
		return errNoDoor
	}
	return nil
}
