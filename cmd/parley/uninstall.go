package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-mesh/parley/detect/repo"
	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
)

func (a *app) uninstallCommand() *cobra.Command {
	var data, dry bool
	var confirm string
	c := &cobra.Command{
		Use: "uninstall", Short: "take parley out of this computer again", Args: arguments(),
		Long: "Ends and removes the service and takes parley out of your agents' settings. What else parley made is the home; in\n" +
			"the .git of each checkout a folder parley, where files that were taken out of it are kept, and a line of\n" +
			"info/exclude; in your cache folder what parley check has read; and a relay's key, if you ran one. With --data all\n" +
			"of it is deleted, once you have typed the name of this computer: its key, its copy of every conversation, and\n" +
			"what was kept. What you put into the home yourself stays, and so does what another home on this computer uses or\n" +
			"may use; what was read and a relay's key go with the home that is used without --home.\n" +
			"Settings in a project are taken back by parley agents remove --project DIR. Passkeys stay where your browser\n" +
			"keeps them. Other computers of yours keep their data; tell them with\n" +
			"parley revoke NAME --reason retired, and make a parley backup first if this is the last one.\n" +
			"The program itself goes the way it came.",
		RunE: func(c *cobra.Command, _ []string) error { return a.uninstall(c, data, dry, confirm) },
	}
	c.Flags().BoolVar(&data, "data", false, "delete the home and the kept files too")
	c.Flags().BoolVar(&dry, "dry-run", false, "only say what would be done")
	c.Flags().StringVar(&confirm, "confirm", "", "with --data: the name of this computer, for scripts")
	return c
}

// uninstall goes on past what fails, so that one fault leaves as little as possible behind.
func (a *app) uninstall(c *cobra.Command, data, dry bool, confirm string) error {
	home := a.openHome()
	var doomed []doom
	var missing error // a home that was deleted by hand has left its service and its hooks
	if data {
		var err error
		doomed, err = a.confirmData(c.Context(), home, dry, confirm)
		switch {
		case errors.Is(err, api.ErrNoHome):
			missing = api.WithHint(fmt.Errorf("delete the data: %w", err), "if the home is another one, name it: parley --home DIR uninstall --data")
		case err != nil:
			return err
		}
	}
	if dry {
		a.planUninstall(c.Context(), home, data, doomed)
		return missing
	}
	errs := []error{a.serviceRemove(c.Context()), a.removeHooks(c.Context())}
	if pid, running := home.Holder(); running && data {
		err := fmt.Errorf("uninstall: %w (process %d), so nothing was deleted", api.ErrHomeInUse, pid)
		return errors.Join(append(errs, api.WithHint(err, fmt.Sprintf("stop process %d, then run parley uninstall --data again", pid)))...)
	}
	for _, d := range doomed {
		errs = append(errs, a.erase(d))
	}
	if !data && exists(home.Dir) {
		a.note("the home %s stays; parley uninstall --data deletes it", home.Dir)
	}
	return errors.Join(append(errs, missing)...)
}

// doom is something that is deleted; erase gives back what of it stays.
type doom struct {
	path  string
	erase func() (others []string, err error)
}

// erase deletes one thing of parley's.
func (a *app) erase(d doom) error {
	others, err := d.erase()
	switch {
	case err != nil:
	case len(others) > 0:
		fmt.Fprintln(a.out, "Deleted what parley put into "+oneLine(d.path)+".")
		a.stays(d.path, others)
	default:
		fmt.Fprintln(a.out, "Deleted "+oneLine(d.path)+".")
	}
	return err
}

// doomedHome is a home; one in which other things lie stays, with them.
func doomedHome(home node.Home) doom {
	return doom{home.Dir, func() ([]string, error) {
		own, others, err := home.Contents()
		if err != nil {
			return nil, err
		}
		var errs []error
		for _, at := range own {
			errs = append(errs, os.RemoveAll(at))
		}
		if len(others) == 0 {
			errs = append(errs, os.Remove(home.Dir))
		}
		return others, errors.Join(errs...)
	}}
}

// beside is what parley made outside of the home, but for the service and the agents' settings.
func (a *app) beside(ctx context.Context, home node.Home, config node.Config) []doom {
	var out []doom
	for _, r := range config.Repositories {
		common, err := output(ctx, "git", "-C", r.Checkout, "rev-parse", "--path-format=absolute", "--git-common-dir")
		dir := filepath.Join(common, "parley")
		if info, missing := os.Lstat(dir); err != nil || missing != nil || !info.IsDir() {
			continue
		}
		if others, err := home.OthersAt(common); err != nil || len(others) > 0 {
			a.shared(dir, others, err)
			continue
		}
		out = append(out, doom{dir, func() ([]string, error) { return nil, node.LeaveRepository(common) }})
	}
	if root, err := repo.CacheRoot(); err == nil && exists(root) && home != node.DefaultHome() {
		a.note("%s stays, since it is of all homes; it goes with the home %s", root, node.DefaultHome().Dir)
	} else if err == nil && exists(root) {
		out = append(out, doom{root, func() ([]string, error) {
			err := os.RemoveAll(root)
			_ = os.Remove(filepath.Dir(root)) // it stays if something else has come into it
			return nil, err
		}})
	}
	if key := node.RelayKeyPath(); home == node.DefaultHome() && exists(key) {
		out = append(out, doom{key, func() ([]string, error) { return nil, os.Remove(key) }})
	}
	return out
}

