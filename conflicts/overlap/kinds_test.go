package overlap

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/ledger"
)

func TestAnExclusiveClaimBlocksTheOtherSideBeforeItsEditAlone(t *testing.T) { // C2, C9
	w, a, b, x, y := two(t)
	w.decides(y, Allow, "db/schema.prisma")
	a.claims(x, exclusive("db/schema.prisma", 1))
	w.none()
	d := w.decides(y, Block, "db/schema.prisma")
	c := d.Conflicts[0]
	want := fmt.Sprintf("%s (jordan, claude_code, feat/partial-refunds) holds an exclusive claim on db/schema.prisma covering db/schema.prisma; "+
		"%s (maya, codex, feat/refunds) is about to edit it.", w.f.refOf(x), w.f.refOf(y))
	if c.Sentence != want || c.Blocked != y || c.Class != detect.Declared {
		t.Errorf("%s\nwant %s", c.Sentence, want)
	}
	if words := c.Words(y); !strings.Contains(words, "blocks you") || strings.Contains(words, "The other side is told") {
		t.Errorf("who waits is told %s", words)
	}
	if words := c.Words(x); !strings.Contains(words, "blocks the other side") || !strings.Contains(words, " The other side is told: Wait until ") {
		t.Errorf("the holder is told %s", words)
	}
	w.decides(y, Allow, "db/other.prisma")
	w.decides(x, Allow, "db/schema.prisma")
	w.decides(y, Allow)
	b.say(shop, &ledger.Attempt{Session: y, Paths: []ledger.Trying{{Path: "db/schema.prisma", Op: ledger.EditModify}}})
	shown := w.is(detect.PathOverlap, Open)
	if shown.ID != c.ID || !shown.Blocking || shown.Evidence != c.Evidence {
		t.Errorf("the attempt shows %+v", shown)
	}
	w.settles(a, b)
	w.wait(AttemptFor)
	w.is(detect.PathOverlap, Resolved)
	a.claims(x)
	w.decides(y, Allow, "db/schema.prisma")
}

func TestAnExclusiveClaimOnTooManyFilesBlocksNobody(t *testing.T) { // C2
	w, a, _, x, y := two(t)
	a.claims(x, exclusive("db/**", 21))
	w.decides(y, Allow, "db/schema.prisma")
	a.claims(x, exclusive("db/**", 20))
	w.decides(y, Block, "db/schema.prisma")
}

func TestWhoeverTouchesAPathThatIsExclusiveByDefaultFirstHoldsIt(t *testing.T) { // C2
	p := detect.DefaultPolicy()
	p.ExclusiveByDefault = []string{"db/**"}
	w, a, _, x, y := two(t, p)
	a.edits(x, "db/a.sql")
	w.decides(y, Block, "db/a.sql")
	w.decides(x, Allow, "db/a.sql")
	w.decides(y, Allow, "db/b.sql")
}

func TestAClaimAndAFirstTouchNeverHoldTheSamePath(t *testing.T) { // C2, C9
	p := detect.DefaultPolicy()
	p.ExclusiveByDefault = []string{"lib/**"}
	for _, covers := range []int{3, 21} {
		w, a, b, x, y := two(t, p)
		a.claims(x, exclusive("lib/**", covers))
		b.edits(y, "lib/d.ts") // it did not know
		if covers == 3 {
			w.decides(x, Allow, "lib/d.ts")
			w.decides(y, Block, "lib/d.ts")
		} else { // on too many files to count
			w.decides(x, Block, "lib/d.ts")
			w.decides(y, Allow, "lib/d.ts")
		}
	}
}

