package node

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/detect/repo"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/internal/github"
	"github.com/parley-mesh/parley/node/internal/worktree"
)

func TestAPullRequestIsASideUntilItIsGone(t *testing.T) { // C1
	homes, dirs := newCrew(t, 1)
	dir := dirs[0]
	base := git(t, dir, "rev-parse", "HEAD")
	git(t, dir, "checkout", "-q", "-b", "feat/void")
	write(t, filepath.Join(dir, "billing", "refund.go"), refundGo+"\n// Late is new.\nfunc Late() {}\n")
	git(t, dir, "commit", "-q", "-am", "late")
	head := git(t, dir, "rev-parse", "HEAD")
	git(t, dir, "checkout", "-q", "main")
	c := runCrewed(t, homes[0], dir) // it sees nobody at work
	c.looked()
	mirror := c.repos[0].mirror
	git(t, mirror.Dir(), "fetch", "-q", dir, "feat/void", "main")

	c.live.mu.Lock()
	r := c.live.repos[0]
	c.live.mu.Unlock()
	g, err := repo.Open(t.Context(), mirror.Dir())
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	p := github.Pull{Number: 4, Title: "late refunds, #17", HeadRef: "feat/void", HeadOID: head, AuthorID: 77}
	now, err := c.live.readPull(t.Context(), g, r, p, authors{}, worktree.OID(base), worktree.OID(head))
	if err != nil {
		t.Fatal(err)
	}
	id := ledger.BranchSide(r.Host, r.Repo, "feat/void")
	c.live.publish(id, nil, now)
	c.live.publish(id, now, now) // nothing is new
	side := func() (d *detect.Digest, phase string) {
		c.live.mu.Lock()
		defer c.live.mu.Unlock()
		c.live.fold.Settle()
		s, _ := c.live.fold.Side(id)
		return c.live.fold.Digest(id), s.Phase.String()
	}
	d, phase := side()
	if d == nil || phase != "working" || len(d.Files) != 1 || d.Head != head || d.Base != base || !slices.Equal(d.Side.Issues, []string{"#17"}) {
		t.Fatalf("the side is %+v, %s", d, phase)
	}
	if !slices.ContainsFunc(d.Symbols, func(s detect.SymbolChange) bool { return s.Symbol.ID == "sym:go:billing/refund.go#Late" }) {
		t.Errorf("its symbols are %+v", d.Symbols)
	}
	if n := c.workBook.has(ledger.Scope{Host: r.Host, Repo: r.Repo, Period: thisWeek()}.Ledger(), c.id.Device()).records; n != 2 {
		t.Errorf("%d records were written, want a branch and an edit", n)
	}
	if gone := c.live.gonePulls(r, map[ledger.ID]bool{id: true}, map[ledger.ID]*pushed{id: now}); len(gone) != 0 {
		t.Error("one that is open is gone")
	}
	if gone := c.live.gonePulls(r, nil, nil); !slices.Equal(gone, []ledger.ID{id}) {
		t.Errorf("gone are %d", len(gone))
	}
	if _, phase := side(); phase != "ended" {
		t.Errorf("afterwards it is %s", phase)
	}
	if all, err := c.live.Conflicts(t.Context(), api.ConflictQuery{}); err != nil || len(all) != 0 {
		t.Errorf("there are %d conflicts, %v", len(all), err)
	}
}

func TestAPullRequestIsReadBesideUnchangedFiles(t *testing.T) { // C1, C4
	homes, dirs := newCrew(t, 1)
	dir := dirs[0]
	write(t, filepath.Join(dir, "web", "config.ts"), "export const API = '/v1'\n")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "config")
	base := git(t, dir, "rev-parse", "HEAD")
	git(t, dir, "checkout", "-q", "-b", "feat/void")
	write(t, filepath.Join(dir, "web", "page.ts"), "import { API } from './config'\nexport const load = (id: string) => fetch(`${API}/users/${id}`)\n")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "page")
	head := git(t, dir, "rev-parse", "HEAD")
	git(t, dir, "checkout", "-q", "main")
	c := runCrewed(t, homes[0], dir)
	mirror := c.repos[0].mirror
	git(t, mirror.Dir(), "fetch", "-q", dir, "feat/void", "main")
	g, err := repo.Open(t.Context(), mirror.Dir())
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	now, err := c.live.readPushed(t.Context(), g, c.live.repositories()[0], ledger.Branch{Name: "feat/void"}, worktree.OID(base), worktree.OID(head))
	if err != nil {
		t.Fatal(err)
	}
	e := now.edits["web/page.ts"]
	if e == nil || len(now.edits) != 1 || len(e.Prints) == 0 {
		t.Fatalf("%+v", now.edits)
	}
	if !slices.ContainsFunc(e.References, func(r ledger.ReferenceEdit) bool { return r.Target == "http:GET /v1/users/{}" && r.Sure }) {
		t.Errorf("it uses %+v", e.References)
	}
}
