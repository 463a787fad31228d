package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-mesh/parley/node/api"
)

// otherWords are what people call some commands elsewhere.
var otherWords = map[string]string{
	"start": "up", "run": "up", "serve": "up", "daemon": "service", "install": "setup", "configure": "setup", "config": "setup",
	"pair": "invite", "link": "invite", "connect": "invite", "add": "setup", "stop": "service remove", "logs": "log", "history": "log",
	"ui": "open", "web": "open", "page": "open", "dashboard": "open", "list": "threads", "ls": "threads", "peers": "computers",
	"devices": "computers", "nodes": "computers", "remove": "uninstall", "health": "doctor", "debug": "bugreport",
	"tutorial": "demo", "completions": "completion", "diff": "preview", "undo": "op undo", "whoami": "status", "notify": "notices",
}

// helpCommand prints the help of a command or a topic, and refuses what is neither.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND|TOPIC]", Short: "help about any command, or about a topic", Args: cobra.ArbitraryArgs,
		ValidArgsFunction: func(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			c, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return subcommands(c, begun), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			c, rest, err := root.Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return noSuch(c, "command or topic", rest[0])
			}
			c.InitDefaultHelpFlag() // cobra does so only for what it runs
			return c.Help()
		},
	}
}

// subcommands are what stands below a command and begins so, with what each is for.
func subcommands(c *cobra.Command, begun string) (out []string) {
	for _, below := range c.Commands() {
		if !below.Hidden && strings.HasPrefix(below.Name(), begun) {
			out = append(out, below.Name()+"\t"+below.Short)
		}
	}
	return out
}

// noSuch is about a word that is nothing below c.
func noSuch(c *cobra.Command, what, word string) error {
	err := usage(c, fmt.Sprintf("there is no %s %q", what, strings.TrimSpace(strings.TrimPrefix(c.CommandPath()+" "+word, "parley"))))
	if near := nearest(c, word); near != "" {
		return api.WithHint(err, "did you mean "+near+"?")
	}
	return err
}

// nearest is the command that somebody may have meant by a word that is none; "" for no guess. The fewest edits win, then
// the longest common start; a word that is only begun is the first command that goes on so.
func nearest(c *cobra.Command, word string) string {
	word = strings.ToLower(word)
	if other, ok := otherWords[word]; ok && !c.HasParent() {
		return c.CommandPath() + " " + other
	}
	best, fewest, longest := "", min(2, len(word)/3)+1, 0 // of a short word any other is near
	for _, below := range c.Commands() {
		if below.Hidden {
			continue
		}
		n, start := edits(word, below.Name()), commonStart(word, below.Name())
		if n < fewest || n == fewest && best != "" && start > longest {
			best, fewest, longest = below.Name(), n, start
		}
	}
	for _, below := range c.Commands() {
		if best == "" && word != "" && !below.Hidden && strings.HasPrefix(below.Name(), word) {
			best = below.Name()
		}
	}
	if best == "" {
		return ""
	}
	return c.CommandPath() + " " + best
}

// commonStart is how many bytes two words begin with alike.
func commonStart(a, b string) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// edits is how many letters have to be put in, left out, replaced or exchanged with their neighbour to make b of a.
func edits(a, b string) int {
	before, last, row := []int(nil), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, make([]int, len(b)+1)
	}
	return last[len(b)]
}
