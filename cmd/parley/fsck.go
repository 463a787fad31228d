package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// fsck checks the ledger of a home on which no node runs. Its exit status is 0 when nothing was wrong, and
// 1 when something was, mended or not.
func (a *app) fsck(c *cobra.Command, _ []string) error {
	found, err := a.openHome().CheckLedger(c.Context())
	if err != nil {
		return err
	}
	if a.json {
		err = a.printJSON(found)
	} else if found.NothingYet {
		fmt.Fprintln(a.out, "no node has run on this home: there is no ledger yet")
	} else {
		fmt.Fprintf(a.out, "%s in %s read\n", many(found.Records, "record"), many(found.Ledgers, "ledger"))
		for _, row := range []struct {
			n            int
			noun, became string
		}{
			{found.Mended, "wrong derived value", "made again from the records"},
			{found.Unreadable, "damaged record", "set aside; the next exchange with another computer brings it again"},
			{found.Gaps, "incomplete chain", "the next exchange with another computer fills it"},
		} {
			if row.n > 0 {
				fmt.Fprintf(a.out, "%s: %s\n", many(row.n, row.noun), row.became)
			}
		}
		if found.MovedTo != "" {
			fmt.Fprintf(a.out, "the ledger could not be read and was moved to %s; a new one fills from the other computers\n", found.MovedTo)
		}
	}
	if n := found.Faults(); n > 0 && err == nil {
		return faultsFound(n)
	}
	return err
}
