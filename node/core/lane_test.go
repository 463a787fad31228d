package core

import (
	"slices"
	"testing"
	"time"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
)

// opened are the conversations that a computer knows.
func (c *computer) opened() (out []*thread.State) {
	for _, t := range c.core.Conversations() {
		out = append(out, &t.State)
	}
	return out
}

func TestNothingIsSentToAnotherDeveloperUntilASwitchSaysSo(t *testing.T) { // P13, L1, L2, S12
	w := newTeams(t)
	if len(w.crossed) > 0 {
		clear(w.crossed) // the pairing's own
	}
	w.scanNow()
	if len(w.crossed) > 0 {
		t.Errorf("before the lane is on %v crossed", w.crossed)
	}
	w.lane(w.people[0], w.other, 7)
	w.lane(w.people[3], w.fleet, 7)
	w.scanNow()
	for _, k := range []ledger.Kind{ledger.KindWho, ledger.KindAm, ledger.KindNote, ledger.KindOpen} {
		if w.crossed[k] > 0 {
			t.Errorf("before the switch for teammates %s crossed", k)
		}
	}
	if len(w.people[0].opened()) > 0 {
		t.Error("a teammate's pull request is opened although the switch is off")
	}
}

func TestATeammatesConflictStartsOnceTheSwitchIsOn(t *testing.T) { // P3, P4, P12, P14
	w := newTeams(t)
	w.joined()

	for _, c := range w.people {
		all := c.opened()
		if len(all) != 1 || all[0].Open.Parties[all[0].Responsible] != ledger.LaneParty(w.other) || all[0].Open.Auth != nil {
			t.Fatalf("%s knows %d conversations", c.name, len(all))
		}
	}
	if n := w.crossed[ledger.KindWho]; n != 2 { // to two computers
		t.Errorf("the account was asked for %d times", n)
	}
	w.finish()
	if c := w.people[4]; c.opened()[0].Phase != thread.Closed || c.files["a.go"] != blob("a.go final") {
		t.Errorf("%s: phase %s, holds %v", c.name, c.opened()[0].Phase, c.files["a.go"])
	}
	if want := []string{"ada push", "desktop merge"}; !slices.Equal(w.github.writes, want) {
		t.Errorf("GitHub was written by %q, want %q", w.github.writes, want)
	}
}

func TestOnlyTheMainComputerAsksAndOnlyOverALaneThatIsOnAtBothEnds(t *testing.T) { // P4, P9, P13, L2
	w := newTeams(t)
	w.lane(w.people[0], w.other, 7)
	for _, c := range w.people[:2] {
		w.perform(c, c.core.SetTeammates(true, w.now))
		w.give(c, Linked{Fleet: w.other, On: true})
		w.settle()
	}
	said := func(kind ledger.Kind) (by []ledger.Device) {
		for _, r := range w.people[0].ledgers[ledger.LaneID(w.fleet, w.other)] {
			if r.Kind == kind {
				by = append(by, r.Device)
			}
		}
		return by
	}
	if by := said(ledger.KindWho); len(by) > 0 {
		t.Error("an account is asked for before the lane is on at the other end")
	}
	w.perform(w.people[0], w.people[0].core.SetTeammates(false, w.now))
	w.lane(w.people[3], w.fleet, 7)
	if by := said(ledger.KindWho); len(by) > 0 {
		t.Error("a computer that is not the main one asks")
	}
	w.perform(w.people[0], w.people[0].core.SetTeammates(true, w.now))
	w.settleAll()
	if by := said(ledger.KindWho); len(by) != 1 || by[0] != w.people[0].device() || len(said(ledger.KindAm)) != 1 {
		t.Errorf("%d questions, %d answers", len(by), len(said(ledger.KindAm)))
	}
}

func TestALaneIsThereWhileAnyOfItsComputersIsHeardOf(t *testing.T) { // P3, P24
	w := newTeams(t)
	w.people[3].core.cfg.Desk, w.people[4].core.cfg.Desk = false, false
	w.joined()
	before := w.people[0].opened()[0].Assign
	w.pass(24*time.Hour - time.Minute)
	w.give(w.people[0], Peer{Device: w.people[4].device(), Synced: true})
	w.pass(2 * time.Minute)
	if s := w.people[0].opened()[0]; s.Assign != before {
		t.Error("the final is handed over although the lane is there")
	}
	w.pass(time.Hour)
	if s := w.people[0].opened()[0]; s.Assign == before {
		t.Error("the final is not handed over although the lane is away")
	}
}

