package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"unicode/utf16"
)

// wish is a state that a person's file can be in, and what must become of a replacement by master's version: want
// nil means that it happens and that what was there is kept, byte for byte.
type wish struct {
	make func(t *testing.T, c *conflict)
	want error
}

// holds runs each wish in a checkout of its own.
func holds(t *testing.T, base *conflict, wishes map[string]wish) {
	t.Helper()
	for name, w := range wishes {
		t.Run(name, func(t *testing.T) {
			c := base.fork(t)
			w.make(t, c)
			before, index := snapshot(t, c.dir), read(t, c.dir, ".git/index")
			was, readErr := os.ReadFile(filepath.Join(c.dir, file))
			_, err := c.replace(c.master)
			if !errors.Is(err, w.want) {
				t.Errorf("replace: %v", err)
			}
			kept, keptErr := c.c.Kept(t.Context())
			switch {
			case keptErr != nil || read(t, c.dir, ".git/index") != index:
				t.Errorf("the index moved, or %v", keptErr)
			case err != nil && (snapshot(t, c.dir) != before || len(kept) != 0):
				t.Errorf("refused, yet changed: %q to %q, kept %+v", before, snapshot(t, c.dir), kept)
			case err == nil && readErr == nil && (len(kept) != 1 || read(t, kept[0].File) != string(was)):
				t.Errorf("%q is not kept: %+v", was, kept)
			}
		})
	}
}

func attributes(line string, config ...string) func(t *testing.T, c *conflict) {
	return func(t *testing.T, c *conflict) {
		t.Helper()
		put(t, c.dir, ".git/info/attributes", "*.txt "+line+"\n")
		for i := 0; i < len(config); i += 2 {
			git(t, c.dir, "config", config[i], config[i+1])
		}
	}
}

// then does one thing after the other.
func then(steps ...func(t *testing.T, c *conflict)) func(t *testing.T, c *conflict) {
	return func(t *testing.T, c *conflict) {
		t.Helper()
		for _, s := range steps {
			s(t, c)
		}
	}
}

func work(text string) func(t *testing.T, c *conflict) {
	return func(t *testing.T, c *conflict) { t.Helper(); put(t, c.dir, file, text) }
}

func inDir(args ...string) func(t *testing.T, c *conflict) {
	return func(t *testing.T, c *conflict) { t.Helper(); git(t, c.dir, args...) }
}

func TestWorkThatOnlyGitsListsTellApartIsNotLost(t *testing.T) { // P19, S2
	holds(t, newConflict(t), map[string]wish{
		"untracked, own":         {then(inDir("rm", "-q", file), work("mine\n")), ErrUnknownContent},
		"ignored, own":           {then(inDir("rm", "-q", file), work("mine\n"), func(t *testing.T, c *conflict) { put(t, c.dir, ".git/info/exclude", "*.txt\n") }), ErrUnknownContent},
		"removed from the index": {then(inDir("rm", "-q", "--cached", file), work("one\npull\n")), ErrUnknownContent},
		"staged, then changed":   {then(work("mine\n"), inDir("add", file), work("mine too\n")), ErrUnknownContent},
		"staged known, then own": {then(work("one\npull\n"), inDir("add", file), work("mine\n")), ErrUnknownContent},
		"staged own, then known": {then(work("mine\n"), inDir("add", file), work("one\npull\n")), ErrUnknownContent},
		"staged and known":       {then(work("one\npull\n"), inDir("add", file)), nil},
		"stashed, and known":     {then(work("mine\n"), inDir("stash", "-q")), nil},
		"one byte less":          {work("one\nold"), ErrUnknownContent},
		"empty":                  {func(t *testing.T, c *conflict) { truncateFile(t, filepath.Join(c.dir, file)) }, ErrUnknownContent},
	})
}

func truncateFile(t *testing.T, file string) {
	t.Helper()
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
}

