package ledger

import (
	"slices"
	"strings"
	"testing"
)

var sampleScope = Scope{Host: "github.com", Repo: 123456789, Period: 2917}

// workHeader is that of a chain's first record with scope, of a later one without.
func workHeader(first bool) Header {
	h := Header{Ledger: sampleScope.Ledger(), Inc: Incarnation{1}, Lam: 5, At: 1764500000000}
	if first {
		h.Scope = sampleScope
		return h
	}
	h.Seq, h.Prev = 1, id("prev")
	return h
}

// sharedHeader is that of a chain which one end of a lane writes for the other one.
func sharedHeader(first bool) Header {
	h := workHeader(first)
	h.Ledger, h.For = sampleScope.Shared(id("on")), Place{Lam: 7, ID: id("at home")}
	if first {
		h.Share = id("on")
	}
	return h
}

func sampleEdit() *Edit {
	return &Edit{
		Holder: id("intent"), Path: "src/ä.ts", Op: EditRename, From: "src/a.ts", BaseBlob: oid("1"), Blob: oid("2"),
		BaseMode: ModePlain, Mode: ModeExecutable, Made: 1, Quality: 1,
		Hunks: []Hunk{{OldStart: 3, OldLen: 1, NewLen: 2, Hash: 1 << 60}, {OldStart: 9, NewLen: 1}},
		Symbols: []SymbolEdit{{
			Symbol: "sym:ts:#Refund.issue", From: "sym:ts:src/a.ts#issue", Change: 3, Verdict: 2, Why: []string{"moved"},
			Container: "sym:ts:#Refund", Package: "pkg:npm:shop#issue", Exported: true, Signature: 4, Body: 1 << 63, Sort: 2,
		}, {Symbol: "sym:ts:#x", Change: 1, Test: true}},
		Contracts: []ContractEdit{{
			Contract: "http:POST /v1/refunds", Sort: 2, From: "http:POST /refunds", Change: 4, Verdict: 1, Why: []string{"a field is added"}, Tail: true,
		}},
		References: []ReferenceEdit{{Target: "http:GET /v1/{}", Sort: 5, Line: 7, Sure: true, Tail: true}},
		Prints:     []uint64{3, 1 << 62}, Cut: true,
	}
}

