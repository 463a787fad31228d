package thread

import (
	"testing"

	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
	"pgregory.net/rapid"
)

// atTheButton is a world in which a computer offers an act to its person.
func atTheButton(t *testing.T, action string) (*world, *computer, Binds) {
	t.Helper()
	w := newWorld(t)
	c := w.people[1]
	w.settle()
	if action == "merge" {
		w.approve(c)
		w.settle()
		c = w.main
		w.step(c)
	}
	if len(c.last.Offers) != 1 || c.last.Offers[0].Action != action {
		t.Fatalf("offers %+v", c.last.Offers)
	}
	return w, c, c.last.Offers[0]
}

// other changes one thing that an approval binds, or nothing.
func other(rt *rapid.T, b Binds) Binds {
	switch rapid.IntRange(0, 15).Draw(rt, "differs") {
	case 0:
		b.Repo++
	case 1:
		b.Pull++
	case 2:
		b.Ref += "x"
	case 3:
		b.Old = blob("another old")
	case 4:
		b.New = blob("another new")
	case 5:
		b.Method = "rebase"
	case 6:
		b.Action = map[string]string{"push": "merge", "merge": "push"}[b.Action]
	}
	return b
}

func TestGitHubIsWrittenForExactlyWhatAPersonApproved(t *testing.T) { // P15, S4, S15
	for _, action := range []string{"push", "merge"} {
		w, c, offered := atTheButton(t, action)
		writes := 0
		rapid.Check(t, func(rt *rapid.T) {
			s := w.state()
			self := w.observe(c, &s)
			f := c.facts
			states := []ApprovalState{Offered, Approved, Approved, Consumed, Done, Void}
			have := &Approval{Binds: other(rt, offered), State: rapid.SampledFrom(states).Draw(rt, "state")}
			f.PushAct, f.MergeAct = have, have
			self.Role = rapid.SampledFrom([]lanes.Role{lanes.RoleMain, lanes.RoleMain, lanes.RoleMain, lanes.RoleNone, lanes.RoleContested}).Draw(rt, "role")
			if rapid.IntRange(0, 3).Draw(rt, "forked") == 0 {
				s.Forked = []ledger.Device{w.people[2].dev}
				f.Presses.Fork = rapid.SampledFrom([]string{"", "two", "three"}).Draw(rt, "looked at")
			}
			e := Step(&s, self, f, Contract(), w.now)
			want := have.Binds == offered && (have.State == Approved || have.State == Consumed) &&
				self.Role == lanes.RoleMain && (len(s.Forked) == 0 || f.Presses.Fork == "three")
			got := false
			for _, a := range e.Do {
				if write, ok := a.(Write); ok {
					got = got || write.Binds == offered
					if write.Binds != offered {
						rt.Fatalf("writes %+v", write.Binds)
					}
				}
			}
			if got != want {
				rt.Fatalf("written %v, want %v", got, want)
			}
			if want {
				writes++
			}
		})
		if writes == 0 && !testing.Short() { // then rapid tries a fifth as often
			t.Errorf("no approval of a %s was ever used", action)
		}
	}
}
