package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
)

// agentFlags are those of the commands about coding agents.
type agentFlags struct {
	node.AgentOptions
	dry bool
}

// fillAgents gives the commands about coding agents what they do.
func (a *app) fillAgents(v api.Verb, c *cobra.Command) bool {
	var f agentFlags
	switch v.Name {
	case "agents install":
		c.Flags().BoolVar(&f.Trust, "trust", false, "trust parley's hooks for Codex in your place (asks your passphrase)")
		c.Use, c.RunE = "install [AGENT ...]", func(c *cobra.Command, args []string) error { return a.agentsInstall(c, args, f) }
	case "agents check":
		c.Use, c.RunE = "check [AGENT ...]", func(c *cobra.Command, args []string) error { return a.agentsCheck(c, args, f) }
	case "agents remove":
		c.Use, c.RunE = "remove [AGENT ...]", func(c *cobra.Command, args []string) error { return a.agentsRemove(c, args, f) }
	default:
		return false
	}
	c.Args = cobra.ArbitraryArgs
	c.Flags().StringVar(&f.Project, "project", "", "settings of the project in this directory, in place of your own")
	c.Flags().StringVar(&f.Hook, "hook", "", "the program that hooks start (default: parley-hook beside parley)")
	if !v.Reads {
		c.Flags().BoolVar(&f.dry, "dry-run", false, "print what would change, and change nothing")
	}
	return true
}

// agentsNamed opens the agents' settings, and says which agents are meant.
func (a *app) agentsNamed(c *cobra.Command, args []string, f agentFlags) (*node.AgentSet, []string, error) {
	set, err := a.openHome().Agents(f.AgentOptions)
	if err != nil {
		return nil, nil, err
	}
	if slices.Contains(args, "all") {
		return set, set.All(), nil
	}
	for _, name := range args {
		if !set.Known(name) {
			return nil, nil, usage(c, fmt.Sprintf("there is no agent %q", name))
		}
	}
	if len(args) == 0 {
		args = set.Names()
	}
	if len(args) == 0 {
		a.note("no coding agent is set up on this computer; name one of claude, codex, gemini, opencode and cursor")
	}
	return set, args, nil
}

func (a *app) agentsInstall(c *cobra.Command, args []string, f agentFlags) error {
	set, names, err := a.agentsNamed(c, args, f)
	if err != nil {
		return err
	}
	if _, err := set.HookPath(); err != nil && !f.dry {
		return err
	}
	if f.Trust && !f.dry {
		if _, err := a.unlock(c.Context(), a.openHome(), "Passphrase to trust parley's hooks in Codex: "); err != nil {
			return err
		}
	}
	if err := a.agentsEach(c.Context(), set, names, "install", f.dry); err != nil || f.dry {
		return err
	}
	for _, name := range names {
		if x := set.Check(c.Context(), name); !x.OK() {
			a.note("%s: %s: %s", name, x.Text, x.Mend)
		}
	}
	return nil
}

func (a *app) agentsRemove(c *cobra.Command, args []string, f agentFlags) error {
	f.Gone = true
	set, names, err := a.agentsNamed(c, args, f)
	if err != nil {
		return err
	}
	return a.agentsEach(c.Context(), set, names, "remove", f.dry)
}

// agentsEach does one thing to several agents. What goes wrong with one stops none of the others.
func (a *app) agentsEach(ctx context.Context, set *node.AgentSet, names []string, what string, dry bool) error {
	var wrong []error
	for _, name := range names {
		if err := a.agentsOne(ctx, set, name, what, dry); err != nil {
			err = fmt.Errorf("%s %s: %w", what, name, err)
			wrong = append(wrong, api.WithHint(err, "correct that, then run parley agents "+what+" "+name))
		}
	}
	if len(wrong) > 1 {
		for _, err := range wrong[:len(wrong)-1] {
			a.note("%s", api.Explain(err).Text)
		}
	}
	if len(wrong) > 0 {
		return wrong[len(wrong)-1]
	}
	return nil
}