func workSamples() []sample {
	covers := uint64(0)
	first, later := workHeader(true), workHeader(false)
	answer := workHeader(false)
	answer.Re = []ID{id("message")}
	return []sample{
		{name: "session", header: first, content: &Session{
			State: SessionLive, Agent: "claude_code", Checkout: [16]byte{1}, Branch: "feat/refunds", Folds: true,
			Base: oid("base"), Head: oid("head"), Grammars: "g1",
		}},
		{name: "session-ended", header: later, content: &Session{First: id("session"), State: SessionEnded, Checkout: [16]byte{1}}},
		{name: "intent", header: later, content: &Intent{
			Session: id("session"), State: IntentLive, Task: "Partial refunds", Issues: []string{"#41", "acme/web#7"}, Depends: []ID{id("other")},
		}},
		{name: "intent-merged", header: later, content: &Intent{First: id("intent"), State: IntentMerged, Task: "Partial refunds"}},
		{name: "claim", header: later, content: &Claim{Holder: id("intent"), Claims: []Held{
			{Kind: HeldPath, Pattern: "db/schema.prisma", Exclusive: true, Covers: &covers},
			{Kind: HeldPath, Pattern: "src/**"},
			{Kind: HeldSymbol, Pattern: "sym:ts:src/a.ts#issue"},
		}}},
		{name: "claim-none", header: later, content: &Claim{Holder: id("intent")}},
		{name: "edit", header: later, content: sampleEdit()},
		{name: "edit-back", header: later, content: &Edit{Holder: id("intent"), Path: "src/a.ts", Op: EditBack}},
		{name: "edit-binary", header: later, content: &Edit{Holder: id("branch"), Path: "a.png", Op: EditAdd, Blob: oid("2"), Mode: ModePlain, Binary: true}},
		{name: "edit-emptied", header: later, content: &Edit{Holder: id("branch"), Path: "d/x", Op: EditRename, From: "a/b/x", Emptied: 2}},
		{name: "session-shared", header: sharedHeader(true), content: &Session{State: SessionLive, Agent: "codex", Checkout: [16]byte{1}}},
		{name: "edit-shared", header: sharedHeader(false), content: &Edit{Holder: id("intent"), Path: Path(HideName(NamesKey{5}, "src/a.ts")), Op: EditModify}},
		{name: "attempt", header: later, content: &Attempt{Session: id("session"), Paths: []Trying{{Path: "a", Op: EditModify}, {Path: "b", Op: EditDelete}}}},
		{name: "attempt-none", header: later, content: &Attempt{Session: id("session")}},
		{name: "act", header: later, content: &Act{Conflict: id("conflict"), Side: id("intent"), Action: ActWillRebase, Note: "Rebasing after INT-12 merges."}},
		{name: "act-override", header: later, content: &Act{
			Conflict: id("conflict"), Action: ActOverride, Evidence: [16]byte{1}, Person: true, Reason: []byte("sealed"),
		}},
		{name: "found", header: later, content: &Found{
			Conflict: id("conflict"), Sort: "path_overlap", State: FoundHere, Sides: []ID{id("intent"), id("branch")},
			Evidence: [16]byte{1}, Severity: 1, About: []string{"src/a.ts"},
		}},
		{name: "message", header: answer, content: &Message{From: id("intent"), To: []ID{id("other")}, Text: "I rebase."}},
		{name: "branch", header: later, content: &Branch{
			Name: "#42", Head: oid("head"), Base: oid("base"), Pull: 42, Author: 77, Gone: true, Subjects: "Refunds", Issues: []string{"#41"}, Grammars: "g1",
		}},
		{name: "branch-of", header: later, content: &Branch{Name: "feat/refunds", Head: oid("head"), Base: oid("base"), Of: TID(id("fleet"))}},
	}
}

func x(n int) string { return strings.Repeat("x", n) }

