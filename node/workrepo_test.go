package node

import (
	"path/filepath"
	"testing"

	"github.com/parley-mesh/parley/node/internal/hooks"
)

func TestARemoteOfAnotherRepositoryMakesNoCheckoutOfIt(t *testing.T) {
	homes, dirs := newCrew(t, 1)
	c := runCrewed(t, homes[0], dirs[0])
	c.looked()
	const url = "http://" + workHost + "/"
	clone := func(name string, remotes ...string) string {
		t.Helper()
		dir := filepath.Join(t.TempDir(), name)
		git(t, "/", "clone", "-q", "-o", "first", c.dir, dir)
		git(t, dir, "remote", "remove", "first")
		for i := 0; i < len(remotes); i += 2 {
			git(t, dir, "remote", "add", remotes[i], url+remotes[i+1]+".git")
		}
		return dir
	}
	fetched := func(dir, remote string) string {
		git(t, dir, "update-ref", "refs/remotes/"+remote+"/main", git(t, c.dir, "rev-parse", "refs/remotes/origin/main"))
		return dir
	}
	site := filepath.Join(t.TempDir(), "site")
	git(t, "/", "init", "-q", "-b", "main", site)
	git(t, site, "commit", "-q", "--allow-empty", "-m", "another history")
	git(t, site, "remote", "add", "origin", url+"acme/site.git")
	git(t, site, "remote", "add", "shop", url+workSlug+".git")
	git(t, site, "fetch", "-q", c.dir, "main:refs/remotes/shop/main") // to take single commits from
	linked := filepath.Join(t.TempDir(), "linked")
	git(t, c.dir, "worktree", "add", "-q", linked)
	for _, o := range []struct {
		what, dir string
		counts    bool
	}{
		{"a clone", clone("clone", "origin", workSlug), true},
		{"a clone whose only remote has another name", clone("github", "github", workSlug), true},
		{"a fork that was brought up to date", fetched(clone("fork", "origin", "kim/shop", "upstream", workSlug), "upstream"), true},
		{"a fork that names nobody", clone("alone", "origin", "kim/shop"), false},
		{"another repository with a remote for single commits", site, false},
		{"a working tree of the configured checkout", linked, true},
	} {
		c.at(o.dir, hooks.Start, o.what)
		c.live.mu.Lock()
		_, counts := c.live.spots[topOf(o.dir)]
		c.live.mu.Unlock()
		if counts != o.counts {
			t.Errorf("%s counts: %v", o.what, counts)
		}
	}
}

func TestACheckoutIsKnownByItsObjectsWhateverItsRemotesAreCalled(t *testing.T) {
	homes, dirs := newCrew(t, 1)
	git(t, dirs[0], "remote", "set-url", "origin", "work:"+workSlug+".git") // as ~/.ssh/config may name a host
	linked := filepath.Join(t.TempDir(), "linked")
	git(t, dirs[0], "worktree", "add", "-q", linked)
	c := runCrewed(t, homes[0], dirs[0])
	c.looked()
	c.at(linked, hooks.Start, "one")
	if len(c.live.sessions) != 1 {
		t.Error("a working tree of the configured checkout is not known")
	}
}