func TestClaimsMadeAtOnceSettleToOneHolderTheSameEverywhere(t *testing.T) { // C2, C9
	for n := range 20 {
		w, a, b, x, y := two(t)
		w.lam = 100 + uint64(n)
		first := a.sealed(shop, ClaimOf(x, []detect.Claim{exclusive("db/a.sql", 1)}))
		w.lam-- // neither knew of the other
		second := b.sealed(shop, ClaimOf(y, []detect.Claim{exclusive("db/a.sql", 1)}))
		holder, other := x, y
		if second.ID.Less(first.ID) {
			holder, other = y, x
		}
		for _, order := range [][]*ledger.Record{{first, second}, {second, first}} {
			elsewhere := newWorld(t)
			elsewhere.f.SetPeople(w.people)
			for _, r := range append(append([]*ledger.Record{}, w.records...), order...) {
				elsewhere.f.Add(r, w.now)
			}
			elsewhere.decides(holder, Allow, "db/a.sql")
			elsewhere.decides(other, Block, "db/a.sql")
		}
	}
}

func TestAClaimThatIsSaidAgainIsAsOldAsItWas(t *testing.T) { // C2
	w, a, b, x, y := two(t)
	a.claims(x, exclusive("db/a.sql", 1))
	b.claims(y, exclusive("db/a.sql", 1), path("src/a.ts"))
	a.claims(x, exclusive("db/a.sql", 1), path("src/b.ts"))
	in := a.intent(x, "Migrate the schema")
	a.claims(in, exclusive("db/a.sql", 1))
	a.claims(x)
	w.decides(y, Block, "db/a.sql")
	a.claims(in)
	a.claims(in, exclusive("db/a.sql", 1))
	w.decides(x, Block, "db/a.sql")
}

func TestChangesOfOneSymbolAreFoundInTheRecords(t *testing.T) { // C3
	w, a, b, x, y := two(t)
	id := "sym:ts:src/billing/refund.ts#issueRefund"
	a.changes(shop, x, "src/billing/refund.ts", detect.Delta{Symbols: []detect.SymbolChange{symbol(id, detect.SignatureChanged, detect.Breaking)}})
	b.changes(shop, y, "src/billing/refund.ts", detect.Delta{Symbols: []detect.SymbolChange{symbol(id, detect.Body, detect.Compatible)}})
	c := w.is(detect.SymbolOverlap, Open)
	i, j := w.f.refOf(x), w.f.refOf(y)
	if want := fmt.Sprintf("%s (jordan, claude_code, feat/partial-refunds) and %s (maya, codex, feat/refunds) both work on 1 symbol(s): %s. "+
		"%s changes the signature of %s; %s modifies it.", i, j, id, i, id, j); c.Sentence != want {
		t.Errorf("%s\nwant %s", c.Sentence, want)
	}
	if want := fmt.Sprintf("Sequence the work: %s rebases after %s merges (conflict_respond will_rebase), split the symbol's work, or coordinate via message_send to %s.", j, i, i); c.Suggestion != want {
		t.Errorf("%s\nwant %s", c.Suggestion, want)
	}
	if c.Confidence != 95 || c.Severity != detect.Warn {
		t.Errorf("confidence %s, %s", c.Confidence, c.Severity)
	}
}

// breaks lets one side change a route that the other calls.
func breaks(a, b *pen, x, y ledger.ID, change detect.Change) {
	const route = "http:POST /v1/refunds"
	a.changes(shop, x, "api/refunds.ts", detect.Delta{Contracts: []detect.ContractChange{{
		Contract: detect.Contract{ID: route, Kind: detect.RouteContract, Path: "api/refunds.ts"}, Change: change, Verdict: detect.Breaking,
	}}})
	b.changes(shop, y, "web/src/api/refunds.ts", detect.Delta{References: []detect.Reference{
		{Kind: detect.Request, Target: route, Sure: true, Path: "web/src/api/refunds.ts", Line: 7},
	}})
}

