package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/service"
)

// wizardFlags answer ahead what setup would ask.
type wizardFlags struct {
	initFlags
	code, desk                              string
	service, agents, notices, main, another bool
}

// wizard guides a new person from nothing to a working pair. What is done is found out by looking, so that it goes on
// where it was broken off.
type wizard struct {
	a    *app
	c    *cobra.Command
	f    wizardFlags
	talk bool // there is a terminal to ask at
}

func (a *app) setupCommand() *cobra.Command {
	w := &wizard{a: a}
	c := &cobra.Command{
		Use: "setup", Short: "guide me from nothing to a working pair of computers", Args: arguments(),
		Long: "Goes through git, gh, your sign-in, this computer's home and passphrase, a repository, your other computer, the\n" +
			"service, your agents and notices, with a look after each. What is done already is passed over, so run it again\n" +
			"after anything that stopped it. Without a terminal the flags answer; what no flag asks for is left out.",
		RunE: func(c *cobra.Command, _ []string) error {
			w.c, w.talk = c, terminal(a.in)
			return w.run(c.Context())
		},
	}
	f := c.Flags()
	w.f.flags(f)
	f.StringVar(&w.f.code, "join", "", "join your other computer by this code of parley invite")
	f.StringVar(&w.f.desk, "desk", "", "command of the agent that builds merges on this computer")
	f.BoolVar(&w.f.service, "service", false, "install the service")
	f.BoolVar(&w.f.agents, "agents", false, "let the coding agents that are found ask parley before they edit")
	f.BoolVar(&w.f.notices, "notices", false, "tell me on the desktop what comes into the inbox")
	f.BoolVar(&w.f.main, "main", false, "make this the main computer")
	f.BoolVar(&w.f.another, "invite", false, "invite another computer at the end")
	f.StringVar(&a.passphraseFile, "passphrase-file", "", "read the passphrase from this file, for scripts")
	return c
}

// run is all of it, in order. A step that cannot be done ends it with what to do.
func (w *wizard) run(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		w.git, w.gh, w.home, w.repository, w.join, w.desk, w.service, w.agents, w.notices, w.main, w.invite,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return w.last(ctx)
}

// done says that a step holds.
func (w *wizard) done(format string, args ...string) {
	fmt.Fprintln(w.a.out, "ok  "+oneLine(fmt.Sprintf(format, texts(args)...)))
}

// want answers a question: by its flag, at the terminal, or with no.
func (w *wizard) want(ctx context.Context, flag string, yes bool, question string) (bool, error) {
	if w.c.Flags().Changed(flag) {
		return w.c.Flags().Lookup(flag).Value.String() == "true", nil
	}
	if !w.talk {
		return false, nil
	}
	choice := "[y/N]"
	if yes {
		choice = "[Y/n]"
	}
	answer, err := w.ask(ctx, question+" "+choice)
	switch strings.ToLower(answer) {
	case "":
		return yes, err
	case "y", "yes":
		return true, err
	}
	return false, err
}

// ask is one line of the person; "" without a terminal.
func (w *wizard) ask(ctx context.Context, question string) (string, error) {
	if !w.talk {
		return "", nil
	}
	fmt.Fprint(w.a.err, question+" ")
	answer, err := w.a.line(ctx)
	return strings.TrimSpace(answer), err
}

func (w *wizard) git(ctx context.Context) error {
	version, err := node.CheckGit(ctx)
	if err != nil {
		return api.WithHint(err, "install git 2.38 or newer"+howToInstall("git", "")+", then run parley setup")
	}
	w.done("git %s", version)
	return nil
}

func (w *wizard) gh(ctx context.Context) error {
	config, err := w.a.openHome().Config()
	if err != nil {
		config = node.Default() // not set up yet
	}
	err = checkGh(ctx, config)
	host := config.GitHub.Host
	switch {
	case errors.Is(err, api.ErrNoGh):
		return api.WithHint(err, "install it"+howToInstall("gh", " from https://cli.github.com")+", then run parley setup")
	case errors.Is(err, api.ErrSignIn) && w.talk:
		if yes, asked := w.want(ctx, "sign-in", true, "gh is not signed in to "+host+". Sign in now?"); asked != nil || !yes {
			return errors.Join(err, asked)
		}
		login := exec.CommandContext(ctx, "gh", "auth", "login", "--hostname", host)
		login.Stdin, login.Stdout, login.Stderr = w.a.in, w.a.out, w.a.err
		if failed := login.Run(); failed != nil {
			return api.WithHint(err, "run gh auth login --hostname "+host+", then parley setup")
		}
		err = checkGh(ctx, config)
	}
	if err != nil {
		return err
	}
	w.done("gh is signed in to %s", host)
	return nil
}