// shared says why what is kept in a repository is not deleted.
func (a *app) shared(dir string, others []node.Home, err error) {
	if len(others) > 0 {
		a.note("%s stays, since the home %s uses it, too", dir, others[0].Dir)
		return
	}
	a.note("%s stays: %s; delete it yourself once nobody needs it", dir, strings.ReplaceAll(err.Error(), "\n", "; "))
}

// stays says why a home is not deleted as a whole.
func (a *app) stays(home string, others []string) {
	a.note("%s stays, since parley did not put %s there", home, strings.TrimPrefix(others[0], home+string(filepath.Separator)))
}

// removeHooks takes parley out of the settings of the agents, and then what is left beside them.
func (a *app) removeHooks(ctx context.Context) error {
	set, err := a.openHome().Agents(node.AgentOptions{Gone: true})
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range set.Names() {
		if err := a.agentsOne(ctx, set, name, "remove", false); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// planUninstall says what would be done, and of what there is none.
func (a *app) planUninstall(ctx context.Context, home node.Home, data bool, doomed []doom) {
	s := a.service("")
	if state, err := s.State(ctx); err != nil {
		a.note("whether a service is installed cannot be told: %s", because(err))
	} else if state.Installed {
		fmt.Fprintln(a.out, "would end and remove the service "+s.Name+", "+s.File())
	} else {
		fmt.Fprintln(a.out, "would leave the system's services alone: none is installed for this home")
	}
	hooks := false
	if set, err := home.Agents(node.AgentOptions{Gone: true}); err != nil {
		a.note("the settings of coding agents cannot be looked at: %s", because(err))
	} else {
		for _, name := range set.Names() {
			hooks = a.planHooks(set, name) || hooks
		}
	}
	if !hooks {
		fmt.Fprintln(a.out, "would leave the settings of coding agents alone: none asks this home")
	}
	for _, d := range doomed {
		fmt.Fprintln(a.out, "would delete "+oneLine(d.path))
	}
	if !data && exists(home.Dir) {
		fmt.Fprintln(a.out, "would leave the home "+oneLine(home.Dir)+" (parley uninstall --data deletes it)")
	}
}

// planHooks says what would be taken out of one agent's settings, and whether there is anything.
func (a *app) planHooks(set *node.AgentSet, name string) (some bool) {
	changes, err := set.Remove(name)
	if err != nil {
		a.note("%s: %s", name, api.Explain(err).Text)
	}
	for _, x := range changes {
		if !x.Same() {
			some = true
			fmt.Fprintln(a.out, "would take parley out of "+oneLine(x.Path))
		}
	}
	if command := set.Command(name, "remove"); len(command) > 0 {
		some = true
		fmt.Fprintf(a.out, "would run %s\n", oneLine(commandLine(command)))
	}
	a.agentsOthers(name, "remove", set.Others(name))
	return some
}

// nameToType is what a person types to delete a home: the name that this computer has by now, which a rename has given
// it in the roster and not in the settings; without settings it is the path of the home.
func nameToType(home node.Home, config node.Config) string {
	client := api.NewClient(home.SocketPath())
	s, err := client.Status()
	_ = client.Close() // it was only read
	if err != nil {
		if r, done, err := node.OpenReader(home); err == nil {
			s, _ = r.Status() // without one the settings' name counts
			_ = done()
		}
	}
	return cmp.Or(s.Computer.Name, config.Name, home.Dir)
}

// ownSettings are the settings of a home that goes. Spoiled ones stop nothing, where keys show that it is a home: what
// only they tell is left out, and named.
func (a *app) ownSettings(home node.Home) (node.Config, error) {
	config, err := home.Config()
	if err == nil || errors.Is(err, api.ErrNoHome) || !exists(home.IdentityPath()) && !exists(home.ApprovalPath()) {
		return config, err
	}
	a.note("%s; so parley does not know your checkouts, and what is kept in the .git/parley of each stays", because(err))
	return node.Config{}, nil
}

// confirmData asks for the computer's name, and says what is deleted then.
func (a *app) confirmData(ctx context.Context, home node.Home, dry bool, confirm string) ([]doom, error) {
	config, err := a.ownSettings(home)
	if err != nil {
		return nil, err
	}
	_, others, err := home.Contents()
	if err != nil {
		return nil, err
	}
	if len(others) > 0 {
		a.stays(home.Dir, others)
	}
	doomed := append([]doom{doomedHome(home)}, a.beside(ctx, home, config)...)
	if dry {
		return doomed, nil
	}
	name := nameToType(home, config)
	if confirm == "" {
		if !terminal(a.in) {
			return nil, api.WithHint(fmt.Errorf("uninstall --data: %w", api.ErrNoTerminal), "run it in a terminal, or with --confirm NAME")
		}
		for _, d := range doomed {
			fmt.Fprintln(a.err, "  "+oneLine(d.path))
		}
		fmt.Fprintf(a.err, "All of this is deleted for good. Type the name of this computer, %s: ", oneLine(name))
		if confirm, err = a.line(ctx); err != nil {
			return nil, err
		}
	}
	if confirm != name {
		text := "uninstall: that is not the name of this computer, so nothing was done"
		if name == home.Dir {
			text = "uninstall: the name of this computer cannot be read, so the path of the home is wanted, and nothing was done"
		}
		return nil, api.WithHint(usageError{text}, "run parley uninstall --data again")
	}
	return doomed, nil
}
