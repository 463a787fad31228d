package thread

import (
	"testing"
	"time"

	"github.com/parley-mesh/parley/ledger"
)

func TestARemovedResponsibleSideLosesTheFinal(t *testing.T) { // P24, case 51
	w := newWorld(t)
	author := w.people[1]
	w.settle()
	w.removes(w.main, author)
	s := w.settle()
	if !s.Gone[w.party(author)] || s.Responsible == w.party(author) || s.AssignWhy != ledger.ReassignRevoked {
		t.Errorf("gone %v, responsible %d for reason %d", s.Gone, s.Responsible, s.AssignWhy)
	}
}

func TestARemovedComputerIsWaitedForNoMore(t *testing.T) { // D-14, case 51
	w := newWorld(t)
	w.people[2].away = true
	if s := w.settle(); s.Phase != Opened {
		t.Fatal("settled without the third computer")
	}
	w.removes(w.main, w.people[2])
	if s := w.settle(); s.Phase != Interim || !s.AllAgreed() {
		t.Errorf("phase %v after the silent computer was removed", s.Phase)
	}
	if s := w.published(); s.Phase != Closed || s.ClosedWhy != ledger.ClosedConfirmed {
		t.Errorf("phase %v, why %d", s.Phase, s.ClosedWhy)
	}
}

func TestARemovalEndsTheWaitForAConfirmation(t *testing.T) { // P20, D-14
	w := newWorld(t)
	w.settle()
	w.people[2].away = true
	if s := w.published(); s.Phase != Final || len(s.Missing()) != 1 {
		t.Fatalf("phase %v, missing %v", s.Phase, s.Missing())
	}
	w.removes(w.main, w.people[2])
	if s := w.settle(); s.Phase != Closed || s.ClosedWhy != ledger.ClosedConfirmed {
		t.Errorf("phase %v", s.Phase)
	}
}

func TestARemovedComputerDoesNothing(t *testing.T) { // case 51
	w := newWorld(t)
	w.settle()
	w.removes(w.main, w.people[1])
	w.step(w.people[1])
	if e := w.people[1].last; e.Emit != nil || len(e.Do) > 0 || len(e.Cards) > 0 {
		t.Errorf("asks for %+v", e)
	}
}

func TestAllWhoTriedInVainLeaveACardThatSaysSo(t *testing.T) { // P22, B6
	w := spent(t)
	for range 4 {
		w.settle()
		w.pass(2 * time.Minute)
	}
	s := w.settle()
	if len(s.Successors) != 2 || !s.GivenUp() {
		t.Errorf("successors %v, given up %v", s.Successors, s.GivenUp())
	}
	last := w.main
	for _, c := range w.people {
		if w.party(c) == s.Responsible {
			last = c
		}
	}
	if last.card("C5") == nil || w.main.card("C5") == nil {
		t.Error("nobody is told that the agents could not agree")
	}
}

func TestAGiveUpBeforeAnotherRoundCountsForNothing(t *testing.T) { // P23, D-15
	w := newWorld(t)
	author := w.people[1]
	w.main.away = true
	author.facts.Turns = TurnsPerComputer
	w.settle()
	if s := w.state(); !s.GivenUp() {
		t.Fatal("the author's computer does not give up")
	}
	w.spine(w.main, &ledger.Reassign{To: uint64(w.party(author)), Why: ledger.ReassignRefill, Round: 1})
	if s := w.state(); s.GivenUp() {
		t.Error("a give-up of the round before counts")
	}
	w.main.away = false
	if s := w.settle(); s.Responsible != w.party(author) {
		t.Error("the refill did not keep the responsible side")
	}
}

func TestTheFinalGoesToWhoWasHeardOfLast(t *testing.T) { // B7
	for _, last := range []int{2, 3} {
		w := newWorldOf(t, 4, 0)
		w.settle()
		for _, c := range w.people[1:] {
			c.away = true
		}
		w.pass(24 * time.Hour)
		w.people[last].seen = w.now.Add(-time.Hour)
		w.step(w.main)
		if s := w.state(); s.Responsible != w.party(w.people[last]) {
			t.Errorf("responsible %d, want %d", s.Responsible, w.party(w.people[last]))
		}
	}
}

