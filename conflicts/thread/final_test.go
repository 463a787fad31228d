package thread

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-mesh/parley/ledger"
)

func TestAFinalThatGitHubDoesNotHoldIsACardAfterADay(t *testing.T) { // cases 30, 31, 32
	for name, show := range map[string]func(*Look){
		"GitHub does not hold the named final": func(l *Look) { l.Final, l.FinalWhy = No, "the commit it names is not on master" },
		"The named final could not be checked": func(l *Look) { l.Final = CannotTell },
	} {
		w := newWorld(t)
		third := w.people[2]
		third.twisted = show
		s := w.published()
		held := third.files[0].Here
		w.pass(24*time.Hour - time.Minute)
		if w.settle(); third.card("C13") != nil {
			t.Error("a card before the day is over")
		}
		w.pass(time.Minute)
		s = w.settle()
		if !third.has("C13", name) || s.Phase != Final || third.files[0].Here != held || len(third.last.Hold) != 2 {
			t.Errorf("card %+v, phase %v", third.card("C13"), s.Phase)
		}
	}
}

func TestAFinalThatDeletesAFileIsTakenAndSaidSo(t *testing.T) { // case 33
	w := newWorld(t)
	third := w.people[2]
	w.settle()
	w.approve(w.people[1])
	w.settle()
	w.approve(w.main)
	w.step(w.main)
	for _, c := range w.people {
		c.files[1].Tip = ""
	}
	s := w.settle()
	if s.Phase != Closed || third.files[1].Here != "" {
		t.Fatalf("phase %v, file %v", s.Phase, third.files[1].Here)
	}
	if got := s.Results[w.party(third)]; got[0] != ledger.Took || got[1] != ledger.TookDeletion {
		t.Errorf("results %v", got)
	}
}

func TestMastersTipIsTakenWhereItMovedOn(t *testing.T) { // case 34
	w := newWorld(t)
	w.settle()
	w.approve(w.people[1])
	w.settle()
	w.approve(w.main)
	w.step(w.main)
	w.github.tip = blob("later")
	for _, c := range w.people {
		c.files[0].Tip = blob("a.go later")
	}
	s := w.settle()
	if s.Phase != Closed || w.people[2].files[0].Here != blob("a.go later") {
		t.Errorf("phase %v, file %v", s.Phase, w.people[2].files[0].Here)
	}
}

func TestWorkWrittenOverTheFinalIsKept(t *testing.T) { // case 36
	w := newWorld(t)
	third := w.people[2]
	third.twisted = func(l *Look) { l.Final = CannotTell }
	w.published()
	w.edits(third, 0, "an editor saved late")
	third.files[0].Tip = blob("a.go final")
	third.twisted = nil
	s := w.settle()
	if third.files[0].Here != blob("an editor saved late") || s.Results[w.party(third)][0] != ledger.KeptOwn || !third.has("C9", "a.go") {
		t.Errorf("results %v, card %+v", s.Results[w.party(third)], third.card("C9"))
	}
	third.files[0] = File{Class: ledger.HasMaster, Here: blob("a.go final"), Tip: blob("a.go final"), Replaceable: true}
	if w.settle(); third.card("C9") != nil {
		t.Error("the card outlives the own copy")
	}
}

func TestAComputerThatAdoptedBeforeItDiedConfirms(t *testing.T) { // case 37
	w := newWorld(t)
	third := w.people[2]
	third.twisted = func(l *Look) { l.Final = CannotTell }
	w.published()
	third.twisted = nil
	for i := range third.files {
		third.files[i].Here = third.files[i].Tip
	}
	third.facts.Took = []int{0, 1}
	s := w.settle()
	if got := s.Results[w.party(third)]; s.Phase != Closed || got[0] != ledger.Took {
		t.Errorf("phase %v, results %v", s.Phase, got)
	}
}

func TestAMergeBeforeACrashIsNamedAfterIt(t *testing.T) { // case 38
	w := newWorld(t)
	w.settle()
	w.approve(w.people[1])
	s := w.settle()
	b := w.main.last.Offers[0]
	w.write(w.main, b)
	w.main.facts.MergeAct = &Approval{State: Consumed, Binds: b}
	if s = w.settle(); s.Phase != Closed || s.Final.Via != ledger.FinalHere || w.main.writes() > 0 {
		t.Errorf("phase %v, final %+v, %d writes", s.Phase, s.Final, w.main.writes())
	}
}

