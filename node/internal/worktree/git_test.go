package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestProbeSaysWhatIsWrongWithGit(t *testing.T) {
	if v, err := (Git{}).Probe(t.Context()); err != nil || v.before(oldest) {
		t.Errorf("the git of this machine: %v %v", v, err)
	}
	dir := t.TempDir()
	if _, err := (Git{Path: filepath.Join(dir, "git")}).Probe(t.Context()); !errors.Is(err, ErrNoGit) {
		t.Errorf("no git: %v", err)
	}
	for says, want := range map[string]error{
		"git version 2.37.9": ErrOldGit, "git version 1.9": ErrOldGit, "git version 2.38.0": nil, "git version 2.39.5 (Apple Git-154)": nil,
		"git version 2.45.0.windows.1": nil, "git version 3.0.0-rc1": nil,
	} {
		script := filepath.Join(dir, "fake")
		if err := os.WriteFile(script, []byte("#!/bin/sh\necho '"+says+"'\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := (Git{Path: script}).Probe(t.Context()); !errors.Is(err, want) {
			t.Errorf("%q: %v", says, err)
		}
	}
	if _, err := parseVersion("hub version 2"); err == nil {
		t.Error("another program passed for git")
	}
}
