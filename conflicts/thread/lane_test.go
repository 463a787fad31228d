package thread

import (
	"testing"
	"time"

	"github.com/parley-mesh/parley/ledger"
)

// laneWorld has three own computers and two of another developer, whose pull request it is.
func laneWorld(t *testing.T) (w *world, first, second *computer) {
	w = newWorldOf(t, 3, 2)
	return w, w.people[3], w.people[4]
}

func TestATeammatesPullRequestIsBuiltBehindTheLane(t *testing.T) { // P3, P14
	w, first, second := laneWorld(t)
	s := w.settle()
	if s.Phase != Interim || s.Responsible != w.party(first) || first.card("C2") == nil {
		t.Fatalf("phase %v, responsible %d, card %+v", s.Phase, s.Responsible, first.card("C2"))
	}
	if second.woken() > 0 || second.card("C2") != nil {
		t.Error("both computers of the lane build")
	}
	if s = w.published(); s.Phase != Closed || s.ClosedWhy != ledger.ClosedConfirmed {
		t.Fatalf("phase %v", s.Phase)
	}
	for _, c := range w.people {
		if c.files[0].Here != blob("a.go final") {
			t.Errorf("%s did not take the final", c.name)
		}
	}
}

func TestALaneIsOnePartyWhicheverComputerAnswers(t *testing.T) { // P3, D-20
	w, first, second := laneWorld(t)
	first.noDesk = true
	w.edits(first, 0, "mine")
	s := w.settle()
	if st := s.Statements[w.party(first)]; st.Device != second.dev || !st.Agreed() {
		t.Errorf("the lane's word is %+v", st)
	}
	first.noDesk = false
	for range 5 {
		w.pass(2 * time.Minute)
		w.settle()
	}
	said := 0
	for _, r := range w.records {
		if r.Device == first.dev {
			said++
		}
	}
	if said > 0 || first.files[0].Here != blob("mine") {
		t.Errorf("the other computer contradicts %d times, and holds %v", said, first.files[0].Here)
	}
}

func TestALaneTakesMastersCopyAndNoPick(t *testing.T) { // P5, case 49
	w, first, _ := laneWorld(t)
	third := w.people[2]
	w.main.desk = func(turn *Turn) { turn.Pick = []uint64{0, 1} }
	w.edits(w.people[1], 0, "mine")
	for _, c := range []*computer{third, first} {
		c.files[0].Here = w.open.Files[0].Base
	}
	s := w.settle()
	if len(s.Pick) != 2 {
		t.Fatalf("pick %v", s.Pick)
	}
	if third.files[0].Here != w.open.Files[0].Pull || third.files[1].Here != w.open.Files[1].Pull {
		t.Error("an own computer did not take what was picked")
	}
	if first.files[0].Here != w.open.Files[0].Master || first.files[1].Here != w.open.Files[1].Master {
		t.Error("a computer behind the lane holds something else than master's copy")
	}
}

func TestALaneThatIsSilentIsAComputerThatIsAway(t *testing.T) { // P4, case 47
	w, first, second := laneWorld(t)
	first.away, second.away = true, true
	w.settle()
	w.pass(30 * time.Minute)
	if s := w.settle(); s.Phase != Interim {
		t.Fatalf("phase %v", s.Phase)
	}
	w.pass(24 * time.Hour)
	s := w.settle()
	if s.Responsible == w.party(first) || s.AssignWhy != ledger.ReassignOverdue {
		t.Errorf("responsible %d for reason %d", s.Responsible, s.AssignWhy)
	}
	if s = w.published(); s.Phase != Final {
		t.Fatalf("phase %v", s.Phase)
	}
	first.away, second.away = false, false
	if s = w.settle(); s.Phase != Closed || first.files[0].Here != blob("a.go final") {
		t.Errorf("phase %v; the lane holds %v after it is on again", s.Phase, first.files[0].Here)
	}
}

