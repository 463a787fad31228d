package passkey

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-webauthn/webauthn/webauthn"
)

// entry is a passkey as a registration leaves it.
func entry(name string) Key {
	c := webauthn.Credential{ID: []byte(name), PublicKey: []byte("public half of " + name)}
	return Key{ID: idOf(c), Name: name, Public: fingerprint(c), Credential: c, Agreed: Agreed{Kind: "passphrase", Nonce: name}}
}

func write(t *testing.T, keys ...Key) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "passkeys.json")
	text, err := json.Marshal(keys)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestOnlyWhatThePassphraseLetInIsInTheBook(t *testing.T) { // D-24
	agreed := func(k Key) bool { return k.Agreed.Nonce == k.Name }
	good, planted := entry("laptop"), entry("planted")
	planted.Agreed.Nonce = "laptop" // another entry's signature
	swapped := entry("swapped")
	swapped.Credential.PublicKey = []byte("an agent's own key")
	renamed := entry("renamed")
	renamed.Credential.ID = []byte("other")

	b, refused, err := Open(write(t, good, planted, swapped, renamed), agreed)

	if err != nil || len(b.Keys()) != 1 || b.Keys()[0].Name != "laptop" || len(refused) != 3 {
		t.Fatalf("%+v, refused %v, %v", b.Keys(), refused, err)
	}
	if err := b.Add(planted); err == nil || len(b.Keys()) != 1 {
		t.Errorf("a passkey came in without agreement: %v", err)
	}
	b.SetOrigin("http://localhost:1")
	if err := b.Check([]byte("challenge of thirty-two bytes..."), []byte(`{"id":"x"}`)); err == nil {
		t.Error("nonsense is an answer")
	}
	if err := b.Remove(good.ID); err != nil {
		t.Fatal(err)
	}
	if err := b.Remove(good.ID); !errors.Is(err, ErrNone) {
		t.Errorf("removed twice: %v", err)
	}
	if _, err := b.RequestOptions([]byte("challenge of thirty-two bytes...")); !errors.Is(err, ErrNone) {
		t.Errorf("an empty book asks: %v", err)
	}
}

func TestABookKeepsWhatItWasGiven(t *testing.T) {
	agreed := func(Key) bool { return true }
	file := filepath.Join(t.TempDir(), "passkeys.json")
	b, _, err := Open(file, agreed)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one", "two"} {
		if err := b.Add(entry(name)); err != nil {
			t.Fatal(err)
		}
	}
	again, refused, err := Open(file, agreed)
	if err != nil || len(refused) != 0 || len(again.Keys()) != 2 || again.Keys()[1].Name != "two" {
		t.Errorf("%+v, refused %v, %v", again.Keys(), refused, err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others can read it: %v, %v", info.Mode(), err)
	}
}
