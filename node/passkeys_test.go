package node

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"testing"

	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/internal/passkey"
)

// signedPasskey is a passkey as the page lets it in.
func signedPasskey(name string, by api.Prover) passkey.Key {
	sum := sha256.Sum256([]byte(name))
	k := passkey.Key{ID: hex.EncodeToString([]byte(name)), Name: name, Public: hex.EncodeToString(sum[:])}
	k.Credential.ID, k.Credential.PublicKey = []byte(name), []byte(name)
	act := api.PasskeyAddAct(k.ID, k.Name, k.Public)
	act.Nonce = "once"
	p := by.Prove(act)
	k.Agreed = passkey.Agreed{Kind: string(p.Kind), Nonce: p.Nonce, Signature: p.Signature}
	return k
}

func TestAPasskeyThatSomebodyPutsBackIsACardAndPressesNothing(t *testing.T) { // D-24
	home := OpenHome(t.TempDir() + "/home")
	cfg := Default()
	cfg.Name, cfg.Listen = "studio", []string{"/ip4/127.0.0.1/udp/0/quic-v1"}
	if err := home.Init(Setup{Config: cfg, Passphrase: "correct horse battery", Work: 2}); err != nil {
		t.Fatal(err)
	}
	person, err := home.Unlock("correct horse battery")
	if err != nil {
		t.Fatal(err)
	}
	phone := signedPasskey("lost phone", person)
	text, err := json.Marshal([]passkey.Key{phone, signedPasskey("laptop", person)})
	if err != nil {
		t.Fatal(err)
	}
	put := func() error { return os.WriteFile(home.PasskeysPath(), text, 0o600) }
	shows := func(c *api.Client, title string) {
		t.Helper()
		cards, err := c.Inbox()
		keys, other := c.Passkeys(t.Context())
		if err = errors.Join(err, other); err != nil {
			t.Fatal(err)
		}
		told := ""
		for _, card := range cards {
			if card.Code == "C23" {
				told = card.Title
			}
		}
		press := 0
		for _, k := range keys {
			if k.Trouble == "" {
				press++
			}
		}
		if told != title || press != 1 || (len(keys) == 2) != (title != "") {
			t.Errorf("the inbox says %q, want %q; passkeys are %+v", told, title, keys)
		}
	}
	if err := put(); err != nil {
		t.Fatal(err)
	}
	const back = "A removed passkey was put back"
	withNode(t, home, false, func(c *api.Client) error {
		if _, err := c.RemovePasskey(t.Context(), phone.ID, person); err != nil {
			return err
		}
		shows(c, "")
		if err := put(); err != nil {
			return err
		}
		shows(c, back)
		return nil
	})
	withNode(t, home, false, func(c *api.Client) error {
		shows(c, back)
		_, err := c.RemovePasskey(t.Context(), phone.ID, person)
		shows(c, "")
		return err
	})
	if err := put(); err != nil {
		t.Fatal(err)
	}
	withNode(t, home, false, func(c *api.Client) error {
		shows(c, back)
		return nil
	})
}
