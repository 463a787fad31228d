package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/help"
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

// shown are the command lines of a page: those that stand alone, and those within a sentence.
func shown(page string) (out []string) {
	for line := range strings.Lines(page) {
		if alone, ok := strings.CutPrefix(line, "    "); ok {
			if command, ok := strings.CutPrefix(alone, "parley "); ok {
				out = append(out, strings.TrimSpace(command))
			}
			continue
		}
		for i, part := range strings.Split(line, "`") {
			if command, ok := strings.CutPrefix(part, "parley "); ok && i%2 == 1 {
				out = append(out, command)
			}
		}
	}
	return out
}

func TestEveryCommandOfThePagesIsOne(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(strings.Fields(string(readme))); n >= 500 {
		t.Errorf("the README has %d words, and should have less than 500", n)
	}
	found := 0
	for _, page := range append(help.Topics[:len(help.Topics):len(help.Topics)], help.Topic{Name: "README", Text: string(readme)}) {
		for _, line := range shown(page.Text) {
			found++
			if err := understood(line); err != nil {
				t.Errorf("%s: parley %s: %v", page.Name, line, err)
			}
		}
	}
	if found < 110 {
		t.Errorf("only %d commands were found in the pages", found)
	}
	for _, bad := range []string{"kept restor ID", "kept restore", "inbox now", "inbox --jsn", "help settlin"} {
		if understood(bad) == nil {
			t.Errorf("parley %s is taken for a command", bad)
		}
	}
}

// understood says whether a command line has a command, its flags and as many words as it takes.
func understood(line string) error {
	a := app{}
	root := a.root()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	words := typed(line)
	topic := words[0] == "help"
	if topic {
		words = words[1:]
	}
	if len(words) == 0 {
		return nil // help itself
	}
	c, rest, err := root.Find(words)
	if err == nil {
		err = c.ParseFlags(rest)
	}
	args := c.Flags().Args()
	switch {
	case err != nil:
		return err
	case c == root || c.HasSubCommands() && len(args) > 0:
		return fmt.Errorf("there is no such command")
	case topic || c.HasSubCommands() || c.Args == nil:
		return nil
	}
	return c.ValidateArgs(args)
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
