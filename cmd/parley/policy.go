package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/detect/policy"
	"github.com/parley-mesh/parley/node/api"
)

// policyOptions are the flags that the policy commands have in common.
type policyOptions struct {
	dir, base, file, user string
}

func (a *app) policyCommand() *cobra.Command {
	var o policyOptions
	root := a.group("policy", "what the repository's policy says")
	root.Long = "The policy is the file " + detect.PolicyPath + ". In force is the one at the tip of the default branch, as it was\n" +
		"fetched; a changed one counts once it is merged."
	check := &cobra.Command{
		Use: "check [FILE]", Short: "look for faults in a policy file", Args: cobra.MaximumNArgs(1),
		Long: "Reads FILE (default: the one of the working copy) and names every fault with its line.",
		RunE: func(c *cobra.Command, args []string) error { return a.policyCheck(c.Context(), o, args) },
	}
	test := &cobra.Command{
		Use: "test PATH...", Short: "say what the policy does about paths", Args: cobra.MinimumNArgs(1),
		Long: "Says for each PATH, which may be a glob, whether a person may change it.",
		RunE: func(c *cobra.Command, args []string) error { return a.policyTest(c.Context(), o, args) },
	}
	test.Flags().StringVar(&o.user, "user", "", "the person's email address (default: git's user.email)")
	explain := &cobra.Command{
		Use: "explain", Short: "say what is in force", Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error { return a.policyExplain(c.Context(), o) },
	}
	schema := &cobra.Command{
		Use: "schema", Short: "print the JSON schema of the file", Args: arguments(),
		RunE: func(*cobra.Command, []string) error {
			_, err := a.out.Write(policy.Schema())
			return err
		},
	}
	for _, c := range []*cobra.Command{test, explain} {
		c.Flags().StringVar(&o.base, "base", "", "the policy at the tip of this branch (default: the remote's default branch)")
		c.Flags().StringVar(&o.file, "policy", "", "this policy file instead")
	}
	root.PersistentFlags().StringVarP(&o.dir, "repo", "C", ".", "the repository")
	root.AddCommand(check, test, explain, schema)
	return root
}

func (a *app) policyCheck(ctx context.Context, o policyOptions, args []string) error {
	var path string
	if len(args) > 0 {
		path = args[0]
	} else {
		top, err := checkoutAt(ctx, o.dir)
		if err != nil {
			return err
		}
		path = filepath.Join(top, detect.PolicyPath)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return api.WithHint(fmt.Errorf("policy: %w", err), "run parley policy explain")
	}
	p, err := policy.Parse(content)
	faults, ok := errors.AsType[policy.Faults](err)
	if !ok {
		if err != nil {
			return err
		}
		fmt.Fprintf(a.out, "%s holds\n", oneLine(path))
		for _, idle := range p.NeverBlock() {
			a.note("%s", idle)
		}
		return nil
	}
	for _, f := range faults {
		fmt.Fprintf(a.out, "%s: %s\n", oneLine(path), oneLine(f.Error()))
	}
	return faultsFound(len(faults))
}

// chosen is the policy that a command is about, and where it stands.
func (a *app) chosen(ctx context.Context, o policyOptions) (p *detect.Policy, where string, err error) {
	if o.file != "" {
		p, err = readPolicy(o.file)
		return p, o.file, err
	}
	r, err := openRepo(ctx, o.dir)
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	p, where, err = inForce(ctx, r, o.base)
	if err != nil {
		err = api.WithHint(fmt.Errorf("%s: %w", where, err), "run parley policy check")
	}
	return p, where, err
}

func (a *app) policyTest(ctx context.Context, o policyOptions, paths []string) error {
	p, where, err := a.chosen(ctx, o)
	if err != nil {
		return err
	}
	if o.user == "" {
		if o.user, err = output(ctx, "git", "-C", absolute(o.dir), "config", "user.email"); err != nil {
			return usageError{"--user: git does not know who you are"}
		}
	}
	rules, err := detect.NewRules(p)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s, for %s\n", oneLine(where), oneLine(o.user))
	for _, path := range paths {
		fmt.Fprintf(a.out, "%s\n", a.bold(oneLine(path)))
		for _, line := range rules.Explain(path, o.user) {
			fmt.Fprintf(a.out, "  %s\n", oneLine(line))
		}
	}
	return nil
}

func (a *app) policyExplain(ctx context.Context, o policyOptions) error {
	p, where, err := a.chosen(ctx, o)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s\n\n", a.bold(oneLine(where)))
	var rows [][]string
	for _, l := range p.Lines() {
		rows = append(rows, []string{l.Key, l.Value, l.Means})
	}
	table(a.out, "", rows)
	return nil
}
