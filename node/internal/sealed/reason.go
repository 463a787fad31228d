// Package sealed encrypts what a few computers may read, for the keys that they have anyway.
package sealed

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"

	"filippo.io/age"
	"filippo.io/age/agessh"
	"golang.org/x/crypto/ssh"
)

// textMax is how long a text may be that is opened, in bytes.
const textMax = 64 << 10

// For encrypts a text for the holders of Ed25519 keys, at least one.
func For(keys []ed25519.PublicKey, text []byte) ([]byte, error) {
	var to []age.Recipient
	for _, k := range keys {
		pub, err := ssh.NewPublicKey(k)
		if err != nil {
			return nil, fmt.Errorf("seal: %w", err)
		}
		r, err := agessh.NewEd25519Recipient(pub)
		if err != nil {
			return nil, fmt.Errorf("seal: %w", err)
		}
		to = append(to, r)
	}
	if len(to) == 0 {
		return nil, errors.New("seal: for nobody")
	}
	var out bytes.Buffer
	w, err := age.Encrypt(&out, to...)
	if err == nil {
		_, err = w.Write(text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	return out.Bytes(), nil
}

// Open decrypts with one key what was encrypted for it among others.
func Open(key ed25519.PrivateKey, sealed []byte) ([]byte, error) {
	id, err := agessh.NewEd25519Identity(key)
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	r, err := age.Decrypt(bytes.NewReader(sealed), id)
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(r, textMax))
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	return text, nil
}
