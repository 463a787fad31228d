package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/simnet/github"
)

// AgentOptions is what the demo of agents is run with.
type AgentOptions struct {
	Program string // path of the parley program
	Hook    string // path of the parley-hook program
	Dir     string // where everything goes; "" is a new directory among the temporary ones
	Keep    bool   // leave everything running at the end until interrupted
	Out     io.Writer
}

// ErrNoHook says that the program that agents run at their hooks is missing.
var ErrNoHook = errors.New("parley-hook is not there")

// machine is one computer of the day.
type machine struct {
	name, owner string
	run         *process
}

// The three computers of the two developers.
const (
	kimDesktop = iota
	kimLaptop
	mayaStudio
)

// day is a running demo of agents.
type day struct {
	o        AgentOptions
	begun    time.Time
	github   *process
	addr     string
	machines []*machine
	agents   []*agent
	refused  map[string]int // edits that were refused, by agent
	seen     map[string]bool
}

const teamSlug = "kim/shop"

// RunAgents plays a day of six scripted agents on three computers of two developers. It returns nil only when every
// conflict of the day was found, told, and closed, and what is on disk is what the agents wrote.
func RunAgents(ctx context.Context, o AgentOptions) error {
	if _, err := os.Stat(o.Hook); err != nil {
		return api.WithHint(fmt.Errorf("%s: %w", o.Hook, ErrNoHook), "put parley-hook beside parley: go install ./cmd/parley ./cmd/parley-hook")
	}
	d := &day{o: o, begun: time.Now(), refused: map[string]int{}, seen: map[string]bool{}, machines: []*machine{
		{name: "desktop", owner: "kim"}, {name: "laptop", owner: "kim"}, {name: "studio", owner: "maya"},
	}}
	defer d.stop()
	ctx, cancel := context.WithTimeout(ctx, dayMax)
	defer cancel()
	if err := d.raise(ctx); err != nil {
		return err
	}
	if err := d.play(ctx); err != nil {
		return err
	}
	if err := d.check(ctx); err != nil {
		return err
	}
	if o.Keep {
		d.printf("Everything keeps running until you press Ctrl-C; parley --home %s watch shows it.", d.home(kimDesktop).Dir)
		<-ctx.Done()
	}
	return nil
}

// dayMax is how long a day may take before the demo says that something is wrong.
const dayMax = 20 * time.Minute

func (d *day) printf(format string, args ...any) { fmt.Fprintf(d.o.Out, format+"\n", args...) } //nolint:errcheck // a terminal

// line is one line of the timeline.
func (d *day) line(who, format string, args ...any) {
	d.printf("%6.1fs  %-20s %s", time.Since(d.begun).Seconds(), who, fmt.Sprintf(format, args...))
}

func (d *day) path(parts ...string) string {
	return filepath.Join(append([]string{d.o.Dir}, parts...)...)
}

func (d *day) home(i int) node.Home { return node.OpenHome(d.path(d.machines[i].name, "home")) }

func (d *day) checkout(i int) string { return d.path(d.machines[i].name, "checkout") }

func (d *day) client(i int, do func(*api.Client) error) error {
	c := api.NewClient(d.home(i).SocketPath())
	return errors.Join(do(c), c.Close())
}

