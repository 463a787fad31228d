package worktree

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
)

// emptyMirror is a mirror in front of nothing, for a test that fills it itself.
func emptyMirror(t testing.TB) *Mirror {
	t.Helper()
	m, err := OpenMirror(t.Context(), Git{}, filepath.Join(t.TempDir(), "mirror.git"), Remote{URL: "https://example.invalid/r"})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// byGit is the same mirror with every answer from the git program, byGoGit with none from it.
func (m *Mirror) byGit() *Mirror {
	other := *m
	other.read, other.sets = nil, nil
	return &other
}

func (m *Mirror) byGoGit() *Mirror {
	other := *m
	other.git.path = "/nonexistent/git"
	return &other
}

var oddPaths = []string{
	"a", "b.txt", "d/e", "d/f", "d/g/h", "d/g/i/j", "d-", "d.", "d0", "-rf", "a*b", ":(glob)**", "with space/and \"quotes\"", "Ä/ß",
	"A\u0308/ß", "\xff\xfe/x", "line\nfeed", "tab\there", "CON", ".gitmodules", "trail ", "x\\y", "ab/cd",
}

// history writes a stream for fast-import: merges, deletions, files that become directories, links, modes and
// submodules, with clocks that go back.
func history(r *rand.Rand, from, commits int) string {
	var s strings.Builder
	data := func(text string) { fmt.Fprintf(&s, "data %d\n%s\n", len(text), text) }
	quote := func(p string) string {
		return `"` + strings.NewReplacer("\\", `\\`, `"`, `\"`, "\n", `\n`).Replace(p) + `"`
	}
	for i := from; i < from+commits; i++ {
		fmt.Fprintf(&s, "commit refs/heads/b%d\nmark :%d\ncommitter a <a@example.com> %d +0000\n", i%3, i, 1_700_000_000+i*10-r.IntN(60))
		data(fmt.Sprintf("tree 0000\nparent %d\n", i)) // a text that looks like a header
		parents := map[int]bool{}
		for range r.IntN(4) {
			p := i - 1 - r.IntN(12)
			if p < 1 || parents[p] {
				continue
			}
			parents[p] = true
			if len(parents) == 1 {
				fmt.Fprintf(&s, "from :%d\n", p)
			} else {
				fmt.Fprintf(&s, "merge :%d\n", p)
			}
		}
		for range r.IntN(6) {
			p := oddPaths[r.IntN(len(oddPaths))]
			switch r.IntN(6) {
			case 0:
				fmt.Fprintf(&s, "D %s\n", quote(p))
			case 1:
				fmt.Fprintf(&s, "M 160000 %040x %s\n", r.Uint64(), quote(p))
			default:
				mode := []string{modeFile, modeFile, modeExecutable, modeSymlink}[r.IntN(4)]
				fmt.Fprintf(&s, "M %s inline %s\n", mode, quote(p))
				data(strings.Repeat(fmt.Sprintf("line %d\n", r.IntN(40)), r.IntN(200)))
			}
		}
		s.WriteString("\n")
	}
	return s.String()
}

// bulk runs git on the mirror itself.
func (m *Mirror) bulk(t testing.TB, stdin string, args ...string) string {
	t.Helper()
	out, err := gitTry(t, m.dir, stdin, args...)
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return out
}

func TestGoGitSaysWhatGitSays(t *testing.T) {
	seeds := 4
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, uint64(seed)))
			m := emptyMirror(t)
			marks := "--export-marks=" + filepath.Join(m.dir, "tmp_marks")
			grow := func(from, n int, unpack string) func() {
				return func() {
					m.bulk(t, history(r, from, n), "-c", "fastimport.unpackLimit="+unpack, "fast-import", "--quiet", "--force",
						"--import-marks-if-exists="+filepath.Join(m.dir, "tmp_marks"), marks)
				}
			}
			for _, step := range []struct {
				name string
				do   func()
			}{
				{"a pack", grow(1, 120, "1")},
				{"loose objects on top", grow(121, 30, "100000")},
				{"a commit graph", func() { m.bulk(t, "", "commit-graph", "write", "--reachable", "--split") }},
				{"a second pack beyond the graph", grow(151, 40, "1")},
				{"a chain of graphs", func() { m.bulk(t, "", "commit-graph", "write", "--reachable", "--split=no-merge", "--changed-paths") }},
				{"packs replaced by one", func() { m.bulk(t, "", "repack", "-akdq") }},
				{"a third pack", grow(191, 10, "1")},
				{"a gc, which writes a graph of one file", func() { m.bulk(t, "", "gc", "-q", "--no-prune") }},
				{"loose objects beyond it", grow(201, 10, "100000")},
			} {
				step.do()
				m.agrees(t, r, step.name)
				if t.Failed() {
					return
				}
			}
		})
	}
}

// agrees asks both for a sample of everything.
func (m *Mirror) agrees(t *testing.T, r *rand.Rand, when string) {
	t.Helper()
	var commits, blobs, trees []OID
	for line := range strings.Lines(m.bulk(t, "", "cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(objectname)")) {
		kind, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch kind {
		case "commit":
			commits = append(commits, OID(id))
		case "blob":
			blobs = append(blobs, OID(id))
		case "tree":
			trees = append(trees, OID(id))
		}
	}
	pick := func(from []OID) OID { return from[r.IntN(len(from))] }
	paths := append([]string{"none", "d", "d/g", "a/none", "d/e/none", "Ä"}, oddPaths...)
	theirs, ours := m.byGit(), m.byGoGit()
	for range 8 {
		c := pick(commits)
		want, err := theirs.Entries(t.Context(), c, paths)
		got, readErr := ours.Entries(t.Context(), c, paths)
		if err != nil || readErr != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: entries of %s: %v %v\n%v\n%v", when, c, err, readErr, got, want)
		}
		a, b := pick(commits), pick(commits)
		yes, err := theirs.IsAncestor(t.Context(), a, b)
		read, readErr := ours.IsAncestor(t.Context(), a, b)
		if err != nil || readErr != nil || read != yes {
			t.Errorf("%s: %s before %s: %v %v, %v %v", when, a, b, yes, err, read, readErr)
		}
		blob := pick(blobs)
		body, err := theirs.Blob(t.Context(), blob)
		same, readErr := ours.Blob(t.Context(), blob)
		if err != nil || readErr != nil || !bytes.Equal(body, same) {
			t.Errorf("%s: blob %s: %v %v", when, blob, err, readErr)
		}
		for id, is := range map[OID]bool{c: true, blob: false, pick(trees): false, OID(fmt.Sprintf("%040x", r.Uint64())): false} {
			if has, err := m.CommitExists(t.Context(), id); err != nil || has != is {
				t.Errorf("%s: commit %s: %v %v", when, id, has, err)
			}
		}
	}
	if ok, err := ours.CommitExists(t.Context(), pick(commits)); err != nil || !ok {
		t.Errorf("%s: a commit is not found without git: %v", when, err)
	}
}
