package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
)

func TestEveryWordFromElsewhereIsAnsweredWithACommandThatIsThere(t *testing.T) {
	root := (&app{}).root()
	root.InitDefaultCompletionCmd()
	for word, want := range otherWords {
		if c, _, err := root.Find([]string{word}); err == nil && c != root {
			t.Errorf("%q is a command, and needs no guess", word)
		}
		if got := nearest(root, word); got != "parley "+want {
			t.Errorf("%q is answered with %q, want %q", word, got, "parley "+want)
		}
		if c, rest, err := root.Find(strings.Fields(want)); err != nil || c == root || len(rest) > 0 {
			t.Errorf("%q is answered with parley %s, which is none: %v", word, want, err)
		}
	}
}

func TestAWordThatIsNearNothingIsNotGuessed(t *testing.T) {
	root := (&app{}).root()
	for word, want := range map[string]string{
		"aprove": "parley approve", "xy": "", "qqqqqqqq": "", "Start": "parley up",
		"inbx": "parley inbox", "oup": "parley op", "inti": "parley init", "stats": "parley status", "thraeds": "parley threads", "comp": "parley computers", "settlin": "parley settling",
	} {
		if got := nearest(root, word); got != want {
			t.Errorf("%q is answered with %q, want %q", word, got, want)
		}
	}
}

func TestACheckoutThatTheHomeCouldNotReachIsRefused(t *testing.T) {
	for _, c := range []struct {
		host, known string
		settled     bool
		want        string
	}{
		{"github.com", "github.com", true, ""},
		{"github.example", "github.com", false, ""}, // the first checkout settles it
		{"github.example", "github.com", true, "is on github.example, and this home knows github.com alone"},
		{"gitlab.com", "github.com", false, "is on gitlab.com, and parley knows GitHub alone"},
	} {
		config := node.Default()
		config.GitHub.Host = c.known
		err := oneHost("/shop", c.host, config, c.settled)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s at a home of %s, settled %t: %v", c.host, c.known, c.settled, err)
		}
		if c.host == "gitlab.com" && !errors.Is(err, api.ErrNotRepository) {
			t.Errorf("%v is no %v", err, api.ErrNotRepository)
		}
	}
}

func TestTheVersionNamesTheCommitThatItWasBuiltFrom(t *testing.T) {
	for _, c := range []struct{ commit, changed, want, line string }{
		{"", "", "", "parley v1 go1 linux/amd64"},
		{"ab12", "false", "ab12", "parley v1 go1 linux/amd64 commit ab12"},
		{"ab12", "true", "ab12+", "parley v1 go1 linux/amd64 commit ab12+"},
	} {
		facts := map[string]string{"vcs.revision": c.commit, "vcs.modified": c.changed}
		b := build{Version: "v1", Go: "go1", System: "linux/amd64", Commit: commit(func(key string) string { return facts[key] })}
		if b.Commit != c.want || b.line() != c.line {
			t.Errorf("%+v: %q, %q", c, b.Commit, b.line())
		}
	}
}
