package thread

import (
	"slices"
	"testing"
	"time"

	"github.com/parley-mesh/parley/ledger"
)

func TestARecordOfAClosedThreadCountsForNothing(t *testing.T) { // case 5
	w := newWorld(t)
	w.published()
	before := w.state()
	w.spine(w.main, &ledger.Interim{Why: ledger.InterimDecided})
	w.spine(w.main, &ledger.Reassign{Why: ledger.ReassignPerson, Round: 1})
	w.records = append(w.records, w.records[3], w.records[0])
	s := w.state()
	if s.Hash() != before.Hash() || len(s.Refused) != 2 {
		t.Errorf("phase %v, refused %d", s.Phase, len(s.Refused))
	}
}

func TestAnOldRecordRollsNothingBack(t *testing.T) { // case 6
	w := newWorld(t)
	first := w.spine(w.main, &ledger.Interim{Why: ledger.InterimAgreed})
	w.spine(w.main, &ledger.Interim{Why: ledger.InterimDecided, Pick: []uint64{0}})
	before := w.state()
	w.records = append(w.records, first)
	late := w.say(w.main, ledger.Header{Ledger: before.Ledger, Open: before.Root.ID, Spine: first.ID, Claim: w.main.claim},
		&ledger.Closed{Why: ledger.ClosedPerson})
	s := w.state()
	if s.Phase != Interim || len(s.Spine) != 3 || s.Head() == late.ID {
		t.Errorf("phase %v, spine of %d", s.Phase, len(s.Spine))
	}
}

func TestAChainCountsUpToItsGap(t *testing.T) { // case 8
	w := newWorld(t)
	third := w.people[2]
	w.leaf(third, w.records[0].ID, w.ack(ledger.HasPull))
	missing := w.leaf(third, w.records[0].ID, w.ack(ledger.HasOther))
	w.leaf(third, w.records[0].ID, w.ack(ledger.HasMaster))
	w.records = slices.DeleteFunc(w.records, func(r *ledger.Record) bool { return r.ID == missing.ID })
	class := func() ledger.Class { s := w.state(); return s.Statements[w.party(third)].Ack.Classes[0] }
	if got := class(); got != ledger.HasPull {
		t.Errorf("with a gap the word is %d", got)
	}
	w.records = append(w.records, missing)
	if got := class(); got != ledger.HasMaster {
		t.Errorf("with the gap filled the word is %d", got)
	}
}

func TestWhatIsNotUnderstoodStopsThisComputerAlone(t *testing.T) { // P25, case 11
	w := newWorld(t)
	s := w.published()
	third := w.people[2]
	s.Opaque, s.Adopted[w.party(third)] = true, ledger.ID{}
	e := Step(&s, w.observe(third, &s), third.facts, Contract(), w.now)
	if e.Emit != nil || len(e.Do) > 0 || len(e.Cards) != 1 || e.Cards[0].Code != "C10" || len(e.Hold) != 2 {
		t.Errorf("asks for %+v", e)
	}
}

// rival makes another open of the same conflict, by a computer under its claim.
func (w *world) rival(c *computer, at time.Duration) *ledger.Record {
	w.t.Helper()
	w.now = w.now.Add(at)
	open := *w.open
	return w.say(c, ledger.Header{Ledger: open.Key().Thread(), Claim: c.claim}, &open)
}

func TestTwoOpensOfOneMainAreOneThread(t *testing.T) { // case 13
	w := newWorld(t)
	w.settle()
	first := w.state()
	for range 20 {
		w.rival(w.main, time.Second)
	}
	w.pass(time.Hour)
	s := w.settle()
	if s.Ledger != first.Ledger || s.Phase != Interim || len(s.Refused) == 0 {
		t.Fatalf("phase %v", s.Phase)
	}
	for _, r := range w.records {
		if r.Kind == ledger.KindOpen && r.ID.Less(s.Root.ID) {
			t.Error("another open than the one of the lowest id counts")
		}
	}
	for i, st := range s.Statements {
		if st.Re != s.Root.ID {
			t.Errorf("party %d did not answer the open that counts", i)
		}
	}
}

func TestTheOpenOfTheHigherTermCounts(t *testing.T) { // case 14
	w := newWorld(t)
	w.settle()
	third := w.people[2]
	w.claims(third)
	later := w.rival(third, time.Minute)
	w.pass(time.Hour)
	s := w.settle()
	if s.Root.ID != later.ID || s.Term != 2 || s.Phase != Interim {
		t.Errorf("term %d, phase %v", s.Term, s.Phase)
	}
	for i, st := range s.Statements {
		if st.Re != later.ID {
			t.Errorf("party %d did not answer again", i)
		}
	}
}

