package mesh

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/parley-mesh/parley/ledger"
)

// Identity is a computer's key. libp2p's peer id, the device of records and the transport's certificate
// all come from it.
type Identity struct{ key ed25519.PrivateKey }

// NewIdentity is the identity of a seed.
func NewIdentity(seed [32]byte) Identity { return Identity{ed25519.NewKeyFromSeed(seed[:])} }

// Key signs records.
func (i Identity) Key() ed25519.PrivateKey { return i.key }

// Device is the public half.
func (i Identity) Device() ledger.Device { return ledger.Device(i.key.Public().(ed25519.PublicKey)) }

// Load reads an identity; [fs.ErrNotExist] when there is none.
func Load(path string) (Identity, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Identity{}, err
	}
	seed, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(seed) != ed25519.SeedSize {
		return Identity{}, fmt.Errorf("identity %s: want 64 hexadecimal digits; it is spoiled", path)
	}
	return NewIdentity([32]byte(seed)), nil
}

// LoadOrCreate reads an identity, or makes one: whole or not at all, for its owner alone.
func LoadOrCreate(path string) (Identity, error) {
	id, err := Load(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return id, err
	}
	var seed [32]byte
	if _, err := rand.Read(seed[:]); err != nil {
		return Identity{}, fmt.Errorf("identity %s: %w", path, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return Identity{}, fmt.Errorf("identity %s: %w", path, err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".identity-*") // mode 0600
	if err != nil {
		return Identity{}, fmt.Errorf("identity %s: %w", path, err)
	}
	defer os.Remove(f.Name()) // gone already once it was renamed
	_, err = f.WriteString(hex.EncodeToString(seed[:]) + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return Identity{}, fmt.Errorf("identity %s: %w", path, err)
	}
	// A link fails where a file appeared meanwhile: an identity is never replaced.
	if err := os.Link(f.Name(), path); err != nil {
		return Identity{}, fmt.Errorf("identity %s: %w", path, err)
	}
	return NewIdentity(seed), nil
}

func (i Identity) libp2p() (crypto.PrivKey, error) { return crypto.UnmarshalEd25519PrivateKey(i.key) }

// peerOf is the libp2p name of a device. A key that anybody can sign for has none.
func peerOf(d ledger.Device) (peer.ID, error) {
	if err := d.Check(); err != nil {
		return "", err
	}
	key, err := crypto.UnmarshalEd25519PublicKey(d[:])
	if err != nil {
		return "", err
	}
	return peer.IDFromPublicKey(key)
}

// deviceOf is the device that a libp2p name stands for; false when it is no Ed25519 key, or one
// that anybody can sign for.
func deviceOf(p peer.ID) (ledger.Device, bool) {
	key, err := p.ExtractPublicKey()
	if err != nil || key.Type() != crypto.Ed25519 {
		return ledger.Device{}, false
	}
	raw, err := key.Raw()
	if err != nil || len(raw) != ed25519.PublicKeySize {
		return ledger.Device{}, false
	}
	d := ledger.Device(raw)
	return d, d.Check() == nil
}

// PeerName is how multiaddresses call a device, after /p2p/; "" for a key that has no name.
func PeerName(d ledger.Device) string {
	p, err := peerOf(d)
	if err != nil {
		return ""
	}
	return p.String()
}
