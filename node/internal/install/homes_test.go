package install

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// two are a person's two homes, the first of which is the one without a name in the server's arguments.
func two(t *testing.T) (own, other Options) {
	t.Helper()
	own = at(t)
	own.Own = own.Node
	other = own
	other.Node = filepath.Join(own.Home, "a second 'home'")
	other.Server = []string{"--home", other.Node, "mcp"}
	for _, dir := range []string{own.Node, other.Node} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return own, other
}

func TestAHomeTakesOutOnlyWhatBelongsToIt(t *testing.T) {
	for _, agent := range Names {
		own, other := two(t)
		for _, o := range []Options{own, other} {
			rest := own
			if o.Node == own.Node {
				rest = other
			}
			before := tree(t, o.Home)
			do(t, NewPlanner(o).Install, agent)
			with := tree(t, o.Home)
			for _, c := range do(t, NewPlanner(rest).Remove, agent) {
				if !c.Same() {
					t.Errorf("%s: the home %s would change %s, which is of %s:\n%s", agent, rest.Node, c.Path, o.Node, c.Diff())
				}
			}
			equal(t, agent+" of another home", tree(t, o.Home), with)
			if f := rest.Check(agent); f.State != Other || !f.OK() || !strings.Contains(f.Text, o.Node) {
				t.Errorf("%s: seen from the other home: %+v", agent, f)
			}
			if got := rest.Others(agent); !slices.Equal(got, []string{o.Node}) {
				t.Errorf("%s: others: %q", agent, got)
			}
			if got := o.Others(agent); len(got) > 0 {
				t.Errorf("%s: others of its own home: %q", agent, got)
			}
			do(t, NewPlanner(o).Remove, agent)
			equal(t, agent+" removed", tree(t, o.Home), before)
		}
	}
}

func TestInstallingForAnotherHomeTakesTheAgentOver(t *testing.T) {
	for _, agent := range Names {
		own, other := two(t)
		do(t, NewPlanner(own).Install, agent)
		do(t, NewPlanner(other).Install, agent)
		if got := other.Others(agent); len(got) > 0 {
			t.Errorf("%s still asks %q", agent, got)
		}
		if f := own.Check(agent); f.State != Other {
			t.Errorf("%s: %+v", agent, f)
		}
		if err := os.Remove(other.Node); err != nil {
			t.Fatal(err)
		}
		if f := own.Check(agent); f.State != Stale || f.OK() || !strings.Contains(f.Text, "is not there") {
			t.Errorf("%s asks a home that is gone: %+v", agent, f)
		}
	}
}

func TestSkillsStayWhileAnAgentOfAnotherHomeUsesThem(t *testing.T) {
	own, other := two(t)
	do(t, NewPlanner(own).Install, Codex)
	do(t, NewPlanner(other).Install, Gemini)
	do(t, NewPlanner(own).Remove, Codex)
	if f := other.Check(Gemini); f.State != Whole {
		t.Errorf("the other home's agent lost something: %+v", f)
	}
}

// A person may put the hooks of a second home beside the first one's.
func TestOfTwoHomesHooksInOneFileEachTakesItsOwn(t *testing.T) {
	own, other := two(t)
	path := filepath.Join(own.Home, ".claude", "settings.json")
	do(t, NewPlanner(own).Install, Claude)
	first, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(first)
	from := strings.Index(text, `{"hooks": [`)
	to := from + strings.Index(text[from:], "]}") + 2
	both := text[:to] + ", " + strings.Replace(text[from:to], own.Node, other.Node, 1) + text[to:]
	put(t, path, both, 0o600)
	if f := own.Check(Claude); f.State != Stale || !strings.Contains(f.Text, ", too") {
		t.Errorf("%+v", f)
	}
	do(t, NewPlanner(own).Remove, Claude)
	rest, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(rest), own.Node) || !strings.Contains(string(rest), other.Node) {
		t.Errorf("%v\n%s", err, rest)
	}
}

func TestWhatAShellWordSaysIsReadBack(t *testing.T) {
	for _, word := range []string{"/home/kim/x", "/home/kim/a b", "/it's/'quoted'", "/häuser/ü", `/a"b`} {
		if got := unquoted(shellWord(word)); got != word {
			t.Errorf("%q became %q", word, got)
		}
	}
}
