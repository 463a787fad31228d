package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/api/mcp"
)

// fillWork gives the commands about sessions, intents and messages what they do; false for another verb.
func (a *app) fillWork(v api.Verb, c *cobra.Command) bool {
	switch v.Name {
	case "sessions":
		a.sessionsCommand(c)
	case "intents":
		a.intentsCommand(c)
	case "intent declare":
		a.declareCommand(c)
	case "intent update":
		a.updateCommand(c)
	case "claims check":
		a.claimsCommand(c)
	case "briefing":
		a.briefingCommand(c)
	case "messages":
		a.messagesCommand(c)
	case "message send":
		a.sendCommand(c)
	case "watch":
		a.watchCommand(c)
	case "audit":
		a.auditCommand(c)
	case "saved":
		a.savedCommand(c)
	case "mcp":
		c.RunE = a.mcp
	default:
		return a.fillSharing(v, c)
	}
	return true
}

// fillSharing is for those of persons.
func (a *app) fillSharing(v api.Verb, c *cobra.Command) bool {
	switch v.Name {
	case "email":
		a.emailCommand(c)
	case "agents on", "agents off":
		repo := c.Flags().String("repo", "", "in this repository only (owner/name)")
		c.RunE = func(c *cobra.Command, _ []string) error {
			return a.byPerson(c, "Passphrase for this: ", func(client *api.Client, by api.Prover) (api.Outcome, error) {
				return client.SetAgents(c.Context(), *repo, v.Name == "agents on", by)
			})
		}
	case "agents lines":
		a.linesCommand(c)
	case "agents lines on", "agents lines off":
		repo := c.Flags().String("repo", "", "the repository (owner/name)")
		c.Use += " --repo owner/name"
		c.RunE = func(c *cobra.Command, _ []string) error {
			if *repo == "" {
				return usage(c, "want --repo owner/name")
			}
			return a.byPerson(c, "Passphrase for this: ", func(client *api.Client, by api.Prover) (api.Outcome, error) {
				return client.SetLines(c.Context(), *repo, v.Name == "agents lines on", by)
			})
		}
	case "lane work on":
		a.laneWork(c, true)
	case "lane work off":
		a.laneWork(c, false)
	default:
		return false
	}
	return true
}

func (a *app) linesCommand(c *cobra.Command) {
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.asking(func(client *api.Client) error {
			all, err := client.Lines(c.Context())
			return listing(a, all, err, "No repository is looked after.", []string{"REPOSITORY", "LINES"}, func(x api.LinesIn) []string {
				return []string{x.Repository, map[bool]string{true: "on", false: "off"}[x.On]}
			})
		})
	}
}

func (a *app) emailCommand(c *cobra.Command) {
	lane := c.Flags().String("lane", "", "the developer of this lane has it, and not you")
	c.Use, c.Args = "email ADDRESS", arguments("ADDRESS")
	c.RunE = func(c *cobra.Command, args []string) error {
		if *lane != "" {
			return a.sharing(c, *lane, "Passphrase for their address: ", func(ctx context.Context, client *api.Client, l api.Lane, by api.Prover) (api.Outcome, error) {
				return client.SetEmail(ctx, l.ID, args[0], by)
			})
		}
		return a.byPerson(c, "Passphrase for your address: ", func(client *api.Client, by api.Prover) (api.Outcome, error) {
			return client.SetEmail(c.Context(), "", args[0], by)
		})
	}
}

func (a *app) laneWork(c *cobra.Command, on bool) {
	w := api.WorkSwitch{On: on}
	prompt := "Passphrase to share live work no more: "
	c.Use, c.Args = "off NAME", arguments("NAME")
	if on {
		prompt = "Passphrase to share live work: "
		c.Use = "on NAME --repo owner/name"
		c.Flags().StringArrayVar(&w.Repositories, "repo", nil, "a repository whose live work is shared (owner/name); may be given several times")
		c.Flags().BoolVar(&w.HideNames, "hash-names", false, "send paths and symbols as keyed hashes, which only who works on the same can read")
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		if on && len(w.Repositories) == 0 {
			return usage(c, "want --repo owner/name, at least once")
		}
		return a.sharing(c, args[0], prompt, func(ctx context.Context, client *api.Client, l api.Lane, by api.Prover) (api.Outcome, error) {
			w.Lane = l.ID
			return client.SwitchWork(ctx, w, by)
		})
	}
}

