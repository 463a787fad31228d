package detect

import (
	"slices"
	"strings"
	"testing"
)

const (
	refundTS  = "src/billing/refund.ts"
	typesTS   = "src/billing/types.ts"
	issueID   = "sym:ts:src/billing/refund.ts#issueRefund"
	refunds   = "http:POST /v1/refunds"
	refundsTS = "web/src/api/refunds.ts"
)

// jordan and maya are the two sides of the owner's examples. Jordan was first.
func jordan() *Digest {
	return &Digest{Base: "b1", Grammars: "g", Side: Side{
		Ref: "INT-12", Kind: Intent, User: "jordan@acme.com", Name: "jordan", Agent: "claude_code",
		Branch: "feat/partial-refunds", Repo: "acme/shop", Arrived: 1,
	}}
}

func maya() *Digest {
	return &Digest{Base: "b1", Grammars: "g", Side: Side{
		Ref: "INT-14", Kind: Intent, User: "maya@acme.com", Name: "maya", Agent: "codex",
		Branch: "feat/refunds", Repo: "acme/shop", Arrived: 2,
	}}
}

// edited is a file that a side changed at the given lines.
func edited(path, blob string, hunks ...Hunk) File {
	return File{
		Path: path, Op: Modify, BaseBlob: "old", Blob: blob, BaseMode: 0o100644, Mode: 0o100644,
		Hunks: hunks, Quality: Clean,
	}
}