func TestABrokenContractIsFoundInTheRecordsAndBlocksByCriticality(t *testing.T) { // C4
	for _, level := range []string{"", "high"} {
		p := detect.DefaultPolicy()
		if level != "" {
			p.Criticality = []detect.Criticality{{Contract: "http:POST /v1/**", Level: level}}
		}
		w, a, b, x, y := two(t, p)
		breaks(a, b, x, y, detect.SignatureChanged)
		c := w.is(detect.ContractBreak, Open)
		if !strings.Contains(c.Sentence, "changes the signature of http:POST /v1/refunds (breaking, criticality ") ||
			!strings.HasSuffix(c.Sentence, "adds 1 reference(s) to it in web/src/api/refunds.ts.") {
			t.Error(c.Sentence)
		}
		want := Warn
		if level == "high" {
			want = Block
		}
		w.decides(y, want, "web/src/api/refunds.ts")
		w.decides(y, Allow, "web/src/other.ts")
		w.decides(x, Warn, "api/refunds.ts")
	}
}

func TestAChangedHandlerIsNoBlock(t *testing.T) { // C4
	p := detect.DefaultPolicy()
	p.Criticality = []detect.Criticality{{Contract: "http:POST /v1/**", Level: "frozen"}}
	w, a, b, x, y := two(t, p)
	breaks(a, b, x, y, detect.Body)
	if c := w.is(detect.ContractBreak, Open); c.Blocking || !strings.Contains(c.Sentence, "behavior/response changed") {
		t.Errorf("%+v", c)
	}
	w.decides(y, Warn, "web/src/api/refunds.ts")
}

func TestLinkedRepositoriesAreToldOfBrokenContractsAndNeverBlocked(t *testing.T) { // C6
	p := detect.DefaultPolicy()
	p.Projects = []detect.Project{{Name: "shop", Repos: []string{"acme/shop", "acme/web"}}}
	p.Criticality = []detect.Criticality{{Contract: "http:POST /v1/**", Level: "frozen"}}
	w, a, b, x, _ := two(t, p)
	y := b.say(web, &ledger.Session{State: ledger.SessionLive, Agent: "codex", Checkout: [16]byte{3}, Base: testOID("base")})
	const route = "http:POST /v1/refunds"
	a.changes(shop, x, "api/refunds.ts", detect.Delta{Contracts: []detect.ContractChange{{
		Contract: detect.Contract{ID: route, Kind: detect.RouteContract, Path: "api/refunds.ts"}, Change: detect.Removed, Verdict: detect.Breaking,
	}}})
	b.changes(web, y, "src/refunds.ts", detect.Delta{References: []detect.Reference{{Kind: detect.Request, Target: route, Sure: true, Path: "src/refunds.ts"}}})
	c := w.is(detect.ContractBreak, Open)
	if !strings.HasPrefix(c.Sentence, "Cross-repo: the contract is in acme/shop, the code that uses it in acme/web. ") || c.Blocking || c.Place != shop {
		t.Errorf("%+v", c)
	}
	w.decides(y, Warn, "src/refunds.ts")
	for _, side := range []ledger.ID{x, y} {
		if facts := w.f.Briefing(side).Facts; len(facts) != 1 || facts[0].Conflict != c.ID {
			t.Errorf("briefing %+v", facts)
		}
	}
	b.say(web, &ledger.Act{Conflict: c.ID, Side: y, Action: ledger.ActWillRebase}) // in the ledger of its own repository
	w.is(detect.ContractBreak, Resolving)
	a.edits(x, "src/refunds.ts")
	for _, c := range w.f.Conflicts() {
		if c.Kind == detect.PathOverlap {
			t.Error("paths of two repositories overlap")
		}
	}
}

func TestADependencyThatWillNotComeIsFound(t *testing.T) { // C7
	w, a, b, x, y := two(t)
	on := a.intent(x, "Partial refunds")
	waits := b.depends(y, "Refunds page", on)
	w.none()
	a.closes(on, "Partial refunds", ledger.IntentAbandoned)
	c := w.is(detect.DependencyOrder, Open)
	want := fmt.Sprintf("%s (maya, codex, feat/refunds) depends on %s (jordan, claude_code, feat/partial-refunds), which is abandoned.", w.f.refOf(waits), w.f.refOf(on))
	if c.Sentence != want {
		t.Errorf("%s\nwant %s", c.Sentence, want)
	}
	a.closes(on, "Partial refunds", ledger.IntentMerged)
	w.none()
}