// A file that git is only told to add later is in the index with no content of its own.
func TestAnUntrackedFileIsNoRoomForMasters(t *testing.T) { // P19, S2
	base := newConflict(t)
	fresh := "src/new.txt"
	for name, w := range map[string]struct {
		text string
		args []string
		want error
	}{
		"untracked, own":           {"mine\n", nil, ErrUnknownContent},
		"intent to add, own":       {"mine\n", []string{"add", "-N", "src/new.txt"}, ErrUnknownContent},
		"intent to add, published": {"one\npull\n", []string{"add", "-N", "src/new.txt"}, ErrUnknownContent},
		"untracked, published":     {"one\npull\n", nil, nil},
	} {
		c := base.fork(t)
		put(t, c.dir, fresh, w.text)
		if w.args != nil {
			git(t, c.dir, w.args...)
		}
		k := &Known{path: fresh, mirror: c.m, modes: map[OID][]string{c.master.OID: nil, c.pull.OID: nil}, absent: true}
		if _, err := c.c.Replace(t.Context(), agreed, fresh, k, c.master); !errors.Is(err, w.want) {
			t.Errorf("%s: %v", name, err)
		}
		if kept, err := c.c.Kept(t.Context()); w.want == nil && (err != nil || len(kept) != 1 || read(t, kept[0].File) != w.text) {
			t.Errorf("%s: kept %+v %v", name, kept, err)
		}
		if w.want != nil {
			wantText(t, filepath.Join(c.dir, fresh), w.text)
		}
	}
}

func TestLineEndRulesHideNoOwnWork(t *testing.T) { // P19, D-22
	crlf, own := work("one\r\nold\r\n"), work("one\r\nmine\r\n")
	holds(t, newConflict(t), map[string]wish{
		"autocrlf":                      {then(inDir("config", "core.autocrlf", "true"), crlf), nil},
		"autocrlf, own":                 {then(inDir("config", "core.autocrlf", "true"), own), ErrUnknownContent},
		"autocrlf=input":                {then(inDir("config", "core.autocrlf", "input"), crlf), nil},
		"autocrlf=input, own":           {then(inDir("config", "core.autocrlf", "input"), own), ErrUnknownContent},
		"text=auto eol=crlf":            {then(attributes("text=auto eol=crlf"), crlf), nil},
		"text=auto eol=crlf, own":       {then(attributes("text=auto eol=crlf"), own), ErrUnknownContent},
		"text, core.eol=crlf":           {then(attributes("text", "core.eol", "crlf"), crlf), nil},
		"eol=lf, line ends of Windows":  {then(attributes("text eol=lf"), crlf), nil},
		"binary, line ends of Windows":  {then(attributes("-text"), crlf), ErrUnknownContent},
		"no rule, line ends of Windows": {crlf, ErrUnknownContent},
		"autocrlf, and not text":        {then(inDir("config", "core.autocrlf", "true"), work("one\r\n\x00old\r\n")), ErrUnknownContent},
		"autocrlf, an own line in the Unix way": {
			then(inDir("config", "core.autocrlf", "true"), work("one\r\nold\r\nmine\n")), ErrUnknownContent,
		},
	})
}

