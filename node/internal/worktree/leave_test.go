package worktree

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestARepositoryKnowsTheHomesThatWriteIntoIt(t *testing.T) {
	c := newConflict(t)
	for _, home := range []string{"/srv/a b", "/srv/\n", "/srv/a b"} {
		again, err := OpenCheckout(t.Context(), Git{}, c.dir)
		if err != nil {
			t.Fatal(err)
		}
		again.Home = home
		release, err := again.exclusive(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		release()
	}
	common := filepath.Join(c.dir, ".git")
	if got, err := Homes(common); err != nil || !slices.Equal(got, []string{"/srv/a b", "/srv/\n"}) {
		t.Errorf("homes %q, %v", got, err)
	}
}

func TestAHomeIsNotedWhereSomethingIsKeptAlready(t *testing.T) { // D-22
	c := newConflict(t)
	common := filepath.Join(c.dir, ".git")
	note := func() []string {
		again, err := OpenCheckout(t.Context(), Git{}, c.dir)
		if err != nil {
			t.Fatal(err)
		}
		again.Home = "/srv/home"
		if err := again.NoteHome(); err != nil {
			t.Fatal(err)
		}
		homes, err := Homes(common)
		if err != nil {
			t.Fatal(err)
		}
		return homes
	}
	if got := note(); got != nil {
		t.Errorf("%q is noted where parley never wrote", got)
	}
	if _, err := os.Lstat(filepath.Join(common, "parley")); err == nil {
		t.Error("noting a home makes the folder")
	}
	if err := os.MkdirAll(filepath.Join(common, "parley", keptDir), 0o700); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := note(); !slices.Equal(got, []string{"/srv/home"}) {
			t.Errorf("homes %q", got)
		}
	}
}

func TestLeavingARepositoryTakesParleysOwnAlone(t *testing.T) {
	common := t.TempDir()
	exclude := filepath.Join(common, "info", "exclude")
	if err := os.MkdirAll(filepath.Join(common, "parley", keptDir), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Leave(common); err != nil {
		t.Errorf("without exclusions: %v", err)
	}
	if err := os.MkdirAll(filepath.Dir(exclude), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(exclude, []byte("# mine\n"+besidePattern+"\n*.o"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Leave(common); err != nil {
		t.Fatal(err)
	}
	if body, err := os.ReadFile(exclude); string(body) != "# mine\n*.o" {
		t.Errorf("%q, %v", body, err)
	}
	if _, err := os.Lstat(filepath.Join(common, "parley")); err == nil {
		t.Error("the folder is still there")
	}
}
