package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"time"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
)

func examineGit(ctx context.Context) check {
	version, err := node.CheckGit(ctx)
	switch {
	case errors.Is(err, api.ErrNoGit):
		return ill("git-missing", because(err), howToInstall("git", ""))
	case err != nil:
		return ill("git-old", because(err), howToInstall("git", ""))
	}
	return good("git", version)
}

// examineNoHome is about a home whose settings could not be read.
func examineNoHome(home node.Home, err error) check {
	switch {
	case errors.Is(err, api.ErrNoHome):
		return ill("home-missing", because(err))
	case errors.Is(err, api.ErrHomeSpoiled):
		return ill("home-open", because(err), quoted(home.Dir))
	}
	return ill("config", because(err))
}

func examineHome(home node.Home) check {
	if err := writable(home.Dir); err != nil {
		return ill("home-unwritable", because(err), owner()+" "+quoted(home.Dir))
	}
	if _, err := home.Fleet(); err != nil && !errors.Is(err, os.ErrNotExist) {
		return ill("fleet-spoiled", because(err))
	}
	return good("home", home.Dir)
}

// writable tries it.
func writable(dir string) error {
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

func owner() string {
	if me, err := user.Current(); err == nil {
		return me.Username
	}
	return "YOU"
}

func examineGh(ctx context.Context, home node.Home, config node.Config) check {
	err := checkGh(ctx, config)
	switch {
	case errors.Is(err, api.ErrNoGh):
		return ill("gh-missing", because(err), howToInstall("gh", " from https://cli.github.com"))
	case errors.Is(err, api.ErrSignIn):
		return ill("gh-sign-in", because(err), config.GitHub.Host)
	case err != nil:
		return ill("gh-token-file", because(err), home.ConfigPath())
	case config.GitHub.TokenFile != "":
		return good("gh", "not needed: a token file is set")
	case config.GitHub.Addr != "":
		return good("gh", "signed in to "+config.GitHub.Host)
	}
	return askScopes(ctx, home, config.GitHub)
}

// askScopes lets gh ask GitHub what its sign-in may do.
func askScopes(ctx context.Context, home node.Home, g node.GitHubConfig) check {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	c := exec.CommandContext(ctx, "gh", "auth", "status", "--hostname", g.Host)
	c.Env = append(os.Environ(), "LC_ALL=C", "NO_COLOR=1", "GH_PROMPT_DISABLED=1")
	if g.Proxy != "" {
		c.Env = append(c.Env, "HTTPS_PROXY="+g.Proxy)
	}
	c.WaitDelay = time.Second
	said, err := c.CombinedOutput() // an older gh says it on standard error
	return judgeScopes(string(said), err, home, g.Host)
}

// judgeScopes reads what gh auth status said. A token without scopes is one whose rights are set on GitHub.
func judgeScopes(said string, err error, home node.Home, host string) check {
	switch {
	case err != nil && strings.Contains(said, "invalid"):
		return ill("gh-sign-in", "the sign-in of gh on "+host+" counts no more", host)
	case err != nil:
		return ill("github-away", "gh could not ask "+host, home.ConfigPath())
	}
	_, rest, listed := strings.Cut(said, "Token scopes:")
	line, _, _ := strings.Cut(rest, "\n")
	scopes := strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ' ' || r == '\'' })
	var repo, workflow bool
	for _, s := range scopes {
		repo, workflow = repo || s == "repo", workflow || s == "workflow"
	}
	switch {
	case listed && len(scopes) > 0 && !repo:
		return ill("gh-scopes", "the sign-in of gh on "+host+" has the scopes "+strings.Join(scopes, ", ")+", not repo", host)
	case listed && len(scopes) > 0 && !workflow:
		return good("gh", "signed in to "+host+"; without the scope workflow no merge that changes .github/workflows can be pushed")
	}
	return good("gh", "signed in to "+host)
}

func examineIdentity(home node.Home) check {
	switch err := home.CheckIdentity(); {
	case errors.Is(err, os.ErrNotExist):
		return good("identity", "will be made by the first parley up")
	case err != nil:
		return ill("identity-open", because(err), quoted(home.IdentityPath()))
	}
	if err := home.ReadIdentity(); err != nil {
		return ill("identity-spoiled", because(err))
	}
	return good("identity", "this computer's key is there and closed to others")
}

