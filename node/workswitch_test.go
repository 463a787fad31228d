package node

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/internal/presence"
	"github.com/parley-mesh/parley/node/page"
)

func TestTwoSwitchesAtOnceBothCount(t *testing.T) { // D-27
	p, _ := working(t)
	p.repos = []*workspace{{slug: "acme/shop"}, {slug: "acme/web"}}
	var err error
	if p.persons, err = presence.NewVerifier(t.TempDir(), presence.VerifierOptions{Demo: true}); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		on := i%2 == 0
		var wg sync.WaitGroup
		for _, w := range p.repos {
			wg.Go(func() {
				act := api.AgentsAct(w.slug, on)
				nonce, err := p.persons.Challenge(act)
				if err != nil {
					t.Error(err)
				}
				act.Nonce = nonce
				if _, err := p.live.SetAgents(t.Context(), w.slug, on, presence.Demo().Prove(act)); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		value, err := p.store.Get([]byte(agentsKey))
		if stored := readSwitches(value); err != nil || stored.Only["acme/shop"] != on || stored.Only["acme/web"] != on {
			t.Fatalf("after both were switched to %v: %+v, %v", on, stored, err)
		}
	}
}

func TestASwitchOfOneRepositoryActsWhileAnotherIsOn(t *testing.T) { // D-27
	homes, dirs := newCrew(t, 1)
	c := runCrewed(t, homes[0], dirs[0])
	c.looked()
	watched := func() bool {
		c.live.mu.Lock()
		defer c.live.mu.Unlock()
		real, err := filepath.EvalSymlinks(c.dir)
		return err == nil && c.live.spots[real] != nil
	}
	for _, on := range []bool{false, true, false} {
		c.live.locked(func() { // as a lane that is left does it, or a press: live work as such goes on
			c.live.switches = switches{Only: map[string]bool{"acme/other": true, workSlug: on}}
		})
		c.live.switched.Ring()
		eventually(t, "the checkout is watched, or no more", func() bool { return watched() == on })
	}
}

func TestTheSetupShowsWhatTheSwitchComesToInEachRepository(t *testing.T) { // D-27
	p, _ := working(t)
	for _, test := range []struct {
		now  switches
		want page.AgentsIn
	}{
		{switches{}, page.AgentsIn{Repository: workSlug}},
		{switches{All: true}, page.AgentsIn{Repository: workSlug, On: true}},
		{switches{All: true, Only: map[string]bool{workSlug: false}}, page.AgentsIn{Repository: workSlug, Own: true}},
		{switches{Only: map[string]bool{workSlug: true}}, page.AgentsIn{Repository: workSlug, On: true, Own: true}},
	} {
		p.live.locked(func() { p.live.switches = test.now })
		if _, in, _ := p.live.inForce(); len(in) != 1 || in[0] != test.want {
			t.Errorf("%+v: %+v", test.now, in)
		}
	}
}
