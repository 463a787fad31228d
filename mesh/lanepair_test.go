package mesh

import (
	"context"
	"crypto/ed25519"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/parley-mesh/parley/ledger"
)

// developer is a computer of a fleet of its own, with its person.
type developer struct {
	m       *Mesh
	id      Identity
	mu      sync.Mutex
	asked   []string
	words   [4]string
	yes     bool
	spent   map[ledger.Invite]bool
	bound   []LanePaired
	genesis *ledger.Record
}

// developers are two developers whose computers have never met.
type developers struct {
	*crew
	dev [2]*developer
}

func newDevelopers(t *testing.T) *developers {
	t.Helper()
	n := &developers{crew: newCrew(t, 2, loopback["quic"])}
	for i, m := range n.meshes {
		nonce := [16]byte{byte(i)}
		d := &developer{m: m, id: n.ids[i], yes: true, spent: map[ledger.Invite]bool{}}
		m.c.Fleet = ledger.FleetID(d.id.Device(), nonce)
		r, err := ledger.Seal(d.id.Key(), ledger.Header{Ledger: m.c.Fleet, Lam: 1}, &ledger.Genesis{Nonce: nonce})
		if err != nil {
			t.Fatal(err)
		}
		d.genesis = r
		n.dev[i] = d
	}
	return n
}

func (d *developer) options() LaneOptions {
	return LaneOptions{
		Name: "dev" + string(rune('0'+d.id.Device()[0]%10)),
		Spend: func(id ledger.Invite) error {
			d.mu.Lock()
			defer d.mu.Unlock()
			if d.spent[id] {
				return ErrSpentCode
			}
			d.spent[id] = true
			return nil
		},
		Confirm: func(_ context.Context, name string, words [4]string) (bool, error) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.asked, d.words = append(d.asked, name), words
			return d.yes, nil
		},
		Roster: func() ([]*ledger.Record, error) { return []*ledger.Record{d.genesis}, nil },
		Bind: func(_ context.Context, l LanePaired) error {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.bound = append(d.bound, l)
			return nil
		},
	}
}

func (n *developers) invite(change func(*LaneOptions)) *Invitation {
	n.t.Helper()
	o := n.dev[0].options()
	if change != nil {
		change(&o)
	}
	in, err := n.meshes[0].InviteLane(o)
	if err != nil {
		n.t.Fatal(err)
	}
	return in
}

func (n *developers) accept(code string) (LanePaired, error) {
	ctx, cancel := context.WithTimeout(n.ctx, 20*time.Second)
	defer cancel()
	return n.meshes[1].AcceptLane(ctx, code, n.dev[1].options())
}

func TestTwoDevelopersPairWhenBothPersonsSayYes(t *testing.T) { // P3, P4
	n := newDevelopers(t)
	in := n.invite(nil)

	got, err := n.accept(in.Code())
	if err != nil {
		t.Fatal(err)
	}
	paired, err := in.Wait(n.ctx)
	if err != nil || paired.Device != n.ids[1].Device() || paired.Fleet != n.meshes[1].c.Fleet {
		t.Fatalf("paired %+v, %v", paired, err)
	}

	a, b := n.dev[0], n.dev[1]
	if a.words != b.words || a.words[0] == "" {
		t.Errorf("one screen shows %v, the other %v", a.words, b.words)
	}
	if len(a.bound) != 1 || len(b.bound) != 1 || got.Fleet != n.meshes[0].c.Fleet {
		t.Fatalf("bound %d and %d times", len(a.bound), len(b.bound))
	}
	lane := ledger.LaneID(n.meshes[0].c.Fleet, n.meshes[1].c.Fleet)
	for i, l := range []LanePaired{a.bound[0], b.bound[0]} {
		other := n.dev[1-i]
		statement := ledger.LaneStatement(lane, in.code.ID(), n.ids[i].Device())
		if l.Device != other.id.Device() || !ed25519.Verify(l.Device[:], statement, l.Accept[:]) || l.Invite != in.code.ID() {
			t.Errorf("end %d bound %+v", i, l)
		}
		if len(l.Roster) != 1 || l.Roster[0].ID != other.genesis.ID || len(l.Addrs) == 0 {
			t.Errorf("end %d keeps %d records and addresses %v", i, len(l.Roster), l.Addrs)
		}
	}
	for i, m := range n.meshes {
		if m.gate.member(n.meshes[1-i].host.ID()) || len(m.Peers()) > 0 {
			t.Errorf("end %d takes the other for a computer of its own", i)
		}
	}
	n.apart()
}

// apart waits until the two have no connection left.
func (n *developers) apart() {
	n.t.Helper()
	for len(n.meshes[0].host.Network().Conns())+len(n.meshes[1].host.Network().Conns()) > 0 {
		select {
		case <-time.After(time.Millisecond):
		case <-n.ctx.Done():
			n.t.Fatal("they are still connected")
		}
	}
}

