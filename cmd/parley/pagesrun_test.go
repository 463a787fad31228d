//go:build linux || darwin

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/help"
)

// notHere are the commands of the pages that cannot run beside a node that answers everything, and why; by how they begin.
var notHere = map[string]string{
	"setup":           "asks a person and GitHub: testdata/setup plays it",
	"init":            "wants a folder that is no home yet: testdata/init.txtar runs it",
	"up":              "is a node itself: testdata/up.txtar runs it",
	"join":            "wants another computer: testdata/pair.txtar has two",
	"invite":          "waits for another computer: testdata/pair.txtar has two",
	"lane invite":     "waits for another developer: testdata/lane.txtar has one",
	"lane accept":     "wants another developer: testdata/lane.txtar has one",
	"fleet recover":   "wants the words on paper, and no node: testdata/fleet.txtar has them",
	"backup":          "wants a ledger: testdata/backup.txtar has one",
	"import":          "wants that no node runs: testdata/import.txtar runs it",
	"restore":         "wants a backup, and no home: testdata/backup.txtar has both",
	"agents install":  "wants the program that hooks start: testdata/agents.txtar has it",
	"relay --for KEY": "KEY is a computer's; it never ends: testdata/network.txtar runs one",
	"service install": "wants a service manager: the test of a service is one",
	"notices test":    "wants a desktop",
}

// endsWith are the exit statuses of commands of the pages that end otherwise than well, by how they begin.
var endsWith = map[string]int{
	"watch": api.ExitInterrupted, "log -f": api.ExitInterrupted, // they never end
	"doctor":         api.ExitError,       // it finds no sign-in at GitHub here
	"service status": api.ExitUnreachable, // none is installed
}

// begins is the entry of a table that a command line begins with.
func begins[T any](table map[string]T, line string) (key string, value T, ok bool) {
	for key, value := range table {
		if line == key || strings.HasPrefix(line, key+" ") {
			return key, value, true
		}
	}
	return "", value, false
}

// aCheckout is a repository with what the pages name.
func aCheckout(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".parley"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".parley", "policy.yaml"), []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main", "."},
		{"config", "user.email", "ada@example.com"},
		{"config", "user.name", "ada"},
		{"commit", "-q", "--allow-empty", "-m", "one"},
		{"branch", "feature/a"},
		{"branch", "feature/b"},
		{"remote", "add", "origin", "https://github.com/acme/shop"},
	} {
		c := exec.CommandContext(t.Context(), "git", args...)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	return dir
}

func TestTheCommandsOfThePagesRun(t *testing.T) {
	dir := t.TempDir()
	for name, value := range map[string]string{
		"HOME": filepath.Join(dir, "ada"), "XDG_CONFIG_HOME": filepath.Join(dir, "config"), "XDG_CACHE_HOME": filepath.Join(dir, "cache"),
		"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GH_CONFIG_DIR": filepath.Join(dir, "gh"), "GH_TOKEN": "", "GITHUB_TOKEN": "",
	} {
		t.Setenv(name, value)
	}
	t.Chdir(aCheckout(t))
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	ran, used := map[string]bool{}, map[string]bool{}
	for _, page := range help.Topics {
		for _, line := range shown(page.Text) {
			words := strings.Join(typed(line), " ")
			if key, _, ok := begins(notHere, words); ok || ran[words] {
				used[key] = true
				continue
			}
			ran[words] = true
			_, want, _ := begins(endsWith, words)
			length := time.Minute
			if want == api.ExitInterrupted {
				length = time.Second
			}
			home := answersInFull(t, singles)
			ctx, cancel := context.WithTimeout(t.Context(), length)
			var got int
			_, notes := printed(t, func(a *app) {
				a.in = null
				got = run(ctx, append([]string{"--home", home.Dir}, typed(line)...), a.streams)
			})
			cancel()
			if got != want {
				t.Errorf("%s: parley %s: status %d, want %d: %s", page.Name, line, got, want, notes)
			}
		}
	}
	for key := range notHere {
		if !used[key] {
			t.Errorf("no page has parley %s", key)
		}
	}
	if len(ran) < 60 {
		t.Errorf("only %d commands ran", len(ran))
	}
}
