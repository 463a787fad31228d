package detect

import (
	"slices"
	"strings"
	"testing"
)

// none wants no finding of a kind.
func none(t *testing.T, r Report, k Kind) {
	t.Helper()
	for _, f := range r.Findings {
		if f.Kind == k {
			t.Errorf("found %+v", f)
		}
	}
}

func changed(how Change, id string) SymbolChange {
	return SymbolChange{Symbol: Symbol{ID: id, SignatureHash: 1, BodyHash: uint64(how)}, Change: how}
}

func TestAPathMatchIsAsSureAsItIsSpecific(t *testing.T) { // C2
	claim := func(p string) []Claim { return []Claim{{Kind: PathClaim, Pattern: p, Covers: -1}} }
	file := func(p string) []File { return []File{edited(p, "1")} }
	for _, c := range []struct {
		name           string
		filesA, filesB []File
		claimA, claimB []Claim
		want           Confidence
		about          string
		evidence       Evidence
	}{
		{"both edit", file("a/b.ts"), []File{edited("a/b.ts", "2")}, nil, nil, 90, "a/b.ts", Observed},
		{"edited and named", file("a/b.ts"), nil, nil, claim("a/b.ts"), 80, "a/b.ts", Declared},
		{"both name", nil, nil, claim("a/b.ts"), claim("a/b.ts"), 70, "a/b.ts", Declared},
		{"edited and covered", nil, file("a/b.ts"), claim("a/**"), nil, 60, "a/b.ts", Declared},
		{"named and covered", nil, nil, claim("a/b.ts"), claim("a/*.ts"), 50, "a/b.ts", Declared},
		{"one glob twice", nil, nil, claim("a/**"), claim("a/**"), 50, "a/**", Declared},
		{"glob within glob", nil, nil, claim("a/**"), claim("a/*.ts"), 40, "a/*.ts", Declared},
		{"globs overlap", nil, nil, claim("a/**/x.ts"), claim("**/b/*"), 30, "**/b/* & a/**/x.ts", Declared},
	} {
		a, b := jordan(), maya()
		a.Files, b.Files, a.Claims, b.Claims = c.filesA, c.filesB, c.claimA, c.claimB
		f := the(t, find(t, DefaultPolicy(), a, b), PathOverlap)
		if f.Confidence != c.want || f.About[0] != c.about || f.Evidence != c.evidence {
			t.Errorf("%s: %s %v %s, want %s %s %s", c.name, f.Confidence, f.About, f.Evidence, c.want, c.about, c.evidence)
		}
	}
}

func TestWhatIsTheSameOnBothSidesIsNoOverlap(t *testing.T) {
	a, b := jordan(), maya()
	a.Files, b.Files = []File{edited(refundTS, "same")}, []File{edited(refundTS, "same")}
	a.Symbols, b.Symbols = []SymbolChange{changed(Body, issueID)}, []SymbolChange{changed(Body, issueID)}
	if r := find(t, DefaultPolicy(), a, b); len(r.Findings) > 0 {
		t.Errorf("%+v", r.Findings)
	}
	b.Grammars = "other" // hashes of other grammars say nothing
	the(t, find(t, DefaultPolicy(), a, b), SymbolOverlap)
}

func TestPathsMeetAsTheCoarserDiskHasIt(t *testing.T) {
	a, b := jordan(), maya()
	a.Files, b.Files = []File{edited("src/Refund.ts", "1")}, []File{edited("src/refund.ts", "2")}
	none(t, find(t, DefaultPolicy(), a, b), PathOverlap)
	b.Side.Folds = true
	the(t, find(t, DefaultPolicy(), a, b), PathOverlap)
}

