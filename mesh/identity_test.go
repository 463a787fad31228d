package mesh

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/parley-mesh/parley/ledger"
)

func TestAKeyThatAnybodyCanSignForIsNobody(t *testing.T) { // case 53
	for _, weak := range []ledger.Device{{}, {1}, {0: 1, 31: 0x80}} {
		key, err := crypto.UnmarshalEd25519PublicKey(weak[:])
		if err != nil {
			t.Fatal(err)
		}
		p, err := peer.IDFromPublicKey(key)
		if err != nil {
			t.Fatal(err)
		}
		if d, ok := deviceOf(p); ok {
			t.Errorf("%s connects as %s", p, d)
		}
		if p, err := peerOf(weak); !errors.Is(err, ledger.ErrWeakKey) {
			t.Errorf("%s is dialled as %s, %v", weak, p, err)
		}
		code := ledger.InviteCode{Kind: ledger.InviteComputer, Inviter: weak}
		if _, err := Join(t.Context(), JoinOptions{Identity: NewIdentity([32]byte{1}), Code: code.Encode(), Name: "laptop"}); !errors.Is(err, ErrWrongCode) {
			t.Errorf("a code of %s: %v", weak, err)
		}
	}
	if p, err := peerOf(NewIdentity([32]byte{1}).Device()); err != nil {
		t.Errorf("%s: %v", p, err)
	} else if d, ok := deviceOf(p); !ok || d != NewIdentity([32]byte{1}).Device() {
		t.Error("an ordinary key is refused")
	}
}

func TestAnIdentityIsMadeWhereThereIsNoFolderYetForItsOwnerAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "share", "parley")
	made, err := LoadOrCreate(filepath.Join(dir, "relay.key"))
	if err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Stat(dir); err != nil || runtime.GOOS != "windows" && fi.Mode().Perm() != 0o700 {
		t.Errorf("the folder: %v, %v", fi, err)
	}
	if again, err := LoadOrCreate(filepath.Join(dir, "relay.key")); err != nil || again.Device() != made.Device() {
		t.Errorf("the second time: %v", err)
	}
}
