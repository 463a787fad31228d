package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parley-mesh/parley/node/api"
)

// typed splits a line as a shell would, as far as the pages need it.
func typed(line string) []string {
	line, _, _ = strings.Cut(line, "   #")
	var words []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			words = append(words, part)
			continue
		}
		words = append(words, strings.Fields(part)...)
	}
	return words
}

func TestEveryCommandOfThePagesIsOne(t *testing.T) {
	files, err := filepath.Glob("help/*.md")
	if err != nil || len(files) != len(topicNames) {
		t.Fatalf("%d pages, %d in the table, %v", len(files), len(topicNames), err)
	}
	found := 0
	for _, file := range append(files, filepath.Join("..", "..", "README.md")) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			line, ok := strings.CutPrefix(line, "    parley ")
			if !ok {
				continue
			}
			found++
			a := app{}
			root := a.root()
			root.InitDefaultHelpCmd()
			root.InitDefaultCompletionCmd()
			c, rest, err := root.Find(typed(line))
			if err != nil || c.Parent() == nil && len(rest) > 0 {
				t.Errorf("%s: parley %s: there is no such command", file, strings.TrimSpace(line))
				continue
			}
			if err := c.ParseFlags(rest); err != nil {
				t.Errorf("%s: parley %s: %v", file, strings.TrimSpace(line), err)
			}
		}
	}
	if found < 40 {
		t.Errorf("only %d commands were found in the pages", found)
	}
}

func TestABugReportHoldsNoNames(t *testing.T) {
	home := runningNode(t, true)
	out, notes := printed(t, func(a *app) {
		a.home = home.Dir
		if status := run(t.Context(), []string{"--home", home.Dir, "bugreport"}, a.streams); status != 0 {
			t.Errorf("status %d", status)
		}
	})
	client := api.NewClient(home.SocketPath())
	defer client.Close()
	s, err := client.Status()
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{s.Computer.Name, s.Computer.Device[:16], s.Computer.Fleet[:16], home.Dir, os.TempDir(), "127.0.0.1"} {
		if strings.Contains(out+notes, secret) {
			t.Errorf("the report holds %q:\n%s", secret, out)
		}
	}
	for _, want := range []string{"doctor:", "node           ok", "parley_computers 1", "last events:"} {
		if !strings.Contains(out, want) {
			t.Errorf("the report lacks %q:\n%s", want, out)
		}
	}
}

func TestWhatOthersWroteIsTextInMarkdown(t *testing.T) {
	var b bytes.Buffer
	writeMarkdown(&b, api.Thread{
		ThreadLine: api.ThreadLine{Ref: "acme/shop#4", Phase: "open", Since: time.Unix(0, 0)},
		Files:      api.List[api.ThreadFile]{{Path: "a|b`<c>"}},
		Records:    api.List[api.ThreadRecord]{{Who: "[x](http://y)", Sentence: "**do**\n# this", Rule: "L_1"}},
	})
	want := "# acme/shop\\#4\n\nopen since 1970-01-01 00:00:00 UTC. \n\n| file | master | pull request | interim | final |\n|---|---|---|---|---|\n" +
		"| a\\|b\\`&lt;c> |  |  |  |  |\n\n- 0001-01-01 00:00:00 **\\[x\\](http://y)** \\*\\*do\\*\\* \\# this *(does not count: L\\_1)*\n\n"
	if b.String() != want {
		t.Errorf("%q", b.String())
	}
}
