package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-mesh/parley/node/api"
)

// addresses are how policies name the two developers of a lane, user:<email>; "" where nobody said.
type addresses struct{ own, theirs string }

func addressFlags(c *cobra.Command) *addresses {
	var x addresses
	c.Flags().StringVar(&x.theirs, "email", "", "the address by which your policies know the other developer (user:ADDRESS)")
	c.Flags().StringVar(&x.own, "my-email", "", "the address by which your policies know you")
	return &x
}

// pairs follows a pairing to its end, and asks then who the other developer is to policies: only the person here can say
// that, and nobody becomes an owner by claiming so.
func (i inviting) pairs(ctx context.Context, x addresses) error {
	before, err := i.client.Lanes()
	if err != nil {
		return err
	}
	if err := i.follow(ctx); err != nil {
		return err
	}
	after, err := i.client.Lanes()
	if err != nil {
		return err
	}
	at := slices.IndexFunc(after, func(l api.Lane) bool {
		return !slices.ContainsFunc(before, func(o api.Lane) bool { return o.ID == l.ID })
	})
	if at < 0 {
		return nil // a lane that was paired anew: who that is was said
	}
	return i.introduce(ctx, after[at], x)
}

// introduce asks for the addresses that no flag gave. Without a terminal nothing is asked: it can be said later.
func (i inviting) introduce(ctx context.Context, l api.Lane, x addresses) (err error) {
	a := i.a
	asks := terminal(a.in) && a.passphraseFile == ""
	own, seen := i.known(ctx)
	if x.theirs == "" && asks {
		fmt.Fprintf(a.err, "Policies name people user:<email>. Only you can say which one %s is.\n", oneLine(l.Name))
		if len(seen) > 0 {
			fmt.Fprintf(a.err, "Authors in your repositories: %s\n", oneLine(strings.Join(seen, ", ")))
		}
		if x.theirs, err = a.asked(ctx, "Their address (empty: nobody): ", ""); err != nil {
			return err
		}
	}
	if x.own == "" && asks {
		if x.own, err = a.asked(ctx, fmt.Sprintf("Your own address [%s]: ", oneLine(own)), own); err != nil {
			return err
		}
	}
	if x.theirs == "" {
		a.note("no policy knows them yet: run parley email ADDRESS --lane %s", l.Name)
	} else if err := i.says(ctx, l.ID, x.theirs, "Passphrase for their address: "); err != nil {
		return err
	}
	if x.own == "" {
		return nil
	}
	return i.says(ctx, "", x.own, "Passphrase for your address: ")
}

// says confirms one address: each is a person's act of its own.
func (i inviting) says(ctx context.Context, lane, address, prompt string) error {
	by, err := i.a.unlock(ctx, i.home, prompt)
	if err != nil {
		return err
	}
	out, err := i.client.SetEmail(ctx, lane, address, by)
	if err == nil {
		i.a.tell(out)
	}
	return err
}

// asked reads a line, or takes what is suggested.
func (a *app) asked(ctx context.Context, prompt, suggested string) (string, error) {
	fmt.Fprint(a.err, prompt)
	text, err := a.line(ctx)
	return cmp.Or(strings.TrimSpace(text), suggested), err
}

// authorsSeen is how many authors of a repository are shown, and of how many of its last commits.
const authorsSeen, commitsSeen = 8, "500"

// known is what git says: the person's own address, and those of others who wrote in the configured repositories, the most
// frequent first. It is shown and decides nothing.
func (i inviting) known(ctx context.Context) (own string, seen []string) {
	config, err := i.home.Config()
	if err != nil {
		return "", nil
	}
	var checkouts []string
	for _, r := range config.Repositories {
		checkouts = append(checkouts, r.Checkout)
	}
	return knownIn(ctx, checkouts)
}

func knownIn(ctx context.Context, checkouts []string) (own string, seen []string) {
	times := map[string]int{}
	for _, dir := range checkouts {
		if address, err := output(ctx, "git", "-C", dir, "config", "user.email"); err == nil {
			own = cmp.Or(own, strings.ToLower(address))
		}
		list, err := output(ctx, "git", "-C", dir, "log", "-n", commitsSeen, "--format=%ae")
		for address := range strings.Lines(list) {
			if err == nil {
				times[strings.ToLower(strings.TrimSpace(address))]++
			}
		}
	}
	delete(times, own)
	delete(times, "")
	for address := range times {
		seen = append(seen, address)
	}
	slices.SortFunc(seen, func(a, b string) int { return cmp.Or(cmp.Compare(times[b], times[a]), cmp.Compare(a, b)) })
	return own, seen[:min(len(seen), authorsSeen)]
}
