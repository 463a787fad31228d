package mesh

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/parley-mesh/parley/ledger"
)

// inviter is a mesh with a person who says yes or no, and a roster of one genesis.
type inviter struct {
	*crew
	mu     sync.Mutex
	spent  map[ledger.Invite]bool
	yes    bool
	asked  []string
	words  [4]string
	joined ledger.Device
	roster []*ledger.Record
}

func newInviter(t *testing.T) *inviter {
	c := newCrew(t, 2, loopback["quic"])
	c.meshes[0].SetMembers(c.devices()[:1])
	i := &inviter{crew: c, spent: map[ledger.Invite]bool{}, yes: true}
	nonce := [16]byte{1}
	own := ledger.FleetID(c.ids[0].Device(), nonce)
	c.meshes[0].c.Fleet = own
	r, err := ledger.Seal(c.ids[0].Key(), ledger.Header{Ledger: own, Lam: 1}, &ledger.Genesis{Nonce: nonce})
	if err != nil {
		t.Fatal(err)
	}
	i.roster = []*ledger.Record{r}
	return i
}

func (i *inviter) options() InviteOptions {
	return InviteOptions{
		Name: "desktop",
		Spend: func(id ledger.Invite) error {
			i.mu.Lock()
			defer i.mu.Unlock()
			if i.spent[id] {
				return ErrSpentCode
			}
			i.spent[id] = true
			return nil
		},
		Confirm: func(_ context.Context, name string, words [4]string) (bool, error) {
			i.mu.Lock()
			defer i.mu.Unlock()
			i.asked, i.words = append(i.asked, name), words
			return i.yes, nil
		},
		Add: func(_ context.Context, d ledger.Device, _ ledger.Invite, _ ledger.Signature, _ string) ([]*ledger.Record, error) {
			i.joined = d
			return i.roster, nil
		},
	}
}

func (i *inviter) invite(change func(*InviteOptions)) *Invitation {
	i.t.Helper()
	o := i.options()
	if change != nil {
		change(&o)
	}
	in, err := i.meshes[0].Invite(o)
	if err != nil {
		i.t.Fatal(err)
	}
	return in
}

// ask joins with a code as the second computer, which does not run meanwhile.
func (i *inviter) ask(code string, show func([4]string, string)) (Joined, error) {
	ctx, cancel := context.WithTimeout(i.ctx, 20*time.Second)
	defer cancel()
	return Join(ctx, JoinOptions{Identity: NewIdentity([32]byte{77}), Code: code, Name: "laptop", Listen: []string{loopback["quic"]}, Show: show})
}

func TestBothScreensShowTheSameWordsAndTheRosterComes(t *testing.T) {
	i := newInviter(t)
	in := i.invite(nil)
	var shown [4]string

	joined, err := i.ask(in.Code(), func(w [4]string, name string) {
		shown = w
		if name != "desktop" {
			t.Errorf("invited by %q", name)
		}
	})
	if err != nil {
		t.Fatal(err)
	}

	paired, err := in.Wait(i.ctx)
	if err != nil || paired.Name != "laptop" || paired.Device != i.joined {
		t.Errorf("paired %+v, %v", paired, err)
	}
	if shown != i.words || shown[0] == "" {
		t.Errorf("one screen shows %v, the other %v", shown, i.words)
	}
	if len(joined.Roster) != 1 || joined.Fleet != i.meshes[0].c.Fleet || len(joined.Addrs) == 0 {
		t.Errorf("joined %+v", joined)
	}
}

// altered is a good code with something changed in it.
func altered(change func(*ledger.InviteCode)) func(*inviter) string {
	return func(i *inviter) string {
		code, err := ledger.ParseInviteCode(i.invite(nil).Code())
		if err != nil {
			i.t.Fatal(err)
		}
		change(&code)
		return code.Encode()
	}
}

