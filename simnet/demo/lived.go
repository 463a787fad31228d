package demo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/simnet/github"
)

// Passphrase opens the approval keys of a demo whose page is shown. It guards nothing: every demo has the same.
const Passphrase = "two cups of tea, please"

// work is what a guess at it costs: next to nothing.
const work = 10

// studio is the computer of the other developer, with whom there is a lane.
const (
	studio = "studio"
	maya   = "maya"
	gift   = "gift-cards"
)

// What the second pull request and the base branch say about the same lines, and what two persons type into one function
// at the same time.
var (
	onGift    = []version{{path: "README.md", text: "# Shop\n\nA shop that sells tea, cups and gift cards.\n"}, {path: "src/billing/gift.ts", text: "export const gift = 'card'\n"}}
	onKettles = []version{{path: "README.md", text: "# Shop\n\nA shop that sells tea, cups and kettles.\n"}}
	discount  = []version{{path: "src/billing/order.ts", text: "export function total(order: Order, discount: number) {\n  return order.total - discount\n}\n"}}
	shipping  = []version{{path: "src/billing/order.ts", text: "export function total(order: Order) {\n  return order.total + order.shipping\n}\n"}}
)

// stay lets the computers of the story go on, with work in them for a person: another pull request that conflicts, two
// people who change one function, and a lane to another developer. It shows the page, and returns once ctx ends.
func (d *show) stay(ctx context.Context) error {
	d.printf("\nThe computers go on, with more to do:")
	steps := []func(context.Context) error{d.startGitHub, d.showPage}
	if d.o.Repo == "" {
		steps = []func(context.Context) error{d.another, d.startGitHub, d.linkMaya, d.workAtOnce, d.showPage}
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return nil
}

// another opens a second pull request, which no computer here has made: the main computer builds its final, so that
// both approvals are on its page. The stand-in does not run meanwhile. What an interrupted demo did of it stays.
func (d *show) another(ctx context.Context) error {
	server, repo, kim, err := d.s.openGitHub("")
	if err != nil {
		return err
	}
	server.Invite(repo, server.AddUser(maya, tokenOf(maya)), github.WriteAccess)
	if _, open := server.PullState(repo, d.s.Pull+1); open {
		return nil
	}
	if _, err := git(ctx, repo.Dir, "rev-parse", "-q", "--verify", "refs/heads/"+gift); err != nil {
		if err := d.s.pushGift(ctx, repo.Dir); err != nil {
			return err
		}
	}
	pull, err := server.OpenPull(kim, repo, d.s.Base, repo, gift, "Sell gift cards", false)
	if err != nil {
		return err
	}
	d.printf("Pull request %s#%d conflicts in README.md; in half a minute its approvals wait in the inbox of %s.", d.s.Slug, pull.Number, roles[desktop].name)
	return nil
}

// pushGift pushes the branch of the second pull request and what it conflicts with, both at once.
func (s *stage) pushGift(ctx context.Context, to string) error {
	dir := s.path("colleague")
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if _, err := git(ctx, s.Dir, "clone", "-q", to, dir); err != nil {
		return err
	}
	for _, b := range []struct {
		branch, message string
		files           []version
	}{{gift, "Sell gift cards", onGift}, {s.Base, "Sell kettles", onKettles}} {
		if _, err := git(ctx, dir, "checkout", "-q", "-B", b.branch, "origin/"+s.Base); err != nil {
			return err
		}
		if err := errors.Join(write(dir, b.files), commit(ctx, dir, b.message)); err != nil {
			return err
		}
	}
	_, err := git(ctx, dir, "push", "-q", "--atomic", to, gift, s.Base)
	return err
}

// linkMaya starts another developer's computer, and a lane that shares live work.
func (d *show) linkMaya(ctx context.Context) error {
	home := node.OpenHome(d.s.path(studio, "home"))
	if home.Check() != nil {
		if err := d.s.setStudio(ctx, home); err != nil {
			return err
		}
	}
	d.guest = &process{
		name: studio, log: d.s.path(studio, "node.log"), pid: d.s.path(studio, "node.pid"),
		argv: []string{d.o.Program, "--home", home.Dir, "up", "--demo"},
	}
	if err := startProcess(ctx, d.guest); err != nil {
		return err
	}
	there := api.NewClient(home.SocketPath())
	defer there.Close()
	err := insist(ctx, func() error {
		return d.client(desktop, func(here *api.Client) error { return pairDevelopers(ctx, here, there, "kim", maya, d.printf) })
	})
	if err != nil {
		return fmt.Errorf("pair with %s: %w", maya, err)
	}
	for _, end := range []*api.Client{nil, there} {
		share := func(c *api.Client) error { return shareWith(ctx, c, d.s.Slug) }
		err := insist(ctx, func() error {
			if end == nil {
				return d.client(desktop, share)
			}
			return share(end)
		})
		if err != nil {
			return fmt.Errorf("share live work: %w", err)
		}
	}
	d.printf("kim and maya share live work on %s by a lane that is on at both ends.", d.s.Slug)
	return nil
}

// setStudio makes the other developer's checkout and home.
func (s *stage) setStudio(ctx context.Context, home node.Home) error {
	checkout := s.path(studio, "checkout")
	if err := errors.Join(os.RemoveAll(checkout), os.MkdirAll(filepath.Dir(checkout), 0o700)); err != nil {
		return err
	}
	url := "http://github.localhost/" + s.Slug + ".git"
	if _, err := git(ctx, s.Dir, "-c", "http.proxy=http://"+s.GitHub, "clone", "-q", url, checkout); err != nil {
		return err
	}
	for _, kv := range [][2]string{{"user.name", maya}, {"user.email", maya + "@example.com"}, {"http.proxy", "http://" + s.GitHub}} {
		if _, err := git(ctx, checkout, "config", kv[0], kv[1]); err != nil {
			return err
		}
	}
	if err := os.WriteFile(s.path("token-"+maya), []byte(tokenOf(maya)+"\n"), 0o600); err != nil {
		return err
	}
	c, err := s.config(Options{}, desktop)
	if err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(mustAddress())
	if err != nil {
		return err
	}
	c.Name = studio
	c.Listen = []string{"/ip4/127.0.0.1/udp/" + port + "/quic-v1", "/ip4/127.0.0.1/tcp/" + port}
	c.GitHub.TokenFile, c.Desk = s.path("token-"+maya), node.DeskConfig{}
	c.Repositories = []node.RepositoryConfig{{Slug: s.Slug, Checkout: checkout}}
	return home.Init(node.Setup{Config: c})
}

// shareWith switches the one lane of a computer on for a repository, and shares live work in it.
func shareWith(ctx context.Context, c *api.Client, slug string) error {
	lanes, err := c.Lanes()
	if err != nil || len(lanes) != 1 {
		return errors.Join(err, fmt.Errorf("%d lanes", len(lanes)))
	}
	person := api.DemoProver()
	if _, err := c.SwitchLane(ctx, lanes[0], []string{slug}, true, person); err != nil {
		return err
	}
	_, err = c.SwitchWork(ctx, api.WorkSwitch{Lane: lanes[0].ID, Repositories: []string{slug}, On: true}, person)
	return err
}

// workAtOnce lets two of the computers know of each other's work, and their persons change the same function.
func (d *show) workAtOnce(ctx context.Context) error {
	for i := range roles {
		err := insist(ctx, func() error {
			return d.client(i, func(c *api.Client) error {
				_, err := c.SetAgents(ctx, "", true, api.DemoProver())
				return err
			})
		})
		if err != nil {
			return err
		}
	}
	if err := errors.Join(write(d.s.checkout(laptop), discount), write(d.s.checkout(tablet), shipping)); err != nil {
		return err
	}
	d.printf("At %s and %s somebody changes the same function, and has not committed it yet.", roles[laptop].name, roles[tablet].name)
	return nil
}

// showPage says where everything is to be seen and pressed.
func (d *show) showPage(ctx context.Context) error {
	home := d.s.home(desktop)
	if err := insist(ctx, func() error { return d.client(desktop, func(c *api.Client) error { _, err := c.Status(); return err }) }); err != nil {
		return err
	}
	d.printf("\nThe page of %s is open until you press Ctrl-C. The passphrase of this demo is: %s", roles[desktop].name, Passphrase)
	var others []string
	for i := range roles {
		if i != desktop {
			others = append(others, d.s.home(i).Dir)
		}
	}
	d.printf("Another link: parley --home %s open. The other computers' pages: %s.", home.Dir, strings.Join(others, ", "))
	return d.o.Show(ctx, home.Dir)
}
