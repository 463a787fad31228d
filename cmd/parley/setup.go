package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/service"
)

// initFlags is what is said on the command line; the rest is asked.
type initFlags struct {
	name   string
	repos  []string
	listen []string // multiaddresses; empty: a free port of every address
}

func (f *initFlags) flags(set *pflag.FlagSet) {
	set.StringVar(&f.name, "name", "", "what you call this computer (default: its host name)")
	set.StringArrayVar(&f.repos, "repo", nil, "a checkout to look after; may be given several times")
	set.StringArrayVar(&f.listen, "listen", nil, "address to be reached at, such as /ip4/192.0.2.7/tcp/4001; may be given several times")
}

func (a *app) initCommand(c *cobra.Command) {
	var f initFlags
	f.flags(c.Flags())
	c.RunE = func(c *cobra.Command, _ []string) error { return a.init(c.Context(), f) }
}

func (a *app) init(ctx context.Context, f initFlags) error {
	home := a.openHome()
	if err := home.Free(); err != nil {
		return err
	}
	if err := checkGit(ctx); err != nil {
		return err
	}
	config := node.Default()
	if config.Listen = f.listen; len(f.listen) == 0 {
		config.Listen = freePort(node.Default())
	}
	if err := a.findRepositories(ctx, f.repos, &config, false); err != nil {
		return err
	}
	name, err := a.askName(ctx, f.name, config.Name)
	if err != nil {
		return err
	}
	config.Name = name
	if err := config.Validate(); err != nil {
		return err
	}
	passphrase, err := a.newPassphrase(ctx)
	if err != nil {
		return err
	}
	recovery, err := node.NewRecovery()
	if err != nil {
		return err
	}
	if err := home.Init(node.Setup{Config: config, Passphrase: passphrase, Recovery: recovery}); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s is set up in %s\n", config.Name, home.Dir)
	for _, r := range config.Repositories {
		fmt.Fprintf(a.out, "  %s in %s\n", r.Slug, r.Checkout)
	}
	a.printRecovery(recovery.Words)
	a.note("run parley up; its settings are in %s", home.ConfigPath())
	return nil
}

// elsewhere are hosts of repositories that nobody's GitHub is at.
var elsewhere = []string{"gitlab.com", "bitbucket.org", "codeberg.org", "git.sr.ht", "ssh.dev.azure.com", "dev.azure.com"}

// oneHost refuses a checkout whose repository the home could not reach: it knows one host, which is settled once it is
// set up.
func oneHost(top, host string, config node.Config, settled bool) error {
	switch {
	case slices.Contains(elsewhere, host):
		return notOnGitHub(fmt.Sprintf("checkout %s: is on %s, and parley knows GitHub alone", top, host))
	case settled && host != config.GitHub.Host:
		return api.WithHint(fmt.Errorf("checkout %s: is on %s, and this home knows %s alone", top, host, config.GitHub.Host),
			"set github.host in config.toml, or set up another --home for it")
	}
	return nil
}

// findRepositories binds each checkout to the repository that its remote names; fixed: the home's host stays.
func (a *app) findRepositories(ctx context.Context, paths []string, config *node.Config, fixed bool) error {
	for _, path := range paths {
		top, err := checkoutAt(ctx, path)
		if err != nil {
			return err
		}
		host, slug, err := remoteOf(ctx, top)
		if err != nil {
			return err
		}
		if err := oneHost(top, host, *config, fixed || len(config.Repositories) > 0); err != nil {
			return err
		}
		config.GitHub.Host = host
		config.Repositories = append(config.Repositories, node.RepositoryConfig{Slug: slug, Checkout: top})
	}
	return nil
}

func (a *app) askName(ctx context.Context, given, suggested string) (string, error) {
	if given != "" {
		return given, nil
	}
	if a.passphraseFile != "" || !terminal(a.in) {
		return suggested, nil
	}
	fmt.Fprintf(a.err, "Name of this computer [%s]: ", suggested)
	typed, err := a.line(ctx)
	if typed == "" {
		typed = suggested
	}
	return typed, err
}

// newPassphrase asks twice, so that a slip of the finger locks nobody out.
func (a *app) newPassphrase(ctx context.Context) (string, error) {
	first, err := a.passphrase(ctx, "A passphrase for your approvals: ")
	if err != nil || a.passphraseFile != "" {
		return first, err
	}
	second, err := a.passphrase(ctx, "Once more: ")
	if err != nil {
		return "", err
	}
	if first != second {
		return "", api.WithHint(usageError{"the two passphrases differ"}, "run parley init again")
	}
	return first, nil
}

