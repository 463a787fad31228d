package main

import (
	"fmt"
	"os/exec"
	"slices"
)

// ailment is one kind of fault that the doctor finds.
type ailment struct {
	code  string // stable
	check string // name of the row; "" is the repository's
	means string
	mend  string // %s are names and paths
}

// ailments are all faults that the doctor finds, in the order in which it looks. This is the one table of them; a
// test makes each, and its golden file is for reading.
var ailments = []ailment{
	{"git-missing", "git", "git is not installed", "install git 2.38 or newer%s, then run parley doctor"},
	{"git-old", "git", "git is too old to try a merge without a checkout", "install git 2.38 or newer%s, then run parley doctor"},
	{"home-missing", "home", "this computer is not set up", "run parley setup"},
	{"home-open", "home", "others can read the home", "run chmod go= %s"},
	{"home-unwritable", "home", "nothing can be written into the home", "run chown -R %s and chmod -R u+rwX on it, or mount it writable"},
	{"config", "home", "the settings are spoiled", "correct that line, then run parley doctor"},
	{"fleet-spoiled", "home", "the name of the fleet cannot be read", "enter parley restore with a backup, in another --home"},
	{"gh-missing", "gh", "GitHub's command gh is not installed", "install it%s, then run gh auth login"},
	{"gh-sign-in", "gh", "gh is not signed in, or its sign-in counts no more", "run gh auth login --hostname %s"},
	{"gh-scopes", "gh", "the sign-in of gh may not write to repositories", "run gh auth refresh --hostname %s --scopes repo,workflow"},
	{"gh-token-file", "gh", "the file with the token is not there", "correct github.token_file in %s"},
	{"github-away", "gh", "GitHub does not answer", "check the connection, and github.proxy in %s"},
	{"identity-open", "identity", "others can read this computer's key", "run chmod go= %s"},
	{"identity-spoiled", "identity", "this computer's key cannot be read", "enter parley restore with a backup made with --with-key, in another --home"},
	{"approval-missing", "approvals", "there is no key that a passphrase opens", "enter parley restore with a backup, in another --home"},
	{"approval-open", "approvals", "others can read the approval key", "run chmod go= %s"},
	{"repository-none", "repositories", "no repository is set", "run parley setup in a checkout, or add a [[repository]] to %s"},
	{"checkout-missing", "", "a checkout is no git repository", "correct checkout of %s in %s"},
	{"checkout-inside", "", "a checkout lies inside another one", "correct checkout of %s in %s"},
	{"checkout-remote", "", "the checkout's remote names no repository on GitHub", "run git -C %s remote add origin https://github.com/%s"},
	{"checkout-other", "", "a checkout belongs to another repository", "correct slug or checkout of %s in %s"},
	{"repository-unanswered", "", "GitHub never told what the repository is", "check the connection, or correct slug of %s in config.toml and start the node again"},
	{"checkout-locked", "", "a git that ended early left its lock", "run rm %s, if no git runs there"},
	{"route-spoiled", "desk", "where the conversation goes cannot be read", "remove %s, then run parley route"},
	{"desk-none", "desk", "no agent handles conversations here", "run parley route %s -- COMMAND"},
	{"desk-missing", "desk", "the agent's command is not found", "install %s, or run parley route %s -- COMMAND"},
	{"agents-spoiled", "agents", "what is known of coding agents cannot be read", "correct that, then run parley agents check"},
	{"agent-stale", "agents", "an agent's settings hold not all of parley's hooks", "%s"},
	{"agent-lost", "agents", "a program that an agent's settings name is not there", "%s"},
	{"agent-untrusted", "agents", "an agent passes over parley's hooks until a person trusts them", "%s"},
	{"agent-spoiled", "agents", "an agent's settings cannot be read", "%s"},
	{"hooks-down", "hooks", "agents went on without an answer, as no node runs", "run parley up"},
	{"hooks-late", "hooks", "agents went on without an answer, as the node was too slow", "run parley log, and see what keeps the node busy"},
	{"service-spoiled", "service", "what the service was installed with cannot be read", "run parley service install"},
	{"service-moved", "service", "the service starts a program that is not there, or another one", "run parley service install"},
	{"service-tools", "service", "git or gh is no longer where the service looks", "run parley service install"},
	{"service-off", "service", "the service does not start by itself", "run parley service install"},
	{"service-down", "service", "the service does not run", "run parley service install, and if it ends again parley up"},
	{"node-down", "node", "no node runs, though a service is installed to run it", "run parley service install, or parley up"},
	{"node-silent", "node", "a process holds the home and does not answer", "stop process %s, then run parley up"},
	{"port-taken", "ports", "another program has the port", "choose another port in config.toml, or 0 for any"},
	{"disk-low", "disk", "the disk of the home is almost full", "free some space there"},
	{"clock-wrong", "clock", "the clock shows a time that is certainly past", "set the clock of this computer"},
	{"ledger-damaged", "ledger", "records or what follows from them are damaged", "run parley fsck"},
	{"main-none", "main", "nothing is opened or published: no computer has the role", "enter parley main on, on the computer that publishes"},
	{"main-contested", "main", "two computers claim the main computer's role", "enter parley main off on one of them"},
	{"computers-away", "computers", "none of your other computers is connected", "enter parley up there, then parley netcheck on both"},
	{"versions-differ", "computers", "a computer runs another version of parley", "update parley there, or here"},
	{"clock-skew", "clock", "this computer's clock differs from the others'", "set the clock of this computer"},
	{"relay-away", "network", "a relay in the settings is not reached", "run parley netcheck, and correct network.relays in %s"},
	{"network-captured", "network", "something else answers in the relay's place", "sign in to this network in a browser, then run parley netcheck"},
	{"lane-off", "lanes", "a lane is off at this end", "run parley lane on %s --repo %s"},
	{"cards", "inbox", "something is missing or went wrong, as a card says", "run parley inbox"},
}

// ill is a row about a fault: what it is this time, and the words for its mend.
func ill(code, text string, words ...string) check {
	i := slices.IndexFunc(ailments, func(a ailment) bool { return a.code == code })
	a := ailments[i] // a code without a row is a mistake of the program
	return check{Name: a.check, Code: code, Text: text, Mend: fmt.Sprintf(a.mend, texts(words)...)}
}

// about gives a row the name of what it is about.
func (c check) about(name string) check {
	c.Name = name
	return c
}

// packagers install programs, by the command that they have; the first one found counts.
var packagers = []struct{ command, git, gh string }{
	{"brew", "brew install git", "brew install gh"},
	{"winget", "winget install --id Git.Git", "winget install --id GitHub.cli"},
	{"apt-get", "sudo apt-get install git", "sudo apt-get install gh"},
	{"dnf", "sudo dnf install git", "sudo dnf install gh"},
	{"pacman", "sudo pacman -S git", "sudo pacman -S github-cli"},
	{"apk", "sudo apk add git", "sudo apk add github-cli"},
	{"zypper", "sudo zypper install git", "sudo zypper install gh"},
}

// howToInstall names the command that brings git or gh here, ahead of a comma; "" where none is known.
func howToInstall(tool, otherwise string) string {
	for _, p := range packagers {
		if _, err := exec.LookPath(p.command); err == nil {
			if tool == "git" {
				return " (" + p.git + ")"
			}
			return " (" + p.gh + ")"
		}
	}
	return otherwise
}