func (a *app) agentsOne(ctx context.Context, set *node.AgentSet, name, what string, dry bool) error {
	plan, others := set.Install, set.Others(name)
	if what == "remove" {
		plan = set.Remove
	}
	changes, unread := plan(name)
	if unread != nil && what != "remove" {
		return unread
	}
	done, command := 0, set.Command(name, what)
	for _, x := range changes {
		switch {
		case x.Same():
			continue
		case dry:
			fmt.Fprint(a.out, x.Diff())
		default:
			if err := x.Apply(); err != nil {
				return err
			}
			fmt.Fprintf(a.out, "%s: %s\n", name, oneLine(x.Path))
		}
		done++
	}
	switch {
	case len(command) > 0 && dry:
		fmt.Fprintf(a.out, "%s: would run %s\n", name, oneLine(commandLine(command)))
	case len(command) > 0:
		if err := set.Run(ctx, name, what); err != nil {
			return err
		}
		fmt.Fprintf(a.out, "%s: ran %s\n", name, oneLine(commandLine(command)))
	case done == 0 && len(others) == 0 && unread == nil:
		a.note("%s: nothing to do", name)
	}
	a.agentsOthers(name, what, others)
	if what == "remove" && !dry && len(others) == 0 {
		unread = errors.Join(unread, forget(changes))
	}
	return unread
}

// forget takes away what is left beside the files of an agent that no home has anything to do with any more.
func forget(changes []node.AgentChange) error {
	var errs []error
	for _, x := range changes {
		errs = append(errs, x.Forget())
	}
	return errors.Join(errs...)
}

// agentsOthers says what becomes of an agent that asks another home: an agent asks one.
func (a *app) agentsOthers(name, what string, others []string) {
	for _, home := range others {
		switch {
		case what == "install":
			a.note("%s asks this home now, and no more the home %s", name, home)
		default:
			a.note("%s asks the home %s, and goes on with it; %s ends that", name, home, ofHome(home, "agents remove "+name))
		}
	}
}

// ofHome is a command about a home.
func ofHome(home, command string) string {
	if home == node.DefaultHome().Dir {
		return "parley " + command
	}
	return "parley --home " + quoted(home) + " " + command
}

func (a *app) agentsCheck(c *cobra.Command, args []string, f agentFlags) error {
	set, names, err := a.agentsNamed(c, args, f)
	if err != nil {
		return err
	}
	faults, rows, all := 0, [][]string{}, []node.AgentFinding{}
	for _, name := range names {
		x := set.Check(c.Context(), name)
		word, text := "ok", x.Text
		if !x.OK() {
			faults++
			word, text = "fault", x.Text+": "+a.here(x.Mend)
		}
		rows, all = append(rows, []string{word, name, text}), append(all, x)
	}
	if a.json {
		if err := a.printJSON(api.List[node.AgentFinding](all)); err != nil {
			return err
		}
	} else {
		table(a.out, "", rows)
	}
	if faults > 0 {
		return faultsFound(faults)
	}
	return nil
}

// examineAgents is the doctor's look at the agents that ask parley.
func (a *app) examineAgents(ctx context.Context, home node.Home) []check {
	set, err := home.Agents(node.AgentOptions{})
	if err != nil {
		return []check{ill("agents-spoiled", because(err))}
	}
	var out []check
	for _, name := range set.Names() {
		if x := set.Check(ctx, name); x.State != "absent" {
			out = append(out, judgeAgent(x))
		}
	}
	if len(out) == 0 {
		out = append(out, good("agents", "none asks parley before it edits (parley agents install)"))
	}
	return append(out, examineMissed(home))
}

func judgeAgent(x node.AgentFinding) check {
	if x.OK() {
		return good(x.Agent, x.Text)
	}
	return ill("agent-"+string(x.State), x.Text, x.Mend).about(x.Agent)
}

// missedFor is how long a miss is told.
const missedFor = 24 * time.Hour

// examineMissed tells of edits that passed without an answer. Those from before the node started are mended.
func examineMissed(home node.Home) check {
	m, err := home.Missed(time.Now().Add(-missedFor))
	if err != nil {
		return ill("agents-spoiled", because(err))
	}
	return judgeMissed(home, m)
}

func judgeMissed(home node.Home, m node.Missed) check {
	if m.Count == 0 {
		return good("hooks", "every question of an agent was answered")
	}
	text := fmt.Sprintf("agents went on without an answer %s in the last day, %s at %s (%s)", many(m.Count, "time"), oneLine(m.Agent), m.Last.Format(time.TimeOnly), oneLine(m.Why))
	since, running := home.RunsSince()
	switch {
	case !running && m.Why == "down":
		return ill("hooks-down", text)
	case !running || m.Last.Before(since) || m.Why == "big":
		return good("hooks", text)
	}
	return ill("hooks-late", text)
}
