package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-mesh/parley/node/api"
)

// catalogue is the help topic with all that parley says and that has a code.
func catalogue() *cobra.Command {
	var b strings.Builder
	b.WriteString("What parley says, by its codes, which stay. --json has them too.")
	section := func(title string, all []api.Means) {
		fmt.Fprintf(&b, "\n\n%s\n", title)
		for _, m := range all {
			fmt.Fprintf(&b, "\n  %s: %s\n", m.Code, m.Says)
			if m.Do != "" {
				fmt.Fprintf(&b, "      %s\n", m.Do)
			}
		}
	}
	section("Cards of the inbox:", api.CardCodes)
	faults := api.Faults()
	slices.SortStableFunc(faults, func(a, b api.Means) int { return strings.Compare(a.Code, b.Code) })
	section("Errors, of every command and of the node:", faults)
	var found []api.Means
	for _, a := range ailments {
		found = append(found, api.Means{Code: a.code, Says: a.means, Do: strings.ReplaceAll(a.mend, "%s", "…")})
	}
	section("Faults that parley doctor finds:", found)
	return &cobra.Command{Use: "codes", Short: "every card, error and fault by its code, and what to do", Long: strings.TrimSpace(b.String())}
}
