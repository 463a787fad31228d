package main

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/parley-mesh/parley/node"
)

func TestMain(m *testing.M) {
	testscript.Main(tidied{m}, map[string]func(){"parley": main})
}

// toyWork makes passphrases cheap where they protect nothing.
const toyWork = 2

func TestCommandsSayWhatHappenedAndWhatToDo(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setUp,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits,
			"home":  makeHome,
			"hold":  holdHome,
			"port":  takePort,

			"nowhere":   nowhere,
			"answers":   answers,
			"connected": connected,
			"alone":     alone,
			"card":      card,
			"called":    calledSo,
			"line":      firstLine,
			"words":     sameWords,
		},
	})
}

// TestANewPersonIsGuidedToAWorkingPair plays a person at a terminal, from nothing to two computers.
func TestANewPersonIsGuidedToAWorkingPair(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/setup", RequireExplicitExec: true, RequireUniqueNames: true, Setup: setUp,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits, "answers": answers, "connected": connected, "line": firstLine, "manager": standIn,
		},
	})
}

// setUp gives scripts BIN, where parley is, and GIT, the real git.
func setUp(env *testscript.Env) error {
	parley, err := exec.LookPath("parley")
	if err != nil {
		return err
	}
	git, err := exec.LookPath("git")
	if err != nil {
		return err
	}
	env.Setenv("BIN", filepath.Dir(parley))
	env.Setenv("GIT", git)
	env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, ".cache"))
	env.Setenv("GIT_CONFIG_GLOBAL", "/dev/null")
	env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	return nil
}

// exits STATUS COMMAND ARG... wants that exit status.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// home DIR [demo] sets a home up that is named like its directory, and whose passphrase is "correct horse battery".
// Its recovery words are left in DIR.words.
func makeHome(ts *testscript.TestScript, neg bool, args []string) {
	c := node.Default()
	c.Name = filepath.Base(args[0])
	c.Listen = []string{"/ip4/127.0.0.1/udp/0/quic-v1", "/ip4/127.0.0.1/tcp/0"}
	s := node.Setup{Config: c, Passphrase: "correct horse battery", Work: toyWork}
	if len(args) > 1 {
		s.Config.Demo, s.Passphrase = true, ""
	}
	var err error
	s.Recovery, err = node.NewRecovery()
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".words"), []byte(strings.Join(s.Recovery.Words, " ")+"\n"), 0o600))
	ts.Check(node.OpenHome(ts.MkAbs(args[0])).Init(s))
}

// nowhere DIR TEXT wants files in a folder, and the text in none of them.
func nowhere(ts *testscript.TestScript, neg bool, args []string) {
	names, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "*"))
	ts.Check(err)
	if neg || len(names) == 0 {
		ts.Fatalf("nothing is in %s", args[0])
	}
	for _, name := range names {
		if strings.Contains(ts.ReadFile(name), args[1]) {
			ts.Fatalf("%s holds %q", name, args[1])
		}
	}
}

// hold DIR holds a home, as a node does, until the script ends.
func holdHome(ts *testscript.TestScript, neg bool, args []string) {
	lock, err := node.OpenHome(ts.MkAbs(args[0])).Lock(context.Background())
	ts.Check(err)
	ts.Defer(func() { ts.Check(lock.Release()) })
	ts.Setenv("HOLDER", strconv.Itoa(os.Getpid()))
}

// port NAME takes a port until the script ends and puts its number into a variable.
func takePort(ts *testscript.TestScript, neg bool, args []string) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { ts.Check(l.Close()) })
	_, port, err := net.SplitHostPort(l.Addr().String())
	ts.Check(err)
	ts.Setenv(args[0], port)
}