// finish lets persons press and time pass until the first developer's computers have ended the conversation.
func (w *teams) finish() {
	w.t.Helper()
	for range 200 {
		w.settleAll()
		pressed := false
		for _, c := range w.people {
			pressed = w.press(c) || pressed
		}
		if pressed {
			continue
		}
		if s := w.people[0].opened(); len(s) == 1 && s[0].Phase == thread.Closed {
			w.settleAll()
			return
		}
		w.pass(30 * time.Second)
	}
	w.t.Fatalf("the conversation never ends\n%q", w.log)
}

func (w *teams) pass(d time.Duration) {
	w.now = w.now.Add(d)
	for _, c := range w.people {
		w.give(c, Tick{})
	}
	w.settleAll()
}

func TestATeammateThatIsNotThereIsLeftAlone(t *testing.T) { // P4, P13
	for name, miss := range map[string]func(*teams){
		"its lane is off":     func(w *teams) { w.lane(w.people[3], w.fleet) },
		"our lane is off":     func(w *teams) { w.lane(w.people[0], w.other) },
		"another repository":  func(w *teams) { w.lane(w.people[3], w.fleet, 8) },
		"it is not connected": func(w *teams) { w.closed = true; w.settleAll() },
		"the switch is off":   func(w *teams) { w.perform(w.people[0], w.people[0].core.SetTeammates(false, w.now)) },
		"it changed its account": func(w *teams) {
			w.people[3].user = 9
			w.give(w.people[3], SignedIn{lanes.Account{Host: "github.com", User: 9, Login: "new"}})
			w.settleAll()
		},
	} {
		w := newTeams(t)
		w.wrote = 3
		w.joined()
		w.wrote = 2
		miss(w)
		w.scanNow()
		if n := len(w.people[0].opened()); n != 0 {
			t.Errorf("%s, and %d conversations were opened", name, n)
		}
		// What a scan found a moment before is judged as things stand now.
		w.give(w.people[0], w.stale())
		w.settleAll()
		if n := len(w.people[0].opened()); n != 0 {
			t.Errorf("%s, and what was found before it is opened", name)
		}
	}
}

// stale is what a run found that looked at the teammate's pull requests.
func (w *teams) stale() *Trial {
	c := &computer{user: 1}
	w.scan(c, Scan{Teammates: []uint64{2}})
	return c.inputs[0].(*Trial)
}

func TestTwoDevelopersWithOneAccountAreACard(t *testing.T) { // L4, P13, case 48
	w := newTeams(t)
	w.wrote = 3
	w.joined()
	w.wrote = 2
	liar := w.join(2, "mallory")
	m := w.people[len(w.people)-1]
	w.pair(w.people[0], m)
	w.pair(m, w.people[0])
	w.settleAll()
	w.lane(w.people[0], liar, 7)
	w.lane(m, w.fleet, 7)
	w.scanNow()
	if n := len(w.people[0].opened()); n != 0 {
		t.Errorf("%d conversations about an account that two developers claim", n)
	}
	if _, ok := w.people[1].core.Card("C16/github.com/2"); !ok {
		t.Error("no card names the account")
	}
	w.give(m, SignedIn{lanes.Account{Host: "github.com", User: 1, Login: "us"}})
	w.settleAll()
	w.scanNow()
	if _, ok := w.people[0].core.Card("C16/" + laneName(liar)); !ok || len(w.people[0].opened()) != 1 {
		t.Error("our own account as an answer is no card, or still stands in the other's way")
	}
}

func TestALaneThatGoesOffIsAPartyThatIsAway(t *testing.T) { // P4, P24, L8, case 47
	w := newTeams(t)
	w.joined()
	w.lane(w.people[3], w.fleet)
	w.pass(31 * time.Minute)
	if s := w.people[0].opened()[0]; s.Phase != thread.Interim {
		t.Fatalf("phase %s", s.Phase)
	}
	w.pass(24 * time.Hour)
	s := w.people[0].opened()[0]
	if s.AssignWhy != ledger.ReassignOverdue || s.Open.Parties[s.Responsible] == ledger.LaneParty(w.other) {
		t.Fatalf("the final is with party %d for reason %d", s.Responsible, s.AssignWhy)
	}
	if w.people[3].opened()[0].Assign == s.Assign {
		t.Error("something crossed a lane that is off")
	}
	w.lane(w.people[3], w.fleet, 7)
	if w.people[3].opened()[0].Assign != s.Assign {
		t.Error("once on again it does not get what it missed")
	}
}

