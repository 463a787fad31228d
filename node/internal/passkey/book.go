// Package passkey keeps the passkeys with which a person presses buttons of the page, and checks their answers
// (WebAuthn). A passkey lies in a device that answers only to its person's touch, face or finger; what stands here is
// public.
//
// Each entry of the book is signed with the approval key, so that nobody who can write files adds a passkey without
// the passphrase. What was removed cannot be put back either: see [Memory].
package passkey

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
)

// Bounds of a book.
const (
	KeysMax      = 16
	nameBytesMax = 64
	fileBytesMax = 1 << 20
	pendingMax   = 8
	pendingFor   = 5 * time.Minute
)

// Errors that callers branch on.
var (
	ErrNone    = errors.New("there is no such passkey")
	ErrFull    = fmt.Errorf("there are %d passkeys already", KeysMax)
	ErrUnasked = errors.New("nobody asked for this passkey, or too long ago")
)

// Agreed is a person's signature over letting a passkey in.
type Agreed struct {
	Kind      string `json:"kind"`
	Nonce     string `json:"nonce"`
	Signature []byte `json:"signature"`
}

// Key is one passkey of the book.
type Key struct {
	ID     string    `json:"id"`     // hexadecimal
	Name   string    `json:"name"`   // what people call it
	Public string    `json:"public"` // hash of its public half, hexadecimal
	Added  time.Time `json:"added"`
	Agreed Agreed    `json:"agreed"`
	// Credential is what checks its answers; Public is the hash of the public half in it.
	Credential webauthn.Credential `json:"credential"`
}

// Book is the passkeys of one computer. It may be used from several goroutines.
type Book struct {
	file   string
	signed func(Key) bool
	now    func() time.Time

	mu      sync.Mutex
	origin  string
	keys    []Key
	pending map[string]pending // by challenge

	memory   Memory
	remember func(Memory) error // nil: nothing is remembered
	stamp    stamp              // of the file as it was read or written last
}

type pending struct {
	session webauthn.SessionData
	at      time.Time
}

// Open reads a book; none is an empty one. signed says whether the owner of the approval key agreed to an entry:
// others are left out, and named in refused.
func Open(file string, signed func(Key) bool) (b *Book, refused []string, err error) {
	b = &Book{file: file, signed: signed, now: time.Now, pending: map[string]pending{}}
	all, err := read(file)
	if err != nil {
		return nil, nil, err
	}
	for _, k := range all {
		if k.Public != fingerprint(k.Credential) || k.ID != idOf(k.Credential) || !signed(k) {
			refused = append(refused, k.Name)
			continue
		}
		b.keys = append(b.keys, k)
	}
	return b, refused, nil
}

// SetOrigin says where the page is served.
func (b *Book) SetOrigin(origin string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.origin = origin
}

// Keys lists the passkeys, oldest first.
func (b *Book) Keys() []Key {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.keys)
}

// CreationOptions asks a browser for a new passkey, in the JSON that it wants.
func (b *Book) CreationOptions() ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	w, err := b.relying()
	if err != nil {
		return nil, err
	}
	var have []protocol.CredentialDescriptor
	for _, k := range b.keys {
		have = append(have, k.Credential.Descriptor())
	}
	options, session, err := w.BeginRegistration(person{}, webauthn.WithExclusions(have), webauthn.WithConveyancePreference(protocol.PreferNoAttestation))
	if err != nil {
		return nil, fmt.Errorf("ask for a passkey: %w", err)
	}
	for c, p := range b.pending {
		if b.now().Sub(p.at) >= pendingFor || len(b.pending) >= pendingMax {
			delete(b.pending, c)
		}
	}
	b.pending[session.Challenge] = pending{*session, b.now()}
	return json.Marshal(options.Response)
}

// Created checks a browser's answer to [Book.CreationOptions], which serves once. The key is not in the book yet.
func (b *Book) Created(answer []byte, name string) (Key, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	parsed, err := protocol.ParseCredentialCreationResponseBytes(answer)
	if err != nil {
		return Key{}, fmt.Errorf("read the passkey: %w", err)
	}
	challenge := parsed.Response.CollectedClientData.Challenge
	p, ok := b.pending[challenge]
	delete(b.pending, challenge)
	if !ok || b.now().Sub(p.at) >= pendingFor {
		return Key{}, ErrUnasked
	}
	w, err := b.relying()
	if err != nil {
		return Key{}, err
	}
	c, err := w.CreateCredential(person{}, p.session, parsed)
	if err != nil {
		return Key{}, fmt.Errorf("check the passkey: %w", err)
	}
	return Key{ID: idOf(*c), Name: name[:min(len(name), nameBytesMax)], Public: fingerprint(*c), Added: b.now().UTC().Truncate(time.Second), Credential: *c}, nil
}

// Add puts a passkey into the book that the owner of the approval key agreed to.
func (b *Book) Add(k Key) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case !b.signed(k):
		return errors.New("add a passkey: nobody agreed to it")
	case len(b.keys) >= KeysMax:
		return ErrFull
	}
	if err := b.look(); err != nil {
		return err
	}
	next, keys := b.memory, append(slices.Clone(b.keys), k)
	next.Here = names(keys)
	return b.turn(next, keys)
}

