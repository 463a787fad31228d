package worktree

import (
	"slices"
	"strings"
	"testing"
)

func TestADiffIsBoundedReadableAndStartsNothing(t *testing.T) { // P15, P24
	h := newHub(t)
	old := h.commit("", map[string]string{"a.txt": "one\ntwo\n", "b.bin": "\x00\x01", "gone.txt": "x\n"})
	now := h.commit(old, map[string]string{"a.txt": "one\n\x1b[2Jthree\n", "b.bin": "\x00\x02", ".gitattributes": "*.txt diff=evil\n"})
	h.publish(map[string]OID{"refs/heads/master": now})
	m := h.mirror()
	git(t, m.Dir(), "config", "diff.evil.command", "touch "+t.TempDir()+"/started; false")
	git(t, m.Dir(), "config", "diff.evil.textconv", "false")

	d, err := m.Diff(t.Context(), old, now, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(d.Files, func(f DiffFile) bool { return f.Path == "a.txt" })
	if i < 0 || d.Files[i].Added != 1 || d.Files[i].Removed != 1 || d.Cut {
		t.Errorf("files %+v, cut %v", d.Files, d.Cut)
	}
	if i := slices.IndexFunc(d.Files, func(f DiffFile) bool { return f.Path == "b.bin" }); i < 0 || d.Files[i].Added != -1 {
		t.Errorf("the binary file: %+v", d.Files)
	}
	if !strings.Contains(d.Text, "-two\n") || strings.Contains(d.Text, "\x1b") {
		t.Errorf("text %q", d.Text)
	}

	few, err := m.Diff(t.Context(), old, now, 40)
	if err != nil || !few.Cut || len(few.Text) > 3*40 || !slices.Equal(few.Files, d.Files) {
		t.Errorf("cut: %+v, %v", few, err)
	}
	if _, err := m.Diff(t.Context(), old, "--output=/tmp/x", 40); err == nil {
		t.Error("an option was taken for a commit")
	}
}
