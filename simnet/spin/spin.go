// Package spin lets tests check a Promela model with the real verifier, and see it refuse the model's
// mutants. Without spin or gcc on the machine such a test is skipped.
package spin

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Run is one size of a model, or one mutant of it.
type Run struct {
	Defines string // as for a C compiler, separated by spaces
	Live    bool   // check the model's ltl formula over every run to its end, rather than its assertions
	Refused string // what the verifier must find; "" when it must find nothing
}

// Check verifies a model once for each run, as subtests.
func Check(t *testing.T, model string, runs []Run) {
	t.Helper()
	for _, tool := range []string{"spin", "gcc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed: the model %s is not checked", tool, model)
		}
	}
	path, err := filepath.Abs(model)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		t.Run(name(r), func(t *testing.T) { check(t, path, r) })
	}
}

func name(r Run) string {
	words := strings.Fields(strings.ReplaceAll(r.Defines, "-D", ""))
	if r.Live {
		words = append(words, "live")
	}
	return strings.Join(words, ",")
}

var (
	counted = regexp.MustCompile(`errors: (\d+)\s+(\d+) states, stored`)
	cut     = []string{"max search depth too small", "out of memory", "Search not completed"}
)

func check(t *testing.T, model string, r Run) {
	dir := t.TempDir()
	run := func(name string, args ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), name, args...)
		c.Dir = dir
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	run("spin", append(append([]string{"-a"}, strings.Fields(r.Defines)...), model)...)
	compile := []string{"-w", "-O1", "-DCOLLAPSE", "-DMEMLIM=4000", "-o", "pan", "pan.c"}
	verify := []string{"-a", "-m5000"}
	if !r.Live {
		compile, verify = append([]string{"-DSAFETY"}, compile...), []string{"-noclaim", "-m5000"}
	}
	run("gcc", compile...)
	out := run(filepath.Join(dir, "pan"), verify...)
	found := counted.FindStringSubmatch(out)
	switch {
	case found == nil:
		t.Fatalf("the verifier counted nothing\n%s", out)
	case r.Refused != "" && (found[1] == "0" || !strings.Contains(out, r.Refused)):
		t.Errorf("the mutant was not refused by %q\n%s", r.Refused, out)
	case r.Refused != "":
		t.Logf("refused: %s", r.Refused)
	case found[1] != "0" || slices.ContainsFunc(cut, func(s string) bool { return strings.Contains(out, s) }):
		t.Errorf("%s\n%s", fault(out), out)
	default:
		t.Logf("%s states, no error", found[2])
	}
}

func fault(out string) string {
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "pan:") {
			return strings.TrimSpace(line)
		}
	}
	return "not verified whole"
}
