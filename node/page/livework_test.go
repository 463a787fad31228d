package page_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/internal/presence"
)

func (w *world) Conflicts(context.Context, api.ConflictQuery) (out []api.Conflict, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.conflicts {
		out = append(out, c.Conflict)
	}
	return out, nil
}

func (w *world) Conflict(_ context.Context, ref string) (api.ConflictShown, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.IndexFunc(w.conflicts, func(c api.ConflictShown) bool { return c.Ref == ref })
	if i < 0 {
		return api.ConflictShown{}, fmt.Errorf("%s: %w", ref, api.ErrNoConflict)
	}
	c := w.conflicts[i]
	c.Acts = slices.Clone(c.Acts)
	return c, nil
}

func (w *world) ExplainConflict(ctx context.Context, ref string) (api.Explanation, error) {
	c, err := w.Conflict(ctx, ref)
	return api.Explanation{
		Conflict: c.Conflict, Rule: "Both sides change the same function.", Why: []string{"a signature change against a modification: 0.9"},
		Policy: []api.PolicyLine{{Key: "severity.symbol_overlap", Value: "warn", Means: "it warns"}}, CanTell: true,
	}, err
}

func (w *world) acted(ref, action, note, status string) func() {
	return func() {
		i := slices.IndexFunc(w.conflicts, func(c api.ConflictShown) bool { return c.Ref == ref })
		c := &w.conflicts[i]
		c.Acts = append(c.Acts, api.ConflictAct{At: time.Now(), Who: "kim", Action: action, Note: note, Person: true})
		if status != "" {
			c.Status = status
		}
	}
}

func (w *world) Respond(ctx context.Context, r api.Response) (api.Conflict, error) {
	c, err := w.Conflict(ctx, r.Conflict)
	if err != nil {
		return api.Conflict{}, err
	}
	status := "acknowledged"
	if r.Action == "false_positive" {
		status = "false_positive"
	}
	_, err = w.act(api.RespondAct(c.Conflict, r.Action, r.Note), r.Proof, w.acted(r.Conflict, r.Action, r.Note, status))
	c.Status = status
	return c.Conflict, err
}

func (w *world) Override(ctx context.Context, ref, reason string, p presence.Proof) (api.Outcome, error) {
	c, err := w.Conflict(ctx, ref)
	if err != nil {
		return api.Outcome{}, err
	}
	if len(reason) < api.ReasonMin {
		return api.Outcome{}, fmt.Errorf("override: %w: want a reason", api.ErrUsage)
	}
	return w.act(api.OverrideAct(c.Conflict, reason), p, w.acted(ref, "override", "", "overridden"))
}

func (w *world) SetAgents(_ context.Context, repository string, on bool, p presence.Proof) (api.Outcome, error) {
	return w.act(api.AgentsAct(repository, on), p, func() {
		if repository == "" {
			w.settings.Agents = on
		}
		for i, in := range w.settings.AgentsIn {
			if in.Repository == repository || repository == "" {
				w.settings.AgentsIn[i].On, w.settings.AgentsIn[i].Own = on, repository != ""
			}
		}
	})
}

func (w *world) SetLines(_ context.Context, repository string, on bool, p presence.Proof) (api.Outcome, error) {
	return w.act(api.LinesAct(repository, on), p, func() {
		for i, in := range w.settings.AgentsIn {
			if in.Repository == repository {
				w.settings.AgentsIn[i].Lines = on
			}
		}
	})
}

func (w *world) SwitchWork(_ context.Context, v api.WorkSwitch, p presence.Proof) (api.Outcome, error) {
	return w.act(api.WorkSwitchAct(v), p, func() { w.settings.Shared[0].Here, w.settings.Shared[0].Hides = v.Repositories, v.HideNames })
}

func (w *world) SetEmail(_ context.Context, lane, email string, p presence.Proof) (api.Outcome, error) {
	return w.act(api.EmailAct(lane, email), p, func() { w.settings.Email = email })
}

func (w *world) Messages(context.Context, api.MessageQuery) ([]api.Message, error) {
	return locked(w, func() []api.Message { return slices.Clone(w.messages) }), nil
}

