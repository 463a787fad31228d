package presence

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"filippo.io/age"
)

// Names of the two halves of the approval key in a home.
const (
	SealedFile = "approval.age" // seed, encrypted with the passphrase (age, scrypt)
	PublicFile = "approval.pub" // public half, in hexadecimal
)

// Work is the binary logarithm of scrypt's cost. Each step doubles what one guess at the passphrase costs.
type Work int

// What one unlocking costs: about a second of a person's patience, or next to nothing where no secret is
// kept (tests and demo).
const (
	WorkPerson Work = 18
	WorkToy    Work = 2

	workMax Work = 22 // more is refused, so that a spoiled file cannot hold the program up for minutes
)

// PassphraseBytesMin is the shortest passphrase that is accepted.
const PassphraseBytesMin = 8

const sealedBytesMax = 4096

// Errors that callers branch on.
var (
	ErrWrongPassphrase = errors.New("wrong passphrase")
	ErrWeakPassphrase  = fmt.Errorf("passphrase is shorter than %d bytes", PassphraseBytesMin)
	ErrNoKey           = errors.New("no approval key")
	ErrKeyExists       = errors.New("approval key exists already")
)

// Create makes a fresh approval key in dir and seals it with the passphrase. An existing key is never
// replaced: [ErrKeyExists].
func Create(dir, passphrase string, work Work) error {
	if err := CheckPassphrase(passphrase); err != nil {
		return err
	}
	sealedFile := filepath.Join(dir, SealedFile)
	if _, err := os.Lstat(sealedFile); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("create %s: %w", sealedFile, ErrKeyExists)
	}
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	sealed, err := seal(private.Seed(), passphrase, work)
	if err != nil {
		return err
	}
	// The sealed half is written last: where it stands, the key is whole.
	if err := write(filepath.Join(dir, PublicFile), []byte(hex.EncodeToString(public)+"\n")); err != nil {
		return err
	}
	return write(sealedFile, sealed)
}

// CheckPassphrase says whether a new passphrase is long enough: [ErrWeakPassphrase].
func CheckPassphrase(passphrase string) error {
	if len(passphrase) < PassphraseBytesMin {
		return ErrWeakPassphrase
	}
	return nil
}

// Unlock opens the approval key of dir. The errors are [ErrNoKey], [ErrWrongPassphrase], or say what is
// spoiled.
func Unlock(dir, passphrase string) (Signer, error) {
	public, err := Public(dir)
	if err != nil {
		return Signer{}, err
	}
	file := filepath.Join(dir, SealedFile)
	sealed, err := readSmall(file)
	if err != nil {
		return Signer{}, err
	}
	seed, err := open(sealed, passphrase)
	if err != nil {
		return Signer{}, fmt.Errorf("unlock %s: %w", file, err)
	}
	if len(seed) != ed25519.SeedSize {
		return Signer{}, fmt.Errorf("unlock %s: holds %d bytes, want %d", file, len(seed), ed25519.SeedSize)
	}
	key := ed25519.NewKeyFromSeed(seed)
	if !public.Equal(key.Public()) {
		return Signer{}, fmt.Errorf("unlock %s: does not belong to %s", file, PublicFile)
	}
	return Signer{kind: KindPassphrase, key: key}, nil
}

// Public is the public half of the approval key of dir, [ErrNoKey] when there is none.
func Public(dir string) (ed25519.PublicKey, error) {
	file := filepath.Join(dir, PublicFile)
	text, err := readSmall(file)
	if err != nil {
		return nil, err
	}
	public, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(public) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("read %s: want %d bytes in hexadecimal", file, ed25519.PublicKeySize)
	}
	return public, nil
}

// Signer proves acts. It is made by [Unlock] for one command of one person and kept no longer.
type Signer struct {
	kind Kind
	key  ed25519.PrivateKey
}

// Demo makes a signer that asks nobody. Only a demo's own homes accept its proofs.
func Demo() Signer { return Signer{kind: KindDemo} }

// Prove agrees to an act. The proof of the zero Signer is of no kind and proves nothing.
func (s Signer) Prove(a Act) Proof {
	p := Proof{Kind: s.kind, Nonce: a.Nonce}
	if s.key != nil {
		p.Signature = ed25519.Sign(s.key, a.Bytes())
	}
	return p
}

func seal(seed []byte, passphrase string, work Work) ([]byte, error) {
	recipient, err := age.NewScryptRecipient(passphrase)
	if err != nil {
		return nil, err
	}
	recipient.SetWorkFactor(int(min(work, workMax)))
	var out bytes.Buffer
	w, err := age.Encrypt(&out, recipient)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(seed); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func open(sealed []byte, passphrase string) ([]byte, error) {
	if passphrase == "" {
		return nil, ErrWrongPassphrase
	}
	identity, err := age.NewScryptIdentity(passphrase)
	if err != nil {
		return nil, err
	}
	identity.SetMaxWorkFactor(int(workMax))
	r, err := age.Decrypt(bytes.NewReader(sealed), identity)
	if errors.Is(err, age.ErrIncorrectIdentity) {
		return nil, ErrWrongPassphrase
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, sealedBytesMax))
}

// write makes a private file whole or not at all.
func write(file string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(file), ".tmp-*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already once it was renamed
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}

func readSmall(file string) ([]byte, error) {
	f, err := os.Open(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("open %s: %w", file, ErrNoKey)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, sealedBytesMax))
}