func TestADependencyExpiresWhenNothingIsHeardOfIt(t *testing.T) { // C7
	w, a, b, x, y := two(t)
	on := a.intent(x, "Partial refunds")
	b.depends(y, "Refunds page", on)
	w.wait(ExpiresAfter - minute)
	b.edits(y, "src/a.ts")
	w.none()
	w.wait(minute)
	if c := w.is(detect.DependencyOrder, Open); !strings.HasSuffix(c.Sentence, "which is expired.") {
		t.Error(c.Sentence)
	}
}

func TestIntentsThatWaitForEachOtherAreFound(t *testing.T) { // C7
	w, a, b, x, y := two(t)
	one := a.intent(x, "Partial refunds")
	other := b.depends(y, "Refunds page", one)
	a.say(shop, &ledger.Intent{First: one, Session: x, State: ledger.IntentLive, Task: "Partial refunds", Depends: []ledger.ID{other}})
	if c := w.is(detect.DependencyOrder, Open); !strings.HasPrefix(c.Sentence, "Dependency cycle among 2 participants: INT-") {
		t.Error(c.Sentence)
	}
}

func protecting(owners ...string) *detect.Policy {
	p := detect.DefaultPolicy()
	p.ProtectedPaths = []detect.Protected{{Path: "db/migrations/**", Owners: owners}}
	return p
}

func TestAProtectedPathBlocksWhoIsNoOwner(t *testing.T) { // C8
	w, a, b, x, y := two(t, protecting("user:maya@acme.com"))
	d := w.decides(x, Block, "db/migrations/0042_refunds.sql")
	want := fmt.Sprintf("db/migrations/0042_refunds.sql (edit) by %s (jordan, claude_code, feat/partial-refunds) falls under protected path db/migrations/** "+
		"(owners: user:maya@acme.com); the user is not an owner.", w.f.refOf(x))
	if d.Conflicts[0].Sentence != want {
		t.Errorf("%s\nwant %s", d.Conflicts[0].Sentence, want)
	}
	w.decides(y, Allow, "db/migrations/0042_refunds.sql")
	b.edits(y, "db/migrations/0042_refunds.sql")
	w.none()
	a.edits(x, "db/migrations/0042_refunds.sql")
	if c := w.is(detect.ProtectedPath, Open); c.ID != d.Conflicts[0].ID || c.Evidence != d.Conflicts[0].Evidence || !c.Blocking {
		t.Errorf("after the edit: %+v", c)
	}
}

func TestADeclaredGlobThatMeetsAProtectedOneWarns(t *testing.T) { // C8
	w, a, _, x, _ := two(t, protecting("user:diego@acme.com"))
	a.claims(x, detect.Claim{Kind: detect.PathClaim, Pattern: "db/**", Covers: 3})
	if c := w.is(detect.ProtectedPath, Open); c.Severity != detect.Warn || c.Confidence != 50 || c.Blocking {
		t.Errorf("%+v", c)
	}
}

func TestIgnoredPathsAreSilentAndSeveritiesCanBeLowered(t *testing.T) { // C13
	p := detect.DefaultPolicy()
	p.IgnorePaths = []string{"gen/**"}
	p.Severity[detect.SymbolOverlap] = detect.Info
	w, a, b, x, y := two(t, p)
	a.edits(x, "gen/a.ts")
	b.edits(y, "gen/a.ts")
	w.none()
	id := "sym:ts:src/a.ts#f"
	for _, s := range []struct {
		p  *pen
		id ledger.ID
	}{{a, x}, {b, y}} {
		s.p.changes(shop, s.id, "src/a.ts", detect.Delta{Symbols: []detect.SymbolChange{symbol(id, detect.SignatureChanged, detect.Breaking)}})
	}
	b.changes(shop, y, "src/a.ts", detect.Delta{Symbols: []detect.SymbolChange{symbol(id, detect.Body, detect.Compatible)}})
	if c := w.is(detect.SymbolOverlap, Open); c.Severity != detect.Info {
		t.Errorf("severity %s", c.Severity)
	}
	w.decides(y, Allow, "src/a.ts")
}