func mustRules(t testing.TB, p *Policy) *Rules {
	t.Helper()
	r, err := NewRules(p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// find runs every detector.
func find(t testing.TB, p *Policy, digests ...*Digest) Report {
	t.Helper()
	r := mustRules(t, p)
	var parties []*Party
	for _, d := range digests {
		d.Normalize()
		parties = append(parties, r.Party(d))
	}
	return All(parties)
}

// the is the one finding of a kind.
func the(t testing.TB, r Report, k Kind) Finding {
	t.Helper()
	var found []Finding
	for _, f := range r.Findings {
		if f.Kind == k {
			found = append(found, f)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d findings of kind %s, want 1: %+v", len(found), k, r)
	}
	return found[0]
}

// says compares a finding's words with the owner's. Where those write (jordan, …) the rest of the brackets is left
// out.
func says(t *testing.T, f Finding, sentence, suggestion string) {
	t.Helper()
	got := f.Sentence
	if strings.Contains(sentence, ", …)") {
		got = strings.NewReplacer("(jordan, claude_code, feat/partial-refunds)", "(jordan, …)", "(maya, codex, feat/refunds)", "(maya, …)").Replace(got)
	}
	if got != sentence {
		t.Errorf("sentence\n%s\nwant\n%s", got, sentence)
	}
	if suggestion != "" && f.Suggestion != suggestion {
		t.Errorf("suggestion\n%s\nwant\n%s", f.Suggestion, suggestion)
	}
}

// is compares what else a finding is.
func is(t *testing.T, f Finding, s Severity, c Confidence, e Evidence, blocked string) {
	t.Helper()
	if f.Severity != s || f.Confidence != c || f.Evidence != e || f.Blocked != blocked || f.Blocking != (blocked != "") {
		t.Errorf("%s, %s, %s, blocks %q; want %s, %s, %s, %q", f.Severity, f.Confidence, f.Evidence, f.Blocked, s, c, e, blocked)
	}
}

func TestPathOverlapInTheOwnersWords(t *testing.T) { // C2
	a, b := jordan(), maya()
	a.Files = []File{edited(refundTS, "1"), edited(typesTS, "1"), edited("a.ts", "1")}
	b.Files = []File{edited(refundTS, "2"), edited(typesTS, "2"), edited("b.ts", "2")}
	f := the(t, find(t, DefaultPolicy(), b, a), PathOverlap)
	says(t, f, "INT-12 (jordan, claude_code, feat/partial-refunds) and INT-14 (maya, codex, feat/refunds) overlap on 2 path(s): "+
		"src/billing/refund.ts, src/billing/types.ts.",
		"Narrow scope to avoid the shared paths, or coordinate via message_send between INT-12 and INT-14; if both must change them, "+
			"agree on an order (conflict_respond propose_sequence).")
	is(t, f, Info, 90, Observed, "")
}

func TestAnExclusiveClaimBlocksInTheOwnersWords(t *testing.T) { // C2
	a, b := jordan(), maya()
	a.Claims = []Claim{{Kind: PathClaim, Pattern: "db/schema.prisma", Exclusive: true, Covers: 1, Since: 1}}
	b.Upcoming = []Upcoming{{"db/schema.prisma", Modify}}
	f := the(t, find(t, DefaultPolicy(), a, b), PathOverlap)
	says(t, f, "INT-12 (jordan, …) holds an exclusive claim on db/schema.prisma covering db/schema.prisma; INT-14 (maya, …) is about to edit it.", "")
	is(t, f, Block, 90, Declared, "INT-14")
}

func TestSymbolOverlapInTheOwnersWords(t *testing.T) { // C3
	a, b := jordan(), maya()
	a.Files, b.Files = []File{edited(refundTS, "1")}, []File{edited(refundTS, "2")}
	a.Symbols = []SymbolChange{{Symbol: Symbol{ID: issueID, SignatureHash: 1}, Change: SignatureChanged, Verdict: Breaking}}
	b.Symbols = []SymbolChange{{Symbol: Symbol{ID: issueID, BodyHash: 2}, Change: Body}}
	f := the(t, find(t, DefaultPolicy(), a, b), SymbolOverlap)
	says(t, f, "INT-12 (jordan, claude_code, feat/partial-refunds) and INT-14 (maya, codex, feat/refunds) both work on 1 symbol(s): "+
		"sym:ts:src/billing/refund.ts#issueRefund. INT-12 changes the signature of sym:ts:src/billing/refund.ts#issueRefund; INT-14 modifies it.",
		"Sequence the work: INT-14 rebases after INT-12 merges (conflict_respond will_rebase), split the symbol's work, "+
			"or coordinate via message_send to INT-12.")
	is(t, f, Warn, 95, Observed, "")
}

// brokenRoute is the owner's example of a contract break.
func brokenRoute() (a, b *Digest) {
	a, b = jordan(), maya()
	a.Files = []File{edited("src/routes.ts", "1")}
	a.Contracts = []ContractChange{{
		Contract: Contract{ID: refunds, Kind: RouteContract, Path: "src/routes.ts"}, Change: SignatureChanged, Verdict: Breaking,
	}}
	b.Files = []File{edited(refundsTS, "2")}
	b.References = []Reference{{Kind: Request, Target: refunds, Sure: true, Path: refundsTS, Line: 7}}
	return a, b
}

func TestContractBreakInTheOwnersWords(t *testing.T) { // C4
	a, b := brokenRoute()
	f := the(t, find(t, DefaultPolicy(), a, b), ContractBreak)
	says(t, f, "INT-12 (jordan, claude_code, feat/partial-refunds) changes the signature of http:POST /v1/refunds "+
		"(breaking, criticality normal); INT-14 (maya, codex, feat/refunds) adds 1 reference(s) to it in web/src/api/refunds.ts.",
		"INT-14 can build against the new signature and declare the dependency (intent_update depends_on_add INT-12), "+
			"or ask jordan to keep a compatible shim until it merges (message_send).")
	is(t, f, Warn, 90, Observed, "")
}

func TestChangedBehaviourIsSaidAndNeverBlocks(t *testing.T) { // C4
	a, b := brokenRoute()
	a.Contracts[0].Change, a.Contracts[0].Verdict = Body, Compatible
	p := DefaultPolicy()
	p.Severity[ContractBreak] = Block
	f := the(t, find(t, p, a, b), ContractBreak)
	if !strings.Contains(f.Sentence, "behavior/response changed") {
		t.Error(f.Sentence)
	}
	is(t, f, Warn, 60, Observed, "")
}

func TestContractBreakAcrossRepositoriesHasTheOwnersPrefix(t *testing.T) { // C6
	a, b := brokenRoute()
	b.Side.Repo = "acme/web"
	p := DefaultPolicy()
	p.Severity[ContractBreak] = Block
	if r := find(t, p, a, b); len(r.Findings) > 0 {
		t.Errorf("repositories that are not linked: %+v", r.Findings)
	}
	p.Projects = []Project{{Name: "shop", Repos: []string{"acme/shop", "acme/web"}}}
	f := the(t, find(t, p, a, b), ContractBreak)
	const prefix = "Cross-repo: the contract is in acme/shop, the code that uses it in acme/web. "
	rest, ok := strings.CutPrefix(f.Sentence, prefix)
	if !ok || !strings.HasPrefix(rest, "INT-12 (jordan") {
		t.Errorf("%s, want the prefix %s", f.Sentence, prefix)
	}
	is(t, f, Warn, 90, Observed, "")
	p.CrossRepoContracts = false
	if r := find(t, p, a, b); len(r.Findings) > 0 {
		t.Errorf("found although cross_repo_contracts is off: %+v", r.Findings)
	}
}

func TestDependencyOrderInTheOwnersWords(t *testing.T) { // C7
	for state, word := range map[State]string{Abandoned: "abandoned", Expired: "expired"} {
		a, b := jordan(), maya()
		a.Side.State, b.DependsOn = state, []string{"INT-12"}
		f := the(t, find(t, DefaultPolicy(), a, b), DependencyOrder)
		says(t, f, "INT-14 (maya, …) depends on INT-12 (jordan, …), which is "+word+".",
			"Remove the dependency (intent_update depends_on_remove INT-12) or take over the work it was meant to deliver.")
		is(t, f, Warn, 100, Declared, "")
	}
	a, b := jordan(), maya()
	a.DependsOn, b.DependsOn = []string{"INT-14"}, []string{"INT-12"}
	f := the(t, find(t, DefaultPolicy(), b, a), DependencyOrder)
	says(t, f, "Dependency cycle among 2 participants: INT-12 → INT-14. None of them can merge first.", "")
}

// guarded is the owner's example of a protected path.
func guarded() *Policy {
	p := DefaultPolicy()
	p.ProtectedPaths = []Protected{{Path: "db/migrations/**", Owners: []string{"user:diego@acme.com"}}}
	return p
}

func TestProtectedPathInTheOwnersWords(t *testing.T) { // C8
	b := maya()
	b.Files = []File{{Path: "db/migrations/0042_refunds.sql", Op: Add, Blob: "1", Mode: 0o100644}}
	f := the(t, find(t, guarded(), b), ProtectedPath)
	says(t, f, "db/migrations/0042_refunds.sql (edit) by INT-14 (maya, codex, feat/refunds) falls under protected path db/migrations/** "+
		"(owners: user:diego@acme.com); the user is not an owner.",
		"Ask an owner (user:diego@acme.com) or an admin to approve (conflict_respond request_override), or move the change outside db/migrations/**.")
	is(t, f, Block, 100, Observed, "INT-14")
	b.Side.User = "Diego@acme.com"
	if r := find(t, guarded(), b); len(r.Findings) > 0 {
		t.Errorf("an owner was stopped: %+v", r.Findings)
	}
	b = maya()
	b.Claims = []Claim{{Kind: PathClaim, Pattern: "db/**", Covers: -1}}
	is(t, the(t, find(t, guarded(), b), ProtectedPath), Warn, 50, Declared, "")
}

func TestOwnersAreUsersAlone(t *testing.T) { // C8
	p := guarded()
	for _, owner := range []string{"team:billing", "diego@acme.com", "user:diego", "user:", "user:a b@c", "*"} {
		p.ProtectedPaths[0].Owners[0] = owner
		if _, err := NewRules(p); err == nil {
			t.Errorf("owner %q was taken", owner)
		}
	}
}

func TestEveryFindingNamesWhatItWasComputedFrom(t *testing.T) {
	a, b := brokenRoute()
	f := the(t, find(t, DefaultPolicy(), a, b), ContractBreak)
	want := []Source{{"INT-12", "b1", "src/routes.ts", "old", "1"}, {"INT-14", "b1", refundsTS, "old", "2"}}
	if !slices.Equal(f.From, want) {
		t.Errorf("%+v, want %+v", f.From, want)
	}
}
