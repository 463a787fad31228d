package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/service"
)

// examineService looks at the service where one is installed; it is a person's choice.
func (a *app) examineService(ctx context.Context, home node.Home) check {
	around, missing := home.Surroundings()
	if missing != nil && !errors.Is(missing, os.ErrNotExist) {
		return ill("service-spoiled", because(missing))
	}
	state, err := a.service("").State(ctx)
	if missing != nil && err == nil && !state.Installed {
		return good("service", a.here("none is installed (run parley service install)"))
	}
	if err = errors.Join(err, missing); err != nil {
		return ill("service-spoiled", because(err))
	}
	self, err := os.Executable()
	if err != nil {
		self = ""
	}
	return judgeService(around, state, self)
}

func judgeService(around node.Surroundings, s service.State, self string) check {
	switch {
	case s.Masked:
		return ill("service-down", "the service is masked, so that systemd does not start it")
	case !s.Installed:
		return ill("service-down", "the definition "+s.File+" is gone")
	case s.Program != around.Program || !exists(s.Program):
		return ill("service-moved", "the service starts "+s.Program+", which is not there")
	case self != "" && !sameFile(s.Program, self):
		return ill("service-moved", "the service starts "+s.Program+", and this is "+self)
	}
	for _, tool := range []string{around.Git, around.Gh} {
		if tool != "" && !exists(tool) {
			return ill("service-tools", tool+" is not there")
		}
	}
	switch {
	case !s.Running && s.Trouble != "":
		return ill("service-down", "the service does not run: "+s.Trouble)
	case !s.Running:
		return ill("service-down", "the service does not run")
	case !s.Enabled:
		return ill("service-off", "the service does not start when you sign in")
	}
	return good("service", "runs "+s.Program)
}

// examineNode asks the node if it runs, and looks into its ledger if it does not.
func (a *app) examineNode(ctx context.Context, home node.Home) []check {
	pid, running := home.Holder()
	if !running {
		return []check{judgeStopped(home), examineLedger(ctx, home)}
	}
	client := api.NewClient(home.SocketPath())
	defer client.Close()
	status, err := client.Status()
	if err != nil {
		return []check{ill("node-silent", fmt.Sprintf("process %d holds the home and does not answer", pid), strconv.Itoa(pid))}
	}
	out := append([]check{good("node", fmt.Sprintf("running, process %d", pid))}, judgeStatus(status)...)
	if cards, err := client.Inbox(); err == nil {
		out = append(out, judgeCards(cards))
	}
	if n, err := client.Netcheck(ctx); err == nil {
		out = append(out, judgeNetwork(n, home)...)
	}
	return out
}

// judgeStopped is about a node that does not run. Whoever installed a service wants one that always does; without a
// service a node is started by hand, and stopping it is no fault.
func judgeStopped(home node.Home) check {
	if _, err := home.Surroundings(); errors.Is(err, os.ErrNotExist) {
		return good("node", "not running (parley up)")
	}
	return ill("node-down", "no node runs, though a service is installed to run it")
}

func examineLedger(ctx context.Context, home node.Home) check {
	found, err := home.LookAtLedger(ctx)
	switch {
	case err != nil:
		return ill("ledger-damaged", because(err))
	case found.NothingYet:
		return good("ledger", "no node has run on this home")
	case found.Faults() > 0:
		return ill("ledger-damaged", many(found.Faults(), "fault")+" in "+many(found.Records, "record"))
	}
	return good("ledger", many(found.Records, "record")+" in "+many(found.Ledgers, "ledger"))
}

// judgeStatus is what a running node says about itself and its computers.
func judgeStatus(s api.Status) []check {
	var out []check
	switch s.Main.State {
	case "live":
		out = append(out, good("main", s.Main.Name))
	case "contested":
		out = append(out, ill("main-contested", "two computers claim the role"))
	default:
		out = append(out, ill("main-none", "no computer has the role"))
	}
	for _, r := range s.Repositories {
		if r.Unanswered != "" {
			out = append(out, ill("repository-unanswered", r.Unanswered, r.Slug).about(r.Slug))
		}
	}
	out = append(out, judgePeers(s))
	for _, l := range s.Lanes {
		if !l.Here {
			repo := "OWNER/NAME"
			if len(s.Repositories) > 0 {
				repo = s.Repositories[0].Slug
			}
			out = append(out, ill("lane-off", "the lane to "+l.Name+" is off here", quoted(l.Name), repo))
		} else if !l.There {
			out = append(out, good("lanes", l.Name+" has not switched the lane on at the other end"))
		}
	}
	return out
}

func judgePeers(s api.Status) check {
	connected := 0
	var other []string
	for _, p := range s.Peers {
		if p.Connected {
			connected++
		}
		if p.Connected && p.Version != "" && p.Version != s.Version {
			other = append(other, p.Name+" runs "+p.Version)
		}
	}
	switch {
	case len(s.Peers) == 0:
		return good("computers", "this is the only one; parley invite lets another one join")
	case connected == 0:
		return ill("computers-away", "none of "+many(len(s.Peers), "other")+" is connected")
	case len(other) > 0:
		return ill("versions-differ", strings.Join(other, ", ")+"; this computer runs "+s.Version)
	}
	return good("computers", fmt.Sprintf("%d of %s connected", connected, many(len(s.Peers), "other")))
}

// judgeNetwork is about clocks and relays.
func judgeNetwork(n api.Netcheck, home node.Home) []check {
	var out []check
	if off := time.Duration(n.ClockMS * float64(time.Millisecond)); n.Clocks > 0 && off.Abs() >= clockOff {
		out = append(out, ill("clock-skew", clockWords(n)))
	}
	switch i := slices.IndexFunc(n.Relays, func(r api.Relay) bool { return !r.Reserved }); {
	case n.Intercepted:
		out = append(out, ill("network-captured", "something else answers in the relay's place"))
	case i >= 0:
		out = append(out, ill("relay-away", n.Relays[i].Address+": "+n.Relays[i].Trouble, home.ConfigPath()))
	default:
		out = append(out, good("network", "IPv4 "+n.IPv4+", IPv6 "+n.IPv6+", "+many(len(n.Relays), "relay")))
	}
	return out
}

// faultCards are the cards about faults; the others ask for a decision.
var faultCards = []string{"C1", "C8", "C10", "C11", "C12", "C13", "C14", "C15", "C16", "C19", "C23"}

func judgeCards(cards []api.Card) check {
	var faults []string
	for _, c := range cards {
		if slices.Contains(faultCards, c.Code) {
			faults = append(faults, c.Title)
		}
	}
	if len(faults) > 0 {
		return ill("cards", strings.Join(faults, "; "))
	}
	return good("inbox", many(len(cards), "card"))
}
