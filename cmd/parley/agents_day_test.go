package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/simnet/demo"
)

// told is a line of the day without what differs from run to run.
func told(line string) string {
	line = regexp.MustCompile(`^ *\d+\.\ds +`).ReplaceAllString(strings.TrimRight(line, "\n"), "")
	line = regexp.MustCompile(`\b(INT|S|CF)-\d+`).ReplaceAllString(line, "$1-N")
	return strings.Join(strings.Fields(line), " ")
}

func TestADayOfAgentsIsAsItIsTold(t *testing.T) { // C1 to C4, C7 to C12, C14, C16, C17
	if testing.Short() {
		t.Skip("a long story; run without -short")
	}
	golden, err := os.ReadFile(filepath.Join("testdata", "agents-day.golden"))
	if err != nil {
		t.Fatal(err)
	}
	parley := program(t)
	hook := filepath.Join(filepath.Dir(parley), "parley-hook")
	var out bytes.Buffer
	if err := demo.RunAgents(t.Context(), demo.AgentOptions{Program: parley, Hook: hook, Dir: t.TempDir(), Out: &out}); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	// Each line of the golden story begins a line of the day, in this order; between them stands what the machine's
	// speed decides, as an edit that is refused once more.
	rest := strings.Split(out.String(), "\n")
	for want := range strings.Lines(string(golden)) {
		if want = told(want); want == "" {
			continue
		}
		i := 0
		for i < len(rest) && !strings.HasPrefix(told(rest[i]), want) {
			i++
		}
		if i == len(rest) {
			t.Fatalf("the day does not tell %q here\n%s", want, out.String())
		}
		rest = rest[i+1:]
	}
}

func TestTheDayWantsItsHook(t *testing.T) {
	err := demo.RunAgents(t.Context(), demo.AgentOptions{Hook: filepath.Join(t.TempDir(), "none"), Dir: t.TempDir(), Out: new(bytes.Buffer)})
	if err == nil || !strings.Contains(err.Error(), "parley-hook is not there") {
		t.Error(err)
	}
}

func TestADayWithoutAHookBesideItBuildsOne(t *testing.T) {
	path, done, err := hookFor(t.Context(), filepath.Join(t.TempDir(), "parley"))
	if err != nil {
		t.Fatal(err)
	}
	if !exists(path) {
		t.Error("no hook was built")
	}
	done()
	if exists(path) {
		t.Error("the hook is left behind")
	}
}