func TestChangesOfOneLineAreFoundInTheRecords(t *testing.T) { // C16
	w, a, b, x, y := two(t)
	a.changes(shop, x, "src/a.ts", detect.Delta{}, detect.Hunk{OldStart: 9, OldLen: 2, NewLen: 3, Hash: 1})
	b.changes(shop, y, "src/a.ts", detect.Delta{}, detect.Hunk{OldStart: 20, OldLen: 1, NewLen: 1, Hash: 2})
	for _, c := range w.f.Conflicts() {
		if c.Kind == detect.TextualMerge {
			t.Errorf("found %s", c.Sentence)
		}
	}
	b.say(shop, &ledger.Session{First: y, State: ledger.SessionLive, Agent: "codex", Checkout: [16]byte{9}, Base: testOID("another base")})
	b.changes(shop, y, "src/a.ts", detect.Delta{}, detect.Hunk{OldStart: 10, OldLen: 1, NewLen: 1, Hash: 2})
	if c := w.is(detect.TextualMerge, Open); c.Class != detect.Inferred || c.Blocking {
		t.Errorf("%+v", c)
	}
}

func TestWorkThatIsDoneTwiceIsFoundInTheRecords(t *testing.T) { // C16
	w, a, b, x, y := two(t)
	for _, s := range []struct {
		p  *pen
		id ledger.ID
	}{{a, x}, {b, y}} {
		in := s.p.say(shop, &ledger.Intent{
			Session: s.id, State: ledger.IntentLive, Task: "Partial refunds for orders with several shipments", Issues: []string{"#41"},
		})
		s.p.changes(shop, in, "src/"+in.Short()+".ts", detect.Delta{Symbols: []detect.SymbolChange{
			symbol("sym:ts:src/"+in.Short()+".ts#partialRefund", detect.Added, detect.Compatible),
		}})
	}
	if c := w.is(detect.DuplicateWork, Open); c.Blocking || !strings.Contains(c.Sentence, "#41") {
		t.Errorf("%+v", c)
	}
}

func TestAnAgentAndAPushedBranchOverlap(t *testing.T) { // C1
	w, a, b, x, _ := two(t)
	name := "feat/pushed"
	branch := b.say(shop, &ledger.Branch{Name: name, Head: testOID("h"), Base: testOID("base"), Author: 'd', Subjects: "Pushed work"})
	side := ledger.BranchSide(shop.Host, shop.Repo, name)
	b.edits(side, "src/a.ts")
	a.edits(x, "src/a.ts")
	c := w.is(detect.PathOverlap, Open)
	if c.Sides[0].Ref != name || c.Sides[0].ID != side || c.Sides[1].ID != x || c.Sides[0].ID == branch {
		t.Errorf("sides %+v", c.Sides)
	}
	stranger := w.computer("eve", 1)
	stranger.undoes(side, "src/a.ts") // not who published it
	w.is(detect.PathOverlap, Open)
	b.say(shop, &ledger.Branch{Name: name, Head: testOID("h"), Base: testOID("base"), Gone: true})
	w.none()
}

func TestABranchIsNoConflictWithTheCheckoutThatItIsPushedFrom(t *testing.T) { // C1
	w, a, _, x, _ := two(t)
	a.say(shop, &ledger.Branch{Name: "feat/partial-refunds", Head: testOID("h"), Base: testOID("base")})
	a.edits(ledger.BranchSide(shop.Host, shop.Repo, "feat/partial-refunds"), "src/a.ts")
	a.edits(x, "src/a.ts")
	w.none()
}
