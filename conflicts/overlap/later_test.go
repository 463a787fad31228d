package overlap

import (
	"slices"
	"testing"

	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/ledger"
)

// anew is a fold that hears a world's records at once.
func (w *world) anew() *Fold {
	f := New(*w.f.repos[shop], *w.f.repos[web])
	f.SetPeople(w.people)
	f.Tick(w.now)
	for _, r := range w.records {
		f.Add(r, r.At)
	}
	return f
}

func TestContentThatIsLearnedLaterIsTakenUpWhereItStands(t *testing.T) { // D-26, C16
	w, a, b, x, y := two(t)
	s := newShared(w, w.f.repos[shop].Rules, "jordan", ledger.NamesKey{5})
	edit := func(holder ledger.ID, base string, hash uint64) *ledger.Edit {
		return EditOf(holder, &detect.File{
			Path: "src/a.ts", Op: detect.Modify, BaseBlob: testOID(base).String(), Blob: testOID(base + "now").String(), BaseMode: 0o100644, Mode: 0o100644,
			Quality: detect.Clean, Hunks: []detect.Hunk{{OldStart: 3, OldLen: 1, NewLen: 1, Hash: hash}},
		}, &detect.Delta{}, nil, 7000)
	}
	a.say(shop, edit(x, "one", 7))
	hears := func(body ledger.Body) {
		b.say(shop, body)
		for _, r := range w.records {
			if r.Device == a.device {
				s.writes(a, r.Place(), r.At, r.Content)
			} else {
				s.f.Add(r, w.now)
			}
		}
		w.records = nil
		s.f.Settle()
	}
	hears(edit(y, "two", 9)) // neither of which he has
	for _, learned := range []struct {
		base string
		hash uint64
	}{{"two", 7}, {"one", 9}} {
		hears(edit(y, learned.base, learned.hash))
		f := s.f.Digest(x).Files
		if len(f) != 1 || (f[0].BaseBlob == testOID("one").String()) != (learned.base == "one") || f[0].Hunks[0].Hash != 7 {
			t.Errorf("after %v she sees %+v", learned, f)
		}
	}
}

func TestAPastConflictIsAboutWhatIsLearnedLater(t *testing.T) { // D-26, C10
	w, a, b, x, y := two(t)
	key := ledger.NamesKey{5}
	s := newShared(w, w.f.repos[shop].Rules, "jordan", key)
	for _, r := range w.records {
		if r.Device == a.device {
			s.writes(a, r.Place(), r.At, r.Content)
		} else {
			s.f.Add(r, w.now)
		}
	}
	over := ledger.ID{8}
	s.writes(a, ledger.Place{Lam: 9, ID: ledger.ID{7}}, w.now, &ledger.Found{
		Conflict: over, Sort: "path_overlap", State: ledger.FoundGone, Sides: []ledger.ID{x, y}, About: []string{"db/a.sql"}, Severity: 1,
	})
	if c, ok := s.f.Conflict(over); !ok || len(c.About) > 0 {
		t.Fatalf("%v %+v", ok, c)
	}
	w.f = s.f
	b.edits(b.session("gemini", "feat/else"), "db/a.sql")
	if c, _ := s.f.Conflict(over); !slices.Equal(c.About, []string{"db/a.sql"}) {
		t.Errorf("it is about %v", c.About)
	}
}

func TestWhatIsNamedBeforeItBeginsIsCalledByItsNameThen(t *testing.T) { // C7
	w, a, b, x, _ := two(t)
	branch := ledger.BranchSide(shop.Host, shop.Repo, "feat/base")
	in := a.depends(x, "what rests on it", branch)
	w.f.Settle()
	b.say(shop, &ledger.Branch{Name: "feat/base", Base: testOID("b"), Head: testOID("h")})
	if got := w.f.Digest(in).DependsOn; !slices.Equal(got, []string{"feat/base"}) {
		t.Errorf("it rests on %v", got)
	}
}

// The merged intent and its session go under one name, and one of them takes back what both did.
func TestAConflictOfTwoSidesUnderOneNameForgetsWhatOneTookBack(t *testing.T) { // C10
	for _, first := range []bool{true, false} {
		w, a, b, x, y := two(t)
		changer := a.intent(x, "Partial refunds")
		breaks(a, b, changer, y, detect.SignatureChanged)
		a.closes(changer, "Partial refunds", ledger.IntentMerged)
		breaks(a, b, x, y, detect.Removed)
		w.f.Settle()
		took := x
		if first {
			took = changer
		}
		a.undoes(took, "api/refunds.ts")
		if got, want := everything(w.f), everything(w.anew()); got != want {
			t.Errorf("in steps\n%s\nand at once\n%s", got, want)
		}
	}
}

func TestTheEarlierOfTwoThatStandForOneEditSaysWhenItBegan(t *testing.T) { // C10, L5
	for n := range uint64(12) {
		w, _, b, _, y := two(t)
		sams := []*pen{w.computer("sam", 1), w.computer("sam", 2)}
		s := newShared(w, w.f.repos[shop].Rules, "sam", ledger.NamesKey{})
		s.f = w.f
		w.f.SetShares(s.shares(w, sams[0]))
		b.edits(y, "src/a.ts")
		s.writes(sams[0], ledger.Place{Lam: 5, ID: ledger.ID{2}}, w.now, &ledger.Session{State: ledger.SessionLive, Agent: "codex", Checkout: [16]byte{1}})
		edit := EditOf(ledger.ID{2}, &detect.File{Path: "src/a.ts", Op: detect.Modify, Blob: testOID("now").String(), Mode: 0o100644}, &detect.Delta{}, nil, 7000)
		for i, p := range sams {
			s.writes(p, ledger.Place{Lam: 6, ID: ledger.ID{3}}, w.now+n+uint64(i)*minute, edit)
			w.f.Settle()
		}
		if got, want := everything(w.f), everything(s.again(t, w, sams[0])); got != want {
			t.Fatalf("in steps\n%s\nand at once\n%s", got, want)
		}
	}
}
