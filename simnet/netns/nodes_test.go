//go:build cgo

package netns_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/mesh"
	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/simnet/github"
	"github.com/parley-mesh/parley/simnet/netns"
)

// house is a whole node in a home behind a router.
type house struct {
	t       *testing.T
	space   *netns.Space
	program string
	home    node.Home
}

const (
	houseGitHub = "127.0.0.1:8123"
	houseToken  = "token-of-no-value"
	houseSlug   = "kim/shop"
)

// settle waits long enough for a busy machine.
func settle(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	end := time.After(3 * time.Minute)
	for !holds() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("it does not come to hold: %s", what)
		}
	}
}

// launch starts a program in a namespace, and shows what it said if the test fails.
func launch(t *testing.T, s *netns.Space, args ...string) {
	t.Helper()
	c := s.Command(args...)
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM) // it may have ended
		kill := time.AfterFunc(time.Minute, func() { _ = c.Process.Kill() })
		<-ended
		kill.Stop()
		if t.Failed() {
			t.Logf("%v said: %s", args[1:], said.String())
		}
	})
}

// ask does something with the node.
func (h *house) ask(do func(*api.Client) error) error {
	c := api.NewClient(h.home.SocketPath())
	defer c.Close()
	return do(c)
}

// up starts the node and waits until it answers.
func (h *house) up() {
	h.t.Helper()
	launch(h.t, h.space, h.program, "--home", h.home.Dir, "up", "--demo")
	settle(h.t, "the node answers", func() bool {
		return h.ask(func(c *api.Client) error { _, err := c.Status(); return err }) == nil
	})
}

