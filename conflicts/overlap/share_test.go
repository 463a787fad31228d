package overlap

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/ledger"
)

// shared is the other end of a lane: what a computer writes for it under one statement, and the fold that counts that
// beside its own developer's work.
type shared struct {
	on    ledger.ID
	names ledger.NamesKey
	heads map[*pen]ledger.Head
	told  map[*pen]Told
	wires [][]byte
	f     *Fold
}

func newShared(w *world, rules *detect.Rules, from string, names ledger.NamesKey) *shared {
	s := &shared{on: ledger.ID{9}, names: names, heads: map[*pen]ledger.Head{}, told: map[*pen]Told{}, f: New(Repo{shop, "acme/shop", rules}, Repo{web, "acme/web", rules})}
	var fleet ledger.TID
	copy(fleet[:], from)
	s.f.SetPeople(w.people)
	s.f.SetShares(map[ledger.ID]Share{s.on: {Fleet: fleet, Names: names}})
	s.f.Tick(w.now)
	return s
}

// writes is what a computer writes for the lane of something said at home.
func (s *shared) writes(p *pen, at ledger.Place, when uint64, body ledger.Body, re ...ledger.ID) {
	p.t.Helper()
	if s.names != (ledger.NamesKey{}) {
		if body = Hide(body, s.names, 7000); body == nil {
			return
		}
	}
	scope := ledger.Scope{Host: shop.Host, Repo: shop.Repo, Period: ledger.PeriodOf(p.w.now)}
	head := s.heads[p]
	h := ledger.Header{Ledger: scope.Shared(s.on), Inc: ledger.Incarnation{2}, Lam: head.Lam + 1, At: when, Seq: head.Next, Prev: head.ID, For: at, Re: re}
	if h.Seq == 0 {
		h.Scope, h.Share = scope, s.on
	}
	r, err := ledger.Seal(p.key, h, body)
	if err != nil {
		p.t.Fatal(err)
	}
	head.Chain = r.Chain()
	s.heads[p] = head.After(r)
	s.wires = append(s.wires, r.Wire)
	s.f.Add(r, p.w.now)
}

// begins is the switch, and tells what is said at home from then on.
func (s *shared) begins(p *pen) {
	s.told[p] = Told{}
	for _, one := range s.told[p].Begin(p.w.f, p.device, shop) {
		s.writes(p, one.For, one.At, one.Body)
	}
}

func (s *shared) tells(p *pen, r *ledger.Record) {
	for _, one := range s.told[p].Before(p.w.f, r) {
		s.writes(p, one.For, one.At, one.Body)
	}
	s.writes(p, r.Place(), r.At, r.Content, r.Re...)
}

