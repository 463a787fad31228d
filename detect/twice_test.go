package detect

import (
	"fmt"
	"strings"
	"testing"
)

// digests are the sides of a team, with the number of each one's work.
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

// TestWorkOfATeamThatIsDoneTwice holds the goal (80 % precision at 60 % recall) over the teams that the numbers were chosen
// by, and over the others: go test ./detect -run WorkOfATeam -v.
func TestWorkOfATeamThatIsDoneTwice(t *testing.T) { // C16
	for name, teams := range map[string][]team{"tuned": tuned, "held out": heldOut} {
		right, wrong, whole := 0, 0, 0
		for _, team := range teams {
			all, number := team.digests()
			whole += 10
			for _, f := range find(t, DefaultPolicy(), all...).Findings {
				switch n := number[f.Sides[0]]; {
				case f.Kind != DuplicateWork:
				case n > 0 && n == number[f.Sides[1]]:
					right++
				default:
					wrong++
					t.Log(team.name, f.Sentence)
				}
			}
		}
		t.Logf("%s: %d of %d found, %d others said", name, right, whole, wrong)
		if 10*right < 6*whole || 5*right < 4*(right+wrong) {
			t.Errorf("%s: recall below 0.6 or precision below 0.8", name)
		}
	}
}
