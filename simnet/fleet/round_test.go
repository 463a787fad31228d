package fleet

import (
	"testing"
	"time"

	"github.com/parley-mesh/parley/node/api"
)

// TestAPersonGivesTheAgentsAnotherRound lets every desk give up, one computer after another, until nobody is left
// to hand the final to. A person presses the button of the card; the desks work again.
func TestAPersonGivesTheAgentsAnotherRound(t *testing.T) { // P21, P22, P23
	play(t, calm(), func(t *testing.T, p *story) {
		p.scene.Discourage(true)
		p.begin()
		p.Until("the agents of all have given up", 6*time.Hour, 10*time.Second, func() bool { return p.desktop.Card("C5") })

		if turns := p.turns(); turns != 3 {
			t.Errorf("three computers gave up after %d turns", turns)
		}
		if writes := p.Writes(); writes != "" {
			t.Errorf("GitHub was written without an approval: %s", writes)
		}
		p.scene.Discourage(false)
		<-time.After(time.Hour)
		if turns := p.turns(); turns != 3 {
			t.Errorf("%d turns without a person", turns)
		}

		p.another(p.desktop)
		p.Until("the conversation is over", 3*time.Hour, 10*time.Second, p.closed)
		if p.desktop.Card("C5") {
			t.Error("the card stays after its conversation")
		}
		p.check(t)
	})
}

// turns is how many agent turns all computers have begun.
func (p *story) turns() (n int) {
	for _, c := range p.Computers[:3] {
		n += c.Log("woken")
	}
	return n
}

// another presses "Give the agents another round" at a computer.
func (p *story) another(c *Computer) {
	p.t.Helper()
	cards, err := c.client.Inbox()
	if err != nil {
		p.t.Fatal(err)
	}
	for _, card := range cards {
		if card.Code != "C5" {
			continue
		}
		if _, err := c.client.Approve(p.t.Context(), card, api.DemoProver()); err != nil {
			p.t.Fatal(err)
		}
		return
	}
	p.t.Fatal("no card to press")
}
