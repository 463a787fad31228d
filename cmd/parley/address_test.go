package main

import (
	"os/exec"
	"slices"
	"testing"
)

func TestAddressesAreSuggestedByWhatGitSaysAndByNobodysClaim(t *testing.T) { // C8
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		c := exec.Command("git", append([]string{"-C", dir, "-c", "commit.gpgsign=false"}, args...)...)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	git("init", "-q")
	git("config", "user.email", "Kim@acme.com")
	git("config", "user.name", "kim")
	for _, author := range []string{"sam@acme.com", "maya@acme.com", "Maya@acme.com", "kim@acme.com"} {
		git("commit", "-q", "--allow-empty", "-m", "x", "--author", "x <"+author+">")
	}
	own, seen := knownIn(t.Context(), []string{dir})
	if own != "kim@acme.com" || !slices.Equal(seen, []string{"maya@acme.com", "sam@acme.com"}) {
		t.Errorf("own %q, others %v", own, seen)
	}
}
