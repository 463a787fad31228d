package mesh

import (
	"bufio"
	"context"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/parley-mesh/parley/ledger"
)

// taken is one press as the main computer saw it.
type taken struct {
	from ledger.Device
	p    ledger.Press
}

// listening lets the first computer take presses, or refuse them in the words given.
func listening(c *crew, refuse error) chan taken {
	got := make(chan taken, 4)
	c.meshes[0].c.Pressed = func(_ context.Context, from ledger.Device, p ledger.Press) error {
		got <- taken{from, p}
		return refuse
	}
	return got
}

func TestAPressReachesTheOtherComputerAsItWasMade(t *testing.T) { // P15
	for name, listen := range loopback {
		t.Run(name, func(t *testing.T) {
			c := newCrew(t, 2, listen)
			got := listening(c, nil)
			c.join()
			press := ledger.Press{Ledger: ledger.TID{7}, Action: ledger.PressAssign, Round: 3, Party: 2, At: 5}

			if err := c.meshes[1].Press(c.ctx, c.ids[0].Device(), press); err != nil {
				t.Fatal(err)
			}

			g := <-got
			g.p.Type = 0
			if g.from != c.ids[1].Device() || g.p != press {
				t.Errorf("it came as %+v", g)
			}
		})
	}
}

func TestARefusedPressComesBackInThePeersWords(t *testing.T) { // P15
	c := newCrew(t, 2, loopback["tcp"])
	c.join()
	press := ledger.Press{Ledger: ledger.TID{7}, Action: ledger.PressClose}
	for _, why := range []string{"", "another round has begun", strings.Repeat("ä", 300), "\xff"} {
		listening(c, errors.New(why))

		err := c.meshes[1].Press(c.ctx, c.ids[0].Device(), press)

		if !errors.Is(err, ErrPressRefused) || !utf8.ValidString(err.Error()) || len(why) < 100 && utf8.ValidString(why) && !strings.HasSuffix(err.Error(), why) {
			t.Errorf("%q comes back as %v", why, err)
		}
	}
	c.meshes[0].c.Pressed = nil
	if err := c.meshes[1].Press(c.ctx, c.ids[0].Device(), press); !errors.Is(err, ErrPressRefused) {
		t.Errorf("who takes no presses: %v", err)
	}
}

func TestAPressForWhoIsAwayIsNotSent(t *testing.T) {
	c := newCrew(t, 2, loopback["tcp"])
	got := listening(c, nil)
	press := ledger.Press{Ledger: ledger.TID{7}, Action: ledger.PressRound}
	if err := c.meshes[1].Press(c.ctx, c.ids[0].Device(), press); !errors.Is(err, ErrNotConnected) {
		t.Errorf("before they met: %v", err)
	}
	c.join()
	if err := c.meshes[1].Press(c.ctx, NewIdentity([32]byte{9}).Device(), press); !errors.Is(err, ErrNotConnected) {
		t.Errorf("to a stranger: %v", err)
	}
	if err := c.meshes[1].Press(c.ctx, c.ids[0].Device(), ledger.Press{Action: "push"}); err == nil {
		t.Error("an unknown button is pressed")
	}
	if len(got) > 0 {
		t.Errorf("%+v came", <-got)
	}
}

func TestOnlyMembersPress(t *testing.T) { // case 51
	c := newCrew(t, 2, loopback["tcp"])
	got := listening(c, nil)
	c.join()
	if _, err := c.meshes[0].Invite(InviteOptions{Name: "desktop"}); err != nil {
		t.Fatal(err)
	}
	all := newGate()
	all.all = true
	guest, err := newHost(NewIdentity([32]byte{99}), nil, all, nil) // comes in by the invitation
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = guest.Close() })
	if err := guest.Connect(c.ctx, peer.AddrInfo{ID: c.meshes[0].host.ID(), Addrs: c.meshes[0].host.Addrs()}); err != nil {
		t.Fatal(err)
	}
	s, err := guest.NewStream(network.WithNoDial(c.ctx, "test"), c.meshes[0].host.ID(), pressProtocol)
	if err == nil {
		_ = ledger.WriteFrame(s, &ledger.Press{Ledger: ledger.TID{7}, Action: ledger.PressRound}) // it may be refused by now
		var f ledger.Frame
		if f, err = ledger.ReadFrame(bufio.NewReader(s)); err == nil {
			t.Errorf("a stranger is answered %+v", f)
		}
	}
	if len(got) > 0 {
		t.Errorf("a stranger's press came: %+v", <-got)
	}
}