// unpaired are the ways in which no lane comes about; each prepares the code that is typed.
var unpaired = map[string]struct {
	prepare func(*developers) string
	want    error
}{
	"the code of a computer": {func(n *developers) string {
		in, err := n.meshes[0].Invite(InviteOptions{})
		if err != nil {
			n.t.Fatal(err)
		}
		return in.Code()
	}, ErrOtherKind},
	"the code of a computer, made to look like a lane's": {func(n *developers) string {
		in, err := n.meshes[0].Invite(InviteOptions{})
		if err != nil {
			n.t.Fatal(err)
		}
		in.code.Kind = ledger.InviteComputer
		forged := in.code
		forged.Kind = ledger.InviteLane
		return forged.Encode()
	}, ErrWrongCode},
	"another secret": {func(n *developers) string {
		code := n.invite(nil).code
		code.Secret[0] ^= 1
		return code.Encode()
	}, ErrWrongCode},
	"expired": {func(n *developers) string {
		in := n.invite(func(o *LaneOptions) { o.TTL = time.Millisecond })
		if _, err := in.Wait(n.ctx); !errors.Is(err, ErrExpired) {
			n.t.Errorf("the inviter is told %v", err)
		}
		return in.Code()
	}, ErrExpired},
	"spent durably, then crashed": {func(n *developers) string {
		in := n.invite(nil)
		n.dev[0].spent[in.code.ID()] = true
		return in.Code()
	}, ErrSpentCode},
	"the inviter's person says no": {func(n *developers) string {
		n.dev[0].yes = false
		return n.invite(nil).Code()
	}, ErrRefused},
	"the other person says no": {func(n *developers) string {
		n.dev[1].yes = false
		return n.invite(nil).Code()
	}, ErrRefused},
	"cancelled": {func(n *developers) string {
		in := n.invite(nil)
		in.Cancel()
		return in.Code()
	}, ErrRefused},
	"of the same fleet": {func(n *developers) string {
		n.meshes[1].c.Fleet = n.meshes[0].c.Fleet
		return n.invite(nil).Code()
	}, ErrOwnFleet},
	"of a computer of the same fleet": {func(n *developers) string {
		n.meshes[1].SetMembers(n.devices())
		return n.invite(nil).Code()
	}, ErrOwnFleet},
	"nobody there": {func(n *developers) string {
		code := n.invite(nil).code
		code.Inviter = NewIdentity([32]byte{99}).Device()
		return code.Encode()
	}, ErrUnreachable},
}

func TestEachWayOfNotPairingHasItsOwnWordAndBindsNothing(t *testing.T) { // P3, cases 53, 54
	for name, c := range unpaired {
		t.Run(name, func(t *testing.T) {
			n := newDevelopers(t)

			_, err := n.accept(c.prepare(n))

			if !errors.Is(err, c.want) && !(c.want == ErrOwnFleet && errors.Is(err, ErrRefused)) {
				t.Errorf("it says %v, want %v", err, c.want)
			}
			if got := len(n.dev[0].bound) + len(n.dev[1].bound); got > 0 {
				t.Errorf("%d ends bound a lane", got)
			}
		})
	}
}

func TestALanesCodeLetsNoComputerJoin(t *testing.T) { // P3
	n := newDevelopers(t)
	in := n.invite(nil)
	forged := in.code
	forged.Kind = ledger.InviteComputer
	for code, want := range map[string]error{in.Code(): ErrOtherKind, forged.Encode(): ErrWrongCode} {
		_, err := Join(n.ctx, JoinOptions{Identity: NewIdentity([32]byte{77}), Code: code, Name: "laptop", Listen: []string{loopback["quic"]}})
		if !errors.Is(err, want) {
			t.Errorf("it says %v, want %v", err, want)
		}
	}
	if len(n.dev[0].asked)+len(n.dev[0].bound) > 0 {
		t.Error("the person was asked")
	}
}

func TestALanesCodeServesOnce(t *testing.T) { // case 53
	n := newDevelopers(t)
	in := n.invite(nil)
	if _, err := n.accept(in.Code()); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Wait(n.ctx); err != nil {
		t.Fatal(err)
	}

	_, err := n.accept(in.Code())

	if !errors.Is(err, ErrSpentCode) {
		t.Errorf("the second time it says %v", err)
	}
}

func TestASignatureOfAnotherKeyPairsNothing(t *testing.T) { // P5
	n := newDevelopers(t)
	in := n.invite(nil)
	n.meshes[1].c.Identity = thief{n.ids[1]}.identity()

	_, err := n.accept(in.Code())

	if err == nil || len(n.dev[0].bound) > 0 {
		t.Errorf("%v, and the inviter bound %d lanes", err, len(n.dev[0].bound))
	}
}

// thief speaks with a transport key and signs with another.
type thief struct{ Identity }

func (thief) identity() Identity { return NewIdentity([32]byte{66}) }

func TestAPairingThatIsCancelledAsksAndBindsNobody(t *testing.T) { // P3
	n := newDevelopers(t)
	var in *Invitation
	in = n.invite(func(o *LaneOptions) {
		o.Confirm = func(ctx context.Context, _ string, _ [4]string) (bool, error) {
			in.Cancel()
			<-ctx.Done()
			return true, nil // too late
		}
	})

	_, err := n.accept(in.Code())

	if !errors.Is(err, ErrRefused) || len(n.dev[0].bound)+len(n.dev[1].bound) > 0 {
		t.Errorf("%v, bound %d and %d", err, len(n.dev[0].bound), len(n.dev[1].bound))
	}
}

func TestAnInviterIsSpokenWithAboutThePairingAlone(t *testing.T) { // S12
	n := newDevelopers(t)
	var during []string
	in := n.invite(func(o *LaneOptions) {
		o.Confirm = func(context.Context, string, [4]string) (bool, error) {
			for _, conn := range n.meshes[1].host.Network().Conns() {
				for _, s := range conn.GetStreams() {
					during = append(during, string(s.Protocol()))
				}
			}
			return true, nil
		}
	})
	if _, err := n.accept(in.Code()); err != nil {
		t.Fatal(err)
	}
	for _, p := range during {
		if !slices.Contains([]string{string(pairProtocol), "/ipfs/id/1.0.0", "/ipfs/id/push/1.0.0", "/meshsub/1.3.0", ""}, p) {
			t.Errorf("a stream of %s", p)
		}
	}
}