func TestATeammateHearsOnceOfAnOverdueFinal(t *testing.T) { // P22, D-17
	w := newTeams(t)
	w.people[3].core.cfg.Desk, w.people[4].core.cfg.Desk = false, false
	w.joined()
	tid := w.people[0].opened()[0].Ledger
	w.pass(25 * time.Hour)
	w.pass(time.Hour)
	if n := w.crossed[ledger.KindNote]; n != 2 {
		t.Errorf("%d notes reached two computers", n)
	}
	for _, c := range w.people[3:] {
		if _, ok := c.core.Card("C20/" + tid.Short() + "/3"); !ok {
			t.Errorf("%s has no message", c.name)
		}
	}
	if cards := w.people[0].core.laneCards(); len(cards) > 0 {
		t.Errorf("who tells shows %+v", cards)
	}
}

func TestANoteAboutAnotherConversationIsNoMessage(t *testing.T) { // L5, L10
	w := newTeams(t)
	w.joined()
	w.write(w.people[3], Append{Ledger: ledger.LaneID(w.fleet, w.other), Content: &ledger.Note{Thread: w.people[0].opened()[0].Ledger, Cause: 1}})
	w.settleAll()
	if cards := w.people[0].core.laneCards(); len(cards) > 0 {
		t.Errorf("a note about our own conversation is %+v", cards)
	}
}

func TestALaneWorksForItsOwnAccountAlone(t *testing.T) { // L7, case 50
	w := newTeams(t)
	w.people[3].user, w.people[4].user = 9, 9 // since they answered
	w.joined()
	w.pass(2 * time.Hour)
	for _, c := range w.people[3:] {
		if c.core.day.Used > 0 {
			t.Errorf("%s spends a turn for another's pull request", c.name)
		}
	}
}

func TestALaneTakesNoCopyOfThePullRequest(t *testing.T) { // L6, P5, case 49
	w := newTeams(t)
	w.pick = []uint64{1}
	w.joined()
	grace := w.people[4]
	grace.files["b.go"] = blob("b.go base")
	w.pass(time.Hour)
	if w.people[1].files["b.go"] != blob("b.go pull") {
		t.Fatal("an own computer does not take what was picked")
	}
	if grace.files["b.go"] != blob("b.go master") {
		t.Errorf("a computer behind the lane holds %v", grace.files["b.go"])
	}
}

func TestARosterThatChangesFoldsTheConversationsAgain(t *testing.T) { // S7
	w := newTeams(t)
	w.joined()
	before := *w.people[1].opened()[0]
	w.write(w.people[0], Append{Ledger: w.fleet, Content: &ledger.Revoke{Device: w.people[2].device(), Reason: 1}, Deps: w.people[0].core.Roster().Heads})
	w.settleAll()
	if now := w.people[1].opened()[0]; slices.Equal(now.Gone, before.Gone) || !slices.Equal(now.Gone, w.people[4].opened()[0].Gone) {
		t.Errorf("gone: %v, over the lane %v", now.Gone, w.people[4].opened()[0].Gone)
	}
}

func TestALaneOverItsLimitIsACard(t *testing.T) { // L9
	w := newTeams(t)
	w.give(w.people[0], Exceeded{Fleet: w.other, Excess: lanes.TooManyBytes})
	w.settleAll()
	if _, ok := w.people[0].core.Card("C19/" + laneName(w.other)); !ok {
		t.Error("no card")
	}
	w.give(w.people[0], Exceeded{Fleet: w.other})
	w.settleAll()
	if cards := w.people[0].core.laneCards(); len(cards) > 0 {
		t.Errorf("%+v", cards)
	}
}

func TestASwitchForTeammatesSurvivesAStart(t *testing.T) { // P12
	w := newTeams(t)
	if w.people[0].core.Teammates() {
		t.Error("it is on before a person set it")
	}
	w.joined()
	w.boot(w.people[0])
	if !w.people[0].core.Teammates() || w.people[1].core.Teammates() {
		t.Error("it is forgotten, or crossed to another computer")
	}
	for _, g := range w.people[0].core.Grants() {
		if !g.Mutual() {
			t.Error("the lane is forgotten")
		}
	}
}
