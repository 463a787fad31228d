package thread

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/parley-mesh/parley/ledger"
)

func TestOneConflictIsSettledPublishedAndConfirmed(t *testing.T) { // P16, P18, P20
	w := newWorld(t)
	main, author, third := w.people[0], w.people[1], w.people[2]

	if s := w.settle(); s.Phase != Interim || s.Pick != nil {
		t.Fatalf("phase %v, pick %v after everybody agreed", s.Phase, s.Pick)
	}
	if w.github.head != blob("head") || author.card("C2") == nil {
		t.Fatal("the push did not wait for its person")
	}
	w.approve(author)
	if s := w.settle(); s.Ready == nil || w.github.isMerged || main.card("C3") == nil {
		t.Fatal("the merge did not wait for its person")
	}
	w.approve(main)
	s := w.settle()

	if s.Phase != Closed || s.ClosedWhy != ledger.ClosedConfirmed || !s.AllAdopted() {
		t.Fatalf("phase %v, why %d, missing %v", s.Phase, s.ClosedWhy, s.Missing())
	}
	for i, f := range third.files {
		if f.Here != s.Final.Files[i].Blob {
			t.Errorf("file %d is not the final on the third computer", i)
		}
	}
	if got := s.Results[w.party(author)][0]; got != ledger.WasNotHere {
		t.Errorf("the author's checkout reports %d", got)
	}
}

func TestUnpublishedLinesObjectAndStay(t *testing.T) { // P19
	w := newWorld(t)
	third := w.people[2]
	mine := blob("mine")
	third.files[0] = File{Class: 0, Lines: 3, Here: mine, Tip: w.open.Files[0].Master}

	s := w.settle()
	if st := s.Statements[w.party(third)]; !st.Objected() || st.Object.Files[0].File != 0 {
		t.Fatalf("the third computer said %+v", st)
	}
	if !s.Decided || w.people[0].facts.Turns != 1 {
		t.Errorf("decided %v with %d turns, want one turn", s.Decided, w.people[0].facts.Turns)
	}
	w.approve(w.people[1])
	w.settle()
	w.approve(w.people[0])
	s = w.settle()

	if s.Phase != Closed {
		t.Fatalf("phase %v", s.Phase)
	}
	if third.files[0].Here != mine {
		t.Error("the unpublished copy was replaced")
	}
	if got := s.Results[w.party(third)]; got[0] != ledger.KeptOwn || got[1] != ledger.Took {
		t.Errorf("results %v", got)
	}
}

func TestInterimSettlesOnSilence(t *testing.T) { // P18, P24
	w := newWorld(t)
	w.people[2].away = true

	if s := w.settle(); s.Phase != Opened {
		t.Fatalf("phase %v before the deadline", s.Phase)
	}
	w.pass(30*time.Minute - time.Second)
	if s := w.settle(); s.Phase != Opened {
		t.Fatal("the interim settled before its deadline")
	}
	w.pass(time.Second)
	s := w.settle()

	if s.Phase != Interim {
		t.Fatalf("phase %v after the deadline", s.Phase)
	}
}

func TestTheInterimIsInForceWithoutTheMainComputer(t *testing.T) { // P24
	w := newWorld(t)
	third := w.people[2]
	w.people[0].away = true
	third.files[0].Here, third.files[0].Class = w.open.Files[0].Base, ledger.HasOther

	w.settle()
	if third.files[0].Here != w.open.Files[0].Base {
		t.Fatal("a file was replaced before the interim was in force")
	}
	w.pass(30 * time.Minute)
	s := w.settle()

	if s.Phase != Opened || third.files[0].Here != w.open.Files[0].Master {
		t.Errorf("phase %v, file %v", s.Phase, third.files[0].Here)
	}
}

func TestTheAuthorKeepsItsCopyUntilTheFinal(t *testing.T) { // P18
	w := newWorld(t)
	author := w.people[1]
	author.onBase = true
	for i := range author.files {
		author.files[i] = File{Class: ledger.HasPull, Here: w.open.Files[i].Pull, Tip: w.open.Files[i].Master, Replaceable: true}
	}

	w.settle()
	w.pass(time.Hour)
	s := w.settle()

	if st := s.Statements[w.party(author)]; !st.Agreed() || st.Ack.Classes[0] != ledger.KeepsAuthor {
		t.Errorf("the author said %+v", st)
	}
	if author.files[0].Here != w.open.Files[0].Pull {
		t.Error("the author's copy was replaced before the final")
	}
	w.approve(author)
	w.settle()
	w.approve(w.people[0])
	if w.settle(); author.files[0].Here != blob("a.go final") {
		t.Error("the author's computer did not adopt the final")
	}
}

func TestAnUnverifiedFinalIsNeverAdopted(t *testing.T) { // P20
	w := newWorld(t)
	third := w.people[2]
	third.twisted = func(l *Look) { l.Final, l.FinalWhy = No, "the commit is not on master" }
	w.settle()
	w.approve(w.people[1])
	w.settle()
	w.approve(w.people[0])
	s := w.settle()

	if missing := s.Missing(); s.Phase != Final || len(missing) != 1 || missing[0] != w.party(third) {
		t.Fatalf("phase %v, missing %v", s.Phase, missing)
	}
	if len(third.last.Hold) != 2 {
		t.Error("the master sync may touch files of an unverified final")
	}
	w.pass(25 * time.Hour)
	w.settle()
	if third.card("C13") == nil {
		t.Error("no card says that GitHub does not hold the final")
	}
}

