package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
)

// completion is what a shell offers for one word: some words, files or folders. Without any it offers nothing.
type completion struct {
	words       func(*app, context.Context) []string
	files, dirs bool
}

// The completions. Those that ask the running node offer nothing when none runs.
var (
	nothing      = completion{}
	files        = completion{files: true}
	folders      = completion{dirs: true}
	switching    = oneOf("on", "off")
	actions      = oneOf("push", "merge", "round", "fork")
	revokeWhys   = completion{words: func(*app, context.Context) (out []string) { return spelledOut(api.RevokeWhys) }}
	agentNames   = completion{words: (*app).agentNames}
	threads      = asked(func(c *api.Client, _ context.Context) ([]api.ThreadLine, error) { return c.Threads() }, func(t api.ThreadLine) string { return t.Ref + "\t" + t.Phase })
	cardRefs     = asked(func(c *api.Client, _ context.Context) ([]api.Card, error) { return c.Inbox() }, approvable)
	conflictRefs = asked(func(c *api.Client, ctx context.Context) ([]api.Conflict, error) {
		return c.Conflicts(ctx, api.ConflictQuery{All: true})
	}, func(c api.Conflict) string { return c.Ref + "\t" + c.Kind + ", " + c.Status })
	intents = asked(func(c *api.Client, ctx context.Context) ([]api.Intent, error) {
		return c.Intents(ctx, api.WorkQuery{})
	}, func(i api.Intent) string { return i.Ref + "\t" + i.Task })
	sessions = asked(func(c *api.Client, ctx context.Context) ([]api.Session, error) {
		return c.Sessions(ctx, api.WorkQuery{})
	}, func(s api.Session) string { return s.Ref })
	messages = asked(func(c *api.Client, ctx context.Context) ([]api.Message, error) {
		return c.Messages(ctx, api.MessageQuery{})
	}, func(m api.Message) string { return m.ID })
	sides        = both(intents, sessions)
	lanesNamed   = asked(func(c *api.Client, _ context.Context) ([]api.Lane, error) { return c.Lanes() }, func(l api.Lane) string { return l.Name })
	keptIDs      = asked((*api.Client).Kept, func(k api.KeptFile) string { return k.ID + "\t" + k.Path })
	opIDs        = asked((*api.Client).Operations, func(o api.Operation) string { return o.ID + "\t" + o.Kind + " of " + o.Repository })
	passkeyIDs   = asked((*api.Client).Passkeys, func(k api.Passkey) string { return k.ID + "\t" + k.Name })
	repositories = ofStatus(func(s api.Status) (out []string) {
		for _, r := range s.Repositories {
			out = append(out, r.Slug)
		}
		return out
	})
	others    = ofStatus(otherNames)
	computers = ofStatus(func(s api.Status) []string { return append([]string{s.Computer.Name}, otherNames(s)...) })
)

// argumentsOf are what stands behind a command, word by word; of a command that takes many, the last one again and again.
var argumentsOf = map[string][]completion{
	"approve": {cardRefs, actions}, "preview": {cardRefs, oneOf("push", "merge")}, "why": {{words: threads.words, files: true}}, "close": {threads},
	"assign": {threads, computers}, "thread show": {threads}, "export": {threads}, "show": {conflictRefs}, "explain": {conflictRefs},
	"respond": {conflictRefs, oneOf(api.Actions...)}, "override": {conflictRefs}, "feedback": {conflictRefs, oneOf(api.Verdicts...)},
	"audit": {conflictRefs}, "kept show": {keptIDs}, "kept restore": {keptIDs}, "op undo": {opIDs}, "passkey remove": {passkeyIDs},
	"sync now": {repositories}, "sync pause": {repositories}, "sync resume": {repositories}, "ping": {others}, "revoke": {others},
	"computers rename": {computers, nothing}, "computers remove": {others}, "fleet recover": {computers}, "lane show": {lanesNamed},
	"lane on": {lanesNamed}, "lane off": {lanesNamed}, "lane work on": {lanesNamed}, "lane work off": {lanesNamed}, "lane conflicts": {switching},
	"agents install": {agentNames}, "agents check": {agentNames}, "agents remove": {agentNames}, "route": {oneOf(node.SyncConflicts), switching},
	"backup": {files}, "restore": {files}, "import": {files}, "policy check": {files}, "policy test": {files}, "claims check": {files}, "man": {folders},
	"notices quiet": {oneOf("off")}, "notices digest": {oneOf("off")},
}

// valuesOf are the values of flags, by the name of the flag or, where that means several things, by the command and it.
var valuesOf = map[string]completion{
	"home": folders, "passphrase-file": files, "session": sessions, "side": sides, "to": sides, "depends-on": intents, "depends-on-add": intents,
	"depends-on-remove": intents, "intent": intents, "re": messages, "repo": repositories, "lane": lanesNamed, "format": oneOf("json", "markdown"),
	"hook": files, "project": folders, "policy": files, "identity": files, "key": files, "dir": folders, "path": files, "confirm": nothing,
	"init repo": folders, "setup repo": folders, "check repo": folders, "policy repo": folders, "demo repo": folders, "revoke reason": revokeWhys,
}

