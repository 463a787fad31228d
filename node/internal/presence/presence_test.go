package presence_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-mesh/parley/node/internal/presence"
	"pgregory.net/rapid"
)

const passphrase = "correct horse battery"

func home(t *testing.T) (dir string, signer presence.Signer, verifier *presence.Verifier) {
	t.Helper()
	dir = t.TempDir()
	if err := presence.Create(dir, passphrase, presence.WorkToy); err != nil {
		t.Fatal(err)
	}
	signer, err := presence.Unlock(dir, passphrase)
	if err != nil {
		t.Fatal(err)
	}
	return dir, signer, verify(t, dir, false)
}

func verify(t *testing.T, dir string, demo bool) *presence.Verifier {
	t.Helper()
	v, err := presence.NewVerifier(dir, presence.VerifierOptions{Demo: demo})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func challenge(t *testing.T, v *presence.Verifier, act presence.Act) presence.Act {
	t.Helper()
	nonce, err := v.Challenge(act)
	if err != nil {
		t.Fatal(err)
	}
	act.Nonce = nonce
	return act
}

var push = presence.Act{Verb: "approve", Thread: "a1", Binds: "push refs/heads/topic 1..2"}

func TestOnePressIsOneAct(t *testing.T) { // D-24
	_, signer, verifier := home(t)
	proof := signer.Prove(challenge(t, verifier, push))

	if err := verifier.Check(push, proof); err != nil {
		t.Fatal(err)
	}
	if err := verifier.Check(push, proof); !errors.Is(err, presence.ErrReplayed) {
		t.Errorf("second use: %v, want ErrReplayed", err)
	}
}

func TestAProofServesNoOtherAct(t *testing.T) { // D-24, P15
	_, signer, verifier := home(t)
	for _, other := range []presence.Act{
		{Verb: "main on", Thread: push.Thread, Binds: push.Binds},
		{Verb: push.Verb, Thread: "b2", Binds: push.Binds},
		{Verb: push.Verb, Thread: push.Thread, Binds: "push refs/heads/topic 1..3"},
	} {
		proof := signer.Prove(challenge(t, verifier, push))
		if err := verifier.Check(other, proof); !errors.Is(err, presence.ErrOtherAct) {
			t.Errorf("%+v: %v, want ErrOtherAct", other, err)
		}
		if err := verifier.Check(push, proof); err != nil {
			t.Errorf("the proof of a press that was bent to something else proves nothing any more: %v", err)
		}
		if err := verifier.Check(push, proof); !errors.Is(err, presence.ErrReplayed) {
			t.Errorf("it serves twice: %v", err)
		}
	}
}

func TestASignatureOverAnotherActIsRefused(t *testing.T) {
	_, signer, verifier := home(t)
	asked := challenge(t, verifier, push)
	signed := asked
	signed.Binds = "push refs/heads/topic 1..3"

	if err := verifier.Check(push, signer.Prove(signed)); !errors.Is(err, presence.ErrSignature) {
		t.Errorf("%v, want ErrSignature", err)
	}
}

func TestAnotherComputersKeyProvesNothing(t *testing.T) { // P15: only on the person's own computer
	_, _, verifier := home(t)
	_, stranger, _ := home(t)

	if err := verifier.Check(push, stranger.Prove(challenge(t, verifier, push))); !errors.Is(err, presence.ErrSignature) {
		t.Errorf("%v, want ErrSignature", err)
	}
}

func TestAProofIsStaleAfterFiveMinutes(t *testing.T) {
	_, signer, verifier := home(t)
	synctest.Test(t, func(t *testing.T) {
		in := signer.Prove(challenge(t, verifier, push))
		late := signer.Prove(challenge(t, verifier, push))
		<-time.After(presence.NonceLifetime - 1)
		if err := verifier.Check(push, in); err != nil {
			t.Errorf("just in time: %v", err)
		}
		<-time.After(1)
		if err := verifier.Check(push, late); !errors.Is(err, presence.ErrStale) {
			t.Errorf("too late: %v, want ErrStale", err)
		}
		if err := verifier.Check(push, in); !errors.Is(err, presence.ErrStale) {
			t.Errorf("used and too late: %v, want ErrStale", err)
		}
	})
}

func TestOnlyADemoTakesADemosProof(t *testing.T) { // D-24
	dir, signer, real := home(t)
	demo := verify(t, dir, true)

	if err := real.Check(push, presence.Demo().Prove(challenge(t, real, push))); !errors.Is(err, presence.ErrDemo) {
		t.Errorf("real node: %v, want ErrDemo", err)
	}
	if err := demo.Check(push, presence.Demo().Prove(challenge(t, demo, push))); err != nil {
		t.Errorf("demo: %v", err)
	}
	if err := demo.Check(push, signer.Prove(challenge(t, demo, push))); err != nil {
		t.Errorf("demo, with the passphrase: %v", err)
	}
	keyless := verify(t, t.TempDir(), true)
	if err := keyless.Check(push, signer.Prove(challenge(t, keyless, push))); !errors.Is(err, presence.ErrNoKey) {
		t.Errorf("demo without a key, with a passphrase: %v, want ErrNoKey", err)
	}
	bare := presence.Proof{Kind: presence.KindDemo, Nonce: "00"}
	if err := demo.Check(push, bare); !errors.Is(err, presence.ErrStale) {
		t.Errorf("demo, nonce made up: %v, want ErrStale", err)
	}
}

func TestARealNodeNeedsAnApprovalKey(t *testing.T) {
	if _, err := presence.NewVerifier(t.TempDir(), presence.VerifierOptions{}); !errors.Is(err, presence.ErrNoKey) {
		t.Errorf("%v, want ErrNoKey", err)
	}
}

func TestNoProofIsNoPerson(t *testing.T) {
	_, signer, verifier := home(t)
	asked := challenge(t, verifier, push)
	for _, p := range []presence.Proof{{}, {Kind: presence.KindPassphrase}, {Nonce: asked.Nonce}, presence.Signer{}.Prove(asked)} {
		if err := verifier.Check(push, p); !errors.Is(err, presence.ErrNeeded) {
			t.Errorf("%+v: %v, want ErrNeeded", p, err)
		}
	}
	forged := signer.Prove(asked)
	forged.Kind = "passkey"
	if err := verifier.Check(push, forged); !errors.Is(err, presence.ErrUnknown) {
		t.Errorf("unknown kind: %v, want ErrUnknown", err)
	}
}

func TestNobodyAsksAPersonsQuestionAway(t *testing.T) {
	_, signer, verifier := home(t)
	mine := signer.Prove(challenge(t, verifier, push))
	for range 1000 {
		asked := challenge(t, verifier, push)
		if err := verifier.Check(push, presence.Proof{Kind: presence.KindPassphrase, Nonce: asked.Nonce, Signature: make([]byte, 64)}); !errors.Is(err, presence.ErrSignature) {
			t.Fatal(err)
		}
	}
	if err := verifier.Check(push, mine); err != nil {
		t.Errorf("after 1,000 questions of somebody else: %v", err)
	}
	if _, err := verifier.Challenge(presence.Act{Binds: string(make([]byte, 1<<20))}); err == nil {
		t.Error("an act of a megabyte is taken")
	}
}

func TestANonceIsTakenAsItWasGivenOutAlone(t *testing.T) {
	_, signer, verifier := home(t)
	asked := challenge(t, verifier, push)
	for _, nonce := range []string{strings.ToUpper(asked.Nonce), asked.Nonce[2:], asked.Nonce + "00", "00" + asked.Nonce[2:], "zz", ""} {
		bent := asked
		bent.Nonce = nonce
		if nonce == asked.Nonce {
			continue
		}
		if err := verifier.Check(push, signer.Prove(bent)); !errors.Is(err, presence.ErrStale) && !errors.Is(err, presence.ErrNeeded) {
			t.Errorf("%.20s: %v", nonce, err)
		}
	}
	_, _, other := home(t)
	if err := other.Check(push, signer.Prove(asked)); !errors.Is(err, presence.ErrStale) {
		t.Errorf("another process takes it: %v", err)
	}
}

func TestAClockThatStepsBackRevivesNothing(t *testing.T) {
	dir, signer, _ := home(t)
	now := time.Unix(1_800_000_000, 0)
	verifier, err := presence.NewVerifier(dir, presence.VerifierOptions{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	used := signer.Prove(challenge(t, verifier, push))
	if err := verifier.Check(push, used); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Hour)
	if err := verifier.Check(push, signer.Prove(challenge(t, verifier, push))); err != nil { // what is old is forgotten here
		t.Fatal(err)
	}
	now = now.Add(-time.Hour)
	if err := verifier.Check(push, used); !errors.Is(err, presence.ErrStale) {
		t.Errorf("a press counts again: %v", err)
	}
	if err := verifier.Check(push, signer.Prove(challenge(t, verifier, push))); err != nil {
		t.Errorf("a new one after the step: %v", err)
	}
}

func TestAProofThatBecomesStaleWhileItIsCheckedCountsNoSecondTime(t *testing.T) {
	dir, signer, _ := home(t)
	begin := time.Unix(1_800_000_000, 0)
	now, again := begin, 0
	verifier, err := presence.NewVerifier(dir, presence.VerifierOptions{Now: func() time.Time {
		if again--; again == 0 { // between the look at its age and its use
			now = begin.Add(presence.NonceLifetime)
		}
		return now
	}})
	if err != nil {
		t.Fatal(err)
	}
	used := signer.Prove(challenge(t, verifier, push))
	now = begin.Add(presence.NonceLifetime - 1)
	if err := verifier.Check(push, used); err != nil {
		t.Fatal(err)
	}
	again = 2
	if err := verifier.Check(push, used); !errors.Is(err, presence.ErrStale) {
		t.Errorf("a press counts again: %v", err)
	}
}

func TestNoTwoActsShareTheirBytes(t *testing.T) {
	act := func(t *rapid.T, label string) presence.Act {
		s := rapid.StringMatching(`[ab\x00]{0,3}`)
		return presence.Act{Verb: s.Draw(t, label), Thread: s.Draw(t, label), Binds: s.Draw(t, label), Nonce: s.Draw(t, label)}
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := act(t, "a"), act(t, "b")
		if (a == b) != (string(a.Bytes()) == string(b.Bytes())) {
			t.Fatalf("%+v and %+v", a, b)
		}
	})
}

func TestBytesOfAnAct(t *testing.T) {
	got := string(presence.Act{Verb: "v", Thread: "", Binds: "bb", Nonce: "n"}.Bytes())
	want := "parley-act/1\x00" + "\x00\x00\x00\x01v" + "\x00\x00\x00\x00" + "\x00\x00\x00\x02bb" + "\x00\x00\x00\x01n"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestAKeyIsPrivateAndNeverReplaced(t *testing.T) {
	dir, _, _ := home(t)
	before, _ := os.ReadFile(filepath.Join(dir, presence.SealedFile))
	for _, name := range []string{presence.SealedFile, presence.PublicFile} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v, want 0600", name, info.Mode(), err)
		}
	}
	if err := presence.Create(dir, passphrase, presence.WorkToy); !errors.Is(err, presence.ErrKeyExists) {
		t.Errorf("%v, want ErrKeyExists", err)
	}
	after, _ := os.ReadFile(filepath.Join(dir, presence.SealedFile))
	if string(before) != string(after) {
		t.Error("the key was replaced")
	}
}