// raise brings the stand-in, the repository, and the computers up, paired and sharing.
func (d *day) raise(ctx context.Context) (err error) {
	if d.o.Dir == "" {
		if d.o.Dir, err = os.MkdirTemp("", "parley-agents-"); err != nil {
			return err
		}
	}
	if d.o.Dir, err = filepath.Abs(d.o.Dir); err != nil {
		return err
	}
	if there, err := os.ReadDir(d.o.Dir); err == nil && len(there) > 0 {
		return api.WithHint(fmt.Errorf("%s: it is not empty", d.o.Dir), "name another --dir, or none")
	}
	if d.addr, err = freeAddress(); err != nil {
		return err
	}
	d.printf("parley demo agents: six scripted agents of four kinds, on three computers of two developers.")
	d.printf("Everything is real but GitHub, a stand-in on this machine, and the agents, which follow a script.")
	d.printf("Homes and working copies: %s\n", d.o.Dir)
	for _, step := range []func(context.Context) error{d.paintShop, d.startGitHub, d.cloneAll, d.setHomes, d.openAll, d.pairAll} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// paintShop makes the repository on the stand-in, which serves nobody yet.
func (d *day) paintShop(ctx context.Context) error {
	origin := d.path("origin")
	if err := os.MkdirAll(origin, 0o755); err != nil {
		return err
	}
	if _, err := git(ctx, origin, "init", "-q", "-b", "main"); err != nil {
		return err
	}
	if err := write(origin, shop); err != nil {
		return err
	}
	if err := commit(ctx, origin, "Sell tea"); err != nil {
		return err
	}
	server, err := github.New(d.path("github"))
	if err != nil {
		return err
	}
	kim, maya := server.AddUser("kim", tokenOf("kim")), server.AddUser("maya", tokenOf("maya"))
	repo, err := server.AddRepo(kim, "shop", gitDir(origin), "main")
	if err == nil {
		server.Invite(repo, maya, github.WriteAccess)
	}
	return err
}

func tokenOf(login string) string { return "demo-token-of-no-value-" + login }

func (d *day) startGitHub(ctx context.Context) error {
	d.github = &process{
		name: "github", log: d.path("github.log"), pid: d.path("github.pid"),
		argv: []string{d.o.Program, "demo-github", "--dir", d.o.Dir, "--addr", d.addr},
	}
	if err := startProcess(ctx, d.github); err != nil {
		return err
	}
	return until(ctx, time.Minute, func() bool { return answers(d.addr) },
		func() error { return fmt.Errorf("the stand-in does not answer: %s", d.github.tail()) })
}

// cloneAll makes each computer's checkout, which stays on the base branch, as an agent's own working copies do not.
func (d *day) cloneAll(ctx context.Context) error {
	for i, m := range d.machines {
		if err := os.MkdirAll(d.path(m.name), 0o700); err != nil {
			return err
		}
		url := "http://github.localhost/" + teamSlug + ".git"
		if _, err := git(ctx, d.o.Dir, "-c", "http.proxy=http://"+d.addr, "clone", "-q", url, d.checkout(i)); err != nil {
			return err
		}
		for _, kv := range [][2]string{{"user.name", m.owner}, {"user.email", m.owner + "@example.com"}, {"http.proxy", "http://" + d.addr}, {"core.autocrlf", "false"}} {
			if _, err := git(ctx, d.checkout(i), "config", kv[0], kv[1]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *day) setHomes(ctx context.Context) error {
	for i, m := range d.machines {
		token := d.path("token-" + m.owner)
		if err := os.WriteFile(token, []byte(tokenOf(m.owner)+"\n"), 0o600); err != nil {
			return err
		}
		address, err := freeAddress()
		if err != nil {
			return err
		}
		_, port, err := net.SplitHostPort(address)
		if err != nil {
			return err
		}
		c := node.Default()
		c.Name, c.Demo = m.name, true
		c.Listen = []string{"/ip4/127.0.0.1/udp/" + port + "/quic-v1", "/ip4/127.0.0.1/tcp/" + port}
		c.GitHub = node.GitHubConfig{Host: "github.localhost", Addr: d.addr, Proxy: "http://" + d.addr, TokenFile: token}
		c.Repositories = []node.RepositoryConfig{{Slug: teamSlug, Checkout: d.checkout(i)}}
		c.Timers = node.Timers{
			Look: node.Duration{Duration: 2 * time.Second}, Idle: node.Duration{Duration: 5 * time.Second},
			Master: node.Duration{Duration: 5 * time.Second}, SyncEvery: node.Duration{Duration: 3 * time.Second},
		}
		if err := d.home(i).Init(node.Setup{Config: c}); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (d *day) openAll(ctx context.Context) error {
	if err := d.open(ctx, kimDesktop); err != nil {
		return err
	}
	letIn := func() error {
		return d.client(kimDesktop, func(c *api.Client) error {
			return letIn(ctx, c, d.home(kimLaptop), d.machines[kimLaptop].name, d.printf)
		})
	}
	if err := insist(ctx, letIn); err != nil {
		return fmt.Errorf("pair kim's computers: %w", err)
	}
	return errors.Join(d.open(ctx, kimLaptop), d.open(ctx, mayaStudio))
}

// open starts one computer and waits until it answers.
func (d *day) open(ctx context.Context, i int) error {
	m := d.machines[i]
	m.run = &process{
		name: m.name, log: d.path(m.name, "node.log"), pid: d.path(m.name, "node.pid"),
		argv: []string{d.o.Program, "--home", d.home(i).Dir, "up", "--demo"},
	}
	if err := startProcess(ctx, m.run); err != nil {
		return err
	}
	return until(ctx, insistFor, func() bool {
		return d.client(i, func(c *api.Client) error { _, err := c.Status(); return err }) == nil
	}, func() error { return fmt.Errorf("%s does not answer: %s", m.name, m.run.tail()) })
}

// shut closes one computer, as a lid does.
func (d *day) shut(i int) {
	if m := d.machines[i]; m.run != nil {
		m.run.stop()
		m.run = nil
	}
}

func (d *day) stop() {
	for i := range d.machines {
		d.shut(i)
	}
	if d.github != nil {
		d.github.stop()
	}
}

// pairAll links the two developers, who both share their live work on the repository, and lets each say who they are.
func (d *day) pairAll(ctx context.Context) error {
	if err := insist(ctx, func() error { return d.pairLane(ctx) }); err != nil {
		return fmt.Errorf("pair the developers: %w", err)
	}
	person := api.DemoProver()
	for i, m := range d.machines {
		err := insist(ctx, func() error {
			return d.client(i, func(c *api.Client) error {
				if _, err := c.SetAgents(ctx, "", true, person); err != nil || i == kimLaptop {
					return err
				}
				_, err := c.SetEmail(ctx, "", m.owner+"@example.com", person)
				return err
			})
		})
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	for _, end := range []struct {
		at    int
		other string
	}{{kimDesktop, "maya"}, {mayaStudio, "kim"}} {
		if err := insist(ctx, func() error { return d.share(ctx, end.at, end.other) }); err != nil {
			return fmt.Errorf("%s shares live work: %w", d.machines[end.at].name, err)
		}
	}
	d.printf("kim and maya share their live work on %s, each by a switch of their own.\n", teamSlug)
	return nil
}

// share says who the other developer is, switches the lane on for the repository, and then its live work.
func (d *day) share(ctx context.Context, i int, other string) error {
	return d.client(i, func(c *api.Client) error {
		lanes, err := c.Lanes()
		if err != nil || len(lanes) != 1 {
			return errors.Join(err, fmt.Errorf("%d lanes", len(lanes)))
		}
		person := api.DemoProver()
		if _, err := c.SetEmail(ctx, lanes[0].ID, other+"@example.com", person); err != nil {
			return err
		}
		if _, err := c.SwitchLane(ctx, lanes[0], []string{teamSlug}, true, person); err != nil {
			return err
		}
		_, err = c.SwitchWork(ctx, api.WorkSwitch{Lane: lanes[0].ID, Repositories: []string{teamSlug}, On: true}, person)
		return err
	})
}

// pairLane pairs the developers by a code and words that both see.
func (d *day) pairLane(ctx context.Context) error {
	return d.client(kimDesktop, func(kim *api.Client) error {
		return d.client(mayaStudio, func(maya *api.Client) error { return pairDevelopers(ctx, kim, maya, "kim", "maya", d.printf) })
	})
}

// pairDevelopers pairs two running nodes, whose persons go by these names, unless they are paired.
func pairDevelopers(ctx context.Context, one, other *api.Client, name, otherName string, printf func(string, ...any)) error {
	if lanes, err := one.Lanes(); err == nil && len(lanes) == 1 {
		return nil // only the news of it was lost
	}
	person := api.DemoProver()
	given, err := one.InviteLane(ctx, name, person)
	if err != nil {
		return err
	}
	taken, err := other.AcceptLane(ctx, given.Code, otherName, person)
	if err != nil {
		return err
	}
	words, err := bothSay(ctx, []*api.Client{one, other}, []string{given.ID, taken.ID})
	if err == nil {
		printf("%s and %s are paired; both screens show: %s", name, otherName, strings.Join(words[:], " "))
	}
	return err
}

// bothSay compares the words on both screens, and says yes on both.
func bothSay(ctx context.Context, at []*api.Client, ids []string) (words [4]string, err error) {
	for i, c := range at {
		s, err := c.AwaitInvite(ctx, ids[i], api.InviteWaiting)
		if err != nil || s.State != api.InviteAsking {
			return words, errors.Join(err, fmt.Errorf("the pairing is %s: %s", s.State, s.Text))
		}
		if i > 0 && words != s.Words {
			return words, fmt.Errorf("the words differ: %v and %v", words, s.Words)
		}
		words = s.Words
		if _, err := c.ConfirmInvite(ctx, ids[i], s, api.DemoProver()); err != nil {
			return words, err
		}
	}
	for i, c := range at {
		if s, err := c.AwaitInvite(ctx, ids[i], api.InviteAsking); err != nil || s.State != api.InviteJoined {
			return words, errors.Join(err, fmt.Errorf("the pairing is %s: %s", s.State, s.Text))
		}
	}
	return words, nil
}
