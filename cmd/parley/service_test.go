//go:build linux

package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
)

// manager is a stand-in for systemd's manager of one user: it starts what the unit says with an empty
// environment, as systemd does, and ends it.
const manager = `#!/bin/sh
unit=$XDG_CONFIG_HOME/systemd/user
for last; do :; done
pid=$STATE/$last.pid
running() { test -e "$pid" && kill -0 "$(cat "$pid")" 2>/dev/null; }
end() { running || return 0; kill "$(cat "$pid")"; while running; do sleep 0.1; done; rm "$pid"; }
case "$*" in
*restart*)
	end
	line=$(sed -n 's/^ExecStart=//p' "$unit/$last")
	setsid env -i HOME="$HOME" sh -c "exec $line" >"$STATE/said" 2>&1 </dev/null 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
	echo $! >"$pid" ;;
*disable*) end ;;
*ActiveState*) if running; then echo ActiveState=active; else echo ActiveState=inactive; fi; echo UnitFileState=enabled ;;
esac
`

// person is a home directory of somebody, with things in it.
type person struct {
	t           *testing.T
	dir, parley string
	env         []string
}

func aPerson(t *testing.T) person {
	t.Helper()
	dir := t.TempDir()
	parley, err := exec.LookPath("parley") // see TestMain
	if err != nil {
		t.Fatal(err)
	}
	p := person{t: t, dir: filepath.Join(dir, "ada"), parley: parley}
	for name, content := range map[string]string{
		".config/git/config": "[user]\n\tname = Ada\n", ".local/share/keep": "k",
		".claude/settings.json": "{\n  // mine\n  \"model\": \"x\"\n}\n", ".claude.json": "{\"n\":1}", ".codex/config.toml": "model = \"x\"\n", ".gemini/settings.json": "{}",
		".config/opencode/opencode.json": "{\"$schema\":\"s\"}\n", ".cursor/hooks.json": "{\"version\":1}", "parley-hook": "#!/bin/sh\n",
		"shop/read me.txt": "one\n", ".cache/keep": "k", "bin/systemctl": manager, "bin/gh": "#!/bin/sh\necho gho_x\n",
	} {
		p.put(name, content)
	}
	state := filepath.Join(dir, "state")
	if err := os.Mkdir(state, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { endServices(state) })
	p.env = append(os.Environ(), "HOME="+p.dir, "STATE="+state, "PATH="+filepath.Join(p.dir, "bin")+":"+os.Getenv("PATH"),
		"XDG_CACHE_HOME="+filepath.Join(p.dir, ".cache"),
		"XDG_CONFIG_HOME="+filepath.Join(p.dir, ".config"), "XDG_DATA_HOME="+filepath.Join(p.dir, ".local/share"))
	for _, args := range [][]string{{"init", "-q", "shop"}, {"-C", "shop", "remote", "add", "origin", "https://github.com/acme/shop"}} {
		git := exec.CommandContext(t.Context(), "git", args...)
		git.Dir = p.dir
		if out, err := git.CombinedOutput(); err != nil {
			t.Fatalf("git: %v\n%s", err, out)
		}
	}
	return p
}

// put makes a file in the home directory.
func (p person) put(name, content string) {
	p.t.Helper()
	file := filepath.Join(p.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o755); err != nil {
		p.t.Fatal(err)
	}
}

// endServices ends what the stand-in started and a failed test left.
func endServices(state string) {
	files, _ := filepath.Glob(filepath.Join(state, "*.pid"))
	for _, file := range files {
		if pid, err := os.ReadFile(file); err == nil {
			if n, err := strconv.Atoi(strings.TrimSpace(string(pid))); err == nil {
				syscall.Kill(n, syscall.SIGKILL) //nolint:errcheck // it has ended already, mostly
			}
		}
	}
}

