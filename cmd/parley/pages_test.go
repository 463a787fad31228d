package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parley-mesh/parley/node"
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
	const token, email = "gho_0123456789abcdefghijklmnopqrstuvwxyz", "ada@example.org"
	t.Setenv("GH_TOKEN", token)
	t.Setenv("GIT_AUTHOR_EMAIL", email)
	shop := filepath.Join(t.TempDir(), "shop")
	for _, args := range [][]string{{"init", "-q", shop}, {"-C", shop, "remote", "add", "origin", "https://ada:" + token + "@github.com/acme/teapots"}} {
		if out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git: %v %s", err, out)
		}
	}
	gone := filepath.Join(t.TempDir(), "kettles")
	home := runningNode(t, true)
	// What the file says after the node's start is what doctor looks at: one checkout of another repository, one that is gone.
	for slug, checkout := range map[string]string{"acme/cups": shop, "globex/kettles": gone} {
		if err := home.AddRepository(node.RepositoryConfig{Slug: slug, Checkout: checkout, Base: "ada/secret-branch"}); err != nil {
			t.Fatal(err)
		}
	}
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
	for _, secret := range []string{
		s.Computer.Name, s.Computer.Device[:16], s.Computer.Fleet[:16], home.Dir, os.TempDir(), "127.0.0.1", shop, gone,
		"acme", "globex", "teapots", "kettles", "cups", "secret-branch", token, "gho_", email, "ada", "@",
	} {
		if strings.Contains(out+notes, secret) {
			t.Errorf("the report holds %q:\n%s%s", secret, out, notes)
		}
	}
	for _, want := range []string{"doctor:", "node           ok", "repository     checkout-", "parley_computers 1", "last events:"} {
		if !strings.Contains(out, want) {
			t.Errorf("the report lacks %q:\n%s", want, out)
		}
	}
}

// gh itself takes the folder as an extension and starts the program. A home of its own keeps it out of this user's.
func TestGhRunsParleyAsItsExtension(t *testing.T) {
	if _, err := exec.LookPath("gh"); err != nil {
		t.Skip("gh is not installed")
	}
	dir := t.TempDir()
	script, err := os.ReadFile(filepath.Join("packaging", "gh-parley", "gh-parley"))
	if err != nil {
		t.Fatal(err)
	}
	extension := filepath.Join(dir, "gh-parley")
	if err := os.Mkdir(extension, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(extension, "gh-parley"), script, 0o755); err != nil {
		t.Fatal(err)
	}
	gh := func(args ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), "gh", args...)
		c.Dir = extension
		c.Env = append(os.Environ(), "GH_TOKEN=gho_x", "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_STATE_HOME="+dir, "GH_CONFIG_DIR="+dir)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("gh %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	gh("extension", "install", ".")
	if out := gh("parley", "version"); !strings.HasPrefix(out, "parley ") {
		t.Errorf("gh parley version says %q", out)
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
