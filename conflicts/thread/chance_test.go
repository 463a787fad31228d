package thread

import (
	"strings"
	"testing"
	"time"

	"github.com/parley-mesh/parley/ledger"
)

func TestAnObjectionBeforeItsOpenHasASentence(t *testing.T) {
	object := &ledger.Object{Why: ledger.ObjectUnpublished, Files: []ledger.OwnLines{{File: 0, Lines: 2}}}

	got := Sentence(&State{}, &ledger.Record{Content: object}, nil)

	if !strings.HasPrefix(got, "objects") {
		t.Errorf("it reads %q", got)
	}
}

// refused is the responsible side's view of its own final-ready, which was judged and does not hold.
func refused(merge *Turn) Effects {
	open := &ledger.Open{Head: blob("head"), Base: "master", Parties: []ledger.Party{{}}, Files: []ledger.File{{Path: "a.go"}}}
	root := &ledger.Record{ID: ledger.ID{1}, Content: open}
	ready := &Ready{ID: ledger.ID{2}, FinalReady: &ledger.FinalReady{Head: blob("merged"), BaseHead: blob("tip")}}
	s := State{Phase: Interim, Root: root, Open: open, Spine: []ledger.ID{root.ID}, Assign: root.ID, Statements: make([]Statement, 1), Ready: ready}
	s.Statements[0].Ack = &ledger.Ack{Classes: []ledger.Class{ledger.HasMaster}}
	p := stepping{
		s: &s, t: Contract(), self: Self{Desk: true, Names: []string{"laptop"}},
		f: Facts{Merge: merge, Look: Look{
			At: time.Unix(1, 0), For: root.ID, ForReady: ready.ID, Ready: No, Open: Yes, HeadClean: Yes, HeadBase: blob("tip"),
			HeadFiles: []ledger.OID{blob("a")}, Pull: Pull{Known: true, Open: true, Head: blob("merged"), Base: "master"},
		}},
	}
	p.buildFinal()
	return p.e
}

func TestAResultThatNoLongerHoldsTakesAnotherTurn(t *testing.T) { // case 62
	e := refused(nil)

	if e.Emit != nil {
		t.Errorf("it says %s again", e.Emit.Content.Kind())
	}
	if len(e.Do) != 1 || e.Do[0].Key() != "wake" {
		t.Errorf("it does %v", e.Do)
	}
}

func TestADeskThatGaveUpLeavesACard(t *testing.T) { // P22
	e := refused(&Turn{For: ledger.ID{1}, GaveUp: true})

	if len(e.Cards) != 1 || e.Cards[0].Code != "C5" {
		t.Errorf("the cards are %v", e.Cards)
	}
}

func TestAMatterThatTwoRulesFindIsOneCard(t *testing.T) { // S17
	p := stepping{s: &State{Open: &ledger.Open{}}}

	p.spentCards()
	p.card("C5", "again", "", "")

	if len(p.e.Cards) != 1 {
		t.Errorf("the cards are %v", p.e.Cards)
	}
}
