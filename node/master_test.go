package node

import (
	"testing"

	"github.com/parley-mesh/parley/node/core"
	"github.com/parley-mesh/parley/node/internal/worktree"
)

func TestAThreadThatBeginsDuringAMasterSyncHoldsItsFiles(t *testing.T) { // P0, P18
	n, w := &Node{}, &workspace{slug: "acme/shop"}
	r := n.syncRequest(t.Context(), w, core.SyncMaster{Slug: w.slug, Hold: []string{"a.go"}}, "aa", t.TempDir())
	if !r.Hold("a.go") || r.Hold("b.go") {
		t.Error("at first the thread's file alone is held")
	}

	n.held.set(w.slug, []string{"a.go", "b.go"})
	n.held.set("acme/other", []string{"c.go"})

	if !r.Hold("b.go") || r.Hold("c.go") {
		t.Error("the file of the thread that began meanwhile is not held, or another repository's is")
	}
}

func TestWhatFailedItsTestsIsNotTestedAgainUntilItChanges(t *testing.T) { // P0
	n, w := &Node{}, &workspace{slug: "acme/shop"}
	r := n.syncRequest(t.Context(), w, core.SyncMaster{Slug: w.slug}, "aa", t.TempDir())
	w.judged(worktree.SyncResult{Own: "mine", Why: "The tests fail."}, "aa")

	if got := r.Failed("mine"); got != "The tests fail." {
		t.Errorf("the same again: %q", got)
	}
	if r.Failed("changed") != "" || n.syncRequest(t.Context(), w, core.SyncMaster{}, "bb", "").Failed("mine") != "" {
		t.Error("another combination is not tested")
	}
	w.judged(worktree.SyncResult{Own: "mine", Conflicts: []string{"a.go"}}, "aa")
	if got := r.Failed("mine"); got != "" {
		t.Errorf("a conflict is no failed test: %q", got)
	}
}