func TestOnlyAnEditThatIsAboutToHappenIsBlocked(t *testing.T) { // C2, C9
	exclusive := func() (*Digest, *Digest) {
		a, b := jordan(), maya()
		a.Claims = []Claim{{Kind: PathClaim, Pattern: "db/**", Exclusive: true, Covers: 3, Since: 5}}
		b.Upcoming = []Upcoming{{"db/x.sql", Modify}}
		return a, b
	}
	a, b := exclusive()
	is(t, the(t, find(t, DefaultPolicy(), a, b), PathOverlap), Block, 90, Declared, "INT-14")

	a, b = exclusive()
	a.Claims[0].Covers = 21
	none(t, find(t, DefaultPolicy(), a, b), PathOverlap)

	a, b = exclusive()
	a.Claims[0].Covers = -1
	if r := find(t, DefaultPolicy(), a, b); len(r.Findings) > 0 || len(r.Doubts) != 1 {
		t.Errorf("a claim of unknown size: %+v", r)
	}

	a, b = exclusive()
	a.Claims[0].Exclusive = false
	none(t, find(t, DefaultPolicy(), a, b), PathOverlap)

	a, b = exclusive()
	b.Claims = []Claim{{Kind: PathClaim, Pattern: "db/x.sql", Exclusive: true, Covers: 1, Since: 4}}
	for _, f := range find(t, DefaultPolicy(), a, b).Findings {
		if f.Blocking {
			t.Errorf("the one that claimed first was blocked: %+v", f)
		}
	}
}

func TestOfTwoExclusiveClaimsOfOneTimeOneHolds(t *testing.T) { // C2: two that claim at once settle to one holder
	a, b := jordan(), maya()
	for _, d := range []*Digest{a, b} {
		d.Claims = []Claim{{Kind: PathClaim, Pattern: "db/**", Exclusive: true, Covers: 3, Since: 5}}
		d.Upcoming = []Upcoming{{"db/x.sql", Modify}}
	}
	var waits []string
	for _, sides := range [][2]*Digest{{a, b}, {b, a}} {
		for _, f := range find(t, DefaultPolicy(), sides[0], sides[1]).Findings {
			if f.Exclusive {
				waits = append(waits, f.Blocked)
			}
		}
	}
	if !slices.Equal(waits, []string{"INT-14", "INT-14"}) {
		t.Errorf("wait for each other: %v", waits)
	}
}

func TestAClaimBlocksNobodyWhoWasThereBefore(t *testing.T) { // C9: only the newcomer is blocked
	a, b := jordan(), maya()
	b.Claims = []Claim{{Kind: PathClaim, Pattern: "db/**", Exclusive: true, Covers: 3, Since: 5}}
	a.Upcoming = []Upcoming{{"db/x.sql", Modify}}
	a.Files = []File{edited("db/x.sql", "1")}
	for since, want := range map[uint64]Severity{4: Warn, 6: Block} {
		a.Files[0].Since = since
		for _, f := range find(t, DefaultPolicy(), a, b).Findings {
			if f.Exclusive && (f.Severity != want || f.Blocking != (want == Block)) {
				t.Errorf("touched at %d: %+v, want %s", since, f, want)
			}
		}
	}
	a.Files, a.Claims = nil, []Claim{{Kind: PathClaim, Pattern: "db/*.sql", Covers: 3, Since: 4}}
	for _, f := range find(t, DefaultPolicy(), a, b).Findings {
		if f.Blocking {
			t.Errorf("claimed before, without being exclusive: %+v", f)
		}
	}
}

func TestWhoTouchedAnExclusivePathFirstHoldsIt(t *testing.T) { // C2
	p := DefaultPolicy()
	p.ExclusiveByDefault = []string{"db/schema.prisma"}
	a, b := jordan(), maya()
	a.Files = []File{edited("db/schema.prisma", "1")}
	a.Files[0].Since = 9
	b.Upcoming = []Upcoming{{"db/schema.prisma", Modify}}
	f := the(t, find(t, p, a, b), PathOverlap)
	is(t, f, Block, 90, Observed, "INT-14")
	says(t, f, "INT-12 (jordan, …) holds an exclusive claim on db/schema.prisma covering db/schema.prisma; INT-14 (maya, …) is about to edit it.", "")
	b.Files = []File{edited("db/schema.prisma", "2")}
	b.Files[0].Since = 8
	for _, f := range find(t, p, a, b).Findings {
		if f.Blocking {
			t.Errorf("the first toucher was blocked: %+v", f)
		}
	}
}