func examineApproval(home node.Home, config node.Config) check {
	if config.Demo {
		return good("approvals", "a demo's home: no passphrase is asked")
	}
	switch err := home.CheckApproval(); {
	case errors.Is(err, api.ErrHomeSpoiled):
		return ill("approval-open", because(err), quoted(home.ApprovalPath()))
	case err != nil:
		return ill("approval-missing", because(err))
	}
	return good("approvals", "your passphrase opens a key of its own")
}

func examineRepository(ctx context.Context, home node.Home, config node.Config, r node.RepositoryConfig) check {
	top, err := checkoutAt(ctx, r.Checkout)
	if err != nil {
		return ill("checkout-missing", because(err), r.Slug, home.ConfigPath())
	}
	if top != absolute(r.Checkout) {
		return ill("checkout-inside", fmt.Sprintf("checkout %s: lies inside %s", r.Checkout, top), r.Slug, home.ConfigPath())
	}
	host, slug, err := remoteOf(ctx, top)
	if err != nil {
		return ill("checkout-remote", because(err), quoted(top), r.Slug)
	}
	if !strings.EqualFold(slug, r.Slug) || host != config.GitHub.Host && config.GitHub.Addr == "" {
		return ill("checkout-other", fmt.Sprintf("checkout %s: belongs to %s on %s", r.Checkout, slug, host), r.Slug, home.ConfigPath())
	}
	if lock := oldLock(ctx, top, time.Now()); lock != "" {
		return ill("checkout-locked", "checkout "+r.Checkout+": "+lock+" is older than ten minutes", quoted(lock))
	}
	return good(r.Slug, r.Checkout)
}

// lockOld is from when on git's lock of an index is taken for one that was left behind.
const lockOld = 10 * time.Minute

// oldLock is git's lock that nobody seems to hold any more; "" for none.
func oldLock(ctx context.Context, top string, now time.Time) string {
	file, err := output(ctx, "git", "-C", top, "rev-parse", "--path-format=absolute", "--git-path", "index.lock")
	if err != nil {
		return ""
	}
	if info, err := os.Lstat(file); err != nil || now.Sub(info.ModTime()) < lockOld {
		return ""
	}
	return file
}

func examineDesk(home node.Home, config node.Config) check {
	route, err := home.Route()
	if err != nil {
		return ill("route-spoiled", because(err), home.RoutesPath())
	}
	argv := route.Resolve(config.Desk).Argv
	if len(argv) == 0 {
		return ill("desk-none", "no agent handles conversations here", node.SyncConflicts)
	}
	if _, err := exec.LookPath(argv[0]); err != nil {
		return ill("desk-missing", because(err), quoted(argv[0]), node.SyncConflicts)
	}
	return good("desk", commandLine(argv))
}

func examinePorts(home node.Home, config node.Config) check {
	if _, running := home.Holder(); running {
		return good("ports", "held by the node: "+strings.Join(config.Listen, " "))
	}
	if err := config.CheckPorts(); err != nil {
		return ill("port-taken", because(err))
	}
	return good("ports", "free: "+strings.Join(config.Listen, " "))
}

// freeBytesMin is what must be free on the disk of the home: below it the ledger stops writing.
const freeBytesMin = 256 << 20

func examineDisk(home node.Home) check {
	dir := home.Dir
	for !exists(dir) && dir != "/" && dir != "." {
		dir = filepath.Dir(dir)
	}
	free, known := freeBytes(dir)
	if !known {
		return good("disk", "free space cannot be told on this system")
	}
	return judgeDisk(dir, free)
}

func judgeDisk(dir string, free uint64) check {
	if free < freeBytesMin {
		return ill("disk-low", fmt.Sprintf("%d MB free at %s, want %d", free>>20, dir, freeBytesMin>>20))
	}
	return good("disk", fmt.Sprintf("%d MB free", free>>20))
}

// examineClock finds clocks that are certainly wrong: before this program was built, or before the last
// thing that happened here. No other computer's clock is asked.
func examineClock(home node.Home) check {
	now := time.Now()
	if built, err := time.Parse(time.RFC3339, setting("vcs.time")); err == nil && now.Before(built) {
		return ill("clock-wrong", "shows "+now.Format(time.DateTime)+", which is before this program was made")
	}
	if info, err := os.Stat(home.LogPath()); err == nil && now.Add(time.Minute).Before(info.ModTime()) {
		return ill("clock-wrong", "shows "+now.Format(time.DateTime)+", which is before the last line of the log")
	}
	return good("clock", now.Format(time.DateTime+" MST"))
}
