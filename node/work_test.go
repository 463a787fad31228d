package node

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/ledger/disk"
	"github.com/parley-mesh/parley/mesh"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/internal/github"
	"github.com/parley-mesh/parley/node/internal/hooks"
	"github.com/parley-mesh/parley/node/internal/worktree"
)

const (
	workHost = "127.0.0.1"
	workSlug = "acme/shop"
	workRepo = 7
	patience = 90 * time.Second
)

// crewed is one running computer of a test's fleet, with a clone of one repository.
type crewed struct {
	*Node
	tb  testing.TB
	dir string
	end func()
}

// git runs the real git in a directory, as a person.
func git(tb testing.TB, dir string, args ...string) string {
	tb.Helper()
	c := exec.Command("git", args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=kim", "GIT_AUTHOR_EMAIL=kim@acme.com", "GIT_COMMITTER_NAME=kim", "GIT_COMMITTER_EMAIL=kim@acme.com")
	out, err := c.CombinedOutput()
	if err != nil {
		tb.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func write(tb testing.TB, file, text string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		tb.Fatal(err)
	}
}

const refundGo = `package billing

// Refund pays an order back.
func Refund(order string, cents int) error {
	return nil
}

// Void ends an order.
func Void(order string) error {
	return nil
}
`

// seedRepository is a repository with something to edit.
func seedRepository(tb testing.TB) string {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), "seed")
	git(tb, "/", "init", "-q", "-b", "main", dir)
	write(tb, filepath.Join(dir, "billing", "refund.go"), refundGo)
	write(tb, filepath.Join(dir, "go.mod"), "module acme.test/shop\n")
	for i := range 20 {
		write(tb, filepath.Join(dir, "docs", fmt.Sprintf("page%02d.md", i)), "one\ntwo\nthree\n")
	}
	git(tb, dir, "add", ".")
	git(tb, dir, "commit", "-q", "-m", "begin")
	return dir
}

// newCrew founds a fleet of computers that know where the others listen, each with a clone; they do not run yet.
func newCrew(tb testing.TB, count int) (homes []Home, dirs []string) {
	tb.Helper()
	return crewOf(tb, count, seedRepository(tb), nil)
}

// crewOf is such a fleet whose clones are of a repository. change, if not nil, may change the settings.
func crewOf(tb testing.TB, count int, seed string, change func(*Config)) (homes []Home, dirs []string) {
	tb.Helper()
	var ids []mesh.Identity
	var ports []int
	for i := range count {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			tb.Fatal(err)
		}
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
		if err := l.Close(); err != nil {
			tb.Fatal(err)
		}
		dir := filepath.Join(tb.TempDir(), "shop")
		git(tb, "/", "clone", "-q", seed, dir)
		git(tb, dir, "remote", "set-url", "origin", "http://"+workHost+"/"+workSlug+".git")
		home := OpenHome(filepath.Join(tb.TempDir(), "home"))
		c := Default()
		c.Name, c.Demo, c.Network = fmt.Sprintf("computer-%d", i+1), true, NetworkConfig{}
		c.Listen = []string{fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", ports[i])}
		token := filepath.Join(tb.TempDir(), "token")
		write(tb, token, "none\n")
		c.GitHub = GitHubConfig{Host: workHost, Addr: "127.0.0.1:1", TokenFile: token} // nobody answers there
		c.Repositories = []RepositoryConfig{{Slug: workSlug, Checkout: dir}}
		if change != nil {
			change(&c)
		}
		if err := home.Init(Setup{Config: c}); err != nil {
			tb.Fatal(err)
		}
		id, err := mesh.LoadOrCreate(home.IdentityPath())
		if err != nil {
			tb.Fatal(err)
		}
		homes, dirs, ids = append(homes, home), append(dirs, dir), append(ids, id)
	}
	foundCrew(tb, homes, ids, ports)
	return homes, dirs
}