func TestALaptopThatSleptAWeekCatchesUp(t *testing.T) { // P24, case 46
	w := newWorld(t)
	third := w.people[2]
	third.away = true
	w.settle()
	w.pass(30 * time.Minute)
	w.published()
	w.pass(7 * 24 * time.Hour)
	w.press(w.main, Binds{Action: "close"})
	if s := w.settle(); s.Phase != Closed {
		t.Fatalf("phase %v", s.Phase)
	}
	third.away = false
	s := w.settle()
	if third.files[0].Here != blob("a.go final") || s.Adopted[w.party(third)] == (ledger.ID{}) {
		t.Errorf("file %v, confirmed %v", third.files[0].Here, s.Adopted)
	}
}

func TestAConfirmationStands(t *testing.T) { // P20
	w := newWorld(t)
	s := w.published()
	third := w.people[2]
	first := s.Adopted[w.party(third)]
	w.leaf(third, s.Final.ID, &ledger.Adopted{Tip: blob("t"), Results: []ledger.Result{ledger.KeptOwn, ledger.KeptOwn}})
	if s = w.state(); s.Adopted[w.party(third)] != first || s.Results[w.party(third)][0] != ledger.Took {
		t.Errorf("a later word replaced the confirmation: %v", s.Results[w.party(third)])
	}
}

func TestAResultThatMasterOvertookIsBuiltAgain(t *testing.T) { // case 62
	w := newWorld(t)
	author := w.people[1]
	w.settle()
	w.approve(author)
	w.settle()
	w.approve(w.main)
	w.github.tip = blob("master moved in a conflicted file")
	s := w.state()
	self := w.observe(w.main, &s)
	for _, a := range Step(&s, self, w.main.facts, Contract(), w.now).Do {
		if _, write := a.(Write); write {
			t.Fatal("the merge is asked for although the result is stale")
		}
	}
	author.twisted = func(l *Look) { l.HeadBase = blob("tip") }
	w.settle()
	if author.woken() != 2 || w.main.writes() > 0 || author.card("C2") == nil {
		t.Errorf("%d turns, %d merges", author.woken(), w.main.writes())
	}
	author.twisted = nil
	if s = w.published(); s.Phase != Closed {
		t.Errorf("phase %v", s.Phase)
	}
}

func TestAResultIsSaidToBeReadyOnce(t *testing.T) { // P20
	for _, v := range []Verdict{Yes, CannotTell} {
		w := newWorld(t)
		author := w.people[1]
		w.settle()
		w.approve(author)
		w.settle()
		before := len(w.records)
		author.twisted = func(l *Look) { l.Ready, l.HeadBase = v, l.Pull.Head }
		w.pass(2 * time.Minute)
		for range 3 {
			w.step(author)
		}
		for _, r := range w.records[before:] {
			if r.Kind == ledger.KindFinalReady {
				t.Errorf("verdict %d: the same result is said to be ready again", v)
			}
		}
	}
}

func TestALookAtAnotherStateDecidesNothing(t *testing.T) { // P10
	w := newWorld(t)
	w.settle()
	w.approve(w.people[1])
	w.github.closed = true
	before := len(w.records)
	for _, c := range w.people {
		c.twisted = func(l *Look) { l.For = w.records[0].ID }
	}
	w.pass(10 * time.Minute)
	if s := w.settle(); s.Phase != Interim || len(w.records) != before || w.people[1].writes() > 0 {
		t.Errorf("phase %v, %d records more", s.Phase, len(w.records)-before)
	}
	for _, c := range w.people {
		c.twisted = nil
	}
	if s := w.settle(); s.Phase != Closed {
		t.Errorf("phase %v once it was looked at again", s.Phase)
	}
}

func TestConflictMarkersAreNeverSaidToBeReady(t *testing.T) { // D-18
	w := newWorld(t)
	author := w.people[1]
	w.settle()
	w.github.head, w.github.clean = blob("pushed with markers"), true
	marked := func(l *Look) { l.Marked = []int{0} }
	author.twisted, w.main.twisted = marked, marked
	woken := author.woken()
	w.pass(2 * time.Minute)
	s := w.settle()
	if s.Ready != nil || author.woken() != woken+1 || author.card("C2") == nil {
		t.Errorf("ready %v, %d turns", s.Ready, author.woken())
	}
	w.leaf(author, s.Assign, &ledger.FinalReady{
		Head: w.github.head, BaseHead: w.github.tip, Tests: ledger.TestsNone,
		Files: []ledger.FileVersion{{File: 0, Blob: blob("x")}, {File: 1, Blob: blob("y")}},
	})
	if w.settle(); w.main.card("C3") != nil {
		t.Error("a merge with conflict markers is offered")
	}
}

