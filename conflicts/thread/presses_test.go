package thread

import (
	"testing"
	"time"

	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
)

// spent is a world in which every computer has used its turns and nothing is built.
func spent(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	for _, c := range w.people {
		c.facts.Turns = TurnsPerComputer
	}
	return w
}

func TestAnotherRoundStartsTheAllowanceOverAndWakesTheAgentAgain(t *testing.T) { // P23
	w := spent(t)
	s := w.settle()
	last := w.people[s.Responsible]
	for _, c := range w.people {
		if w.party(c) == s.Responsible {
			last = c
		}
	}
	card := last.card("C5")
	if card == nil || card.Binds == nil || card.Binds.Action != "round" || card.Binds.Round != s.Round {
		t.Fatalf("the card of the computer that has no turn left: %+v", card)
	}
	resp, assign, woken := s.Responsible, s.Assign, last.woken()

	w.press(last, *card.Binds)
	w.pass(2 * time.Minute)
	s = w.settle()

	if s.Round != 1 || s.Responsible != resp || s.Assign != assign {
		t.Errorf("round %d, responsible %d under %v; want another round of the same assignment", s.Round, s.Responsible, s.Assign)
	}
	if last.woken() != woken+1 || last.card("C2") == nil {
		t.Error("the agent whose turn was refused was not woken again")
	}
}

func TestAnotherRoundIsAskedForUntilTheRecordsShowIt(t *testing.T) { // P23
	w := spent(t)
	w.settle()
	third := w.people[2]
	w.main.away = true
	w.press(third, Binds{Action: "round"})
	for range 3 {
		w.pass(2 * time.Minute)
		w.settle()
		tell, told := third.last.Do[0].(Tell)
		if !told || tell.Binds.Action != "round" || tell.Binds.Round != 0 || tell.Binds.Pull != 42 {
			t.Fatalf("asks for %+v, want the main computer told", third.last.Do)
		}
		if third.card("C5") != nil {
			t.Error("the card stays while another round is under way")
		}
	}

	w.main.away = false
	w.pass(2 * time.Minute)
	if s := w.settle(); s.Round != 1 {
		t.Fatalf("round %d after the main computer came back", s.Round)
	}
	for _, a := range third.last.Do {
		if _, tells := a.(Tell); tells {
			t.Error("the main computer is told of what the records show")
		}
	}
}

func TestNobodyButTheMainComputerSaysAnotherRound(t *testing.T) { // P23
	w := newWorld(t)
	w.main.away = true
	for _, c := range w.people[1:] {
		w.press(c, Binds{Action: "round"})
	}
	w.settle()
	for _, r := range w.records {
		if r.Kind == ledger.KindReassign {
			t.Error("a computer that is not the main one raised the round")
		}
	}
}

func TestAThreadHasSixteenHandOversAndRoundsAtMost(t *testing.T) { // P23
	w := spent(t)
	author := w.people[1]
	for i := range reassignsMax + 3 {
		w.spine(w.main, &ledger.Reassign{To: uint64(w.party(author)), Why: ledger.ReassignRefill, Round: uint64(min(i, reassignsMax) + 1)})
	}
	s := w.state()
	if s.Reassigns != reassignsMax || s.Round != reassignsMax || len(s.Refused) != 3 {
		t.Fatalf("%d hand-overs, round %d, %d refused", s.Reassigns, s.Round, len(s.Refused))
	}
	author.round, author.facts.Turns = s.Round, TurnsPerComputer
	w.press(w.main, Binds{Action: "round"})
	w.pass(25 * time.Hour)
	s = w.settle()
	if s.Reassigns != reassignsMax {
		t.Error("another one is asked for")
	}
	if card := author.card("C5"); card == nil || card.Binds != nil || !author.has("C5", "all its rounds") {
		t.Errorf("card %+v", card)
	}
}

func TestTheDaysLimitHasNoRefill(t *testing.T) { // P23
	w := newWorld(t)
	author := w.people[1]
	author.facts.TurnsToday = TurnsPerDay
	w.settle()
	if card := author.card("C6"); card == nil || card.Binds != nil || !author.has("C6", "a refill cannot help") {
		t.Errorf("card %+v", card)
	}
	if author.card("C5") != nil || author.woken() > 0 {
		t.Error("the day's limit is taken for the conflict's, or was passed")
	}
}

