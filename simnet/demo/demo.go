package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
)

// storyMax is how long a story may take before the demo says that something is wrong.
const storyMax = 10 * time.Minute

// show is one running demo.
type show struct {
	o         Options
	s         *stage
	github    *process
	computers []*process
	guest     *process // the other developer's computer
	asker     *asker
	lines     *timeline
}

// Run plays the demo. It returns nil only when every promise was kept: checked with git, not by asking the
// nodes.
func Run(ctx context.Context, o Options) error {
	if !o.Yes && !o.Terminal {
		return api.WithHint(ErrNoTerminal, "run parley demo --yes, or run it in a terminal")
	}
	d, err := begin(ctx, o)
	if err != nil {
		return err
	}
	defer d.stop()
	if err := d.raise(ctx); err != nil {
		return err
	}
	return d.play(ctx)
}

// begin sets the scene, or finds the one that an earlier run set.
func begin(ctx context.Context, o Options) (*show, error) {
	var err error
	if o.Dir == "" {
		if o.Dir, err = os.MkdirTemp("", "parley-demo-"); err != nil {
			return nil, err
		}
	}
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, err
	}
	s, err := loadStage(o.Dir)
	if err != nil {
		return nil, err
	}
	if s == nil {
		s = &stage{Dir: o.Dir, Slug: "kim/shop", Base: "master", Head: "refunds"}
		if o.Repo != "" {
			s.Slug, s.Base, s.Head = "kim/"+repoName(o.Repo), o.Base, o.Head
		}
		if s.GitHub, err = freeAddress(); err != nil {
			return nil, err
		}
	}
	return &show{o: o, s: s, asker: newAsker(o), lines: newTimeline(o.Out)}, nil
}

func repoName(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), ".git")
	if name == "" || name == "." || name == "/" {
		return "repository"
	}
	return name
}

func (d *show) printf(format string, args ...any) { fmt.Fprintf(d.o.Out, format+"\n", args...) } //nolint:errcheck // a terminal

// raise brings everything up: the stand-in, the scene on it, and the three computers, paired.
func (d *show) raise(ctx context.Context) error {
	d.printf("parley demo: three computers of one developer settle a conflicting pull request.")
	d.printf("Everything is real but GitHub, which is a stand-in on this machine. %s", shortened)
	d.printf("Homes and checkouts: %s\n", d.s.Dir)
	if d.s.Pull == 0 {
		if err := d.setScene(ctx); err != nil {
			return err
		}
	} else if err := d.startGitHub(ctx); err != nil {
		return err
	}
	if err := d.s.setHomes(ctx, d.o); err != nil {
		return err
	}
	d.computers = make([]*process, len(roles))
	if err := d.pair(ctx); err != nil {
		return err
	}
	for i := range roles {
		if err := d.open(ctx, i); err != nil {
			return err
		}
	}
	return d.makeMain(ctx)
}

// setScene makes the repository, the checkouts and the pull request. What is pushed here is no write of the
// story; the count begins afterwards.
func (d *show) setScene(ctx context.Context) error {
	s := d.s
	origin, err := s.paint(ctx, d.o)
	if err != nil {
		return err
	}
	if d.o.Repo != "" {
		if _, err := s.conflicted(ctx, origin); err != nil {
			return err
		}
	}
	if _, _, _, err := s.openGitHub(origin); err != nil {
		return err
	}
	if err := d.startGitHub(ctx); err != nil {
		return err
	}
	if err := s.act(ctx, d.o); err != nil {
		return err
	}
	d.github.stop()
	server, repo, kim, err := s.openGitHub(origin)
	if err != nil {
		return err
	}
	conflicted, err := s.conflicted(ctx, repo.Dir)
	if err != nil {
		return err
	}
	if err := s.scribble(conflicted); err != nil {
		return err
	}
	pull, err := server.OpenPull(kim, repo, s.Base, repo, s.Head, "Refund a part of an order", false)
	if err != nil {
		return err
	}
	s.Pull, s.Baseline = pull.Number, len(server.Writes())
	if s.Before, err = s.remember(ctx); err != nil {
		return err
	}
	files := "files"
	if len(conflicted) == 1 {
		files = "file"
	}
	d.printf("Pull request %s#%d conflicts in %d %s: %s", s.Slug, s.Pull, len(conflicted), files, strings.Join(conflicted, ", "))
	if s.Objected != "" {
		d.printf("%s has unpublished work in %s.", roles[tablet].name, s.Objected)
	}
	if err := s.save(); err != nil {
		return err
	}
	return d.startGitHub(ctx)
}

func (d *show) startGitHub(ctx context.Context) error {
	d.github = &process{
		name: "github", log: d.s.path("github.log"), pid: d.s.path("github.pid"),
		argv: []string{d.o.Program, "demo-github", "--dir", d.s.Dir, "--addr", d.s.GitHub},
	}
	if err := startProcess(ctx, d.github); err != nil {
		return err
	}
	return until(ctx, 20*time.Second, func() bool { return answers(d.s.GitHub) },
		func() error { return fmt.Errorf("the stand-in does not answer: %s", d.github.tail()) })
}