// Ports that systems do not give out to outgoing connections.
const (
	portMin = 20000
	portMax = 32000
)

// freePort puts one port that is free now into the default addresses, so that this computer is found again
// after a restart.
func freePort(config node.Config) []string {
	any := config.Listen
	for range 20 {
		port := strconv.Itoa(portMin + rand.IntN(portMax-portMin))
		config.Listen = []string{"/ip4/0.0.0.0/udp/" + port + "/quic-v1", "/ip4/0.0.0.0/tcp/" + port}
		if config.CheckPorts() == nil {
			return config.Listen
		}
	}
	return any
}

func (a *app) upCommand(c *cobra.Command) {
	demo := c.Flags().Bool("demo", false, "run a demo's home")
	_ = c.Flags().MarkHidden("demo") // the flag is there
	service := c.Flags().Bool("service", false, "run as the service that parley service install has set up")
	_ = c.Flags().MarkHidden("service") // the flag is there
	c.RunE = func(c *cobra.Command, _ []string) error {
		if *service {
			if err := asService(a.openHome()); err != nil {
				return err
			}
		}
		return a.up(c.Context(), *demo)
	}
}

// up looks at everything that would stop the node before it starts, so that each comes as one clear line.
func (a *app) up(ctx context.Context, demo bool) error {
	home := a.openHome()
	lock, err := home.Lock(ctx)
	if err != nil {
		return err
	}
	config, err := a.preflight(ctx, home, demo)
	if err := errors.Join(err, lock.Release()); err != nil {
		return err
	}
	if config.Demo {
		a.note("this is a demo's home: timers may be shortened, and approvals ask for no passphrase")
	}
	if err := checkGh(ctx, config); err != nil {
		f := api.Explain(err)
		a.note("%s, so no conversation starts; %s", f.Text, f.Hint)
	}
	ready := func() {
		a.note("%s answers; stop it with Ctrl-C", config.Name)
		if err := service.Ready(os.Getenv(service.ReadySocket)); err != nil {
			a.note("%s", err.Error())
		}
	}
	return node.Run(ctx, node.RunConfig{Home: home, Demo: demo, Out: a.out, Ready: ready})
}

func (a *app) preflight(ctx context.Context, home node.Home, demo bool) (node.Config, error) {
	config, err := home.Config()
	if err != nil {
		return config, err
	}
	if config.Demo && !demo {
		return config, fmt.Errorf("home %s: %w", home.Dir, api.ErrDemoHome)
	}
	if err := checkGit(ctx); err != nil {
		return config, err
	}
	for _, r := range config.Repositories {
		if _, err := checkoutAt(ctx, r.Checkout); err != nil {
			return config, api.WithHint(err, "correct checkout of "+r.Slug+" in "+home.ConfigPath())
		}
	}
	return config, config.CheckPorts()
}

func (a *app) joinCommand(c *cobra.Command) {
	name := c.Flags().String("name", "", "what you call this computer (default: as in its settings)")
	c.Use, c.Args = "join CODE", arguments("CODE")
	c.RunE = func(c *cobra.Command, args []string) error { return a.join(c.Context(), args[0], *name) }
}

func (a *app) join(ctx context.Context, code, name string) error {
	home := a.openHome()
	config, err := home.Config()
	if err != nil {
		return err
	}
	if pid, running := home.Holder(); running {
		err := fmt.Errorf("join: %w (process %d)", api.ErrHomeInUse, pid)
		return api.WithHint(err, "stop parley up first, then run parley join again")
	}
	if name == "" {
		name = config.Name
	}
	if _, err := a.unlock(ctx, home, "Passphrase to join the other computer: "); err != nil {
		return err
	}
	err = node.Join(ctx, home, code, name, func(words [4]string, inviter string) {
		fmt.Fprintf(a.out, "Joining %s. The words: %s %s %s %s\n", oneLine(inviter), words[0], words[1], words[2], words[3])
		a.note("say yes on %s only if it shows the same words", oneLine(inviter))
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(a.out, name+" has joined.")
	a.note("run parley up")
	return nil
}

// absolute is a path as the settings hold it.
func absolute(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real
	}
	return abs
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
