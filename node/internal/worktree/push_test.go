package worktree

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAPushOnlyEverAddsToTheHeadItKnows(t *testing.T) { // D-23, case 61
	h := newHub(t)
	h.require("t0ken")
	root := h.commit("", tree{"a": "x\n"})
	head := h.commit(root, tree{"a": "1\n"})
	next, rival := h.commit(head, tree{"a": "2\n"}), h.commit(head, tree{"a": "3\n"})
	h.publish(map[string]OID{"refs/heads/master": root, "refs/heads/topic/ü": head, "refs/pull/1/head": next, "refs/pull/2/head": rival})
	m := h.mirror(1, 2)
	tip := func() OID {
		t.Helper()
		o, err := m.RemoteTip(t.Context(), "topic/ü")
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	for name, pair := range map[string][2]OID{"a rewrite": {head, root}, "another line": {next, rival}, "nothing new": {head, head}} {
		if err := m.Push(t.Context(), "topic/ü", pair[0], pair[1]); !errors.Is(err, ErrNotDescendant) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := m.Push(t.Context(), "topic/ü", "", next); err == nil {
		t.Error("pushed without an expected head")
	}
	if err := m.Push(t.Context(), "-x", head, next); !errors.Is(err, ErrRefused) {
		t.Errorf("an option as a branch: %v", err)
	}
	if tip() != head {
		t.Fatal("a refused push moved the branch")
	}
	if err := m.Push(t.Context(), "topic/ü", head, next); err != nil || tip() != next {
		t.Fatalf("the push: %v", err)
	}
	// The lease: somebody was faster, even though our commit descends from what we knew.
	if err := m.Push(t.Context(), "topic/ü", head, rival); !errors.Is(err, ErrStale) || tip() != next {
		t.Errorf("a stale push: %v", err)
	}
	if err := m.Push(t.Context(), "gone", head, next); !errors.Is(err, ErrStale) {
		t.Errorf("a deleted branch: %v", err)
	}
	// Somebody took the branch back: our commit would still only add, but not to what was approved.
	h.publish(map[string]OID{"refs/heads/topic/ü": root})
	if err := m.Push(t.Context(), "topic/ü", head, rival); !errors.Is(err, ErrStale) || tip() != root {
		t.Errorf("a branch taken back: %v", err)
	}
	if _, err := m.RemoteTip(t.Context(), "gone"); !errors.Is(err, ErrNoBranch) {
		t.Errorf("tip of a deleted branch: %v", err)
	}
}

func TestARefusedPushSaysWho(t *testing.T) {
	h := newHub(t)
	root := h.commit("", tree{"a": "x\n"})
	next := h.commit(root, tree{"a": "1\n"})
	h.publish(map[string]OID{"refs/heads/master": root, "refs/pull/1/head": next})
	m := h.mirror(1)
	hook := filepath.Join(h.dir, "hooks", "update")
	if err := os.WriteFile(hook, []byte("#!/bin/sh\necho 'error: GH006: Protected branch update failed for refs/heads/master.' >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := m.Push(t.Context(), "master", root, next); !errors.Is(err, ErrProtected) || !strings.Contains(err.Error(), "GH006") {
		t.Errorf("a protected branch: %v", err)
	}
	if err := os.Remove(hook); err != nil {
		t.Fatal(err)
	}
	git(t, h.dir, "config", "http.receivepack", "false")
	if err := m.Push(t.Context(), "master", root, next); !errors.Is(err, ErrDenied) {
		t.Errorf("no right to push: %v", err)
	}
	git(t, h.dir, "config", "http.receivepack", "true")
	h.answer(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost {
			http.Error(w, "no", http.StatusBadGateway)
		}
		return r.Method == http.MethodPost
	})
	if err := m.Push(t.Context(), "master", root, next); !errors.Is(err, ErrTemporary) {
		t.Errorf("an outage: %v", err)
	}
}

func TestNoHookOfThisComputerRunsOnAPush(t *testing.T) {
	h := newHub(t)
	root := h.commit("", tree{"a": "x\n"})
	next := h.commit(root, tree{"a": "1\n"})
	h.publish(map[string]OID{"refs/heads/master": root, "refs/pull/1/head": next})
	m := h.mirror(1)
	ran := filepath.Join(t.TempDir(), "ran")
	for _, hook := range []string{"pre-push", "reference-transaction", "post-update"} {
		put(t, m.dir, "x:hooks/"+hook, "#!/bin/sh\ntouch "+ran+"\n")
	}
	if err := m.Push(t.Context(), "master", root, next); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Fetch(t.Context(), "master", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a hook ran")
	}
}