func TestFiltersHideNoOwnWork(t *testing.T) { // P19, D-22
	upper := []string{"filter.f.smudge", "tr a-z A-Z", "filter.f.clean", "tr A-Z a-z"}
	encoded := func(text string) func(t *testing.T, c *conflict) {
		var b []byte
		for _, u := range utf16.Encode([]rune(text)) {
			b = append(b, byte(u), byte(u>>8))
		}
		return work(string(b))
	}
	holds(t, newConflict(t), map[string]wish{
		"a filter":                   {then(attributes("filter=f", upper...), work("ONE\nOLD\n")), nil},
		"a filter, own":              {then(attributes("filter=f", upper...), work("ONE\nMINE\n")), ErrUnknownContent},
		"a filter that swallows all": {then(attributes("filter=f", "filter.f.smudge", "cat", "filter.f.clean", "true"), work("mine\n")), ErrUnknownContent},
		"an encoding":                {then(attributes("working-tree-encoding=UTF-16LE"), encoded("one\nold\n")), nil},
		"an encoding, own":           {then(attributes("working-tree-encoding=UTF-16LE"), encoded("one\nmine\n")), ErrUnknownContent},
		"ident":                      {then(attributes("ident"), work("one\nold\n")), nil},
	})
	// A required filter that fails is no answer: nothing moves and nothing is concluded.
	for name, config := range map[string][]string{
		"clean fails":  {"filter.f.smudge", "cat", "filter.f.clean", "false", "filter.f.required", "true"},
		"smudge fails": {"filter.f.smudge", "false", "filter.f.clean", "cat", "filter.f.required", "true"},
	} {
		c := newConflict(t)
		then(attributes("filter=f", config...), work("one\npull\n"))(t, c)
		if _, err := c.replace(c.master); err == nil {
			t.Errorf("%s: it was replaced", name)
		}
		wantText(t, filepath.Join(c.dir, file), "one\npull\n")
	}
}

// lfs is a hub of LFS pointers, whose contents lie in a store beside it. The filter does what git-lfs does: clean
// makes a pointer and stores the content, a pointer stays a pointer; smudge finds the content or leaves the pointer.
const lfsFilter = `#!/bin/sh
set -e
body=$(mktemp); cat >"$body"
if [ "$1" = clean ]; then
	if head -c 7 "$body" | grep -q '^version'; then cat "$body"; else
		sum=$(sha256sum <"$body" | cut -d' ' -f1); cp "$body" "$2/$sum"
		printf 'version lfs/v1\noid sha256:%s\nsize %s\n' "$sum" "$(wc -c <"$body" | tr -d ' ')"
	fi
else
	sum=$(sed -n 's/^oid sha256://p' "$body"); if [ -n "$sum" ] && [ -e "$2/$sum" ]; then cat "$2/$sum"; else cat "$body"; fi
fi
rm -f "$body"
`

func lfsPointer(content string) string {
	return "version lfs/v1\noid sha256:" + sumOf([]byte(content)) + "\nsize " + strconv.Itoa(len(content)) + "\n"
}

func TestLFSContentIsNotLost(t *testing.T) { // P19, D-22
	h := newHub(t)
	const old, master, mine = "old picture", "new picture", "own picture"
	root := h.commit("", tree{file: lfsPointer(old)})
	tip := h.commit(root, tree{file: lfsPointer(master)})
	h.publish(map[string]OID{"refs/heads/master": tip})
	f := newFixture(t, h, root)
	base := &conflict{fixture: f, root: root, tip: tip, master: blobOf(t, h.work, tip, file), old: blobOf(t, h.work, root, file)}
	base.k, base.pull = base.knownAt(t, file), base.old
	store := t.TempDir()
	put(t, store, "x:filter", lfsFilter)
	script := filepath.Join(store, "filter")
	filter := attributes("filter=lfs -text", "filter.lfs.clean", script+" clean "+store, "filter.lfs.smudge", script+" smudge "+store)
	stored := func(t *testing.T, _ *conflict) { put(t, store, sumOf([]byte(master)), master) }
	missing := func(t *testing.T, _ *conflict) { put(t, store, sumOf([]byte(master)), "") }
	for _, group := range []map[string]wish{
		{
			"filter, content stored":           {then(stored, filter, work(old)), nil},
			"filter, own content":              {then(stored, filter, work(mine)), ErrUnknownContent},
			"filter, own content in the index": {then(stored, filter, work(mine), inDir("add", file), work(old)), ErrUnknownContent},
			"filter, a pointer in the file":    {then(stored, filter), nil},
			"no filter, a pointer":             {attributes("filter=lfs -text"), nil},
			"no filter, real content":          {then(attributes("filter=lfs -text"), work(old)), ErrUnknownContent},
		},
		{"filter, new content not fetched": {then(missing, filter, work(old)), nil}},
	} {
		holds(t, base, group)
	}
	for name, want := range map[string]string{"stored": master, "missing": lfsPointer(master)} {
		c := base.fork(t)
		then(map[string]func(*testing.T, *conflict){"stored": stored, "missing": missing}[name], filter, work(old))(t, c)
		if o, err := c.replace(c.master); err != nil || o != Took {
			t.Fatal(o, err)
		}
		wantText(t, filepath.Join(c.dir, file), want)
	}
}

