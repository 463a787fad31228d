//go:build linux

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
)

// aHome is a home with the passphrase "correct horse battery", which lies in a file beside it.
func aHome(t *testing.T) (home node.Home, passphrase string) {
	t.Helper()
	c := node.Default()
	c.Name = "studio"
	c.Listen = []string{"/ip4/127.0.0.1/udp/0/quic-v1"}
	home = node.OpenHome(filepath.Join(t.TempDir(), "h"))
	if err := home.Init(node.Setup{Config: c, Passphrase: "correct horse battery", Work: toyWork}); err != nil {
		t.Fatal(err)
	}
	passphrase = filepath.Join(t.TempDir(), "passphrase")
	if err := os.WriteFile(passphrase, []byte("correct horse battery\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return home, passphrase
}

// running is a program that the test started.
type running struct {
	*exec.Cmd
	said  bytes.Buffer // read it after ended only
	ended chan error
}

func launch(t *testing.T, name string, args ...string) *running {
	t.Helper()
	r := &running{Cmd: exec.Command(name, args...), ended: make(chan error, 1)}
	r.Stdout, r.Stderr = &r.said, &r.said
	r.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { r.ended <- r.Wait() }()
	t.Cleanup(func() {
		r.Process.Kill() //nolint:errcheck // it may have ended already
		r.ended <- <-r.ended
	})
	return r
}

// stop ends the program without warning.
func (r *running) stop(t *testing.T) {
	t.Helper()
	if err := r.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	r.ended <- <-r.ended
}

func TestASecondProcessIsRefusedAndAKilledOneLeavesNoLock(t *testing.T) { // case 41
	path := program(t)
	home, _ := aHome(t)
	client := api.NewClient(home.SocketPath())
	defer client.Close()
	alive := func() bool { _, err := client.Status(); return err == nil }
	first := launch(t, path, "--home", home.Dir, "up")
	if err := eventually("the first answers", alive); err != nil {
		t.Fatal(err)
	}

	second := exec.CommandContext(t.Context(), path, "--home", home.Dir, "up")
	said, err := second.CombinedOutput()

	want := "a node runs on this home (process " + strconv.Itoa(first.Process.Pid) + ")"
	if err == nil || second.ProcessState.ExitCode() != api.ExitError || !strings.Contains(string(said), want) {
		t.Errorf("the second: %v\n%s", err, said)
	}
	if !alive() {
		t.Error("the first does not answer any more")
	}
	first.stop(t)
	launch(t, path, "--home", home.Dir, "up")
	if err := eventually("the third answers", alive); err != nil {
		t.Error(err)
	}
}

// TestAFullDiskEndsNothingThatWasAcknowledged fills a small disk under a running node. The node may end,
// but only with a clear error; it never dies of a signal, and once there is space it goes on.
func TestAFullDiskEndsNothingThatWasAcknowledged(t *testing.T) { // case 42, P21
	for _, tool := range []string{"unshare", "nsenter", "mount"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed: no small disk can be made", tool)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", t.TempDir()).CombinedOutput(); err != nil {
		t.Skipf("no small disk can be mounted here, which takes root: %v\n%s", err, out)
	}
	path := program(t)
	home, passphrase := aHome(t)
	disk := t.TempDir()
	shell := launch(t, "unshare", "-m", "sh", "-c", `mount -t tmpfs -o size=420m tmpfs "$0" && cp -a "$1" "$0/h" && touch "$0/ready" && exec sleep 1000`, disk, home.Dir)
	inside := func(args ...string) (string, error) {
		c := exec.CommandContext(t.Context(), "nsenter", append([]string{"-t", strconv.Itoa(shell.Process.Pid), "-m"}, args...)...)
		out, err := c.CombinedOutput()
		return string(out), err
	}
	if err := eventually("the disk is there", func() bool { _, err := inside("test", "-e", disk+"/ready"); return err == nil }); err != nil {
		t.Fatal(err)
	}
	parley := func(args ...string) (string, error) {
		return inside(append([]string{path, "--home", disk + "/h"}, args...)...)
	}
	up := func() *running {
		r := launch(t, "nsenter", "-t", strconv.Itoa(shell.Process.Pid), "-m", path, "--home", disk+"/h", "up")
		if err := eventually("the node answers", func() bool { _, err := parley("status"); return err == nil }); err != nil {
			t.Fatal(err)
		}
		return r
	}
	first := up()
	if out, err := parley("main", "on", "--passphrase-file", passphrase); err != nil {
		t.Fatalf("main on: %v\n%s", err, out)
	}
	if out, err := inside("sh", "-c", `head -c 300000000 /dev/zero >"$0/fill"`, disk); err != nil {
		t.Fatalf("fill: %v\n%s", err, out)
	}

	out, err := parley("main", "off", "--passphrase-file", passphrase)

	if err == nil || !strings.Contains(out, "almost full") {
		t.Errorf("on a full disk main off says: %v\n%s", err, out)
	}
	_, err = parley("status")
	stays := err == nil
	if out, err := inside("rm", disk+"/fill"); err != nil {
		t.Fatalf("free: %v\n%s", err, out)
	}
	if !stays {
		first.ended <- <-first.ended
		if status := first.ProcessState; !status.Exited() || status.ExitCode() != api.ExitError || !strings.Contains(first.said.String(), "almost full") {
			t.Errorf("it ended with %s\n%s", status, first.said.String())
		}
		up()
	}
	t.Logf("the node stays up on a full disk: %t", stays)
	if out, err := parley("status", "--json"); err != nil || !strings.Contains(out, `"me": true`) {
		t.Errorf("the role that was acknowledged is lost: %v\n%s", err, out)
	}
	if out, err := parley("main", "off", "--passphrase-file", passphrase); err != nil {
		t.Errorf("with space again: %v\n%s", err, out)
	}
}
