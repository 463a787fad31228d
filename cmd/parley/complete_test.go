//go:build linux || darwin

package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Words and values that nobody can offer, as they are a person's own.
var (
	ownWords = []string{
		"join", "lane accept", "email", "intent declare", "message send", "pause", "notices snooze", "check", "help",
	}
	ownValues = []string{
		"name", "listen", "recipient", "as", "email", "my-email", "note", "override reason", "contract", "issue", "symbol", "task", "lines", "count",
		"interval", "announce", "for", "port", "web", "base", "max", "user", "head", "addr", "desk", "join", "jq", "confirm",
	}
)

// offered is what a shell is told for the last word of a line, and how it goes on.
func offered(t *testing.T, line ...string) (words []string, directive, notes string) {
	t.Helper()
	out, notes := printed(t, func(a *app) { run(t.Context(), append([]string{"__complete"}, line...), a.streams) })
	all := strings.Split(strings.TrimSpace(out), "\n")
	return all[:len(all)-1], all[len(all)-1], notes
}

func TestEveryWordAndValueHasACompletionOrIsAPersonsOwn(t *testing.T) {
	a := &app{}
	used := map[string]bool{}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		name := strings.TrimPrefix(c.CommandPath(), "parley ")
		first, _, _ := strings.Cut(name, " ")
		takes := strings.ContainsFunc(strings.TrimPrefix(c.Use, c.Name()), func(r rune) bool { return r >= 'A' && r <= 'Z' })
		if used[name] = true; takes && len(argumentsOf[name]) == 0 && !slices.Contains(ownWords, name) {
			t.Errorf("%s: nobody says what stands behind it", c.UseLine())
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			_, ok := valuesOf[f.Name]
			_, special := valuesOf[first+" "+f.Name]
			own := slices.Contains(ownValues, f.Name) || slices.Contains(ownValues, first+" "+f.Name)
			if f.NoOptDefVal == "" && !ok && !special && !own {
				t.Errorf("%s --%s: nobody says what its values are", name, f.Name)
			}
		})
		for _, below := range c.Commands() {
			walk(below)
		}
	}
	walk(a.root())
	for name := range argumentsOf {
		if !used[name] {
			t.Errorf("%q is completed, and is no command", name)
		}
	}
}

func TestShellsAreOfferedWhatTheNodeKnows(t *testing.T) {
	home := answersInFull(t, singles)
	for line, want := range map[string]string{
		"thread show ": "x", "close ": "x", "approve ": "acme/shop#42", "approve x ": "push merge round fork", "approve x m": "merge", "assign x ": "x",
		"show ": "x", "explain ": "x", "respond x will": "will_rebase", "feedback x ": "useful false_positive too_late", "override ": "x",
		"kept show ": "x", "kept restore ": "x", "op undo ": "x", "passkey remove ": "id", "sync pause ": "x", "ping ": "x", "revoke ": "x",
		"computers rename x ": "", "lane on ": "kim", "lane conflicts ": "on off", "agents check co": "codex", "agents check codex co": "",
		"briefing --session ": "x", "conflicts --side ": "x", "intent update --intent ": "x", "conflicts --repo ": "x", "revoke x --reason l": "lost",
		"export --format ": "json markdown", "export x ": "", "route ": "sync-conflicts", "status ": "", "pause ": "", "message send --to ": "x",
		"message send --re ": "x", "email --lane ": "kim", "help thr": "threads thread", "help thread ": "show", "help settl": "settling",
	} {
		words, directive, _ := offered(t, append([]string{"--home", home.Dir}, strings.Split(line, " ")...)...)
		for i, w := range words {
			words[i], _, _ = strings.Cut(w, "\t")
		}
		if got := strings.Join(words, " "); got != want || directive != ":4" { // and no files
			t.Errorf("%s: %q %s, want %q and no files", line, got, directive, want)
		}
	}
	for line, want := range map[string]string{"backup ": ":0", "policy check ": ":0", "agents install --project ": ":16", "why ": ":0"} {
		if _, directive, _ := offered(t, append([]string{"--home", home.Dir}, strings.Split(line, " ")...)...); directive != want {
			t.Errorf("%s: %s, want %s", line, directive, want)
		}
	}
}

func TestAShellIsToldNothingWhereNoNodeRuns(t *testing.T) {
	nowhere := filepath.Join(t.TempDir(), "none")
	for _, line := range [][]string{{"thread", "show", ""}, {"ping", ""}, {"explain", "CF-"}, {"lane", "off", ""}, {"conflicts", "--side", ""}, {"kept", "restore", ""}} {
		words, directive, notes := offered(t, append([]string{"--home", nowhere}, line...)...)
		if len(words) > 0 || directive != ":4" || strings.Contains(notes, "error") {
			t.Errorf("%v: %q %s %s", line, words, directive, notes)
		}
	}
}
