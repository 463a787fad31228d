package simnet

import "testing"

func TestTheMasterSyncIsWholeInTheseWorlds(t *testing.T) { // P0, D-21
	var moved, merged, settled, stayed, paused int
	for seed := range seedsOf(t, 8) {
		w := New(Config{Seed: seed})
		for w.step.N < w.cfg.Steps && w.happen() {
			for _, ch := range w.step.Changes {
				if ch.ref {
					moved++
				}
				if ch.merged {
					merged++
				}
			}
			for _, k := range w.step.Turns {
				if k.state == nil {
					settled++
				}
			}
			for _, c := range w.step.Handled {
				if c.paused {
					paused++
				}
				if len(c.core.Repos()[0].Master.Conflicts) > 0 {
					stayed++
				}
			}
		}
	}
	if moved == 0 || merged == 0 || settled == 0 || stayed == 0 || paused == 0 {
		t.Errorf("%d moves, %d merges of own work, %d turns of the desk, %d steps with conflicts, %d paused", moved, merged, settled, stayed, paused)
	}
	t.Logf("%d moves, %d merges of own work, %d turns of the desk, %d steps with conflicts, %d paused", moved, merged, settled, stayed, paused)
}
