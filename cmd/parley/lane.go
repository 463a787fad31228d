package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-mesh/parley/node/api"
)

// fillLane gives the commands about lanes what they do; false for another verb.
func (a *app) fillLane(v api.Verb, c *cobra.Command) bool {
	switch v.Name {
	case "lane invite":
		a.laneInvite(c)
	case "lane accept":
		a.laneAccept(c)
	case "lane list":
		c.RunE = a.laneList
	case "lane show":
		c.Use, c.Args, c.RunE = "show NAME", arguments("NAME"), a.laneShow
	case "lane on":
		a.laneSwitch(c, true)
	case "lane off":
		a.laneSwitch(c, false)
	case "lane conflicts":
		c.Use, c.Args, c.RunE = "conflicts on|off", arguments("on|off"), a.laneConflicts
	default:
		return false
	}
	return true
}

func (a *app) laneInvite(c *cobra.Command) {
	as := c.Flags().String("as", "", "how the other developer is told that you are called (default: this computer's name)")
	addresses := addressFlags(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		home, client, err := a.running()
		if err != nil {
			return err
		}
		defer client.Close()
		by, err := a.unlock(c.Context(), home, "Passphrase to invite another developer: ")
		if err != nil {
			return err
		}
		given, err := client.InviteLane(c.Context(), *as, by)
		if err != nil {
			return err
		}
		fmt.Fprintln(a.out, given.Code)
		a.note("give this code to the other developer for parley lane accept, within %s", span(time.Until(given.Expires).Round(time.Minute)))
		i := inviting{a: a, home: home, client: client, id: given.ID, again: "run parley lane invite for another code"}
		return i.pairs(c.Context(), *addresses)
	}
}

func (a *app) laneAccept(c *cobra.Command) {
	as := c.Flags().String("as", "", "how the other developer is told that you are called (default: this computer's name)")
	addresses := addressFlags(c)
	c.Use, c.Args = "accept CODE", arguments("CODE")
	c.RunE = func(c *cobra.Command, args []string) error {
		home, client, err := a.running()
		if err != nil {
			return err
		}
		defer client.Close()
		by, err := a.unlock(c.Context(), home, "Passphrase to pair with another developer: ")
		if err != nil {
			return err
		}
		given, err := client.AcceptLane(c.Context(), args[0], *as, by)
		if err != nil {
			return err
		}
		i := inviting{a: a, home: home, client: client, id: given.ID, again: "ask the other developer for another code (parley lane invite)"}
		return i.pairs(c.Context(), *addresses)
	}
}

// follow waits for an invitation's end, and burns the code when that does not come.
func (i inviting) follow(ctx context.Context) error {
	if err := i.wait(ctx); err != nil {
		i.cancel(ctx)
		return err
	}
	return nil
}

func (a *app) laneList(*cobra.Command, []string) error {
	return a.reading(func(r api.Reader) error {
		all, err := r.Lanes()
		if err != nil {
			return err
		}
		if a.json {
			return a.printJSON(api.List[api.Lane](all))
		}
		if len(all) == 0 {
			fmt.Fprintln(a.out, "No lane to another developer.")
			return nil
		}
		a.printLanes(all)
		return nil
	})
}

func (a *app) printLanes(all []api.Lane) {
	rows := [][]string{{"LANE", "ID", "HERE", "THERE", "REPOSITORIES", "STATE"}}
	for _, l := range all {
		rows = append(rows, []string{l.Name, short(l.ID), onOff(l.Here), onOff(l.There), orDash(strings.Join(l.Common, " ")), l.State})
	}
	table(a.out, "", rows)
}

// printLanesOf is the lanes in a status, with the switch that lets them start something.
func (a *app) printLanesOf(s api.Status) {
	if len(s.Lanes) == 0 {
		return
	}
	fmt.Fprintln(a.out)
	a.printLanes(s.Lanes)
	fmt.Fprintf(a.out, "%s: %s\n", api.Teammates, onOff(s.Teammates))
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func (a *app) laneShow(_ *cobra.Command, args []string) error {
	return a.reading(func(r api.Reader) error {
		all, err := r.Lanes()
		if err != nil {
			return err
		}
		l, err := api.FindLane(all, args[0])
		if err != nil {
			return err
		}
		if a.json {
			return a.printJSON(l)
		}
		table(a.out, "", [][]string{
			{"Lane", l.Name, l.Party},
			{"State", l.State},
			{"Here", onOff(l.Here), strings.Join(l.Repositories, " ")},
			{"There", onOff(l.There), "in common: " + orDash(strings.Join(l.Common, " "))},
			{"Live work here", orDash(strings.Join(l.Shares, " ")), namesWord(l.Hides)},
			{"Live work there", orDash(strings.Join(l.TheyShare, " ")), namesWord(l.TheyHide)},
			{"Account", orDash(l.Account)},
			{"Computers", many(l.Computers, "computer")},
		})
		return nil
	})
}

func namesWord(hides bool) string {
	if hides {
		return "names hidden"
	}
	return ""
}

func (a *app) laneSwitch(c *cobra.Command, on bool) {
	var repositories []string
	prompt := "Passphrase to switch the lane off: "
	c.Use, c.Args = "off NAME", arguments("NAME")
	if on {
		prompt = "Passphrase to switch the lane on: "
		c.Use = "on NAME --repo owner/name"
		c.Flags().StringArrayVar(&repositories, "repo", nil, "a repository that the lane is for (owner/name); may be given several times")
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		if on && len(repositories) == 0 {
			return usage(c, "want --repo owner/name, at least once")
		}
		return a.byPerson(c, prompt, func(client *api.Client, by api.Prover) (api.Outcome, error) {
			all, err := client.Lanes()
			if err != nil {
				return api.Outcome{}, err
			}
			l, err := api.FindLane(all, args[0])
			if err != nil {
				return api.Outcome{}, err
			}
			return client.SwitchLane(c.Context(), l, repositories, on, by)
		})
	}
}

func (a *app) laneConflicts(c *cobra.Command, args []string) error {
	if args[0] != "on" && args[0] != "off" {
		return usage(c, fmt.Sprintf("want on or off, not %q", args[0]))
	}
	on := args[0] == "on"
	fmt.Fprintf(a.err, "%s: %s\n", api.Teammates, args[0])
	return a.byPerson(c, "Passphrase for this: ", func(client *api.Client, by api.Prover) (api.Outcome, error) {
		return client.SetTeammates(c.Context(), on, by)
	})
}
