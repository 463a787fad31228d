package main

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-mesh/parley/node/api"
)

// refund is a conflict of the first document: an exclusive claim, and somebody who is about to edit.
var refund = api.Conflict{
	Ref: "CF-9000001", ID: "c0ffee", Repository: "acme/shop", Kind: "path_overlap", Status: "open", Severity: "block", Blocking: true,
	Blocked: "INT-1400000", Evidence: "declared", Confidence: 0.9, Since: noon.Add(-2 * time.Minute),
	Sentence:   "INT-1200000 (jordan, claude_code, feat/partial-refunds) holds an exclusive claim on db/schema.prisma covering db/schema.prisma; INT-1400000 (maya, codex, feat/refunds) is about to edit it.",
	Suggestion: "Narrow scope to avoid the shared paths.", About: []string{"db/schema.prisma"},
	Sides: []api.ConflictSide{
		{Ref: "INT-1200000", Kind: "intent", Developer: "jordan", Agent: "claude_code", Branch: "feat/partial-refunds", State: "live"},
		{Ref: "INT-1400000", Kind: "intent", Developer: "maya", Agent: "codex", Branch: "feat/refunds", Own: true, Here: true, State: "live"},
	},
}

// wants reports each text that is not printed.
func wants(t *testing.T, out string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(out, text) {
			t.Errorf("want %q in:\n%s", text, out)
		}
	}
}

func TestConflictsAreATableForPeople(t *testing.T) { // C11
	tuned := refund
	tuned.Ref, tuned.Blocking, tuned.Severity, tuned.About, tuned.Tuned = "CF-7", false, "info", []string{"a", "b", "c"}, "often called false here"
	out, notes := printed(t, func(a *app) { a.printConflicts([]api.Conflict{refund, tuned}, noon) })
	wants(
		t, out, "CONFLICT    KIND          SEVERITY                  STATUS  SIDES",
		"CF-9000001  path_overlap  block: INT-1400000 waits  open    INT-1200000 (jordan), INT-1400000 (maya)  db/schema.prisma  2 min ago",
		"a and 2 more",
	)
	wants(t, notes, "CF-7 is listed late: often called false here")
}

func TestAPersonWithoutAnAgentIsCalledSo(t *testing.T) { // C9
	c := refund
	c.Sides = []api.ConflictSide{{Ref: "S-4858711", Kind: "session", Computer: "laptop", Own: true}, {Ref: "main", Kind: "branch", Computer: "tablet"}}
	out, _ := printed(t, func(a *app) {
		a.printConflicts([]api.Conflict{c}, noon)
		a.printConflict(api.ConflictShown{Conflict: c}, noon)
	})
	wants(t, out, "S-4858711 (laptop), main (tablet)", "S-4858711  -          a person  -       laptop", "main       -          -         -       tablet")
}

func TestOneConflictIsShownWithItsSides(t *testing.T) { // C1, C12
	c := refund
	c.Sides = slices.Clone(c.Sides)
	c.Sides[0].Muted, c.Requested = true, true
	shown := api.ConflictShown{
		Conflict: c, Turns: []api.Turn{{At: noon, State: "found", Severity: "block"}},
		Acts: []api.ConflictAct{{At: noon, Who: "jordan", Action: "will_rebase", Note: "after \x1b[2Jyou"}},
	}
	out, _ := printed(t, func(a *app) { a.printConflict(shown, noon) })
	wants(t, out, "CF-9000001  path_overlap  block: INT-1400000 waits  open  since 2 min ago", "Suggestion: Narrow scope",
		"another developer  live, muted", "this computer      live, waits", "will_rebase  “after  [2Jyou”", "An override was requested (parley override).")
	if strings.Contains(out, "\x1b") {
		t.Errorf("%q", out)
	}
}

func TestChangedLinesStandBehindBars(t *testing.T) { // C1
	shown := api.ConflictShown{Conflict: refund, Lines: []api.ConflictLines{{Side: "INT-1200000", Computer: "laptop", Path: "db/schema.prisma", Cut: true, Lines: []api.Line{
		{Number: 7, Text: "model Order {"}, {Number: 8, Changed: true, Text: "\tCF-1 blocks you\x1b[2J"}, {Number: 20, Text: "}"},
	}}}}
	out, _ := printed(t, func(a *app) { a.printConflict(shown, noon) })
	wants(t, out, "INT-1200000 has in db/schema.prisma on laptop:\n  |    7   model Order {\n  |    8 +     CF-1 blocks you [2J\n  |\n  |   20   }\n  | …\n")
}

