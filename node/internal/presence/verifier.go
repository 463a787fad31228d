package presence

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// Bounds of what a verifier takes and remembers.
const (
	NonceLifetime = 5 * time.Minute // from the challenge to the proof
	spentMax      = 4096            // nonces by which something was done lately; more are refused
	randomBytes   = 16
	timeBytes     = 8
	nonceBytes    = randomBytes + timeBytes + 2*sha256.Size
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
	ErrBusy      = errors.New("a person did too much here in the last minutes")
)

// Verifier gives out nonces and checks proofs. Every nonce serves one act once: one press is one act.
// What was given out says itself when and for which act, under a key of this process. Nothing is kept of it, so that
// nobody who asks and asks takes the place of a person's question. It may be used from several goroutines.
type Verifier struct {
	public ed25519.PublicKey // nil: no passphrase proves anything
	demo   bool
	passes func(challenge, answer []byte) error
	now    func() time.Time
	key    [sha256.Size]byte

	mu    sync.Mutex
	last  time.Time            // that the clock showed; it does not go back, or what is spent could be forgotten and count anew
	spent map[string]time.Time // nonces by which something was done, and when they were given out
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
	v := &Verifier{demo: o.Demo, passes: o.Passkey, now: o.Now, spent: map[string]time.Time{}}
	if _, err := rand.Read(v.key[:]); err != nil {
		return nil, err
	}
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
	raw := make([]byte, randomBytes, nonceBytes)
	if _, err := rand.Read(raw); err != nil {
		return "", err
	}
	raw = binary.BigEndian.AppendUint64(raw, uint64(v.clock().UnixNano()))
	return hex.EncodeToString(v.sealed(raw, act)), nil
}

// clock is the wall clock, but for steps back.
func (v *Verifier) clock() time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	if now := v.now().Round(0); now.After(v.last) { // wall time alone, as in a nonce
		v.last = now
	}
	return v.last
}

// sealed is the beginning of a nonce with what shows that it was given out here, and for which act.
func (v *Verifier) sealed(raw []byte, act Act) []byte {
	act.Nonce = ""
	begun := slices.Clone(raw)
	for _, of := range [][]byte{[]byte("given out"), act.Bytes()} {
		mac := hmac.New(sha256.New, v.key[:])
		mac.Write(begun)
		mac.Write(of)
		raw = mac.Sum(raw)
	}
	return raw
}

// given is when the nonce of an act was given out, if it was given out here and for this act.
func (v *Verifier) given(act Act) (time.Time, error) {
	raw, err := hex.DecodeString(act.Nonce)
	if err != nil || len(raw) != nonceBytes || hex.EncodeToString(raw) != act.Nonce {
		return time.Time{}, ErrStale
	}
	want := v.sealed(slices.Clone(raw[:randomBytes+timeBytes]), act)
	own := nonceBytes - sha256.Size
	if !hmac.Equal(raw[:own], want[:own]) {
		return time.Time{}, ErrStale
	}
	at := time.Unix(0, int64(binary.BigEndian.Uint64(raw[randomBytes:])))
	if v.clock().Sub(at) >= NonceLifetime {
		return time.Time{}, ErrStale
	}
	if !hmac.Equal(raw, want) {
		return time.Time{}, ErrOtherAct
	}
	return at, nil
}

// Check reports whether p proves that a person agreed to act (its Nonce is ignored). What proves it does so once.
func (v *Verifier) Check(act Act, p Proof) error {
	if p.Kind == "" || p.Nonce == "" {
		return ErrNeeded
	}
	act.Nonce = p.Nonce
	at, err := v.given(act)
	if err != nil {
		return err
	}
	if err := v.proves(act, p); err != nil {
		return err
	}
	return v.spend(act.Nonce, at)
}

// proves reports whether a proof is right, whenever it was made.
func (v *Verifier) proves(act Act, p Proof) error {
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

func (v *Verifier) spend(nonce string, at time.Time) error {
	now := v.clock()
	if now.Sub(at) >= NonceLifetime { // it may have become stale since it was looked at
		return ErrStale
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	maps.DeleteFunc(v.spent, func(_ string, at time.Time) bool { return now.Sub(at) >= NonceLifetime }) // stale from then on
	if _, used := v.spent[nonce]; used {
		return ErrReplayed
	}
	if len(v.spent) >= spentMax {
		return ErrBusy
	}
	v.spent[nonce] = at
	return nil
}

// Signed reports whether the owner of an approval key once agreed to exactly this act, whenever that was. It proves
// what was decided and is no press: see [Verifier.Check] for that.
func Signed(public ed25519.PublicKey, act Act, p Proof) bool {
	act.Nonce = p.Nonce
	return p.Kind == KindPassphrase && len(public) == ed25519.PublicKeySize && ed25519.Verify(public, act.Bytes(), p.Signature)
}
