//go:build linux || darwin

package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/service"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden holds text against a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test ./cmd/parley -run %s -update writes it):\n%s", file, t.Name(), got)
	}
}

// clinic is a computer on which all is well.
type clinic struct {
	t      *testing.T
	a      app
	home   node.Home
	config node.Config
	bin    string // the whole search path
	shop   string
}

func healthy(t *testing.T) *clinic {
	t.Helper()
	dir := t.TempDir()
	c := &clinic{t: t, home: node.OpenHome(filepath.Join(dir, "h")), bin: filepath.Join(dir, "bin"), shop: filepath.Join(dir, "shop")}
	c.a.home = c.home.Dir
	c.write("bin/desk", "#!/bin/sh\n")
	c.write("bin/gh", "#!/bin/sh\nif test \"$2\" = token; then echo gho_x; else echo \"  - Token scopes: 'repo', 'workflow'\"; fi\n")
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(git, filepath.Join(c.bin, "git")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", c.bin)
	t.Setenv("HOME", filepath.Join(dir, "ada"))
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	c.git("init", "-q", c.shop)
	c.git("-C", c.shop, "remote", "add", "origin", "https://github.com/acme/shop")
	c.config = node.Default()
	c.config.Name, c.config.Listen = "studio", []string{"/ip4/127.0.0.1/tcp/0"}
	c.config.Desk.Argv = []string{"desk"}
	c.config.Repositories = []node.RepositoryConfig{{Slug: "acme/shop", Checkout: c.shop}}
	if err := c.home.Init(node.Setup{Config: c.config, Passphrase: "correct horse battery", Work: toyWork}); err != nil {
		t.Fatal(err)
	}
	return c
}

// write makes a file beside the home.
func (c *clinic) write(name, content string) string {
	c.t.Helper()
	file := filepath.Join(filepath.Dir(c.home.Dir), filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(content), 0o700)); err != nil {
		c.t.Fatal(err)
	}
	return file
}

func (c *clinic) git(args ...string) {
	c.t.Helper()
	if out, err := exec.CommandContext(c.t.Context(), "git", args...).CombinedOutput(); err != nil {
		c.t.Fatalf("git: %v\n%s", err, out)
	}
}

// set writes the settings anew after a change.
func (c *clinic) set(change func(*node.Config)) {
	c.t.Helper()
	change(&c.config)
	if err := c.config.Write(c.home.ConfigPath()); err != nil {
		c.t.Fatal(err)
	}
}

func (c *clinic) do(errs ...error) {
	c.t.Helper()
	if err := errors.Join(errs...); err != nil {
		c.t.Fatal(err)
	}
}

func (c *clinic) examine() []check { return c.a.examine(c.t.Context()) }

