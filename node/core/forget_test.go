package core

import (
	"testing"

	"github.com/parley-mesh/parley/ledger"
)

func TestAForgottenConversationIsNotOpenedAgain(t *testing.T) { // P24
	w := newWorld(t)
	main := w.people[0]
	w.until(w.people[1], "C2")
	w.hear()
	first := only(t, main).State.Ledger
	key := only(t, main).State.Open.Key()
	effects := main.core.Forget(first)
	if len(effects) != 1 || effects[0].(Save).Value != nil || len(main.core.Conversations()) != 0 {
		t.Fatalf("%+v, %d conversations", effects, len(main.core.Conversations()))
	}
	if again := main.core.Forget(first); again != nil {
		t.Errorf("forgotten twice: %+v", again)
	}

	w.now = w.now.Add(main.core.cfg.Every.Scan)
	w.give(main, Tick{})
	w.hear()

	key.Episode++
	for _, c := range main.core.Conversations() {
		if c.State.Ledger == first {
			t.Error("the forgotten conversation is back")
		}
		if c.State.Open != nil && c.State.Ledger != key.Thread() {
			t.Errorf("the next one is %s", c.State.Ref())
		}
	}
	if !main.core.begun(first) || main.core.begun(ledger.TID{1}) {
		t.Error("what was forgotten never was, or what never was is remembered")
	}
}
