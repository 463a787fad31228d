package main

import (
	"embed"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

//go:embed help/*.md
var pages embed.FS

// topicNames are the pages of help, in the order in which they are listed.
var topicNames = []struct{ name, short string }{
	{"start", "from nothing to a pair of computers"},
	{"running", "let the system keep the node running, pause it, take it out"},
	{"telling", "be told on the desktop"},
	{"scripts", "JSON, filters, exit statuses, completions"},
	{"trouble", "when something does not work"},
}

// topics are the pages, which parley help NAME prints.
func topics() []*cobra.Command {
	var out []*cobra.Command
	for _, t := range topicNames {
		text, err := pages.ReadFile("help/" + t.name + ".md")
		if err != nil {
			panic("parley: " + err.Error()) // it is built in
		}
		out = append(out, &cobra.Command{Use: t.name, Short: t.short, Long: strings.TrimSuffix(string(text), "\n")})
	}
	return out
}

// writeMan writes a man page for each command.
func writeMan(root *cobra.Command, dir string) error {
	root.DisableAutoGenTag = true
	return doc.GenManTree(root, &doc.GenManHeader{Title: "PARLEY", Section: "1", Source: "parley", Manual: "parley"}, dir)
}