func TestTheAuthorsOwnFleetOpensBeforeATeammates(t *testing.T) { // case 15
	w, first, _ := laneWorld(t)
	w.settle()
	w.claims(first)
	own := *w.open
	own.Fleet, own.Resp = first.fleet.id, 0
	own.Parties = nil
	for _, d := range first.fleet.roster.Devices() {
		own.Parties = append(own.Parties, ledger.DeviceParty(d))
	}
	r := w.say(first, ledger.Header{Ledger: own.Key().Thread(), Claim: first.claim}, &own)
	s := w.state()
	if s.Root.ID != r.ID {
		t.Fatal("a teammate's open precedes the author's own")
	}
	third := w.people[2]
	party, in := s.Party(third.dev, w.rosters())
	if in {
		t.Errorf("the other developer is party %d", party)
	}
	if e := Step(&s, Self{Device: third.dev, Fleet: w.fleet, Party: -1}, third.facts, Contract(), w.now); e.Say != "this computer is not involved" || e.Emit != nil {
		t.Errorf("asks for %+v", e)
	}
}

func TestANewMainComputerContinuesTheThread(t *testing.T) { // case 16
	w := newWorld(t)
	w.settle()
	old := w.main
	w.claims(w.people[2])
	s := w.published()
	if s.Phase != Closed || s.Term != 2 || old.card("C3") != nil {
		t.Errorf("phase %v, term %d", s.Phase, s.Term)
	}
}

func TestTheOldMainComputersLateWordLoses(t *testing.T) { // case 17
	w := newWorld(t)
	old, third := w.main, w.people[2]
	w.claims(third)
	head := w.state().Root
	for range 10 {
		w.say(old, ledger.Header{Ledger: head.Ledger, Open: head.ID, Spine: head.ID, Claim: old.claim}, &ledger.Closed{Why: ledger.ClosedPerson})
	}
	w.say(third, ledger.Header{Ledger: head.Ledger, Open: head.ID, Spine: head.ID, Claim: third.claim}, &ledger.Interim{Why: ledger.InterimAgreed})
	s := w.state()
	if s.Phase != Interim || s.Term != 2 || s.ContestedSpine || len(s.Refused) != 10 {
		t.Errorf("phase %v, term %d, contested %v", s.Phase, s.Term, s.ContestedSpine)
	}
}

func TestAnOlderTermNeverFollowsAHigherOne(t *testing.T) { // S6, case 17
	w := newWorld(t)
	old, third := w.main, w.people[2]
	w.claims(third)
	w.spine(third, &ledger.Interim{Why: ledger.InterimAgreed})
	late := w.spine(old, &ledger.Closed{Why: ledger.ClosedPerson})
	s := w.state()
	if s.Phase != Interim || len(s.Refused) != 1 || s.Refused[0].Record.ID != late.ID || s.Refused[0].Rule != "its term is over" {
		t.Errorf("phase %v, refused %+v", s.Phase, s.Refused)
	}
}

func TestWhoLosesTheRaceForAMergeReadsGitHub(t *testing.T) { // case 19
	w := newWorld(t)
	w.settle()
	w.approve(w.people[1])
	w.settle()
	w.write(w.people[2], Binds{Action: "merge", New: w.github.head})
	w.main.facts.MergeAct = &Approval{State: Void, Why: "the pull request was merged already"}
	s := w.settle()
	if s.Phase != Closed || s.Final.Via != ledger.FinalElsewhere || w.main.writes() > 0 {
		t.Errorf("phase %v, final %+v", s.Phase, s.Final)
	}
}

func TestOfTwoFinalsOneCountsAndIsConfirmed(t *testing.T) { // case 20
	w := newWorld(t)
	w.published()
	s := w.state()
	before := s.Final
	w.records = slices.DeleteFunc(w.records, func(r *ledger.Record) bool { return r.Kind == ledger.KindClosed })
	third := w.people[2]
	delete(w.main.heads, s.Ledger) // its last record was taken back
	w.main.inc[6]++
	w.claims(third)
	var at ledger.ID
	for i, id := range s.Spine {
		if id == before.ID {
			at = s.Spine[i-1]
		}
	}
	again := *before.Final
	again.Via = ledger.FinalElsewhere
	winner := w.say(third, ledger.Header{Ledger: s.Ledger, Open: s.Root.ID, Spine: at, Claim: third.claim}, &again)
	if s = w.state(); s.Final.ID != winner.ID || len(s.Missing()) != 3 {
		t.Fatalf("final %v, missing %v", s.Final.ID, s.Missing())
	}
	if s = w.settle(); s.Phase != Closed || !s.AllAdopted() {
		t.Errorf("phase %v, missing %v", s.Phase, s.Missing())
	}
}

