package worktree

import (
	"testing"
)

func TestACopyIsClassifiedByItsThreeContents(t *testing.T) { // P19, D-9
	base := newConflict(t)
	for name, c := range map[string]struct {
		change func(t *testing.T, c *conflict)
		class  Class
		lines  int
	}{
		"untouched":             {func(*testing.T, *conflict) {}, OtherPublished, 0},
		"master's":              {func(t *testing.T, c *conflict) { put(t, c.dir, "x:"+file, "one\nmaster\n") }, MastersCopy, 0},
		"the pull request's":    {func(t *testing.T, c *conflict) { put(t, c.dir, file, "one\npull\n") }, PullsCopy, 0},
		"own lines":             {func(t *testing.T, c *conflict) { put(t, c.dir, file, "one\nmine\nmine too\nmine\n") }, Unpublished, 2},
		"an own last line":      {func(t *testing.T, c *conflict) { put(t, c.dir, file, "one\nmine") }, Unpublished, 1},
		"only deletions":        {func(t *testing.T, c *conflict) { put(t, c.dir, file, "one\n") }, NoOwnLines, 0},
		"only reordered":        {func(t *testing.T, c *conflict) { put(t, c.dir, file, "old\none\nmaster\npull\n") }, NoOwnLines, 0},
		"emptied":               {func(t *testing.T, c *conflict) { put(t, c.dir, file, "\n") }, Unpublished, 1},
		"an executable bit":     {func(t *testing.T, c *conflict) { put(t, c.dir, "x:"+file, "one\nold\n") }, NoOwnLines, 0},
		"not text":              {func(t *testing.T, c *conflict) { put(t, c.dir, file, "one\n\x00") }, Unpublished, 0},
		"deleted here":          {func(t *testing.T, c *conflict) { put(t, c.dir, file, "") }, NoOwnLines, 0},
		"a link":                {func(t *testing.T, c *conflict) { put(t, c.dir, "l:"+file, "x") }, NotHere, 0},
		"removed and committed": {func(t *testing.T, c *conflict) { commitAll(t, c.dir, tree{file: ""}) }, NotHere, 0},
		"own lines in a commit": {func(t *testing.T, c *conflict) {
			commitAll(t, c.dir, tree{file: "mine\n"})
			put(t, c.dir, file, "one\nold\n")
		}, Unpublished, 1},
		"own lines in the index": {func(t *testing.T, c *conflict) {
			put(t, c.dir, file, "mine\n")
			git(t, c.dir, "add", "-A")
			put(t, c.dir, file, "one\nold\n")
		}, Unpublished, 1},
		"own lines, assumed unchanged": {func(t *testing.T, c *conflict) {
			git(t, c.dir, "update-index", "--assume-unchanged", file)
			put(t, c.dir, file, "mine\n")
		}, Unpublished, 1},
		"left out of the checkout": {func(t *testing.T, c *conflict) {
			git(t, c.dir, "update-index", "--skip-worktree", file)
			put(t, c.dir, file, "")
		}, NotHere, 0},
		"off the base branch, which is known": {func(t *testing.T, c *conflict) {
			git(t, c.dir, "checkout", "-q", "-b", "side")
			commitAll(t, c.dir, tree{file: "mine\n"})
		}, OtherPublished, 0},
		"off the base branch, which has own lines": {func(t *testing.T, c *conflict) {
			commitAll(t, c.dir, tree{file: "mine\n"})
			git(t, c.dir, "checkout", "-q", "-b", "side", "HEAD~")
		}, Unpublished, 1},
		"off the base branch, detached at master's": {func(t *testing.T, c *conflict) {
			git(t, c.dir, "branch", "-f", "tip", string(c.tip))
			git(t, c.dir, "checkout", "-q", "--detach")
			git(t, c.dir, "branch", "-f", "master", string(c.tip))
		}, MastersCopy, 0},
		"no base branch at all": {func(t *testing.T, c *conflict) {
			git(t, c.dir, "branch", "-m", "master", "side")
		}, NotHere, 0},
	} {
		t.Run(name, func(t *testing.T) {
			cc := base.fork(t)
			c.change(t, cc)
			before := read(t, cc.dir, ".git/index")
			class, lines, err := cc.c.Classify(t.Context(), cc.k, file, Versions{cc.master.OID, cc.pull.OID}, "master")
			if err != nil || class != c.class || lines != c.lines {
				t.Errorf("class %d, %d own lines, %v", class, lines, err)
			}
			if read(t, cc.dir, ".git/index") != before {
				t.Error("looking wrote the index")
			}
		})
	}
}

func TestADeletedCopyIsThePullRequestsIfItDeletes(t *testing.T) { // D-9
	h := newHub(t)
	root := h.commit("", tree{"a": "x\n", "q": "q\n"})
	pull, tip := h.commit(root, tree{"a": ""}), h.commit(root, tree{"a": "y\n"})
	h.publish(map[string]OID{"refs/heads/master": tip, "refs/pull/1/head": pull})
	f := newFixture(t, h, root, 1)
	k, err := f.m.Known(t.Context(), tip, 1, "a")
	if err != nil {
		t.Fatal(err)
	}
	want := Versions{Master: blobOf(t, h.work, tip, "a").OID}
	put(t, f.dir, "a", "")
	if class, _, err := f.c.Classify(t.Context(), k, "a", want, "master"); err != nil || class != PullsCopy {
		t.Errorf("%v %v", class, err)
	}
	if o, err := f.c.Replace(t.Context(), agreed, "a", k, blobOf(t, h.work, tip, "a")); err != nil || o != Took {
		t.Errorf("%v %v", o, err)
	}
	wantText(t, f.dir+"/a", "y\n")
}
