package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/parley-mesh/parley/node"
)

// Options is what a demo is run with.
type Options struct {
	Program string // path of the parley program
	Dir     string // where everything goes; "" is a new directory among the temporary ones
	Yes     bool   // answer the two approvals without asking
	Keep    bool   // leave everything running at the end until interrupted
	// CloseLaptop shuts the third computer in the middle and opens it again at the end.
	CloseLaptop bool
	Repo        string // a repository of the user's; "" is the demo's own
	Head, Base  string // branches of Repo
	In          io.Reader
	Out         io.Writer
	Terminal    bool // In is a terminal
	// Page lets the computers go on after the story, with more to do, until interrupted; Show leads a person to the page
	// of the computer whose home this is.
	Page bool
	Show func(ctx context.Context, home string) error
}

// Errors that end a demo before its story begins.
var (
	ErrNoTerminal = errors.New("the demo asks for two approvals, and there is no terminal to ask on")
	ErrClean      = errors.New("the branches merge cleanly: there is nothing to settle")
	ErrPerson     = errors.New("only a person can settle this conflict")
	ErrBroken     = errors.New("the demo did not keep a promise")
)

// role is what a computer is in the story.
type role struct {
	name  string
	title string
}

// The three computers.
var roles = []role{
	{"desktop", "the main computer; its checkout stands on the base branch"},
	{"laptop", "the author's; its checkout stands on the pull request's branch"},
	{"tablet", "stands on the base branch with unpublished work in one conflicted file"},
}

const (
	desktop = 0
	laptop  = 1
	tablet  = 2
)

// stage is the setting of one demo. It is kept in stage.json, so that a demo can go on after it was killed.
type stage struct {
	Dir      string
	GitHub   string // address of the stand-in
	Slug     string
	Base     string
	Head     string
	Pull     int
	Baseline int    // writes on GitHub that were made to set the scene
	Objected string // path of the file with unpublished work
	Before   before // what must not have changed at the end
	Verified bool   // the story was played to its end, and held; what people do with the computers since is theirs
}

// before is what is compared at the end.
type before struct {
	Objected []byte            // content of the objected file
	Author   map[string]string // every file of the author's checkout: mode and content hash
	Branch   string            // what the author's HEAD says
}

func (s *stage) path(parts ...string) string {
	return filepath.Join(append([]string{s.Dir}, parts...)...)
}

func (s *stage) home(i int) node.Home { return node.OpenHome(s.path(roles[i].name, "home")) }

func (s *stage) checkout(i int) string { return s.path(roles[i].name, "checkout") }

func (s *stage) bare() string { return s.path("github", "repositories") }

func (s *stage) file() string { return s.path("stage.json") }

func (s *stage) save() error {
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	tmp := s.file() + ".tmp"
	if err := os.WriteFile(tmp, b, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, s.file())
}

// loadStage reads the setting of a demo that was begun before; nil when there is none.
func loadStage(dir string) (*stage, error) {
	b, err := os.ReadFile(filepath.Join(dir, "stage.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var s stage
	if err := json.Unmarshal(b, &s); err != nil {
		return nil, fmt.Errorf("read %s: %w", filepath.Join(dir, "stage.json"), err)
	}
	return &s, nil
}

// freeAddress is a loopback address that nobody listens on now.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// token is the credential of the stand-in's one user. It opens nothing else.
const token = "demo-token-of-no-value"

// config is the settings of one computer.
func (s *stage) config(o Options, i int) (node.Config, error) {
	_, port, err := net.SplitHostPort(mustAddress())
	if err != nil {
		return node.Config{}, err
	}
	c := node.Default()
	c.Name = roles[i].name
	c.Demo = true
	c.Listen = []string{"/ip4/127.0.0.1/udp/" + port + "/quic-v1", "/ip4/127.0.0.1/tcp/" + port}
	c.GitHub = node.GitHubConfig{Host: "github.localhost", Addr: s.GitHub, Proxy: "http://" + s.GitHub, TokenFile: s.path("token")}
	c.Desk = node.DeskConfig{Argv: []string{o.Program, "demo-desk", "{task}"}, Timeout: node.Duration{Duration: time.Minute}}
	c.Repositories = []node.RepositoryConfig{{Slug: s.Slug, Checkout: s.checkout(i)}}
	d := func(d time.Duration) node.Duration { return node.Duration{Duration: d} }
	c.Timers = node.Timers{
		Interim: d(20 * time.Second), Restate: d(time.Second), Scan: d(10 * time.Second), Look: d(2 * time.Second),
		Idle: d(5 * time.Second), Master: d(5 * time.Second), Retry: d(500 * time.Millisecond), Grace: d(2 * time.Second), SyncEvery: d(3 * time.Second),
	}
	return c, nil
}

// shortened is what the program says about its timers (D-32).
const shortened = "Timers are shortened for the demo: the interim settles within 20 seconds instead of 30 minutes, and GitHub is looked at every few seconds."

func mustAddress() string {
	a, err := freeAddress()
	if err != nil {
		return ""
	}
	return a
}

// setHomes makes the three homes that are not there yet.
func (s *stage) setHomes(ctx context.Context, o Options) error {
	if err := os.WriteFile(s.path("token"), []byte(token+"\n"), 0o600); err != nil {
		return err
	}
	for i := range roles {
		if s.home(i).Check() == nil {
			continue
		}
		c, err := s.config(o, i)
		if err != nil {
			return err
		}
		setup := node.Setup{Config: c}
		if o.Page {
			setup.Passphrase, setup.Work = Passphrase, work
		}
		if err := s.home(i).Init(setup); err != nil {
			return err
		}
	}
	return ctx.Err()
}
