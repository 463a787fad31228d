package main

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-mesh/parley/node/api"
)

// threadFlags is what is shown of a conversation.
type threadFlags struct{ raw, all bool }

func (a *app) threadCommand(c *cobra.Command) {
	var f threadFlags
	c.Use, c.Args = "show REF", arguments("REF")
	c.Flags().BoolVar(&f.raw, "raw", false, "print the signed records, one base64url line each")
	c.Flags().BoolVar(&f.all, "all", false, "show records that count for nothing too, and why")
	c.RunE = func(_ *cobra.Command, args []string) error {
		return a.reading(func(r api.Reader) error {
			t, err := r.Thread(args[0])
			if err != nil {
				return err
			}
			return a.showThread(t, f)
		})
	}
}

func (a *app) showThread(t api.Thread, f threadFlags) error {
	var records []api.ThreadRecord
	for _, r := range t.Records {
		if f.raw && !a.json {
			fmt.Fprintln(a.out, r.Wire)
		}
		if !f.raw {
			r.Wire = ""
		}
		records = append(records, r)
	}
	t.Records = records
	switch {
	case a.json:
		return a.printJSON(t)
	case !f.raw:
		a.printThread(t, f, time.Now())
	}
	return nil
}

func (a *app) printThread(t api.Thread, f threadFlags, now time.Time) {
	fmt.Fprintf(a.out, "%s  %s  since %s\n", a.bold(oneLine(t.Ref)), t.Phase, ago(t.Since, now))
	fmt.Fprintln(a.out, oneLine(t.Waiting))

	rows := [][]string{{"FILE", "MASTER", "PULL", "INTERIM", "FINAL", "HERE"}}
	for _, x := range t.Files {
		rows = append(rows, []string{x.Path, orDash(short(x.Master)), orDash(short(x.Pull)), orDash(short(x.Interim)), orDash(short(x.Final)), x.Here})
	}
	fmt.Fprintln(a.out)
	table(a.out, "", rows)

	rows = [][]string{{"PARTY", "SAYS", "CONFIRMED", "ROLE"}}
	for _, p := range t.Parties {
		rows = append(rows, []string{p.Name, orDash(p.Statement), yesDash(p.Adopted), orDash(responsibleWord(p))})
	}
	fmt.Fprintln(a.out)
	table(a.out, "", rows)

	rows = nil
	for _, r := range t.Records {
		if !r.Counted && !f.all {
			continue
		}
		row := []string{r.At.Local().Format("2006-01-02 15:04:05"), r.Short, r.Who, r.Sentence}
		if !r.Counted {
			row[3] += " (does not count: " + r.Rule + ")"
		}
		rows = append(rows, row)
	}
	fmt.Fprintln(a.out)
	table(a.out, "", rows)
	if hidden := uncounted(t); hidden > 0 && !f.all {
		a.note("%s not shown, because it counts for nothing; --all shows it", many(hidden, "record"))
	}
}

func uncounted(t api.Thread) (n int) {
	for _, r := range t.Records {
		if !r.Counted {
			n++
		}
	}
	return n
}

func yesDash(yes bool) string {
	if yes {
		return "yes"
	}
	return "-"
}

func responsibleWord(p api.ThreadParty) string {
	if p.Responsible {
		return "builds the final"
	}
	return ""
}

// printJSONLine prints a value on one line.
func printJSONLine[T any](w io.Writer, v T) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
