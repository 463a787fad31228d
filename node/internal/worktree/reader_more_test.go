package worktree

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestWhatAFetchBroughtIsReadAtOnce(t *testing.T) {
	h := newHub(t)
	tip := h.commit("", tree{"a": "0\n"})
	h.publish(map[string]OID{"refs/heads/master": tip})
	m := h.mirror()
	root := tip
	for i := range 3 {
		for n := range 25 { // over the limit of loose objects, so that a pack comes
			tip = h.commit(tip, tree{"a": fmt.Sprint(i, n, "\n"), fmt.Sprint("d/", n): fmt.Sprint(i, "\n")})
		}
		h.publish(map[string]OID{"refs/heads/master": tip})
		if _, err := m.Fetch(t.Context(), "master", nil); err != nil {
			t.Fatal(err)
		}
		blind := m.byGoGit()
		got, err := blind.Entries(t.Context(), tip, []string{"a", "d/24"})
		if err != nil || got["a"] != blobOf(t, h.work, tip, "a") || len(got) != 2 {
			t.Errorf("%v %v", got, err)
		}
		if on, err := blind.IsAncestor(t.Context(), root, tip); err != nil || !on {
			t.Errorf("%v %v", on, err)
		}
		if on, err := blind.IsAncestor(t.Context(), tip, root); err != nil || on {
			t.Errorf("%v %v", on, err)
		}
	}
	if packs, _ := filepath.Glob(filepath.Join(m.dir, "objects/pack/*.pack")); len(packs) < 2 {
		t.Errorf("no pack came: %v", packs)
	}
	if err := m.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := m.byGoGit().Entries(t.Context(), tip, []string{"a"}); err != nil || len(got) != 1 {
		t.Errorf("after tidying: %v %v", got, err)
	}
}

// What go-git cannot or should not read, git reads.
func TestGitIsAskedWhereGoGitCannotRead(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	fresh := func(t *testing.T) (m *Mirror, tip OID) {
		m = emptyMirror(t)
		m.bulk(t, history(r, 1, 60), "-c", "fastimport.unpackLimit=1", "fast-import", "--quiet")
		m.bulk(t, "", "commit-graph", "write", "--reachable", "--split")
		return m, OID(m.bulk(t, "", "rev-parse", "refs/heads/b0"))
	}
	one := func(t *testing.T, m *Mirror, pattern string) string {
		t.Helper()
		found, err := filepath.Glob(filepath.Join(m.dir, pattern))
		if err != nil || len(found) == 0 {
			t.Fatal(pattern, found, err)
		}
		return found[0]
	}
	for name, damage := range map[string]func(t *testing.T, m *Mirror){
		"a graph of noise": func(t *testing.T, m *Mirror) {
			put(t, "/", one(t, m, "objects/info/commit-graphs/graph-*"), strings.Repeat("CGPH\x01\x01\x03\x00noise", 300))
		},
		"a graph that is cut off": func(t *testing.T, m *Mirror) {
			if err := os.Truncate(one(t, m, "objects/info/commit-graphs/graph-*"), 100); err != nil {
				t.Fatal(err)
			}
		},
		"a graph that vanished": func(t *testing.T, m *Mirror) {
			if err := os.Remove(one(t, m, "objects/info/commit-graphs/graph-*")); err != nil {
				t.Fatal(err)
			}
		},
		"an index of a pack that is not there": func(t *testing.T, m *Mirror) {
			put(t, m.dir, "objects/pack/pack-"+strings.Repeat("ab", 20)+".idx", "\xfftOc\x00\x00\x00\x02")
			put(t, m.dir, "objects/pack/pack-"+strings.Repeat("ab", 20)+".pack", "PACK")
		},
		"a pack index that is too large": func(t *testing.T, m *Mirror) {
			put(t, m.dir, "objects/pack/pack-"+strings.Repeat("cd", 20)+".idx", "x")
			if err := os.Truncate(filepath.Join(m.dir, "objects/pack/pack-"+strings.Repeat("cd", 20)+".idx"), maxPackIndexes+1); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, tip := fresh(t)
			root := OID(m.bulk(t, "", "rev-list", "--max-parents=0", "--max-count=1", string(tip)))
			damage(t, m)
			want, err := m.byGit().Entries(t.Context(), tip, oddPaths)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := m.byGoGit().Entries(t.Context(), tip, oddPaths[:1]); (err == nil) != strings.HasPrefix(name, "a graph") {
				t.Errorf("without git: %v", err)
			}
			if got, err := m.Entries(t.Context(), tip, oddPaths); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%v %v, not %v", got, err, want)
			}
			if on, err := m.IsAncestor(t.Context(), root, tip); err != nil || !on {
				t.Errorf("%v %v", on, err)
			}
			if on, err := m.IsAncestor(t.Context(), tip, root); err != nil || on && tip != root {
				t.Errorf("%v %v", on, err)
			}
		})
	}
}