// complete lets shells ask what can be typed, for each word and each value of the whole tree. A file is offered where one
// is wanted, and nowhere else.
func (a *app) complete(c *cobra.Command) {
	name := strings.TrimPrefix(c.CommandPath(), "parley ")
	for _, below := range c.Commands() {
		a.complete(below)
	}
	if c.ValidArgsFunction == nil && !c.HasSubCommands() && !c.DisableFlagParsing {
		wanted, many := argumentsOf[name], strings.Contains(c.Use, "...")
		c.ValidArgsFunction = func(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			at := len(args)
			if many {
				at = min(at, len(wanted)-1)
			} else {
				args = nil // a word may stand in two places
			}
			if at < 0 || at >= len(wanted) {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return wanted[at].offer(a, c.Context(), args, begun)
		}
	}
	first, _, _ := strings.Cut(name, " ")
	offer := func(f *pflag.Flag) {
		if f.NoOptDefVal != "" {
			return // it takes no value
		}
		v, ok := valuesOf[first+" "+f.Name]
		if !ok {
			v = valuesOf[f.Name]
		}
		_ = c.RegisterFlagCompletionFunc(f.Name, func(c *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) { // it has one if it is registered already
			return v.offer(a, c.Context(), nil, begun)
		})
	}
	c.LocalNonPersistentFlags().VisitAll(offer)
	c.PersistentFlags().VisitAll(offer)
}

// offerTime bounds how long a shell waits for the node.
const offerTime = 2 * time.Second

// offer is what a shell is told. given are words that stand there already; none is offered twice.
func (x completion) offer(a *app, ctx context.Context, given []string, begun string) (out []string, _ cobra.ShellCompDirective) {
	if x.words != nil {
		if ctx == nil {
			ctx = context.Background()
		}
		ctx, cancel := context.WithTimeout(ctx, offerTime)
		defer cancel()
		for _, w := range x.words(a, ctx) {
			word, _, _ := strings.Cut(w, "\t")
			if word != "" && strings.HasPrefix(word, begun) && !slices.Contains(given, word) {
				given = append(given[:len(given):len(given)], word)
				out = append(out, oneLineBut(w))
			}
		}
	}
	switch {
	case x.files:
		return out, cobra.ShellCompDirectiveDefault
	case x.dirs:
		return out, cobra.ShellCompDirectiveFilterDirs
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// oneLineBut is [oneLine] of a word and its description, between which a tab stands.
func oneLineBut(w string) string {
	word, about, described := strings.Cut(w, "\t")
	if !described {
		return oneLine(word)
	}
	return oneLine(word) + "\t" + oneLine(about)
}

func oneOf(words ...string) completion {
	return completion{words: func(*app, context.Context) []string { return words }}
}

func both(x, y completion) completion {
	return completion{words: func(a *app, ctx context.Context) []string { return append(x.words(a, ctx), y.words(a, ctx)...) }}
}

func spelledOut[T ~string](all []T) (out []string) {
	for _, w := range all {
		out = append(out, string(w))
	}
	return out
}

// fromNode offers what a running node says.
func fromNode(list func(*api.Client, context.Context) ([]string, error)) completion {
	return completion{words: func(a *app, ctx context.Context) []string {
		client := api.NewClient(a.openHome().SocketPath())
		defer client.Close()
		all, err := list(client, ctx)
		if err != nil {
			return nil // a shell is told nothing in place of a fault
		}
		return all
	}}
}

// asked is [fromNode] of things with a word for each.
func asked[T any](list func(*api.Client, context.Context) ([]T, error), word func(T) string) completion {
	return fromNode(func(c *api.Client, ctx context.Context) (out []string, _ error) {
		all, err := list(c, ctx)
		for _, v := range all {
			out = append(out, word(v))
		}
		return out, err
	})
}

// ofStatus is [fromNode] of what the status names.
func ofStatus(words func(api.Status) []string) completion {
	return fromNode(func(c *api.Client, _ context.Context) ([]string, error) {
		s, err := c.Status()
		return words(s), err
	})
}

func otherNames(s api.Status) (out []string) {
	for _, p := range s.Peers {
		out = append(out, p.Name)
	}
	return out
}

// approvable is the conversation of a card that asks for an approval; "" for another card.
func approvable(c api.Card) string {
	if c.Verb != "approve" {
		return ""
	}
	return c.Ref + "\t" + c.Title
}

// agentNames are the agents that parley can set up here.
func (a *app) agentNames(context.Context) []string {
	set, err := a.openHome().Agents(node.AgentOptions{Gone: true})
	if err != nil {
		return nil
	}
	return append(set.All(), "all")
}
