package node

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/mesh"
	"github.com/parley-mesh/parley/node/api"
)

func TestEachWayOfNotJoiningIsOneLineThatSaysWhatToDo(t *testing.T) { // cases 53, 54
	home := newHome(t)
	stranger := ledger.InviteCode{Kind: ledger.InviteComputer, Inviter: mesh.NewIdentity([32]byte{9}).Device()}
	stranger.Addrs = [][]byte{{4, 127, 0, 0, 1, 6, 0, 1}} // nobody listens there
	if _, err := rand.Read(stranger.Secret[:]); err != nil {
		t.Fatal(err)
	}
	good, lane := stranger.Encode(), stranger
	lane.Kind = ledger.InviteLane
	for name, c := range map[string]struct{ code, says, hint string }{
		"foreign":      {"hello", "no invitation code", "from P1- to its end"},
		"cut off":      {good[:len(good)-3], "typing mistake", "once more"},
		"of a lane":    {lane.Encode(), "the code is for something else", "parley lane accept"},
		"nobody there": {good, "cannot be reached", "parley up there"},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		err := Join(ctx, home, c.code, "laptop", nil)
		cancel()
		f := api.Explain(err)
		if err == nil || !strings.Contains(f.Text, c.says) || !strings.Contains(f.Hint, c.hint) || strings.Contains(f.Text, "\n") {
			t.Errorf("%s: %q, hint %q", name, f.Text, f.Hint)
		}
	}
	for _, told := range []error{mesh.ErrWrongCode, mesh.ErrSpentCode, mesh.ErrExpired, mesh.ErrRefused} {
		if f := api.Explain(joinFault(told)); !errors.Is(joinFault(told), told) || !strings.Contains(f.Hint, "enter parley invite on the other computer") {
			t.Errorf("%v: hint %q", told, f.Hint)
		}
	}
}
