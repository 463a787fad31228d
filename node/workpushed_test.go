package node

import (
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/internal/hooks"
	standin "github.com/parley-mesh/parley/simnet/github"
)

// published are the sides that were pushed and are there, with whose they are.
func (c *crewed) published() map[string]string {
	c.live.mu.Lock()
	defer c.live.mu.Unlock()
	c.live.fold.Settle()
	out := map[string]string{}
	for _, s := range c.live.fold.Sides() {
		if (s.Kind == detect.Branch || s.Kind == detect.PullRequest) && s.Phase.String() != "ended" {
			whose := "nobody"
			if s.Developer == c.fleet {
				whose = "own"
			}
			out[s.Branch] = whose
		}
	}
	return out
}

// branches pushes every sort of branch, and opens a pull request of one.
func (h *hub) branches(t *testing.T) *standin.Pull {
	t.Helper()
	late := strings.Replace(refundGo, "cents int)", "cents int, late bool)", 1)
	h.branch("feat/late", "Kim@acme.com", "billing/refund.go", late)
	h.branch("feat/odd", "stranger@acme.com", "docs/page01.md", "odd\n")
	h.branch("feat/mixed", "kim@acme.com", "docs/page02.md", "mixed\n")
	git(t, h.outside, "checkout", "-q", "feat/mixed")
	git(t, h.outside, "commit", "-q", "--allow-empty", "--author", "o <o@acme.com>", "-m", "more")
	h.push("feat/mixed")
	h.branch("feat/asked", "kim@acme.com", "docs/page03.md", "asked\n")
	pull, err := h.server.OpenPull(h.kim, h.repo, "main", h.repo, "feat/asked", "Ask", false)
	if err != nil {
		t.Fatal(err)
	}
	h.branch("feat/here", "kim@acme.com", "docs/page04.md", "here\n")
	h.branch("feat/landed", "kim@acme.com", "docs/page05.md", "landed\n")
	h.branch("squashed", "olga@acme.com", "docs/page05.md", "landed\n")
	h.push("squashed:main", "main:feat/merged")
	git(t, h.outside, "checkout", "-q", "-b", "feat/old", "main")
	write(t, filepath.Join(h.outside, "docs", "page06.md"), "old\n")
	old := exec.Command("git", "commit", "-q", "-a", "-m", "old")
	old.Dir, old.Env = h.outside, append(old.Environ(), "GIT_AUTHOR_NAME=k", "GIT_AUTHOR_EMAIL=k@x", "GIT_COMMITTER_NAME=k", "GIT_COMMITTER_EMAIL=k@x", fmt.Sprintf("GIT_COMMITTER_DATE=%d +0000", time.Now().Add(-branchesAge-time.Hour).Unix()))
	if out, err := old.CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	h.push("feat/old")
	return pull
}

func TestPushedBranchesAreSidesUntilTheyAreGone(t *testing.T) { // C1
	h, homes, dirs := newHub(t, 1, "")
	pull := h.branches(t)
	git(t, dirs[0], "checkout", "-q", "-b", "feat/here")
	c := runCrewed(t, homes[0], dirs[0])
	c.looked()
	c.hook(hooks.Start, "one")
	eventually(t, "the session is known", func() bool {
		c.hook(hooks.Prompt, "one")
		s, err := c.live.Sessions(t.Context(), api.WorkQuery{})
		return err == nil && len(s) == 1
	})
	all := map[ledger.ID]*pushed{}
	c.live.publishAll(t.Context(), all)
	want := map[string]string{"feat/late": "own", "feat/odd": "nobody", "feat/mixed": "nobody", "feat/asked": "own"}
	if got := c.published(); !maps.Equal(got, want) {
		t.Fatalf("published are %v, want %v", got, want)
	}
	before := maps.Clone(all)
	c.live.publishAll(t.Context(), all)
	if !maps.Equal(all, before) {
		t.Error("what has not changed was published again")
	}
	id := ledger.BranchSide("github.localhost", uint64(h.repo.ID), "feat/late")
	c.live.mu.Lock()
	d := c.live.fold.Digest(id)
	c.live.mu.Unlock()
	if len(d.Files) != 1 || d.Side.Task != "change billing/refund.go, #17" || !slices.Equal(d.Side.Issues, []string{"#17"}) || d.Side.User != "kim@acme.com" {
		t.Errorf("the branch is %+v", d.Side)
	}

	git(t, h.outside, "checkout", "-q", "main")
	git(t, h.outside, "merge", "-q", "--ff-only", "squashed")
	git(t, h.outside, "merge", "-q", "--no-edit", "feat/late")
	h.push("main", ":feat/odd")
	c.live.publishAll(t.Context(), all)
	want = map[string]string{"feat/mixed": "nobody", "feat/asked": "own"}
	if got := c.published(); !maps.Equal(got, want) {
		t.Errorf("once one was merged and one deleted there are %v, want %v", got, want)
	}
	c.hook(hooks.End, "one")
	c.live.publishAll(t.Context(), map[ledger.ID]*pushed{}) // as after a restart
	if want["feat/here"] = "own"; !maps.Equal(c.published(), want) {
		t.Errorf("once its session has ended there are %v, want %v", c.published(), want)
	}
	h.server.ClosePull(pull)
	h.push(":feat/here", ":feat/mixed")
	c.live.publishAll(t.Context(), all)
	if got, want := c.published(), map[string]string{"feat/asked": "own"}; !maps.Equal(got, want) {
		t.Errorf("a branch whose pull request was closed goes on alone: %v, want %v", got, want)
	}
}