func TestPublishedMarkersAreAWarningAndAdopted(t *testing.T) { // D-18
	w := newWorld(t)
	third := w.people[2]
	w.settle()
	third.twisted = func(l *Look) { l.Marked = []int{1} }
	s := w.published()
	if s.Phase != Closed || third.files[1].Here != blob("b.go final") || !third.has("C14", "b.go") {
		t.Errorf("phase %v, file %v, card %+v", s.Phase, third.files[1].Here, third.card("C14"))
	}
}

func TestWhatCouldNotBeToldIsSaidSo(t *testing.T) { // P10
	words := map[Verdict]string{No: "which it does not: because", CannotTell: "which it could not yet: because"}
	for v, word := range words {
		w := newWorld(t)
		third := w.people[2]
		third.twisted = func(l *Look) { l.Open, l.OpenWhy = v, "because" }
		w.settle()
		if !strings.Contains(third.last.Say, word) {
			t.Errorf("an opening of verdict %d: %s", v, third.last.Say)
		}
		third.twisted = func(l *Look) { l.Final, l.FinalWhy = v, "because" }
		w.pass(time.Hour)
		w.published()
		if !strings.Contains(third.last.Say, word) {
			t.Errorf("a final of verdict %d: %s", v, third.last.Say)
		}
	}
}

func TestEveryWaitSaysWhoWhatSinceAndWhatThen(t *testing.T) {
	w := newWorld(t)
	var said []string
	tell := func() {
		for _, c := range w.people {
			if c.away {
				continue
			}
			for _, wait := range c.last.Waits {
				if wait.Who == "" || wait.What == "" || wait.Next == "" {
					t.Errorf("%s: %+v", c.name, wait)
				}
			}
			if c.last.Say == "" {
				t.Errorf("%s says nothing", c.name)
			}
		}
		said = append(said, w.people[2].last.Say)
	}
	w.people[1].away = true
	w.settle()
	tell()
	w.pass(time.Hour)
	w.people[1].away = false
	w.settle()
	w.pass(time.Minute)
	w.settle()
	tell()
	w.approve(w.people[1])
	w.settle()
	tell()
	w.people[1].away = true
	w.approve(w.main)
	w.settle()
	tell()
	w.people[1].away = false
	w.settle()
	tell()
	want := []string{
		"waits for two to build and test the merged result, since 09:00; at 2026-03-02 09:00 the final is overdue",
		"waits for a person at two to approve the push of the result, since 10:01; at 2026-03-02 09:00 the final is overdue",
		"waits for a person at the main computer to approve the merge into master, since 10:01; at 2026-03-02 09:00 the final is overdue",
		"waits for two to confirm the final, which is published, since 10:01; then the conversation is closed; nobody is held up",
		"closed: every computer has confirmed",
	}
	if !slices.Equal(said, want) {
		t.Errorf("said %q", said)
	}
}

func TestAResultThatDoesNotHoldIsNotSaidToBeReady(t *testing.T) { // P10, P20
	w := newWorld(t)
	w.settle()
	w.approve(w.people[1])
	if s := w.settle(); s.Ready == nil {
		t.Fatal("nothing is ready")
	}
	for _, c := range w.people {
		c.noDesk = true
		c.twisted = func(l *Look) { l.Ready, l.ReadyWhy = No, "a file changed on master since it was tested" }
	}
	w.pass(25 * time.Hour)
	w.settle()
	for _, c := range w.people {
		words := []string{c.last.Say}
		for _, wait := range c.last.Waits {
			words = append(words, wait.Sentence(w.now))
		}
		for _, card := range c.last.Cards {
			words = append(words, card.What, card.Why)
		}
		for _, said := range words {
			if strings.Contains(said, "is ready") || strings.Contains(said, "approve the merge") || strings.Contains(said, "its merge waits") {
				t.Errorf("%s: %q", c.name, said)
			}
		}
	}
}
