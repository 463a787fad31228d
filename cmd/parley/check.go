package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/detect/code"
	"github.com/parley-mesh/parley/detect/policy"
	"github.com/parley-mesh/parley/detect/repo"
	"github.com/parley-mesh/parley/node/api"
)

// exitStatus ends the program without a word: the output has said everything.
type exitStatus int

// Error is for whoever prints it nevertheless.
func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// checkOptions are the flags of check.
type checkOptions struct {
	repo.Options
	dir, policy string
	exitCode    bool
	all         bool
	noCache     bool
}

func (a *app) checkCommand() *cobra.Command {
	var o checkOptions
	c := &cobra.Command{
		Use:   "check [SIDE...]",
		Short: "find what conflicts between branches, before they are merged",
		Long: "Looks at all local branches and at the work of all worktrees that is not committed, or committed on no branch,\n" +
			"or at the named ones only, and says what overlaps between any two of them. A SIDE is a branch, a commit, the\n" +
			"directory of a worktree, or #42 for a pull request that was fetched. Nothing is needed but git, and nothing in\n" +
			"the repository is changed.\n\n" +
			"With --order it says in which order the sides can be merged with the fewest conflicts, and what each merge\n" +
			"will do and run into: sides that merge in pairs need not merge together. Lock files and generated files stop\n" +
			"no side: they are made again.\n\n" +
			"With --exit-code the status is 7 when there is a warning or worse, and 8 when there is none but git could\n" +
			"not judge every pair. What --json prints is listed by parley help scripts.",
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			o.Names = args
			return a.check(c, o)
		},
	}
	f := c.Flags()
	f.StringVarP(&o.dir, "repo", "C", ".", "the repository")
	f.StringVar(&o.Base, "base", "", "what everything is merged into (default: the remote's default branch, as it was fetched)")
	f.BoolVar(&o.PullRequests, "prs", false, "pull requests too, those whose refs were fetched")
	f.BoolVar(&o.Remotes, "remotes", false, "the branches of remotes too, as they were fetched")
	f.IntVar(&o.Max, "max", 100, "at most so many of the sides that nobody names, the ones worked on last; 0 for all")
	f.BoolVar(&o.Order, "order", false, "say in which order to merge")
	f.StringVar(&o.policy, "policy", "", "judge by this policy file (default: the one at the tip of the base)")
	f.BoolVar(&o.all, "all", false, "show what is only informative, too")
	f.BoolVar(&o.noCache, "no-cache", false, "read all code again, and keep nothing of it in the user's cache directory")
	f.BoolVar(&o.exitCode, "exit-code", false, "say with the exit status whether something was found")
	a.jsonFlags(c)
	return c
}

