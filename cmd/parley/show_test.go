package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/detect/repo"
	"github.com/parley-mesh/parley/node/api"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// printed is what a command prints, on two files instead of a terminal.
func printed(t *testing.T, print func(*app)) (out, notes string) {
	t.Helper()
	dir := t.TempDir()
	open := func(name string) *os.File {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	print(&app{streams: streams{out: open("out"), err: open("err")}})
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	return read("out"), read("err")
}

func want(t *testing.T, got, want string) {
	t.Helper()
	if want = strings.TrimPrefix(want, "\n"); got != want {
		t.Errorf("printed:\n%s\nwant:\n%s", got, want)
	}
}

func TestStatusAnswersWhetherItWorksAndWhatNeedsYou(t *testing.T) {
	out, _ := printed(t, func(a *app) {
		a.printStatus(api.Status{
			Running: true, Computer: api.Computer{Name: "studio", Device: "c1d3225544", Fleet: "09e41c0cffff"},
			Main: api.MainComputer{State: "live", Name: "studio", Me: true},
			Peers: []api.Peer{
				{Name: "laptop", Connected: true, Transport: "quic", Address: "/ip4/192.0.2.2/udp/4001/quic-v1", LastSeen: noon},
				{Name: "tablet", LastSeen: noon.Add(-3 * time.Hour)},
			},
			Repositories: []api.Repository{{Slug: "acme/shop", Base: "main", Checkout: "/home/kim/shop", Branch: "topic", State: "at 80627e15, as on GitHub"}},
			ThreadsOpen:  1, Cards: 2, TimersShortened: true, Waiting: []string{"acme/shop#42: waits for tablet\x1b[2J"},
		}, noon)
	})
	want(t, out, `
Computer  studio    c1d32255  running
Fleet     09e41c0c  3 computers
Main      studio (this computer)
Timers are shortened: this is a demo.

COMPUTER  STATE            ADDRESS                          SEEN
laptop    connected, quic  /ip4/192.0.2.2/udp/4001/quic-v1  now
tablet    away             -                                3 h ago

REPOSITORY  BASE  CHECKOUT        ON     STATE
acme/shop   main  /home/kim/shop  topic  at 80627e15, as on GitHub

acme/shop#42: waits for tablet [2J
1 conversation open (parley threads). 2 cards for you: parley inbox
`)
}

func TestStatusWithoutAnythingTeachesTheNextStep(t *testing.T) {
	out, _ := printed(t, func(a *app) {
		a.printStatus(api.Status{Computer: api.Computer{Name: "studio", Device: "c1"}, Main: api.MainComputer{State: "none"}}, noon)
	})
	want(t, out, `
Computer  studio  c1  not running
Fleet     -       1 computer
Main      none: nothing is opened or published (parley main on)

No conversation runs. Nothing waits for you.
`)
}

func TestACardNamesTheCommandThatAnswersIt(t *testing.T) { // P15
	out, _ := printed(t, func(a *app) {
		a.printCard(api.Card{
			Code: "C2", Title: "Approve the push of acme/shop#42", What: "push 80627e15", Why: "tests passed\nall of them",
			Since: noon.Add(-12 * time.Minute), Command: "parley approve acme/shop#42 push", Pull: "https://github.com/acme/shop/pull/42",
		}, noon)
	})
	want(t, out, `
C2  Approve the push of acme/shop#42  (12 min ago)
    what  push 80627e15
    why   tests passed all of them
    run   parley approve acme/shop#42 push
    see   https://github.com/acme/shop/pull/42
`)
}

var conversation = api.Thread{
	ThreadLine: api.ThreadLine{Ref: "acme/shop#42", Phase: "interim", Since: noon.Add(-48 * time.Hour), Waiting: "laptop prepares the final"},
	Files:      []api.ThreadFile{{Path: "docs/Köln.md", Master: "0123456789", Pull: "abcdef0123", Interim: "0123456789", Here: "master's copy"}},
	Parties:    []api.ThreadParty{{Name: "laptop", Statement: "agrees", Responsible: true}, {Name: "tablet", Adopted: true}},
	Records: []api.ThreadRecord{
		{ID: "r1", Short: "aaaa1111", Kind: "open", Who: "studio", At: noon, Sentence: "opens the conversation", Counted: true, Wire: "AAAA"},
		{ID: "r2", Short: "bbbb2222", Kind: "final", Who: "tablet", At: noon, Sentence: "names the final", Rule: "not the main computer", Wire: "BBBB"},
	},
}

func TestAConversationIsShownWithWhatCounts(t *testing.T) {
	at := noon.Local().Format("2006-01-02 15:04:05")
	out, notes := printed(t, func(a *app) { a.printThread(conversation, threadFlags{}, noon) })
	want(t, out, `
acme/shop#42  interim  since 2 days ago
laptop prepares the final

FILE          MASTER    PULL      INTERIM   FINAL  HERE
docs/Köln.md  01234567  abcdef01  01234567  -      master's copy

PARTY   SAYS    CONFIRMED  ROLE
laptop  agrees  -          builds the final
tablet  -       yes        -

`+at+`  aaaa1111  studio  opens the conversation
`)
	want(t, notes, "parley: note: 1 record not shown, because it counts for nothing; --all shows it\n")

	out, notes = printed(t, func(a *app) { a.printThread(conversation, threadFlags{all: true}, noon) })
	if !strings.HasSuffix(out, "tablet  names the final (does not count: not the main computer)\n") || notes != "" {
		t.Errorf("%s%s", out, notes)
	}
}

func TestRawRecordsAreTheSignedBytesAlone(t *testing.T) {
	out, _ := printed(t, func(a *app) { _ = a.showThread(conversation, threadFlags{raw: true}) })
	want(t, out, "AAAA\nBBBB\n")
	out, _ = printed(t, func(a *app) {
		a.json = true
		_ = a.showThread(conversation, threadFlags{})
	})
	if strings.Contains(out, "wire") || !strings.Contains(out, `"rule": "not the main computer"`) {
		t.Error(out)
	}
}

func TestTimesAreSaidAsPeopleSayThem(t *testing.T) {
	for _, c := range []struct {
		before time.Duration
		want   string
	}{
		{0, "now"},
		{time.Second, "now"},
		{59 * time.Second, "59 s ago"},
		{90 * time.Second, "1 min ago"},
		{47 * time.Hour, "47 h ago"},
		{72 * time.Hour, "3 days ago"},
		{-27 * time.Minute, "in 27 min"},
	} {
		if got := ago(noon.Add(-c.before), noon); got != c.want {
			t.Errorf("%v: %q, want %q", c.before, got, c.want)
		}
	}
	if got := ago(time.Time{}, noon); got != "never" {
		t.Error(got)
	}
}

func TestARemoteNamesItsRepository(t *testing.T) {
	for _, c := range []struct{ remote, host, slug string }{
		{"https://github.com/acme/shop", "github.com", "acme/shop"},
		{"https://kim:token@github.com/acme/shop.git", "github.com", "acme/shop"},
		{"https://ghe.example:8443/acme/shop.git/", "ghe.example:8443", "acme/shop"},
		{"git@github.com:acme/shop.git", "github.com", "acme/shop"},
		{"GitHub.com:acme/shop", "github.com", "acme/shop"},
		{"ssh://git@github.com/acme/shop.js", "github.com", "acme/shop.js"},
		{"ssh://git@ssh.github.com:443/acme/shop.git", "github.com", "acme/shop"},
		{"git://github.com/acme/shop", "github.com", "acme/shop"},
		{"/home/kim/shop", "", ""},
		{"../shop", "", ""},
		{`C:\kim\shop`, "", ""},
		{"https://gitlab.example/group/sub/shop", "", ""},
		{"https://github.com/acme", "", ""},
		{"", "", ""},
	} {
		if host, slug := parseRemote(c.remote); host != c.host || slug != c.slug {
			t.Errorf("%q: %q %q, want %q %q", c.remote, host, slug, c.host, c.slug)
		}
	}
}

func TestEveryVerbIsACommandAndEveryCommandAVerb(t *testing.T) {
	verbs := map[string]bool{}
	for _, v := range api.Verbs {
		if !v.Step {
			verbs[v.Name] = true
		}
	}
	var a app
	noVerb := map[string]bool{"exit-codes": true, "codes": true} // of a node
	for _, c := range append(extraCommands(&a), topics()...) {
		noVerb[c.Name()] = true
	}
	for _, c := range everyCommand(a.root()) {
		name := strings.TrimPrefix(c.CommandPath(), "parley ")
		top, _, _ := strings.Cut(name, " ")
		verb := verbs[name]
		if !verb && len(c.Commands()) == 0 && !noVerb[top] {
			t.Errorf("%s is no verb of the table", name)
		}
		delete(verbs, name)
		if asks := c.Flags().Lookup("passphrase-file") != nil; verb && (verbOf(name).Who == api.Person || name == "respond") != asks {
			t.Errorf("%s: asks for a passphrase: %v", name, asks)
		}
	}
	if len(verbs) > 0 {
		t.Errorf("without a command: %v", verbs)
	}
}

// everyCommand is all that stand below a command.
func everyCommand(c *cobra.Command) (all []*cobra.Command) {
	for _, below := range c.Commands() {
		all = append(append(all, below), everyCommand(below)...)
	}
	return all
}

func verbOf(name string) api.Verb {
	for _, v := range api.Verbs {
		if v.Name == name {
			return v
		}
	}
	return api.Verb{}
}

func TestAHintIsAboutTheSameHome(t *testing.T) {
	a := app{home: "/home/kim's home"}
	if got := a.here("run parley up"); got != `run parley --home '/home/kim'\''s home' up` {
		t.Error(got)
	}
	if got := (&app{}).here("run parley up"); got != "run parley up" {
		t.Error(got)
	}
}

func TestWhatStrangersWroteMovesNoCursor(t *testing.T) {
	out, notes := printed(t, func(a *app) {
		a.note("%s is not in force", "line 1: \x1b[2J\u009b: there is no such key")
		a.end(api.WithHint(errors.New("branch \x1b]0;x\a\nb"), "run parley check \x1b[A"))
		a.printCheck(&repo.Result{
			Base: repo.Tip{Ref: "main", Label: "main"}, Left: 1,
			Sides:  []repo.Tip{{Ref: "\x1b[2J", Label: "\x1b[2J", Files: 1}},
			Pairs:  []repo.Pair{{A: "main", B: "\x1b[2J", Merge: "clean"}},
			Order:  []repo.Step{{Label: "\x1b[2J", Merge: "conflict", With: []string{"\x1b[3J"}}},
			Report: detect.Report{Findings: []detect.Finding{{Severity: detect.Info}}, Doubts: []detect.Doubt{{Sides: []string{"\x1b[2J"}, Why: "\x1b"}}},
		}, checkOptions{Options: repo.Options{Order: true}})
	})
	if strings.ContainsAny(out+notes, "\x1b\a\u009b") {
		t.Errorf("%q\n%q", out, notes)
	}
	for _, words := range []string{"1 finding that only informs (--all)", "1 side, worked on less recently, was left out (--max)"} {
		if !strings.Contains(out+notes, words) {
			t.Errorf("want %q:\n%s%s", words, out, notes)
		}
	}
}

func TestAFilterMeetsListsWhereThereIsNothing(t *testing.T) {
	out, err := json.Marshal(viewOf(&repo.Result{
		Sides: []repo.Tip{}, Merged: []repo.Tip{}, Unread: []repo.Unread{}, Pairs: []repo.Pair{},
		Report: detect.Report{Findings: []detect.Finding{{Kind: detect.TextualMerge, Severity: detect.Warn, Sides: []string{"a", "b"}}}},
	}))
	if err != nil || strings.Contains(string(out), "null") {
		t.Errorf("%s %v", out, err)
	}
}

func TestAConflictsHistoryIsInOrder(t *testing.T) { // C12
	at := func(minute int) time.Time { return time.Date(2026, 1, 2, 3, minute, 0, 0, time.UTC) }
	rows := history(api.ConflictShown{
		Turns: api.List[api.Turn]{{At: at(1), State: "found"}, {At: at(3), State: "gone"}, {At: at(5), State: "found"}},
		Acts:  api.List[api.ConflictAct]{{At: at(2), Action: "acknowledged"}, {At: at(3), Action: "muted"}, {At: at(9), Action: "resolved"}},
	})
	var got []string
	for _, r := range rows {
		got = append(got, r[2])
	}
	if want := []string{"found", "acknowledged", "gone", "muted", "found", "resolved"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestColumnsAreAsWideAsATerminalShowsThem(t *testing.T) {
	var b strings.Builder
	table(&b, "> ", [][]string{{"BRANCH", "BY", "SINCE"}, {"払い戻し", "é", "now"}, {"a\tb", "e\u0301", ""}, {"alone"}, nil})
	want := "> BRANCH    BY  SINCE\n> 払い戻し  é   now\n> a b       e\u0301   \n> alone\n> \n"
	if b.String() != want {
		t.Errorf("%q, want\n%q", b.String(), want)
	}
}

func TestWhatOthersWroteMovesAndTurnsNothing(t *testing.T) {
	for in, want := range map[string]string{
		"main\x1b[2J":            "main [2J",
		"a\u009b2Jb":             "a 2Jb",
		"ma\u202eni\u2066\u200f": "mani",
		"a\u2028b\nc":            "a b c",
		"família 家 👩‍💻":          "família 家 👩‍💻",
	} {
		if got := oneLine(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}
