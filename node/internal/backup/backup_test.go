package backup

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"syscall"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/parley-mesh/parley/ledger"
)

var head = Header{At: time.Unix(1764500000, 0).UTC(), Name: "studio", Device: ledger.Device{1}, Fleet: ledger.TID{2}, Config: "name = \"studio\"\n"}

func records() *ledger.Records {
	return &ledger.Records{Ledger: ledger.TID{7}, Family: ledger.Conversation, Wires: [][]byte{{1, 2, 3}, make([]byte, 4000)}}
}

func made(t *testing.T, s Seal) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "out.age")
	err := Create(path, s, head, func(w io.Writer) error {
		for range 40 { // more than one of the seal's pieces
			if err := ledger.WriteFrame(w, records()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// all reads a backup to its end.
func all(path string, k Key) (Header, int, error) {
	r, err := Open(path, k)
	if err != nil {
		return Header{}, 0, err
	}
	defer r.Close()
	for n := 0; ; n++ {
		f, err := r.Next()
		if errors.Is(err, io.EOF) {
			return r.Header, n, nil
		}
		if err != nil {
			return r.Header, n, err
		}
		if !reflect.DeepEqual(f.(*ledger.Records).Wires, records().Wires) {
			return r.Header, n, errors.New("other records")
		}
	}
}

func TestABackupIsReadAsItWasWritten(t *testing.T) {
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "key.txt")
	if err := os.WriteFile(file, []byte("# mine\n"+id.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		seal Seal
		key  Key
	}{
		"passphrase": {Seal{Passphrase: "correct horse", Work: 2}, Key{Passphrase: "correct horse"}},
		"recipient":  {Seal{Recipient: id.Recipient().String()}, Key{IdentityFile: file}},
	} {
		got, n, err := all(made(t, c.seal), c.key)
		want := head
		if want.Version = version; err != nil || n != 40 || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %d frames, %+v, %v", name, n, got, err)
		}
		if _, _, err := all(made(t, c.seal), Key{Passphrase: "incorrect horse"}); !errors.Is(err, ErrWrongKey) {
			t.Errorf("%s: another key is told %v", name, err)
		}
	}
}

func TestADamagedOrShortenedBackupIsNoBackup(t *testing.T) {
	path := made(t, Seal{Passphrase: "correct horse", Work: 2})
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := append([]byte(nil), whole...)
	changed[len(changed)/2] ^= 1
	for name, bytes := range map[string][]byte{
		"one bit": changed, "cut in the middle": whole[:len(whole)/2], "the last piece missing": whole[:len(whole)-100],
		"one byte more": append(append([]byte(nil), whole...), 0), "empty": {}, "no backup": []byte("hello\n"),
	} {
		if err := os.WriteFile(path, bytes, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := all(path, Key{Passphrase: "correct horse"}); !errors.Is(err, ErrNoBackup) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestABackupReplacesNothingAndLeavesNothingHalf(t *testing.T) {
	path := made(t, Seal{Passphrase: "correct horse", Work: 2})
	if err := Create(path, Seal{Passphrase: "x", Work: 2}, head, func(io.Writer) error { return nil }); !errors.Is(err, ErrExists) {
		t.Errorf("a second one: %v", err)
	}
	full := errors.New("no space left")
	other := filepath.Join(filepath.Dir(path), "other.age")
	if err := Create(other, Seal{Passphrase: "x", Work: 2}, head, func(io.Writer) error { return full }); !errors.Is(err, full) {
		t.Errorf("a full disk: %v", err)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("%d files are left, %v", len(left), err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := Create(other, Seal{Recipient: "age1nonsense"}, head, nil); !errors.Is(err, ErrRecipient) {
		t.Errorf("no recipient: %v", err)
	}
}

func TestADiskWithoutLinksTakesABackupToo(t *testing.T) {
	noLinks := func(string, string) error { return syscall.EPERM }
	dir := t.TempDir()
	whole, path := filepath.Join(dir, "whole"), filepath.Join(dir, "out.age")
	for name, content := range map[string]string{whole: "sealed", path: "somebody's"} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := place(whole, path, noLinks); !errors.Is(err, ErrExists) {
		t.Errorf("a file was there: %v", err)
	}
	if have, err := os.ReadFile(path); string(have) != "somebody's" {
		t.Errorf("it is %q now, %v", have, err)
	}
	path = filepath.Join(dir, "other.age")
	if err := place(filepath.Join(dir, "gone"), path, noLinks); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what cannot be moved: %v", err)
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("half a backup is left")
	}
	if err := place(whole, path, noLinks); err != nil {
		t.Fatal(err)
	}
	if have, err := os.ReadFile(path); string(have) != "sealed" {
		t.Errorf("the backup is %q, %v", have, err)
	}
}
