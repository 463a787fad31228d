package core

import (
	"slices"
	"testing"
	"time"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/ledger"
)

// third is a third developer with a main computer and a lane to the one whose pull request it is.
func (w *teams) third() *computer {
	fleet := w.join(3, "rita")
	rita, ada := w.people[len(w.people)-1], w.people[3]
	w.write(rita, rita.core.TakeMain())
	w.pair(rita, ada)
	w.pair(ada, rita)
	w.settleAll()
	w.lane(rita, w.other, 7)
	w.lane(ada, fleet, 7)
	w.perform(rita, rita.core.SetTeammates(true, w.now))
	w.settleAll()
	return rita
}

func TestTwoDevelopersWhoOpenAThirdOnesPullRequestBothEnd(t *testing.T) { // P16, L8, case 15
	w := newTeams(t)
	w.wrote = 9
	w.joined()
	rita := w.third()
	w.wrote = 2
	w.perform(rita, rita.core.ScanNow(w.now))
	w.scanNow()

	roots := map[ledger.TID]bool{}
	for _, c := range []*computer{w.people[0], rita} {
		roots[c.opened()[0].Open.Fleet] = true
	}
	if len(roots) != 2 || len(w.people[3].opened()) != 1 {
		t.Fatalf("%d openers of %d conversations", len(roots), len(w.people[3].opened()))
	}
	w.finish()
	w.pass(20 * time.Minute)
	for _, c := range []*computer{w.people[0], rita} {
		for w.press(c) {
			w.settleAll()
		}
		if s := c.opened()[0]; s.Phase != thread.Closed || s.ClosedWhy != ledger.ClosedConfirmed {
			t.Errorf("%s: phase %s, why %d", c.name, s.Phase, s.ClosedWhy)
		}
	}
	if n := w.confirmed(w.loser(rita)); n != 1 {
		t.Errorf("the lane confirms the other conversation %d times", n)
	}
	if i := slices.Index(w.github.writes, "ada push"); i < 0 || len(w.github.writes) != 2 {
		t.Errorf("GitHub was written by %q", w.github.writes)
	}
}

// loser is the one of the two whose open the third developer does not follow.
func (w *teams) loser(rita *computer) *computer {
	if w.people[3].opened()[0].Open.Fleet == rita.fleet {
		return w.people[0]
	}
	return rita
}

// confirmed counts what the third developer's computers confirmed of an opener's final.
func (w *teams) confirmed(opener *computer) (n int) {
	s := opener.opened()[0]
	for _, r := range opener.ledgers[s.Ledger] {
		if r.Kind == ledger.KindAdopted && r.Re[0] == s.Final.ID && r.Device != opener.device() && r.Open == s.Root.ID {
			for _, c := range w.people[3:5] {
				if c.device() == r.Device {
					n++
				}
			}
		}
	}
	return n
}

func TestAnotherCommitOfARivalIsNotConfirmed(t *testing.T) { // P20, case 30
	w := newTeams(t)
	w.wrote = 9
	w.joined()
	rita := w.third()
	w.wrote = 2
	w.perform(rita, rita.core.ScanNow(w.now))
	w.scanNow()
	loser := w.loser(rita)
	s := loser.opened()[0]
	lie := &ledger.Final{Via: ledger.FinalElsewhere, Commit: blob("elsewhere"), Base: "master", Head: w.github.head}
	for i := range s.Open.Files {
		lie.Files = append(lie.Files, ledger.FileVersion{File: uint64(i), Blob: blob("x")})
	}
	w.write(loser, Append{Ledger: s.Ledger, Content: lie, Open: s.Root.ID, Spine: s.Head(), Claim: s.Root.Claim})
	for range 40 {
		w.settleAll()
		for _, c := range w.people {
			w.press(c)
		}
		w.pass(time.Minute)
	}
	if final := loser.opened()[0].Final; final == nil || final.Commit != blob("elsewhere") || w.people[3].opened()[0].Final == nil {
		t.Fatal("the story is another one")
	}
	if n := w.confirmed(loser); n != 0 {
		t.Error("a commit that GitHub does not hold is confirmed")
	}
}
