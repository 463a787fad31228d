// Package presence proves that a person acts (D-24). What only a person may do (approve, switch the main
// computer, invite, join, …) is an [Act]; a [Proof] shows that somebody who knows the passphrase of this
// computer agreed to exactly that act, just now.
//
// The passphrase opens an approval key, and the key signs the act together with a nonce that the node
// gave out for it. So the passphrase never leaves the process that asked for it, and a proof is worth
// nothing for another act, a second time, or later.
//
// What it does not do: it is no defence against code that reads the terminal or the memory of the process
// in which the passphrase is typed.
package presence

import (
	"crypto/sha256"
	"encoding/binary"
)

// actContext keeps a signature over an act apart from every other signature (version 1).
const actContext = "parley-act/1\x00"

// Act is one thing that a person agrees to. Two acts that differ in any field are different acts.
type Act struct {
	Verb   string `json:"verb"`   // name in the table of verbs, for example "approve"
	Thread string `json:"thread"` // ledger id of the conversation in hexadecimal; "" when it is about none
	Binds  string `json:"binds"`  // exactly what is agreed to, in the words of the verb
	Nonce  string `json:"nonce"`  // as given out by [Verifier.Challenge]
}

// Bytes is the canonical form that is signed: a context, then each field with its length in four bytes,
// most significant first. No two acts share it.
func (a Act) Bytes() []byte {
	out := []byte(actContext)
	for _, field := range []string{a.Verb, a.Thread, a.Binds, a.Nonce} {
		out = binary.BigEndian.AppendUint32(out, uint32(len(field)))
		out = append(out, field...)
	}
	return out
}

// Challenge is what a passkey signs for the act.
func (a Act) Challenge() []byte {
	sum := sha256.Sum256(a.Bytes())
	return sum[:]
}

// Kind says how a person showed to be there.
type Kind string

// The kinds of proof. A kind that is not known proves nothing.
const (
	KindPassphrase Kind = "passphrase" // the passphrase was typed for this act
	KindPasskey    Kind = "passkey"    // a device of the person's signed for this act
	KindDemo       Kind = "demo"       // nobody was asked; counts in a demo's own homes only
)

// Proof shows that a person agreed to one act.
type Proof struct {
	Kind      Kind   `json:"kind"`
	Nonce     string `json:"nonce"`
	Signature []byte `json:"signature,omitempty"` // Ed25519 over [Act.Bytes]; of a passkey its answer to [Act.Challenge], in JSON
}
