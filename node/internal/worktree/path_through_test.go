package worktree

import (
	"slices"
	"testing"
)

func TestAConflictTravelsFromTheFetchToTheFinalCopy(t *testing.T) { // P0, P19
	h := newHub(t)
	base := h.commit("", map[string]string{"a.txt": "one\ntwo\nthree\n", "b.txt": "b\n"})
	pull := h.commit(base, map[string]string{"a.txt": "one\nPULL\nthree\n"})
	master := h.commit(base, map[string]string{"a.txt": "one\nMASTER\nthree\n", "b.txt": "bb\n", "new/c.txt": "c\n"})
	h.publish(map[string]OID{"refs/heads/master": master, "refs/pull/1/head": pull, "refs/heads/topic": pull})
	m := h.mirror(1)

	v, err := m.Try(t.Context(), master, pull)
	if err != nil {
		t.Fatal(err)
	}
	if j := v.Judge(); j.Kind != Conversation || len(v.Files) != 1 || v.Files[0].Path != "a.txt" {
		t.Fatalf("judged %v %+v", j, v)
	}

	dir := h.clone(t, base)
	c := openCheckout(t, dir)
	k, err := m.Known(t.Context(), master, 1, "a.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := Versions{Master: v.Files[0].Stage[2].OID, Pull: v.Files[0].Stage[3].OID}
	class, _, err := c.Classify(t.Context(), k, "a.txt", want, "master")
	if err != nil || class != OtherPublished {
		t.Fatalf("class %v, %v", class, err)
	}
	if o, err := c.Replace(t.Context(), agreed, "a.txt", k, v.Files[0].Stage[2]); err != nil || o != Took {
		t.Fatalf("replace: %v %v", o, err)
	}
	if got := read(t, dir, "a.txt"); got != "one\nMASTER\nthree\n" {
		t.Fatalf("a.txt is %q", got)
	}
	kept, err := c.Kept(t.Context())
	if err != nil || len(kept) != 1 || read(t, kept[0].File) != "one\ntwo\nthree\n" || kept[0].Path != "a.txt" {
		t.Fatalf("kept %+v %v", kept, err)
	}

	res, err := c.SyncMaster(t.Context(), m, SyncRequest{Base: "master", Tip: master})
	if err != nil || !res.Moved || len(res.Kept) != 0 || res.Replaced != 2 {
		t.Fatalf("fast-forward %+v %v", res, err)
	}
	if out := git(t, dir, "status", "--porcelain"); out != "" {
		t.Fatalf("status after the fast-forward: %s", out)
	}

	s, err := m.Scratch(t.Context(), pull, t.TempDir()+"/scratch")
	if err != nil {
		t.Fatal(err)
	}
	paths, err := s.StartMerge(t.Context(), master)
	if err != nil || !slices.Equal(paths, []string{"a.txt"}) {
		t.Fatalf("start merge: %v %v", paths, err)
	}
	put(t, s.Dir, "a.txt", "one\nBOTH\nthree\n")
	git(t, s.Dir, "commit", "-qam", "merged")
	final := OID(git(t, s.Dir, "rev-parse", "HEAD"))
	if err := s.Import(t.Context(), final, m); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := m.Push(t.Context(), "topic", pull, final); err != nil {
		t.Fatal(err)
	}
	if tip, err := m.RemoteTip(t.Context(), "topic"); err != nil || tip != final {
		t.Fatalf("remote tip %v %v", tip, err)
	}
}
