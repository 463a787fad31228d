package node

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/ledger/disk"
	"github.com/parley-mesh/parley/node/api"
)

// demoHome is a home that needs no person, listening on loopback alone.
func demoHome(tb testing.TB) Home {
	tb.Helper()
	home := OpenHome(filepath.Join(tb.TempDir(), "home"))
	c := Default()
	c.Name, c.Demo = "here", true
	c.Listen = []string{"/ip4/127.0.0.1/udp/0/quic-v1", "/ip4/127.0.0.1/tcp/0"}
	if err := home.Init(Setup{Config: c}); err != nil {
		tb.Fatal(err)
	}
	return home
}

// runOnce runs a node, calls do once it answers, and stops it.
func runOnce(tb testing.TB, home Home, do func()) error {
	tb.Helper()
	ctx, cancel := context.WithCancel(tb.Context())
	defer cancel()
	return Run(ctx, RunConfig{Home: home, Demo: true, Ready: func() {
		do()
		cancel()
	}})
}

func TestANodeAnswersAndLeavesAHomeThatIsReadWithoutIt(t *testing.T) {
	home := demoHome(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	answered := make(chan error, 1)
	err := Run(ctx, RunConfig{Home: home, Demo: true, Ready: func() {
		go func() { // the loop begins when Ready returns
			defer cancel()
			c := api.NewClient(home.SocketPath())
			s, err := c.Status()
			if err == nil && (!s.Running || s.Computer.Name != "here") {
				err = fmt.Errorf("the node says %+v", s)
			}
			answered <- errors.Join(err, c.Close())
		}()
	}})
	if err := errors.Join(err, <-answered); err != nil {
		t.Fatal(err)
	}

	r, closeIt, err := OpenReader(home)
	if err != nil {
		t.Fatal(err)
	}
	defer closeIt()
	s, err := r.Status()
	if err != nil || s.Running || s.Computer.Name != "here" || s.Computer.Fleet == "" || s.Main.State != "none" {
		t.Errorf("the home reads %+v, %v", s, err)
	}
}

func TestEveryStartWritesUnderAnotherIncarnation(t *testing.T) { // case 40
	home := demoHome(t)
	seen := map[ledger.Incarnation]bool{}
	for range 3 {
		if err := runOnce(t, home, func() {}); err != nil {
			t.Fatal(err)
		}
		n, err := start(t.Context(), RunConfig{Home: home, Demo: true})
		if err != nil {
			t.Fatal(err)
		}
		if seen[n.inc] {
			t.Errorf("incarnation %s was used before", n.inc)
		}
		seen[n.inc] = true
		if err := n.close(); err != nil {
			t.Error(err)
		}
	}
}

// BenchmarkStart is a whole start and stop of a node: lock, ledger, mesh, socket.
func BenchmarkStart(b *testing.B) {
	home := demoHome(b)
	for b.Loop() {
		if err := runOnce(b, home, func() {}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpenLedger is the baseline: opening and closing the same ledger alone.
func BenchmarkOpenLedger(b *testing.B) {
	home := demoHome(b)
	if err := runOnce(b, home, func() {}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s, err := disk.Open(disk.Options{Dir: home.LedgerDir(), Compactors: 2})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
