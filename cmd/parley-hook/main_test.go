package main

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-mesh/parley/node/api"
)

const patience = 90 * time.Second

// hook is the built program.
var hook string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "hook")
	if err != nil {
		panic(err)
	}
	hook = filepath.Join(dir, "parley-hook")
	if out, err := exec.Command("go", "build", "-o", hook, ".").CombinedOutput(); err != nil {
		panic(string(out))
	}
	// What is read here is what go test compares before it takes an old result for a new one.
	sources, err := filepath.Glob("*.go")
	if err != nil {
		panic(err)
	}
	for _, s := range sources {
		if _, err := os.ReadFile(s); err != nil {
			panic(err)
		}
	}
	status := m.Run()
	os.RemoveAll(dir)
	os.Exit(status)
}

// home is a directory with a name so short that its socket lies in it.
func home(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "h")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// asked is what a hook printed, and why it had no answer, if so. On a machine so busy that the time was up, it is
// asked again.
func asked(t testing.TB, agent, home, payload string) (printed, why string) {
	t.Helper()
	for end := time.Now().Add(patience); ; {
		if err := os.Remove(filepath.Join(home, "hook-missed")); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		printed = ran(t, agent, home, payload)
		why = strings.Join(missed(t, home), " ")
		if why != "slow" || time.Now().After(end) {
			return printed, why
		}
	}
}

// ran is what a hook printed; it must have ended well.
func ran(t testing.TB, agent, home, payload string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, hook, agent, home)
	cmd.Stdin = strings.NewReader(payload)
	var out, notes bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &notes
	if err := cmd.Run(); err != nil || notes.Len() > 0 {
		t.Errorf("%s: %v, says %q", agent, err, notes.String())
	}
	return out.String()
}

// missed are the whys of the note.
func missed(t testing.TB, home string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(home, "hook-missed"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(text)) {
		if !noteForm.MatchString(line) {
			t.Errorf("a spoiled line: %q", line)
		}
		fields := strings.Fields(line)
		out = append(out, fields[len(fields)-1])
	}
	return out
}

var noteForm = regexp.MustCompile(`^[0-9]{10,} [a-z-]+ [a-z]+\n$`)

// answering is a node that reads a request and answers these bytes; nil: nothing, ever.
func answering(t testing.TB, home string, answer []byte) {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(home, api.SocketFile))
	if err != nil {
		t.Fatal(err)
	}
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns.Go(func() {
				defer c.Close()
				request := make([]byte, 64<<10)
				c.Read(request)
				if answer == nil {
					c.Read(request) // until the hook has gone
				}
				c.Write(answer)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		conns.Wait()
	})
}