func TestASymbolOverlapIsAsSureAsItIsGrave(t *testing.T) { // C3
	const member, class = "sym:ts:a.ts#A.m", "sym:ts:a.ts#A"
	inClass := changed(Body, member)
	inClass.Symbol.Container = class
	test := changed(Removed, issueID)
	test.Symbol.Test = true
	for _, c := range []struct {
		name string
		x, y SymbolChange
		want Confidence
	}{
		{"removal and edit", changed(Removed, issueID), changed(Body, issueID), 95},
		{"signature and edit", changed(Body, issueID), changed(SignatureChanged, issueID), 95},
		{"both add", changed(Added, issueID), SymbolChange{Symbol: Symbol{ID: issueID, BodyHash: 9}, Change: Added}, 85},
		{"two edits", changed(Body, issueID), SymbolChange{Symbol: Symbol{ID: issueID, BodyHash: 9}, Change: Body}, 75},
		{"through the class", inClass, changed(Body, class), 45},
		{"in a test", test, changed(Body, issueID), 57},
	} {
		a, b := jordan(), maya()
		a.Files, b.Files = []File{edited(refundTS, "1"), edited("a.ts", "1")}, []File{edited(refundTS, "2"), edited("a.ts", "2")}
		a.Symbols, b.Symbols = []SymbolChange{c.x}, []SymbolChange{c.y}
		if f := the(t, find(t, DefaultPolicy(), a, b), SymbolOverlap); f.Confidence != c.want {
			t.Errorf("%s: %s, want %s", c.name, f.Confidence, c.want)
		}
	}
}

func TestAParseWithErrorsShowsNoRemovalAndNoBreak(t *testing.T) {
	for _, q := range []Quality{Unread, Recovered, Failed, TimedOut} {
		a, b := jordan(), maya()
		a.Files, b.Files = []File{edited(refundTS, "1")}, []File{edited("web/a.ts", "2")}
		a.Files[0].Quality = q
		gone := changed(Removed, issueID)
		gone.Symbol.Exported, gone.Verdict = true, Breaking
		a.Symbols = []SymbolChange{gone}
		b.References = []Reference{{Kind: Import, Target: issueID, Sure: true, Path: "web/a.ts"}}
		if r := find(t, DefaultPolicy(), a, b); len(r.Findings) > 0 || len(r.Doubts) == 0 {
			t.Errorf("quality %d, removed: %+v", q, r)
		}
		a.Symbols[0].Change = SignatureChanged
		none(t, find(t, DefaultPolicy(), a, b), ContractBreak)
	}
}

func TestAFileThatOneSideCouldNotReadIsDoubted(t *testing.T) {
	for _, q := range []Quality{Clean, Recovered, Failed, TimedOut} {
		a, b := jordan(), maya()
		a.Files, b.Files = []File{edited(refundTS, "1")}, []File{edited(refundTS, "2"), edited(typesTS, "2")}
		a.Files[0].Quality, b.Files[1].Quality = q, q
		r := find(t, DefaultPolicy(), a, b)
		if doubted := len(r.Doubts) == 1 && strings.Contains(r.Doubts[0].Why, "symbols of "+refundTS+":"); doubted != (q >= Failed) {
			t.Errorf("quality %d: %+v", q, r.Doubts)
		}
	}
}