// open starts one computer and waits until it answers.
func (d *show) open(ctx context.Context, i int) error {
	if d.computers[i] != nil {
		return nil
	}
	home := d.s.home(i)
	p := &process{
		name: roles[i].name, log: d.s.path(roles[i].name, "node.log"), pid: d.s.path(roles[i].name, "node.pid"),
		argv: []string{d.o.Program, "--home", home.Dir, "up", "--demo"},
	}
	if err := startProcess(ctx, p); err != nil {
		return err
	}
	d.computers[i] = p
	err := until(ctx, 30*time.Second, func() bool { return d.client(i, func(c *api.Client) error { _, err := c.Status(); return err }) == nil },
		func() error { return fmt.Errorf("%s does not answer: %s", roles[i].name, p.tail()) })
	if err == nil {
		d.lines.follow(ctx, roles[i].name, home)
	}
	return err
}

// close shuts one computer.
func (d *show) close(i int) {
	if d.computers[i] == nil {
		return
	}
	d.lines.leave(roles[i].name)
	d.computers[i].stop()
	d.computers[i] = nil
}

func (d *show) client(i int, do func(*api.Client) error) error {
	c := api.NewClient(d.s.home(i).SocketPath())
	return errors.Join(do(c), c.Close())
}

// pair lets the two other computers join the main computer's fleet, by invitations with words.
func (d *show) pair(ctx context.Context) error {
	want, err := d.s.home(desktop).Fleet()
	for i := laptop; i < len(roles); i++ {
		have, e := d.s.home(i).Fleet()
		if err == nil && e == nil && have == want {
			continue
		}
		if err := d.open(ctx, desktop); err != nil {
			return err
		}
		if err := insist(ctx, func() error { return d.invite(ctx, i) }); err != nil {
			return fmt.Errorf("pair %s: %w", roles[i].name, err)
		}
	}
	return nil
}

// insistFor is how long a step of the demo is tried again while a program that was killed starts again.
const insistFor = 2 * time.Minute

// insist repeats a step until it works.
func insist(ctx context.Context, step func() error) error {
	ctx, cancel := context.WithTimeout(ctx, insistFor)
	defer cancel()
	for {
		err := step()
		if err == nil || pause(ctx, 300*time.Millisecond) != nil {
			return err
		}
	}
}

func (d *show) invite(ctx context.Context, i int) error {
	if want, err := d.s.home(desktop).Fleet(); err == nil {
		if have, err := d.s.home(i).Fleet(); err == nil && have == want {
			return nil // it joined, and only the news of it was lost
		}
	}
	return d.client(desktop, func(c *api.Client) error { return letIn(ctx, c, d.s.home(i), roles[i].name, d.printf) })
}

// letIn lets a home whose node does not run join the fleet of a running one, by an invitation with words.
func letIn(ctx context.Context, c *api.Client, home node.Home, name string, printf func(string, ...any)) error {
	person := api.DemoProver()
	given, err := c.Invite(ctx, person)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	joined := make(chan error, 1)
	words := make(chan [4]string, 1)
	go func() {
		joined <- node.Join(ctx, home, given.Code, name, func(w [4]string, _ string) { words <- w })
	}()
	defer func() {
		cancel()
		joined <- <-joined // Join has ended
	}()
	s, err := c.AwaitInvite(ctx, given.ID, api.InviteWaiting)
	for err == nil && s.State == api.InviteWaiting {
		s, err = c.AwaitInvite(ctx, given.ID, api.InviteWaiting)
	}
	if err != nil {
		return err
	}
	if s.State == api.InviteAsking {
		if there := <-words; there != s.Words {
			return fmt.Errorf("the words differ: %v and %v", s.Words, there)
		}
		if _, err := c.ConfirmInvite(ctx, given.ID, s, person); err != nil {
			return err
		}
	}
	err = <-joined
	joined <- err
	if err != nil {
		return err
	}
	printf("%s joins; both screens show: %s", name, strings.Join(s.Words[:], " "))
	return nil
}

func (d *show) makeMain(ctx context.Context) error {
	return insist(ctx, func() error {
		return d.client(desktop, func(c *api.Client) error {
			st, err := c.Status()
			if err != nil || st.Main.Me {
				return err
			}
			_, err = c.SetMain(ctx, true, api.DemoProver())
			return err
		})
	})
}

// stop ends every program that the demo started.
func (d *show) stop() {
	for i := range d.computers {
		d.close(i)
	}
	for _, p := range []*process{d.guest, d.github} {
		if p != nil {
			p.stop()
		}
	}
	d.lines.wait()
}