func TestNothingMovesWhileAPersonIsInTheMiddleOfSomething(t *testing.T) { // P19, D-22
	base := newConflict(t)
	begin := func(args ...string) func(t *testing.T, c *conflict) {
		return func(t *testing.T, c *conflict) {
			t.Helper()
			git(t, c.dir, "checkout", "-q", "-b", "topic")
			commitAll(t, c.dir, tree{"src/other": "topic\n"})
			git(t, c.dir, "checkout", "-q", "-b", "mine", string(c.root))
			commitAll(t, c.dir, tree{"src/other": "mine\n"})
			_, _ = gitTry(t, c.dir, "", args...)
		}
	}
	for name, do := range map[string]func(t *testing.T, c *conflict){
		"a merge": begin("merge", "topic"), "a rebase": begin("rebase", "topic"), "a rebase by patches": begin("rebase", "--apply", "topic"),
		"a cherry-pick": begin("cherry-pick", "topic"), "a revert": begin("revert", "--no-edit", "topic"), "a bisection": inDir("bisect", "start"),
		"a cherry-pick of several": begin("cherry-pick", "master..topic", "master"), "a squash to be committed": begin("merge", "--squash", "topic"),
		"a mailbox": func(t *testing.T, c *conflict) {
			put(t, c.dir, "mail", "From: a <a@example.com>\nSubject: x\n\n---\ndiff --git a/none b/none\n--- a/none\n+++ b/none\n@@ -1 +1 @@\n-a\n+b\n")
			_, _ = gitTry(t, c.dir, "", "am", "mail")
		},
		"a git command": func(t *testing.T, c *conflict) { put(t, c.dir, ".git/index.lock", "x") },
	} {
		t.Run(name, func(t *testing.T) {
			c := base.fork(t)
			do(t, c)
			before, status := snapshot(t, c.dir), git(t, c.dir, "status", "--porcelain")
			_, err := c.replace(c.master)
			if name == "a squash to be committed" {
				if err != nil { // only other files are in it
					t.Errorf("replace: %v", err)
				}
				return
			}
			if !errors.Is(err, ErrBusy) || snapshot(t, c.dir) != before || git(t, c.dir, "status", "--porcelain") != status {
				t.Errorf("replace: %v", err)
			}
		})
	}
}

func TestNoBadNameReachesTheFileSystem(t *testing.T) { // D-7
	c := newConflict(t)
	tried := 0
	before, config := snapshot(t, c.dir), read(t, c.dir, ".git/config")
	for _, p := range names {
		if ValidPath(p) == nil {
			continue
		}
		tried++
		k := &Known{path: p, mirror: c.m, modes: map[OID][]string{c.master.OID: nil, c.old.OID: nil}, absent: true}
		for _, want := range []Entry{c.master, {}} {
			if _, err := c.c.Replace(t.Context(), agreed, p, k, want); !errors.Is(err, ErrRefused) {
				t.Errorf("%q: %v", p, err)
			}
		}
	}
	if after := snapshot(t, c.dir); tried < 30 || after != before || read(t, c.dir, ".git/config") != config {
		t.Errorf("%d names changed %q to %q", tried, before, after)
	}
}
