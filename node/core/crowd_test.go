package core

import (
	"crypto/ed25519"
	"crypto/sha256"
	"strings"
	"testing"
	"time"

	"github.com/parley-mesh/parley/ledger"
)

// settled lets every computer do what it has to do now.
func (w *world) settled() {
	w.t.Helper()
	for _, c := range w.people {
		for len(c.inputs) > 0 {
			w.work(c)
		}
	}
}

func TestMoreComputersThanOneConversationHoldsAreACardUntilSomeAreCutOff(t *testing.T) { // D-12
	w := newWorld(t)
	w.github.merged = true // nothing to settle yet
	main := w.people[0]
	w.settled()
	var last ledger.Device
	for i := len(w.people); i <= ledger.PartiesMax; i++ {
		seed := sha256.Sum256([]byte{byte(i), 1})
		key := ed25519.NewKeyFromSeed(seed[:])
		last = ledger.Device(key.Public().(ed25519.PublicKey))
		add := &ledger.Add{Device: last, Invite: ledger.Invite{byte(i)}}
		copy(add.Accept[:], ed25519.Sign(key, ledger.JoinStatement(w.fleet, add.Invite, main.device())))
		w.write(main, Append{Ledger: w.fleet, Content: add, Deps: main.core.Roster().Heads})
		w.settled()
	}
	w.github.merged = false
	run := func() {
		w.now = w.now.Add(time.Hour)
		w.give(main, Tick{})
		for range 20 {
			if len(main.inputs) > 0 {
				w.work(main)
			}
		}
	}
	card := func() (found *Card) {
		for _, c := range main.core.Cards() {
			if c.Key == "C4/"+slug+"/42" {
				found = &c
			}
		}
		return found
	}
	run()
	if c := card(); c == nil || !strings.HasPrefix(c.Why, "51 would take part, at most 50 can") || len(main.core.Conversations()) != 0 {
		t.Fatalf("with 51 computers: %+v, %d conversations", c, len(main.core.Conversations()))
	}
	w.write(main, Append{Ledger: w.fleet, Content: &ledger.Revoke{Device: last, Reason: 1}, Deps: main.core.Roster().Heads})
	run()
	if c := card(); c != nil || len(main.core.Conversations()) != 1 {
		t.Errorf("with 50: %+v, %d conversations", c, len(main.core.Conversations()))
	}
}