// foundCrew writes the roster of one fleet into every home.
func foundCrew(tb testing.TB, homes []Home, ids []mesh.Identity, ports []int) {
	tb.Helper()
	genesis := &ledger.Genesis{Nonce: [16]byte{9}}
	fleet := ledger.FleetID(ids[0].Device(), genesis.Nonce)
	head := ledger.Head{}
	var roster []*ledger.Record
	say := func(content ledger.Body) {
		h := ledger.Header{Ledger: fleet, Inc: ledger.Incarnation{1}, Seq: head.Next, Prev: head.ID, Lam: head.Lam + 1, At: 1764500000000}
		if len(roster) > 0 {
			h.Deps = []ledger.ID{roster[len(roster)-1].ID}
		}
		r, err := ledger.Seal(ids[0].Key(), h, content)
		if err != nil {
			tb.Fatal(err)
		}
		head, roster = head.After(r), append(roster, r)
	}
	say(genesis)
	for i, id := range ids {
		if i > 0 {
			add := &ledger.Add{Device: id.Device(), Invite: ledger.Invite{byte(i)}}
			copy(add.Accept[:], ed25519.Sign(id.Key(), ledger.JoinStatement(fleet, add.Invite, ids[0].Device())))
			say(add)
		}
		say(&ledger.Name{Device: id.Device(), Name: fmt.Sprintf("computer-%d", i+1)})
	}
	say(&ledger.Address{Fleet: fleet, Email: "kim@acme.com"})
	known, err := json.Marshal(github.Repository{ID: workRepo, FullName: workSlug, DefaultBranch: "main"})
	if err != nil {
		tb.Fatal(err)
	}
	for i, home := range homes {
		store, err := disk.Open(disk.Options{Dir: home.LedgerDir()})
		if err != nil {
			tb.Fatal(err)
		}
		batch := disk.Batch{Records: roster, Put: []disk.Pair{{Key: []byte(repoPrefix + workSlug), Value: known}, {Key: []byte(agentsKey), Value: []byte("on")}}}
		for j, id := range ids {
			addrs, err := json.Marshal([]string{fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", ports[j])})
			if err != nil {
				tb.Fatal(err)
			}
			if j != i {
				batch.Put = append(batch.Put, disk.Pair{Key: []byte(addressPrefix + id.Device().String()), Value: addrs})
			}
		}
		if _, err := store.Apply(batch); err != nil {
			tb.Fatal(err)
		}
		if err := store.Close(); err != nil {
			tb.Fatal(err)
		}
		if err := home.SetFleet(fleet); err != nil {
			tb.Fatal(err)
		}
	}
}

// run starts a computer until the test ends, or until end is called.
func runCrewed(tb testing.TB, home Home, dir string) *crewed {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	rc := RunConfig{Home: home, Demo: true}
	n, err := start(ctx, rc)
	if err != nil {
		cancel()
		tb.Fatal(err)
	}
	ended := make(chan error, 1)
	ready := make(chan struct{})
	rc.Ready = func() { close(ready) }
	go func() { ended <- n.serve(ctx, rc) }()
	<-ready
	c := &crewed{Node: n, tb: tb, dir: dir}
	done := false
	c.end = func() {
		if done {
			return
		}
		done = true
		cancel()
		if err := <-ended; err != nil {
			tb.Error(err)
		}
		if err := n.close(); err != nil {
			tb.Error(err)
		}
	}
	tb.Cleanup(c.end)
	return c
}

// eventually waits for something that happens by itself.
func eventually(tb testing.TB, what string, is func() bool) {
	tb.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-deadline.C:
			tb.Fatalf("it never came that %s", what)
		case <-tick.C:
		}
	}
}

// hook is one moment of an agent's session in the clone.
func (c *crewed) hook(kind hooks.Kind, session string, paths ...string) hooks.Decision {
	c.tb.Helper()
	e := hooks.Event{Agent: "claude", Kind: kind, Session: session, Cwd: c.dir}
	for _, p := range paths {
		e.Paths = append(e.Paths, filepath.Join(c.dir, p))
	}
	return c.live.Judge(context.Background(), e)
}

// looked waits until the clone was looked at.
func (c *crewed) looked() {
	c.tb.Helper()
	eventually(c.tb, "the checkout is looked at", func() bool {
		c.live.mu.Lock()
		defer c.live.mu.Unlock()
		for _, s := range c.live.spots {
			if s.looks > 0 {
				return true
			}
		}
		return false
	})
}

func (c *crewed) conflicts() []api.Conflict {
	c.tb.Helper()
	all, err := c.live.Conflicts(context.Background(), api.ConflictQuery{})
	if err != nil {
		c.tb.Fatal(err)
	}
	return all
}

