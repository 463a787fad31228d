package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestADirectoryIsLocatedInItsWorkingTreeAndItsRepository(t *testing.T) {
	root := t.TempDir()
	main, linked := filepath.Join(root, "main"), filepath.Join(root, "linked")
	git := func(args ...string) {
		t.Helper()
		if out, err := (Git{}).theirs(root).must(t.Context(), call{args: args}); err != nil {
			t.Fatal(err, string(out))
		}
	}
	git("init", "-q", main)
	git("-C", main, "-c", "user.name=k", "-c", "user.email=k@x", "commit", "-q", "--allow-empty", "-m", "one")
	git("-C", main, "remote", "add", "origin", "git@github.com:acme/shop.git")
	git("-C", main, "worktree", "add", "-q", linked)
	below := filepath.Join(linked, "a", "b")
	if err := os.MkdirAll(below, 0o755); err != nil {
		t.Fatal(err)
	}
	a, err := Locate(t.Context(), Git{}, main)
	if err != nil || a.Top != Real(main) || len(a.Remotes) != 1 || RemoteSlug(a.Remotes[0].URL, "github.com") != "acme/shop" {
		t.Errorf("the main one is %+v, %v", a, err)
	}
	b, err := Locate(t.Context(), Git{}, below)
	if err != nil || b.Top != Real(linked) || b.Common != a.Common || b.GitDir == a.GitDir {
		t.Errorf("the linked one is %+v, %v", b, err)
	}
	if _, err := Locate(t.Context(), Git{}, root); !errors.Is(err, ErrNotRepository) {
		t.Errorf("a directory in no repository: %v", err)
	}
}

func TestARemoteNamesARepositoryOfItsHostOnly(t *testing.T) {
	for url, want := range map[string]string{
		"https://github.com/acme/shop.git":         "acme/shop",
		"https://kim:secret@github.com/acme/shop/": "acme/shop",
		"ssh://git@github.com:22/acme/shop":        "acme/shop",
		"git@github.com:acme/shop.git":             "acme/shop",
		"git@github.com:/acme/shop.git":            "acme/shop",
		"https://GitHub.com/acme/shop":             "acme/shop",
		"https://example.com/acme/shop":            "",
		"https://github.com/acme":                  "",
		"/srv/git/acme/shop.git":                   "",
		"../shop":                                  "",
		"https://github.com.evil.example/a/b":      "",
		"https://evil.example/github.com/acme/x":   "",
	} {
		if got := RemoteSlug(url, "github.com"); got != want {
			t.Errorf("%s names %q, want %q", url, got, want)
		}
	}
	if got := RemoteSlug("http://127.0.0.1:8080/acme/shop.git", "127.0.0.1:8080"); got != "acme/shop" {
		t.Errorf("a host with a port names %q", got)
	}
}

func TestWorkIsMeasuredFromWhereASyncMovedTheBranch(t *testing.T) { // C9, P0
	h, old, tip := shared(t)
	f := newFixture(t, h, old)
	git(t, f.dir, "update-ref", "refs/remotes/origin/master", string(old)) // as the person's clone left it
	fork := func(seen OID) (base, trunk OID) {
		t.Helper()
		at, err := Locate(t.Context(), Git{}, f.dir)
		base, trunk, other := at.Fork(t.Context(), Git{}, "master", seen)
		if err = errors.Join(err, other); err != nil {
			t.Fatal(err)
		}
		return base, trunk
	}
	if base, trunk := fork(OID(strings.Repeat("e", 40))); base != old || trunk != old {
		t.Errorf("with a tip that is not here: %s, %s", base, trunk)
	}
	turns := f.c.Turns()
	if res, err := f.forward(tip); err != nil || !res.Moved {
		t.Fatalf("%+v %v", res, err)
	}
	if now := f.c.Turns(); now == turns || now%2 != 0 {
		t.Errorf("the sync is no turn of writing: %d, then %d", turns, now)
	}
	if base, trunk := fork(tip); base != tip || trunk != tip {
		t.Errorf("after the sync: %s, %s, want %s", base, trunk, tip)
	}
	if base, _ := fork(""); base != old {
		t.Errorf("with no mirror: %s", base)
	}
	git(t, f.dir, "update-ref", "refs/remotes/origin/master", string(tip))
	if _, trunk := fork(old); trunk != tip {
		t.Errorf("a person who fetched later than the mirror: %s", trunk)
	}
}
