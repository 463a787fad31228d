package api_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/internal/hooks"
)

// heeding warns of everything and passes on what becomes of it.
type heeding chan string

func (h heeding) Judge(context.Context, hooks.Event) hooks.Decision {
	return hooks.Decision{Verdict: hooks.VerdictWarn, Text: "maya edits a", Told: h}
}

func (h heeding) Seen() { h <- "seen" }
func (h heeding) Lost() { h <- "lost" }

func (h heeding) becomes(t *testing.T) string {
	t.Helper()
	select {
	case what := <-h:
		return what
	case <-time.After(hookPatience):
		t.Fatal("nothing became of the answer")
	}
	return ""
}

// heeded is a home whose node warns of everything.
func heeded(t *testing.T) (home string, h heeding) {
	t.Helper()
	home, h = private(t), make(heeding, 16)
	l, err := api.Listen(api.SocketPath(home))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- (&api.Server{Judge: h}).Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return home, h
}

// asking asks as a hook does, each time for another session, until there is an answer in time.
func asking(t *testing.T, home, seen string) (net.Conn, *http.Response) {
	t.Helper()
	for n, end := 0, time.Now().Add(hookPatience); ; n++ {
		c, err := net.Dial("unix", api.SocketPath(home))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		body := fmt.Sprintf(`{"kind":"prompt","session":"s%d%s"}`, n, strings.TrimSpace(seen))
		if _, err := fmt.Fprintf(c, "POST /v1/hook/probe HTTP/1.1\r\nHost: parley\r\n%sContent-Length: %d\r\n\r\n%s", seen, len(body), body); err != nil {
			t.Fatal(err)
		}
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		if answer.ContentLength > 20 {
			return c, answer
		}
		if time.Now().After(end) {
			t.Fatal("nothing is told")
		}
	}
}

func TestAnAnswerCountsAsToldOnceItsHookHasPrintedIt(t *testing.T) { // C9
	home, told := heeded(t)
	asking(t, home, "")
	if got := told.becomes(t); got != "seen" {
		t.Errorf("an answer to an older hook, which says nothing, is %s", got)
	}
	const later = "Parley-Seen: later\r\n"
	c, answer := asking(t, home, later)
	if answer.Header.Get("Parley-Seen") != "wanted" {
		t.Fatalf("it is not asked for: %v", answer.Header)
	}
	select {
	case got := <-told:
		t.Errorf("before the hook has said anything it is %s", got)
	default:
	}
	if _, err := c.Write([]byte("POST /v1/hook/probe HTTP/1.1\r\nHost: parley\r\nParley-Seen: now\r\nContent-Length: 0\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil { // a hook does not wait for an answer to that
		t.Fatal(err)
	}
	if got := told.becomes(t); got != "seen" {
		t.Errorf("what a hook has printed is %s", got)
	}
	c, _ = asking(t, home, later)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if got := told.becomes(t); got != "lost" {
		t.Errorf("what a hook that was killed did not print is %s", got)
	}
}

func TestAHookSaysThatItHasPrintedWhatItWasAnswered(t *testing.T) { // C9
	hook := hookProgram(t)
	home, told := heeded(t)
	n := 0
	insist(t, func() string {
		n++
		cmd := exec.CommandContext(t.Context(), hook, "probe", home)
		cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"kind":"prompt","session":"s%d"}`, n))
		out, err := cmd.Output()
		if err != nil {
			t.Error(err)
		}
		if len(out) < 20 {
			return string(out) // too late
		}
		return string(out) + " " + told.becomes(t)
	}, `{"verdict":"warn","text":"maya edits a"} seen`)
}