// sicken makes each fault of the table, as it comes about.
var sicken = map[string]func(c *clinic) []check{
	"git-missing": func(c *clinic) []check { c.t.Setenv("PATH", c.t.TempDir()); return c.examine() },
	"git-old": func(c *clinic) []check {
		c.t.Setenv("PATH", filepath.Dir(c.write("old/git", "#!/bin/sh\necho git version 2.37.7\n")))
		return c.examine()
	},
	"home-missing":  func(c *clinic) []check { c.do(os.RemoveAll(c.home.Dir)); return c.examine() },
	"home-open":     func(c *clinic) []check { c.do(os.Chmod(c.home.Dir, 0o755)); return c.examine() },
	"config":        func(c *clinic) []check { c.write("h/config.toml", "colour = 1\n"); return c.examine() },
	"fleet-spoiled": func(c *clinic) []check { c.write("h/fleet", "what\n"); return c.examine() },
	"home-unwritable": func(c *clinic) []check {
		return []check{examineHome(node.Home{Dir: filepath.Join(c.home.Dir, "config.toml")})}
	},
	"gh-missing": func(c *clinic) []check { c.do(os.Remove(filepath.Join(c.bin, "gh"))); return c.examine() },
	"gh-sign-in": func(c *clinic) []check { c.write("bin/gh", "#!/bin/sh\nexit 1\n"); return c.examine() },
	"gh-scopes": func(c *clinic) []check {
		c.write("bin/gh", "#!/bin/sh\necho '  ✓ Token scopes: gist, read:org' >&2\n")
		return c.examine()
	},
	"gh-token-file": func(c *clinic) []check {
		c.set(func(s *node.Config) { s.GitHub.TokenFile = filepath.Join(c.home.Dir, "none") })
		return c.examine()
	},
	"github-away": func(c *clinic) []check {
		c.write("bin/gh", "#!/bin/sh\ntest $2 = token || { echo 'X github.com: api call failed: dial tcp' >&2; exit 1; }\n")
		return c.examine()
	},
	"identity-open": func(c *clinic) []check {
		c.do(os.Chmod(c.write("h/identity.key", "x"), 0o644))
		return c.examine()
	},
	"identity-spoiled": func(c *clinic) []check { c.do(os.Chmod(c.write("h/identity.key", "x"), 0o600)); return c.examine() },
	"approval-missing": func(c *clinic) []check {
		c.do(os.Remove(c.home.ApprovalPath()), os.Remove(filepath.Join(c.home.Dir, "approval.pub")))
		return c.examine()
	},
	"approval-open":   func(c *clinic) []check { c.do(os.Chmod(c.home.ApprovalPath(), 0o644)); return c.examine() },
	"repository-none": func(c *clinic) []check { c.set(func(s *node.Config) { s.Repositories = nil }); return c.examine() },
	"checkout-missing": func(c *clinic) []check {
		c.set(func(s *node.Config) { s.Repositories[0].Checkout = c.t.TempDir() })
		return c.examine()
	},
	"checkout-inside": func(c *clinic) []check {
		inside := filepath.Join(c.shop, "src")
		c.do(os.Mkdir(inside, 0o755))
		c.set(func(s *node.Config) { s.Repositories[0].Checkout = inside })
		return c.examine()
	},
	"checkout-remote": func(c *clinic) []check { c.git("-C", c.shop, "remote", "remove", "origin"); return c.examine() },
	"checkout-other": func(c *clinic) []check {
		c.git("-C", c.shop, "remote", "set-url", "origin", "https://github.com/acme/till")
		return c.examine()
	},
	"checkout-locked": func(c *clinic) []check {
		long := time.Now().Add(-time.Hour)
		c.do(os.Chtimes(c.write("shop/.git/index.lock", ""), long, long))
		return c.examine()
	},
	"route-spoiled":   func(c *clinic) []check { c.write("h/routes.toml", "["); return c.examine() },
	"desk-none":       func(c *clinic) []check { c.set(func(s *node.Config) { s.Desk.Argv = nil }); return c.examine() },
	"desk-missing":    func(c *clinic) []check { c.do(os.Remove(filepath.Join(c.bin, "desk"))); return c.examine() },
	"service-spoiled": func(c *clinic) []check { c.write("h/service.toml", "["); return c.examine() },
	"service-moved": func(c *clinic) []check {
		return []check{judgeService(node.Surroundings{Program: "/gone"}, service.State{Installed: true, Program: "/gone"}, "")}
	},
	"service-tools": func(c *clinic) []check { return c.served("/gone/git", service.State{Running: true, Enabled: true}) },
	"service-off":   func(c *clinic) []check { return c.served("", service.State{Running: true}) },
	"service-down": func(c *clinic) []check {
		c.do(c.home.SetSurroundings(node.Surroundings{Program: "/gone"}))
		return c.examine()
	},
	"node-down": func(c *clinic) []check {
		c.do(c.home.SetSurroundings(node.Surroundings{Program: filepath.Join(c.bin, "desk")}))
		return c.examine()
	},
	"node-silent": func(c *clinic) []check {
		lock, err := c.home.Lock(c.t.Context())
		c.do(err)
		c.t.Cleanup(func() { c.do(lock.Release()) })
		return c.examine()
	},
	"port-taken": func(c *clinic) []check {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		c.do(err)
		c.t.Cleanup(func() { l.Close() })
		_, port, err := net.SplitHostPort(l.Addr().String())
		c.do(err)
		c.set(func(s *node.Config) { s.Listen = []string{"/ip4/127.0.0.1/tcp/" + port} })
		return c.examine()
	},
	"disk-low": func(c *clinic) []check { return []check{judgeDisk(c.home.Dir, freeBytesMin-1)} },
	"clock-wrong": func(c *clinic) []check {
		soon := time.Now().Add(time.Hour)
		c.do(os.Chtimes(c.write("h/log.jsonl", ""), soon, soon))
		return c.examine()
	},
	"ledger-damaged": func(c *clinic) []check {
		c.write("h/data/ledger/MANIFEST", "this is none")
		return c.examine()
	},
	"agents-spoiled": func(c *clinic) []check {
		c.do(os.Mkdir(c.home.MissedPath(), 0o755))
		return c.examine()
	},
	"agent-stale":     agentState("stale"),
	"agent-lost":      agentState("lost"),
	"agent-untrusted": agentState("untrusted"),
	"agent-spoiled":   agentState("spoiled"),
	"hooks-down":      func(c *clinic) []check { return []check{judgeMissed(c.home, node.Missed{Count: 1, Why: "down"})} },
	"hooks-late": func(c *clinic) []check {
		c.do(os.WriteFile(filepath.Join(c.home.Dir, "pid"), nil, 0o600))
		lock, err := c.home.Lock(c.t.Context())
		c.do(err)
		c.t.Cleanup(func() { c.do(lock.Release()) })
		return []check{judgeMissed(c.home, node.Missed{Count: 1, Why: "slow", Last: time.Now().Add(time.Hour)})}
	},
	"main-none":      func(c *clinic) []check { return judgeStatus(api.Status{Main: api.MainComputer{State: "none"}}) },
	"main-contested": func(c *clinic) []check { return judgeStatus(api.Status{Main: api.MainComputer{State: "contested"}}) },
	"repository-unanswered": func(c *clinic) []check {
		return judgeStatus(api.Status{Repositories: []api.Repository{{Slug: "acme/shop"}, {Slug: "acme/till", Unanswered: "dial tcp: no such host"}}})
	},
	"computers-away": func(c *clinic) []check { return judgeStatus(api.Status{Peers: []api.Peer{{Name: "laptop"}}}) },
	"versions-differ": func(c *clinic) []check {
		return judgeStatus(api.Status{Version: "v2", Peers: []api.Peer{{Name: "laptop", Connected: true, Version: "v1"}}})
	},
	"clock-skew": func(c *clinic) []check { return judgeNetwork(api.Netcheck{Clocks: 1, ClockMS: -3000}, c.home) },
	"relay-away": func(c *clinic) []check {
		return judgeNetwork(api.Netcheck{Relays: []api.Relay{{Address: "/ip4/x"}}}, c.home)
	},
	"network-captured": func(c *clinic) []check { return judgeNetwork(api.Netcheck{Intercepted: true}, c.home) },
	"lane-off":         func(c *clinic) []check { return judgeStatus(api.Status{Lanes: []api.Lane{{Name: "ada"}}}) },
	"cards": func(c *clinic) []check {
		return []check{judgeCards([]api.Card{{Code: "C2"}, {Code: "C11", Title: "twice"}})}
	},
}

