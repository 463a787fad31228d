package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-mesh/parley/node/api"
)

// openFile leads a browser to the page. The link in it is no argument of any program: other users of the computer
// could read it there.
const openFile = "open.html"

func (a *app) fillPage(v api.Verb, c *cobra.Command) bool {
	switch v.Name {
	case "open":
		plain := c.Flags().Bool("print", false, "print the link, and open nothing")
		c.RunE = func(c *cobra.Command, _ []string) error { return a.openPage(c.Context(), *plain) }
	case "preview":
		c.Use, c.Args, c.RunE = "preview REF ACTION", arguments("REF", "ACTION"), a.preview
	case "passkey list":
		c.Use, c.RunE = "list", a.passkeyList
	case "passkey remove":
		c.Use, c.Args, c.RunE = "remove ID", arguments("ID"), a.passkeyRemove
	default:
		return false
	}
	return true
}

func (a *app) openPage(ctx context.Context, plain bool) error {
	home, client, err := a.running()
	if err != nil {
		return err
	}
	defer client.Close()
	link, err := client.OpenPage(ctx)
	if err != nil {
		return err
	}
	if plain {
		fmt.Fprintln(a.out, link.URL)
		return nil
	}
	file := filepath.Join(home.Dir, openFile)
	text := "<!DOCTYPE html><meta charset=utf-8><title>parley</title><meta http-equiv=refresh content=\"0;url=" + link.URL + "\"><a href=\"" + link.URL + "\">the page</a>\n"
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	if err := browse(ctx, file); err != nil {
		a.note("no browser could be opened here (%s); open this yourself, within a minute:", err.Error())
		fmt.Fprintln(a.out, link.URL)
		return nil
	}
	a.note("the page opens in your browser; without one, run parley open --print")
	return nil
}

// browse opens a file in the browser of whoever sits here.
func browse(ctx context.Context, file string) error {
	var argv []string
	switch runtime.GOOS {
	case "darwin":
		argv = []string{"open", file}
	case "windows":
		argv = []string{"rundll32", "url.dll,FileProtocolHandler", file}
	default:
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
			return errors.New("there is no screen")
		}
		argv = []string{"xdg-open", file}
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return exec.CommandContext(ctx, argv[0], argv[1:]...).Run()
}

func (a *app) preview(c *cobra.Command, args []string) error {
	_, client, err := a.running()
	if err != nil {
		return err
	}
	defer client.Close()
	cards, err := client.Inbox()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(cards, func(card api.Card) bool {
		return card.Verb == "approve" && strings.EqualFold(card.Ref, args[0]) && card.Action == args[1]
	})
	if i < 0 {
		return fmt.Errorf("preview %s %s: %w", args[0], args[1], api.ErrNoCard)
	}
	p, err := client.Preview(c.Context(), cards[i].Key)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(p)
	}
	fmt.Fprintln(a.out, oneLine(p.Words))
	for line := range strings.Lines(p.Diff) {
		fmt.Fprintln(a.out, oneLine(strings.TrimSuffix(line, "\n")))
	}
	if p.Cut {
		a.note("the diff goes on; in the repository, run git diff %s %s", p.From, p.To)
	}
	return nil
}

func (a *app) passkeyList(c *cobra.Command, _ []string) error {
	_, client, err := a.running()
	if err != nil {
		return err
	}
	defer client.Close()
	all, err := client.Passkeys(c.Context())
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(api.List[api.Passkey](all))
	}
	if len(all) == 0 {
		fmt.Fprintln(a.out, "No passkey. They are added on the page (parley open), in its Setup tab.")
		return nil
	}
	rows := [][]string{{"ID", "NAME", "SINCE"}}
	for _, k := range all {
		since := "presses nothing: it " + k.Trouble
		if k.Trouble == "" {
			since = ago(k.Added, time.Now())
		}
		rows = append(rows, []string{short(k.ID), oneLine(k.Name), since})
	}
	table(a.out, "", rows)
	return nil
}

func (a *app) passkeyRemove(c *cobra.Command, args []string) error {
	return a.byPerson(c, "Passphrase to remove the passkey: ", func(client *api.Client, by api.Prover) (api.Outcome, error) {
		all, err := client.Passkeys(c.Context())
		if err != nil {
			return api.Outcome{}, err
		}
		all = slices.DeleteFunc(all, func(k api.Passkey) bool { return !strings.HasPrefix(k.ID, strings.ToLower(args[0])) })
		if len(all) != 1 {
			return api.Outcome{}, fmt.Errorf("%s: %w, or several begin so", args[0], api.ErrNoPasskey)
		}
		return client.RemovePasskey(c.Context(), all[0].ID, by)
	})
}