func workRules() []rule {
	claims := func(n int) any { return many(n, func(i int) any { return fields{1: 1, 2: "p" + string(rune('0'+i))} }) }
	ids := func(n int) any {
		return many(n, func(i int) any { return slices.Concat([]byte{byte(i)}, make([]byte, 31)) })
	}
	issues := func(n int) any { return many(n, func(i int) any { return "#" + string(rune('a'+i)) }) }
	return slices.Concat(editRules(), []rule{
		{KindSession, "another repository than its ledger's", "match the scope", header(18, []any{"github.com", 1, 2917})},
		{KindSession, "another week than its ledger's", "match the scope", header(18, []any{"github.com", 123456789, 2918})},
		{KindSession, "a long host", "host", header(18, []any{x(101), 1, 1})},
		{KindSession, "repository zero", "host or repository", header(18, []any{"github.com", 0, 1})},
		{KindSession, "a share in a ledger of its own fleet", "stands for another one", header(19, id("on"))},
		{KindSession, "a share of another ledger", "match the scope", func(h, _ fields) { h[19], h[20] = id("on"), []any{7, id("at home")} }},
		{KindSession, "a place of another record in a ledger of its own fleet", "shared", header(20, []any{7, id("at home")})},
		{KindIntent, "a share in a later record", "first record", func(h, _ fields) { h[19], h[20] = id("on"), []any{7, id("at home")} }},
		{KindIntent, "a place out of range", "out of range", header(20, []any{LamportMax + 1, id("at home")})},
		{KindIntent, "a place without a record", "type or length", header(20, []any{7, make([]byte, 32)})},
		{KindIntent, "a place of three", "type or length", header(20, []any{7, id("at home"), 1})},
		{KindSession, "state zero", "state", body(2, 0)},
		{KindSession, "an unknown state", "state", body(2, 3)},
		{KindSession, "a long agent", "too long", body(3, x(33))},
		{KindSession, "a long branch", "too long", body(5, x(256))},
		{KindSession, "a checkout of 15 bytes", written, body(4, make([]byte, 15))},
		{KindSession, "false written out", written, body(6, false)},
		{KindIntent, "state zero", "state", body(3, 0)},
		{KindIntent, "an unknown state", "state", body(3, 4)},
		{KindIntent, "no task", "task", body(4, "")},
		{KindIntent, "a long task", "task", body(4, x(1001))},
		{KindIntent, "17 issues", "issues", body(5, issues(17))},
		{KindIntent, "issues out of order", "issues", swap(5)},
		{KindIntent, "a long issue", "issues", body(5, []any{x(141)})},
		{KindIntent, "33 dependencies", "dependencies", body(6, ids(33))},
		{KindIntent, "a dependency twice", "dependencies", body(6, []any{make([]byte, 32), make([]byte, 32)})},
		{KindClaim, "129 claims", "claims", body(2, claims(129))},
		{KindClaim, "claims out of order", "ascending", swap(2)},
		{KindClaim, "kind zero", "kind", body(2, []any{fields{1: 0, 2: "p"}})},
		{KindClaim, "an unknown kind", "kind", body(2, []any{fields{1: 4, 2: "p"}})},
		{KindClaim, "no pattern", "pattern", body(2, []any{fields{1: 1, 2: ""}})},
		{KindClaim, "a long pattern", "pattern", body(2, []any{fields{1: 1, 2: x(513)}})},
		{KindClaim, "an unknown key in a claim", written, body(2, []any{fields{1: 1, 2: "p", 5: 1}})},
		{KindAttempt, "17 paths", "paths", body(2, many(17, func(i int) any { return []any{[]byte{'a' + byte(i)}, 1} }))},
		{KindAttempt, "paths out of order", "ascending", swap(2)},
		{KindAttempt, "an op of five", "op", body(2, []any{[]any{[]byte("a"), 5}})},
		{KindAttempt, "a path with ..", "path", body(2, []any{[]any{[]byte(".."), 1}})},
		{KindAct, "action zero", "action", body(3, 0)},
		{KindAct, "an unknown action", "action", body(3, 13)},
		{KindAct, "a long note", "note", body(4, x(2001))},
		{KindAct, "nobody", "for a side", noBody(2)},
		{KindAct, "an agent that overrides", "person", func(_, b fields) { b[3], b[5] = 9, append([]byte{1}, make([]byte, 15)...) }},
		{KindAct, "an override of nothing", "evidence", func(_, b fields) { b[3], b[6] = 9, true }},
		{KindAct, "a reason of no override", "reason", body(7, []byte{1})},
		{KindFound, "no sort", "sort", body(2, "")},
		{KindFound, "a sort in capitals", "sort", body(2, "Path")},
		{KindFound, "state zero", "state", body(3, 0)},
		{KindFound, "severity four", "severity", body(6, 4)},
		{KindFound, "no sides", "sides", body(4, []any{})},
		{KindFound, "65 sides", "sides", body(4, ids(65))},
		{KindFound, "about 17 things", "about", body(7, many(17, func(int) any { return "p" }))},
		{KindFound, "about nothing", "about", body(7, []any{""})},
		{KindMessage, "no text", "text", body(3, "")},
		{KindMessage, "a long text", "text", body(3, x(4001))},
		{KindMessage, "17 receivers", "receivers", body(2, ids(17))},
		{KindBranch, "no name", "name", body(1, "")},
		{KindBranch, "long subjects", "subjects", body(7, x(1001))},
		{KindBranch, "no head", written, noBody(2)},
	})
}

