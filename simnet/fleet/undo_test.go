package fleet

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-mesh/parley/node/api"
)

const refund = "src/refund.ts"

// read is a file of the computer's checkout.
func (c *Computer) read(path string) string {
	c.f.t.Helper()
	b, err := os.ReadFile(filepath.Join(c.Checkout, filepath.FromSlash(path)))
	if err != nil {
		c.f.t.Fatal(err)
	}
	return string(b)
}

// operation is the newest operation of a kind that names a path and stands.
func (c *Computer) operation(kind, path string) api.Operation {
	c.f.t.Helper()
	all, err := c.client.Operations(c.f.t.Context())
	if err != nil {
		c.f.t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(o api.Operation) bool { return o.Kind == kind && !o.Undone && slices.Contains(o.Paths, path) })
	if i < 0 {
		c.f.t.Fatalf("%s has no %s of %s among %+v", c.Name, kind, path, all)
	}
	return all[i]
}

// kept is the id of a kept file of a path with these bytes.
func (c *Computer) kept(path, text string) string {
	c.f.t.Helper()
	all, err := c.client.Kept(c.f.t.Context())
	if err != nil {
		c.f.t.Fatal(err)
	}
	for _, k := range all {
		content, err := c.client.KeptContent(c.f.t.Context(), k.ID)
		if err != nil {
			c.f.t.Fatal(err)
		}
		if k.Path == path && string(content.Content) == text {
			return k.ID
		}
	}
	c.f.t.Fatalf("%s keeps no %s with %q among %+v", c.Name, path, text, all)
	return ""
}

func (c *Computer) undo(o api.Operation) string {
	c.f.t.Helper()
	out, err := c.client.Undo(c.f.t.Context(), o.ID, api.DemoProver())
	if err != nil {
		c.f.t.Fatal(err)
	}
	return out.Text
}

func (c *Computer) why(about string) api.Why {
	c.f.t.Helper()
	w, err := c.client.Why(about)
	if err != nil {
		c.f.t.Fatal(err)
	}
	return w
}

// wantWhy wants an answer that holds some words.
func (c *Computer) wantWhy(about, words string) {
	c.f.t.Helper()
	if w := c.why(about); !strings.Contains(w.Answer, words) {
		c.f.t.Errorf("%s: why %s: %+v, want %q", c.Name, about, w, words)
	}
}

// says is what a computer said last about the files of a conversation.
func (c *Computer) says(ref, name string) string {
	c.f.t.Helper()
	for _, p := range c.Thread(ref).Parties {
		if p.Name == name {
			return p.Statement
		}
	}
	return ""
}

func TestWhatAPersonTakesBackStaysUntilTheFinal(t *testing.T) { // P0, P18, P19, D-22
	play(t, calm(), func(t *testing.T, p *story) {
		c := p.tablet
		p.begin()
		p.Until("the tablet holds the interim", time.Hour, time.Second, func() bool { return p.Holds(c.Checkout) == nil })
		c.wantWhy(filepath.Join(c.Checkout, refund), "it holds master's copy for the time being")
		p.laptop.wantWhy(refund, "it stays the pull request's copy until the final")

		p.takenBack(t, c)

		<-time.After(2 * time.Hour)
		if got := c.read(refund); got != first[refund] {
			t.Errorf("two hours later the tablet holds %q", got)
		}
		undone := p.syncTakenBack(t, c)
		p.Until("the conversation is over", 3*time.Hour, 10*time.Second, p.closed)
		if p.Adopted(c.Checkout) == nil {
			t.Error("a paused master sync brought the branch to GitHub's")
		}
		if _, err := c.client.Sync(t.Context(), slug, api.SyncResume); err != nil {
			t.Fatal(err)
		}
		p.Until("the master sync goes on", time.Minute, time.Second, func() bool { return p.Adopted(c.Checkout) == nil })
		p.check(t)
		c.wantWhy(refund, "it holds what master has at")
		if said := c.undo(undone); !strings.Contains(said, "has moved on since") || strings.Contains(said, "paused") || p.Adopted(c.Checkout) != nil {
			t.Errorf("an undo that changes nothing says %q", said)
		}
		c.wantWhy(refund, "it holds what master has at")
	})
}

// takenBack undoes the interim on a computer, and puts kept files back.
func (p *story) takenBack(t *testing.T, c *Computer) {
	t.Helper()
	if said := c.undo(c.operation("replace", refund)); !strings.Contains(said, refund) || !strings.Contains(said, "keeps its copies until the final of "+p.ref) {
		t.Errorf("the undo says %q", said)
	}
	if got := c.read(refund); got != first[refund] {
		t.Fatalf("after the undo the tablet holds %q", got)
	}
	p.Until("the desktop hears that the tablet objects", time.Minute, time.Second, func() bool { return p.desktop.says(p.ref, c.Name) == "objects" })
	if records := p.thread(p.desktop).Records; !slices.ContainsFunc(records, func(r api.ThreadRecord) bool {
		return r.Kind == "object" && r.Who == c.Name && strings.Contains(r.Sentence, "a person here keeps this copy")
	}) {
		t.Errorf("none of %d records says that a person keeps it", len(records))
	}
	for _, text := range []string{onBase[refund], first[refund]} {
		if _, err := c.client.Restore(t.Context(), c.kept(refund, text), api.DemoProver()); err != nil {
			t.Fatal(err)
		}
		if got := c.read(refund); got != text {
			t.Errorf("restored %q, want %q", got, text)
		}
	}
}

// syncTakenBack undoes the last master sync of a computer, which then waits for its person.
func (p *story) syncTakenBack(t *testing.T, c *Computer) api.Operation {
	t.Helper()
	op := c.operation("sync", "README.md")
	if got := c.read("README.md"); got != onBase["README.md"] {
		t.Errorf("the master sync put %q into place", got)
	}
	said := c.undo(op)
	if !strings.Contains(said, "parley sync resume") {
		t.Errorf("the undo of a master sync says %q", said)
	}
	c.wantWhy("README.md", "paused")
	<-time.After(2 * time.Hour)
	head, err := git(c.Checkout, "rev-parse", "HEAD")
	if got := c.read("README.md"); err != nil || head != op.From || got != first["README.md"] {
		t.Errorf("the branch stands on %s, want %s, with %q (%v): %s", head, op.From, got, err, said)
	}
	if got := c.read(refund); got != first[refund] {
		t.Errorf("the tablet holds %q, which a conversation decides", got)
	}
	return op
}
