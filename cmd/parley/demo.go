package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/simnet/demo"
	"github.com/parley-mesh/parley/simnet/desk"
)

// extraCommands are the commands that are no verbs of a node: those that need nothing but a repository, the demo,
// and the two programs that it starts beside the nodes.
func extraCommands(a *app) []*cobra.Command {
	return append([]*cobra.Command{a.checkCommand(), a.policyCommand(), a.demoCommand(), demoGitHubCommand(), demoDeskCommand()}, installCommands(a)...)
}

func (a *app) demoCommand() *cobra.Command {
	var o demo.Options
	var page bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "play the main job on this machine, with real parts",
		Long: "Starts a GitHub stand-in over a real repository and three computers, each a process with its own home,\n" +
			"and lets them settle a conflicting pull request. You approve twice. At the end everything is checked with\n" +
			"git, without asking the computers. In a terminal the computers then go on, with more conflicts to settle, and the\n" +
			"page opens; press Ctrl-C to end. With --repo it plays with a copy of two branches of your own repository,\n" +
			"which is only read: branches that merge cleanly end with exit status 6, a conflict that only a person can\n" +
			"settle with 5.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o.Page = page || terminal(a.in) && !o.Yes && !c.Flags().Changed("page")
			return a.playDemo(c, o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.Dir, "dir", "", "directory for everything; one that an interrupted demo used goes on (default: a new one)")
	f.BoolVar(&o.Yes, "yes", false, "answer the two approvals with yes")
	f.BoolVar(&o.Keep, "keep", false, "leave everything running at the end")
	f.BoolVar(&page, "page", false, "afterwards stay with more conflicts to settle, and open the page (default in a terminal without --yes)")
	f.BoolVar(&o.CloseLaptop, "close-laptop", false, "shut one computer in the middle and let it catch up")
	f.StringVar(&o.Repo, "repo", "", "a repository of yours, to play with a copy of two of its branches")
	f.StringVar(&o.Head, "head", "", "with --repo: the branch of the pull request")
	f.StringVar(&o.Base, "base", "", "with --repo: the branch that it goes into (default: the one checked out)")
	c.AddCommand(a.demoAgentsCommand())
	return c
}

func (a *app) demoAgentsCommand() *cobra.Command {
	var o demo.AgentOptions
	c := &cobra.Command{
		Use:   "agents",
		Short: "watch six scripted agents run into each other, with real parts",
		Long: "Starts a GitHub stand-in and three computers of two developers, each a process with its own home. Six agents\n" +
			"follow a script: they speak the hooks of claude, codex, gemini and opencode to the real parley-hook, and obey\n" +
			"its answers. Every kind of conflict arises, is told to those whom it concerns, makes the newcomer wait where it\n" +
			"must, and is over when the overlap goes. At the end the working copies are checked with git.",
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			program, err := os.Executable()
			if err != nil {
				return err
			}
			if err := checkGit(c.Context()); err != nil {
				return err
			}
			if o.Hook == "" {
				var done func()
				if o.Hook, done, err = hookFor(c.Context(), program); err != nil {
					return err
				}
				defer done()
			}
			o.Program, o.Out = program, a.out
			return demo.RunAgents(c.Context(), o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.Dir, "dir", "", "an empty directory for everything (default: a new one)")
	f.StringVar(&o.Hook, "hook", "", "the program that hooks start (default: parley-hook beside parley)")
	f.BoolVar(&o.Keep, "keep", false, "leave everything running at the end")
	return c
}

// hookFor is the program of the hooks: the one beside this one, or, for `go run`, one that is built for the while from
// the module that one stands in. Where neither can be had the demo says so.
func hookFor(ctx context.Context, program string) (path string, done func(), err error) {
	path, done = hookBeside(program), func() {}
	if exists(path) {
		return path, done, nil
	}
	dir, err := os.MkdirTemp("", "parley-hook-")
	if err != nil {
		return "", nil, err
	}
	done = func() { _ = os.RemoveAll(dir) }
	built := filepath.Join(dir, filepath.Base(path))
	if exec.CommandContext(ctx, "go", "build", "-o", built, "github.com/parley-mesh/parley/cmd/parley-hook").Run() == nil {
		return built, done, nil
	}
	return path, done, ctx.Err()
}

// hookBeside is the program of the hooks, where it lies beside this one.
func hookBeside(program string) string {
	name := "parley-hook"
	if filepath.Ext(program) == ".exe" {
		name += ".exe"
	}
	return filepath.Join(filepath.Dir(program), name)
}

func (a *app) playDemo(c *cobra.Command, o demo.Options) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	if err := checkGit(c.Context()); err != nil {
		return err
	}
	if o.Repo != "" {
		if err := chooseBranches(c, &o); err != nil {
			return err
		}
	} else if o.Head != "" || o.Base != "" {
		return usage(c, "--head and --base go with --repo")
	}
	o.Program, o.In, o.Out, o.Terminal = program, a.in, a.spelled(a.out), terminal(a.in)
	o.Show = func(ctx context.Context, home string) error {
		at := *a
		at.home = home
		return at.openPage(ctx, !o.Terminal)
	}
	return explainDemo(demo.Run(c.Context(), o))
}

// chooseBranches fills in the base branch and makes the repository's path absolute.
func chooseBranches(c *cobra.Command, o *demo.Options) error {
	if o.Head == "" {
		return usage(c, "--repo needs --head, the branch of the pull request")
	}
	top, err := checkoutAt(c.Context(), o.Repo)
	if err != nil {
		return err
	}
	if o.Repo, err = filepath.Abs(top); err != nil {
		return err
	}
	if o.Base == "" {
		if o.Base, err = currentBranch(c.Context(), top); err != nil {
			return err
		}
	}
	if o.Base == o.Head {
		return usage(c, "--head and --base are the same branch")
	}
	return nil
}

// explainDemo gives the demo's errors their exit statuses, in the demo's own words.
func explainDemo(err error) error {
	switch {
	case errors.Is(err, demo.ErrClean):
		return meant{err, api.ErrNothingToDo}
	case errors.Is(err, demo.ErrPerson):
		return meant{err, api.ErrNeedsPerson}
	}
	return err
}

// meant is an error that is explained like another one.
type meant struct {
	error
	as error
}

// Unwrap is both.
func (m meant) Unwrap() []error { return []error{m.error, m.as} }

func demoGitHubCommand() *cobra.Command {
	var dir, addr string
	c := &cobra.Command{
		Use: "demo-github", Short: "the demo's GitHub stand-in", Hidden: true, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return demo.ServeGitHub(c.Context(), dir, addr) },
	}
	c.Flags().StringVar(&dir, "dir", "", "directory of the demo")
	c.Flags().StringVar(&addr, "addr", "", "loopback address to answer on")
	return c
}

func demoDeskCommand() *cobra.Command {
	return &cobra.Command{
		Use: "demo-desk", Short: "the demo's desk: a rule, no agent", Hidden: true, DisableFlagParsing: true,
		Run: func(_ *cobra.Command, args []string) { os.Exit(desk.Main(args)) },
	}
}

// currentBranch is the branch that a checkout stands on.
func currentBranch(ctx context.Context, top string) (string, error) {
	branch, err := output(ctx, "git", "-C", top, "symbolic-ref", "--short", "HEAD")
	if err != nil {
		return "", usageError{"--base is needed: " + top + " stands on no branch"}
	}
	return branch, nil
}
