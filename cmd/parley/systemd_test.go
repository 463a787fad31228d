//go:build linux

package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// machine is a computer under a systemd of its own, in namespaces of this one.
type machine struct {
	t   *testing.T
	pid int // of its systemd
}

// aMachine starts one. It takes root, systemd and its parts of Debian, and an empty cgroup.
func aMachine(t *testing.T) machine {
	t.Helper()
	if os.Getenv("PARLEY_SYSTEMD") == "" {
		t.Skip("PARLEY_SYSTEMD is not set; it takes a minute: PARLEY_SYSTEMD=1 go test ./cmd/parley -run UnderSystemd -v")
	}
	for _, needed := range []string{"/usr/lib/systemd/systemd", "/usr/lib/systemd/systemd-logind", "/usr/bin/dbus-daemon", "/usr/bin/unshare", "/usr/bin/nsenter"} {
		if os.Getuid() != 0 || !exists(needed) {
			t.Skip("it takes root, systemd with logind, dbus-daemon and util-linux; missing: " + needed)
		}
	}
	parley, err := exec.LookPath("parley") // see TestMain
	if err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs("testdata/systemd.sh")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	group := filepath.Base(filepath.Dir(dir)) // of this test alone
	var said bytes.Buffer
	c := exec.Command("unshare", "--mount", "--propagation", "private", "sh", "-ec", `
mkdir "$1/groups" "$1/machine"
mount -t cgroup2 none "$1/groups"
mkdir "$1/groups/$2"
echo $$ >"$1/groups/$2/cgroup.procs"
exec unshare --mount --pid --fork --kill-child --ipc --uts --cgroup --net --propagation private sh "$3" "$1/machine" "$4"`, "sh", dir, group, script, parley)
	c.Stdout, c.Stderr = &said, &said
	if err := c.Start(); err != nil {
		t.Skipf("no namespaces: %v", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	m := machine{t: t}
	t.Cleanup(func() {
		if m.pid > 0 {
			exec.Command("kill", "-KILL", strconv.Itoa(m.pid)).Run() //nolint:errcheck // all of the machine goes with its first process
			<-ended
		}
		err := eventually("its cgroup is empty", func() bool {
			return exec.Command("unshare", "--mount", "--propagation", "private", "sh", "-c", `mount -t cgroup2 none "$1" && find "$1/$2" -depth -type d -exec rmdir {} +`, "sh", filepath.Join(dir, "groups"), group).Run() == nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	err = eventually("systemd starts", func() bool {
		children, _ := os.ReadFile("/proc/" + strconv.Itoa(c.Process.Pid) + "/task/" + strconv.Itoa(c.Process.Pid) + "/children")
		m.pid, _ = strconv.Atoi(strings.TrimSpace(string(children)))
		name, _ := os.ReadFile("/proc/" + strconv.Itoa(m.pid) + "/comm")
		return strings.HasPrefix(string(name), "systemd") || len(ended) > 0
	})
	if err != nil || len(ended) > 0 {
		m.pid = 0
		t.Skipf("systemd could not be started in namespaces: %v\n%s", err, said.String())
	}
	m.wait("systemd is up", func() bool { _, err := m.root("systemctl is-system-running"); return err == nil })
	return m
}

func (m machine) wait(what string, ok func() bool) {
	m.t.Helper()
	if err := eventually(what, ok); err != nil {
		m.t.Fatal(err)
	}
}

// enter is a command in the machine.
func (m machine) enter(ctx context.Context, argv ...string) *exec.Cmd {
	in := []string{"--target", strconv.Itoa(m.pid), "--mount", "--pid", "--ipc", "--uts", "--net", "--cgroup", "/usr/bin/env", "-i", "PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
	return exec.CommandContext(ctx, "nsenter", append(in, argv...)...)
}

func (m machine) root(line string) (string, error) {
	out, err := m.enter(m.t.Context(), "sh", "-c", line).CombinedOutput()
	return string(out), err
}

// ada is what a person there does in a sign-in of its own.
func (m machine) ada(line string) (string, error) {
	out, err := m.enter(m.t.Context(), "su", "-l", "ada", "-c", line).CombinedOutput()
	return string(out), err
}

func (m machine) must(line string) string {
	m.t.Helper()
	said, err := m.ada(line)
	if err != nil {
		m.t.Fatalf("%s: %v\n%s", line, err, said)
	}
	return strings.TrimSpace(said)
}

// has wants a line to print something, whatever it ends with.
func (m machine) has(line, want string) {
	m.t.Helper()
	if said, _ := m.ada(line); !strings.Contains(said, want) {
		m.t.Errorf("%s: want %q\n%s", line, want, said)
	}
}

// signIn holds a sign-in of the person until it is ended.
func (m machine) signIn() (signOut func()) {
	m.t.Helper()
	ctx, cancel := context.WithCancel(m.t.Context())
	c := m.enter(ctx, "su", "-l", "ada", "-c", "exec sleep 3600")
	c.WaitDelay = time.Second
	if err := c.Start(); err != nil {
		m.t.Fatal(err)
	}
	done := false
	out := func() {
		if !done {
			done = true
			m.root("loginctl terminate-session $(loginctl list-sessions --no-legend | awk '{ print $1 }')") //nolint:errcheck // it may be over
			cancel()
			c.Wait() //nolint:errcheck // it was ended
		}
	}
	m.t.Cleanup(out)
	m.wait("the sign-in counts", func() bool {
		said, _ := m.root("loginctl show-user ada --property=State --value")
		return strings.TrimSpace(said) == "active"
	})
	return out
}

func TestTheServiceLivesUnderSystemdAsItsPersonExpects(t *testing.T) {
	m := aMachine(t)
	signOut := m.signIn()
	m.must(`umask 077; echo "correct horse battery" >pass; git init -q shop; git -C shop remote add origin https://github.com/acme/shop`)
	m.must(`parley init --name den --repo shop --listen /ip4/127.0.0.1/udp/0/quic-v1 --passphrase-file pass`)
	if said := m.must("parley service install"); !strings.Contains(said, "it ends when you sign out; run loginctl enable-linger ada") {
		t.Errorf("install:\n%s", said)
	}
	m.must("parley status") // it was ready when install returned
	if said := m.must("grep ^gh .local/share/parley/service.toml; tr '\\0' '\\n' </proc/$(systemctl --user show parley --property=MainPID --value)/environ | grep ^PATH"); !strings.Contains(said, "/home/ada/tools/gh") {
		t.Errorf("the programs that it finds:\n%s", said)
	}

	first := m.must("systemctl --user show parley --property=MainPID --value")
	m.must("kill -KILL " + first)
	m.wait("it is started again", func() bool {
		now := m.must("systemctl --user show parley --property=MainPID --value")
		_, err := m.ada("parley status")
		return now != first && now != "0" && err == nil
	})
	m.must("systemctl --user stop parley")
	m.has("systemctl --user show parley --property=Result", "Result=success")
	m.must("parley fsck")
	m.has("parley service status", "Running                  no")

	// Who signs out ends it, unless they linger; who signs in has it again.
	m.must("systemctl --user start parley")
	signOut()
	m.wait("it ends with its person's last sign-in", func() bool {
		_, err := m.root("pgrep -u ada -x parley || systemctl is-active user@4711")
		return err != nil
	})
	signOut = m.signIn()
	m.wait("it starts when they sign in", func() bool { _, err := m.ada("parley status"); return err == nil })
	if said, err := m.root("loginctl enable-linger ada"); err != nil {
		t.Fatal(said, err)
	}
	m.has("parley service status", "Stays when you sign out  yes")
	signOut()
	m.wait("nobody is signed in", func() bool {
		said, _ := m.root("loginctl show-user ada --property=State --value")
		return strings.TrimSpace(said) == "lingering"
	})
	if said, err := m.root("pgrep -u ada -x parley"); err != nil {
		t.Errorf("it ended when its person signed out, who lingers: %v %s", err, said)
	}
}

func TestTheServicesStateUnderSystemdIsToldTruly(t *testing.T) {
	m := aMachine(t)
	m.signIn()
	m.must(`umask 077; echo "correct horse battery" >pass; parley init --name den --listen /ip4/127.0.0.1/udp/0/quic-v1 --passphrase-file pass`)
	m.must("parley service install")

	m.must("cp .local/share/parley/config.toml good; echo '[' >>.local/share/parley/config.toml")
	m.ada("systemctl --user restart parley") //nolint:errcheck // it cannot start
	m.has("parley service status", "no: it ended with exit status")
	m.ada("for try in $(seq 25); do systemctl --user start parley; done") //nolint:errcheck // until systemd gives up
	m.has("parley service status", "no: it ended with exit status 1, and is not tried again")
	m.has("parley doctor", "correct that line")
	m.must("cp good .local/share/parley/config.toml")
	m.must("parley service install") // although systemd had given up
	m.must("parley status")

	m.must("systemctl --user stop parley; rm .config/systemd/user/parley.service; systemctl --user mask parley")
	m.has("parley service status", "is masked, so that systemd does not start it (systemctl --user unmask parley.service)")
	m.has("parley doctor", "the service is masked")
	m.has("parley service install", "run systemctl --user unmask parley.service, then run parley service install")
	m.must("parley service remove")
	m.has("readlink .config/systemd/user/parley.service", "/dev/null")
	m.must("systemctl --user unmask parley")
	m.must("parley service install")
	m.must("parley status")

	m.must("parley service remove")
	if said := m.must("systemctl --user list-units --all --no-legend 'parley*'; systemctl --user list-unit-files --no-legend 'parley*'; find .config -name '*parley*'; ls .local/share/parley | grep service || true"); said != "" {
		t.Errorf("left:\n%s", said)
	}
	if said, err := m.root("pgrep -u ada -x parley"); err == nil {
		t.Errorf("it still runs: %s", said)
	}
}
