package main

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/cli/go-gh/v2/pkg/jq"
	"github.com/spf13/cobra"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
)

// printedAs are what commands print with --json where that is not what the node answers the verb of that name with; of a
// list, one of its items.
var printedAs = map[string]any{
	"ping": pings{}, "computers": computerLine{}, "doctor": check{}, "fsck": node.LedgerCheck{}, "version": build{},
	"agents check": node.AgentFinding{}, "check": checkView{}, "service status": serviceLine{}, "notices show": node.Notices{},
	"respond": api.Conflict{}, "override": api.Conflict{}, "feedback": api.Conflict{},
	"intent declare": api.Declared{}, "intent update": api.Declared{}, "message send": api.Message{},
}

// nameFields writes what a command prints with --json into its help, for every command that has the flag.
func nameFields(c *cobra.Command) {
	for _, below := range c.Commands() {
		nameFields(below)
	}
	if c.Flags().Lookup("json") == nil {
		return
	}
	if fields := jsonFields(strings.TrimPrefix(c.CommandPath(), "parley ")); len(fields) > 0 {
		c.Long += "\n\nJSON fields:" + folded(fields)
	}
}

// jsonFields are the names that a command prints with --json.
func jsonFields(command string) []string {
	if view, ok := printedAs[command]; ok {
		return api.FieldsOf(view)
	}
	return api.Fields(command)
}

// folded is a list on lines of about a hundred characters.
func folded(words []string) string {
	var b strings.Builder
	used := 0
	for i, w := range words {
		if i > 0 {
			b.WriteString(",")
		}
		if used += len(w) + 2; used > 100 {
			b.WriteString("\n ")
			used = len(w)
		}
		b.WriteString(" ")
		b.WriteString(w)
	}
	return b.String()
}

// printJSON prints a view, or what the filter of --jq makes of it.
func (a *app) printJSON(v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	if a.jq == "" {
		_, err := a.out.Write(b.Bytes())
		return err
	}
	return asUsage(jq.Evaluate(&b, a.out, a.jq))
}

// jsonFlags are those of every command that can print JSON.
func (a *app) jsonFlags(c *cobra.Command) {
	c.Flags().BoolVar(&a.json, "json", false, "print JSON with stable names")
	c.Flags().StringVar(&a.jq, "jq", "", "print what this filter makes of the JSON")
	before := c.PreRunE
	c.PreRunE = func(c *cobra.Command, args []string) error {
		a.json = a.json || a.jq != ""
		if before != nil {
			return before(c, args)
		}
		return nil
	}
}
