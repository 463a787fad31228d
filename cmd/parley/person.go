package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
)

// running is the home and its node, which must be there before a person types anything.
func (a *app) running() (node.Home, *api.Client, error) {
	home := a.openHome()
	if err := home.Check(); err != nil {
		return home, nil, err
	}
	client := api.NewClient(home.SocketPath())
	if _, err := client.Status(); err != nil {
		return home, nil, errors.Join(err, client.Close())
	}
	return home, client, nil
}

// tell prints what came of an act.
func (a *app) tell(o api.Outcome) {
	fmt.Fprintln(a.out, oneLine(o.Text))
	if o.Next != "" {
		a.note("run %s to see what follows", o.Next)
	}
}

func (a *app) approve(c *cobra.Command, args []string) error {
	ref, action := args[0], args[1]
	if !slices.Contains([]string{"push", "merge", "round", "fork"}, action) {
		return usage(c, fmt.Sprintf("%q is no action; the actions are push, merge, round and fork, as the inbox names them", action))
	}
	home, client, err := a.running()
	if err != nil {
		return err
	}
	defer client.Close()
	cards, err := client.Inbox()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(cards, func(card api.Card) bool {
		return card.Verb == "approve" && strings.EqualFold(card.Ref, ref) && card.Action == action
	})
	if i < 0 {
		return fmt.Errorf("approve %s %s: %w", ref, action, api.ErrNoCard)
	}
	card := cards[i]
	fmt.Fprintln(a.err, oneLine(card.Title))
	for _, line := range []string{card.What, card.Why} {
		if line != "" {
			fmt.Fprintln(a.err, "  "+oneLine(line))
		}
	}
	by, err := a.unlock(c.Context(), home, "Passphrase to approve this: ")
	if err != nil {
		return err
	}
	out, err := client.Approve(c.Context(), card, by)
	if err != nil {
		return err
	}
	a.tell(out)
	return nil
}

func (a *app) setMain(on bool) func(*cobra.Command, []string) error {
	prompt := "Passphrase to give the main computer's role up: "
	if on {
		prompt = "Passphrase to make this the main computer: "
	}
	return func(c *cobra.Command, _ []string) error {
		return a.byPerson(c, prompt, func(client *api.Client, by api.Prover) (api.Outcome, error) {
			return client.SetMain(c.Context(), on, by)
		})
	}
}

// byPerson lets a person agree to an act of the running node, and says what came of it.
func (a *app) byPerson(c *cobra.Command, prompt string, do func(*api.Client, api.Prover) (api.Outcome, error)) error {
	home, client, err := a.running()
	if err != nil {
		return err
	}
	defer client.Close()
	by, err := a.unlock(c.Context(), home, prompt)
	if err != nil {
		return err
	}
	out, err := do(client, by)
	if err != nil {
		return err
	}
	a.tell(out)
	return nil
}

func (a *app) scan(c *cobra.Command, _ []string) error {
	_, client, err := a.running()
	if err != nil {
		return err
	}
	defer client.Close()
	out, err := client.Scan(c.Context())
	if err != nil {
		return err
	}
	a.tell(out)
	return nil
}

// inviting is one invitation on its way.
type inviting struct {
	a      *app
	home   node.Home
	client *api.Client
	id     string
	again  string // hint for another try
}

func (a *app) inviteCommand(c *cobra.Command) {
	plain := c.Flags().Bool("no-qr", false, "print the code alone, without its picture")
	c.RunE = func(c *cobra.Command, _ []string) error { return a.invite(c, !*plain && a.drawn()) }
}

// invite makes a code and follows it to its end. The picture is for a camera, so it is drawn on a terminal
// alone.
func (a *app) invite(c *cobra.Command, draw bool) error {
	home, client, err := a.running()
	if err != nil {
		return err
	}
	defer client.Close()
	by, err := a.unlock(c.Context(), home, "Passphrase to invite a computer: ")
	if err != nil {
		return err
	}
	given, err := client.Invite(c.Context(), by)
	if err != nil {
		return err
	}
	fmt.Fprintln(a.out, given.Code)
	if draw {
		fmt.Fprint(a.out, "\n"+picture(given.Code)+"\n")
	}
	a.note("give this code to parley join on the other computer, within %s", span(time.Until(given.Expires).Round(time.Minute)))
	return inviting{a: a, home: home, client: client, id: given.ID, again: "run parley invite for another code"}.follow(c.Context())
}

// wait follows the invitation to its end.
func (i inviting) wait(ctx context.Context) error {
	last := api.InviteWaiting
	for {
		s, err := i.client.AwaitInvite(ctx, i.id, last)
		if err != nil {
			return err
		}
		switch s.State {
		case api.InviteJoined:
			fmt.Fprintln(i.a.out, joinedText(s))
			return nil
		case api.InviteFailed:
			return api.WithHint(fmt.Errorf("invite: %s", oneLine(s.Text)), i.again)
		case api.InviteAsking:
			if last != api.InviteAsking {
				if err := i.confirm(ctx, s); err != nil {
					return err
				}
			}
		}
		last = s.State
	}
}

func joinedText(s api.InviteState) string {
	if s.Lane {
		return "There is a lane to " + oneLine(s.Name) + " now. It is off."
	}
	return oneLine(s.Name) + " has joined."
}

// confirm asks whether the computer that asks is the right one. Saying yes is an act of its own and takes
// the passphrase again; with a passphrase file the answer is a line of the input.
func (i inviting) confirm(ctx context.Context, s api.InviteState) error {
	a := i.a
	words := oneLine(strings.Join(s.Words[:], " "))
	prompt := "The same words on its screen? Passphrase to let it in (Ctrl-C refuses): "
	if s.Lane {
		fmt.Fprintf(a.err, "%s is another developer, who sees the keys of your computers from now on. The words: %s.\n", oneLine(s.Name), words)
		prompt = "The same words on their screen? Passphrase to pair (Ctrl-C refuses): "
	} else {
		fmt.Fprintf(a.err, "%s wants to join. Its words: %s.\n", oneLine(s.Name), words)
	}
	config, err := i.home.Config()
	if err != nil {
		return err
	}
	if a.passphraseFile != "" || config.Demo {
		fmt.Fprint(a.err, "The same words on its screen? [y/N] ")
		answer, err := a.line(ctx)
		fmt.Fprintln(a.err)
		if err != nil {
			return err
		}
		if !strings.EqualFold(answer, "y") && !strings.EqualFold(answer, "yes") {
			return api.WithHint(fmt.Errorf("invite: %s was refused", oneLine(s.Name)), i.again)
		}
	}
	by, err := a.unlock(ctx, i.home, prompt)
	if err != nil {
		return err
	}
	_, err = i.client.ConfirmInvite(ctx, i.id, s, by)
	return err
}

// cancel burns the code, also when the person has interrupted.
func (i inviting) cancel(ctx context.Context) {
	_, err := i.client.CancelInvite(context.WithoutCancel(ctx), i.id)
	if err == nil || errors.Is(err, api.ErrUnreachable) {
		return
	}
	if api.Explain(err).Code != api.Explain(api.ErrNoInvite).Code {
		i.a.note("the code could not be taken back: %s", err.Error())
	}
}