func (w *world) Send(_ context.Context, m api.NewMessage) (api.Message, error) {
	w.change(func() {
		w.messages = append(w.messages, api.Message{At: time.Now(), Who: "kim", Person: true, Repository: m.Repository, To: m.To, Text: m.Text})
	})
	_, err := w.note("message send " + m.Repository + strings.Join(m.To, " ") + ": " + m.Text)
	return api.Message{}, err
}

func (w *world) Feedback(_ context.Context, v api.Verdict) (api.Outcome, error) {
	return w.note("feedback " + v.Conflict + " " + v.Verdict)
}

func (w *world) Intents(context.Context, api.WorkQuery) ([]api.Intent, error) {
	return locked(w, func() []api.Intent { return slices.Clone(w.intents) }), nil
}

func (w *world) Sessions(context.Context, api.WorkQuery) ([]api.Session, error) {
	return locked(w, func() []api.Session { return slices.Clone(w.sessions) }), nil
}

func (w *world) History(context.Context, api.HistoryQuery) (api.History, error) {
	return locked(w, func() api.History { return w.history }), nil
}

// busy adds live work to a world.
func (w *world) busy() {
	now := time.Now().UTC().Truncate(time.Second)
	sides := []api.ConflictSide{
		{Ref: "INT-1200123", Kind: "intent", Developer: "jordan", Agent: "claude_code", Branch: "feat/partial-refunds", State: "live"},
		{Ref: "INT-1400456", Kind: "intent", Developer: "maya", Agent: "codex", Branch: "feat/refunds", Computer: "studio", Own: true, Here: true, State: "live"},
	}
	c := func(ref, kind, status, severity, sentence string, ago time.Duration) api.ConflictShown {
		return api.ConflictShown{
			Conflict: api.Conflict{
				Ref: ref, ID: id(ref), Repository: "acme/shop", Kind: kind, Status: status, Severity: severity, Evidence: "observed", Confidence: 0.9,
				Sentence: sentence, Sides: sides, Since: now.Add(-ago), Changed: now.Add(-ago), Seal: id("seal" + ref)[:32], About: []string{"src/billing/refund.ts"},
				Suggestion: "Sequence the work: INT-1400456 rebases after INT-1200123 merges (conflict_respond will_rebase), split the symbol's work, or coordinate via message_send to INT-1200123.",
			},
			Turns: []api.Turn{{At: now.Add(-ago), State: "found", Severity: severity}},
			Acts:  []api.ConflictAct{{At: now.Add(-ago / 2), Who: "jordan", Side: "INT-1200123", Action: "propose_sequence", Note: "I merge first; <script>alert(1)</script>"}},
		}
	}
	w.conflicts = []api.ConflictShown{
		c("CF-9012345", "symbol_overlap", "open", "warn", "INT-1200123 (jordan, claude_code, feat/partial-refunds) and INT-1400456 (maya, codex, feat/refunds) both work on 1 symbol(s): sym:ts:src/billing/refund.ts#issueRefund.", 9*time.Minute),
		c("CF-7000111", "protected_path", "acknowledged", "block", "db/migrations/0042_refunds.sql (edit) by INT-1400456 (maya, codex, feat/refunds) falls under protected path db/migrations/** (owners: user:diego@acme.com); the user is not an owner.", 40*time.Minute),
		c("CF-3000222", "path_overlap", "resolved", "info", "INT-1200123 and INT-1400456 overlap on 1 path(s): src/billing/types.ts.", 3*time.Hour),
	}
	w.conflicts[1].Blocking, w.conflicts[1].Blocked, w.conflicts[1].Requested = true, "INT-1400456", true
	w.intents = []api.Intent{
		{Ref: "INT-1200123", Session: "S-5500001", Agent: "claude_code", Developer: "jordan", Repository: "acme/shop", Branch: "feat/partial-refunds", State: "live", Task: "Partial refunds for split orders", Scope: api.Scope{Paths: []string{"src/billing/**"}}, Mode: "exclusive", Conflicts: 2, Since: now.Add(-time.Hour)},
		{Ref: "INT-1400456", Agent: "codex", Developer: "maya", Own: true, Repository: "acme/shop", Branch: "feat/refunds", State: "live", Task: "Refund API", Scope: api.Scope{Symbols: []string{"sym:ts:src/billing/refund.ts#issueRefund"}}, DependsOn: []string{"INT-1200123"}, Since: now.Add(-30 * time.Minute)},
	}
	w.sessions = []api.Session{{Ref: "S-5500001", Agent: "claude_code", Developer: "jordan", Branch: "feat/partial-refunds", State: "live", Files: 4, Intent: "INT-1200123"}}
	w.messages = []api.Message{
		{At: now.Add(-20 * time.Minute), Who: "maya, codex", From: "INT-1400456", Repository: "acme/shop", To: []string{"INT-1200123"}, Text: "Are you done with issueRefund?"},
		{At: now.Add(-18 * time.Minute), Who: "kim", Person: true, Repository: "acme/shop", Text: "Refunds are frozen until noon."},
	}
	w.history = api.History{Saved: api.Saved{Minutes: 135, Conflicts: 5, Zero: 2, By: []api.SavedLine{{Severity: "block", Conflicts: 1, Minutes: 60}, {Severity: "warn", Conflicts: 3, Minutes: 60}, {Severity: "info", Conflicts: 1, Minutes: 15}}, Basis: "Minutes for each conflict that was caught before a merge: 60 for block, 20 for warn, 15 for info."}}
	for i := range 9 {
		w.history.Audit = append(w.history.Audit, api.AuditLine{At: now.Add(-time.Duration(i*i) * 5 * time.Hour), Conflict: "CF-9012345", Kind: "symbol_overlap", Who: "jordan", Action: []string{"found", "gone", "acknowledge"}[i%3], Note: "", Evidence: ""})
	}
	w.history.Audit[2].Person, w.history.Audit[2].Action, w.history.Audit[2].Reason = true, "override", "hot fix first"
}

