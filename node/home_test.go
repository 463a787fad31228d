package node

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/internal/presence"
)

const holdVariable = "PARLEY_TEST_HOLDS_HOME"

func newHome(t *testing.T) Home {
	t.Helper()
	h := OpenHome(filepath.Join(t.TempDir(), "home"))
	if err := h.Init(Setup{Config: Default(), Passphrase: "correct horse battery", Work: int(presence.WorkToy)}); err != nil {
		t.Fatal(err)
	}
	return h
}

func TestAHomeIsSetUpOnce(t *testing.T) {
	h := newHome(t)
	before, _ := os.ReadFile(filepath.Join(h.Dir, presence.SealedFile))

	if err := h.Init(Setup{Config: Default(), Passphrase: "another passphrase", Work: int(presence.WorkToy)}); !errors.Is(err, api.ErrHomeExists) {
		t.Errorf("%v, want ErrHomeExists", err)
	}
	if after, _ := os.ReadFile(filepath.Join(h.Dir, presence.SealedFile)); string(after) != string(before) {
		t.Error("the approval key was replaced")
	}
	if _, err := h.Unlock("correct horse battery"); err != nil {
		t.Error(err)
	}
	if _, err := h.Config(); err != nil {
		t.Error(err)
	}
}

func TestAFolderOfOtherThingsIsNoHome(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "thesis.tex"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	h := OpenHome(dir)
	err := h.Init(Setup{Config: Default(), Passphrase: "correct horse battery", Work: int(presence.WorkToy)})
	if !errors.Is(err, api.ErrHomeTaken) || !strings.Contains(err.Error(), "thesis.tex") {
		t.Errorf("init: %v", err)
	}
	if _, err := Restore(t.Context(), h, RestoreOptions{Path: "any"}); !errors.Is(err, api.ErrHomeTaken) {
		t.Errorf("restore: %v", err)
	}
	info, err := os.Stat(dir)
	entries, missing := os.ReadDir(dir)
	if err := errors.Join(err, missing); err != nil || info.Mode().Perm() != 0o755 || len(entries) != 1 {
		t.Errorf("mode %v, %d files, %v", info.Mode(), len(entries), err)
	}
}

func TestOnlyADemoHomeDoesWithoutAKey(t *testing.T) { // D-24
	h := OpenHome(filepath.Join(t.TempDir(), "home"))
	if err := h.Init(Setup{Config: Default()}); !errors.Is(err, presence.ErrWeakPassphrase) {
		t.Errorf("%v, want ErrWeakPassphrase", err)
	}
	demo := Default()
	demo.Demo = true
	if err := h.Init(Setup{Config: demo}); err != nil {
		t.Fatal(err)
	}
	if err := h.CheckApproval(); !errors.Is(err, presence.ErrNoKey) {
		t.Errorf("%v, want ErrNoKey", err)
	}
}

func TestAnInterruptedInitCanBeRepeated(t *testing.T) {
	h := newHome(t)
	if err := os.Remove(h.ConfigPath()); err != nil {
		t.Fatal(err)
	}
	if err := h.Check(); !errors.Is(err, api.ErrNoHome) {
		t.Errorf("%v, want ErrNoHome", err)
	}
	if err := h.Init(Setup{Config: Default(), Passphrase: "another passphrase", Work: int(presence.WorkToy)}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Unlock("another passphrase"); err != nil {
		t.Error(err)
	}
}

func TestAnOpenHomeIsRefused(t *testing.T) {
	h := newHome(t)
	if err := os.Chmod(h.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	err := h.Check()
	if !errors.Is(err, api.ErrHomeSpoiled) || api.Explain(err).Hint != "run chmod go= "+h.Dir {
		t.Errorf("%v, hint %q", err, api.Explain(err).Hint)
	}
}

func TestOneHomeHasOneName(t *testing.T) {
	h := newHome(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(h.Dir, link); err != nil {
		t.Fatal(err)
	}
	if got := OpenHome(link); got.Dir != h.Dir {
		t.Errorf("%s, want %s", got.Dir, h.Dir)
	}
}

func TestAFleetIsRemembered(t *testing.T) {
	h := newHome(t)
	if _, err := h.Fleet(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("before: %v, want os.ErrNotExist", err)
	}
	want := ledger.TID{1, 2, 3}
	if err := h.SetFleet(want); err != nil {
		t.Fatal(err)
	}
	if got, err := h.Fleet(); got != want || err != nil {
		t.Errorf("%v %v", got, err)
	}
	if err := os.WriteFile(filepath.Join(h.Dir, "fleet"), []byte("spoiled"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Fleet(); !errors.Is(err, api.ErrHomeSpoiled) {
		t.Errorf("spoiled: %v, want ErrHomeSpoiled", err)
	}
}

func TestASecondNodeIsToldWhichProcessHoldsTheHome(t *testing.T) {
	h := newHome(t)
	lock, err := h.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = h.Lock(t.Context())
	if !errors.Is(err, api.ErrHomeInUse) || !strings.Contains(err.Error(), strconv.Itoa(os.Getpid())) {
		t.Errorf("%v, want ErrHomeInUse with the process", err)
	}
	if pid, running := h.Holder(); pid != os.Getpid() || !running {
		t.Errorf("holder %d %v", pid, running)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if pid, running := h.Holder(); pid != 0 || running {
		t.Errorf("released: holder %d %v", pid, running)
	}
	again, err := h.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Release(); err != nil {
		t.Error(err)
	}
}

func TestAKilledProcessLeavesNoObstacle(t *testing.T) {
	h := newHome(t)
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHelperHoldsAHome$")
	child.Env = append(os.Environ(), holdVariable+"="+h.Dir)
	stdin, err := child.StdinPipe() // held open: the child waits for its end
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(stdout); lines.Scan() && lines.Text() != "holds"; {
	}
	if pid, running := h.Holder(); pid != child.Process.Pid || !running {
		t.Fatalf("holder %d %v, want %d", pid, running, child.Process.Pid)
	}
	if _, err := h.Lock(t.Context()); !errors.Is(err, api.ErrHomeInUse) {
		t.Fatalf("%v, want ErrHomeInUse", err)
	}

	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // killed

	if _, err := os.Stat(filepath.Join(h.Dir, "pid")); err != nil {
		t.Fatalf("the killed process took its pid file along: %v", err)
	}
	if pid, running := h.Holder(); running {
		t.Errorf("the killed process %d still holds the home", pid)
	}
	lock, err := h.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Release(); err != nil {
		t.Error(err)
	}
}

func TestHelperHoldsAHome(t *testing.T) {
	dir := os.Getenv(holdVariable)
	if dir == "" {
		t.Skip("runs as the child of another test")
	}
	lock, err := OpenHome(dir).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("holds")
	_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed
	if err := lock.Release(); err != nil {
		t.Error(err)
	}
}

func TestALongHomeHasAShortSocket(t *testing.T) { // D-31
	short := Home{Dir: "/home/kim/.local/share/parley"}
	if got := short.SocketPath(); got != short.Dir+"/parley.sock" {
		t.Error(got)
	}
	long := Home{Dir: "/home/" + strings.Repeat("k", 100)}
	if got := long.SocketPath(); len(got) > 100 || got != long.SocketPath() {
		t.Error(got)
	}
	if (Home{Dir: long.Dir + "x"}).SocketPath() == long.SocketPath() {
		t.Error("two homes share a socket")
	}
}