func TestAHandOverHasAFreshDayAndItsCard(t *testing.T) { // P24
	w := newWorld(t)
	w.settle()
	w.people[1].away = true
	w.pass(24 * time.Hour)
	s := w.settle()
	if s.Reassigns != 1 || s.AssignAt != uint64(w.now.UnixMilli()) {
		t.Fatalf("%d hand-overs, the last at %d", s.Reassigns, s.AssignAt)
	}
	if !w.main.has("C7", "was away past its time") {
		t.Errorf("the hand-over shows %+v", w.main.card("C7"))
	}
	w.pass(24*time.Hour - time.Minute)
	if w.settle(); w.state().Reassigns != 1 {
		t.Error("the second side had less than its day")
	}
}

func TestAnAbsentMainComputerIsNamedWithTheOverdueFinal(t *testing.T) { // case 21
	w := newWorld(t)
	third := w.people[2]
	w.main.away, w.people[1].away = true, true
	w.settle()
	w.pass(30 * time.Minute)
	third.files[0].Here = w.open.Files[0].Base
	if s := w.settle(); s.Phase != Opened || third.files[0].Here != w.open.Files[0].Master {
		t.Error("the interim did not settle by silence")
	}
	w.pass(24 * time.Hour)
	s := w.settle()
	if s.Reassigns != 0 || !third.has("C7", "main computer away — take over?") {
		t.Errorf("%d hand-overs, card %+v", s.Reassigns, third.card("C7"))
	}

	w.claims(third)
	if s = w.settle(); s.Reassigns != 1 || s.Phase != Interim {
		t.Errorf("phase %v with %d hand-overs after the take-over", s.Phase, s.Reassigns)
	}
}

func TestAPersonWhoNeverApprovesLosesNothing(t *testing.T) { // case 63
	w := newWorld(t)
	author := w.people[1]
	for range 60 {
		w.pass(time.Hour)
		w.settle()
	}
	s := w.state()
	if s.Reassigns != 0 || author.woken() != 1 || author.card("C2") == nil {
		t.Errorf("%d hand-overs, %d turns", s.Reassigns, author.woken())
	}
	if !author.has("C7", "its push waits for a person here") || !w.main.has("C7", "its push waits for a person at two") {
		t.Errorf("cards %+v and %+v", author.card("C7"), w.main.card("C7"))
	}
}

func TestAMergeThatNobodyApprovesIsNoHandOver(t *testing.T) { // case 63
	w := newWorld(t)
	w.settle()
	w.approve(w.people[1])
	for range 60 {
		w.pass(time.Hour)
		w.settle()
	}
	if s := w.state(); s.Reassigns != 0 || !w.main.has("C7", "its merge waits for a person at this computer") || !w.people[2].has("C7", "the main computer") {
		t.Errorf("%d hand-overs, card %+v", s.Reassigns, w.main.card("C7"))
	}
}

func TestAReadyResultIsNotHandedOverThoughItsSideIsAway(t *testing.T) { // B7
	w := newWorld(t)
	w.settle()
	w.approve(w.people[1])
	w.settle()
	w.people[1].away = true
	w.pass(25 * time.Hour)
	if s := w.settle(); s.Reassigns != 0 || s.Ready == nil || w.main.card("C3") == nil {
		t.Errorf("%d hand-overs, ready %v", s.Reassigns, s.Ready)
	}
}

func TestARemovedComputerNeverGetsTheFinal(t *testing.T) { // case 51
	w := newWorldOf(t, 4, 0)
	w.settle()
	w.people[1].away, w.people[3].away = true, true
	w.removes(w.main, w.people[2])
	w.pass(25 * time.Hour)
	w.people[2].seen = w.now
	w.step(w.main)
	if s := w.state(); s.Responsible != w.party(w.people[3]) {
		t.Errorf("responsible %d, want %d", s.Responsible, w.party(w.people[3]))
	}
}