func TestAnApprovalOfOneHeadIsNoneOfAnother(t *testing.T) { // P15
	w := newWorld(t)
	author := w.people[1]
	w.settle()
	w.approve(author)
	w.github.head = blob("pushed by a person meanwhile")

	w.settle()

	if w.github.head != blob("pushed by a person meanwhile") {
		t.Error("the push went over a head that the approval did not see")
	}
}

func TestASideThatGivesUpHandsTheFinalOn(t *testing.T) { // P24
	w := newWorld(t)
	author := w.people[1]
	w.settle()
	author.facts.Merge = &Turn{For: w.state().Assign, GaveUp: true}
	w.pass(2 * time.Minute)

	s := w.settle()

	if s.Responsible == w.party(author) || s.Reassigns != 1 {
		t.Errorf("responsible %d after %d hand-overs", s.Responsible, s.Reassigns)
	}
}

func TestAnAwaySideLosesTheFinalAfterItsDay(t *testing.T) { // P24
	w := newWorld(t)
	author := w.people[1]
	author.away = true
	w.settle()
	w.pass(24*time.Hour - time.Minute)
	if s := w.settle(); s.Reassigns != 0 {
		t.Fatal("the final changed hands before its time was up")
	}
	w.pass(time.Minute)
	w.step(w.people[2])
	if w.people[2].card("C7") == nil {
		t.Error("no card says that the final is overdue")
	}
	s := w.settle()

	if s.Reassigns != 1 || s.Responsible == w.party(author) {
		t.Errorf("responsible %d after %d hand-overs", s.Responsible, s.Reassigns)
	}
}

func TestTurnsRunOutIntoACard(t *testing.T) { // P21, P22
	w := newWorld(t)
	author := w.people[1]
	author.facts.Turns = TurnsPerComputer

	w.settle()

	if author.card("C5") == nil && w.state().Reassigns == 0 {
		t.Error("the limit is spent, and nobody is told")
	}
	for _, a := range author.asked {
		if _, woke := a.(Wake); woke {
			t.Error("a fourth turn was spent")
		}
	}
}

func TestAPullRequestMergedElsewhereIsAdopted(t *testing.T) { // case 22
	w := newWorld(t)
	w.settle()
	w.do(w.people[2], Write{Binds{Action: "merge"}})

	s := w.settle()

	if s.Phase != Closed || s.Final.Via != ledger.FinalElsewhere {
		t.Errorf("phase %v, final %+v", s.Phase, s.Final)
	}
}

func TestAPullRequestClosedUnmergedEndsTheThread(t *testing.T) { // case 23
	w := newWorld(t)
	w.settle()
	w.github.closed = true

	if s := w.settle(); s.Phase != Closed || s.ClosedWhy != ledger.ClosedUnmerged {
		t.Errorf("phase %v, why %d", s.Phase, s.ClosedWhy)
	}
}

func TestGitHubsSilenceChangesNothing(t *testing.T) { // P10, case 56
	w := newWorld(t)
	w.settle()
	before := len(w.records)
	for _, c := range w.people {
		c.twisted = func(l *Look) { *l = Look{At: l.At, For: l.For, ForReady: l.ForReady} }
	}

	w.pass(time.Minute)
	w.settle()

	if len(w.records) != before {
		t.Errorf("%d records were written on no evidence", len(w.records)-before)
	}
}

func TestAskingTwiceAsksForTheSame(t *testing.T) {
	w := newWorld(t)
	for range 40 {
		for _, c := range w.people {
			s := w.state()
			self := w.observe(c, &s)
			one, two := Step(&s, self, c.facts, Contract(), w.now), Step(&s, self, c.facts, Contract(), w.now)
			if a, b := text(t, one), text(t, two); a != b {
				t.Fatalf("first %s\nthen %s", a, b)
			}
			w.step(c)
		}
		w.approve(w.people[0])
		w.approve(w.people[1])
	}
	if s := w.state(); s.Phase != Closed {
		t.Fatalf("the story ended in phase %v", s.Phase)
	}
}

func TestTheStateDependsOnTheSetOfRecordsAlone(t *testing.T) { // case 7
	w := newWorld(t)
	w.people[2].files[0] = File{Class: 0, Lines: 1, Here: blob("mine"), Tip: w.open.Files[0].Master}
	w.settle()
	w.approve(w.people[1])
	w.settle()
	w.approve(w.people[0])
	w.settle()
	want := text(t, w.state())

	random := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		random.Shuffle(len(w.records), func(i, j int) { w.records[i], w.records[j] = w.records[j], w.records[i] })
		twice := append(append([]*ledger.Record(nil), w.records...), w.records[0])
		if got := text(t, Fold(twice, w.rosters())); got != want {
			t.Fatalf("got %s\nwant %s", got, want)
		}
	}
}

func TestEveryPrefixOfAThreadFolds(t *testing.T) {
	w := newWorld(t)
	w.settle()
	w.approve(w.people[1])
	w.settle()
	w.approve(w.people[0])
	w.settle()
	random := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		some := append([]*ledger.Record(nil), w.records...)
		random.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
		s := Fold(some[:random.IntN(len(some)+1)], w.rosters())
		if s.Phase > None && s.Open == nil {
			t.Fatal("a phase without an open")
		}
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes.TrimSpace(b))
}