func editRules() []rule {
	list := func(key uint64, n int, v func(i int) any) func(h, b fields) { return body(key, many(n, v)) }
	return []rule{
		{KindEdit, "an absolute path", "path", body(2, []byte("/a"))},
		{KindEdit, "from an absolute path", "path", body(4, []byte("/a"))},
		{KindEdit, "op zero", "op", body(3, 0)},
		{KindEdit, "an unknown op", "op", body(3, 6)},
		{KindEdit, "a rename from nowhere", "rename", noBody(4)},
		{KindEdit, "a change from elsewhere", "rename", body(3, 1)},
		{KindEdit, "back and changed", "base again", func(_, b fields) { b[3] = 5; delete(b, 4) }},
		{KindEdit, "a mode out of range", "mode", body(8, 1<<18)},
		{KindEdit, "an unknown maker", "maker", body(10, 3)},
		{KindEdit, "an unknown quality", "quality", body(11, 5)},
		{KindEdit, "more folders gone than there were", "folders", body(64, 2)},
		{KindEdit, "257 hunks", "too long", list(12, 257, func(i int) any { return []any{i, 0, 0, 0} })},
		{KindEdit, "a hunk of five", "", list(12, 1, func(int) any { return []any{1, 1, 1, 1, 1} })},
		{KindEdit, "a line out of range", "", list(12, 1, func(int) any { return []any{1 << 32, 1, 1, 1} })},
		{KindEdit, "hunks out of order", "ascending", swap(12)},
		{KindEdit, "257 fingerprints", "too long", list(16, 257, func(i int) any { return i })},
		{KindEdit, "a fingerprint twice", "ascending", body(16, []any{1, 1})},
		{KindEdit, "65 symbols", "too long", list(13, 65, func(int) any { return fields{1: "s", 3: 1} })},
		{KindEdit, "no symbol", "symbol", list(13, 1, func(int) any { return fields{1: "", 3: 1} })},
		{KindEdit, "an unknown change", "symbol", list(13, 1, func(int) any { return fields{1: "s", 3: 6} })},
		{KindEdit, "an unknown verdict", "symbol", list(13, 1, func(int) any { return fields{1: "s", 3: 1, 4: 3} })},
		{KindEdit, "five whys", "symbol", list(13, 1, func(int) any { return fields{1: "s", 3: 1, 5: []any{"a", "b", "c", "d", "e"}} })},
		{KindEdit, "an unknown key in a symbol", written, list(13, 1, func(int) any { return fields{1: "s", 3: 1, 64: 1} })},
		{KindEdit, "33 contracts", "too long", list(14, 33, func(int) any { return fields{1: "c", 2: 2, 4: 1} })},
		{KindEdit, "a contract of no sort", "contract", list(14, 1, func(int) any { return fields{1: "c", 2: 0, 4: 1} })},
		{KindEdit, "129 references", "too long", list(15, 129, func(int) any { return fields{1: "r", 2: 1} })},
		{KindEdit, "a reference of no sort", "reference", list(15, 1, func(int) any { return fields{1: "r", 2: 7} })},
	}
}

