package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
)

// wordsInLine is how many recovery words stand in a line.
const wordsInLine = 6

// printRecovery shows the words once.
func (a *app) printRecovery(words []string) {
	fmt.Fprintln(a.out, "\nRecovery words, shown this once and kept nowhere. Write them on paper:")
	for i := 0; i < len(words); i += wordsInLine {
		fmt.Fprintln(a.out, "  "+strings.Join(words[i:min(len(words), i+wordsInLine)], " "))
	}
	fmt.Fprintln(a.out, "They take your computers back when all are lost or stolen (parley fleet recover). A computer that joins\n"+
		"others with parley join has no use for its own: there the words of the first one count.")
}

// fillFleet gives the commands about membership what they do.
func (a *app) fillFleet(v api.Verb, c *cobra.Command) bool {
	switch v.Name {
	case "computers rename":
		c.Use, c.Args, c.RunE = "rename OLD NEW", arguments("OLD", "NEW"), a.rename
	case "computers remove":
		c.Use, c.Args = "remove NAME", arguments("NAME")
		c.RunE = func(c *cobra.Command, args []string) error { return a.revoke(c, args[0], "retired") }
	case "revoke":
		a.revokeCommand(c)
	case "backup":
		a.backupCommand(c)
	case "restore":
		a.restoreCommand(c)
	case "fleet recover":
		c.Use, c.Args = "recover [NAME ...]", cobra.ArbitraryArgs
		c.RunE = a.recover
	default:
		return false
	}
	return true
}

func (a *app) rename(c *cobra.Command, args []string) error {
	return a.byPerson(c, "Passphrase to rename "+oneLine(args[0])+": ", func(client *api.Client, by api.Prover) (api.Outcome, error) {
		return client.Rename(c.Context(), args[0], args[1], by)
	})
}

func (a *app) revokeCommand(c *cobra.Command) {
	reason := c.Flags().String("reason", "lost", "lost, retired or stolen")
	c.Use, c.Args = "revoke NAME", arguments("NAME")
	c.RunE = func(c *cobra.Command, args []string) error {
		if !slices.Contains(api.RevokeWhys, api.RevokeWhy(*reason)) {
			return usage(c, fmt.Sprintf("%q is no reason; the reasons are lost, retired and stolen", *reason))
		}
		return a.revoke(c, args[0], api.RevokeWhy(*reason))
	}
}

// revoke removes a computer, and says what parley cannot take from it.
func (a *app) revoke(c *cobra.Command, name string, why api.RevokeWhy) error {
	prompt := "Passphrase to remove " + oneLine(name) + " for ever: "
	err := a.byPerson(c, prompt, func(client *api.Client, by api.Prover) (api.Outcome, error) {
		return client.Revoke(c.Context(), name, why, by)
	})
	if err != nil {
		return err
	}
	if why != "retired" {
		a.remind()
	}
	return nil
}

// remind names what a thief still has: parley holds no credential of GitHub, and erases no disk.
func (a *app) remind() {
	a.note("its access to GitHub is not ended by this: revoke its token at https://github.com/settings/applications,")
	a.note("and delete its SSH keys at https://github.com/settings/keys; what is on its disk cannot be erased from here")
}

// recover asks for the words and takes the computers back.
func (a *app) recover(c *cobra.Command, names []string) error {
	home := a.openHome()
	if err := home.Check(); err != nil {
		return err
	}
	if pid, running := home.Holder(); running {
		err := fmt.Errorf("recover: %w (process %d)", api.ErrHomeInUse, pid)
		return api.WithHint(err, "stop parley up first, then run parley fleet recover again")
	}
	if _, err := a.unlock(c.Context(), home, "Passphrase to take your computers back: "); err != nil {
		return err
	}
	fmt.Fprintln(a.err, "The 24 recovery words that parley init printed on your first computer, in one line:")
	words, err := a.line(c.Context())
	if err != nil {
		return err
	}
	out, err := node.Recover(c.Context(), home, words, names)
	if err != nil {
		return err
	}
	for _, name := range out.Removed {
		fmt.Fprintln(a.out, oneLine(name)+" is removed.")
	}
	if out.Added != "" {
		fmt.Fprintln(a.out, oneLine(out.Added)+" is one of your computers.")
	}
	if len(out.Removed) > 0 {
		a.remind()
	}
	a.note("run parley up; on each other computer of yours that was shut out, enter parley fleet recover with the same names")
	return nil
}
