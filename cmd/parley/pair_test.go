package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
)

const patience = 2 * time.Minute

// eventually asks until the answer is yes.
func eventually(what string, yes func() bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for again := time.NewTicker(20 * time.Millisecond); ; {
		if yes() {
			return nil
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return errors.New("waited in vain until " + what)
		}
	}
}

func clientOf(ts *testscript.TestScript, home string) *api.Client {
	return api.NewClient(node.OpenHome(ts.MkAbs(home)).SocketPath())
}

// answers HOME waits until the home's node answers.
func answers(ts *testscript.TestScript, _ bool, args []string) {
	c := clientOf(ts, args[0])
	defer c.Close()
	ts.Check(eventually(args[0]+" answers", func() bool { _, err := c.Status(); return err == nil }))
}

// connected HOME waits until the home's node sees another computer.
func connected(ts *testscript.TestScript, _ bool, args []string) {
	c := clientOf(ts, args[0])
	defer c.Close()
	ts.Check(eventually(args[0]+" is connected", func() bool {
		s, err := c.Status()
		return err == nil && len(s.Peers) > 0 && s.Peers[0].Connected
	}))
}

// alone HOME waits until the home's node knows of no other computer of the fleet.
func alone(ts *testscript.TestScript, _ bool, args []string) {
	c := clientOf(ts, args[0])
	defer c.Close()
	ts.Check(eventually(args[0]+" is alone", func() bool { s, err := c.Status(); return err == nil && len(s.Peers) == 0 }))
}

// card HOME CODE waits until such a card lies in the home's inbox.
func card(ts *testscript.TestScript, _ bool, args []string) {
	c := clientOf(ts, args[0])
	defer c.Close()
	ts.Check(eventually(args[0]+" shows the card "+args[1], func() bool {
		cards, err := c.Inbox()
		return err == nil && slices.ContainsFunc(cards, func(card api.Card) bool { return card.Code == args[1] })
	}))
}

// called HOME NAME waits until the home's node is called so.
func calledSo(ts *testscript.TestScript, _ bool, args []string) {
	c := clientOf(ts, args[0])
	defer c.Close()
	ts.Check(eventually(args[0]+" is called "+args[1], func() bool { s, err := c.Status(); return err == nil && s.Computer.Name == args[1] }))
}

// line FILE NAME waits for the first line of a file and puts it into a variable.
func firstLine(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(eventually(args[0]+" has a line", func() bool {
		text, err := os.ReadFile(ts.MkAbs(args[0]))
		line, _, whole := strings.Cut(string(text), "\n")
		ts.Setenv(args[1], line)
		return err == nil && whole
	}))
}

var fourWords = regexp.MustCompile(`words: (\w+ \w+ \w+ \w+)`)

// words FILE wants the four words of the last output in a file, too.
func sameWords(ts *testscript.TestScript, _ bool, args []string) {
	here, there := fourWords.FindStringSubmatch(ts.ReadFile("stdout")), fourWords.FindStringSubmatch(ts.ReadFile(args[0]))
	if here == nil || there == nil || here[1] != there[1] {
		ts.Fatalf("the screens show %q and %q", here, there)
	}
}

// runningNode is a real node on a home of its own, until the test ends.
func runningNode(t *testing.T, demo bool) node.Home {
	t.Helper()
	c := node.Default()
	c.Name, c.Demo = "studio", demo
	c.Listen = []string{"/ip4/127.0.0.1/udp/0/quic-v1"}
	h := node.OpenHome(filepath.Join(t.TempDir(), "home"))
	if err := h.Init(node.Setup{Config: c, Passphrase: "correct horse battery", Work: toyWork}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- node.Run(ctx, node.RunConfig{Home: h, Demo: demo, Ready: func() { close(ready) }})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	select {
	case <-ready:
	case err := <-ended:
		ended <- nil
		t.Fatal(err)
	}
	return h
}

func TestARealNodeTakesNoDemosProof(t *testing.T) { // D-24
	client := api.NewClient(runningNode(t, false).SocketPath())
	defer client.Close()

	_, err := client.SetMain(t.Context(), true, api.DemoProver())

	if f := api.Explain(err); f.Code != "presence-demo" || f.Exit != api.ExitPerson {
		t.Errorf("%+v", f)
	}
	if s, err := client.Status(); err != nil || s.Main.State != "none" {
		t.Errorf("%+v %v", s.Main, err)
	}
}

func TestAnInterruptedCommandExitsWith130(t *testing.T) {
	home := runningNode(t, false)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	said, err := os.Create(filepath.Join(t.TempDir(), "said"))
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()

	status := run(ctx, []string{"--home", home.Dir, "log", "-f"}, streams{os.Stdin, said, said})

	text, _ := os.ReadFile(said.Name())
	if status != api.ExitInterrupted || !bytes.HasSuffix(text, []byte("parley: error: interrupted\n")) {
		t.Errorf("status %d, said %q", status, text)
	}
}