func workLimits() []rule {
	list := func(key uint64, n int, v func(i int) any) func(h, b fields) { return body(key, many(n, v)) }
	only := func(change func(h, b fields)) func(h, b fields) { // the record would else be too long
		return func(h, b fields) {
			for k := uint64(12); k <= 17; k++ {
				delete(b, k)
			}
			change(h, b)
		}
	}
	return []rule{
		{KindSession, "an agent of 32 bytes", "", body(3, x(32))},
		{KindIntent, "a task of 1,000 bytes", "", body(4, x(1000))},
		{KindClaim, "128 claims", "", list(2, 128, func(i int) any { return fields{1: 1, 2: "p" + string(rune('0'+i))} })},
		{KindEdit, "256 hunks", "", only(list(12, 256, func(i int) any { return []any{i, 1, 1, 1 << 60} }))},
		{KindEdit, "256 fingerprints", "", only(list(16, 256, func(i int) any { return 1<<60 + i }))},
		{KindEdit, "64 symbols", "", only(list(13, 64, func(int) any { return fields{1: "s", 3: 5} }))},
		{KindEdit, "32 contracts", "", only(list(14, 32, func(int) any { return fields{1: "c", 2: 3, 4: 1} }))},
		{KindEdit, "128 references", "", only(list(15, 128, func(int) any { return fields{1: "r", 2: 6} }))},
		{KindAct, "a note of 2,000 bytes", "", body(4, x(2000))},
		{KindAct, "the last action", "", body(3, 12)},
		{KindMessage, "a text of 4,000 bytes", "", body(3, x(4000))},
		{KindFound, "64 sides", "", list(4, 64, func(i int) any { return slices.Concat([]byte{byte(i)}, make([]byte, 31)) })},
	}
}

func TestALedgerOfLiveWorkIsOneRepositorysWeek(t *testing.T) { // D-2
	other := sampleScope
	other.Period++
	if sampleScope.Ledger() == other.Ledger() || sampleScope.Ledger() != (Scope{Host: "github.com", Repo: 123456789, Period: 2917}).Ledger() {
		t.Error("a week has not exactly one ledger")
	}
	if got := sampleScope.Ledger().String(); got != goldenWork {
		t.Errorf("ledger %s", got)
	}
	if PeriodOf(2917*WeekMS) != 2917 || PeriodOf(2918*WeekMS-1) != 2917 {
		t.Error("a period is not a week")
	}
}

func TestHiddenNamesNeverChange(t *testing.T) { // D-26
	key := NamesKey{5}
	if got := HideName(key, "src/a.ts"); got != "~4c41f06fb2d147b45c4c1fbc65a7fa02" || HideName(NamesKey{6}, "src/a.ts") == got {
		t.Errorf("name %s", got)
	}
	if got := HideOID(key, oid("1")).String(); got != goldenHiddenOID || HideOID(key, "") != "" {
		t.Errorf("object %s", got)
	}
	if got := HideHash(key, 7); got != goldenHiddenHash {
		t.Errorf("hash %d", got)
	}
	if got := sampleScope.Shared(id("on")).String(); got != goldenShared {
		t.Errorf("ledger %s", got)
	}
}

func TestNamesAndIdsOfLiveWorkNeverChange(t *testing.T) { // C10
	if got := NameOf(id("intent")); got != goldenName {
		t.Errorf("name %s", got)
	}
	if got := BranchSide("github.com", 7, "#42").String(); got != goldenBranch {
		t.Errorf("branch %s", got)
	}
	roots := []ID{id("a"), id("b")}
	if got := ConflictID("github.com", 7, "path_overlap", roots, []string{"a\xff"}).String(); got != goldenConflict {
		t.Errorf("conflict %s", got)
	}
	if ConflictID("github.com", 7, "path_overlap", roots, nil) == ConflictID("github.com", 7, "path_overlap", roots[:1], nil) {
		t.Error("two conflicts have one id")
	}
}

const (
	goldenShared     = "f1771906083810f2a5a7afefad92165dabcf120ead54eb465c60357aa4855da2"
	goldenHiddenOID  = "5484016b1b4f41a8c67c4832d32780e2def2e71b"
	goldenHiddenHash = 5221796713046948253

	goldenWork     = "a6bdc4cc95e9ef449c4fb3fc96e706e235ad25028073f706e3254ca8dbb0859e"
	goldenName     = "928630600228260819"
	goldenBranch   = "2218adb3feebfab52bed6b39f5e02f6c09adef8fcf034d928843c131e99dc320"
	goldenConflict = "6988dddd4ddb3bbfeb7fe04636b9ef89ced0b99067cfdd0adc643397340302c2"
)
