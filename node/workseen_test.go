package node

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/internal/hooks"
)

// seen is a decision that came to its agent.
func seen(d hooks.Decision) hooks.Decision {
	if d.Told != nil {
		d.Told.Seen()
	}
	return d
}

// warned lets a session have work in a file beside another's, and returns once it was told of it; the answers to
// everything before that came to the agent.
func warned(t *testing.T, c *crewed, linked string) hooks.Decision {
	t.Helper()
	c.at(c.dir, hooks.Start, "first")
	seen(c.at(linked, hooks.Start, "second"))
	c.at(c.dir, hooks.BeforeEdit, "first", "billing/refund.go")
	write(t, filepath.Join(c.dir, "billing", "refund.go"), strings.Replace(refundGo, "cents int)", "cents int, reason string)", 1))
	c.at(c.dir, hooks.AfterEdit, "first", "billing/refund.go")
	seen(c.at(linked, hooks.BeforeEdit, "second", "billing/refund.go"))
	write(t, filepath.Join(linked, "billing", "refund.go"), strings.Replace(refundGo, "\treturn nil\n}\n\n// Void", "\treturn errNone\n}\n\n// Void", 1))
	seen(c.at(linked, hooks.AfterEdit, "second", "billing/refund.go"))
	var d hooks.Decision
	eventually(t, "the second agent is warned", func() bool {
		d = c.at(linked, hooks.Prompt, "second")
		if strings.Contains(d.Text, "symbol_overlap") {
			return true
		}
		seen(d)
		return false
	})
	return d
}

func TestWhatNeverCameToAnAgentIsToldAtItsNextMoment(t *testing.T) { // C9
	c, linked := oneCrewed(t)
	d := warned(t, c, linked)
	if again := c.at(linked, hooks.Prompt, "second"); strings.Contains(again.Text, "symbol_overlap") {
		t.Errorf("it is told twice while its first answer is underway: %s", again.Text)
	}
	d.Told.Lost()
	again := c.at(linked, hooks.BeforeEdit, "second", "billing/refund.go")
	if !strings.Contains(again.Text, "symbol_overlap") {
		t.Fatalf("what was lost is not told again: %+v", again)
	}
	again.Told.Seen()
	if more := c.at(linked, hooks.Prompt, "second"); strings.Contains(more.Text, "symbol_overlap") {
		t.Errorf("what came to the agent is told again: %s", more.Text)
	}
}

func TestAFactIsToldOnceForEachChangeOverRestarts(t *testing.T) { // C9: no nagging
	homes, dirs := newCrew(t, 1)
	linked := filepath.Join(t.TempDir(), "linked")
	git(t, dirs[0], "worktree", "add", "-q", "-b", "feat/void", linked)
	c := runCrewed(t, homes[0], dirs[0])
	c.looked()
	d := warned(t, c, linked)
	again := func(when string, told bool, kind hooks.Kind, paths ...string) {
		t.Helper()
		d := c.at(linked, kind, "second", paths...)
		if strings.Contains(d.Text, "symbol_overlap") != told {
			t.Errorf("%s it is told %q", when, d.Text)
		}
		seen(d)
	}
	restart := func() {
		t.Helper()
		c.end()
		c = runCrewed(t, homes[0], dirs[0])
		c.looked()
		c.live.Judge(t.Context(), hooks.Event{Agent: "codex", Kind: hooks.TurnEnd, Again: true, Session: "second", Cwd: linked}) // tells nothing
		eventually(t, "the conflict is known again", func() bool { return len(c.conflicts()) > 0 })
	}
	restart() // the answer was underway
	eventually(t, "what may not have come to the agent is told after a restart", func() bool {
		d = c.at(linked, hooks.Prompt, "second")
		return strings.Contains(d.Text, "symbol_overlap")
	})
	seen(d)
	restart()
	again("after a restart", false, hooks.Prompt)
	again("before an edit", false, hooks.BeforeEdit, "billing/refund.go")
	e := hooks.Event{Agent: "codex", Kind: hooks.Start, Source: "resume", Session: "second", Cwd: linked}
	if d := c.live.Judge(t.Context(), e); strings.Contains(d.Text, "symbol_overlap") {
		t.Errorf("a session that is resumed remembers, and is told %q", d.Text)
	}
	write(t, filepath.Join(c.dir, "billing", "refund.go"), "package billing\n\n// Void ends an order.\nfunc Void(order string) error {\n\treturn nil\n}\n") // Refund is gone
	c.at(c.dir, hooks.AfterEdit, "first", "billing/refund.go")
	eventually(t, "its evidence changes", func() bool {
		return slices.ContainsFunc(c.conflicts(), func(o api.Conflict) bool { return strings.Contains(o.Sentence, "removes") })
	})
	again("once the other side went on", true, hooks.Prompt)
	again("and then", false, hooks.Prompt)
}