func TestEveryComputerOfALaneTakesTheFinal(t *testing.T) { // P3, P24
	w, _, second := laneWorld(t)
	w.settle()
	second.away, w.people[2].away = true, true
	w.pass(time.Hour)
	if s := w.published(); s.Phase != Final || s.Adopted[w.party(second)] == (ledger.ID{}) {
		t.Fatalf("phase %v", s.Phase)
	}
	second.away = false
	if w.settle(); second.files[0].Here != blob("a.go final") {
		t.Error("the lane's other computer did not take what the first confirmed")
	}
}

func TestALaneDoesNotWorkForOthers(t *testing.T) { // case 50
	for _, account := range []Verdict{No, CannotTell} {
		w, first, second := laneWorld(t)
		first.account, second.account = account, account
		w.settle()
		w.pass(2 * time.Hour)
		s := w.settle()
		if first.woken()+second.woken() > 0 || s.GivenUp() {
			t.Errorf("account %v: the lane spent %d turns", account, first.woken()+second.woken())
		}
	}
}

func TestNoHandOverGoesToALaneThatIsNotTheAuthors(t *testing.T) { // P14
	w, first, _ := laneWorld(t)
	w.open.Resp = uint64(w.party(w.main))
	s := w.state()
	s.Open, s.Responsible = w.open, w.party(w.main)
	if s.MayBuild(w.party(first)) {
		t.Error("a lane that is not the author's may build")
	}
	w.main.facts.Presses.Assign = new(int)
	*w.main.facts.Presses.Assign = w.party(first)
	self := w.observe(w.main, &s)
	if e := Step(&s, self, w.main.facts, Contract(), w.now); e.Emit != nil && e.Emit.Content.Kind() == ledger.KindReassign {
		t.Errorf("a person's choice of that lane is said: %+v", e.Emit.Content)
	}
}

func TestALaneHasNoButtonForAnotherRound(t *testing.T) { // P23
	w, first, _ := laneWorld(t)
	first.desk = func(turn *Turn) { turn.GaveUp = true }
	w.main.away = true
	w.settle()
	if card := first.card("C5"); card == nil || card.Binds != nil {
		t.Errorf("card %+v", card)
	}
	w.press(first, Binds{Action: "round"})
	w.press(first, Binds{Action: "close"})
	w.step(first)
	for _, a := range first.last.Do {
		if _, tells := a.(Tell); tells {
			t.Error("a press crosses the lane")
		}
	}
}

// notices lists the causes that a computer asks messages for.
func (c *computer) notices() (out []uint64) {
	for _, n := range c.last.Notices {
		out = append(out, n.Cause)
	}
	return out
}

func TestOtherDevelopersHearOfSpentTurnsAndOverdueFinals(t *testing.T) { // P22, D-17
	w, first, _ := laneWorld(t)
	w.main.facts.Turns = TurnsPerComputer
	w.edits(w.people[2], 0, "mine")
	w.settle()
	if got := w.main.notices(); len(got) != 1 || got[0] != CauseTurns {
		t.Errorf("spent turns are told as %v", got)
	}
	w.main.facts.Turns, w.main.facts.TurnsToday = 0, TurnsPerDay
	w.step(w.main)
	if got := w.main.notices(); len(got) != 1 || got[0] != CauseDay {
		t.Errorf("a spent day is told as %v", got)
	}
	w.main.facts.TurnsToday = 0
	w.pass(25 * time.Hour)
	w.settle()
	if got := w.main.notices(); len(got) != 1 || got[0] != CauseOverdue {
		t.Errorf("an overdue final is told as %v", got)
	}
	if len(first.notices()) > 0 || first.card("C7") != nil {
		t.Error("a computer behind the lane tells others")
	}
}

func TestNobodyIsToldWhereNoLaneTakesPart(t *testing.T) { // P13, P22
	w := spent(t)
	w.people[1].away = true
	w.pass(25 * time.Hour)
	w.settle()
	for _, c := range w.people {
		if len(c.notices()) > 0 {
			t.Errorf("%s asks for messages %v", c.name, c.notices())
		}
	}
}