// Remove takes the passkey with this id out, and what is odd about it; [ErrNone].
func (b *Book) Remove(id string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.look(); err != nil {
		return err
	}
	next := b.memory
	left := slices.DeleteFunc(slices.Clone(b.keys), func(k Key) bool { return k.ID == id })
	next.Odd = slices.DeleteFunc(slices.Clone(next.Odd), func(o Oddity) bool { return o.ID == id })
	if len(left) == len(b.keys) && len(next.Odd) == len(b.memory.Odd) {
		return ErrNone
	}
	for _, n := range b.memory.Here {
		if n.ID == id {
			next.gone(n)
		}
	}
	next.Here = names(left)
	return b.turn(next, left)
}

// RequestOptions asks a browser for a passkey's answer to a challenge, in the JSON that it wants.
func (b *Book) RequestOptions(challenge []byte) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.keys) == 0 {
		return nil, ErrNone
	}
	w, err := b.relying()
	if err != nil {
		return nil, err
	}
	options, _, err := w.BeginLogin(person{b.credentials()}, webauthn.WithChallenge(challenge))
	if err != nil {
		return nil, fmt.Errorf("ask for a passkey's answer: %w", err)
	}
	return json.Marshal(options.Response)
}

// Check reports whether answer is one of the passkeys' to exactly this challenge, given at this page by somebody who
// was there.
func (b *Book) Check(challenge, answer []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	parsed, err := protocol.ParseCredentialRequestResponseBytes(answer)
	if err != nil {
		return err
	}
	if err := b.look(); err != nil {
		return err
	}
	w, err := b.relying()
	if err != nil {
		return err
	}
	me := person{b.credentials()}
	session := webauthn.SessionData{
		Challenge: base64.RawURLEncoding.EncodeToString(challenge), RelyingPartyID: relyingID, UserID: me.WebAuthnID(),
		UserVerification: protocol.VerificationPreferred,
	}
	for _, c := range me.credentials {
		session.AllowedCredentialIDs = append(session.AllowedCredentialIDs, c.ID)
	}
	if len(session.AllowedCredentialIDs) == 0 {
		return ErrNone
	}
	c, err := w.ValidateLogin(me, session, parsed)
	if err != nil {
		return err
	}
	if c.Authenticator.CloneWarning {
		return errors.New("this passkey was copied: its count of answers went back")
	}
	return b.counted(*c)
}

// counted keeps how often a passkey has answered, so that a copy of it shows.
func (b *Book) counted(c webauthn.Credential) error {
	keys := slices.Clone(b.keys)
	for i := range keys {
		if bytes.Equal(keys[i].Credential.ID, c.ID) {
			keys[i].Credential.Authenticator = c.Authenticator
		}
	}
	return b.keep(keys)
}

func (b *Book) credentials() (out []webauthn.Credential) {
	for _, k := range b.keys {
		out = append(out, k.Credential)
	}
	return out
}

// keep writes the book, whole or not at all.
func (b *Book) keep(keys []Key) error {
	text, err := json.MarshalIndent(keys, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(b.file), ".tmp-*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already once it was renamed
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), b.file); err != nil {
		return err
	}
	b.keys, b.stamp = keys, stampOf(b.file)
	return nil
}

// relyingID is what passkeys are bound to: browsers take a name, and no address.
const relyingID = "localhost"

func (b *Book) relying() (*webauthn.WebAuthn, error) {
	return webauthn.New(&webauthn.Config{
		RPID: relyingID, RPDisplayName: "parley", RPOrigins: []string{b.origin},
		AuthenticatorSelection: protocol.AuthenticatorSelection{UserVerification: protocol.VerificationPreferred, ResidentKey: protocol.ResidentKeyRequirementDiscouraged},
	})
}

// person is whose passkeys they are: the one who owns this computer's home.
type person struct{ credentials []webauthn.Credential }

// WebAuthnID is the same for every passkey of a home.
func (p person) WebAuthnID() []byte { return []byte("parley") }

// WebAuthnName is what a browser shows.
func (p person) WebAuthnName() string { return "parley" }

// WebAuthnDisplayName is what a browser shows.
func (p person) WebAuthnDisplayName() string { return "parley on this computer" }

// WebAuthnCredentials are the passkeys.
func (p person) WebAuthnCredentials() []webauthn.Credential { return p.credentials }

// fingerprint is the hash of a passkey's public half, with what must not change about it.
func fingerprint(c webauthn.Credential) string {
	h := sha256.New()
	h.Write(c.PublicKey)
	if c.Flags.BackupEligible {
		h.Write([]byte{1})
	}
	return hex.EncodeToString(h.Sum(nil))
}

// idOf is what people and programs name a passkey by.
func idOf(c webauthn.Credential) string { return hex.EncodeToString(c.ID) }