func TestAContractBreaksForThoseWhoUseIt(t *testing.T) { // C4
	broken := func(ref Reference) (a, b *Digest) {
		a, b = jordan(), maya()
		a.Files = []File{edited(refundTS, "1")}
		c := changed(SignatureChanged, issueID)
		c.Symbol.Exported, c.Symbol.Package, c.Verdict = true, "pkg:npm:@acme/billing#issueRefund", Breaking
		a.Symbols = []SymbolChange{c}
		ref.Path = "web/a.ts"
		b.Files, b.References = []File{edited("web/a.ts", "2")}, []Reference{ref}
		return a, b
	}
	a, b := broken(Reference{Kind: Import, Target: issueID, Sure: true})
	is(t, the(t, find(t, DefaultPolicy(), a, b), ContractBreak), Warn, 90, Observed, "")
	a, b = broken(Reference{Kind: Import, Target: issueID})
	is(t, the(t, find(t, DefaultPolicy(), a, b), ContractBreak), Warn, 90, Observed, "")
	a, b = broken(Reference{Kind: Call, Target: issueID})
	is(t, the(t, find(t, DefaultPolicy(), a, b), ContractBreak), Warn, 70, Observed, "")
	a, b = broken(Reference{Kind: Import, Target: "pkg:npm:@acme/billing#issueRefund", Sure: true})
	is(t, the(t, find(t, DefaultPolicy(), a, b), ContractBreak), Warn, 90, Observed, "")

	a, b = broken(Reference{Kind: Import, Target: issueID, Sure: true})
	a.Symbols[0].Verdict = Compatible
	none(t, find(t, DefaultPolicy(), a, b), ContractBreak)
	a.Symbols[0].Verdict = CannotTell
	f := the(t, find(t, DefaultPolicy(), a, b), ContractBreak)
	is(t, f, Info, 50, Inferred, "")
	if !strings.Contains(f.Sentence, "cannot tell") {
		t.Error(f.Sentence)
	}
	a.Symbols[0].Verdict, a.Symbols[0].Symbol.Exported = Breaking, false // no longer exported, or used in its own file
	is(t, the(t, find(t, DefaultPolicy(), a, b), ContractBreak), Warn, 90, Observed, "")
	b.References, b.Claims = nil, []Claim{{Kind: SymbolClaim, Pattern: issueID}}
	none(t, find(t, DefaultPolicy(), a, b), ContractBreak)

	a, b = broken(Reference{Kind: Import, Target: "sym:ts:other.ts#x", Sure: true})
	none(t, find(t, DefaultPolicy(), a, b), ContractBreak)
	b.Claims = []Claim{{Kind: ContractClaim, Pattern: issueID}}
	f = the(t, find(t, DefaultPolicy(), a, b), ContractBreak)
	is(t, f, Warn, 60, Declared, "")
	if !strings.HasSuffix(f.Sentence, "INT-14 (maya, codex, feat/refunds) claims it.") {
		t.Error(f.Sentence)
	}
}

func TestCallsFitAVariadicParameterAtTheEnd(t *testing.T) { // C4
	for _, c := range []struct {
		kind   ReferenceKind
		inside string
		why    []string
		found  bool
	}{
		{Call, "", []string{VariadicAdded}, false},
		{TypeUse, "", []string{VariadicAdded}, true},
		{Call, "", []string{VariadicAdded, "result changed"}, true},
		{Call, "sym:go:a.go#I", []string{VariadicAdded}, true}, // who implements I has to follow
	} {
		a, b := jordan(), maya()
		change := changed(SignatureChanged, "sym:go:a.go#F")
		change.Symbol.Exported, change.Symbol.Container, change.Verdict, change.Why = true, c.inside, Breaking, c.why
		a.Files, a.Symbols = []File{edited("a.go", "1")}, []SymbolChange{change}
		b.Files, b.References = []File{edited("b.go", "2")}, []Reference{{Kind: c.kind, Target: "sym:go:a.go#F", Sure: true, Path: "b.go"}}
		if r := find(t, DefaultPolicy(), a, b); len(r.Findings) > 0 != c.found {
			t.Errorf("%+v: %+v", c, r.Findings)
		}
	}
}

func TestACriticalContractBlocks(t *testing.T) { // C4, C9
	a, b := brokenRoute()
	p := DefaultPolicy()
	p.Criticality = []Criticality{{Contract: "http:POST /v1/**", Level: "high"}}
	f := the(t, find(t, p, a, b), ContractBreak)
	is(t, f, Block, 90, Observed, "INT-14")
	if !strings.Contains(f.Sentence, "(breaking, criticality high)") {
		t.Error(f.Sentence)
	}
	b.References[0].Tail = true // less sure than block_min_confidence
	is(t, the(t, find(t, p, a, b), ContractBreak), Warn, 70, Observed, "")
}

