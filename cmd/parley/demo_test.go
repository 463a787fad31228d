package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/simnet/demo"
)

// ownRepository is a person's repository with three branches beside main: one that merges cleanly, one
// that changes a file that main has deleted, and one that conflicts.
func ownRepository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		c := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=Ann", "-c", "user.email=ann@example.com"}, args...)...)
		c.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q", "-b", "main")
	put("f.txt", "a\nb\nc\n")
	put("gone.txt", "x\n")
	git("add", "-A")
	git("commit", "-qm", "first")
	for branch, file := range map[string][2]string{"clean": {"new.txt", "z\n"}, "deleted": {"gone.txt", "x2\n"}, "topic": {"f.txt", "a\nB\nc\n"}} {
		git("checkout", "-q", "-b", branch, "main")
		put(file[0], file[1])
		git("add", "-A")
		git("commit", "-qm", branch)
	}
	git("checkout", "-q", "main")
	put("f.txt", "a\nbb\nc\n")
	git("rm", "-q", "gone.txt")
	git("commit", "-qam", "main")
	return dir
}

func TestTheDemoPlaysWithBranchesOfTheUsersOwn(t *testing.T) { // P7, P17
	repo := ownRepository(t)
	before, err := exec.CommandContext(t.Context(), "git", "-C", repo, "for-each-ref").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		head string
		exit int
		says string
	}{
		{"clean", api.ExitNothing, "merge cleanly"},
		{"deleted", api.ExitPerson, "gone.txt was deleted on the base branch"},
		{"no-such", api.ExitError, "there is no such commit"},
		{"topic", api.ExitOK, ""},
	} {
		t.Run(c.head, func(t *testing.T) {
			if testing.Short() && c.head == "topic" {
				t.Skip("a long story; run without -short")
			}
			printed, err := play(t, demo.Options{Repo: repo, Head: c.head, Base: "main"})

			if c.exit == api.ExitOK {
				if err != nil {
					t.Errorf("%v\n%s", err, printed)
				}
				return
			}
			if got := api.Explain(explainDemo(err)); got.Exit != c.exit || !strings.Contains(got.Text, c.says) {
				t.Errorf("exit %d, %q\n%s", got.Exit, got.Text, printed)
			}
		})
	}
	after, err := exec.CommandContext(t.Context(), "git", "-C", repo, "for-each-ref").Output()
	if err != nil || string(after) != string(before) {
		t.Errorf("the user's repository changed (%v)\n%s\n%s", err, before, after)
	}
}

func TestTheDemoNeedsSomebodyWhoApproves(t *testing.T) { // P15
	err := demo.Run(t.Context(), demo.Options{Program: "unused", Dir: t.TempDir(), Out: os.Stderr})

	if !errors.Is(err, demo.ErrNoTerminal) || !strings.Contains(api.Explain(err).Hint, "--yes") {
		t.Errorf("without a terminal and --yes: %v", err)
	}
}
