package watch

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// heard waits until the bell has told of a path, or of everything.
func heard(t *testing.T, b *Bell, path string) {
	t.Helper()
	deadline := time.After(60 * time.Second)
	for {
		select {
		case <-b.C():
			if paths, all := b.Take(); all || slices.Contains(paths, path) {
				return
			}
		case <-deadline:
			t.Fatalf("nothing was heard of %s", path)
		}
	}
}

func write(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(time.Now().String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestTheBellRingsForFilesNewFoldersAndCommits(t *testing.T) {
	dir := t.TempDir()
	gitDir := filepath.Join(dir, ".git")
	write(t, filepath.Join(gitDir, "HEAD"))
	write(t, filepath.Join(dir, "src", "a.go"))
	write(t, filepath.Join(dir, "node_modules", "x", "b.js"))
	b, err := Open(dir, []string{gitDir}, func(rel string) bool { return rel == "node_modules" })
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if b.Partial() {
		t.Error("not all is watched")
	}
	write(t, filepath.Join(dir, "src", "a.go"))
	heard(t, b, "src/a.go")
	write(t, filepath.Join(dir, "src", "deep", "er", "c.go"))
	heard(t, b, "src/deep/er/c.go")
	write(t, filepath.Join(dir, "src", "deep", "er", "c.go"))
	heard(t, b, "src/deep/er/c.go")
	write(t, filepath.Join(gitDir, "HEAD"))
	heard(t, b, "HEAD")
	for alone := false; !alone; { // what rings for everything comes before what was written later
		write(t, filepath.Join(dir, "next"))
		select {
		case <-b.C():
			paths, all := b.Take()
			alone = !all && slices.Contains(paths, "next")
		case <-t.Context().Done():
			t.Fatal("it never rings for one file alone")
		}
	}
	write(t, filepath.Join(dir, "node_modules", "x", "b.js")) // silent
	write(t, filepath.Join(dir, "last"))
	deadline := time.After(60 * time.Second)
	for last := false; !last; {
		select {
		case <-b.C():
			paths, _ := b.Take()
			last = slices.Contains(paths, "last")
			if slices.Contains(paths, "node_modules/x/b.js") {
				t.Error("it rang for a folder that was to be skipped")
			}
		case <-deadline:
			t.Fatal("nothing was heard of the last file")
		}
	}
}

func TestTooManyChangesAreToldAsEverything(t *testing.T) {
	b := &Bell{rings: make(chan struct{}, 1)}
	for range pathsMax + 1 {
		b.ring("a", false)
	}
	if paths, all := b.Take(); !all || len(paths) != 0 {
		t.Errorf("told %d paths, everything %v", len(paths), all)
	}
	if paths, all := b.Take(); all || len(paths) != 0 {
		t.Errorf("told twice: %v, %v", paths, all)
	}
}
