package node

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/internal/hooks"
	"github.com/parley-mesh/parley/node/internal/presence"
)

const guarded = `protected_paths:
  - path: db/**
    owners: ["user:diego@acme.com"]
members: {"user:kim@acme.com": admin, "user:diego@acme.com": owner, "user:olga@acme.com": member}
`

// blockedAt waits until an edit is refused.
func blockedAt(t *testing.T, c *crewed, session, path string) hooks.Decision {
	t.Helper()
	var d hooks.Decision
	eventually(t, path+" is refused", func() bool {
		d = c.hook(hooks.BeforeEdit, session, path)
		return d.Verdict == hooks.VerdictBlock
	})
	return d
}

// named waits until a computer has a conflict that is meant, and returns it.
func named(t *testing.T, c *crewed, what string, is func(api.Conflict) bool) (found api.Conflict) {
	t.Helper()
	eventually(t, what, func() bool {
		all, err := c.live.Conflicts(t.Context(), api.ConflictQuery{All: true})
		i := slices.IndexFunc(all, is)
		if err != nil || i < 0 {
			return false
		}
		found = all[i]
		return true
	})
	return found
}

func TestAPersonOverridesABlockWithAReasonThatIsSealed(t *testing.T) { // C8, C11, C12, C14
	_, homes, dirs := newHub(t, 2, guarded)
	desk, laptop := runCrewed(t, homes[0], dirs[0]), runCrewed(t, homes[1], dirs[1])
	desk.looked()
	laptop.looked()
	laptop.hook(hooks.Start, "one")
	d := blockedAt(t, laptop, "one", "db/0042.sql")
	if !strings.Contains(d.Text, "user:diego@acme.com") || !strings.Contains(d.Text, "request_override") {
		t.Errorf("the agent is told %q", d.Text)
	}
	c := named(t, laptop, "there is a conflict", func(c api.Conflict) bool { return c.Kind == "protected_path" })
	who := api.Caller{Session: "one"}
	for _, action := range []string{"false_positive", "resolve", "take_over"} {
		if _, err := laptop.live.Respond(t.Context(), api.Response{Conflict: c.Ref, Action: action, Caller: who}); err != nil {
			t.Fatalf("%s: %v", action, err)
		}
		if d := laptop.hook(hooks.BeforeEdit, "one", "db/0042.sql"); d.Verdict != hooks.VerdictBlock {
			t.Errorf("an agent's %s lifts the block of a protected path", action)
		}
	}
	if _, err := laptop.live.Override(t.Context(), c.Ref, "an agent's", presence.Proof{}); !errors.Is(err, presence.ErrNeeded) {
		t.Errorf("an override without a person: %v", err)
	}
	const note, reason = "the nightly job waits", "diego is on leave, agreed by phone"
	if _, err := laptop.live.Respond(t.Context(), api.Response{Conflict: c.Ref, Action: "request_override", Note: note, Caller: who}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the person who may is asked on the other computer", func() bool {
		return slices.ContainsFunc(desk.live.cards(), func(card api.Card) bool {
			return card.Code == "C22" && card.Ref == c.Ref && card.Title == "Override requested for "+c.Ref
		})
	})
	all, err := desk.live.Messages(t.Context(), api.MessageQuery{})
	if err != nil || !slices.ContainsFunc(all, func(m api.Message) bool { return m.System && m.Text == "Override requested for "+c.Ref }) {
		t.Errorf("messages are %+v, %v", all, err)
	}

	override(t, desk, c.Ref, reason)
	eventually(t, "the block is lifted", func() bool { return laptop.hook(hooks.BeforeEdit, "one", "db/0042.sql").Verdict != hooks.VerdictBlock })
	write(t, filepath.Join(laptop.dir, "db", "0042.sql"), "alter table refunds add reason text;\n")
	laptop.hook(hooks.AfterEdit, "one", "db/0042.sql")
	eventually(t, "the edit is seen", func() bool { return slices.Equal(laptop.edits("one"), []string{"db/0042.sql"}) })
	if d := laptop.hook(hooks.BeforeEdit, "one", "db/0042.sql"); d.Verdict == hooks.VerdictBlock {
		t.Errorf("the next edit of it is refused: %s", d.Text)
	}
	if d := laptop.hook(hooks.BeforeEdit, "one", "db/0043.sql"); d.Verdict != hooks.VerdictBlock {
		t.Errorf("another protected path is open too: %+v", d)
	}
	for _, o := range []*crewed{desk, laptop} {
		audit, err := o.live.History(t.Context(), api.HistoryQuery{Conflict: c.Ref})
		if err != nil || !slices.ContainsFunc(audit.Audit, func(a api.AuditLine) bool { return a.Action == "override" && a.Person && a.Reason == reason }) {
			t.Errorf("the audit log of %s is %+v, %v", o.cfg.Name, audit.Audit, err)
		}
	}
	if cards := desk.live.cards(); slices.ContainsFunc(cards, func(card api.Card) bool { return card.Ref == c.Ref }) {
		t.Errorf("it is still asked for: %+v", cards)
	}
	if _, err := laptop.live.Respond(t.Context(), api.Response{Conflict: c.Ref, Action: "acknowledge", Caller: who}); !errors.Is(err, api.ErrConflictClosed) || !strings.Contains(api.Explain(err).Hint, "parley show "+c.Ref+":") {
		t.Errorf("acting on what is overridden: %v", err)
	}
	sealedOnDisk(t, laptop, note, reason)
	laptop.end()
	desk.end()
	for _, home := range homes {
		if in := fileWith(t, home.Dir, reason); in != "" {
			t.Errorf("the reason stands in %s", in)
		}
	}
}