// standIn DIR puts the stand-in for systemd's manager into a folder of programs, and ends what it has started with
// the script.
func standIn(ts *testscript.TestScript, _ bool, args []string) {
	state := ts.MkAbs("state")
	ts.Check(os.MkdirAll(state, 0o755))
	ts.Check(os.WriteFile(filepath.Join(ts.MkAbs(args[0]), "systemctl"), []byte(manager), 0o755))
	ts.Setenv("STATE", state)
	ts.Defer(func() { endServices(state) })
}

func (p person) run(want int, args ...string) string {
	p.t.Helper()
	c := exec.CommandContext(p.t.Context(), p.parley, args...)
	c.Dir, c.Env = p.dir, p.env
	out, _ := c.CombinedOutput()
	if got := c.ProcessState.ExitCode(); got != want {
		p.t.Fatalf("parley %s: exit status %d, want %d\n%s", strings.Join(args, " "), got, want, out)
	}
	return string(out)
}

// all is every file and folder below the home directory, with its content.
func (p person) all() string {
	p.t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(p.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %s", info.Mode(), path)
		if d.Type().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %q", content)
		}
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return b.String()
}

// without are the lines of one text that another one does not have.
func without(a, b string) string {
	lines := map[string]bool{}
	for line := range strings.Lines(b) {
		lines[line] = true
	}
	var out strings.Builder
	for line := range strings.Lines(a) {
		if !lines[line] {
			out.WriteString(line)
		}
	}
	return out.String()
}

// settle makes a home that may be used by tests: it listens on loopback and has a passphrase.
func (p person) settle() (home node.Home, passphrase string) {
	p.t.Helper()
	passphrase = filepath.Join(filepath.Dir(p.dir), "passphrase")
	if err := os.WriteFile(passphrase, []byte("correct horse battery\n"), 0o600); err != nil {
		p.t.Fatal(err)
	}
	home = node.OpenHome(filepath.Join(p.dir, ".local/share/parley"))
	c := node.Default()
	c.Name, c.Listen = "studio", []string{"/ip4/127.0.0.1/udp/0/quic-v1"}
	c.Repositories = []node.RepositoryConfig{{Slug: "acme/shop", Checkout: filepath.Join(p.dir, "shop")}}
	if err := home.Init(node.Setup{Config: c, Passphrase: "correct horse battery", Work: toyWork}); err != nil {
		p.t.Fatal(err)
	}
	return home, passphrase
}

func (p person) answers(home node.Home) {
	p.t.Helper()
	client := api.NewClient(home.SocketPath())
	defer client.Close()
	if err := eventually("the service answers", func() bool { _, err := client.Status(); return err == nil }); err != nil {
		said, _ := os.ReadFile(filepath.Join(filepath.Dir(p.dir), "state", "said"))
		p.t.Fatalf("%v\n%s", err, said)
	}
}

