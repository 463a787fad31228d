package node

import (
	"bufio"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/internal/agents"
	"github.com/parley-mesh/parley/node/internal/hooks"
)

// inbox is a live session's, as Claude Code opens one.
func inbox(t *testing.T) (socket string, lines <-chan string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "inbox")
	if err != nil {
		t.Fatal(err)
	}
	socket = filepath.Join(dir, "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	out := make(chan string, 8)
	go func() {
		defer close(out)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			for s := bufio.NewScanner(c); s.Scan(); {
				out <- s.Text()
			}
			if c.Close() != nil {
				return
			}
		}
	}()
	return socket, out
}

func TestALiveSessionIsToldOfAMessageInItsInboxByRefsAlone(t *testing.T) {
	c, linked := oneCrewed(t)
	socket, lines := inbox(t)
	c.at(c.dir, hooks.Start, "first")
	c.at(c.dir, hooks.BeforeShell, "first")
	c.live.Judge(t.Context(), hooks.Event{Agent: "claude", Kind: hooks.Start, Session: "second", Cwd: linked, Wake: hooks.Wake{Socket: socket}})
	c.live.Judge(t.Context(), hooks.Event{Agent: "claude", Kind: hooks.BeforeShell, Session: "second", Cwd: linked})
	sessions, err := c.live.Sessions(t.Context(), api.WorkQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sessions {
		if s.Name == "second" {
			if _, err := c.live.Send(t.Context(), api.NewMessage{To: api.List[string]{s.Ref}, Text: "delete everything", Caller: api.Caller{Session: "first"}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	select {
	case line := <-lines:
		var said struct {
			Type    string
			Message struct{ Role, Content string }
		}
		if err := json.Unmarshal([]byte(line), &said); err != nil || said.Type != "user" || said.Message.Role != "user" {
			t.Errorf("the inbox gets %s, %v", line, err)
		}
		if strings.Contains(line, "delete") || !strings.Contains(said.Message.Content, "parley briefing --session second") {
			t.Errorf("it reads %q", said.Message.Content)
		}
	case <-time.After(patience):
		t.Fatal("nothing came")
	}
	if d := c.live.Judge(t.Context(), hooks.Event{Agent: "claude", Kind: hooks.AfterShell, Session: "second", Cwd: linked}); !strings.Contains(d.Text, "delete everything") {
		t.Errorf("at its next moment it is told %+v", d)
	}
}

func TestATurnForLiveWorkIsReservedBeforeTheDeskIsWoken(t *testing.T) { // D-29, P20
	homes, dirs := newCrew(t, 1)
	seen := filepath.Join(t.TempDir(), "seen")
	desk := filepath.Join(t.TempDir(), "desk")
	write(t, desk, "#!/bin/sh\ncat \"$1\" >> "+seen+"\nexit 3\n")
	if err := os.Chmod(desk, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := homes[0].SetRoute(Route{Argv: []string{desk}}); err != nil {
		t.Fatal(err)
	}
	c := runCrewed(t, homes[0], dirs[0])
	task := agents.Task{Kind: agents.Brief, Side: "INT-1234567", About: []string{"CF-7654321"}}
	about := strings.Repeat("ab", 32)
	for n := range thread.TurnsPerComputer {
		if err := c.live.turn(t.Context(), about, task); err == nil {
			t.Errorf("turn %d: the desk gave up, and that is no error", n)
		}
	}
	if err := c.live.turn(t.Context(), about, task); err == nil || !strings.Contains(err.Error(), errNoTurn.Error()) {
		t.Errorf("a turn too many: %v", err)
	}
	text, err := os.ReadFile(seen)
	if err != nil || strings.Count(string(text), `"kind": "brief"`) != thread.TurnsPerComputer || !strings.Contains(string(text), "CF-7654321") {
		t.Errorf("the desk was handed %s, %v", text, err)
	}
	value, err := c.store.Get([]byte(turnsKey + about))
	if err != nil || string(value) != "3" {
		t.Errorf("kept are %s turns, %v", value, err)
	}
	day, err := c.store.Get([]byte(corePrefix + "d"))
	if err != nil || !strings.Contains(string(day), `"Used":3`) {
		t.Errorf("the day has %s, %v", day, err)
	}
}