func workFlags(c *cobra.Command) *api.WorkQuery {
	var q api.WorkQuery
	c.Flags().StringVar(&q.Repository, "repo", "", "of this repository only (owner/name)")
	c.Flags().BoolVar(&q.All, "all", false, "those that are over too")
	return &q
}

func (a *app) sessionsCommand(c *cobra.Command) {
	q := workFlags(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.asking(func(client *api.Client) error {
			all, err := client.Sessions(c.Context(), *q)
			now := time.Now()
			header := []string{"SESSION", "AGENT", "DEVELOPER", "WHERE", "REPOSITORY", "BRANCH", "INTENT", "FILES", "STATE", "SEEN"}
			return listing(a, all, err, "No session works.", header, func(s api.Session) []string {
				where := sideWhere(api.ConflictSide{Here: s.Here, Computer: s.Computer, Own: s.Own})
				return []string{
					s.Ref, workerName("session", s.Agent), orDash(s.Developer), where, s.Repository, orDash(s.Branch), orDash(s.Intent),
					fmt.Sprint(s.Files), s.State, ago(s.Seen, now),
				}
			})
		})
	}
}

func (a *app) intentsCommand(c *cobra.Command) {
	q := workFlags(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.asking(func(client *api.Client) error {
			all, err := client.Intents(c.Context(), *q)
			now := time.Now()
			header := []string{"INTENT", "DEVELOPER", "AGENT", "REPOSITORY", "SCOPE", "STATE", "CONFLICTS", "SEEN", "TASK"}
			return listing(a, all, err, "No intent is declared.", header, func(i api.Intent) []string {
				return []string{
					i.Ref, orDash(i.Developer), orDash(i.Agent), i.Repository, scopeWord(i), i.State, fmt.Sprint(i.Conflicts),
					ago(i.Seen, now), said(i.Task),
				}
			})
		})
	}
}

func scopeWord(i api.Intent) string {
	word := few(append(append(append([]string{}, i.Scope.Paths...), i.Scope.Symbols...), i.Scope.Contracts...))
	if i.Mode == "exclusive" {
		word += ", exclusive"
	}
	return word
}

// scopeFlags add what an intent is about.
func scopeFlags(c *cobra.Command) *api.Scope {
	var s api.Scope
	list := func(to *api.List[string], name, help string) {
		c.Flags().StringArrayVar((*[]string)(to), name, nil, help+"; may be given several times")
	}
	list(&s.Paths, "path", "a path or glob")
	list(&s.Symbols, "symbol", "a symbol, as sym:ts:src/a.ts#name")
	list(&s.Contracts, "contract", "a contract, as http:POST /v1/refunds")
	return &s
}

func mode(exclusive bool) string {
	if exclusive {
		return "exclusive"
	}
	return ""
}

func (a *app) declareCommand(c *cobra.Command) {
	var n api.NewIntent
	caller, scope := who(c), scopeFlags(c)
	exclusive := c.Flags().Bool("exclusive", false, "nobody else may edit what is claimed")
	c.Flags().StringArrayVar((*[]string)(&n.DependsOn), "depends-on", nil, "an intent (INT-…) that has to be merged first; may be given several times")
	c.Flags().StringArrayVar((*[]string)(&n.Issues), "issue", nil, "an issue (#42) that it is about; may be given several times")
	a.jsonFlag(c)
	c.Use, c.Args = "declare TASK", arguments("TASK")
	c.RunE = func(c *cobra.Command, args []string) error {
		n.Task, n.Scope, n.Mode, n.Caller = args[0], *scope, mode(*exclusive), caller()
		return a.asking(func(client *api.Client) error {
			d, err := client.Declare(c.Context(), n)
			return a.printDeclared(d, err)
		})
	}
}