func TestAPersonSettlesAConflictOfLiveWorkFromThePage(t *testing.T) { // C11, C12, C14
	s := serve(t)
	s.change(s.busy)
	w := s.open(t)
	w.visit("/conflicts")
	w.until(`document.querySelectorAll("#live li h2").length === 2`)
	w.visit("/conflicts?status=all&severity=info")
	w.until(`document.querySelectorAll("#live li h2").length === 1`)

	w.visit("/conflict?ref=CF-9012345")
	w.until(`document.getElementById("live").innerText.includes("<script>alert(1)</script>")`)
	w.click("r-will_rebase")
	w.until(dialogOpen + ` && document.activeElement.id === "typed"`)
	w.do(chromedp.SendKeys(chromedp.ID("typed"), "after INT-12"), chromedp.SendKeys(chromedp.ID("passphrase"), passphrase))
	w.picture("dialog-respond")
	if long() {
		w.accessible("the dialog of a response")
	}
	w.click("go")
	w.says("CF-9012345 is acknowledged")
	w.shut()
	w.until(`document.getElementById("live").innerText.includes("after INT-12")`)
	c := s.conflicts[0].Conflict
	want := []string{"passphrase: respond " + strings.Join([]string{c.ID, "will_rebase", "after INT-12"}, "\n")}
	s.happened(t, want...)

	w.click("override")
	w.until(dialogOpen + ` && document.activeElement.id === "typed"`)
	w.do(chromedp.SendKeys(chromedp.ID("typed"), "hot fix first"), chromedp.SendKeys(chromedp.ID("passphrase"), passphrase))
	w.click("go")
	w.says("Done")
	want = append(want, "passphrase: override "+strings.Join([]string{c.ID, c.Seal, "hot fix first"}, "\n"))
	s.happened(t, want...)
	w.shut()
	w.click("useful")
	s.happened(t, append(want, "feedback CF-9012345 useful")...)
}

