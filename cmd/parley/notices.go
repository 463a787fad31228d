package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-mesh/parley/node"
)

func (a *app) noticesCommand() *cobra.Command {
	root := a.group("notices", "say when your desktop tells you of the inbox")
	root.Long = "Each change in the inbox is told once, and taken back when it is settled. More than two at once are one notice.\n" +
		"Nothing is told before you switch notices on. A running node follows within seconds."
	show := &cobra.Command{
		Use: "show", Short: "show the settings", Args: arguments(),
		RunE: func(*cobra.Command, []string) error { return a.noticesShow() },
	}
	a.jsonFlags(show)
	root.AddCommand(
		show,
		a.noticesChange("on", "tell me", nil, func(n *node.Notices, _ []string) error { n.On, n.Snoozed = true, time.Time{}; return nil }),
		a.noticesChange("off", "tell me nothing", nil, func(n *node.Notices, _ []string) error { n.On = false; return nil }),
		a.noticesChange("snooze DURATION", "tell me nothing for a while", []string{"DURATION"}, func(n *node.Notices, args []string) error {
			length, err := parseLength(args[0])
			n.Snoozed = time.Now().Add(length).Truncate(time.Second)
			return asUsage(err)
		}),
		a.noticesChange("quiet FROM-TO|off", "tell me nothing in these hours of each day", []string{"FROM-TO"}, func(n *node.Notices, args []string) error {
			n.Quiet = unlessOff(args[0])
			return nil
		}),
		a.noticesChange("digest TIME|off", "tell me once a day, at this time", []string{"TIME"}, func(n *node.Notices, args []string) error {
			n.Digest = unlessOff(args[0])
			return nil
		}),
		&cobra.Command{
			Use: "test", Short: "show one notice now", Args: arguments(),
			RunE: func(c *cobra.Command, _ []string) error {
				return node.ShowNotice(c.Context(), "parley", "This is how parley tells you of the inbox.")
			},
		},
	)
	return root
}

func asUsage(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err.Error()}
}

func unlessOff(s string) string {
	if s == "off" {
		return ""
	}
	return s
}

// noticesChange is a command that changes the settings and shows them.
func (a *app) noticesChange(use, short string, want []string, change func(*node.Notices, []string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: arguments(want...),
		RunE: func(_ *cobra.Command, args []string) error {
			home := a.openHome()
			if err := home.Check(); err != nil {
				return err
			}
			n, err := home.Notices()
			if err != nil {
				return err
			}
			if err := change(&n, args); err != nil {
				return err
			}
			if err := home.SetNotices(n); err != nil {
				return err
			}
			return a.noticesShow()
		},
	}
}

func (a *app) noticesShow() error {
	home := a.openHome()
	if err := home.Check(); err != nil {
		return err
	}
	n, err := home.Notices()
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(n)
	}
	line := "Notices are off (parley notices on)."
	if n.On {
		line = "Notices are on"
		if n.Digest != "" {
			line += ", once a day at " + n.Digest
		}
		if n.Quiet != "" {
			line += ", none in the hours " + n.Quiet
		}
		if n.Snoozed.After(time.Now()) {
			line += ", none before " + until(n.Snoozed)
		}
		line += "."
	}
	fmt.Fprintln(a.out, line)
	return nil
}