func TestAClosedConversationIsClosedByAPersonAnywhere(t *testing.T) { // D-14
	for _, who := range []int{0, 2} {
		w := newWorld(t)
		w.settle()
		w.press(w.people[who], Binds{Action: "close"})
		s := w.settle()
		if s.Phase != Closed || s.ClosedWhy != ledger.ClosedPerson || len(s.Skipped) != 3 {
			t.Errorf("pressed at %d: phase %v, why %d, skipped %v", who, s.Phase, s.ClosedWhy, s.Skipped)
		}
		if hold := w.people[1].last.Hold; len(hold) > 0 {
			t.Errorf("files %v are held after the end", hold)
		}
	}
}

func TestAPersonMayCloseWhenOneComputerNeverConfirms(t *testing.T) { // P20, D-14
	w := newWorld(t)
	w.people[2].twisted = func(l *Look) { l.Final = CannotTell }
	if s := w.published(); s.Phase != Final {
		t.Fatalf("phase %v", s.Phase)
	}
	w.press(w.main, Binds{Action: "close"})
	s := w.settle()
	if s.Phase != Closed || len(s.Skipped) != 1 || s.Skipped[0] != uint64(w.party(w.people[2])) {
		t.Errorf("phase %v, skipped %v", s.Phase, s.Skipped)
	}
	w.people[2].twisted = nil
	if s = w.settle(); s.Adopted[w.party(w.people[2])] == (ledger.ID{}) {
		t.Error("the late computer does not confirm any more")
	}
}

func TestAPersonChoosesWhoBuildsTheFinal(t *testing.T) { // P24
	w := newWorld(t)
	third := w.people[2]
	w.settle()
	w.press(third, Binds{Action: "assign", Party: w.party(third)})
	s := w.settle()
	if s.Responsible != w.party(third) || s.AssignWhy != ledger.ReassignPerson || s.Round != 1 || s.Assign != s.Head() {
		t.Errorf("responsible %d, why %d, round %d", s.Responsible, s.AssignWhy, s.Round)
	}
	if third.card("C2") == nil {
		t.Error("the chosen computer does not build")
	}
}

