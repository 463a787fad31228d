package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
)

func (a *app) bugreportCommand() *cobra.Command {
	return &cobra.Command{
		Use: "bugreport", Short: "print what helps to find a fault, without names", Args: arguments(),
		Long: "Prints versions, what doctor finds, and the kinds of the last things that happened. No name of a repository, a\n" +
			"person or a computer, no path, key, address, branch or text of a conversation is in it. Read it before you\n" +
			"pass it on all the same.",
		RunE: func(c *cobra.Command, _ []string) error { return a.bugreport(c) },
	}
}

func (a *app) bugreport(c *cobra.Command) error {
	out := a.out
	fmt.Fprintf(out, "parley %s %s %s/%s\n", node.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	if version, err := node.CheckGit(c.Context()); err == nil {
		fmt.Fprintln(out, "git", version)
	}
	if said, err := exec.CommandContext(c.Context(), "gh", "--version").Output(); err == nil {
		fmt.Fprintln(out, versionOnly(string(said)))
	}
	fmt.Fprintln(out, "\ndoctor:")
	for _, x := range a.examine(c.Context()) {
		name := x.Name
		if strings.Contains(name, "/") {
			name = "repository"
		}
		word := x.Code // the table's; the text of a row has names
		if x.OK {
			word = "ok"
		}
		fmt.Fprintf(out, "  %-14s %s\n", name, word)
	}
	return a.reportNode()
}

var ghVersion = regexp.MustCompile(`gh version [0-9.]+`)

func versionOnly(said string) string { return ghVersion.FindString(said) }

// reportNode adds what a running node, or its home, can tell in numbers and kinds. A home without one is no fault
// of the report.
func (a *app) reportNode() error {
	r, done, err := a.reader()
	if err != nil {
		fmt.Fprintln(a.out, "\nnode:", api.Explain(err).Code)
		return nil
	}
	defer done() //nolint:errcheck // it was only read
	s, err := r.Status()
	if err != nil {
		return err
	}
	threads, err := r.Threads()
	if err != nil {
		return err
	}
	fmt.Fprintln(a.out, "\nnumbers:")
	if err := api.WriteMetrics(a.out, s, threads); err != nil {
		return err
	}
	lines, err := r.Log(0, 200)
	if err != nil {
		return err
	}
	fmt.Fprintln(a.out, "\nlast events:")
	for _, l := range lines {
		fmt.Fprintf(a.out, "  %s %s %s\n", l.At.UTC().Format(time.DateTime), word(l.Level), word(l.Kind))
	}
	return nil
}

// word is a kind or a level of this program; anything else is not passed on.
func word(s string) string {
	if s == "" || len(s) > 24 || strings.ContainsFunc(s, func(r rune) bool { return r != '-' && (r < 'a' || r > 'z') }) {
		return "-"
	}
	return s
}

func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use: "man DIR", Short: "write the man pages into a directory", Args: arguments("DIR"), Hidden: true,
		RunE: func(c *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			return writeMan(c.Root(), args[0])
		},
	}
}