func TestAPushThatGitHubForbidsIsGivenUpWithItsReason(t *testing.T) { // case 64
	w := newWorld(t)
	author := w.people[1]
	w.settle()
	author.facts.PushAct = &Approval{State: Void, Denied: true, Why: "GitHub does not let this account push", Binds: author.last.Offers[0]}
	w.step(author)
	if !author.has("C2", maintainers) || author.card("C2").Binds != nil {
		t.Errorf("card %+v", author.card("C2"))
	}
	w.pass(2 * time.Minute)
	if s := w.settle(); s.Reassigns == 0 || s.AssignWhy != ledger.ReassignGaveUp {
		t.Errorf("%d hand-overs for reason %d", s.Reassigns, s.AssignWhy)
	}
}

func TestAPushWithoutAWordIsSaidByTheNext(t *testing.T) { // case 59
	w := newWorld(t)
	author, third := w.people[1], w.people[2]
	w.settle()
	author.away = true
	w.github.head, w.github.clean = blob("pushed"), true
	w.pass(24 * time.Hour)
	s := w.settle()
	if s.Responsible != w.party(third) || s.Ready == nil || s.Ready.Head != blob("pushed") || third.woken() != 0 {
		t.Errorf("responsible %d, ready %v, %d turns", s.Responsible, s.Ready, third.woken())
	}
	if w.main.card("C3") == nil {
		t.Error("no card asks for the merge")
	}
}

func TestObjectionsWakeTheAgentOnceEach(t *testing.T) { // P19, D-16
	w := newWorldOf(t, 4, 0)
	w.main.desk = func(turn *Turn) { turn.GaveUp = true }
	for _, c := range w.people[2:] {
		w.edits(c, 0, "mine "+c.name)
	}
	w.settle()
	for range 10 {
		w.pass(time.Hour)
		w.settle()
	}
	if n := w.main.woken(); n != 2 {
		t.Errorf("two objections woke the agent %d times", n)
	}
	if s := w.state(); s.Decided || s.Phase != Interim {
		t.Errorf("phase %v, decided %v", s.Phase, s.Decided)
	}
}

func TestAnObjectionAfterTheInterimIsDecidedOnce(t *testing.T) { // case 58
	w := newWorld(t)
	third := w.people[2]
	w.main.desk = func(turn *Turn) { turn.Pick = []uint64{1} }
	if s := w.settle(); s.Phase != Interim || s.Decided {
		t.Fatalf("phase %v", s.Phase)
	}
	w.edits(third, 0, "mine")
	w.pass(2 * time.Minute)
	s := w.settle()
	if !s.Decided || len(s.Pick) != 1 || w.main.woken() != 1 {
		t.Fatalf("decided %v, pick %v, %d turns", s.Decided, s.Pick, w.main.woken())
	}
	w.edits(third, 1, "mine too")
	w.pass(2 * time.Minute)
	w.settle()
	if w.main.woken() != 1 || third.files[0].Here != blob("mine") {
		t.Error("a decided thread woke the agent again, or own work was replaced")
	}
}

func TestAnObjectionThatIsWithdrawnIsAgreement(t *testing.T) { // P18
	w := newWorld(t)
	third := w.people[2]
	w.main.noDesk = true
	w.edits(third, 0, "mine")
	if s := w.settle(); s.Phase != Opened {
		t.Fatalf("phase %v with an objection", s.Phase)
	}
	third.files[0] = File{Class: ledger.HasMaster, Here: w.open.Files[0].Master, Tip: w.open.Files[0].Master, Replaceable: true}
	w.pass(2 * time.Minute)
	if s := w.settle(); s.Phase != Interim || s.Decided {
		t.Errorf("phase %v, decided %v", s.Phase, s.Decided)
	}
}

func TestAHesitatingComputerSpeaksOnceAMinute(t *testing.T) { // P19
	w := newWorld(t)
	third := w.people[2]
	w.main.noDesk = true
	before := 0
	for i := range 60 {
		if i%2 == 0 {
			w.edits(third, 0, "mine")
		} else {
			third.files[0] = File{Class: ledger.HasMaster, Here: w.open.Files[0].Master, Tip: w.open.Files[0].Master}
		}
		w.settle()
		w.pass(10 * time.Second)
	}
	for _, r := range w.records {
		if r.Device == third.dev {
			before++
		}
	}
	if before < 2 || before > 11 {
		t.Errorf("%d statements in ten minutes", before)
	}
}
