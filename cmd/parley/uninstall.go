package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
)

func (a *app) uninstallCommand() *cobra.Command {
	var data, dry bool
	var confirm string
	c := &cobra.Command{
		Use: "uninstall", Short: "take parley out of this computer again", Args: arguments(),
		Long: "Ends and removes the service and takes parley's hooks out of your agents' settings. Nothing else was ever put\n" +
			"anywhere but into the home, and into the folder parley in .git of each checkout, where files that were taken\n" +
			"out of it are kept. With --data both are deleted, once you have typed the name of this computer: its key, its\n" +
			"copy of every conversation, and what was kept. What you put into the home yourself stays. Other computers of\n" +
			"yours keep theirs; tell them with parley revoke NAME --reason retired, and make a parley backup first if this\n" +
			"is the last one.\n" +
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
	var doomed []string
	if data {
		var err error
		if doomed, err = a.confirmData(c.Context(), home, dry, confirm); err != nil {
			return err
		}
	}
	if dry {
		a.planUninstall(c.Context(), doomed)
		return nil
	}
	errs := []error{a.serviceRemove(c.Context()), a.removeHooks(c.Context())}
	if pid, running := home.Holder(); running && data {
		err := fmt.Errorf("uninstall: %w (process %d), so nothing was deleted", api.ErrHomeInUse, pid)
		return errors.Join(append(errs, api.WithHint(err, fmt.Sprintf("stop process %d, then run parley uninstall --data again", pid)))...)
	}
	for _, path := range doomed {
		errs = append(errs, a.erase(home, path))
	}
	if !data && exists(home.Dir) {
		a.note("the home %s stays; parley uninstall --data deletes it", home.Dir)
	}
	return errors.Join(errs...)
}

// erase deletes a folder of parley's. A home in which other things lie stays, with them.
func (a *app) erase(home node.Home, path string) error {
	own, others := []string{path}, []string(nil)
	if path == home.Dir {
		var err error
		if own, others, err = home.Contents(); err != nil {
			return err
		}
	}
	var errs []error
	for _, at := range own {
		errs = append(errs, os.RemoveAll(at))
	}
	if path == home.Dir && len(others) == 0 {
		errs = append(errs, os.Remove(path))
	}
	err := errors.Join(errs...)
	switch {
	case err != nil:
	case len(others) > 0:
		fmt.Fprintln(a.out, "Deleted what parley put into "+oneLine(path)+".")
		a.stays(path, others)
	default:
		fmt.Fprintln(a.out, "Deleted "+oneLine(path)+".")
	}
	return err
}

// stays says why a home is not deleted as a whole.
func (a *app) stays(home string, others []string) {
	a.note("%s stays, since parley did not put %s there", home, strings.TrimPrefix(others[0], home+string(filepath.Separator)))
}

// removeHooks takes parley out of the settings of the agents, and then what is left beside them.
func (a *app) removeHooks(ctx context.Context) error {
	set, err := a.openHome().Agents(node.AgentOptions{})
	if errors.Is(err, api.ErrNoHome) {
		return nil // agents were never set up either
	}
	if err != nil {
		return err
	}
	plan, err := a.openHome().Agents(node.AgentOptions{}) // a plan of its own: what is planned counts as done
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range set.Names() {
		changes, err := plan.Remove(name)
		if err == nil {
			err = a.agentsOne(ctx, set, name, "remove", false)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
			continue
		}
		for _, x := range changes {
			errs = append(errs, x.Forget())
		}
	}
	return errors.Join(errs...)
}

func (a *app) planUninstall(ctx context.Context, doomed []string) {
	s := a.service("")
	if state, err := s.State(ctx); err == nil && state.Installed {
		fmt.Fprintln(a.out, "would end and remove the service "+s.Name+", "+s.File())
	}
	fmt.Fprintln(a.out, "would take parley's hooks out of the settings of your agents")
	for _, dir := range doomed {
		fmt.Fprintln(a.out, "would delete "+oneLine(dir))
	}
}

// confirmData asks for the computer's name, and says what is deleted then.
func (a *app) confirmData(ctx context.Context, home node.Home, dry bool, confirm string) ([]string, error) {
	config, err := home.Config()
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
	doomed := []string{home.Dir}
	for _, r := range config.Repositories {
		if dir := keptIn(ctx, r.Checkout); dir != "" {
			doomed = append(doomed, dir)
		}
	}
	if dry {
		return doomed, nil
	}
	if confirm == "" {
		if !terminal(a.in) {
			return nil, api.WithHint(fmt.Errorf("uninstall --data: %w", api.ErrNoTerminal), "run it in a terminal, or with --confirm NAME")
		}
		for _, dir := range doomed {
			fmt.Fprintln(a.err, "  "+oneLine(dir))
		}
		fmt.Fprintf(a.err, "All of this is deleted for good. Type the name of this computer, %s: ", oneLine(config.Name))
		if confirm, err = a.line(ctx); err != nil {
			return nil, err
		}
	}
	if confirm != config.Name {
		return nil, api.WithHint(usageError{"uninstall: that is not the name of this computer, so nothing was done"}, "run parley uninstall --data again")
	}
	return doomed, nil
}

// keptIn is the folder in a repository in which parley keeps what it took out of the checkout; "" for none.
func keptIn(ctx context.Context, checkout string) string {
	common, err := output(ctx, "git", "-C", checkout, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return ""
	}
	dir := filepath.Join(common, "parley")
	if info, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return ""
	}
	return dir
}