// Bytes flipped in packs and their indexes: the answer is the right one or none.
func TestADamagedPackGivesNoWrongAnswer(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	m := emptyMirror(t)
	m.bulk(t, history(r, 1, 60), "-c", "fastimport.unpackLimit=1", "fast-import", "--quiet")
	tip := OID(m.bulk(t, "", "rev-parse", "refs/heads/b2"))
	want, err := m.byGit().Entries(t.Context(), tip, oddPaths)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(m.dir, "objects/pack/pack-*"))
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	right, none := 0, 0
	for i := range 300 {
		file := files[i%2]
		whole := read(t, file)
		body := []byte(whole)
		for range 1 + r.IntN(3) {
			body[r.IntN(len(body))] ^= byte(1 + r.IntN(255))
		}
		if i%8 == 1 {
			body = body[:r.IntN(len(body))]
		}
		replaceFile(t, file, body)
		m.read.close()
		switch got, err := m.byGoGit().Entries(t.Context(), tip, oddPaths); {
		case err != nil:
			none++
		case fmt.Sprint(got) == fmt.Sprint(want):
			right++
		default:
			t.Errorf("damage %d: %v", i, got)
		}
		replaceFile(t, file, []byte(whole))
	}
	if right == 0 || none == 0 {
		t.Errorf("%d right answers, %d none", right, none)
	}
}

// replaceFile puts another file in the place of one that may be read-only.
func replaceFile(t *testing.T, file string, body []byte) {
	t.Helper()
	if err := os.WriteFile(file+".new", body, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		t.Fatal(err)
	}
}

// An object that does not hash to its name is not believed, whatever its checksums say.
func TestADamagedObjectIsNotBelieved(t *testing.T) {
	m := emptyMirror(t)
	mine := OID(m.bulk(t, "mine\n", "hash-object", "-w", "--stdin"))
	other := OID(m.bulk(t, "other\n", "hash-object", "-w", "--stdin"))
	file := func(o OID) string { return filepath.Join(m.dir, "objects", string(o[:2]), string(o[2:])) }
	body := read(t, file(other))
	if err := os.Chmod(file(mine), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file(mine), []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := m.byGoGit().Blob(t.Context(), mine); err == nil {
		t.Errorf("the content of another object: %q", got)
	}
	if got, err := m.byGoGit().Blob(t.Context(), other); err != nil || string(got) != "other\n" {
		t.Errorf("%q %v", got, err)
	}
}

func TestOddTreesAreReadAsGitReadsThem(t *testing.T) {
	m := emptyMirror(t)
	blob := m.bulk(t, "x\n", "hash-object", "-w", "--stdin")
	raw := func(entries ...string) string {
		var body strings.Builder
		for i := 0; i < len(entries); i += 2 {
			body.WriteString(entries[i] + "\x00")
			for b := range slices.Chunk([]byte(entries[i+1]), 2) {
				var one byte
				fmt.Sscanf(string(b), "%02x", &one)
				body.WriteByte(one)
			}
		}
		return m.bulk(t, body.String(), "hash-object", "-w", "-t", "tree", "--literally", "--stdin")
	}
	sub := raw("100644 .git", blob, "100664 group", blob, "100655 others", blob, "100700 own", blob)
	root := raw("40000 .git", sub, "100755 git~1", blob, "040000 padded", sub)
	commit := OID(m.bulk(t, "", "commit-tree", "-m", "odd", root))
	paths := []string{".git/.git", ".git/group", ".git/own", ".git/others", "git~1", "padded/own", "git~1/x", ".git", "../x", "a//b", "/x", "padded/"}
	for _, p := range paths {
		want, gitErr := m.byGit().Entries(t.Context(), commit, []string{p})
		got, err := m.Entries(t.Context(), commit, []string{p})
		if (err == nil) != (gitErr == nil) || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%q: %v %v, not %v %v", p, got, err, want, gitErr)
		}
	}
}

