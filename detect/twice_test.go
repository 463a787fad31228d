package detect

import (
	"fmt"
	"strings"
	"testing"
)

// digests are the sides of a team, and the number of each one's work.
func (t team) digests() (all []*Digest, number map[string]int) {
	number = map[string]int{}
	for i, w := range t.jobs {
		d := jordan()
		d.Side.Ref, d.Side.Task = fmt.Sprint("INT-", 100+i), w.task
		number[d.Side.Ref] = w.work
		for how, names := range map[Change]string{Body: w.changed, Added: w.added} {
			for name := range strings.FieldsSeq(names) {
				d.Symbols = append(d.Symbols, SymbolChange{Symbol: Symbol{ID: "sym:" + t.language + ":" + name, Kind: Function}, Change: how})
				path, _, _ := strings.Cut(name, "#")
				d.Files = append(d.Files, edited(path, fmt.Sprint(i)))
			}
		}
		d.Normalize()
		all = append(all, d)
	}
	return all, number
}

func TestWorkOfTeamsThatIsDoneTwice(t *testing.T) { // C16
	for _, group := range []struct {
		name         string
		teams        []team
		right, wrong int // what is found and made up at the moment
	}{
		{"tuned", tuned, 17, 0},
		{"held out", heldOut, 14, 2},
		{"written afterwards", unseen, 2, 1},
	} {
		right, wrong := 0, 0
		for _, team := range group.teams {
			all, number := team.digests()
			for _, f := range find(t, DefaultPolicy(), all...).Findings {
				switch n := number[f.Sides[0]]; {
				case f.Kind != DuplicateWork:
				case n > 0 && n == number[f.Sides[1]]:
					right++
				default:
					wrong++
					t.Logf("%s: made up: %s", team.name, f.Sentence)
				}
			}
		}
		t.Logf("%s: %d of %d found, %d made up", group.name, right, 10*len(group.teams), wrong)
		if right < group.right || wrong > group.wrong {
			t.Errorf("%s: it was %d and %d", group.name, group.right, group.wrong)
		}
	}
}