// fork makes a computer sign a second record at the place of its last one, as a copied key would.
func (w *world) fork(c *computer) {
	w.t.Helper()
	tid := w.open.Key().Thread()
	var last *ledger.Record
	for _, r := range w.records {
		if r.Device == c.dev && r.Kind != ledger.KindOpen {
			last = r
		}
	}
	r, err := ledger.Seal(c.key, ledger.Header{
		Ledger: tid, Inc: last.Inc, Seq: last.Seq, Prev: last.Prev, Lam: last.Lam, At: last.At + 1, Open: last.Open,
		Re: []ledger.ID{w.records[0].ID},
	}, &ledger.Ack{Classes: []ledger.Class{ledger.NotHere, ledger.NotHere}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.records = append(w.records, r)
	c.inc[7]++ // what it says from here on is under another incarnation
	delete(c.heads, tid)
}

func TestTwoHistoriesRestEveryApprovalUntilAPersonHasLooked(t *testing.T) { // case 12
	w := newWorld(t)
	author, third := w.people[1], w.people[2]
	w.settle()
	w.approve(author)
	w.fork(third)
	w.settle()
	card := author.card("C11")
	if card == nil || card.Binds == nil || card.Binds.Action != "fork" || card.Binds.Devices != third.name {
		t.Fatalf("card %+v", card)
	}
	if author.writes() > 0 || w.github.head != blob("head") {
		t.Fatal("an approval was used while two histories stand unseen")
	}
	if c2 := author.card("C2"); c2 == nil || c2.Binds != nil {
		t.Errorf("the resting approval shows %+v", c2)
	}

	w.press(author, *card.Binds)
	s := w.settle()
	if author.writes() != 1 || s.Ready == nil {
		t.Error("the approval is not used after a person looked")
	}
	w.approve(w.main)
	if w.settle(); w.github.isMerged {
		t.Error("a look at one computer let another computer write")
	}
	w.press(w.main, *w.main.card("C11").Binds)
	w.settle()
	w.approve(w.main)
	if s := w.settle(); s.Phase != Closed {
		t.Errorf("phase %v", s.Phase)
	}
}

func TestAdoptionGoesOnDespiteTwoHistories(t *testing.T) { // case 12
	w := newWorld(t)
	w.people[2].away = true
	w.published()
	w.fork(w.people[1])
	w.people[2].away = false
	s := w.settle()
	if s.Adopted[w.party(w.people[2])] == (ledger.ID{}) || len(s.Forked) != 1 {
		t.Errorf("confirmed %v with %v forked", s.Adopted, s.Forked)
	}
}

func TestAComputerStatesAgainWhatItsOtherHistoryLost(t *testing.T) { // case 12
	w := newWorld(t)
	third := w.people[2]
	for try := 0; ; try++ {
		if try == 40 {
			t.Fatal("the second history never has the lower id")
		}
		w.settle()
		w.fork(third)
		if st := w.state().Statements[w.party(third)]; st.Agreed() && st.Ack.Classes[0] == ledger.NotHere {
			break
		}
		w = newWorld(t)
		w.now = w.now.Add(time.Duration(try) * time.Second)
		third = w.people[2]
	}
	w.pass(time.Minute)
	s := w.settle()
	if st := s.Statements[w.party(third)]; !st.Agreed() || st.Ack.Classes[0] != ledger.HasMaster {
		t.Errorf("the third computer leaves it at %+v", st.Ack)
	}
}

func TestWithoutOneMainComputerNothingIsWritten(t *testing.T) { // P22, case 18
	for _, role := range []lanes.Role{lanes.RoleNone, lanes.RoleContested} {
		w := newWorld(t)
		author := w.people[1]
		w.settle()
		w.approve(author)
		s := w.state()
		self := w.observe(author, &s)
		self.Role = role
		e := Step(&s, self, author.facts, Contract(), w.now)
		for _, a := range e.Do {
			if _, write := a.(Write); write {
				t.Errorf("with role %v a write is asked for", role)
			}
		}
		if len(e.Offers) != 1 {
			t.Errorf("with role %v the approval is void", role)
		}
	}
}

func TestAContestedRoleLetsInterimsAndAdoptionsGoOn(t *testing.T) { // case 18
	w := newWorld(t)
	third := w.people[2]
	third.files[0].Here = w.open.Files[0].Base
	other := w.fleets[0].roster.Claiming()
	other.Over = nil
	third.claim = w.roster(third, nil, other).ID
	if role, _ := w.fleets[0].roster.Main(); role != lanes.RoleContested {
		t.Fatalf("role %v", role)
	}
	w.settle()
	w.pass(30 * time.Minute)
	s := w.settle()
	if s.Phase != Opened || third.files[0].Here != w.open.Files[0].Master || !s.AllAgreed() {
		t.Errorf("phase %v, agreed %v", s.Phase, s.AllAgreed())
	}
	w.claims(w.main)
	if s = w.published(); s.Phase != Closed {
		t.Errorf("phase %v after one was chosen", s.Phase)
	}
}

func TestAPersonKeepsItsCopyUntilTheFinal(t *testing.T) { // P19
	w := newWorld(t)
	third := w.people[2]
	third.files[0].Here = w.open.Files[0].Base
	third.facts.Presses.Keep = true
	s := w.settle()
	if st := s.Statements[w.party(third)]; !st.Objected() || st.Object.Why != ledger.ObjectPerson || !s.Decided {
		t.Fatalf("said %+v, decided %v", st, s.Decided)
	}
	w.pass(time.Hour)
	if w.settle(); third.files[0].Here != w.open.Files[0].Base {
		t.Error("the copy that a person keeps was replaced")
	}
	w.published()
	if third.files[0].Here != blob("a.go final") {
		t.Error("a published copy outlived the final")
	}
}

// everybodyHadIt is a conversation whose final every computer has had; the last one is away, and its day is over.
func everybodyHadIt(t *testing.T) *world {
	w := newWorld(t)
	w.settle()
	w.people[1].away, w.people[2].away, w.main.noDesk = true, true, true
	for range 2 {
		w.pass(25 * time.Hour)
		w.settle()
	}
	w.main.noDesk = false
	s := w.state()
	to := w.party(w.people[2])
	w.spine(w.main, &ledger.Reassign{To: uint64(to), Why: ledger.ReassignPerson, Round: s.Round + 1})
	w.settle()
	w.pass(25 * time.Hour)
	if s = w.settle(); s.Responsible != to || len(s.Successors) != 2 {
		t.Fatalf("responsible %d, successors %v", s.Responsible, s.Successors)
	}
	return w
}

func TestTheLastResortNamesWhatAPersonCanDo(t *testing.T) { // P22, P23, P24, L4
	w := everybodyHadIt(t)
	for _, part := range []string{"assign it", "another round", "close the conversation"} {
		if !w.main.has("C7", part) {
			t.Errorf("the card does not name %q: %+v", part, w.main.card("C7"))
		}
	}
	before := w.state().Reassigns
	w.pass(time.Hour)
	if s := w.settle(); s.Reassigns != before {
		t.Error("it changes hands without a person")
	}
	w.press(w.main, Binds{Action: "assign", Party: w.party(w.main)})
	s := w.settle()
	if s.Responsible != w.party(w.main) || w.main.card("C2") == nil {
		t.Errorf("after the press party %d has the final; cards %+v", s.Responsible, w.main.last.Cards)
	}
}