func TestRoutesMeetWhateverTheirParametersAreCalled(t *testing.T) { // C4
	for _, c := range []struct {
		route, request string
		tail, want     bool
	}{
		{"http:GET /v1/refunds/{}", "http:GET /v1/refunds/{}", false, true},
		{"http:GET /v1/refunds/{}", "http:GET /v1/refunds/42", false, true},
		{"http:GET /v1/refunds/", "http:GET /v1/refunds", false, true},
		{"http:GET /v1/refunds", "http:POST /v1/refunds", false, false},
		{"http:GET /v1/refunds", "http:* /v1/refunds", false, true},
		{"http:GET /api/v1/refunds", "http:GET /v1/refunds", true, true},
		{"http:GET /api/v1/refunds", "http:GET /v1/refunds", false, false},
		{"http:GET /v1/refunds/{}/lines", "http:GET /v1/refunds/{}", false, false},
	} {
		if got := sameRoute(c.route, c.request, c.tail); got != c.want {
			t.Errorf("%s and %s: %t", c.route, c.request, got)
		}
	}
}

func TestABreakOutlivesTheMergeForTheDependentSide(t *testing.T) { // C10
	a, b := brokenRoute()
	a.Side.State = Merged
	a.Side.Checkout, b.Side.Checkout = "one", "two"
	the(t, find(t, DefaultPolicy(), a, b), ContractBreak)
	b.Side.Checkout = "one"
	none(t, find(t, DefaultPolicy(), a, b), ContractBreak)
	a.Side.State = Abandoned
	b.Side.Checkout = "two"
	none(t, find(t, DefaultPolicy(), a, b), ContractBreak)
}

func TestARenameInOrOutOfProtectedGroundIsSeen(t *testing.T) { // C8
	for _, f := range []File{
		{Path: "db/migrations/1.sql", From: "x/1.sql", Op: Rename, Blob: "1"},
		{Path: "x/1.sql", From: "db/migrations/1.sql", Op: Rename, Blob: "1"},
		{Path: "db/migrations/1.sql", Op: Delete},
	} {
		b := maya()
		b.Files = []File{f}
		p := guarded()
		p.IgnorePaths = []string{"**"} // ignoring opens no gate
		is(t, the(t, find(t, p, b), ProtectedPath), Block, 100, Observed, "INT-14")
	}
	b := maya()
	b.Files = []File{{Path: "DB/Migrations/1.sql", Op: Add, Blob: "1"}}
	none(t, find(t, guarded(), b), ProtectedPath)
	b.Side.Folds = true
	the(t, find(t, guarded(), b), ProtectedPath)
	b.Side.User = ""
	the(t, find(t, guarded(), b), ProtectedPath)
}

func TestThePolicyIsItsOwnProtectedPath(t *testing.T) { // D-25
	p := DefaultPolicy()
	b := maya()
	b.Upcoming = []Upcoming{{PolicyPath, Modify}}
	p.Members = []Member{{"user:ann@acme.com", "owner"}, {"user:maya@acme.com", "member"}}
	f := the(t, find(t, p, b), ProtectedPath)
	if !strings.Contains(f.Sentence, "(owners: user:ann@acme.com)") {
		t.Error(f.Sentence)
	}
	p.Members[1].Role = "admin"
	none(t, find(t, p, b), ProtectedPath)
	// Without members those who own what it protects keep it, so that nobody takes their paths out of it.
	f = the(t, find(t, guarded(), b), ProtectedPath)
	if !strings.Contains(f.Sentence, "(owners: user:diego@acme.com)") {
		t.Error(f.Sentence)
	}
	none(t, find(t, DefaultPolicy(), b), ProtectedPath)
}

func TestBlockingNeedsMoreThanAGuess(t *testing.T) { // C9
	a, b := jordan(), maya()
	a.Files = []File{edited(refundTS, "1", Hunk{OldStart: 3, OldLen: 2, NewLen: 1, Hash: 1})}
	b.Files = []File{edited(refundTS, "2", Hunk{OldStart: 4, OldLen: 1, NewLen: 1, Hash: 2})}
	p := DefaultPolicy()
	p.Severity[TextualMerge], p.Severity[SymbolOverlap], p.Severity[PathOverlap] = Block, Block, Block
	r := find(t, p, a, b)
	is(t, the(t, r, TextualMerge), Warn, 90, Inferred, "")
	is(t, the(t, r, PathOverlap), Block, 90, Observed, "INT-14")
	p.BlockMinConfidence = 91
	is(t, the(t, find(t, p, a, b), PathOverlap), Warn, 90, Observed, "")
}