func TestAMirrorOfAnotherObjectFormatIsReadByGit(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "m.git")
	git(t, t.TempDir(), "init", "-q", "--bare", "--object-format=sha256", dir)
	m, err := OpenMirror(t.Context(), Git{}, dir, Remote{URL: "https://example.invalid/r"})
	if err != nil {
		t.Fatal(err)
	}
	if m.read != nil {
		t.Error("go-git would take half of each object id")
	}
	m.bulk(t, "commit refs/heads/x\ncommitter a <a@example.com> 1 +0000\ndata 1\nx\nM 100644 inline a\ndata 1\nx\n", "fast-import", "--quiet")
	tip := OID(m.bulk(t, "", "rev-parse", "refs/heads/x"))
	if got, err := m.Entries(t.Context(), tip, []string{"a"}); err != nil || len(got["a"].OID) != 64 {
		t.Errorf("%v %v", got, err)
	}
	if ok, err := m.CommitExists(t.Context(), tip); err != nil || !ok {
		t.Error(ok, err)
	}
	if ok, err := m.IsAncestor(t.Context(), tip, tip); err != nil || !ok {
		t.Error(ok, err)
	}
}

// A graph that git has written since the last question is used: without it the walk would be too long.
func TestAGrownCommitGraphIsUsed(t *testing.T) {
	m := emptyMirror(t)
	straight := func(from, n int) {
		var s strings.Builder
		for i := from; i < from+n; i++ {
			fmt.Fprintf(&s, "commit refs/heads/x\ncommitter a <a@example.com> %d +0000\ndata 1\nx\n", i)
			if i == from && from > 0 {
				s.WriteString("from refs/heads/x^0\n")
			}
			s.WriteString("\n")
		}
		m.bulk(t, s.String(), "-c", "fastimport.unpackLimit=10000", "fast-import", "--quiet")
		m.bulk(t, "", "commit-graph", "write", "--reachable", "--split")
	}
	straight(0, 3)
	first := OID(m.bulk(t, "", "rev-parse", "refs/heads/x"))
	if ok, err := m.byGoGit().IsAncestor(t.Context(), first, first); err != nil || !ok {
		t.Fatal(ok, err)
	}
	straight(3, maxWalk+50)
	tip, near := OID(m.bulk(t, "", "rev-parse", "refs/heads/x")), OID(m.bulk(t, "", "rev-parse", "refs/heads/x~9"))
	if ok, err := m.byGoGit().IsAncestor(t.Context(), tip, near); err != nil || ok {
		t.Error(ok, err)
	}
	if _, err := m.byGoGit().IsAncestor(t.Context(), first, tip); err == nil {
		t.Error("a walk over the limit")
	}
	if ok, err := m.IsAncestor(t.Context(), first, tip); err != nil || !ok {
		t.Error(ok, err)
	}
}

// Many readers while git packs, repacks and prunes under them.
func TestReadersKeepTheirAnswersWhileGitRepacks(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	m := emptyMirror(t)
	m.bulk(t, history(r, 1, 80), "-c", "fastimport.unpackLimit=1", "fast-import", "--quiet")
	tip := OID(m.bulk(t, "", "rev-parse", "refs/heads/b1"))
	want, err := m.byGit().Entries(t.Context(), tip, oddPaths)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if got, err := m.Entries(t.Context(), tip, oddPaths); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%v %v", got, err)
					return
				}
			}
		})
	}
	for i := range 12 {
		m.bulk(t, fmt.Sprintf("blob\ndata 2\n%02d\n", i), "-c", "fastimport.unpackLimit=1", "fast-import", "--quiet")
		m.bulk(t, "", "repack", []string{"-adq", "-aAdq"}[i%2])
		m.bulk(t, "", "commit-graph", "write", "--reachable", "--split=replace")
	}
	close(done)
	wg.Wait()
}
