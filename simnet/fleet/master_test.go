package fleet

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/parley-mesh/parley/node"
)

// upstream lets a person elsewhere push files to the base branch.
func (f *Fleet) upstream(files content) {
	f.t.Helper()
	s := *f.scene
	s.t = f.t
	dir := s.checkout(elsewhere)
	s.write(dir, files)
	s.commit(dir, "Upstream")
	s.push(dir, base)
}

// own changes a computer's checkout as its person does.
func (c *Computer) own(files content, commit string) {
	c.f.t.Helper()
	s := *c.f.scene
	s.t = c.f.t
	s.write(c.Checkout, files)
	if commit != "" {
		s.commit(c.Checkout, commit)
	}
}

func TestOwnWorkComesTogetherWithTheBaseBranch(t *testing.T) { // P0, P21, D-21
	t.Parallel()
	s := NewScene(t)
	s.Clone("desktop")
	s.Clone(elsewhere)
	s.Play(func(t *testing.T, f *Fleet) {
		c := f.Add("desktop", node.Timers{}, func(cfg *node.Config) {
			cfg.Repositories[0].Test = []string{"sh", "-c", "test ! -e broken"}
		})
		c.own(content{"own.md": "committed\n"}, "Own")
		c.own(content{"README.md": "# Shop, edited here\n"}, "")
		c.Open()
		f.upstream(content{refund: onBase[refund]})
		together := func(path, text string) func() bool { return func() bool { return c.read(path) == text } }
		f.Until("own work and GitHub's are together", time.Hour, time.Minute, together(refund, onBase[refund]))
		if got := c.read("README.md"); got != "# Shop, edited here\n" || c.read("own.md") != "committed\n" {
			t.Errorf("own work became %q and %q", got, c.read("own.md"))
		}
		if err := f.grown(c); err != nil {
			t.Error(err)
		}
		f.unfit(t, c)

		c.own(content{refund: "export const fee = 3 // mine\n"}, "")
		f.upstream(content{refund: "export const fee = 4 // theirs\n"})
		f.Until("the desk settles what git cannot merge", time.Hour, time.Minute, func() bool {
			got := c.read(refund)
			return strings.Contains(got, "mine") && strings.Contains(got, "theirs")
		})
		if n := c.Log("woken"); n != 1 {
			t.Errorf("the desk was woken %d times", n)
		}
	})
}

// grown says whether a checkout's branch holds GitHub's base branch.
func (f *Fleet) grown(c *Computer) error {
	tip, err := git(f.scene.Repo.Dir, "rev-parse", "refs/heads/"+base)
	_, is := git(c.Checkout, "merge-base", "--is-ancestor", tip, "HEAD")
	return errors.Join(err, is)
}

// unfit pushes what fails the tests together with own work: everything stays, and a card says so.
func (f *Fleet) unfit(t *testing.T, c *Computer) {
	t.Helper()
	before, err := git(c.Checkout, "rev-parse", "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	f.upstream(content{"broken": "yes\n"})
	<-time.After(time.Hour)
	after, err := git(c.Checkout, "rev-parse", "HEAD")
	if err != nil || after != before {
		t.Errorf("a combination that fails its tests moved the branch to %s (%v)", after, err)
	}
	if got := c.read("README.md"); got != "# Shop, edited here\n" {
		t.Errorf("own work became %q", got)
	}
	if s, err := c.client.Status(); err != nil || !strings.Contains(s.Repositories[0].State, "stays where it is") {
		t.Errorf("status %+v (%v)", s, err)
	}
	if !c.Card("C17") {
		t.Error("no card says that own work stays apart")
	}
	s := *f.scene
	s.t = t
	s.git(s.checkout(elsewhere), "rm", "-q", "broken")
	f.upstream(nil)
	f.Until("the base branch fits again", time.Hour, time.Minute, func() bool { return f.grown(c) == nil })
}
