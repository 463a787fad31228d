package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-mesh/parley/node/api"
)

func (a *app) keptList(c *cobra.Command, _ []string) error {
	return a.reading(func(r api.Reader) error {
		all, err := r.Kept(c.Context())
		if err != nil {
			return err
		}
		if a.json {
			return a.printJSON(api.List[api.KeptFile](all))
		}
		if len(all) == 0 {
			fmt.Fprintln(a.out, "Nothing was taken out of a checkout.")
			return nil
		}
		rows := [][]string{{"ID", "TAKEN", "REPOSITORY", "PATH", "WHY"}}
		for _, k := range all {
			row := []string{k.ID, k.At.Local().Format("2006-01-02 15:04:05"), k.Repository, k.Path, k.Why}
			if k.Changed {
				row[4] += " (a program wrote to it afterwards)"
			}
			rows = append(rows, row)
		}
		table(a.out, "", rows)
		return nil
	})
}

// keptShow prints the bytes as they are.
func (a *app) keptShow(c *cobra.Command, args []string) error {
	return a.reading(func(r api.Reader) error {
		k, err := r.KeptContent(c.Context(), args[0])
		if err != nil {
			return err
		}
		if a.json {
			return a.printJSON(k)
		}
		_, err = a.out.Write(k.Content)
		return err
	})
}

func (a *app) opLog(c *cobra.Command, _ []string) error {
	return a.reading(func(r api.Reader) error {
		all, err := r.Operations(c.Context())
		if err != nil {
			return err
		}
		if a.json {
			return a.printJSON(api.List[api.Operation](all))
		}
		if len(all) == 0 {
			fmt.Fprintln(a.out, "Nothing was changed in a checkout.")
			return nil
		}
		rows := [][]string{{"ID", "AT", "REPOSITORY", "WHAT", "FILES", "WHY"}}
		for _, o := range all {
			what := o.Kind
			if o.Undone {
				what += " (taken back)"
			}
			rows = append(rows, []string{o.ID, o.At.Local().Format("2006-01-02 15:04:05"), o.Repository, what, orDash(strings.Join(o.Paths, ", ")), o.Why})
		}
		table(a.out, "", rows)
		return nil
	})
}

func (a *app) keptRestore(c *cobra.Command, args []string) error {
	return a.byPerson(c, "Passphrase to put this file back: ", func(client *api.Client, by api.Prover) (api.Outcome, error) {
		return client.Restore(c.Context(), args[0], by)
	})
}

func (a *app) opUndo(c *cobra.Command, args []string) error {
	return a.byPerson(c, "Passphrase to take this back: ", func(client *api.Client, by api.Prover) (api.Outcome, error) {
		return client.Undo(c.Context(), args[0], by)
	})
}