// node is a real server of the socket, whose judge has no opinion.
func node(t testing.TB, home string) {
	t.Helper()
	l, err := api.Listen(api.SocketPath(home))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- (&api.Server{}).Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

var agents = []string{"claude", "codex", "gemini", "opencode", "cursor", "my-agent"}

func TestWithoutANodeTheEditPassesAndIsNoted(t *testing.T) {
	home := home(t)
	var silent []string
	for _, agent := range agents {
		printed, why := asked(t, agent, home, "{}")
		silent = append(silent, printed)
		if why != "down" {
			t.Errorf("%s: noted %q", agent, why)
		}
	}
	node(t, home)
	for i, agent := range agents {
		if printed, why := asked(t, agent, home, "spoiled"); printed != silent[i] || why != "" {
			t.Errorf("%s: without a node %q, with one %q, noted %q", agent, silent[i], printed, why)
		}
	}
}

func TestAnAnswerIsPrintedAsItStands(t *testing.T) {
	home := home(t)
	const body = `{"decision":"deny","reason":"é <x>"}`
	answering(t, home, []byte("HTTP/1.1 200 OK\r\nParley-Hook: 1\r\nContent-Length: "+strconv.Itoa(len(body))+"\r\n\r\n"+body))
	if printed, why := asked(t, "gemini", home, strings.Repeat("x", 40<<10)); printed != body || why != "" {
		t.Errorf("%q, noted %q", printed, why)
	}
}

func TestRubbishIsNoAnswer(t *testing.T) {
	for _, c := range []struct{ answer, why string }{
		{"", "rubbish"},
		{"rubbish", "rubbish"},
		{"\x00\xff\r\n\r\n{}", "rubbish"},
		{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", "rubbish"}, // of somebody else
		{"HTTP/1.1 200 OK\r\nParley-Hook: 1\r\nContent-Length: 3\r\n\r\n{}", "rubbish"},
		{"HTTP/1.1 200 OK\r\nParley-Hook: 1\r\nContent-Length: 4\r\n\r\nnull", "rubbish"},
		{"HTTP/1.1 200 OK\r\nParley-Hook: 1\r\nContent-Length: 9\r\n\r\n{\"a\":", "rubbish"},
		{"HTTP/1.1 503 Busy\r\nParley-Hook: 1\r\nContent-Length: 2\r\n\r\n{}", "refused"},
		{"HTTP/1.1 200 OK\r\nParley-Hook: 1\r\n\r\n" + strings.Repeat("x", 300<<10), "rubbish"},
	} {
		home := home(t)
		answering(t, home, []byte(c.answer))
		if printed, why := asked(t, "cursor", home, "{}"); printed != "{}" || why != c.why {
			t.Errorf("%.60q: %q, noted %q, want %s", c.answer, printed, why, c.why)
		}
	}
}

func TestASlowNodeIsNotWaitedFor(t *testing.T) {
	home := home(t)
	answering(t, home, nil)
	if got := ran(t, "gemini", home, "{}"); got != "{}" || strings.Join(missed(t, home), " ") != "slow" {
		t.Errorf("%q, noted %q", got, missed(t, home))
	}
}

func TestAPayloadThatNeverEndsIsNotWaitedFor(t *testing.T) {
	home := home(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, hook, "gemini", home)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.Output()
	if err != nil || string(out) != "{}" || strings.Join(missed(t, home), " ") != "slow" {
		t.Errorf("%v %q, noted %q", err, out, missed(t, home))
	}
}

func TestAPayloadThatIsTooLongIsNotAskedAbout(t *testing.T) {
	home := home(t)
	if printed, why := asked(t, "codex", home, strings.Repeat("x", 10<<20)); printed != "" || why != "big" {
		t.Errorf("%q, noted %q", printed, why)
	}
}

func TestTheNoteIsBoundedAndSafeWithManyAtOnce(t *testing.T) {
	home := home(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 5 {
				ran(t, "my-agent", home, "{}")
			}
		})
	}
	all.Wait()
	if got := missed(t, home); len(got) != 40 {
		t.Errorf("%d of 40 noted", len(got))
	}
	file := filepath.Join(home, "hook-missed")
	if err := os.WriteFile(file, []byte(strings.Repeat("1796005806 claude down\n", 800)), 0o600); err != nil {
		t.Fatal(err)
	}
	ran(t, "claude", home, "{}")
	if got := missed(t, home); len(got) != 1 {
		t.Errorf("%d lines in a full note", len(got))
	}
}

func TestAHomeThatIsNotThereIsNotMade(t *testing.T) {
	gone := filepath.Join(home(t), "gone")
	ran(t, "claude", gone, "{}")
	if _, err := os.Stat(gone); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func TestTheSocketIsFoundAsTheNodeFindsIt(t *testing.T) { // D-31
	for _, n := range []int{1, 70, 87, 88, 89, 90, 200} {
		dir := "/" + strings.Repeat("h", n)
		if got, want := socketOf(dir), api.SocketPath(dir); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
	if got, want := socketOf("/a/../"+strings.Repeat("b", 120)+"/"), api.SocketPath("/"+strings.Repeat("b", 120)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// imports are all that the program may be linked with, besides what these need of the runtime.
var imports = []string{
	"bytes", "cmp", "crypto", "crypto/cipher", "crypto/fips140", "crypto/sha256", "crypto/subtle", "errors", "hash", "io", "io/fs", "iter", "math", "math/bits",
	"os", "path", "path/filepath", "runtime", "slices", "strconv", "strings", "sync", "sync/atomic", "syscall", "time", "unicode", "unicode/utf8", "unsafe",
}

func TestTheProgramIsLinkedWithLittle(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	allowed := map[string]bool{"github.com/parley-mesh/parley/cmd/parley-hook": true}
	for _, p := range imports {
		allowed[p] = true
	}
	for p := range strings.FieldsSeq(string(out)) {
		inner := strings.HasPrefix(p, "internal/") || strings.Contains(p, "/internal/")
		if !allowed[p] && !inner {
			t.Errorf("imports %s", p)
		}
	}
}
