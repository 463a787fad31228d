package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
)

// check is one row of the doctor.
type check struct {
	Name string `json:"check"`
	OK   bool   `json:"ok"`
	Text string `json:"text"`
	Mend string `json:"mend,omitempty"` // the command that mends a fault
}

// faultsFound is the doctor's own error; its rows have said everything.
type faultsFound int

// Error counts.
func (f faultsFound) Error() string { return many(int(f), "fault") }

func good(name, text string) check { return check{Name: name, OK: true, Text: text} }

func bad(name string, err error) check {
	f := api.Explain(err)
	return check{Name: name, Text: f.Text, Mend: f.Hint}
}

func (a *app) doctor(c *cobra.Command, _ []string) error {
	checks := a.examine(c.Context())
	if err := c.Context().Err(); err != nil {
		return err
	}
	faults := 0
	rows := make([][]string, 0, len(checks))
	for _, x := range checks {
		word := "ok"
		if !x.OK {
			faults++
			word = "fault"
		}
		text := x.Text
		if x.Mend != "" {
			text += ": " + a.here(x.Mend)
		}
		rows = append(rows, []string{word, x.Name, text})
	}
	if a.json {
		if err := printJSON(a.out, checks); err != nil {
			return err
		}
	} else {
		table(a.out, "", rows)
	}
	if faults > 0 {
		return faultsFound(faults)
	}
	return nil
}

// examine looks at everything that parley needs. What a fault makes pointless is left out.
func (a *app) examine(ctx context.Context) []check {
	home := a.openHome()
	out := []check{examineGit(ctx)}
	config, err := home.Config()
	if err != nil {
		out = append(out, bad("home", err), examineGh(ctx, node.Default()))
		return append(out, examineDisk(home), examineClock(home))
	}
	out = append(out, good("home", home.Dir), examineGh(ctx, config), examineIdentity(home), examineApproval(home, config))
	if len(config.Repositories) == 0 {
		out = append(out, check{Name: "repositories", Text: "none is set", Mend: "add a [[repository]] to " + home.ConfigPath()})
	}
	for _, r := range config.Repositories {
		out = append(out, examineRepository(ctx, home, config, r))
	}
	out = append(out, examineDesk(home, config))
	out = append(out, a.examineAgents(ctx, home)...)
	return append(out, examineNode(home), examinePorts(home, config), examineDisk(home), examineClock(home))
}

func examineGit(ctx context.Context) check {
	version, err := node.CheckGit(ctx)
	if err != nil {
		return bad("git", err)
	}
	return good("git", version)
}

func examineGh(ctx context.Context, config node.Config) check {
	if err := checkGh(ctx, config); err != nil {
		return bad("gh", err)
	}
	if config.GitHub.TokenFile != "" {
		return good("gh", "not needed: a token file is set")
	}
	return good("gh", "signed in to "+config.GitHub.Host)
}

func examineIdentity(home node.Home) check {
	switch err := home.CheckIdentity(); {
	case errors.Is(err, os.ErrNotExist):
		return good("identity", "will be made by the first parley up")
	case err != nil:
		return bad("identity", err)
	}
	return good("identity", "this computer's key is there and closed to others")
}

func examineApproval(home node.Home, config node.Config) check {
	if config.Demo {
		return good("approvals", "a demo's home: no passphrase is asked")
	}
	if err := home.CheckApproval(); err != nil {
		return bad("approvals", err)
	}
	return good("approvals", "your passphrase opens a key of its own")
}

func examineRepository(ctx context.Context, home node.Home, config node.Config, r node.RepositoryConfig) check {
	fix := "correct checkout of " + r.Slug + " in " + home.ConfigPath()
	top, err := checkoutAt(ctx, r.Checkout)
	if err != nil {
		return bad(r.Slug, api.WithHint(err, fix))
	}
	if top != absolute(r.Checkout) {
		return bad(r.Slug, api.WithHint(fmt.Errorf("checkout %s: lies inside %s", r.Checkout, top), fix))
	}
	host, slug, err := remoteOf(ctx, top)
	if err != nil {
		return bad(r.Slug, err)
	}
	if !strings.EqualFold(slug, r.Slug) || host != config.GitHub.Host && config.GitHub.Addr == "" {
		return bad(r.Slug, api.WithHint(fmt.Errorf("checkout %s: belongs to %s on %s", r.Checkout, slug, host), fix))
	}
	return good(r.Slug, r.Checkout)
}

func examineDesk(home node.Home, config node.Config) check {
	route, err := home.Route()
	if err != nil {
		return bad("desk", api.WithHint(err, "remove "+home.RoutesPath()+", then run parley route"))
	}
	argv := route.Resolve(config.Desk).Argv
	if len(argv) == 0 {
		return check{Name: "desk", Text: "no agent handles conversations here", Mend: "parley route " + node.SyncConflicts + " -- COMMAND"}
	}
	return good("desk", commandLine(argv))
}

func examineNode(home node.Home) check {
	pid, running := home.Holder()
	if !running {
		return good("node", "not running (parley up)")
	}
	client := api.NewClient(home.SocketPath())
	defer client.Close()
	if _, err := client.Status(); err != nil {
		return bad("node", api.WithHint(fmt.Errorf("process %d holds the home and does not answer", pid), fmt.Sprintf("stop process %d, then run parley up", pid)))
	}
	return good("node", fmt.Sprintf("running, process %d", pid))
}

func examinePorts(home node.Home, config node.Config) check {
	if _, running := home.Holder(); running {
		return good("ports", "held by the node: "+strings.Join(config.Listen, " "))
	}
	if err := config.CheckPorts(); err != nil {
		return bad("ports", err)
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
	switch {
	case !known:
		return good("disk", "free space cannot be told on this system")
	case free < freeBytesMin:
		return check{Name: "disk", Text: fmt.Sprintf("%d MB free at %s, want %d", free>>20, dir, freeBytesMin>>20), Mend: "make room there"}
	}
	return good("disk", fmt.Sprintf("%d MB free", free>>20))
}

// examineClock finds clocks that are certainly wrong: before this program was built, or before the last
// thing that happened here. No other computer's clock is asked.
func examineClock(home node.Home) check {
	now := time.Now()
	fix := "set the clock of this computer"
	if built, err := time.Parse(time.RFC3339, setting("vcs.time")); err == nil && now.Before(built) {
		return check{Name: "clock", Text: "shows " + now.Format(time.DateTime) + ", which is before this program was made", Mend: fix}
	}
	if info, err := os.Stat(home.LogPath()); err == nil && now.Add(time.Minute).Before(info.ModTime()) {
		return check{Name: "clock", Text: "shows " + now.Format(time.DateTime) + ", which is before the last line of the log", Mend: fix}
	}
	return good("clock", now.Format(time.DateTime+" MST"))
}

// setting is one fact about how this program was built, "" when unknown.
func setting(key string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// build is what `parley version` prints.
type build struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	System  string `json:"system"`
}

func (a *app) version(*cobra.Command, []string) error {
	b := build{Version: node.Version(), Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
	if a.json {
		return printJSON(a.out, b)
	}
	fmt.Fprintln(a.out, "parley", b.Version, b.Go, b.System)
	return nil
}
