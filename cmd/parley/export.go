package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-mesh/parley/node/api"
)

func (a *app) exportCommand() *cobra.Command {
	var format string
	c := &cobra.Command{
		Use: "export [REF ...]", Short: "write conversations as JSON or Markdown", Args: cobra.ArbitraryArgs,
		Long: "Writes whole conversations to standard output, all of them where none is named. JSON holds the signed bytes of\n" +
			"each record (wire), so that anybody can check them, and parley import reads them in on another computer of the\n" +
			"same conversations; Markdown is for people. A whole computer is moved by parley backup --with-key.",
		RunE: func(c *cobra.Command, args []string) error {
			if format != "json" && format != "markdown" {
				return usage(c, fmt.Sprintf("--format %q: want json or markdown", format))
			}
			return a.reading(func(r api.Reader) error { return a.export(r, args, format) })
		},
	}
	c.Flags().StringVar(&format, "format", "json", "json or markdown")
	c.Flags().StringVar(&a.jq, "jq", "", "print what this filter makes of the JSON")
	return c
}

func (a *app) export(r api.Reader, refs []string, format string) error {
	if len(refs) == 0 {
		lines, err := r.Threads()
		if err != nil {
			return err
		}
		for _, l := range lines {
			refs = append(refs, l.ID)
		}
	}
	all := api.List[api.Thread]{}
	for _, ref := range refs {
		t, err := r.Thread(ref)
		if err != nil {
			return err
		}
		all = append(all, t)
	}
	if format == "json" {
		return a.printJSON(all)
	}
	for _, t := range all {
		writeMarkdown(a.out, t)
	}
	return nil
}

// writeMarkdown is a conversation as people read it. What others wrote is text.
func writeMarkdown(w io.Writer, t api.Thread) {
	fmt.Fprintf(w, "# %s\n\n", plainText(t.Ref))
	fmt.Fprintf(w, "%s since %s. %s\n\n", plainText(t.Phase), t.Since.UTC().Format(time.DateTime+" UTC"), plainText(t.Waiting))
	fmt.Fprintln(w, "| file | master | pull request | interim | final |\n|---|---|---|---|---|")
	for _, f := range t.Files {
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s |\n", plainText(f.Path), short(f.Master), short(f.Pull), short(f.Interim), short(f.Final))
	}
	fmt.Fprintln(w)
	for _, r := range t.Records {
		line := fmt.Sprintf("- %s **%s** %s", r.At.UTC().Format(time.DateTime), plainText(r.Who), plainText(r.Sentence))
		if !r.Counted {
			line += " *(does not count: " + plainText(r.Rule) + ")*"
		}
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w)
}

var markdown = strings.NewReplacer("\\", "\\\\", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]", "<", "&lt;", "&", "&amp;", "#", "\\#", "|", "\\|")

// plainText keeps text from being read as Markdown or HTML.
func plainText(s string) string { return markdown.Replace(oneLine(s)) }