func TestUnlockSaysWhatIsWrong(t *testing.T) {
	spoil := func(name, content string) func(dir string) error {
		return func(dir string) error { return os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600) }
	}
	for _, c := range []struct {
		name, with string
		do         func(dir string) error
		want       error // nil: any
	}{
		{"wrong passphrase", "incorrect horse battery", func(string) error { return nil }, presence.ErrWrongPassphrase},
		{"no passphrase", "", func(string) error { return nil }, presence.ErrWrongPassphrase},
		{"no sealed half", passphrase, func(dir string) error { return os.Remove(filepath.Join(dir, presence.SealedFile)) }, presence.ErrNoKey},
		{"no public half", passphrase, func(dir string) error { return os.Remove(filepath.Join(dir, presence.PublicFile)) }, presence.ErrNoKey},
		{"spoiled public half", passphrase, spoil(presence.PublicFile, "not hex"), nil},
		{"other public half", passphrase, spoil(presence.PublicFile, string(make64('0'))), nil},
		{"spoiled sealed half", passphrase, spoil(presence.SealedFile, "not age"), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, _, _ := home(t)
			if err := c.do(dir); err != nil {
				t.Fatal(err)
			}
			_, err := presence.Unlock(dir, c.with)
			if err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
	if err := presence.Create(t.TempDir(), "short", presence.WorkToy); !errors.Is(err, presence.ErrWeakPassphrase) {
		t.Errorf("short: %v, want ErrWeakPassphrase", err)
	}
}

func make64(c byte) []byte {
	out := make([]byte, 64)
	for i := range out {
		out[i] = c
	}
	return out
}
