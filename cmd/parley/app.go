package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
)

// streams are where the program reads and writes.
type streams struct{ in, out, err *os.File }

// app is one run of the program.
type app struct {
	streams
	home           string // of the flag; "": the user's own
	passphraseFile string
	json           bool
	jq             string // filter of the JSON; "" none
	plain          bool   // for a screen reader
}

// run carries out one command line and returns the exit status.
func run(ctx context.Context, args []string, s streams) int {
	a := &app{streams: s}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return api.ExitOK
	}
	if ctx.Err() != nil {
		err = context.Canceled // whatever it broke off, the person broke it off
	}
	return a.end(err)
}

// end prints the last lines: what went wrong, and what to do.
func (a *app) end(err error) int {
	if status, ok := errors.AsType[exitStatus](err); ok {
		return int(status)
	}
	f := api.Explain(err)
	if silent, ok := errors.AsType[faultsFound](err); ok {
		fmt.Fprintln(a.err, "parley: error:", silent.Error())
		return api.ExitError
	}
	if f.Exit == api.ExitInterrupted {
		f.Text = "interrupted"
	}
	fmt.Fprintln(a.err, "parley: error:", oneLine(f.Text))
	if f.Hint != "" {
		fmt.Fprintln(a.err, "parley: hint:", oneLine(a.here(f.Hint)))
	}
	return f.Exit
}

// here lets the commands in a hint be about the same home. A hint says "run parley" for a command of this home, and
// "enter parley" for one that is typed on another computer or is about another home, which this one's path would mislead.
func (a *app) here(hint string) string {
	if a.home == "" {
		return hint
	}
	return strings.ReplaceAll(hint, "run parley ", "run parley --home "+quoted(a.home)+" ")
}

// quoted is a word as a shell takes it.
func quoted(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return !strings.ContainsRune(plain, r) }) {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}

const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:@%"

// note says something beside the data.
func (a *app) note(format string, args ...string) {
	fmt.Fprintln(a.err, "parley: note:", oneLine(a.here(fmt.Sprintf(format, texts(args)...))))
}

func texts(args []string) []any {
	out := make([]any, len(args))
	for i, s := range args {
		out[i] = s
	}
	return out
}

// groups explains the verbs that have others below them.
var groups = map[string]string{
	"main":      "switch the main computer's role",
	"lane":      "pair with another developer, and switch that on and off",
	"thread":    "look into a conversation",
	"kept":      "look at what was taken out of your checkouts",
	"computers": "your computers",
	"fleet":     "all your computers together",
	"passkey":   "the passkeys that press buttons of the page",
	"op":        "look at what parley did to your files, and take it back",
	"agents":    "coding agents on this computer",
	"sync":      "keep the checkouts at their base branches",
	"intent":    "say what a session does",
	"claims":    "ask who works on something",
	"message":   "tell other sessions something",
	"lane work": "share live work with another developer",
}

// root is the whole command tree, made from the table of verbs.
func (a *app) root() *cobra.Command {
	root := a.group("parley", "settle pull-request conflicts between your computers")
	root.Long = "parley lets your computers settle the conflicts of your pull requests with each other.\n" +
		"Nothing is pushed or merged before you have approved exactly that.\n\n" +
		"Begin with parley setup, on each of your computers. Then parley inbox says what waits for you, parley open shows it in\n" +
		"your browser, and parley doctor says what is missing. parley demo plays it all on this machine."
	root.SilenceErrors, root.SilenceUsage = true, true
	root.PersistentFlags().StringVar(&a.home, "home", "", "directory of this computer's node (default "+dataFolder("parley")+")")
	root.PersistentFlags().BoolVar(&a.plain, "plain", false, "for screen readers: lines and words alone, no drawing (PARLEY_PLAIN)")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return usage(c, err.Error()) })
	cobra.EnableCommandSorting = false // the table has an order
	parents := map[string]*cobra.Command{}
	for _, v := range api.Verbs {
		if v.Step {
			continue
		}
		above, last := root, v.Name
		if i := strings.LastIndex(v.Name, " "); i >= 0 {
			above, last = a.below(root, parents, v.Name[:i]), v.Name[i+1:]
		}
		parents[v.Name] = a.command(v, last)
		above.AddCommand(parents[v.Name])
	}
	root.AddCommand(extraCommands(a)...)
	root.AddCommand(exitCodes(), catalogue())
	root.AddCommand(topics()...)
	root.SetHelpCommand(helpCommand(root))
	nameFields(root)
	a.complete(root)
	return root
}

// below is the command under which others stand; it is made where it is no verb itself.
func (a *app) below(root *cobra.Command, parents map[string]*cobra.Command, name string) *cobra.Command {
	if parents[name] == nil {
		above, last := root, name
		if i := strings.LastIndex(name, " "); i >= 0 {
			above, last = a.below(root, parents, name[:i]), name[i+1:]
		}
		parents[name] = a.group(last, groups[name])
		above.AddCommand(parents[name])
	}
	return parents[name]
}

// group is a command that does nothing itself.
func (a *app) group(name, summary string) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: summary, Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return c.Help()
			}
			return noSuch(c, "command", args[0])
		},
	}
}