func (w *wizard) home(ctx context.Context) error {
	home := w.a.openHome()
	err := home.Check()
	if errors.Is(err, api.ErrNoHome) {
		if err = w.chooseRepository(ctx); err == nil {
			err = w.a.init(ctx, w.f.initFlags)
		}
	}
	if err != nil {
		return err
	}
	config, err := home.Config()
	if err != nil {
		return err
	}
	w.done("%s is set up in %s", config.Name, home.Dir)
	return nil
}

// chooseRepository asks for a checkout where none is named; the one that the person stands in is offered.
func (w *wizard) chooseRepository(ctx context.Context) error {
	if len(w.f.repos) > 0 || !w.talk {
		return nil
	}
	offer := ""
	if top, err := checkoutAt(ctx, "."); err == nil {
		if _, slug, err := remoteOf(ctx, top); err == nil && slug != "" {
			offer = top
		}
	}
	question := "A checkout to look after (empty: none yet):"
	if offer != "" {
		question = "A checkout to look after [" + oneLine(offer) + "]:"
	}
	answer, err := w.ask(ctx, question)
	if answer == "" {
		answer = offer
	}
	if answer != "" {
		w.f.repos = []string{answer}
	}
	return err
}

func (w *wizard) repository(ctx context.Context) error {
	home := w.a.openHome()
	config, err := home.Config()
	if err != nil {
		return err
	}
	if len(config.Repositories) == 0 {
		if err := w.chooseRepository(ctx); err != nil {
			return err
		}
		if err := w.a.findRepositories(ctx, w.f.repos, &config, config.GitHub.Addr == ""); err != nil {
			return err
		}
		for _, r := range config.Repositories {
			if err := home.AddRepository(r); err != nil {
				return err
			}
		}
	}
	for _, r := range config.Repositories {
		if x := examineRepository(ctx, home, config, r); !x.OK {
			return api.WithHint(errors.New(x.Text), x.Mend)
		}
		w.done("%s in %s", r.Slug, r.Checkout)
	}
	if len(config.Repositories) == 0 {
		w.a.note("no repository is set yet; run parley setup again in a checkout")
	}
	return nil
}

func (w *wizard) join(ctx context.Context) error {
	home := w.a.openHome()
	if _, err := home.Fleet(); err == nil {
		return nil // joined or founded
	}
	code := w.f.code
	if code == "" {
		var err error
		if code, err = w.ask(ctx, "The code that parley invite shows on your other computer (empty: this is your first):"); err != nil {
			return err
		}
	}
	if code == "" {
		return nil
	}
	if err := w.a.join(ctx, code, ""); err != nil {
		return err
	}
	w.done("joined")
	return nil
}

func (w *wizard) desk(ctx context.Context) error {
	home := w.a.openHome()
	config, err := home.Config()
	if err != nil {
		return err
	}
	if x := examineDesk(home, config); x.OK {
		w.done("the agent is %s", x.Text)
		return nil
	}
	command := w.f.desk
	if command == "" {
		if command, err = w.ask(ctx, "Command of the agent that builds merges here, {task} for its task (empty: later):"); err != nil {
			return err
		}
	}
	argv := strings.Fields(command)
	if len(argv) == 0 {
		return nil
	}
	if _, err := exec.LookPath(argv[0]); err != nil {
		return api.WithHint(fmt.Errorf("setup: %w", err), "install it, or run parley setup again with another --desk")
	}
	if err := home.SetRoute(node.Route{Argv: argv}); err != nil {
		return err
	}
	w.done("the agent is %s", commandLine(argv))
	return nil
}