func TestAReopenedPullRequestIsANewThread(t *testing.T) { // case 24
	w := newWorld(t)
	w.settle()
	w.github.closed = true
	first := w.settle()
	again := *w.open
	again.Episode = 1
	r := w.say(w.main, ledger.Header{Ledger: again.Key().Thread(), Claim: w.main.claim}, &again)
	second := Fold([]*ledger.Record{r}, w.rosters())
	if second.Ledger == first.Ledger || second.Phase != Opened || first.Phase != Closed || second.Ref() != "acme/shop#42/2" {
		t.Errorf("phase %v of %s", second.Phase, second.Ref())
	}
}

func TestARewrittenBaseBranchMovesNothing(t *testing.T) { // case 29
	w := newWorld(t)
	third := w.people[2]
	third.files[0].Here = w.open.Files[0].Base
	for _, c := range w.people {
		c.twisted = func(l *Look) { l.Open, l.OpenWhy = No, "the base commit it names is not on master" }
	}
	w.pass(time.Hour)
	w.settle()
	w.pass(time.Minute)
	s := w.settle()
	if third.files[0].Here != w.open.Files[0].Base || s.AllAgreed() || w.people[1].woken() > 0 || s.Ready != nil {
		t.Errorf("something moved: %v", third.files[0].Here)
	}
}

func TestAForcedPushStartsNoRivalAndVoidsWhatWasBound(t *testing.T) { // case 25
	w := newWorld(t)
	author := w.people[1]
	w.settle()
	w.approve(author)
	w.settle()
	w.approve(w.main)
	w.github.head, w.github.clean = blob("rewritten"), false
	s := w.settle()
	if w.github.isMerged || w.main.card("C3") != nil || s.Phase != Interim || len(s.Spine) != 2 {
		t.Errorf("merged %v, phase %v", w.github.isMerged, s.Phase)
	}
	if author.woken() != 2 || author.last.Offers[0].Old != blob("rewritten") {
		t.Errorf("%d turns, offers %+v", author.woken(), author.last.Offers)
	}
	if s = w.published(); s.Phase != Closed {
		t.Errorf("phase %v", s.Phase)
	}
}

func TestAPullRequestOfAnotherBranchEndsTheThread(t *testing.T) { // case 26
	w := newWorld(t)
	w.settle()
	w.github.base = "release"
	if s := w.settle(); s.Phase != Closed || s.ClosedWhy != ledger.ClosedRetargeted {
		t.Errorf("phase %v, why %d", s.Phase, s.ClosedWhy)
	}
}

func TestARenamedBaseBranchIsTheSameBranch(t *testing.T) { // case 27
	w := newWorld(t)
	w.settle()
	w.github.base, w.github.renamed = "main", "main"
	s := w.published()
	if s.Phase != Closed || s.ClosedWhy != ledger.ClosedConfirmed || s.Final.Base != "main" {
		t.Errorf("phase %v, why %d, final %+v", s.Phase, s.ClosedWhy, s.Final)
	}
}

func TestARepositoryThatIsGoneEndsTheThread(t *testing.T) { // P20
	w := newWorld(t)
	w.settle()
	w.github.gone = true
	if s := w.settle(); s.Phase != Closed || s.ClosedWhy != ledger.ClosedRepoGone {
		t.Errorf("phase %v, why %d", s.Phase, s.ClosedWhy)
	}
}

func TestAConflictThatIsGoneForHalfAnHourEndsTheThread(t *testing.T) { // P8
	w := newWorld(t)
	w.settle()
	w.github.clean = true
	w.main.facts.ClearSince = w.now
	w.pass(30*time.Minute - time.Second)
	if s := w.settle(); s.Phase == Closed {
		t.Fatal("closed too early")
	}
	pushing := &Approval{State: Consumed, Binds: Binds{Action: "push"}}
	w.main.facts.PushAct = pushing
	w.pass(time.Second)
	if s := w.settle(); s.Phase == Closed {
		t.Fatal("closed while a push of ours is on its way")
	}
	w.main.facts.PushAct = nil
	if s := w.settle(); s.Phase != Closed || s.ClosedWhy != ledger.ClosedNoConflict {
		t.Errorf("phase %v, why %d", s.Phase, s.ClosedWhy)
	}
}
