package node

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/parley-mesh/parley/ledger/disk"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/internal/github"
	standin "github.com/parley-mesh/parley/simnet/github"
)

const hubToken = "token-of-no-value"

// hub is the stand-in for GitHub with one repository, and a clone of somebody who runs no parley.
type hub struct {
	tb      testing.TB
	server  *standin.Server
	repo    *standin.Repo
	kim     *standin.User
	proxy   string
	outside string
}

// newHub founds a fleet whose computers know the stand-in. policy, if not "", is on the default branch.
func newHub(tb testing.TB, count int, policy string) (h *hub, homes []Home, dirs []string) {
	tb.Helper()
	seed := seedRepository(tb)
	if policy != "" {
		write(tb, filepath.Join(seed, ".parley", "policy.yaml"), policy)
		git(tb, seed, "add", ".")
		git(tb, seed, "commit", "-q", "-m", "a policy")
	}
	h = &hub{tb: tb, outside: filepath.Join(tb.TempDir(), "outside")}
	var err error
	if h.server, err = standin.New(filepath.Join(tb.TempDir(), "github")); err != nil {
		tb.Fatal(err)
	}
	h.kim = h.server.AddUser("kim", hubToken)
	acme := h.server.AddOrg("acme")
	if h.repo, err = h.server.AddRepo(acme, "shop", filepath.Join(seed, ".git"), "main"); err != nil {
		tb.Fatal(err)
	}
	h.server.Invite(h.repo, h.kim, standin.WriteAccess)
	web := httptest.NewServer(h.server)
	tb.Cleanup(web.Close)
	addr := web.Listener.Addr().String()
	h.proxy = "http://" + addr
	token := filepath.Join(tb.TempDir(), "token")
	if err := os.WriteFile(token, []byte(hubToken+"\n"), 0o600); err != nil {
		tb.Fatal(err)
	}
	homes, dirs = crewOf(tb, count, seed, func(c *Config) {
		c.GitHub = GitHubConfig{Host: "github.localhost", Addr: addr, Proxy: h.proxy, TokenFile: token}
	})
	known, err := json.Marshal(github.Repository{ID: h.repo.ID, FullName: workSlug, DefaultBranch: "main"})
	if err != nil {
		tb.Fatal(err)
	}
	for i, home := range homes {
		git(tb, dirs[i], "remote", "set-url", "origin", h.url())
		store, err := disk.Open(disk.Options{Dir: home.LedgerDir()})
		if err != nil {
			tb.Fatal(err)
		}
		if _, err := store.Apply(disk.Batch{Put: []disk.Pair{{Key: []byte(repoPrefix + workSlug), Value: known}}}); err != nil {
			tb.Fatal(err)
		}
		if err := store.Close(); err != nil {
			tb.Fatal(err)
		}
	}
	git(tb, "/", "clone", "-q", seed, h.outside)
	git(tb, h.outside, "remote", "set-url", "origin", h.url())
	git(tb, h.outside, "config", "http.proxy", h.proxy)
	return h, homes, dirs
}

func (h *hub) url() string { return "http://github.localhost/" + workSlug + ".git" }

// push pushes from the clone outside.
func (h *hub) push(refspec ...string) {
	h.tb.Helper()
	git(h.tb, h.outside, append([]string{"-c", "http.http://github.localhost/.extraHeader=Authorization: Bearer " + hubToken, "push", "-q", "-f", "origin"}, refspec...)...)
}

// branch commits one file on a new branch from main and pushes it. author is an e-mail.
func (h *hub) branch(name, author, path, text string) {
	h.tb.Helper()
	git(h.tb, h.outside, "checkout", "-q", "-b", name, "main")
	write(h.tb, filepath.Join(h.outside, path), text)
	git(h.tb, h.outside, "add", ".")
	git(h.tb, h.outside, "commit", "-q", "--author", "somebody <"+author+">", "-m", "change "+path+", #17")
	h.push(name)
	git(h.tb, h.outside, "checkout", "-q", "main")
}

// takeMain switches the main computer's role on.
func (c *crewed) takeMain() {
	c.tb.Helper()
	client := api.NewClient(c.home.SocketPath())
	defer func() {
		if err := client.Close(); err != nil {
			c.tb.Error(err)
		}
	}()
	if _, err := client.SetMain(c.tb.Context(), true, api.DemoProver()); err != nil {
		c.tb.Fatal(err)
	}
}
