package presence

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Bounds of what a verifier remembers.
const (
	NonceLifetime = 5 * time.Minute // from the challenge to the proof
	noncesMax     = 256             // given out and not yet forgotten; more are refused
	nonceBytes    = 16
	fieldBytesMax = 4096 // of one field of an act
)

// Why a proof is refused. Each is another thing to tell the person.
var (
	ErrNeeded    = errors.New("only a person can do this, and nothing shows that one did")
	ErrDemo      = errors.New("a demo's proof counts in a demo only")
	ErrUnknown   = errors.New("this kind of proof is not known")
	ErrStale     = errors.New("the question is older than 5 minutes, or was never asked here")
	ErrReplayed  = errors.New("this proof was used before")
	ErrOtherAct  = errors.New("the proof is for something else")
	ErrSignature = errors.New("the proof was not made with this computer's approval key")
	ErrPasskey   = errors.New("the passkey's answer does not fit")
	ErrBusy      = errors.New("too many questions are waiting for a person")
)

// Verifier gives out nonces and checks proofs. Every nonce serves one act once: one press is one act.
// It may be used from several goroutines.
type Verifier struct {
	public ed25519.PublicKey // nil: no passphrase proves anything
	demo   bool
	passes func(challenge, answer []byte) error
	now    func() time.Time

	mu     sync.Mutex
	nonces map[string]issued
}

// issued is what a nonce was given out for.
type issued struct {
	act  Act
	at   time.Time
	used bool
}

// VerifierOptions is what a verifier is made with. The zero value is a real node's.
type VerifierOptions struct {
	// Demo takes proofs of [KindDemo] as well. A node that a person relies on never sets it.
	Demo bool
	// Passkey checks a passkey's answer to a challenge; nil: no passkey proves anything.
	Passkey func(challenge, answer []byte) error
	// Now is the wall clock; nil is the machine's.
	Now func() time.Time
}

// NewVerifier checks proofs against the public half of the approval key of dir. Without a key there, which
// only a demo may do, no passphrase proves anything.
func NewVerifier(dir string, o VerifierOptions) (*Verifier, error) {
	v := &Verifier{demo: o.Demo, passes: o.Passkey, now: o.Now, nonces: map[string]issued{}}
	if v.now == nil {
		v.now = time.Now
	}
	public, err := Public(dir)
	if err != nil && !(o.Demo && errors.Is(err, ErrNoKey)) {
		return nil, err
	}
	v.public = public
	return v, nil
}

// Challenge gives out the nonce with which act (its Nonce is ignored) can be proved in the next
// [NonceLifetime].
func (v *Verifier) Challenge(act Act) (string, error) {
	for _, field := range []string{act.Verb, act.Thread, act.Binds} {
		if len(field) > fieldBytesMax {
			return "", fmt.Errorf("act %.40s: a field has more than %d bytes", act.Verb, fieldBytesMax)
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	now := v.now()
	v.forget(now)
	if len(v.nonces) >= noncesMax {
		return "", ErrBusy
	}
	raw := make([]byte, nonceBytes)
	if _, err := rand.Read(raw); err != nil {
		return "", err
	}
	act.Nonce = hex.EncodeToString(raw)
	v.nonces[act.Nonce] = issued{act: act, at: now}
	return act.Nonce, nil
}

// Check reports whether p proves that a person agreed to act (its Nonce is ignored). Whatever the answer,
// the nonce is spent.
func (v *Verifier) Check(act Act, p Proof) error {
	if p.Kind == "" || p.Nonce == "" {
		return ErrNeeded
	}
	act.Nonce = p.Nonce
	if err := v.spend(act); err != nil {
		return err
	}
	switch p.Kind {
	case KindDemo:
		if !v.demo {
			return ErrDemo
		}
		return nil
	case KindPasskey:
		if v.passes == nil {
			return ErrUnknown
		}
		if err := v.passes(act.Challenge(), p.Signature); err != nil {
			return fmt.Errorf("%w: %v", ErrPasskey, err)
		}
		return nil
	case KindPassphrase:
		if len(v.public) != ed25519.PublicKeySize {
			return ErrNoKey
		}
		if !ed25519.Verify(v.public, act.Bytes(), p.Signature) {
			return ErrSignature
		}
		return nil
	}
	return ErrUnknown
}

func (v *Verifier) spend(act Act) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.forget(v.now())
	n, ok := v.nonces[act.Nonce]
	switch {
	case !ok:
		return ErrStale
	case n.used:
		return ErrReplayed
	}
	n.used = true
	v.nonces[act.Nonce] = n
	if n.act != act {
		return ErrOtherAct
	}
	return nil
}

// forget drops the nonces whose time is over, spent ones included: they are stale from then on.
func (v *Verifier) forget(now time.Time) {
	for nonce, n := range v.nonces {
		if now.Sub(n.at) >= NonceLifetime {
			delete(v.nonces, nonce)
		}
	}
}

// Signed reports whether the owner of an approval key once agreed to exactly this act, whenever that was. It proves
// what was decided and is no press: see [Verifier.Check] for that.
func Signed(public ed25519.PublicKey, act Act, p Proof) bool {
	act.Nonce = p.Nonce
	return p.Kind == KindPassphrase && len(public) == ed25519.PublicKeySize && ed25519.Verify(public, act.Bytes(), p.Signature)
}
