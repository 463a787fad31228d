package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkHook starts the hook as an agent does, with a running node and an edit's payload, and by turns a
// program that does nothing: the machine is then as busy for one as for the other.
func BenchmarkHook(b *testing.B) {
	home := home(b)
	node(b, home)
	source := filepath.Join(b.TempDir(), "empty.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	empty := filepath.Join(b.TempDir(), "empty")
	if out, err := exec.Command("go", "build", "-o", empty, source).CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	const payload = `{"session_id":"s","cwd":"/r","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"/r/a"}}`
	start := func(program string) time.Duration {
		cmd := exec.Command(program, "claude", home)
		cmd.Stdin = strings.NewReader(payload)
		began := time.Now()
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		return time.Since(began)
	}
	var hooks, empties []time.Duration
	for b.Loop() {
		hooks, empties = append(hooks, start(hook)), append(empties, start(empty))
	}
	at := func(all []time.Duration, percent int) float64 {
		slices.Sort(all)
		return all[min(len(all)-1, len(all)*percent/100)].Seconds() * 1000
	}
	b.ReportMetric(at(hooks, 50), "hook-p50-ms")
	b.ReportMetric(at(hooks, 99), "hook-p99-ms")
	b.ReportMetric(at(empties, 50), "empty-p50-ms")
	b.ReportMetric(at(empties, 99), "empty-p99-ms")
	b.ReportMetric(at(hooks, 50)/at(empties, 50), "times-empty")
	if got := missed(b, home); len(got) > b.N/100 {
		b.Errorf("%d of %d without an answer", len(got), b.N)
	}
}