func (a *app) updateCommand(c *cobra.Command) {
	var i api.IntentChange
	caller, scope := who(c), scopeFlags(c)
	f := c.Flags()
	exclusive := f.Bool("exclusive", false, "nobody else may edit what is claimed; --exclusive=false lets others")
	merged := f.Bool("merged", false, "it has been merged")
	abandoned := f.Bool("abandoned", false, "it will not be done")
	f.StringVar(&i.Intent, "intent", "", "this one (default: the session's own)")
	f.StringVar(&i.Task, "task", "", "what it is about now")
	f.StringArrayVar((*[]string)(&i.DependsOnAdd), "depends-on-add", nil, "an intent that has to be merged first")
	f.StringArrayVar((*[]string)(&i.DependsOnRemove), "depends-on-remove", nil, "an intent that it waits for no more")
	f.Bool("no-scope", false, "it claims nothing any more")
	a.jsonFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		i.Caller = caller()
		if scope.Size() > 0 || f.Changed("no-scope") {
			i.Scope = scope
		}
		if f.Changed("exclusive") {
			i.Mode = map[bool]string{true: "exclusive", false: "shared"}[*exclusive]
		}
		switch {
		case *merged && *abandoned:
			return usage(c, "want --merged or --abandoned, not both")
		case *merged:
			i.State = "merged"
		case *abandoned:
			i.State = "abandoned"
		}
		return a.asking(func(client *api.Client) error {
			d, err := client.ChangeIntent(c.Context(), i)
			return a.printDeclared(d, err)
		})
	}
}

func (a *app) printDeclared(d api.Declared, err error) error {
	switch {
	case err != nil:
		return err
	case a.json:
		return a.printJSON(d)
	}
	fmt.Fprintf(a.out, "%s is %s.\n", d.Ref, d.State)
	for _, c := range d.Found {
		fmt.Fprintf(a.out, "%s  %s  %s\n", c.Ref, loud(c), oneLine(c.Sentence))
	}
	return nil
}

func (a *app) claimsCommand(c *cobra.Command) {
	caller, scope, repo := who(c), scopeFlags(c), repository(c)
	c.Use, c.Args = "check [PATH...]", cobra.ArbitraryArgs
	c.RunE = func(c *cobra.Command, args []string) error {
		scope.Paths = append(scope.Paths, args...)
		if scope.Size() == 0 {
			return usage(c, "want a PATH, --symbol or --contract")
		}
		q := api.ClaimsQuery{Repository: *repo, Scope: *scope, Caller: caller()}
		return a.asking(func(client *api.Client) error {
			all, err := client.Claims(c.Context(), q)
			return listing(a, all, err, "Nothing was asked.", []string{"WHAT", "FREE", "EDIT", "WHY"}, func(x api.ClaimsAnswer) []string {
				return []string{x.What, yesDash(x.Free), x.Verdict, orDash(x.Words)}
			})
		})
	}
}

func (a *app) briefingCommand(c *cobra.Command) {
	caller := who(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.asking(func(client *api.Client) error {
			b, err := client.Briefing(c.Context(), caller())
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(b)
			}
			for line := range strings.Lines(b.Text) {
				fmt.Fprintln(a.out, oneLine(strings.TrimSuffix(line, "\n")))
			}
			return nil
		})
	}
}

func (a *app) messagesCommand(c *cobra.Command) {
	repo := repository(c)
	session := c.Flags().String("session", "", "to and from this session only: INT-… or S-…")
	last := c.Flags().IntP("lines", "n", 50, "how many of the last ones")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if *last < 1 {
			return usage(c, fmt.Sprintf("--lines: want 1 or more, not %d", *last))
		}
		q := api.MessageQuery{Repository: *repo, Max: *last, Caller: api.Caller{Session: *session}}
		return a.asking(func(client *api.Client) error {
			q.Max = *last + 1
			all, err := client.Messages(c.Context(), q)
			if n := len(all) - *last; n > 0 {
				all = all[n:]
				a.note("older messages are left out; -n says how many are listed")
			}
			return listing(a, all, err, "No message yet.", []string{"AT", "ID", "FROM", "TO", "TEXT"}, func(m api.Message) []string {
				return []string{clock(m.At), short(m.ID), sender(m), orDash(strings.Join(m.To, " ")), said(m.Text)}
			})
		})
	}
}