// finds is what a fold says is there, as both ends can compare it.
func finds(f *Fold) string {
	var out []string // in an order of its own: feedback that was given before is not told
	for _, c := range f.Conflicts() {
		if c.Present {
			out = append(out, fmt.Sprintf("%s %s %s %s %v %x %s", c.ID.Short(), c.Kind, c.Severity, c.Class, c.About, c.Evidence, c.Sentence))
		}
	}
	for _, s := range f.Sides() {
		if s.Phase == Working || s.Phase == Idle {
			out = append(out, fmt.Sprintf("%s %s %v", s.Ref, s.Root.Short(), f.Digest(s.ID).Claims))
		}
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// A developer's one computer is told at some moment how the other developer's work stands, and everything from then on.
// It then finds what the other one finds.
func TestWhatIsSharedFromTheSwitchOnMakesTheSameConflicts(t *testing.T) { // D-26, C9, C10
	rapid.Check(t, func(rt *rapid.T) {
		s := newStory(rt, t)
		s.own = true
		jordans := s.pens[:2]
		other := newShared(s.w, s.rules, "jordan", ledger.NamesKey{})
		steps := rapid.IntRange(1, 40).Draw(rt, "steps")
		on, done := s.pick(steps, "switch"), 0
		for i := range steps {
			if i == on {
				for _, p := range jordans {
					other.begins(p)
				}
				for _, r := range s.w.records {
					if !slices.ContainsFunc(jordans, func(p *pen) bool { return p.device == r.Device }) {
						other.f.Add(r, s.w.now)
					}
				}
				done = len(s.w.records)
			}
			s.step()
			for ; i >= on && done < len(s.w.records); done++ {
				r := s.w.records[done]
				at := slices.IndexFunc(jordans, func(p *pen) bool { return p.device == r.Device })
				if at >= 0 {
					other.tells(jordans[at], r)
				} else {
					other.f.Add(r, s.w.now)
				}
			}
			other.f.Tick(s.w.now)
		}
		if got, want := finds(other.f), finds(s.w.f); got != want {
			rt.Fatalf("switched on at %d\n%s\nthe one end\n%s\nthe other\n%s", on, s, want, got)
		}
	})
}

func TestNobodySpeaksForAnotherDevelopersSide(t *testing.T) { // L5
	w, a, b, x, y := two(t)
	a.edits(x, "src/a.ts")
	b.edits(y, "src/a.ts")
	w.is(detect.PathOverlap, Open)
	before := finds(w.f)
	sam := w.computer("sam", 1)
	rules := w.f.repos[shop].Rules
	s := newShared(w, rules, "sam", ledger.NamesKey{})
	w.f.SetShares(map[ledger.ID]Share{s.on: {Fleet: w.people[sam.device].Fleet}})
	s.f = w.f
	place := ledger.Place{Lam: 1, ID: x} // as if jordan's session had begun there
	s.writes(sam, place, w.now, &ledger.Session{State: ledger.SessionEnded, Checkout: [16]byte{1}})
	s.writes(sam, ledger.Place{Lam: 50, ID: ledger.ID{8}}, w.now, &ledger.Session{First: x, State: ledger.SessionEnded, Checkout: [16]byte{1}})
	s.writes(sam, ledger.Place{Lam: 51, ID: ledger.ID{7}}, w.now, BackOf(x, "src/a.ts"))
	if got := finds(w.f); got != before {
		t.Errorf("sam's word changed\n%s\nto\n%s", before, got)
	}
}

func TestWhatIsWrittenUnderAnotherStatementCountsForNothing(t *testing.T) { // D-26, L1
	w := newWorld(t)
	a, b := w.computer("jordan", 1), w.computer("maya", 1)
	s := newShared(w, w.f.repos[shop].Rules, "jordan", ledger.NamesKey{})
	s.f = w.f
	session := &ledger.Session{State: ledger.SessionLive, Agent: "codex", Checkout: [16]byte{1}}
	s.writes(a, ledger.Place{Lam: 1, ID: ledger.ID{1}}, w.now, session)
	s.writes(b, ledger.Place{Lam: 1, ID: ledger.ID{2}}, w.now, session) // under a statement that is not hers
	if n := len(w.f.Sides()); n != 0 {
		t.Errorf("%d sides before the statement is known", n)
	}
	w.f.SetShares(map[ledger.ID]Share{s.on: {Fleet: w.people[a.device].Fleet}})
	if all := w.f.Sides(); len(all) != 1 || all[0].ID != (ledger.ID{1}) {
		t.Errorf("sides %+v", all)
	}
	w.f.SetShares(nil)
	if n := len(w.f.Sides()); n != 0 {
		t.Errorf("%d sides after the lane went off", n)
	}
}

func TestHiddenNamesMeetWhereTheyAreTheSame(t *testing.T) { // D-26, C2, C3
	w, a, b, x, y := two(t)
	s := newShared(w, w.f.repos[shop].Rules, "jordan", ledger.NamesKey{5})
	mirror := func() {
		for _, r := range w.records {
			if r.Device == a.device {
				s.writes(a, r.Place(), r.At, r.Content, r.Re...)
			} else {
				s.f.Add(r, w.now)
			}
		}
		w.records = nil
	}
	signature := detect.Delta{Symbols: []detect.SymbolChange{symbol("sym:ts:src/refund.ts#issueRefund", detect.SignatureChanged, detect.Breaking)}}
	a.changes(shop, x, "src/refund.ts", signature, detect.Hunk{OldStart: 3, OldLen: 1, NewLen: 1, Hash: 7})
	a.edits(x, "src/secret.ts")
	a.claims(x, exclusive("db/schema.prisma", 1), path("src/**"))
	b.edits(y, "src/other.ts")
	mirror()
	for _, c := range s.f.Conflicts() {
		t.Errorf("%s while they work on different files: %s", c.Name, c.Sentence)
	}
	if side, _ := s.f.Side(x); side.Hidden != 4 || len(s.f.Digest(x).Files) != 0 {
		t.Errorf("her computer knows %d hidden names, and the files %v", side.Hidden, s.f.Digest(x).Files)
	}
	if d := s.f.Decide(y, about("db/schema.prisma")); d.Verdict != Block {
		t.Errorf("%s before an edit of what he holds: %s", d.Verdict, d.Words)
	}
	b.changes(shop, y, "src/refund.ts", detect.Delta{Symbols: []detect.SymbolChange{symbol("sym:ts:src/refund.ts#issueRefund", detect.Body, detect.Compatible)}}, detect.Hunk{OldStart: 3, OldLen: 1, NewLen: 1, Hash: 9})
	mirror()
	for _, kind := range []detect.Kind{detect.SymbolOverlap, detect.TextualMerge} {
		want := w.only(kind)
		got, ok := s.f.Conflict(want.ID)
		if !ok || got.Sentence != strings.ReplaceAll(want.Sentence, ", feat/partial-refunds", "") || got.Evidence != want.Evidence || got.Blocked != want.Blocked {
			t.Errorf("%s: he is told %q, she %q", kind, want.Sentence, got.Sentence)
		}
	}
	for _, c := range s.f.Conflicts() {
		if strings.Contains(c.Sentence, "secret") {
			t.Errorf("a name that only he works on: %s", c.Sentence)
		}
	}
	for _, wire := range s.wires {
		for _, name := range []string{"refund", "secret", "src", "schema", "issue"} {
			if bytes.Contains(wire, []byte(name)) {
				t.Errorf("%q stands in what crosses: %q", name, wire)
			}
		}
	}
}

func TestWhoDoesNotSeeANameDoesNotSayThatTheConflictIsGone(t *testing.T) { // C10
	w, a, b, x, y := two(t)
	s := newShared(w, w.f.repos[shop].Rules, "jordan", ledger.NamesKey{5})
	a.claims(x, exclusive("db/*.sql", 1))
	b.edits(y, "db/a.sql")
	w.only(detect.PathOverlap)
	for _, body := range w.f.Due(a.device) {
		a.say(shop, body)
	}
	for _, r := range w.records {
		if r.Device == a.device {
			s.writes(a, r.Place(), r.At, r.Content)
		} else {
			s.f.Add(r, w.now)
		}
	}
	if due := s.f.Due(b.device); len(due) > 0 {
		t.Errorf("she writes %+v", due[0])
	}
}

func TestWhatAnIntentOrItsSessionPutBackForTheOtherIsNotTold(t *testing.T) { // both hold the path together
	for name, story := range map[string]func(a *pen, session, intent ledger.ID){
		"the intent puts back what its session did": func(a *pen, session, intent ledger.ID) { a.undoes(intent, "src/a.ts") },
		"the session puts back what its intent did": func(a *pen, session, intent ledger.ID) {
			a.undoes(intent, "src/a.ts")
			a.edits(intent, "src/a.ts")
			a.undoes(session, "src/a.ts")
		},
		"it is done again": func(a *pen, session, intent ledger.ID) {
			a.undoes(intent, "src/a.ts")
			a.edits(session, "src/a.ts")
		},
	} {
		w, a, b, x, y := two(t)
		a.edits(x, "src/a.ts")
		story(a, x, a.intent(x, "refunds"))
		b.edits(y, "src/a.ts")
		s := newShared(w, w.f.repos[shop].Rules, "jordan", ledger.NamesKey{})
		s.begins(a)
		for _, r := range w.records {
			if r.Device == b.device {
				s.f.Add(r, w.now)
			}
		}
		if got, want := finds(s.f), finds(w.f); got != want {
			t.Errorf("%s: the one end\n%s\nthe other\n%s", name, want, got)
		}
	}
}

func TestReasonsThatDoNotFitAreCounted(t *testing.T) {
	w := &wording{}
	got := w.why([]string{"one", "", "two", "three", "four", strings.Repeat("ä", 150)})
	if want := []string{"one", "two", "three", "and 2 more"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := w.why([]string{strings.Repeat("ä", 150)})[0]; len(got) > 200 || !strings.HasSuffix(got, "ä…") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}