func TestAConflictIsExplained(t *testing.T) { // C9, C11
	e := api.Explanation{
		Conflict: refund, Rule: "an exclusive claim of one side, and an edit of the other", Why: []string{"declared, exact path", "0.90 is at least 0.85"},
		Policy: []api.PolicyLine{{Key: "block_min_confidence", Value: "0.85", Means: "what is less sure warns"}}, PolicyAt: ".parley/policy.yaml of origin/main",
		From: []api.SeenIn{{Side: "INT-1400000", Path: "db/schema.prisma", Base: "0123456789", Old: "aaaaaaaaaa", New: "bbbbbbbbbb"}},
	}
	out, notes := printed(t, func(a *app) { a.printExplanation(e, noon) })
	wants(t, out, "Rule        an exclusive claim", "Evidence    declared", "Confidence  0.90", "Why         declared, exact path",
		"            0.90 is at least 0.85", "Policy      block_min_confidence: 0.85 (what is less sure warns)", "of .parley/policy.yaml of origin/main",
		"INT-1400000  db/schema.prisma  01234567  aaaaaaaa  bbbbbbbb")
	wants(t, notes, "something could not be read")
}

func TestAWatchedScreenFitsAndMovesNoCursor(t *testing.T) {
	w := watched{
		at: noon, sessions: []api.Session{{Ref: "S-1", Agent: "codex", Developer: "maya\x1b[2J", State: "live", Repository: "acme/shop"}},
		conflicts: []api.Conflict{refund},
	}
	for range 100 {
		w.events = append(w.events, api.LiveEvent{At: noon, Who: "INT-1\x1b[2J", Severity: "block", Text: "edits a.go"})
	}
	for _, size := range [][2]int{{80, 24}, {20, 5}, {200, 60}} {
		printed(t, func(a *app) {
			lines := a.screen(w, size[0], size[1])
			if len(lines) >= size[1] {
				t.Errorf("%d lines of %d", len(lines), size[1])
			}
			for _, l := range lines {
				if len([]rune(l)) > size[0] || strings.Contains(l, "\x1b") {
					t.Errorf("%d columns of %d: %q", len([]rune(l)), size[0], l)
				}
			}
		})
	}
	printed(t, func(a *app) {
		all := strings.Join(a.screen(w, 200, 60), "\n")
		wants(t, all, "1 session, 1 conflict", "CF-9000001", "INT-1 [2J  edits a.go")
	})
}

func TestAColouredLineIsCutByWhatIsSeen(t *testing.T) {
	if got := cut("\x1b[31mblock\x1b[0m rest", 7); got != "\x1b[31mblock\x1b[0m r" {
		t.Errorf("%q", got)
	}
	if got := cut("ääää", 3); got != "äää" {
		t.Errorf("%q", got)
	}
}

func TestAnEventIsOneLine(t *testing.T) {
	e := api.LiveEvent{At: noon, Kind: "conflict", Ref: "CF-9", Who: "INT-1 (maya)", Severity: "warn", Text: "two\nlines"}
	own := api.LiveEvent{At: noon, Kind: "edit", Ref: "S-1", Who: "S-1 (maya)", Text: "changed a.go"}
	if got := eventLine(own); !strings.HasSuffix(got, "  edit      S-1 (maya)  changed a.go") {
		t.Errorf("%q", got)
	}
	if got := eventLine(e); strings.Contains(got, "\n") || !strings.HasSuffix(got, "  conflict  CF-9  INT-1 (maya)  warn  two lines") {
		t.Errorf("%q", got)
	}
}

func TestACallIsForTheSessionThatTheProcessBelongsTo(t *testing.T) {
	t.Setenv("PARLEY_SESSION", "")
	t.Setenv("CLAUDE_CODE_SESSION_ID", "1111")
	cwd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if got := thisCaller(""); got != (api.Caller{Session: "1111", Cwd: cwd}) {
		t.Errorf("%+v", got)
	}
	t.Setenv("PARLEY_SESSION", "S-1")
	if got := thisCaller(""); got.Session != "S-1" {
		t.Errorf("%+v", got)
	}
	if got := thisCaller("INT-1"); got.Session != "INT-1" {
		t.Errorf("%+v", got)
	}
}
