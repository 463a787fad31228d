package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/parley-mesh/parley/simnet/demo"
)

// program is parley, with parley-hook beside it. They are built once.
func program(t *testing.T) string {
	t.Helper()
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "parley")
}

var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "parley-test-")
	if err != nil {
		return "", err
	}
	builtIn = dir
	if out, err := exec.Command("go", "build", "-o", dir, ".", "../parley-hook").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w: %s", err, out)
	}
	return dir, nil
})

// builtIn is removed when all tests have ended.
var builtIn string

// tidied removes what tests share.
type tidied struct{ m *testing.M }

func (t tidied) Run() int {
	status := t.m.Run()
	if builtIn != "" {
		os.RemoveAll(builtIn)
	}
	return status
}

// play runs a demo that answers itself, and returns what it printed.
func play(t *testing.T, o demo.Options) (string, error) {
	t.Helper()
	var out bytes.Buffer
	o.Program, o.Yes, o.Out = program(t), true, &out
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	err := demo.Run(t.Context(), o)
	return out.String(), err
}

var volatile = []struct {
	form *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`^ *\d+\.\ds `), "TIME "},
	{regexp.MustCompile(`\b[0-9a-f]{8}\b`), "COMMIT"},
	{regexp.MustCompile(`3 taken, 1 own copy kept|1 own copy kept, 3 taken`), "3 TAKEN"},
}

// steady is a line without what differs from run to run.
func steady(line string) string {
	for _, v := range volatile {
		line = v.form.ReplaceAllString(line, v.as)
	}
	return strings.TrimSpace(line)
}

func TestTheReadmesTranscriptIsWhatTheDemoPrints(t *testing.T) { // P15, P16, P18, P19, P20
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(readme), "```console\n")
	block, _, ok := strings.Cut(block, "\n```")
	if !ok {
		t.Fatal("the README has no console block")
	}

	dir := t.TempDir()
	printed, err := play(t, demo.Options{Dir: dir})
	if err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	readLeftHomes(t, dir)

	have := map[string]bool{}
	for line := range strings.Lines(printed) {
		have[steady(line)] = true
	}
	for line := range strings.Lines(block) {
		if want := steady(line); !strings.HasPrefix(want, "$ ") && !have[want] {
			t.Errorf("the demo does not print %q\n%s", want, printed)
		}
	}
}

// readLeftHomes asks the homes that a demo leaves behind, whose nodes have ended.
func readLeftHomes(t *testing.T, dir string) {
	t.Helper()
	parley := program(t)
	ask := func(name, want string, args ...string) string {
		t.Helper()
		args = append([]string{"--home", filepath.Join(dir, name, "home")}, args...)
		out, err := exec.CommandContext(t.Context(), parley, args...).CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("parley %v: %v, want %q\n%s", args, err, want, out)
		}
		return string(out)
	}
	ask("tablet", "closed", "why", "kim/shop#1")
	ask("tablet", "replace", "op", "log")
	list := ask("tablet", "scripts/run tests.sh", "kept", "list")
	for line := range strings.Lines(list) {
		if id, rest, _ := strings.Cut(line, " "); strings.Contains(rest, "scripts/run tests.sh") {
			ask("tablet", "#!/bin/sh", "kept", "show", id)
			return
		}
	}
}

func TestALaptopClosedInTheMiddleCatchesUp(t *testing.T) { // P24
	if testing.Short() {
		t.Skip("a long story; run without -short")
	}
	dir := t.TempDir()
	printed, err := play(t, demo.Options{Dir: dir, CloseLaptop: true})
	if err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	if err := os.WriteFile(filepath.Join(dir, "laptop", "checkout", "later.txt"), []byte("of a person\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if again, err := play(t, demo.Options{Dir: dir}); err != nil || !strings.Contains(again, "checked here before") {
		t.Errorf("going on after somebody worked there: %v\n%s", err, again)
	}
	if !strings.Contains(printed, "is closed in the middle of it") || !strings.Contains(printed, "is opened again") {
		t.Errorf("no laptop was closed\n%s", printed)
	}
}