// command is one row of the table as a command.
func (a *app) command(v api.Verb, name string) *cobra.Command {
	c := &cobra.Command{Use: name, Short: v.Summary, Long: sentence(v.Summary) + "\n\n" + v.Help, Args: arguments()}
	if v.Help == "" {
		c.Long = sentence(v.Summary)
	}
	a.fill(v, c)
	if v.Reads && v.Name != "mcp" { // a conversation of its own
		a.jsonFlags(c)
	}
	if v.Who == api.Person {
		a.passphraseFlag(c)
	}
	return c
}

func (a *app) passphraseFlag(c *cobra.Command) {
	c.Flags().StringVar(&a.passphraseFile, "passphrase-file", "", "read the passphrase from this file, for scripts")
}

// fill gives a command what it does, and its own flags.
func (a *app) fill(v api.Verb, c *cobra.Command) {
	switch v.Name {
	case "init":
		a.initCommand(c)
	case "up":
		a.upCommand(c)
	case "invite":
		a.inviteCommand(c)
	case "join":
		a.joinCommand(c)
	case "main on":
		c.RunE = a.setMain(true)
	case "main off":
		c.RunE = a.setMain(false)
	case "status":
		c.RunE = a.status
	case "inbox":
		c.RunE = a.inbox
	case "approve":
		c.Use, c.Args, c.RunE = "approve REF ACTION", arguments("REF", "ACTION"), a.approve
	case "why":
		a.whyCommand(c)
	case "close":
		c.Use, c.Args, c.RunE = "close REF", arguments("REF"), a.closeThread
	case "assign":
		c.Use, c.Args, c.RunE = "assign REF COMPUTER", arguments("REF", "COMPUTER"), a.assign
	case "kept list":
		c.Use, c.RunE = "list", a.keptList
	case "kept show":
		c.Use, c.Args, c.RunE = "show ID", arguments("ID"), a.keptShow
	case "kept restore":
		c.Use, c.Args, c.RunE = "restore ID", arguments("ID"), a.keptRestore
	case "op log":
		c.Use, c.RunE = "log", a.opLog
	case "op undo":
		c.Use, c.Args, c.RunE = "undo ID", arguments("ID"), a.opUndo
	case "sync now":
		a.syncs(api.SyncNow)(c)
	case "sync pause":
		a.syncs(api.SyncPause)(c)
	case "sync resume":
		a.syncs(api.SyncResume)(c)
	case "route":
		a.routeCommand(c)
	case "threads":
		c.RunE = a.threads
	case "thread show":
		a.threadCommand(c)
	case "log":
		a.logCommand(c)
	case "scan":
		c.RunE = a.scan
	case "computers", "ping", "netcheck", "relay", "trace":
		a.fillNetwork(v, c)
	case "doctor":
		c.RunE = a.doctor
	case "fsck":
		c.RunE = a.fsck
	case "version":
		c.RunE = a.version
	default:
		if !a.fillLane(v, c) && !a.fillFleet(v, c) && !a.fillAgents(v, c) && !a.fillConflicts(v, c) && !a.fillWork(v, c) && !a.fillPage(v, c) && !a.fillPause(v, c) {
			panic("parley: the verb " + v.Name + " has no command")
		}
	}
}

// openHome is the home that the command is about.
func (a *app) openHome() node.Home {
	if a.home == "" {
		return node.DefaultHome()
	}
	return node.OpenHome(a.home)
}

// dataFolder is where a file of programs' data lies, in words that are the same for whoever makes the man pages.
func dataFolder(name string) string {
	switch runtime.GOOS {
	case "darwin":
		return "~/Library/Application Support/" + name + ", or in XDG_DATA_HOME"
	case "windows":
		return `%LOCALAPPDATA%\` + name + ", or in XDG_DATA_HOME"
	}
	return "~/.local/share/" + name + ", or in XDG_DATA_HOME"
}

// usageError is a command line that was not understood.
type usageError struct{ text string }

// Error is the text.
func (e usageError) Error() string { return e.text }

// Unwrap is [api.ErrUsage].
func (e usageError) Unwrap() error { return api.ErrUsage }

func usage(c *cobra.Command, text string) error {
	return api.WithHint(usageError{text}, "run "+c.CommandPath()+" --help")
}

// arguments wants exactly these.
func arguments(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return usage(c, "want "+strings.Join(names, " "))
		case len(args) > len(names):
			return usage(c, fmt.Sprintf("%q is one argument too many", args[len(names)]))
		}
		return nil
	}
}

func sentence(s string) string {
	return strings.ToUpper(s[:1]) + s[1:] + "."
}

// exitCodes is the help topic about exit statuses.
func exitCodes() *cobra.Command {
	var b strings.Builder
	b.WriteString("Exit statuses of every command:\n\n")
	for _, s := range api.ExitStatuses {
		fmt.Fprintf(&b, "  %3d  %s\n", s.Status, s.Means)
	}
	return &cobra.Command{Use: "exit-codes", Short: "what the exit statuses mean", Long: strings.TrimSuffix(b.String(), "\n")}
}

// terminal reports whether a stream is one that a person looks at.
func terminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
