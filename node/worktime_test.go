package node

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/internal/hooks"
)

// runHome names the home that this program, started anew by a test, runs the node of.
const runHome = "PARLEY_TEST_RUN_HOME"

func TestMain(m *testing.M) {
	if dir := os.Getenv(runHome); dir != "" {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		err := Run(ctx, RunConfig{Home: OpenHome(dir), Demo: true})
		stop()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// far is a computer that is spoken to over its socket.
type far struct {
	tb     testing.TB
	home   Home
	dir    string
	client *api.Client
	http   *http.Client
}

// faraway is a running node's socket.
func faraway(tb testing.TB, home Home, dir string) *far {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", home.SocketPath())
	}
	f := &far{tb: tb, home: home, dir: dir, client: api.NewClient(home.SocketPath()), http: &http.Client{Transport: &http.Transport{DialContext: dial}}}
	tb.Cleanup(func() {
		f.http.CloseIdleConnections()
		if err := f.client.Close(); err != nil {
			tb.Error(err)
		}
	})
	eventually(tb, "the node answers", func() bool { _, err := f.client.Status(); return err == nil })
	return f
}

// process runs a node in a process of its own until the test ends.
func process(tb testing.TB, home Home, dir string) *far {
	tb.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), runHome+"="+home.Dir)
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := c.Process.Signal(os.Interrupt); err != nil {
			tb.Error(err)
		}
		if err := c.Wait(); err != nil {
			tb.Error(err)
		}
	})
	return faraway(tb, home, dir)
}

// hook asks as cmd/parley-hook does.
func (f *far) hook(kind hooks.Kind, session string, paths ...string) (d hooks.Decision) {
	f.tb.Helper()
	e := hooks.Event{Kind: kind, Session: session, Cwd: f.dir}
	for _, p := range paths {
		e.Paths = append(e.Paths, filepath.Join(f.dir, p))
	}
	body, err := json.Marshal(e)
	if err != nil {
		f.tb.Fatal(err)
	}
	answer, err := f.http.Post("http://parley/v1/hook/probe", "application/json", bytes.NewReader(body))
	if err != nil {
		f.tb.Fatal(err)
	}
	defer answer.Body.Close() // it was read to its end
	if err := json.NewDecoder(answer.Body).Decode(&d); err != nil {
		f.tb.Fatal(err)
	}
	return d
}

func (f *far) conflicts() []api.Conflict {
	all, err := f.client.Conflicts(f.tb.Context(), api.ConflictQuery{})
	if err != nil {
		f.tb.Fatal(err)
	}
	return all
}

const docsMax = 20

func docOf(n int) string { return fmt.Sprintf("docs/page%02d.md", n%docsMax) }

// prepare lets the last computer have work of its own in every page.
func prepare(tb testing.TB, all []*far) (saves, warned *far) {
	tb.Helper()
	saves, warned = all[0], all[len(all)-1]
	saves.hook(hooks.Start, "one")
	warned.hook(hooks.Start, "two")
	for n := range docsMax {
		warned.hook(hooks.BeforeEdit, "two", docOf(n))
		write(tb, filepath.Join(warned.dir, docOf(n)), "one\nother\nthree\n")
		warned.hook(hooks.AfterEdit, "two", docOf(n))
	}
	eventually(tb, "the other computer knows the work", func() bool {
		s, err := saves.client.Sessions(tb.Context(), api.WorkQuery{})
		return err == nil && slices.ContainsFunc(s, func(o api.Session) bool { return !o.Here && o.Files == docsMax })
	})
	return saves, warned
}

// round saves one edit, waits until the other agent's hook warns, and takes the edit back.
func round(tb testing.TB, saves, warned *far, n int) time.Duration {
	tb.Helper()
	file := filepath.Join(saves.dir, docOf(n))
	events, err := warned.client.Watch(tb.Context(), 0)
	if err != nil {
		tb.Fatal(err)
	}
	last := uint64(0)
	if len(events) > 0 {
		last = events[len(events)-1].Seq
	}
	began := time.Now()
	write(tb, file, fmt.Sprintf("one\nmine %d\nthree\n", n))
	var took time.Duration
	for took == 0 {
		if events, err = warned.client.Watch(tb.Context(), last); err != nil || time.Since(began) > patience {
			tb.Fatalf("round %d: no warning, %v", n, err)
		}
		for _, e := range events {
			last = e.Seq
			if e.Kind == "conflict" && e.Severity == "warn" {
				if d := warned.hook(hooks.BeforeEdit, "two", docOf(n)); d.Verdict != hooks.VerdictWarn {
					tb.Fatalf("round %d: the hook says %+v", n, d)
				}
				took = time.Since(began)
				break
			}
		}
	}
	git(tb, saves.dir, "checkout", "-q", "--", docOf(n))
	eventually(tb, "the conflict is over", func() bool { return len(warned.conflicts()) == 0 })
	return took
}

func TestASavedEditIsAWarningBetweenProcesses(t *testing.T) { // C1, C9
	homes, dirs := newCrew(t, 2)
	saves, warned := prepare(t, []*far{process(t, homes[0], dirs[0]), process(t, homes[1], dirs[1])})
	for n := range 2 {
		t.Logf("it took %v", round(t, saves, warned, n))
	}
}

// BenchmarkSavedEdit is from a saved edit on one computer to the answer of a hook on another that warns.
func BenchmarkSavedEdit(b *testing.B) {
	b.Run("2 processes", func(b *testing.B) {
		homes, dirs := newCrew(b, 2)
		measure(b, []*far{process(b, homes[0], dirs[0]), process(b, homes[1], dirs[1])})
	})
	for _, n := range []int{10, 50} {
		b.Run(fmt.Sprint(n, " computers"), func(b *testing.B) {
			homes, dirs := newCrew(b, n)
			var all []*far
			for i := range homes {
				runCrewed(b, homes[i], dirs[i])
				all = append(all, faraway(b, homes[i], dirs[i]))
			}
			measure(b, all)
		})
	}
}

func measure(b *testing.B, all []*far) {
	saves, warned := prepare(b, all)
	var took []time.Duration
	n := 0
	for b.Loop() {
		took = append(took, round(b, saves, warned, n))
		n++
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}