func TestEachWayOfNotJoiningHasItsOwnWord(t *testing.T) { // cases 53, 54
	for name, c := range map[string]struct {
		prepare func(*inviter) string // the code that is typed
		want    error
	}{
		"no code at all": {func(*inviter) string { return "hello" }, ledger.ErrNoCode},
		"a slip of the finger": {func(i *inviter) string {
			code := []byte(i.invite(nil).Code())
			code[40] ^= 1
			if code[40] == '@' || code[40] > 'Z' || code[40] < '2' {
				code[40] = 'A'
			}
			return string(code)
		}, ledger.ErrCodeDamaged},
		"another secret": {altered(func(c *ledger.InviteCode) { c.Secret[0] ^= 1 }), ErrWrongCode},
		"of a lane":      {altered(func(c *ledger.InviteCode) { c.Kind = ledger.InviteLane }), ErrOtherKind},
		"used before": {func(i *inviter) string {
			in := i.invite(nil)
			if _, err := i.ask(in.Code(), nil); err != nil {
				i.t.Fatal(err)
			}
			if _, err := in.Wait(i.ctx); err != nil {
				i.t.Fatal(err)
			}
			return in.Code()
		}, ErrSpentCode},
		"expired": {func(i *inviter) string {
			in := i.invite(func(o *InviteOptions) { o.TTL = time.Millisecond })
			if _, err := in.Wait(i.ctx); !errors.Is(err, ErrExpired) {
				i.t.Errorf("the inviter is told %v", err)
			}
			return in.Code()
		}, ErrExpired},
		"the person says no": {func(i *inviter) string {
			i.yes = false
			return i.invite(nil).Code()
		}, ErrRefused},
		"spent durably, then crashed": {func(i *inviter) string {
			in := i.invite(nil)
			i.spent[in.code.ID()] = true
			return in.Code()
		}, ErrSpentCode},
		"nobody there": {altered(func(c *ledger.InviteCode) { c.Inviter = NewIdentity([32]byte{99}).Device() }), ErrUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			i := newInviter(t)
			code := c.prepare(i)

			_, err := i.ask(code, nil)

			if !errors.Is(err, c.want) {
				t.Errorf("the joiner is told %v, want %v", err, c.want)
			}
		})
	}
}

func TestACodeIsBurntByThreeWrongSecrets(t *testing.T) {
	i := newInviter(t)
	in := i.invite(nil)
	wrong, err := ledger.ParseInviteCode(in.Code())
	if err != nil {
		t.Fatal(err)
	}
	wrong.Secret[3] ^= 1
	for range wrongMax {
		if _, err := i.ask(wrong.Encode(), nil); err == nil {
			t.Fatal("a wrong secret was taken")
		}
	}

	if _, err := in.Wait(i.ctx); !errors.Is(err, ErrWrongCode) {
		t.Errorf("the inviter is told %v", err)
	}
	if _, err := i.ask(in.Code(), nil); err == nil {
		t.Error("the burnt code still serves")
	}
	if len(i.asked) > 0 {
		t.Errorf("the person was asked about %q", i.asked)
	}
}

func TestAYesAfterTheEndAddsNobody(t *testing.T) {
	i := newInviter(t)
	var in *Invitation
	in = i.invite(func(o *InviteOptions) {
		o.Confirm = func(ctx context.Context, _ string, _ [4]string) (bool, error) {
			in.Cancel()
			<-ctx.Done()
			return true, nil
		}
	})

	_, err := i.ask(in.Code(), nil)

	if !errors.Is(err, ErrRefused) {
		t.Errorf("the joiner is told %v", err)
	}
	if i.joined != (ledger.Device{}) {
		t.Error("it was added")
	}
}

func TestARunOfPairingDoesNotOutliveItsCode(t *testing.T) {
	i := newInviter(t)
	for name, c := range map[string]struct {
		change func(*Invitation)
		want   error
	}{
		"burnt by others":  {func(in *Invitation) { in.wrong = wrongMax }, ErrSpentCode},
		"taken by another": {func(in *Invitation) { in.taken = true }, ErrSpentCode},
		"expired":          {func(in *Invitation) { in.cancel() }, ErrExpired},
		"still good":       {func(*Invitation) {}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			in := i.invite(nil)
			d, n := NewIdentity([32]byte{77}).Device(), ledger.Nonces{Challenge: [16]byte{1}}
			join := plea{kind: ledger.InviteComputer, invite: in.code.ID(), name: "laptop", mac: in.code.JoinMAC(d, n, "laptop")}
			in.mu.Lock()
			c.change(in)
			in.mu.Unlock()

			if err := in.prove(join, d, n); !errors.Is(err, c.want) || c.want == nil && err != nil {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
}