func TestAPolicyMayOnlyLetBlockWhatCanBlock(t *testing.T) { // C9
	overlap := func() (a, b *Digest) {
		a, b = textual()
		a.Symbols = []SymbolChange{{Symbol: Symbol{ID: issueID, SignatureHash: 1}, Change: SignatureChanged, Verdict: Breaking}}
		b.Symbols = []SymbolChange{changed(Body, issueID)}
		b.DependsOn = []string{"INT-12"}
		b.Files = append(b.Files, edited("db/migrations/1.sql", "2"))
		return a, b
	}
	for _, k := range Kinds {
		p := guarded()
		p.Severity[k] = Block
		faults := p.Validate()
		if refused := len(faults) > 0; refused || k == DuplicateWork {
			if !refused || k != DuplicateWork || faults[0].Key != "severity.duplicate_work" {
				t.Errorf("%s: %v", k, faults)
			}
			continue
		}
		a, b := overlap()
		if k == ContractBreak {
			a, b = brokenRoute()
		}
		if k == DependencyOrder {
			a.Side.State = Abandoned
		}
		a.Normalize()
		b.Normalize()
		rules := mustRules(t, p)
		parties := []*Party{rules.Party(a), rules.Party(b)}
		r := Together(parties)
		r.Add(Alone(parties[1]))
		r.Add(Meet(parties[0], parties[1], Meeting{Base: "b1", Git: &Merge{Outcome: Conflicts, Conflicts: []GitConflict{{Path: refundTS}}}}))
		if f := the(t, r, k); !f.Blocking {
			t.Errorf("%s is to block, and does not: %+v", k, f)
		}
	}
}

func TestSeveritiesCanBeLoweredAndPathsIgnored(t *testing.T) { // C13
	a, b := jordan(), maya()
	a.Files, b.Files = []File{edited("x.lock", "1")}, []File{edited("x.lock", "2")}
	p := DefaultPolicy()
	p.IgnorePaths = []string{"*.lock"}
	if r := find(t, p, a, b); len(r.Findings) > 0 {
		t.Errorf("%+v", r.Findings)
	}
}

func TestTheOrderOfDependenciesIsJudgedWhole(t *testing.T) { // C7
	three := func(ref string, on ...string) *Digest {
		d := jordan()
		d.Side.Ref, d.DependsOn = ref, on
		return d
	}
	r := find(t, DefaultPolicy(), three("INT-10", "INT-9"), three("INT-9", "INT-2"), three("INT-2", "INT-10"), three("INT-1", "INT-2"))
	f := the(t, r, DependencyOrder)
	if !strings.HasPrefix(f.Sentence, "Dependency cycle among 3 participants: INT-2 → INT-10 → INT-9.") {
		t.Error(f.Sentence)
	}
	if r := find(t, DefaultPolicy(), three("INT-1", "INT-7")); len(r.Findings) > 0 || len(r.Doubts) != 1 {
		t.Errorf("%+v", r)
	}
	merged := three("INT-9", "INT-10")
	merged.Side.State = Merged
	none(t, find(t, DefaultPolicy(), three("INT-10", "INT-9"), merged), DependencyOrder)
}

func TestReportsAreInOrderWhateverTheOrderOfTheSides(t *testing.T) {
	a, b := brokenRoute()
	a.Files = append(a.Files, edited("z.ts", "1"))
	b.Files = append(b.Files, edited("z.ts", "2"))
	c := jordan()
	c.Side.Ref, c.Files = "INT-2", []File{edited("z.ts", "3")}
	one := find(t, DefaultPolicy(), a, b, c)
	two := find(t, DefaultPolicy(), c, b, a)
	if !slices.EqualFunc(one.Findings, two.Findings, func(x, y Finding) bool { return x.Sentence == y.Sentence && x.Key() == y.Key() }) {
		t.Errorf("%+v\n%+v", one, two)
	}
}