// override lets the person at a computer override a conflict, over its socket.
func override(t *testing.T, c *crewed, ref, reason string) {
	t.Helper()
	client := api.NewClient(c.home.SocketPath())
	defer func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	}()
	seen, err := client.Conflict(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Override(t.Context(), seen.Conflict, reason, api.DemoProver()); err != nil {
		t.Fatal(err)
	}
}

// sealedOnDisk looks at the records themselves: the note stands there as it was written, the reason does not.
func sealedOnDisk(t *testing.T, c *crewed, note, reason string) {
	t.Helper()
	entries, err := c.store.Ledgers()
	if err != nil {
		t.Fatal(err)
	}
	var all []byte
	for _, e := range entries {
		if e.Family != ledger.Work {
			continue
		}
		records, err := c.store.Records(e.Listing.Ledger)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			all = append(all, r.Wire...)
		}
	}
	if !bytes.Contains(all, []byte(note)) || bytes.Contains(all, []byte(reason)) {
		t.Errorf("in the records the note stands: %v, the reason: %v", bytes.Contains(all, []byte(note)), bytes.Contains(all, []byte(reason)))
	}
}

// fileWith is a file below a directory that holds a text, "" where none does.
func fileWith(t *testing.T, dir, text string) (name string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if bytes.Contains(content, []byte(text)) {
			name = path
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return name
}

func TestAPolicyIsInForceFromTheFetchedDefaultBranchAlone(t *testing.T) { // C8, D-25
	h, homes, dirs := newHub(t, 2, "")
	c, other := runCrewed(t, homes[0], dirs[0]), runCrewed(t, homes[1], dirs[1])
	for _, c := range []*crewed{c, other} {
		c.looked()
		c.hook(hooks.Start, "one")
		write(t, filepath.Join(c.dir, ".parley", "policy.yaml"), "protected_paths: [{path: docs/**, owners: [\"user:diego@acme.com\"]}]\n")
		git(t, c.dir, "add", ".")
		git(t, c.dir, "commit", "-q", "-m", "a policy of my own")
		if d := c.hook(hooks.BeforeEdit, "one", "docs/page01.md"); d.Verdict == hooks.VerdictBlock {
			t.Errorf("a policy that nobody pushed is in force: %s", d.Text)
		}
	}
	h.branch("policy", "diego@acme.com", ".parley/policy.yaml", "protected_paths: [{path: db/**, owners: [\"user:diego@acme.com\"]}]\n")
	h.push("policy:main")
	for _, c := range []*crewed{c, other} {
		if _, err := c.repos[0].fetch(t.Context()); err != nil {
			t.Fatal(err)
		}
		ring(c.live.fetched)
		blockedAt(t, c, "one", "db/0042.sql")
		if d := c.hook(hooks.BeforeEdit, "one", "docs/page01.md"); d.Verdict == hooks.VerdictBlock {
			t.Errorf("the working copy's policy is in force: %s", d.Text)
		}
		if d := c.hook(hooks.BeforeEdit, "one", ".parley/policy.yaml"); d.Verdict != hooks.VerdictBlock || !strings.Contains(d.Text, "policy.yaml") {
			t.Errorf("the policy is not protected: %+v", d)
		}
	}
}

func TestAConflictWithAnOpenPullRequestReachesAnAgentElsewhere(t *testing.T) { // C1, P6
	h, homes, dirs := newHub(t, 2, "")
	maya := h.server.AddUser("maya", "another-token")
	h.branch("feat/late", "maya@acme.com", "billing/refund.go", strings.Replace(refundGo, "cents int)", "cents int, late bool)", 1))
	if _, err := h.server.OpenPull(maya, h.repo, "main", h.repo, "feat/late", "Late refunds", false); err != nil {
		t.Fatal(err)
	}
	desk, laptop := runCrewed(t, homes[0], dirs[0]), runCrewed(t, homes[1], dirs[1])
	desk.looked()
	laptop.looked()
	desk.takeMain()
	laptop.hook(hooks.Start, "one")
	write(t, filepath.Join(laptop.dir, "billing", "refund.go"), strings.Replace(refundGo, "\treturn nil\n}\n\n// Void", "\treturn errNone\n}\n\n// Void", 1))
	laptop.hook(hooks.AfterEdit, "one", "billing/refund.go")
	var d hooks.Decision
	eventually(t, "the agent on the other computer is told", func() bool { // by the main computer's own run
		d = seen(laptop.hook(hooks.Prompt, "one"))
		return strings.Contains(d.Text, "symbol_overlap")
	})
	if !strings.Contains(d.Text, "feat/late") {
		t.Errorf("it is told %q", d.Text)
	}
}