// newHouse makes a node's home; what it is told about GitHub holds in its own namespace.
func newHouse(t *testing.T, s *netns.Space, program, name string, change func(*node.Config)) *house {
	t.Helper()
	dir := t.TempDir()
	token := filepath.Join(dir, "token")
	if err := os.WriteFile(token, []byte(houseToken+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := node.Default()
	c.Name, c.Demo, c.Listen = name, true, []string{"/ip4/0.0.0.0/udp/4001/quic-v1"}
	c.GitHub = node.GitHubConfig{Host: "github.localhost", Addr: houseGitHub, Proxy: "http://" + houseGitHub, TokenFile: token}
	c.Desk = node.DeskConfig{Argv: []string{program, "demo-desk", "{task}"}, Timeout: node.Duration{Duration: time.Minute}}
	second := node.Duration{Duration: time.Second}
	c.Timers = node.Timers{Scan: second, Look: second, Restate: second}
	change(&c)
	h := &house{t: t, space: s, program: program, home: node.OpenHome(filepath.Join(dir, "home"))}
	if err := h.home.Init(node.Setup{Config: c}); err != nil {
		t.Fatal(err)
	}
	return h
}

// git runs git, away from whatever the person who runs the tests has set.
func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "git", args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=Kim", "GIT_AUTHOR_EMAIL=kim@example.com", "GIT_COMMITTER_NAME=Kim", "GIT_COMMITTER_EMAIL=kim@example.com")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
}

// conflict makes a repository with a pull request that conflicts, on a stand-in for GitHub, and a checkout of it.
func conflict(t *testing.T) (dir, checkout string) {
	t.Helper()
	dir = t.TempDir()
	origin := filepath.Join(dir, "origin")
	commit := func(text string) {
		if err := os.WriteFile(filepath.Join(origin, "refund.ts"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		git(t, origin, "add", "-A")
		git(t, origin, "commit", "-qm", text)
	}
	git(t, dir, "init", "-q", "-b", "main", origin)
	commit("return pay(order.total)\n")
	git(t, origin, "checkout", "-qb", "refunds")
	commit("return pay(amount)\n")
	git(t, origin, "checkout", "-q", "main")
	commit("return pay(order.total - fee)\n")
	server, err := github.New(filepath.Join(dir, "github"))
	if err != nil {
		t.Fatal(err)
	}
	kim := server.AddUser("kim", houseToken)
	repo, err := server.AddRepo(kim, "shop", filepath.Join(origin, ".git"), "main")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := server.OpenPull(kim, repo, "main", repo, "refunds", "Refund a part", false); err != nil {
		t.Fatal(err)
	}
	checkout = filepath.Join(dir, "checkout")
	git(t, dir, "clone", "-q", repo.Dir, checkout)
	git(t, checkout, "remote", "set-url", "origin", "http://github.localhost/"+houseSlug+".git")
	git(t, checkout, "config", "http.proxy", "http://"+houseGitHub)
	return dir, checkout
}

// invites opens an invitation whose code leads over the relay, as soon as there is a place at it.
func (h *house) invites() (given api.Invitation) {
	h.t.Helper()
	settle(h.t, "a code leads over the relay", func() bool {
		err := h.ask(func(c *api.Client) (err error) {
			given, err = c.Invite(h.t.Context(), api.DemoProver())
			return err
		})
		if err != nil {
			h.t.Fatal(err)
		}
		code, err := ledger.ParseInviteCode(given.Code)
		if err != nil {
			h.t.Fatal(err)
		}
		for _, a := range code.Addrs {
			if len(a) > 40 { // with a relay's name in it
				return true
			}
		}
		return false
	})
	return given
}

// admits says yes to who asks to join.
func (h *house) admits(given api.Invitation) error {
	return h.ask(func(c *api.Client) error {
		s, err := c.AwaitInvite(h.t.Context(), given.ID, api.InviteWaiting)
		for err == nil && s.State == api.InviteWaiting {
			s, err = c.AwaitInvite(h.t.Context(), given.ID, api.InviteWaiting)
		}
		if err != nil {
			return err
		}
		_, err = c.ConfirmInvite(h.t.Context(), given.ID, s, api.DemoProver())
		return err
	})
}

func TestTwoHomesThatShareARelayPairAndShareAConversation(t *testing.T) { // P3, P24
	if testing.Short() {
		t.Skip("it runs whole nodes")
	}
	t.Parallel()
	w := netns.New(t)
	program := filepath.Join(t.TempDir(), "parley")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "github.com/parley-mesh/parley/cmd/parley").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	_, a := w.Home("home-a", "11.22.0.1/24", 1, netns.Symmetric, "studio")
	_, b := w.Home("home-b", "11.22.0.2/24", 2, netns.Symmetric, "laptop")
	key := filepath.Join(t.TempDir(), "relay")
	id, err := mesh.LoadOrCreate(key)
	if err != nil {
		t.Fatal(err)
	}
	dir, checkout := conflict(t)
	studio := newHouse(t, a[0], program, "studio", func(c *node.Config) {
		c.Repositories = []node.RepositoryConfig{{Slug: houseSlug, Checkout: checkout}}
		c.Network.Relays = []string{"/ip4/11.22.0.9/udp/4001/quic-v1/p2p/" + mesh.PeerName(id.Device())}
	})
	laptop := newHouse(t, b[0], program, "laptop", func(*node.Config) {})
	own, err := mesh.LoadOrCreate(studio.home.IdentityPath())
	if err != nil {
		t.Fatal(err)
	}
	launch(t, w.Public("relay", "11.22.0.9/24"), program, "relay", "--for", own.Device().String(), "--key", key, "--web", "0")
	launch(t, a[0], program, "demo-github", "--dir", dir, "--addr", houseGitHub)
	studio.up()

	given := studio.invites()
	began := time.Now()
	yes := make(chan error, 1)
	go func() { yes <- studio.admits(given) }()
	if out, err := laptop.space.Command(program, "--home", laptop.home.Dir, "join", given.Code).CombinedOutput(); err != nil {
		t.Fatalf("join: %v: %s", err, out)
	}
	if err := <-yes; err != nil {
		t.Fatal(err)
	}
	t.Logf("paired after %.1f s", time.Since(began).Seconds())
	began = time.Now()
	laptop.up()
	if err := studio.ask(func(c *api.Client) error { _, err := c.SetMain(t.Context(), true, api.DemoProver()); return err }); err != nil {
		t.Fatal(err)
	}

	var have int
	settle(t, "the conversation is on the other computer", func() bool {
		return laptop.ask(func(c *api.Client) error {
			th, err := c.Thread(houseSlug + "#1")
			have = len(th.Records)
			return err
		}) == nil && have > 0
	})
	t.Logf("%d records of the conversation after %.1f s", have, time.Since(began).Seconds())
}
