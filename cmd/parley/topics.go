package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/help"
)

// topics are the pages of help, which parley help NAME prints.
func topics() []*cobra.Command {
	var out []*cobra.Command
	for _, t := range append(help.Topics[:len(help.Topics):len(help.Topics)], help.Topic{Name: "api", Short: "how a program on this computer asks a running node", Text: apiText()}) {
		out = append(out, &cobra.Command{Use: t.Name, Short: t.Short, Long: t.Text})
	}
	return out
}

// apiText is the reference of what a node answers to, by the table of verbs.
func apiText() string {
	var b strings.Builder
	b.WriteString("A running node answers HTTP on a socket of this computer: parley.sock in its home, for its user alone. Bodies and\n" +
		"answers are JSON; a fault has the members code, text and hint. Names stay: later versions add some, and take none away.\n" +
		"What a person must do wants the proof that the commands make from the passphrase. The same verbs are tools for\n" +
		"agents over MCP, by parley mcp.\n")
	for _, v := range api.Verbs {
		if v.Method == "" {
			continue
		}
		who := ""
		if v.Who == api.Person {
			who = " (a person's)"
		}
		fmt.Fprintf(&b, "\n%-6s %s%s\n       %s\n", v.Method, v.Path, who, cmp.Or(v.Summary, v.Name))
		if fields := api.Fields(v.Name); len(fields) > 0 {
			fmt.Fprintf(&b, "      %s\n", strings.ReplaceAll(folded(fields), "\n", "\n      "))
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// writeMan writes a man page for each command.
func writeMan(root *cobra.Command, dir string) error {
	root.DisableAutoGenTag = true
	return doc.GenManTree(root, &doc.GenManHeader{Title: "PARLEY", Section: "1", Source: "parley", Manual: "parley"}, dir)
}
