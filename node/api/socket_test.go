package api_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/node/api"
)

// private is a directory that nobody else may enter, with a short name.
func private(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "parley")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestNobodyElseMayOpenTheSocket(t *testing.T) {
	path := filepath.Join(private(t), "new", "s")
	l, err := api.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for file, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v, want %v", file, info.Mode(), err, want)
		}
	}
}

func TestASocketInAnOpenDirectoryIsRefused(t *testing.T) {
	dir := private(t)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if l, err := api.Listen(filepath.Join(dir, "s")); err == nil || !strings.Contains(err.Error(), "0755") {
		t.Errorf("%v %v", l, err)
	}
	link := filepath.Join(private(t), "link")
	if err := os.Symlink(private(t), link); err != nil {
		t.Fatal(err)
	}
	if l, err := api.Listen(filepath.Join(link, "s")); err == nil {
		t.Errorf("through a link: %v", l)
	}
}

func TestTheSocketOfAKilledNodeIsReplaced(t *testing.T) {
	path := filepath.Join(private(t), "s")
	killed, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	killed.SetUnlinkOnClose(false)
	if err := killed.Close(); err != nil {
		t.Fatal(err)
	}
	l, err := api.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}

	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := api.Listen(path); err == nil {
		t.Error("a file was taken for a socket")
	}
	if text, _ := os.ReadFile(path); string(text) != "mine" {
		t.Error("somebody's file is gone")
	}
}

func TestASocketFitsItsSystem(t *testing.T) { // D-31
	home := private(t) + "/" + strings.Repeat("long", 30)
	path := api.SocketPath(home)
	l, err := api.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if len(path) > 100 || path != api.SocketPath(home+"/") {
		t.Error(path)
	}
}

func TestAClientWithoutANodeSaysSo(t *testing.T) {
	path := filepath.Join(private(t), "s")
	_, err := api.NewClient(path).Status()
	f := api.Explain(err)
	if f.Code != "node-not-reachable" || f.Exit != api.ExitUnreachable || f.Hint != "run parley up" || !strings.Contains(f.Text, path) {
		t.Errorf("%+v", f)
	}
	if want := "ask " + path + ": " + api.ErrUnreachable.Error(); f.Text != want {
		t.Errorf("it says %q, want %q without the system's words", f.Text, want)
	}
}

func TestAConnectionWithoutARequestHoldsNoServerUp(t *testing.T) {
	s := serve(t)
	idle, err := s.dial(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	if _, err := s.client.Status(); err != nil { // so the idle connection has been accepted, too
		t.Fatal(err)
	}
	if err := s.stop(); err != nil {
		t.Error(err)
	}
}