func TestAServiceFindsItsProgramsAndUninstallLeavesNothing(t *testing.T) {
	p := aPerson(t)
	before := p.all()
	home, _ := p.settle()
	p.run(3, "service", "status")

	p.run(0, "service", "install")
	p.answers(home) // with an empty environment: git was found by what the installation wrote down
	if around, err := home.Surroundings(); err != nil || around.Gh != filepath.Join(p.dir, "bin", "gh") || around.Path[0] != filepath.Join(p.dir, "bin") {
		t.Errorf("the search path is not this person's: %+v, %v", around, err)
	}
	if said := p.run(0, "service", "status"); !strings.Contains(said, "Running                  yes") || !strings.Contains(said, p.parley) {
		t.Errorf("status:\n%s", said)
	}
	if said := p.run(api.ExitUsage, "uninstall", "--data", "--confirm", "studi"); !strings.Contains(said, "not the name of this computer") {
		t.Errorf("the wrong name:\n%s", said)
	}
	p.answers(home)
	plan := p.run(0, "uninstall", "--data", "--dry-run")
	if !strings.Contains(plan, "would delete "+home.Dir) || !strings.Contains(plan, "the service parley") {
		t.Errorf("plan:\n%s", plan)
	}
	p.answers(home)

	p.run(0, "agents", "install", "--hook", filepath.Join(p.dir, "parley-hook"))
	p.run(0, "service", "install") // once more, as after git has moved
	p.answers(home)
	p.run(0, "uninstall")
	p.run(3, "service", "status")
	if !exists(home.ConfigPath()) {
		t.Error("the data went without being asked for")
	}
	for _, made := range []string{"shop/.git/parley/kept", ".cache/parley/code/ab"} {
		if err := os.MkdirAll(filepath.Join(p.dir, made), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p.put("shop/.git/parley/homes", "\n"+strconv.Quote(home.Dir)+"\n\n\"/gone\"\n")
	p.put(".local/share/parley-relay.key", "k")
	p.run(0, "uninstall", "--data", "--confirm", "studio")
	if after := p.all(); after != before {
		t.Errorf("the home directory is another one; gone:\n%s\nnew:\n%s", without(before, after), without(after, before))
	}
}

func TestUninstallLeavesWhatAnotherHomeUses(t *testing.T) {
	p := aPerson(t)
	home, _ := p.settle()
	other := node.OpenHome(filepath.Join(p.dir, "other"))
	c := node.Default()
	c.Name, c.Demo = "other", true
	if err := other.Init(node.Setup{Config: c}); err != nil {
		t.Fatal(err)
	}
	p.put("shop/.git/parley/homes", strconv.Quote(home.Dir)+"\n"+strconv.Quote(other.Dir)+"\n")
	p.put("shop/.git/parley/kept/1", "work")
	p.put(".cache/parley/code/ab", "read")
	said := p.run(0, "--home", other.Dir, "uninstall", "--data", "--confirm", c.Name)
	if !exists(filepath.Join(p.dir, ".cache/parley/code/ab")) || !strings.Contains(said, "code stays, since it is of all homes") {
		t.Errorf("what all homes use goes with one of them:\n%s", said)
	}
	if err := other.Init(node.Setup{Config: c}); err != nil {
		t.Fatal(err)
	}
	if said := p.run(0, "uninstall", "--data", "--confirm", "studio"); !strings.Contains(said, "stays, since the home "+other.Dir+" uses it, too") {
		t.Errorf("uninstall:\n%s", said)
	}
	if exists(home.Dir) || !exists(filepath.Join(p.dir, "shop/.git/parley/kept/1")) {
		t.Error("the home is there, or what the other one keeps is not")
	}
}

func TestUninstallDeletesNoDataUnderARunningNode(t *testing.T) {
	p := aPerson(t)
	home, _ := p.settle()
	lock, err := home.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	said := p.run(1, "uninstall", "--data", "--confirm", "studio")
	if !strings.Contains(said, "nothing was deleted") || !exists(home.ConfigPath()) {
		t.Errorf("uninstall:\n%s", said)
	}
	if said := p.run(1, "service", "install"); !strings.Contains(said, "a node runs on this home") {
		t.Errorf("install:\n%s", said)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
}

// The real manager of this user, where there is one. The service has a name of its own.
func TestSystemdRunsTheService(t *testing.T) {
	if out, err := exec.CommandContext(t.Context(), "systemctl", "--user", "show", "--property=Version").CombinedOutput(); err != nil {
		t.Skipf("this user has no manager of systemd: %v: %s", err, out)
	}
	p := aPerson(t)
	p.env = os.Environ()
	home, _ := p.settle()
	defer p.run(0, "--home", home.Dir, "service", "remove")
	p.run(0, "--home", home.Dir, "service", "install")
	p.answers(home)
	if said := p.run(0, "--home", home.Dir, "service", "status"); !strings.Contains(said, "Starts when you sign in  yes") {
		t.Errorf("status:\n%s", said)
	}
}
