package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const file = "src/ü f.txt" // not plain ASCII, and with a space

// conflict is a fixture with one conflicted file: the checkout has old, master has master, the pull has pull.
type conflict struct {
	*fixture
	old, master, pull Entry
	root, tip         OID
	k                 *Known
}

func newConflict(t testing.TB) *conflict {
	t.Helper()
	h := newHub(t)
	root := h.commit("", tree{file: "one\nold\n", "src/other": "o\n"})
	pull := h.commit(root, tree{file: "one\npull\n"})
	tip := h.commit(root, tree{"x:" + file: "one\nmaster\n"})
	h.publish(map[string]OID{"refs/heads/master": tip, "refs/pull/1/head": pull})
	c := &conflict{fixture: newFixture(t, h, root, 1), root: root, tip: tip}
	c.old, c.pull, c.master = blobOf(t, h.work, root, file), blobOf(t, h.work, pull, file), blobOf(t, h.work, tip, file)
	c.k = c.knownAt(t, file)
	return c
}

// fork is another checkout of the same conflict.
func (c *conflict) fork(t testing.TB) *conflict {
	t.Helper()
	other := *c
	other.fixture = c.fixture.fork(t, c.root)
	return &other
}

func (c *conflict) knownAt(t testing.TB, path string) *Known {
	t.Helper()
	k, err := c.m.Known(t.Context(), c.tip, 1, path)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// local is the blob id of content that nobody else has.
func local(t testing.TB, dir, content string) OID {
	t.Helper()
	out, err := gitTry(t, dir, content, "hash-object", "-w", "--stdin")
	if err != nil {
		t.Fatal(out)
	}
	return OID(out)
}

// agreed is the reason that tests give for a replacement.
const agreed = "A version that a thread agreed on."

func (c *conflict) replace(want Entry) (Outcome, error) {
	return c.c.Replace(c.t.Context(), agreed, file, c.k, want)
}

func TestAKnownCopyIsReplacedAndKept(t *testing.T) { // P19, D-22
	c := newConflict(t)
	index, head := read(t, c.dir, ".git/index"), git(t, c.dir, "rev-parse", "HEAD")
	steps := []struct {
		want Entry
		text string
		mode os.FileMode
	}{{c.master, "one\nmaster\n", 0o755}, {c.pull, "one\npull\n", 0o644}, {c.old, "one\nold\n", 0o644}}
	for i, step := range steps {
		if o, err := c.replace(step.want); err != nil || o != Took {
			t.Fatalf("%v %v", o, err)
		}
		if o, err := c.replace(step.want); err != nil || o != HadIt {
			t.Fatalf("again: %v %v", o, err)
		}
		fi, err := os.Stat(filepath.Join(c.dir, file))
		if err != nil || read(t, c.dir, file) != step.text || fi.Mode().Perm() != step.mode {
			t.Fatalf("step %d: %q %v", i, read(t, c.dir, file), fi.Mode())
		}
	}
	if read(t, c.dir, ".git/index") != index || git(t, c.dir, "rev-parse", "HEAD") != head {
		t.Error("the index or HEAD changed")
	}
	if out := git(t, c.dir, "status", "--porcelain", "--ignored"); out != "" {
		t.Errorf("left in the working tree: %s", out)
	}
	kept, err := c.c.Kept(t.Context())
	if err != nil || len(kept) != 3 {
		t.Fatalf("%+v %v", kept, err)
	}
	for i, text := range []string{"one\nold\n", "one\nmaster\n", "one\npull\n"} {
		k := kept[i]
		if read(t, k.File) != text || k.Path != file || k.Blob != local(t, c.dir, text) || k.Changed || k.When.IsZero() || k.Why == "" {
			t.Errorf("kept %+v", k)
		}
	}
	if err := os.WriteFile(kept[0].File, []byte("an editor still had it open"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := c.c.PruneKept(t.Context(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if left, err := c.c.Kept(t.Context()); err != nil || len(left) != 1 || !left[0].Changed {
		t.Errorf("after pruning: %+v %v", left, err)
	}
	if left, _ := os.ReadDir(filepath.Join(c.dir, ".git/parley/tmp")); len(left) != 0 {
		t.Errorf("temporary files are left: %v", left)
	}
}

func TestUnpublishedWorkIsNeverReplaced(t *testing.T) { // P19, S2
	base := newConflict(t)
	for name, change := range map[string]func(t *testing.T, c *conflict){
		"in the working file": func(t *testing.T, c *conflict) { put(t, c.dir, file, "mine\n") },
		"in the index": func(t *testing.T, c *conflict) {
			put(t, c.dir, file, "mine\n")
			git(t, c.dir, "add", file)
			put(t, c.dir, file, "one\nold\n")
		},
		"in a commit": func(t *testing.T, c *conflict) {
			commitAll(t, c.dir, tree{file: "mine\n"})
			git(t, c.dir, "show", "HEAD~:"+file)
			put(t, c.dir, file, "one\nold\n")
			git(t, c.dir, "add", file)
		},
		"a deletion": func(t *testing.T, c *conflict) { put(t, c.dir, file, "") },
		"a staged deletion": func(t *testing.T, c *conflict) {
			git(t, c.dir, "rm", "-q", "--cached", file)
		},
		"an executable bit": func(t *testing.T, c *conflict) { put(t, c.dir, "x:"+file, "one\nold\n") },
	} {
		t.Run(name, func(t *testing.T) {
			c := base.fork(t)
			change(t, c)
			before, status := snapshot(t, c.dir), git(t, c.dir, "status", "--porcelain")
			if _, err := c.replace(c.master); !errors.Is(err, ErrUnknownContent) {
				t.Errorf("replace: %v", err)
			}
			if after := snapshot(t, c.dir); after != before || git(t, c.dir, "status", "--porcelain") != status {
				t.Errorf("changed: %q to %q", before, after)
			}
		})
	}
}

// snapshot is everything in the working tree.
func snapshot(t testing.TB, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path == filepath.Join(dir, ".git") {
			return filepath.SkipDir
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		all.WriteString(path + " " + fi.Mode().String())
		if fi.Mode().IsRegular() {
			all.WriteString(" " + read(t, path))
		}
		all.WriteString("\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

func TestWhatIsNoOrdinaryFileIsRefused(t *testing.T) { // D-7, D-10
	base := newConflict(t)
	for name, c := range map[string]struct {
		change func(t *testing.T, c *conflict)
		want   error
	}{
		"a symbolic link": {func(t *testing.T, c *conflict) { put(t, c.dir, "l:"+file, "other") }, ErrRefused},
		"behind a link": {func(t *testing.T, c *conflict) {
			git(t, c.dir, "mv", "src", "real")
			put(t, c.dir, "l:src", "real")
		}, ErrRefused},
		"behind a link to .git": {func(t *testing.T, c *conflict) {
			put(t, c.dir, "src", "")
			put(t, c.dir, "l:src", ".git")
		}, ErrRefused},
		"a directory": {func(t *testing.T, c *conflict) { put(t, c.dir, file, ""); put(t, c.dir, file+"/x", "x") }, ErrRefused},
		"another repository": {func(t *testing.T, c *conflict) {
			put(t, c.dir, "src/.git/HEAD", "x")
		}, ErrRefused},
		"a case twin":        {func(t *testing.T, c *conflict) { put(t, c.dir, "src/Ü F.TXT", "x") }, ErrRefused},
		"a directory's twin": {func(t *testing.T, c *conflict) { put(t, c.dir, "SRC/x", "x") }, ErrRefused},
		"skip-worktree": {func(t *testing.T, c *conflict) {
			git(t, c.dir, "update-index", "--skip-worktree", file)
		}, ErrRefused},
		"assume-unchanged": {func(t *testing.T, c *conflict) {
			git(t, c.dir, "update-index", "--assume-unchanged", file)
		}, ErrRefused},
		"unmerged": {func(t *testing.T, c *conflict) {
			in := "0 " + strings.Repeat("0", 40) + "\t" + file + "\n100644 " + string(c.old.OID) + " 1\t" + file + "\n100644 " + string(c.old.OID) + " 2\t" + file + "\n"
			if out, err := gitTry(t, c.dir, in, "update-index", "--index-info"); err != nil {
				t.Fatal(out)
			}
		}, ErrRefused},
		"git at work":     {func(t *testing.T, c *conflict) { put(t, c.dir, ".git/index.lock", "x") }, ErrBusy},
		"another branch":  {func(t *testing.T, c *conflict) { c.c.Base = "master"; git(t, c.dir, "checkout", "-q", "-b", "x") }, ErrRefused},
		"a detached head": {func(t *testing.T, c *conflict) { c.c.Base = "master"; git(t, c.dir, "checkout", "-q", "--detach") }, ErrRefused},
	} {
		t.Run(name, func(t *testing.T) {
			cc := base.fork(t)
			c.change(t, cc)
			before := snapshot(t, cc.dir)
			if _, err := cc.replace(cc.master); !errors.Is(err, c.want) {
				t.Errorf("replace: %v", err)
			}
			if after := snapshot(t, cc.dir); after != before {
				t.Errorf("changed: %q to %q", before, after)
			}
		})
	}
	c := base
	for _, path := range []string{"../x", ".git/config", "a/.GIT/hooks/x", "con.txt", "a\\b", ""} {
		if _, err := c.c.Replace(t.Context(), agreed, path, c.k, c.master); !errors.Is(err, ErrRefused) {
			t.Errorf("%q: %v", path, err)
		}
	}
	for _, mode := range []string{modeSymlink, modeSubmodule, "040000", "", "100600"} {
		if _, err := c.replace(Entry{mode, c.master.OID}); !errors.Is(err, ErrRefused) {
			t.Errorf("mode %q: %v", mode, err)
		}
	}
}

// Each of these happens between the last look and the exchange.
func TestWhatHappensInTheLastMomentIsNotLost(t *testing.T) { // S2
	base := newConflict(t)
	path := func(c *conflict) string { return filepath.Join(c.dir, file) }
	for name, h := range map[string]struct {
		do   func(t *testing.T, c *conflict)
		look func(t *testing.T, c *conflict)
	}{
		"a write in place": {
			func(t *testing.T, c *conflict) { put(t, c.dir, file, "mine\n") },
			func(t *testing.T, c *conflict) { wantText(t, path(c), "mine\n") },
		},
		"a write by rename": {func(t *testing.T, c *conflict) {
			put(t, c.dir, "w", "mine\n")
			if err := os.Rename(filepath.Join(c.dir, "w"), path(c)); err != nil {
				t.Fatal(err)
			}
		}, func(t *testing.T, c *conflict) { wantText(t, path(c), "mine\n") }},
		"a link planted": {
			func(t *testing.T, c *conflict) { put(t, c.dir, "l:"+file, "/etc/passwd") },
			func(t *testing.T, c *conflict) {
				if to, err := os.Readlink(path(c)); err != nil || to != "/etc/passwd" {
					t.Error(to, err)
				}
			},
		},
		"a directory made": {
			func(t *testing.T, c *conflict) { put(t, c.dir, file, ""); put(t, c.dir, file+"/deep", "mine\n") },
			func(t *testing.T, c *conflict) { wantText(t, path(c)+"/deep", "mine\n") },
		},
		"it went away": {
			func(t *testing.T, c *conflict) { put(t, c.dir, file, "") },
			func(t *testing.T, c *conflict) {
				if _, err := os.Lstat(path(c)); !errors.Is(err, os.ErrNotExist) {
					t.Error("it is back")
				}
			},
		},
		"the directory became a link to .git": {func(t *testing.T, c *conflict) {
			if err := os.Rename(filepath.Join(c.dir, "src"), filepath.Join(c.dir, "moved")); err != nil {
				t.Fatal(err)
			}
			put(t, c.dir, "l:src", ".git")
			put(t, c.dir, "moved/"+strings.TrimPrefix(file, "src/"), "mine\n")
		}, func(t *testing.T, c *conflict) {
			wantText(t, filepath.Join(c.dir, "moved", strings.TrimPrefix(file, "src/")), "mine\n")
			if _, err := os.Lstat(filepath.Join(c.dir, ".git", strings.TrimPrefix(file, "src/"))); err == nil {
				t.Error("a file was put into .git")
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for what, want := range map[string]func(c *conflict) Entry{"master's": func(c *conflict) Entry { return c.master }, "deletion": func(*conflict) Entry { return Entry{} }} {
				c := base.fork(t)
				c.c.hook = func(point string) {
					if point == "staged" {
						h.do(t, c)
					}
				}
				if _, err := c.replace(want(c)); !errors.Is(err, ErrUnknownContent) {
					t.Errorf("%s: %v", what, err)
				}
				h.look(t, c)
				if left, _ := os.ReadDir(filepath.Join(c.dir, ".git/parley/tmp")); len(left) != 0 {
					t.Errorf("%s: temporary files are left: %v", what, left)
				}
			}
		})
	}
}

func wantText(t *testing.T, path, want string) {
	t.Helper()
	if got := read(t, path); got != want {
		t.Errorf("%s is %q, not %q", path, got, want)
	}
}

// While the unknown version is being put back, a third one arrives: the newest is at the path, the other kept.
func TestTheNewestVersionEndsUpAtThePath(t *testing.T) { // S2
	c := newConflict(t)
	c.c.hook = func(point string) {
		switch point {
		case "staged":
			put(t, c.dir, file, "second\n")
		case "swapped":
			put(t, c.dir, file, "third\n")
		}
	}
	if _, err := c.replace(c.master); !errors.Is(err, ErrUnknownContent) {
		t.Fatal(err)
	}
	wantText(t, filepath.Join(c.dir, file), "third\n")
	kept, err := c.c.Kept(t.Context())
	if err != nil || len(kept) != 1 || read(t, kept[0].File) != "second\n" {
		t.Errorf("%+v %v", kept, err)
	}
}

// A program opens the file in the moment in which ours stands there, and writes when the own version is back.
func TestAHandleOpenedInTheMomentLosesNothing(t *testing.T) { // S2
	c := newConflict(t)
	var held *os.File
	c.c.hook = func(point string) {
		switch point {
		case "staged":
			put(t, c.dir, file, "mine\n")
		case "swapped":
			f, err := os.OpenFile(filepath.Join(c.dir, file), os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				t.Fatal(err)
			}
			held = f
		}
	}
	if _, err := c.replace(c.master); !errors.Is(err, ErrUnknownContent) {
		t.Fatal(err)
	}
	wantText(t, filepath.Join(c.dir, file), "mine\n")
	if _, err := held.WriteString("typed later\n"); err != nil {
		t.Fatal(err)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	kept, err := c.c.Kept(t.Context())
	if err != nil || len(kept) != 1 || !kept[0].Changed || !strings.Contains(read(t, kept[0].File), "typed later\n") {
		t.Errorf("%+v %v", kept, err)
	}
}

func TestDeletionAndCreation(t *testing.T) { // D-22
	c := newConflict(t)
	if o, err := c.replace(Entry{}); err != nil || o != Took {
		t.Fatal(o, err)
	}
	if o, err := c.replace(Entry{}); err != nil || o != HadIt {
		t.Fatal(o, err)
	}
	if _, err := os.Lstat(filepath.Join(c.dir, file)); err == nil {
		t.Error("still there")
	}
	wantText(t, filepath.Join(c.dir, "src/other"), "o\n")
	if kept, err := c.c.Kept(t.Context()); err != nil || len(kept) != 1 || read(t, kept[0].File) != "one\nold\n" {
		t.Errorf("%+v %v", kept, err)
	}
	// Nobody published the deletion, so nothing comes back over it.
	if _, err := c.replace(c.master); !errors.Is(err, ErrUnknownContent) {
		t.Errorf("%v", err)
	}
	const fresh = "deep/er/new.txt"
	k := &Known{path: fresh, mirror: c.m, modes: map[OID][]string{c.master.OID: nil}}
	if o, err := c.c.Replace(t.Context(), agreed, fresh, k, c.master); err != nil || o != Took {
		t.Fatal(o, err)
	}
	wantText(t, filepath.Join(c.dir, fresh), "one\nmaster\n")
	if o, err := c.c.Replace(t.Context(), agreed, fresh, k, Entry{}); err != nil || o != Took {
		t.Fatal(o, err)
	}
	if _, err := os.Lstat(filepath.Join(c.dir, "deep")); err == nil {
		t.Error("empty directories are left")
	}
	c.c.hook = func(point string) {
		if point == "staged" {
			put(t, c.dir, fresh, "mine\n")
		}
	}
	if _, err := c.c.Replace(t.Context(), agreed, fresh, k, c.master); !errors.Is(err, ErrUnknownContent) {
		t.Errorf("it appeared in the last moment: %v", err)
	}
	wantText(t, filepath.Join(c.dir, fresh), "mine\n")
}

func TestLineEndsAndFiltersOfThisComputerHold(t *testing.T) { // D-22
	c := newConflict(t)
	git(t, c.dir, "config", "core.autocrlf", "true")
	put(t, c.dir, file, "one\r\nold\r\n")
	if got, err := c.c.Inspect(t.Context(), file); err != nil || got.Work != c.old {
		t.Fatalf("%+v %v", got, err)
	}
	if o, err := c.replace(c.pull); err != nil || o != Took {
		t.Fatal(o, err)
	}
	wantText(t, filepath.Join(c.dir, file), "one\r\npull\r\n")
	put(t, c.dir, file, "one\r\nmine\r\nold\r\n")
	want := Versions{c.master.OID, c.pull.OID}
	if class, n, err := c.c.Classify(t.Context(), c.k, file, want, "master"); err != nil || class != Unpublished || n != 1 {
		t.Errorf("own line: %v %d %v", class, n, err)
	}
	put(t, c.dir, file, "old\r\n")
	if class, n, err := c.c.Classify(t.Context(), c.k, file, want, "master"); err != nil || class != NoOwnLines || n != 0 {
		t.Errorf("only deletions: %v %d %v", class, n, err)
	}
	// A clean filter that is not the inverse of its smudge filter.
	c = newConflict(t)
	put(t, c.dir, ".git/info/attributes", "*.txt filter=lossy\n")
	git(t, c.dir, "config", "filter.lossy.smudge", "tr a-z A-Z")
	git(t, c.dir, "config", "filter.lossy.clean", "cat")
	if _, err := c.replace(c.pull); !errors.Is(err, ErrRefused) {
		t.Errorf("a lossy filter: %v", err)
	}
	wantText(t, filepath.Join(c.dir, file), "one\nold\n")
}

// A blob whose line ends break the rules of .gitattributes looks modified to a filter, but not to git.
func TestABlobAgainstItsAttributesIsRecognized(t *testing.T) {
	h := newHub(t)
	root := h.commit("", tree{"a": "x\r\ny\n"})
	put(t, h.work, ".gitattributes", "* text=auto\n")
	git(t, h.work, "add", ".gitattributes")
	git(t, h.work, "commit", "-qm", "attributes")
	base := OID(git(t, h.work, "rev-parse", "HEAD"))
	other := h.commit(root, tree{"a": "x\r\nz\n"})
	h.publish(map[string]OID{"refs/heads/master": base, "refs/pull/1/head": other})
	f := newFixture(t, h, base, 1)
	k, err := f.m.Known(t.Context(), base, 1, "a")
	if err != nil {
		t.Fatal(err)
	}
	if o, err := f.c.Replace(t.Context(), agreed, "a", k, blobOf(t, h.work, other, "a")); err != nil || o != Took {
		t.Fatal(o, err)
	}
	wantText(t, filepath.Join(f.dir, "a"), "x\r\nz\n")
	if o, err := f.c.Replace(t.Context(), agreed, "a", k, blobOf(t, h.work, base, "a")); err != nil || o != Took {
		t.Fatal(o, err)
	}
}