func TestAnOverrideIsForTheEvidenceThatWasSeen(t *testing.T) { // C14, D-24
	s := serve(t)
	s.change(s.busy)
	b := s.login(t)
	c := s.conflicts[0].Conflict
	form := url.Values{
		"verb": {"override"}, "ref": {c.Ref}, "binds": {api.OverrideAct(c, "").Binds}, "thread": {""},
		"typed": {"hot fix first"}, "passphrase": {passphrase},
	}
	s.change(func() { s.conflicts[0].Seal = id("other")[:32] })
	if status, _ := b.post(t, "/press", form); status != http.StatusConflict || len(s.done()) > 0 {
		t.Errorf("%d, did %v", status, s.done())
	}
	form.Set("binds", api.OverrideAct(s.conflicts[0].Conflict, "").Binds)
	if status, _ := b.post(t, "/press", form); status != http.StatusOK || len(s.done()) != 1 {
		t.Errorf("%d, did %v", status, s.done())
	}
}

func TestAgentsAreSwitchedForOneRepositoryFromThePage(t *testing.T) { // D-27
	s := serve(t)
	b := s.login(t)
	const ask = "/press?repository=acme%2Fshop&verb=agents+off"
	if _, body := b.get(t, "/setup"); !strings.Contains(body, "verb=agents+off") || !strings.Contains(body, "On, as for all repositories") || !strings.Contains(body, "Off, for this repository alone") {
		t.Fatalf("the setup shows no switch of a repository: %s", body)
	}
	if _, body := b.get(t, ask); !strings.Contains(body, "This holds for acme/shop alone") {
		t.Errorf("the dialog says %s", body)
	}
	form := url.Values{"verb": {"agents off"}, "repository": {"acme/shop"}, "binds": {api.AgentsAct("acme/shop", false).Binds}, "thread": {""}, "passphrase": {passphrase}}
	if status, body := b.post(t, "/press", form); status != http.StatusOK {
		t.Fatalf("the press: %d %s", status, body)
	}
	s.happened(t, "passphrase: agents off "+api.AgentsAct("acme/shop", false).Binds)
	form.Set("repository", "acme/web") // seen for another one
	if status, _ := b.post(t, "/press", form); status != http.StatusConflict {
		t.Errorf("the press for another repository: %d", status)
	}
}

func TestLinesAreSwitchedForOneRepositoryFromThePage(t *testing.T) { // C1
	s := serve(t)
	b := s.login(t)
	if _, body := b.get(t, "/setup"); !strings.Contains(body, "/press?repository=acme%2Fshop&amp;verb=agents+lines+on") || strings.Contains(body, "verb=agents+lines+off") {
		t.Fatalf("the setup shows no switch for lines that is off: %s", body)
	}
	if _, body := b.get(t, "/press?repository=acme%2Fshop&verb=agents+lines+on"); !strings.Contains(body, "No other developer is shown them") {
		t.Errorf("the dialog says %s", body)
	}
	form := url.Values{"verb": {"agents lines on"}, "repository": {"acme/shop"}, "binds": {api.LinesAct("acme/shop", true).Binds}, "thread": {""}, "passphrase": {passphrase}}
	if status, body := b.post(t, "/press", form); status != http.StatusOK {
		t.Fatalf("the press: %d %s", status, body)
	}
	s.happened(t, "passphrase: agents lines on "+api.LinesAct("acme/shop", true).Binds)
	if _, body := b.get(t, "/setup"); !strings.Contains(body, "/press?repository=acme%2Fshop&amp;verb=agents+lines+off") {
		t.Errorf("the switch did not move: %s", body)
	}
}

func TestAConflictShowsChangedLinesAsText(t *testing.T) { // C1
	s := serve(t)
	s.change(func() {
		s.crowd(1, 0)
		s.conflicts[0].Lines = []api.ConflictLines{{Side: "INT-901", Computer: "laptop", Path: "src/<i>.ts", Cut: true, Lines: []api.Line{{Number: 4, Text: "<b>around</b>"}, {Number: 5, Changed: true, Text: "<script>evil()</script>"}, {Number: 9, Text: "later"}}}}
	})
	b := s.login(t)
	_, body := b.get(t, "/conflict?ref="+s.conflicts[0].Ref)
	const want = "   4   &lt;b&gt;around&lt;/b&gt;\n   5 + &lt;script&gt;evil()&lt;/script&gt;\n⋮\n   9   later\n…\n"
	if !strings.Contains(body, want) || !strings.Contains(body, "src/&lt;i&gt;.ts") {
		t.Errorf("it shows %s", body)
	}
}