func (a *app) check(c *cobra.Command, o checkOptions) (err error) {
	ctx := c.Context()
	if o.Max < 0 {
		return usage(c, fmt.Sprintf("--max: want 0 or more, not %d", o.Max))
	}
	if err := checkGit(ctx); err != nil {
		return err
	}
	r, err := openRepo(ctx, o.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	rules, err := a.rules(ctx, r, o)
	if err != nil {
		return err
	}
	if o.Reader, err = readerOf(ctx, r, o.Base); err != nil {
		return err
	}
	if kept, missing := r.CacheFolder(""); missing == nil && !o.noCache { // without one it only takes longer
		o.Cache = kept
		defer func() { _ = kept.Close() }() // the next run tidies up
	}
	result, err := r.Check(ctx, rules, o.Options)
	if errors.Is(err, repo.ErrNoRevision) {
		return api.WithHint(usageError{err.Error()}, namesHint)
	}
	if errors.Is(err, repo.ErrEmpty) {
		return api.WithHint(err, "commit something first")
	}
	if err != nil {
		return err
	}
	if a.json {
		err = a.printJSON(viewOf(result))
	} else {
		a.printCheck(result, o)
	}
	if err == nil && o.exitCode {
		err = verdict(result)
	}
	return err
}

// readerOf reads code as the tip of the base lays it out; nil in a repository without commits.
func readerOf(ctx context.Context, r *repo.Repo, base string) (detect.Reader, error) {
	_, commit, err := r.Into(ctx, base)
	if errors.Is(err, repo.ErrEmpty) || errors.Is(err, repo.ErrNoRevision) {
		return nil, nil // check says so
	}
	if err != nil {
		return nil, err
	}
	l, err := r.Layout(ctx, commit)
	return code.New(code.Project{Has: l.Has, Folder: l.Folder, GoModules: l.GoModules, Packages: l.Packages, Aliases: l.Aliases}), err
}

// checkView is what --json prints.
type checkView struct {
	*repo.Result
	Findings []detect.Finding `json:"findings"`
	Doubts   []detect.Doubt   `json:"cannot_tell"`
}

// viewOf has a list wherever there may be one, so that filters need not ask first.
func viewOf(r *repo.Result) checkView {
	for i := range r.Report.Findings {
		f := &r.Report.Findings[i]
		f.About, f.From = some(f.About), some(f.From)
	}
	return checkView{r, some(r.Report.Findings), some(r.Report.Doubts)}
}

// some keeps an empty list from being printed as null.
func some[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// verdict is the exit status; nil for nothing found.
func verdict(r *repo.Result) error {
	for _, f := range r.Report.Findings {
		if f.Severity >= detect.Warn {
			return exitStatus(api.ExitFound)
		}
	}
	for _, p := range r.Pairs {
		if p.Why != "" {
			return exitStatus(api.ExitUntold)
		}
	}
	return nil
}

// namesHint is what helps against a name that git does not know.
const namesHint = "run git branch --all: it lists the branches; pull requests have to be fetched first"

func openRepo(ctx context.Context, dir string) (*repo.Repo, error) {
	r, err := repo.Open(ctx, dir)
	if errors.Is(err, repo.ErrForeign) {
		return nil, api.WithHint(err, "if you trust it, run git config --global --add safe.directory with that directory")
	}
	if _, missing := os.Stat(dir); missing != nil {
		return nil, api.WithHint(fmt.Errorf("repository: %w", missing), "name a git repository with --repo")
	}
	if errors.Is(err, repo.ErrNoRepository) {
		return nil, api.WithHint(fmt.Errorf("repository %s: %w", dir, api.ErrNotRepository), "name a git repository with --repo")
	}
	if errors.Is(err, repo.ErrBroken) {
		return nil, api.WithHint(err, "run git status there, and mend what it names")
	}
	return r, err
}

// rules are those of the policy in force, or of the file that the person wants to try.
func (a *app) rules(ctx context.Context, r *repo.Repo, o checkOptions) (*detect.Rules, error) {
	if o.policy != "" {
		p, err := readPolicy(o.policy)
		if err != nil {
			return nil, err
		}
		return detect.NewRules(p)
	}
	p, where, err := inForce(ctx, r, o.Base)
	if faults, ok := errors.AsType[policy.Faults](err); ok {
		a.note("%s is not in force, the defaults are: %s", where, faults.Error())
		return detect.NewRules(detect.DefaultPolicy())
	}
	if errors.Is(err, repo.ErrNoRevision) {
		return nil, api.WithHint(usageError{err.Error()}, namesHint)
	}
	if err != nil {
		return nil, err
	}
	return detect.NewRules(p)
}

// inForce is the policy at the tip of the base, and where it stands (D-25).
func inForce(ctx context.Context, r *repo.Repo, base string) (p *detect.Policy, where string, err error) {
	name, commit, err := r.Into(ctx, base)
	if errors.Is(err, repo.ErrEmpty) {
		return detect.DefaultPolicy(), "nothing committed", nil
	}
	if err != nil {
		return nil, "the policy", err
	}
	where = detect.PolicyPath + " of " + name
	content, there, err := r.File(ctx, commit, detect.PolicyPath)
	if err != nil || !there {
		return detect.DefaultPolicy(), where, err
	}
	p, err = policy.Parse(content)
	return p, where, err
}

// readPolicy reads a policy file of the disk; every fault is named with the file.
func readPolicy(path string) (*detect.Policy, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, api.WithHint(fmt.Errorf("policy: %w", err), "run parley policy explain")
	}
	p, err := policy.Parse(content)
	if err != nil {
		return nil, api.WithHint(fmt.Errorf("policy %s: %w", path, err), "run parley policy check "+quoted(path))
	}
	return p, nil
}

// sharpest is the mark of a pair in the matrix.
func sharpest(p repo.Pair) string {
	switch {
	case p.Merge == "conflict" && !p.Stale && len(p.Regenerate) < len(p.Conflicts):
		return "x"
	case p.Merge == "unknown":
		return "?"
	case p.Merge == "conflict" && !p.Stale && p.Severity == detect.Info.String():
		return "g"
	case p.Severity == "":
		return "."
	}
	return strings.ToLower(p.Severity[:1])
}
