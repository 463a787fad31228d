//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/parley-mesh/parley/simnet/demo"
)

// killer takes what a demo prints, and kills one of its programs without warning at chosen lines.
type killer struct {
	t     *testing.T
	dir   string
	at    map[int]string // number of the line: path of a pid file below dir
	mu    sync.Mutex
	out   bytes.Buffer
	line  int
	kills []string
}

func (k *killer) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for range bytes.Count(p, []byte("\n")) {
		k.line++
		if victim, ok := k.at[k.line]; ok {
			k.kill(victim)
		}
	}
	return k.out.Write(p)
}

func (k *killer) kill(victim string) {
	text, err := os.ReadFile(filepath.Join(k.dir, victim))
	if err != nil {
		return // not started yet
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err == nil && syscall.Kill(pid, syscall.SIGKILL) == nil {
		k.kills = append(k.kills, fmt.Sprintf("line %d: %s", k.line, victim))
	}
}

var victims = []string{"desktop/node.pid", "laptop/node.pid", "github.pid", "tablet/node.pid"}

// TestKilledAtTwentyMomentsItEndsTheSame plays the demo four times and kills its programs at five moments
// of each, from the pairing to the last confirmation.
func TestKilledAtTwentyMomentsItEndsTheSame(t *testing.T) { // S1, S4, cases 37 to 39
	runs := 4
	if testing.Short() {
		runs = 1
	}
	path := program(t)
	for run := range runs {
		t.Run(strconv.Itoa(run), func(t *testing.T) {
			k := &killer{t: t, dir: t.TempDir(), at: map[int]string{}}
			for i := range 5 {
				k.at[8+4*(4*i+run)/2+i] = victims[(i+run)%len(victims)]
			}
			err := demo.Run(t.Context(), demo.Options{Program: path, Dir: k.dir, Yes: true, Out: k})
			if err != nil {
				t.Errorf("%v\nkilled %q\n%s", err, k.kills, k.out.String())
			}
			if len(k.kills) < 4 {
				t.Errorf("only %q were killed\n%s", k.kills, k.out.String())
			}
		})
	}
}

// TestAKilledDemoGoesOn kills the demo itself, and with it everything it started, in the middle.
func TestAKilledDemoGoesOn(t *testing.T) {
	if testing.Short() {
		t.Skip("a long story; run without -short")
	}
	path, dir := program(t), t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	first := exec.CommandContext(ctx, path, "demo", "--yes", "--dir", dir)
	stopAt := &watcher{word: "built the result", found: cancel} // CommandContext kills without warning
	first.Stdout, first.Stderr = stopAt, stopAt
	if err := first.Run(); err == nil {
		t.Fatalf("the demo was over before it was killed\n%s", stopAt.out.String())
	}

	out, err := exec.CommandContext(t.Context(), path, "demo", "--yes", "--dir", dir).CombinedOutput()

	if err != nil || !strings.Contains(string(out), "GitHub was written exactly twice") {
		t.Errorf("%v\nfirst:\n%s\nthen:\n%s", err, stopAt.out.String(), out)
	}
}

// watcher waits for a word in what a program prints.
type watcher struct {
	word  string
	found func()
	out   bytes.Buffer
}

func (w *watcher) Write(p []byte) (int, error) {
	w.out.Write(p)
	if strings.Contains(w.out.String(), w.word) {
		w.found()
	}
	return len(p), nil
}