func (w *wizard) service(ctx context.Context) error {
	if w.answering() {
		w.done("the node runs")
		return nil
	}
	yes, err := w.want(ctx, "service", true, "Let the node start now and whenever you sign in?")
	if err != nil {
		return err
	}
	if !yes {
		w.a.note("run parley up, and parley setup again for the rest")
		return nil
	}
	if err := w.a.serviceInstall(ctx); errors.Is(err, service.ErrNoManager) {
		w.a.note("%s; run parley up, and parley setup again for the rest", api.Explain(err).Text)
		return nil
	} else if err != nil {
		return err
	}
	if !w.await(ctx) {
		return api.WithHint(errors.New("setup: the service does not answer"), "run parley service status, then parley doctor")
	}
	w.done("the node runs")
	return nil
}

// answerPatience is how long a service may take to its first answer.
const answerPatience = time.Minute

// await waits until the node answers.
func (w *wizard) await(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, answerPatience)
	defer cancel()
	for again := time.NewTicker(100 * time.Millisecond); ; {
		if w.answering() {
			again.Stop()
			return true
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return false
		}
	}
}

func (w *wizard) answering() bool {
	_, client, err := w.a.running()
	if err != nil {
		return false
	}
	return client.Close() == nil
}

func (w *wizard) agents(ctx context.Context) error {
	set, err := w.a.openHome().Agents(node.AgentOptions{})
	if err != nil {
		return err
	}
	var fresh []string
	for _, name := range set.Names() {
		switch x := set.Check(ctx, name); {
		case x.State == "absent":
			fresh = append(fresh, name)
		case x.State == "other":
			w.a.note("%s %s; to change that, run parley agents install %s", name, x.Text, name)
		case x.OK():
			w.done("%s asks parley before it edits", name)
		default:
			w.a.note("%s: %s; %s", name, x.Text, x.Mend)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	yes, err := w.want(ctx, "agents", true, "Let "+strings.Join(fresh, ", ")+" ask parley before they edit?")
	if err != nil || !yes {
		return err
	}
	if _, err := set.HookPath(); err != nil {
		w.a.note("%s, so no agent was set up; run parley agents install once it is installed", api.Explain(err).Text)
		return nil
	}
	return w.a.agentsEach(ctx, set, fresh, "install", false)
}

func (w *wizard) notices(ctx context.Context) error {
	home := w.a.openHome()
	n, err := home.Notices()
	if err != nil {
		return err
	}
	if !n.On {
		yes, err := w.want(ctx, "notices", false, "Tell you on the desktop what waits for you?")
		if err != nil || !yes {
			return err
		}
		n.On = true
		if err := home.SetNotices(n); err != nil {
			return err
		}
	}
	w.done("notices are on")
	return nil
}

// status is what the running node says; false: none runs.
func (w *wizard) status() (api.Status, bool) {
	_, client, err := w.a.running()
	if err != nil {
		return api.Status{}, false
	}
	s, err := client.Status()
	return s, errors.Join(err, client.Close()) == nil
}

func (w *wizard) main(ctx context.Context) error {
	s, running := w.status()
	if !running {
		return nil
	}
	if s.Main.State == "none" {
		yes, err := w.want(ctx, "main", len(s.Peers) == 0, "Is this the computer that looks at GitHub and publishes?")
		if err != nil || !yes {
			return err
		}
		if err := w.a.setMain(true)(w.c, nil); err != nil {
			return err
		}
		s, _ = w.status()
	}
	w.done("the main computer is %s", s.Main.Name)
	return nil
}

func (w *wizard) invite(ctx context.Context) error {
	s, running := w.status()
	if !running {
		return nil
	}
	if len(s.Peers) > 0 {
		w.done("%s", many(len(s.Peers)+1, "computer"))
		return nil
	}
	yes, err := w.want(ctx, "invite", true, "Invite another computer of yours now? Run parley setup there.")
	if err != nil || !yes {
		return err
	}
	return w.a.invite(w.c, w.a.drawn())
}

// last is the doctor's look, of which only the faults are told.
func (w *wizard) last(ctx context.Context) error {
	faults := 0
	for _, x := range w.a.examine(ctx) {
		if !x.OK {
			faults++
			fmt.Fprintln(w.a.out, oneLine("--  "+x.Name+": "+x.Text+": "+w.a.here(x.Mend)))
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if faults == 0 {
		fmt.Fprintln(w.a.out, "All is well. What waits for you: parley inbox")
		return nil
	}
	fmt.Fprintf(w.a.out, "%s left; run parley setup again at any time.\n", many(faults, "thing"))
	return nil
}
