package ledger

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
)

// fields is a map of the format before it is written.
type fields map[uint64]any

func sampleOf(t testing.TB, k Kind) sample {
	t.Helper()
	for _, s := range samples() {
		if s.content != nil && s.content.Kind() == k {
			return s
		}
	}
	t.Fatalf("no sample of %s", k)
	return sample{}
}

func asFields(t testing.TB, v any) fields {
	t.Helper()
	raw, err := encode.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	out := fields{}
	if err := cbor.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// edited is a sample that is signed after its header and body, as maps, were changed.
func edited(t testing.TB, s sample, change func(h, b fields)) []byte {
	t.Helper()
	full := s.header
	full.V, full.Kind, full.Body, full.Device = Version, s.content.Kind(), []byte{0xa0}, device(0)
	h, b := asFields(t, full), asFields(t, s.content)
	h[15] = b
	change(h, b)
	whole, err := encode.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	return sign(testKey(0), s.content.Kind().Family(), whole)
}

func many(n int, v func(i int) any) []any {
	out := make([]any, n)
	for i := range out {
		out[i] = v(i)
	}
	return out
}

func body(key uint64, v any) func(h, b fields)   { return func(_, b fields) { b[key] = v } }
func header(key uint64, v any) func(h, b fields) { return func(h, _ fields) { h[key] = v } }
func noBody(key uint64) func(h, b fields)        { return func(_, b fields) { delete(b, key) } }
func noHeader(key uint64) func(h, b fields)      { return func(h, _ fields) { delete(h, key) } }

// file changes one field of one file of an open.
func file(i int, key uint64, v any) func(h, b fields) {
	return func(_, b fields) { b[11].([]any)[i].(map[any]any)[key] = v }
}

func swap(key uint64) func(h, b fields) {
	return func(_, b fields) { slices.Reverse(b[key].([]any)) }
}

// rule is one change that one static rule refuses, with words of its error.
type rule struct {
	kind   Kind
	name   string
	says   string
	change func(h, b fields)
}

const (
	written = "absent and written out"
	hash    = "object id"
)

func openRules() []rule {
	ids := func(n int) any {
		return many(n, func(i int) any { return slices.Concat([]byte{0, byte(i)}, make([]byte, 31)) })
	}
	files := func(n int) any {
		return many(n, func(i int) any {
			return fields{1: []byte{'a' + byte(i)}, 3: []byte(oid("2")), 5: ModePlain}
		})
	}
	return []rule{
		{KindOpen, "no claim", "names its claim", noHeader(11)},
		{KindOpen, "an open", "names its claim", header(9, id("x"))},
		{KindOpen, "a spine", "names its claim", header(8, id("x"))},
		{KindOpen, "an answer", "names its claim", header(10, []ID{id("x")})},
		{KindOpen, "no host", "length", body(1, "")},
		{KindOpen, "a long host", "length", body(1, strings.Repeat("x", 101))},
		{KindOpen, "no slug", "length", body(3, "")},
		{KindOpen, "a long slug", "length", body(3, strings.Repeat("x", 141))},
		{KindOpen, "no base", "length", body(6, "")},
		{KindOpen, "a long base", "length", body(6, strings.Repeat("x", 256))},
		{KindOpen, "pull request zero", "number is zero", body(4, 0)},
		{KindOpen, "an unknown algorithm", "algorithm", body(7, 3)},
		{KindOpen, "another pull request than its ledger's", "thread id", body(4, 43)},
		{KindOpen, "another episode than its ledger's", "thread id", body(5, 1)},
		{KindOpen, "no parties", "parties", body(12, []any{})},
		{KindOpen, "51 parties", "parties", body(12, ids(51))},
		{KindOpen, "parties out of order", "parties", swap(12)},
		{KindOpen, "a party of an unknown sort", "parties", body(12, []any{append([]byte{2}, make([]byte, 32)...), append([]byte{3}, make([]byte, 32)...)})},
		{KindOpen, "a responsible side that is no party", "index", body(13, 3)},
		{KindOpen, "an author's computer that is no party", "index", body(14, 3)},
		{KindOpen, "ids of the other length", hash, body(7, 2)},
		{KindOpen, "no merge base", written, noBody(10)},
		{KindOpen, "a head of 19 bytes", hash, body(8, make([]byte, 19))},
		{KindOpen, "a base of 32 bytes", hash, body(9, make([]byte, 32))},
		{KindOpen, "no files", "files", body(11, []any{})},
		{KindOpen, "26 files", "files", body(11, files(26))},
		{KindOpen, "a path twice", "ascending by path", file(1, 1, []byte("a b/ä.txt"))},
		{KindOpen, "a party twice", "parties", body(12, []any{make([]byte, 33), make([]byte, 33)})},
		{KindOpen, "files out of order", "ascending by path", swap(11)},
		{KindOpen, "an absolute path", "path", file(0, 1, []byte("/a"))},
		{KindOpen, "a path with ..", "path", file(0, 1, []byte("a/../b"))},
		{KindOpen, "a path with .", "path", file(0, 1, []byte("./b"))},
		{KindOpen, "a path with an empty part", "path", file(0, 1, []byte("a//b"))},
		{KindOpen, "a path that is a folder's", "path", file(0, 1, []byte("a/"))},
		{KindOpen, "a path with NUL", "path", file(0, 1, []byte("a\x00"))},
		{KindOpen, "no path", "path", file(0, 1, []byte{})},
		{KindOpen, "a path of 1,025 bytes", "path", file(0, 1, make([]byte, 1025))},
		{KindOpen, "a path as text", "byte string", file(0, 1, "a")},
		{KindOpen, "an empty blob", hash, file(0, 3, []byte{})},
		{KindOpen, "a merge base's blob of 32 bytes", "blob", file(0, 2, make([]byte, 32))},
		{KindOpen, "a master's blob of 32 bytes", "blob", file(0, 3, make([]byte, 32))},
		{KindOpen, "a head's blob of 32 bytes", "blob", file(0, 4, make([]byte, 32))},
		{KindOpen, "a symbolic link", "mode", file(0, 5, 0o120000)},
		{KindOpen, "an unknown key in a file", written, file(0, 64, 1)},
	}
}

func conversationRules() []rule {
	versions := func(n int) any { return many(n, func(i int) any { return fields{1: i} }) }
	return []rule{
		{KindInterim, "no open", "spine record names", noHeader(9)},
		{KindInterim, "no spine", "spine record names", noHeader(8)},
		{KindInterim, "no claim", "spine record names", noHeader(11)},
		{KindInterim, "reason zero", "why", body(1, 0)},
		{KindInterim, "an unknown reason", "why", body(1, 4)},
		{KindInterim, "a pick without a decision", "decision", body(1, 1)},
		{KindInterim, "picks out of order", "ascending", body(2, []any{1, 0})},
		{KindInterim, "a pick twice", "ascending", body(2, []any{1, 1})},
		{KindInterim, "a pick beyond every file", "ascending", body(2, []any{25})},
		{KindInterim, "an empty pick written out", written, body(2, []any{})},
		{KindReassign, "no spine", "spine record names", noHeader(8)},
		{KindReassign, "reason zero", "reason", body(2, 0)},
		{KindReassign, "an unknown reason", "reason", body(2, 6)},
		{KindReassign, "a party beyond every one", "party index", body(1, 50)},
		{KindFinal, "no claim", "spine record names", noHeader(11)},
		{KindFinal, "an unknown way", "via", body(1, 3)},
		{KindFinal, "merged here for no reason", "final-ready", noHeader(10)},
		{KindFinal, "no base", "base branch", body(3, "")},
		{KindFinal, "a long base", "base branch", body(3, strings.Repeat("x", 256))},
		{KindFinal, "no files", "files", body(4, []any{})},
		{KindFinal, "26 files", "files", body(4, versions(26))},
		{KindFinal, "a file twice", "exactly once", body(4, []any{fields{1: 0}, fields{1: 0}})},
		{KindFinal, "a file left out", "exactly once", body(4, []any{fields{1: 1}})},
		{KindFinal, "an unknown key in a file", written, body(4, []any{fields{1: 0, 9: 1}})},
		{KindFinal, "no commit", written, noBody(2)},
		{KindClosed, "no spine", "spine record names", noHeader(8)},
		{KindClosed, "reason zero", "why", body(1, 0)},
		{KindClosed, "an unknown reason", "why", body(1, 7)},
		{KindClosed, "all confirmed by nobody", "confirmation", noHeader(10)},
		{KindClosed, "skipped out of order", "ascending", body(2, []any{2, 1})},
		{KindClosed, "skipped twice", "ascending", body(2, []any{1, 1})},
		{KindClosed, "skipped beyond every party", "ascending", body(2, []any{50})},
		{KindAck, "no open", "leaf names", noHeader(9)},
		{KindAck, "no answer", "leaf names", noHeader(10)},
		{KindAck, "two answers", "leaf names", header(10, []ID{id("x"), id("y")})},
		{KindAck, "a spine", "leaf names", header(8, id("x"))},
		{KindAck, "a claim", "leaf names", header(11, id("x"))},
		{KindAck, "no classes", "classes", body(1, []any{})},
		{KindAck, "26 classes", "classes", body(1, many(26, func(int) any { return 1 }))},
		{KindAck, "class zero", "class", body(1, []any{0})},
		{KindAck, "an unknown class", "class", body(1, []any{7})},
		{KindAck, "a wait of two", "wait", body(2, 2)},
		{KindAck, "a wait of zero written out", written, body(2, 0)},
		{KindObject, "two answers", "leaf names", header(10, []ID{id("x"), id("y")})},
		{KindObject, "reason zero", "reason", body(1, 0)},
		{KindObject, "an unknown reason", "reason", body(1, 4)},
		{KindObject, "26 files", "number of files", body(2, many(26, func(i int) any { return fields{1: i, 2: 1} }))},
		{KindObject, "files out of order", "ascending", body(2, []any{fields{1: 1, 2: 1}, fields{1: 0, 2: 1}})},
		{KindObject, "a file twice", "ascending", body(2, []any{fields{1: 1, 2: 1}, fields{1: 1, 2: 1}})},
		{KindObject, "a file beyond every one", "ascending", body(2, []any{fields{1: 25, 2: 1}})},
		{KindFinalReady, "no open", "leaf names", noHeader(9)},
		{KindFinalReady, "tests zero", "tests", body(4, 0)},
		{KindFinalReady, "unknown tests", "tests", body(4, 4)},
		{KindFinalReady, "no files", "files", body(3, []any{})},
		{KindAdopted, "no open", "leaf names", noHeader(9)},
		{KindAdopted, "no results", "results", body(2, []any{})},
		{KindAdopted, "26 results", "results", body(2, many(26, func(int) any { return 1 }))},
		{KindAdopted, "result zero", "result", body(2, []any{0})},
		{KindAdopted, "an unknown result", "result", body(2, []any{6})},
	}
}

func rosterRules() []rule {
	const plainly = "belong to conversations"
	out := []rule{
		{KindGenesis, "another nonce than its ledger's", "genesis", body(2, make([]byte, 16))},
		{KindGenesis, "a recovery key of zeros written out", written, body(1, make([]byte, 32))},
		{KindGenesis, "not the first", "genesis", func(h, _ fields) { h[6], h[7] = 1, id("x") }},
		{KindGenesis, "with heads before it", "genesis", header(17, []ID{id("x")})},
		{KindName, "no name", "name", body(2, "")},
		{KindName, "a long name", "name", body(2, strings.Repeat("x", 65))},
		{KindName, "a key of 31 bytes", written, body(1, make([]byte, 31))},
		{KindAdd, "a signature of 63 bytes", written, body(3, make([]byte, 63))},
		{KindRevoke, "reason zero", "reason", body(2, 0)},
		{KindRevoke, "an unknown reason", "reason", body(2, 4)},
		{KindRevoke, "a cut of four", "", body(3, []any{[]any{make([]byte, 16), make([]byte, 8), 1, 1}})},
		{KindRevoke, "an empty cut written out", written, body(3, []any{})},
		{KindMainClaim, "term zero", "term", body(1, 0)},
		{KindMainClaim, "a term out of range", "term", body(1, 1<<40+1)},
		{KindMainClaim, "65 claims", "claims", body(2, many(65, func(i int) any { return append([]byte{byte(i)}, make([]byte, 31)...) }))},
		{KindMainClaim, "claims out of order", "ascending", body(2, []any{append([]byte{1}, make([]byte, 31)...), make([]byte, 32)})},
		{KindMainClaim, "a claim twice", "ascending", body(2, []any{make([]byte, 32), make([]byte, 32)})},
		{KindMainRelease, "no claim", "answers the one claim", noHeader(10)},
		{KindMainRelease, "a spine", plainly, header(8, id("x"))},
		{KindLaneOn, "no repositories", "repositories", body(1, []any{})},
		{KindLaneOn, "201 repositories", "repositories", body(1, many(201, func(i int) any { return i }))},
		{KindLaneOn, "repositories out of order", "ascending", body(1, []any{7, 1})},
		{KindLaneOn, "a repository twice", "ascending", body(1, []any{7, 7})},
		{KindLaneOn, "65 earlier statements", "statements", body(16, many(65, func(i int) any { return append([]byte{byte(i)}, make([]byte, 31)...) }))},
		{KindLaneOn, "earlier statements out of order", "ascending", body(16, []any{append([]byte{1}, make([]byte, 31)...), make([]byte, 32)})},
		{KindLaneOn, "an earlier statement twice", "ascending", body(16, []any{make([]byte, 32), make([]byte, 32)})},
		{KindLaneOn, "no earlier statement written out", written, body(16, []any{})},
		{KindLaneOn, "live work of another repository", "live work", body(17, []any{2})},
		{KindLaneOn, "live work of a repository twice", "live work", body(17, []any{7, 7})},
		{KindLaneOn, "no live work written out", written, body(17, []any{})},
		{KindAddress, "no name", "email", body(2, "@acme.com")},
		{KindAddress, "no host", "email", body(2, "maya@")},
		{KindAddress, "no at", "email", body(2, "maya")},
		{KindAddress, "two addresses", "email", body(2, "a@b,c@d")},
		{KindAddress, "a long one", "email", body(2, strings.Repeat("x", 246)+"@acme.com")},
		{KindAm, "no host", "host", body(2, "")},
		{KindAm, "a long host", "host", body(2, strings.Repeat("x", 101))},
		{KindAm, "no login", "login", body(4, "")},
		{KindAm, "a long login", "login", body(4, strings.Repeat("x", 65))},
		{KindNote, "cause zero", "cause", body(2, 0)},
		{KindNote, "an unknown cause", "cause", body(2, 4)},
	}
	for _, f := range forms {
		if f.family == Conversation {
			continue
		}
		out = append(out,
			rule{f.kind, "an open", plainly, header(9, id("x"))},
			rule{f.kind, "a spine", plainly, header(8, id("x"))},
			rule{f.kind, "a claim", plainly, header(11, id("x"))},
			rule{f.kind, "turns", plainly, header(14, 1)})
		if f.kind != KindMainRelease && f.kind != KindMessage {
			out = append(out, rule{f.kind, "an answer", plainly, header(10, []ID{id("x")})})
		}
	}
	return out
}

func headerRules() []rule {
	ids := func(n int) []ID { return make([]ID, n) }
	return []rule{
		{KindAck, "another version", "version", header(1, 2)},
		{KindAck, "a kind in capitals", "kind", header(2, "Ack")},
		{KindAck, "no kind", "kind", header(2, "")},
		{KindAck, "a long kind", "kind", header(2, strings.Repeat("a", 17))},
		{KindAck, "a first record with a previous one", "prev", header(6, 0)},
		{KindAck, "a later record without a previous one", "prev", noHeader(7)},
		{KindAck, "65 answers", "answers", header(10, ids(65))},
		{KindName, "17 heads", "heads", header(17, ids(17))},
		{KindAck, "a logical time out of range", "logical time", header(12, LamportMax+1)},
		{KindAck, "a body that is a list", "no map", header(15, []any{})},
		{KindAck, "no body", "missing", noHeader(15)},
		{KindAck, "no clock", "missing", noHeader(13)},
		{KindAck, "no turns written out", "absent value", header(14, 0)},
		{KindAck, "a spine of zeros written out", "absent value", header(8, ID{})},
		{KindAck, "no answers written out", "absent value", header(10, []any{})},
		{KindAck, "a short device", "absent value", header(4, make([]byte, 31))},
		{KindAck, "a negative clock", "header", header(13, -1)},
		{KindName, "no heads written out", "absent value", header(17, []any{})},
		{KindSession, "no scope", "scope", noHeader(18)},
		{KindSession, "a scope of zeros written out", "absent value", header(18, []any{"", 0, 0})},
		{KindSession, "a scope of four", "absent value", header(18, []any{"github.com", 123456789, 2917, 1})},
		{KindSession, "a scope without its week", "absent value", header(18, []any{"github.com", 123456789})},
		{KindSession, "a scope of other types", "absent value", header(18, []any{[]byte("github.com"), 123456789, 2917})},
		{KindSession, "a repository as text", "absent value", header(18, []any{"github.com", "x", 2917})},
		{KindSession, "a negative week", "absent value", header(18, []any{"github.com", 123456789, -1})},
		{KindIntent, "a scope in a later record", "scope", header(18, []any{"github.com", 123456789, 2917})},
	}
}

func TestEveryStaticRuleRefuses(t *testing.T) { // P25, case 2
	for _, c := range slices.Concat(headerRules(), openRules(), conversationRules(), rosterRules(), workRules()) {
		t.Run(string(c.kind)+": "+c.name, func(t *testing.T) {
			s := sampleOf(t, c.kind)
			if _, err := Parse(edited(t, s, func(fields, fields) {})); err != nil {
				t.Fatalf("unchanged: %v", err)
			}
			r, err := Parse(edited(t, s, c.change))
			if !errors.Is(err, ErrMalformed) {
				t.Fatalf("it is read as %+v, %v", r, err)
			}
			if !strings.Contains(err.Error(), c.says) {
				t.Errorf("another rule refuses it: %v", err)
			}
		})
	}
}

func TestUnknownKeysAndKindsAreKept(t *testing.T) { // case 11
	for _, f := range forms {
		s := sampleOf(t, f.kind)
		for _, c := range []struct {
			name   string
			opaque bool
			change func(h, b fields)
		}{
			{"key 65 of the body", false, body(65, "x")},
			{"key 64 of the header", false, header(64, []any{1})},
			{"a large key", false, header(1<<40, true)},
			{"key 63 of the body", true, body(63, 1)},
			{"key 40 of the body", true, body(40, 1)},
			{"key 63 of the header", true, header(63, 1)},
			{"key 16 of the header", true, header(16, 1)},
			{"key 0 of the body", true, body(0, 1)},
		} {
			r, err := Parse(edited(t, s, c.change))
			if err != nil {
				t.Errorf("%s with %s: %v", f.kind, c.name, err)
				continue
			}
			if r.Opaque != c.opaque || r.Content == nil || r.Verify(f.family) != nil {
				t.Errorf("%s with %s: opaque %v, content %v", f.kind, c.name, r.Opaque, r.Content)
			}
		}
	}
	r, err := Parse(edited(t, sampleOf(t, KindAck), func(h, b fields) { h[2], b[1] = "yodel", fields{9: "x"} }))
	if err != nil {
		t.Fatal(err)
	}
	if !r.Opaque || r.Content != nil || r.Verify(Conversation) != nil || r.Verify(Roster) == nil || r.Family() != FamilyUnknown {
		t.Errorf("an unknown kind is not kept as it is: %+v", r)
	}
}

func TestRosterHeadsOutsideARosterAreUnknown(t *testing.T) {
	s := sampleOf(t, KindAck)
	r, err := Parse(edited(t, s, header(17, []ID{id("x")})))
	if err != nil || !r.Opaque || r.Deps != nil {
		t.Errorf("read %+v, %v", r, err)
	}
	s.header.Deps = []ID{id("x")}
	if _, err := Seal(testKey(0), s.header, s.content); err == nil {
		t.Error("it is sealed")
	}
}
