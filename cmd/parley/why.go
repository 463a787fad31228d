package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
)

func (a *app) whyCommand(c *cobra.Command) {
	c.Use, c.Args = "why ABOUT", arguments("ABOUT")
	c.RunE = func(_ *cobra.Command, args []string) error {
		about := args[0]
		// A file is named as from here; a conversation's name or id is passed on as it stands.
		if _, err := os.Lstat(about); err == nil || filepath.IsAbs(about) || strings.HasPrefix(about, ".") {
			about = absolute(about)
		}
		return a.reading(func(r api.Reader) error {
			w, err := r.Why(about)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(w)
			}
			a.printWhy(w, time.Now())
			return nil
		})
	}
}

func (a *app) printWhy(w api.Why, now time.Time) {
	fmt.Fprintf(a.out, "%s: %s\n", a.bold(oneLine(w.Subject)), oneLine(w.Answer))
	if w.Next.After(now) {
		fmt.Fprintf(a.out, "looked at again by itself %s, at %s\n", ago(w.Next, now), clock(w.Next))
	}
	if len(w.Facts) == 0 {
		return
	}
	var rows [][]string
	for _, f := range w.Facts {
		rows = append(rows, []string{f.About, f.Text})
	}
	fmt.Fprintln(a.out)
	table(a.out, "", rows)
}

// personally finds a conversation, lets a person agree to an act about it, and carries it out.
func (a *app) personally(c *cobra.Command, ref, prompt string, do func(*api.Client, api.ThreadLine, api.Prover) (api.Outcome, error)) error {
	home, client, err := a.running()
	if err != nil {
		return err
	}
	defer client.Close()
	t, err := client.Thread(ref)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.err, "%s: %s\n", oneLine(t.Ref), oneLine(t.Waiting))
	by, err := a.unlock(c.Context(), home, prompt)
	if err != nil {
		return err
	}
	out, err := do(client, t.ThreadLine, by)
	if err != nil {
		return err
	}
	a.tell(out)
	return nil
}

func (a *app) closeThread(c *cobra.Command, args []string) error {
	return a.personally(c, args[0], "Passphrase to end this conversation: ", func(client *api.Client, t api.ThreadLine, by api.Prover) (api.Outcome, error) {
		return client.End(c.Context(), t, by)
	})
}

func (a *app) assign(c *cobra.Command, args []string) error {
	prompt := "Passphrase to let " + oneLine(args[1]) + " build the final: "
	return a.personally(c, args[0], prompt, func(client *api.Client, t api.ThreadLine, by api.Prover) (api.Outcome, error) {
		return client.Assign(c.Context(), t, args[1], by)
	})
}

// syncs is one of the verbs about the master sync.
func (a *app) syncs(how api.SyncHow) func(*cobra.Command) {
	return func(c *cobra.Command) {
		c.Use, c.Args = string(how)+" [SLUG]", cobra.ArbitraryArgs
		c.RunE = func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage(c, fmt.Sprintf("%q is one argument too many", args[1]))
			}
			_, client, err := a.running()
			if err != nil {
				return err
			}
			defer client.Close()
			out, err := client.Sync(c.Context(), strings.Join(args, ""), how)
			if err != nil {
				return err
			}
			a.tell(out)
			return nil
		}
	}
}

func (a *app) routeCommand(c *cobra.Command) {
	c.Use, c.Args = "route [sync-conflicts on|off|-- COMMAND ...]", cobra.ArbitraryArgs
	c.RunE = func(c *cobra.Command, args []string) error {
		home := a.openHome()
		config, err := home.Config()
		if err != nil {
			return err
		}
		route, err := home.Route()
		if err != nil {
			return err
		}
		if len(args) == 0 {
			a.printRoute(route, config.Desk)
			return nil
		}
		if route, err = changedRoute(c, route, args); err != nil {
			return err
		}
		if err := home.SetRoute(route); err != nil {
			return err
		}
		a.printRoute(route, config.Desk)
		return a.reroute(c, home)
	}
}

func changedRoute(c *cobra.Command, r node.Route, args []string) (node.Route, error) {
	switch dash := c.ArgsLenAtDash(); {
	case args[0] != node.SyncConflicts:
		return r, usage(c, fmt.Sprintf("there is no conversation %q; there is %s", args[0], node.SyncConflicts))
	case dash == 1 && len(args) > 1:
		return node.Route{Argv: args[1:]}, nil
	case dash < 0 && len(args) == 2 && args[1] == "on":
		r.Off = false
		return r, nil
	case dash < 0 && len(args) == 2 && args[1] == "off":
		r.Off = true
		return r, nil
	}
	return r, usage(c, "want on, off, or -- and a command")
}

func (a *app) printRoute(r node.Route, d node.DeskConfig) {
	on := r
	on.Off = false
	switch argv := on.Resolve(d).Argv; {
	case len(argv) == 0:
		fmt.Fprintln(a.out, node.SyncConflicts+" goes nowhere: no command is set on this computer")
	case r.Off:
		fmt.Fprintln(a.out, node.SyncConflicts+" is switched off on this computer; its command is "+oneLine(commandLine(argv)))
	default:
		fmt.Fprintln(a.out, node.SyncConflicts+" wakes "+oneLine(commandLine(argv)))
	}
}

// commandLine is a command as a shell takes it.
func commandLine(argv []string) string {
	words := make([]string, len(argv))
	for i, w := range argv {
		words[i] = quoted(w)
	}
	return strings.Join(words, " ")
}

// reroute tells a running node; without one the next takes the route up.
func (a *app) reroute(c *cobra.Command, home node.Home) error {
	if _, running := home.Holder(); !running {
		return nil
	}
	client := api.NewClient(home.SocketPath())
	defer client.Close()
	_, err := client.Reroute(c.Context())
	return err
}