// agentState is a finding as the commands about agents have it; their own tests make it for real.
func agentState(state string) func(*clinic) []check {
	x := node.AgentFinding{Agent: "claude", Text: "odd", Mend: "run parley agents install claude"}
	return func(*clinic) []check {
		b, err := json.Marshal(map[string]string{"state": state})
		if err == nil {
			err = json.Unmarshal(b, &x)
		}
		if err != nil {
			panic(err)
		}
		return []check{judgeAgent(x)}
	}
}

// served is a service whose program is there.
func (c *clinic) served(git string, s service.State) []check {
	program := filepath.Join(c.bin, "desk")
	s.Installed, s.Program = true, program
	return []check{judgeService(node.Surroundings{Program: program, Git: git}, s, program)}
}

func TestTheDoctorFindsEachFaultAndNamesItsMend(t *testing.T) {
	for _, x := range ailments {
		t.Run(x.code, func(t *testing.T) {
			make, ok := sicken[x.code]
			if !ok {
				t.Fatal("no test makes this fault")
			}
			rows := make(healthy(t))
			i := slices.IndexFunc(rows, func(c check) bool { return c.Code == x.code })
			if i < 0 {
				t.Fatalf("it was not found: %+v", rows)
			}
			if r := rows[i]; r.OK || r.Text == "" || r.Mend == "" || strings.Contains(r.Mend, "%!") || strings.Contains(r.Mend, "%s") {
				t.Errorf("row: %+v", r)
			}
		})
	}
	if len(sicken) != len(ailments) {
		t.Errorf("%d faults are made, and the table has %d", len(sicken), len(ailments))
	}
}

func TestTheDoctorFindsNothingWhereAllIsWell(t *testing.T) {
	for _, c := range healthy(t).examine() {
		if !c.OK || c.Code != "" {
			t.Errorf("%+v", c)
		}
	}
	for _, c := range judgeStatus(api.Status{Version: "v1", Main: api.MainComputer{State: "live"}, Peers: []api.Peer{{Connected: true, Version: "v1"}}, Lanes: []api.Lane{{Here: true}}}) {
		if !c.OK {
			t.Errorf("%+v", c)
		}
	}
}

func TestTheDoctorsTableReadsAsOneList(t *testing.T) {
	var b strings.Builder
	for _, x := range ailments {
		fmt.Fprintf(&b, "%s: %s\n\t%s\n", x.code, x.means, strings.ReplaceAll(x.mend, "%s", "…"))
	}
	golden(t, "doctor.golden", b.String())
}
