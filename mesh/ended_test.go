package mesh

import (
	"errors"
	"testing"

	"github.com/parley-mesh/parley/ledger"
)

// unknown is a code with the inviter's key and addresses and a secret that was never given out.
func unknown(t *testing.T, code string) string {
	t.Helper()
	c, err := ledger.ParseInviteCode(code)
	if err != nil {
		t.Fatal(err)
	}
	c.Secret[0] ^= 1
	return c.Encode()
}

func TestWhoComesTooLateIsToldWhatBecameOfTheCode(t *testing.T) { // case 53
	for name, c := range map[string]struct {
		end  func(*inviter, *Invitation)
		want error
	}{
		"cancelled": {func(_ *inviter, in *Invitation) { in.Cancel() }, ErrRefused},
		"declined": {func(i *inviter, in *Invitation) {
			i.yes = false
			if _, err := i.ask(in.Code(), nil); !errors.Is(err, ErrRefused) {
				i.t.Errorf("the first joiner is told %v", err)
			}
		}, ErrRefused},
		"used": {func(i *inviter, in *Invitation) {
			if _, err := i.ask(in.Code(), nil); err != nil {
				i.t.Error(err)
			}
		}, ErrSpentCode},
		"burnt": {func(i *inviter, in *Invitation) {
			for range wrongMax {
				if _, err := i.ask(unknown(t, in.Code()), nil); !errors.Is(err, ErrWrongCode) {
					i.t.Errorf("a wrong secret: %v", err)
				}
			}
		}, ErrSpentCode},
	} {
		t.Run(name, func(t *testing.T) {
			i := newInviter(t)
			in := i.invite(nil)
			c.end(i, in)
			_, _ = in.Wait(i.ctx) // its end is what counts

			if _, err := i.ask(in.Code(), nil); !errors.Is(err, c.want) {
				t.Errorf("the latecomer is told %v, want %v", err, c.want)
			}
			if _, err := i.ask(unknown(t, in.Code()), nil); !errors.Is(err, ErrWrongCode) {
				t.Errorf("who has proved nothing is told %v", err)
			}
		})
	}
}

func TestALatecomerDoesNotBurnTheNextCode(t *testing.T) { // case 53
	i := newInviter(t)
	old := i.invite(nil)
	old.Cancel()
	if _, err := old.Wait(i.ctx); !errors.Is(err, ErrRefused) {
		t.Fatal(err)
	}
	in := i.invite(nil)
	for range wrongMax {
		if _, err := i.ask(old.Code(), nil); !errors.Is(err, ErrRefused) {
			t.Errorf("the latecomer is told %v", err)
		}
	}

	if _, err := i.ask(in.Code(), nil); err != nil {
		t.Errorf("the code that is open: %v", err)
	}
}

func TestThePastOfCodesIsBounded(t *testing.T) {
	i := newInviter(t)
	first := i.invite(nil)
	for range endedMax + 2 {
		in := i.invite(nil) // ends the one before
		in.Cancel()
		if _, err := in.Wait(i.ctx); !errors.Is(err, ErrRefused) {
			t.Fatal(err)
		}
	}

	if _, err := i.ask(first.Code(), nil); err == nil {
		t.Error("it joins")
	}
	i.meshes[0].mu.Lock()
	defer i.meshes[0].mu.Unlock()
	if n := len(i.meshes[0].past); n > endedMax {
		t.Errorf("%d codes are remembered", n)
	}
}
