package node

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/internal/hooks"
)

func TestANameThatSeveralHaveIsRefusedWithTheNamesOfThem(t *testing.T) {
	c, _ := oneCrewed(t)
	c.at(c.dir, hooks.Start, "one")
	who := api.Caller{Session: "one"}
	c.at(c.dir, hooks.BeforeShell, "one")
	made := map[byte][]string{}
	var first string // a digit that two begin with
	for n := 0; first == ""; n++ {
		got, err := c.live.Declare(t.Context(), api.NewIntent{Task: fmt.Sprintf("part %d", n), Caller: who})
		if err != nil {
			t.Fatal(err)
		}
		digit := strings.TrimPrefix(got.Ref, "INT-")[0]
		if made[digit] = append(made[digit], got.Ref); len(made[digit]) == 2 {
			first = string(digit)
		}
	}
	for what, ask := range map[string]func(ref string) error{
		"intent_update": func(ref string) error {
			_, err := c.live.ChangeIntent(t.Context(), api.IntentChange{Intent: ref, State: "abandoned", Caller: who})
			return err
		},
		"depends_on": func(ref string) error {
			_, err := c.live.Declare(t.Context(), api.NewIntent{Task: "late", DependsOn: api.List[string]{ref}, Caller: who})
			return err
		},
		"depends_on_remove": func(ref string) error {
			_, err := c.live.ChangeIntent(t.Context(), api.IntentChange{DependsOnRemove: api.List[string]{ref}, Caller: who})
			return err
		},
		"conflicts of a side": func(ref string) error {
			_, err := c.live.Conflicts(t.Context(), api.ConflictQuery{Side: ref})
			return err
		},
		"message_send": func(ref string) error {
			_, err := c.live.Send(t.Context(), api.NewMessage{To: api.List[string]{ref}, Text: "hello", Caller: who})
			return err
		},
		"the session of a call": func(ref string) error {
			_, err := c.live.Briefing(t.Context(), api.Caller{Session: ref})
			return err
		},
	} {
		err := ask("INT-" + first)
		if !errors.Is(err, api.ErrAmbiguous) {
			t.Errorf("%s: %v", what, err)
			continue
		}
		for _, ref := range made[first[0]] {
			if !strings.Contains(err.Error(), ref) {
				t.Errorf("%s: no %s in %v", what, ref, err)
			}
		}
	}
}

func TestATextThatIsCutSaysSo(t *testing.T) {
	for text, want := range map[string]string{"abcdefgh": "abcdefgh", "abcdefghi": "abcde…", "abcdäöü": "abcd…", "\xff": "�", "ääääää": "ää…"} {
		if got := clipText(text, 8); got != want || len(got) > 8 {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestOthersAreAtWorkNowOnlyAsLongAsTheirSessionsLast(t *testing.T) { // C17
	c, linked := oneCrewed(t)
	c.at(c.dir, hooks.Start, "mine")
	for n := range 11 {
		name := fmt.Sprint("other", n)
		c.at(linked, hooks.Start, name)
		c.at(linked, hooks.BeforeShell, name)
		if _, err := c.live.Declare(t.Context(), api.NewIntent{Task: fmt.Sprint("task ", n), Caller: api.Caller{Session: name}}); err != nil {
			t.Fatal(err)
		}
	}
	told := func() (string, int) {
		b, err := c.live.Briefing(t.Context(), api.Caller{Session: "mine", Peek: true})
		if err != nil {
			t.Fatal(err)
		}
		return b.Text, len(b.Near)
	}
	c.at(c.dir, hooks.BeforeShell, "mine")
	if text, near := told(); !strings.Contains(text, "work on acme/shop now: ") || !strings.Contains(text, "; and 3 more (parley sessions).") || near != 11 {
		t.Errorf("with %d near: %s", near, text)
	}
	for n := range 11 {
		c.at(linked, hooks.End, fmt.Sprint("other", n))
	}
	if text, near := told(); strings.Contains(text, " now: ") || near != 0 {
		t.Errorf("after all have ended, with %d near: %s", near, text)
	}
}

func TestAnIntentThatWaitsForOneThatNobodyKnowsCanBeChanged(t *testing.T) { // C11
	c, _ := oneCrewed(t)
	c.at(c.dir, hooks.Start, "one")
	c.at(c.dir, hooks.BeforeShell, "one")
	who := api.Caller{Session: "one"}
	declared, err := c.live.Declare(t.Context(), api.NewIntent{Task: "refunds", Caller: who})
	if err != nil {
		t.Fatal(err)
	}
	lost := ledger.ID{7}
	c.live.mu.Lock()
	id, err := c.live.fold.SideNamed(declared.Ref)
	if err == nil {
		var s *session
		_, s, err = c.live.intentNamed(api.IntentChange{Intent: declared.Ref, Caller: who})
		if err != nil {
			t.Error(err)
		}
		_, err = c.live.write(s.repo, &ledger.Intent{First: id, Session: s.id, State: ledger.IntentLive, Task: "refunds", Depends: []ledger.ID{lost}})
	}
	c.live.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	waits := func() []ledger.ID {
		c.live.mu.Lock()
		defer c.live.mu.Unlock()
		ids, _ := c.live.fold.Depends(id)
		return ids
	}
	if _, err := c.live.ChangeIntent(t.Context(), api.IntentChange{Intent: declared.Ref, Task: "refunds in part", Caller: who}); err != nil {
		t.Fatal(err)
	}
	if got := waits(); !slices.Equal(got, []ledger.ID{lost}) {
		t.Errorf("another task, and it waits for %v", got)
	}
	name := "INT-" + ledger.NameOf(lost)[:ledger.NameShown]
	if _, err := c.live.ChangeIntent(t.Context(), api.IntentChange{Intent: declared.Ref, DependsOnRemove: api.List[string]{name}, Caller: who}); err != nil {
		t.Fatal(err)
	}
	if got := waits(); len(got) != 0 {
		t.Errorf("after it waits for it no more: %v", got)
	}
}