func TestAnEditOnOneComputerIsAWarningOnAnother(t *testing.T) { // C1, C3, C9
	homes, dirs := newCrew(t, 2)
	a, b := runCrewed(t, homes[0], dirs[0]), runCrewed(t, homes[1], dirs[1])
	a.looked()
	b.looked()
	a.hook(hooks.Start, "one")
	b.hook(hooks.Start, "two")
	a.hook(hooks.BeforeEdit, "one", "billing/refund.go")
	write(t, filepath.Join(a.dir, "billing", "refund.go"), strings.Replace(refundGo, "cents int)", "cents int, reason string)", 1))
	a.hook(hooks.AfterEdit, "one", "billing/refund.go")
	eventually(t, "the edit is known on the other computer", func() bool {
		edits := 0
		b.live.mu.Lock()
		defer b.live.mu.Unlock()
		b.live.fold.Settle()
		for _, s := range b.live.fold.Sides() {
			if d := b.live.fold.Digest(s.ID); s.Device != b.id.Device() && d != nil {
				edits += len(d.Files)
			}
		}
		return edits == 1
	})

	write(t, filepath.Join(b.dir, "billing", "refund.go"), strings.Replace(refundGo, "\treturn nil\n}\n\n// Void", "\treturn errNone\n}\n\n// Void", 1))
	b.hook(hooks.AfterEdit, "two", "billing/refund.go")
	var told hooks.Decision
	eventually(t, "the second agent is warned", func() bool {
		if d := b.hook(hooks.BeforeEdit, "two", "billing/refund.go"); d.Verdict != hooks.VerdictAllow {
			told = d
		}
		return told.Verdict == hooks.VerdictWarn
	})
	if !strings.Contains(told.Text, "symbol_overlap") || !strings.Contains(told.Text, "refund.go#Refund") {
		t.Errorf("it is told %q", told.Text)
	}
	if d := b.hook(hooks.BeforeEdit, "two", "billing/refund.go"); d.Verdict != hooks.VerdictAllow {
		t.Errorf("it is told once more: %q", d.Text)
	}
	eventually(t, "both computers list the same conflict", func() bool {
		x, y := a.conflicts(), b.conflicts()
		return len(x) > 0 && len(y) == len(x) && x[0].ID == y[0].ID && x[0].Sentence == y[0].Sentence
	})

	git(t, a.dir, "checkout", "-q", "--", "billing/refund.go")
	eventually(t, "it is over once the edit was taken back", func() bool { return len(b.conflicts()) == 0 && len(a.conflicts()) == 0 })
}

func TestWhatAMasterSyncBringsIsNobodysEdit(t *testing.T) { // P0, C9
	seed := seedRepository(t)
	homes, dirs := crewOf(t, 1, seed, nil)
	a := runCrewed(t, homes[0], dirs[0])
	a.looked()
	write(t, filepath.Join(seed, "billing", "refund.go"), strings.Replace(refundGo, "cents int)", "cents int, reason string)", 1))
	git(t, seed, "commit", "-q", "-a", "-m", "GitHub goes on")
	w := a.repos[0]
	git(t, w.mirror.Dir(), "fetch", "-q", seed, "refs/heads/main:refs/parley/base/main")
	tip := worktree.OID(strings.TrimSpace(git(t, seed, "rev-parse", "HEAD")))
	if res, err := w.checkout.SyncMaster(t.Context(), w.mirror, worktree.SyncRequest{Base: "main", Tip: tip}); err != nil || !res.Moved {
		t.Fatalf("%+v %v", res, err)
	}
	write(t, filepath.Join(a.dir, "docs", "page01.md"), "mine\ntwo\nthree\n")
	var seen []string
	defer func() { t.Log("seen last:", seen) }()
	eventually(t, "the own edit, and it alone, is seen", func() bool {
		a.live.mu.Lock()
		defer a.live.mu.Unlock()
		seen = nil
		for _, s := range a.live.spots {
			if s.digest != nil {
				for _, f := range s.digest.Files {
					seen = append(seen, f.Path)
				}
			}
		}
		return slices.Equal(seen, []string{"docs/page01.md"})
	})
}