func sender(m api.Message) string {
	if m.System {
		return "parley"
	}
	return m.Who
}

func (a *app) sendCommand(c *cobra.Command) {
	var m api.NewMessage
	caller := who(c)
	f := c.Flags()
	f.StringArrayVar((*[]string)(&m.To), "to", nil, "a side: INT-… or S-…; may be given several times (default: everybody on the repository)")
	f.StringVar(&m.Re, "re", "", "the id of the message that it answers")
	f.StringVar(&m.Repository, "repo", "", "the repository, where neither --to nor the checkout says it (owner/name)")
	a.jsonFlag(c)
	c.Use, c.Args = "send TEXT", arguments("TEXT")
	c.RunE = func(c *cobra.Command, args []string) error {
		m.Text, m.Caller = args[0], caller()
		return a.asking(func(client *api.Client) error {
			sent, err := client.Send(c.Context(), m)
			switch {
			case err != nil:
				return err
			case a.json:
				return a.printJSON(sent)
			}
			fmt.Fprintf(a.out, "Message %s is on its way.\n", short(sent.ID))
			return nil
		})
	}
}

func historyFlags(c *cobra.Command) *api.HistoryQuery {
	var q api.HistoryQuery
	c.Flags().StringVar(&q.Repository, "repo", "", "of this repository only (owner/name)")
	return &q
}

func (a *app) auditCommand(c *cobra.Command) {
	q := historyFlags(c)
	c.Flags().IntVarP(&q.Max, "lines", "n", 200, "how many of the last ones")
	c.Use, c.Args = "audit [REF]", cobra.MaximumNArgs(1)
	c.RunE = func(c *cobra.Command, args []string) error {
		if q.Max < 1 {
			return usage(c, fmt.Sprintf("--lines: want 1 or more, not %d", q.Max))
		}
		if len(args) > 0 {
			q.Conflict = args[0]
		}
		return a.asking(func(client *api.Client) error {
			last := q.Max
			q.Max++
			all, err := client.Audit(c.Context(), *q)
			if len(all) > last {
				all = all[:last]
				a.note("older lines are left out; -n says how many are listed")
			}
			header := []string{"AT", "CONFLICT", "KIND", "WHO", "ACTION", "WORDS"}
			return listing(a, all, err, "Nothing was decided yet.", header, func(l api.AuditLine) []string {
				words := l.Note
				if l.Reason != "" {
					words = l.Reason
				}
				return []string{clock(l.At), l.Conflict, l.Kind, orDash(l.Who), l.Action, said(words)}
			})
		})
	}
}

func (a *app) savedCommand(c *cobra.Command) {
	q := historyFlags(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.asking(func(client *api.Client) error {
			s, err := client.Saved(c.Context(), *q)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(s)
			}
			fmt.Fprintf(a.out, "About %d minutes, by %s that %s caught early; %d more count nothing.\n",
				s.Minutes, many(s.Conflicts, "conflict"), verb(s.Conflicts, "was", "were"), s.Zero)
			for _, l := range s.By {
				fmt.Fprintf(a.out, "  %-5s  %s  %d min\n", l.Severity, many(l.Conflicts, "conflict"), l.Minutes)
			}
			fmt.Fprintln(a.out, oneLine(s.Basis))
			return nil
		})
	}
}

// mcp serves the agent that started it. A node that is not there is told at each call: it may come.
func (a *app) mcp(c *cobra.Command, _ []string) error {
	client := api.NewClient(a.openHome().SocketPath())
	s := mcp.New(mcp.Options{Client: client, Version: node.Version(), Caller: thisCaller(""), Here: a.here})
	return errors.Join(s.ServeStdio(c.Context(), a.in, a.out), client.Close())
}
