package hooks_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/parley-mesh/parley/node/internal/hooks"
)

// diary notes what becomes of what a judge says, which is a new text each time.
type diary struct {
	verdict hooks.Verdict
	said    int
	became  []string
}

func (d *diary) Judge(context.Context, hooks.Event) hooks.Decision {
	d.said++
	return hooks.Decision{Verdict: d.verdict, Text: fmt.Sprint("fact ", d.said), Told: entry{d, d.said}}
}

type entry struct {
	in *diary
	n  int
}

func (e entry) Seen() { e.in.became = append(e.in.became, fmt.Sprint("seen ", e.n)) }
func (e entry) Lost() { e.in.became = append(e.in.became, fmt.Sprint("lost ", e.n)) }

func TestWhatIsKeptForLaterCountsAsToldWhenItIsTold(t *testing.T) {
	d := &diary{verdict: hooks.VerdictWarn}
	door := hooks.NewDoor(d)
	say := func(moment, more string) hooks.Reply {
		return door.Answer(t.Context(), hooks.Call{Agent: hooks.Gemini, Payload: []byte(geminiLine("s", moment, more))})
	}
	if r := say("BeforeTool", geminiWrite); r.Wanted() || len(d.became) > 0 {
		t.Errorf("a text that is kept: %v, %v", r, d.became)
	}
	say("AfterTool", geminiWrite).Seen()
	if want := []string{"seen 1", "seen 2"}; !slices.Equal(d.became, want) {
		t.Errorf("%v, want %v", d.became, want)
	}
	say("AfterTool", geminiWrite).Lost()
	say("BeforeTool", geminiWrite)
	say("SessionEnd", "")
	if want := []string{"seen 1", "seen 2", "lost 3", "lost 4"}; !slices.Equal(d.became, want) {
		t.Errorf("%v, want %v", d.became, want)
	}
}

func TestWhatNobodyCanBeToldAnyMoreIsLost(t *testing.T) {
	d := &diary{verdict: hooks.VerdictWarn}
	door := hooks.NewDoor(d)
	for n := range 10 { // eight wait
		door.Answer(t.Context(), hooks.Call{Agent: hooks.Gemini, Payload: []byte(geminiLine("s", "BeforeTool", geminiWrite))})
		if want := max(0, n+1-8); len(d.became) != want {
			t.Errorf("after %d texts %v are lost", n+1, d.became)
		}
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	d.verdict, d.became = hooks.VerdictBlock, nil
	if r := door.Answer(over, hooks.Call{Agent: hooks.Gemini, Payload: []byte(geminiLine("s", "BeforeTool", geminiWrite))}); r.Text != "{}" || len(d.became) != 1 {
		t.Errorf("a block that came too late: %q, %v", r.Text, d.became)
	}
}
