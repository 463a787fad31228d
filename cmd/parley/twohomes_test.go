//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
)

// second makes another home of the same person.
func (p person) second(name string) node.Home {
	p.t.Helper()
	home := node.OpenHome(filepath.Join(p.dir, name))
	c := node.Default()
	c.Name, c.Listen = name, []string{"/ip4/127.0.0.1/udp/0/quic-v1"}
	if err := home.Init(node.Setup{Config: c, Passphrase: "correct horse battery", Work: toyWork}); err != nil {
		p.t.Fatal(err)
	}
	return home
}

// installed is what stands outside of the homes, but for copies of how it was.
func (p person) installed(homes ...node.Home) string {
	var out strings.Builder
	for line := range strings.Lines(p.all()) {
		skip := strings.Contains(line, ".parley-backup ")
		for _, h := range homes {
			skip = skip || strings.Contains(line, " "+h.Dir)
		}
		if !skip {
			out.WriteString(line)
		}
	}
	return out.String()
}

func TestUninstallOfOneHomeLeavesAnotherHomesServiceAndHooks(t *testing.T) {
	p := aPerson(t)
	home, _ := p.settle()
	other := p.second("a second home")
	p.run(0, "service", "install")
	p.answers(home)
	p.run(0, "agents", "install", "--hook", filepath.Join(p.dir, "parley-hook"))
	with := p.installed(home, other)

	p.run(0, "--home", other.Dir, "service", "install")
	p.answers(other)
	if said := p.run(0, "--home", other.Dir, "agents", "check"); !strings.Contains(said, "asks the home "+home.Dir+", and not this one") {
		t.Errorf("check:\n%s", said)
	}
	plan := p.run(0, "--home", other.Dir, "uninstall", "--dry-run")
	if strings.Contains(plan, "would take") || !strings.Contains(plan, "the service parley-") || !strings.Contains(plan, "claude asks the home "+home.Dir) {
		t.Errorf("plan:\n%s", plan)
	}
	said := p.run(0, "--home", other.Dir, "uninstall")
	if got := p.installed(home, other); got != with {
		t.Errorf("something of the first home is another; gone:\n%s\nnew:\n%s\nsaid:\n%s", without(with, got), without(got, with), said)
	}
	p.answers(home)
	p.run(0, "service", "status")
	p.run(api.ExitUnreachable, "--home", other.Dir, "service", "status")

	// The agents go over to the home that a person names, and back.
	said = p.run(0, "--home", other.Dir, "agents", "install", "claude", "--hook", filepath.Join(p.dir, "parley-hook"))
	if !strings.Contains(said, fmt.Sprintf("claude asks this home now, and no more the home %s", home.Dir)) {
		t.Errorf("install:\n%s", said)
	}
	said = p.run(0, "agents", "remove", "claude")
	if !strings.Contains(said, "parley --home '"+other.Dir+"' agents remove claude ends that") {
		t.Errorf("remove:\n%s", said)
	}
	p.run(0, "uninstall")
	if text, err := os.ReadFile(filepath.Join(p.dir, ".claude/settings.json")); err != nil || !strings.Contains(string(text), other.Dir) {
		t.Errorf("the other home's hooks went with this one: %v\n%s", err, text)
	}
	if text, err := os.ReadFile(filepath.Join(p.dir, ".gemini/settings.json")); err != nil || strings.Contains(string(text), "parley") {
		t.Errorf("own hooks stay: %v\n%s", err, text)
	}
}

// People delete folders by hand.
func TestUninstallTakesOutWhatADeletedHomeLeft(t *testing.T) {
	p := aPerson(t)
	before := p.all()
	home, _ := p.settle()
	p.run(0, "service", "install")
	p.answers(home)
	p.run(0, "agents", "install", "--hook", filepath.Join(p.dir, "parley-hook"))
	if err := os.RemoveAll(home.Dir); err != nil {
		t.Fatal(err)
	}
	said := p.run(1, "uninstall", "--data", "--confirm", "studio")
	if !strings.Contains(said, "delete the data: home "+home.Dir) {
		t.Errorf("uninstall:\n%s", said)
	}
	if after := strings.ReplaceAll(p.all(), " "+filepath.Join(p.dir, ".config/systemd/user")+"\n", ""); strings.Contains(without(after, before), "parley") {
		t.Errorf("left:\n%s", without(after, before))
	}
}
