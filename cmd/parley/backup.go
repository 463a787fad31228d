package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
)

func (a *app) backupCommand(c *cobra.Command) {
	var o node.BackupOptions
	c.Flags().StringVar(&o.Recipient, "recipient", "", "an age recipient (age1...) to seal it for, in place of the passphrase")
	c.Flags().BoolVar(&o.WithKey, "with-key", false, "also back up this computer's own key")
	c.Use, c.Args = "backup FILE", arguments("FILE")
	c.RunE = func(c *cobra.Command, args []string) error {
		o.Path = args[0]
		return a.backup(c, o)
	}
}

func (a *app) backup(c *cobra.Command, o node.BackupOptions) error {
	home := a.openHome()
	if err := home.Check(); err != nil {
		return err
	}
	if err := home.CheckApproval(); err != nil {
		return err
	}
	var err error
	if o.Passphrase, err = a.passphrase(c.Context(), "Passphrase (it seals the backup, too): "); err != nil {
		return err
	}
	if _, err := home.Unlock(o.Passphrase); err != nil {
		return err
	}
	err = a.reading(func(r api.Reader) error { return node.Backup(home, r, o) })
	if err != nil {
		return err
	}
	fmt.Fprintln(a.out, "Backed up to "+o.Path+".")
	if o.WithKey {
		a.note("it holds this computer's key: whoever opens it can be this computer")
	}
	return nil
}

func (a *app) restoreCommand(c *cobra.Command) {
	var o node.RestoreOptions
	c.Flags().StringVar(&o.IdentityFile, "identity", "", "file of the age identity that opens it, in place of the passphrase")
	c.Flags().StringVar(&o.Name, "name", "", "what you call this computer (default: as in the backup)")
	c.Use, c.Args = "restore FILE", arguments("FILE")
	c.RunE = func(c *cobra.Command, args []string) error {
		o.Path = args[0]
		return a.restore(c, o)
	}
}

func (a *app) restore(c *cobra.Command, o node.RestoreOptions) error {
	home := a.openHome()
	err := home.Free()
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	if o.IdentityFile != "" {
		o.Approval, err = a.newPassphrase(c.Context())
	} else if o.Passphrase, err = a.passphrase(c.Context(), "Passphrase of the backup: "); err == nil {
		o.Approval = o.Passphrase
	}
	if err != nil {
		return err
	}
	out, err := node.Restore(c.Context(), home, o)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s is set up in %s with %d records of %s.\n", oneLine(out.Name), home.Dir, out.Records, out.At.Local().Format("2006-01-02 15:04"))
	if out.Member {
		a.note("it is the computer that was backed up: run parley up here only if that one runs no more")
		return nil
	}
	a.note("it is a new computer: run parley fleet recover with the recovery words, or parley join with a code of parley invite")
	return nil
}
