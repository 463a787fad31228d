package sealed

import (
	"bytes"
	"crypto/ed25519"
	"testing"
)

func TestASealedTextIsReadByItsReceiversAlone(t *testing.T) { // C14
	var keys []ed25519.PublicKey
	var secrets []ed25519.PrivateKey
	for i := range 3 {
		s := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{byte(i + 1)}, 32))
		secrets, keys = append(secrets, s), append(keys, s.Public().(ed25519.PublicKey))
	}
	text := []byte("the release is tonight")
	box, err := For(keys[:2], text)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(box, text[4:11]) {
		t.Error("it can be read without a key")
	}
	for i, s := range secrets {
		got, err := Open(s, box)
		if may := i < 2; may != (err == nil) || may && !bytes.Equal(got, text) {
			t.Errorf("key %d opens %q, %v", i, got, err)
		}
	}
	if _, err := For(nil, text); err == nil {
		t.Error("it was sealed for nobody")
	}
	box[len(box)-1] ^= 1
	if _, err := Open(secrets[0], box); err == nil {
		t.Error("a changed box opens")
	}
}
