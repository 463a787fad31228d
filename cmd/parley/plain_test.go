//go:build linux && cgo

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/parley-mesh/parley/node/api"
)

// screen is a terminal and what was written to it.
type screen struct {
	*os.File // the program's end
	mu       sync.Mutex
	text     bytes.Buffer
	news     chan struct{} // holds one after each writing
}

func newScreen(t *testing.T) *screen {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no terminals: %v", err)
	}
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Skipf("no terminals: %v", err)
	}
	program, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals: %v", err)
	}
	s := &screen{File: program, news: make(chan struct{}, 1)}
	read := make(chan struct{})
	go func() {
		defer close(read)
		for b := make([]byte, 4096); ; {
			n, err := person.Read(b)
			if err != nil {
				return
			}
			s.mu.Lock()
			s.text.Write(b[:n])
			s.mu.Unlock()
			select {
			case s.news <- struct{}{}:
			default:
			}
		}
	}()
	t.Cleanup(func() {
		program.Close()
		<-read // the last end of a terminal is closed, which is an error to its reader
		person.Close()
	})
	return s
}

// said waits until a text is on the screen, and returns all of it.
func (s *screen) said(t *testing.T, text string) string {
	t.Helper()
	patience := time.After(2 * time.Minute)
	for {
		s.mu.Lock()
		all := s.text.String()
		s.mu.Unlock()
		if strings.Contains(all, text) {
			return all
		}
		select {
		case <-s.news:
		case <-patience:
			t.Fatalf("%q was never said:\n%s", text, all)
		}
	}
}

// drawnOn names what a screen reader can make nothing of.
func drawnOn(text string) string {
	for _, r := range text {
		if r == '\x1b' || r == '\b' || r >= 0x2500 && r < 0x2600 || strings.ContainsRune("✓✗", r) {
			return fmt.Sprintf("%q", r)
		}
	}
	if strings.Contains(strings.ReplaceAll(text, "\r\n", "\n"), "\r") {
		return "a line that is written over"
	}
	return ""
}

// words are what verbs want behind their names.
var words = map[string][]string{
	"why": {"acme/shop#1"}, "thread show": {"acme/shop#1"}, "lane show": {"kim"}, "kept show": {"x"}, "ping": {"lap"}, "show": {"CF-123"},
	"explain": {"CF-123"}, "claims check": {"src/a.ts"}, "preview": {"acme/shop#1", "push"},
}

// onScreen runs one command on a screen until it ends, or until it has said a text.
func onScreen(t *testing.T, until string, args ...string) string {
	t.Helper()
	s := newScreen(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, args, streams{s.File, s.File, s.File})
		fmt.Fprintln(s.File, "-- ended")
	}()
	if until != "" {
		s.said(t, until)
		cancel()
	}
	text := s.said(t, "-- ended")
	<-ended
	return text
}

func TestPlainOutputIsLinesOfWords(t *testing.T) {
	home := runningNode(t, true)
	pass := filepath.Join(t.TempDir(), "pass")
	if err := os.WriteFile(pass, []byte("correct horse battery\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TERM", "xterm-256color")
	t.Setenv("NO_COLOR", "")
	t.Setenv("PARLEY_PLAIN", "")
	if text := onScreen(t, "", "--home", home.Dir, "agents", "on", "--passphrase-file", pass); strings.Contains(text, "error") {
		t.Fatal(text)
	}
	invite := []string{"--home", home.Dir, "invite", "--passphrase-file", pass}
	if text := onScreen(t, "give this code", invite...); !strings.Contains(text, "█") {
		t.Errorf("nothing is drawn without --plain, so this test sees nothing:\n%s", text)
	}
	if text := onScreen(t, "Ctrl-C ends", "--home", home.Dir, "watch"); !strings.Contains(text, "\x1b[1m") {
		t.Errorf("watch draws no screen:\n%s", text)
	}

	t.Setenv("NO_COLOR", "1")
	if text := onScreen(t, "Ctrl-C ends", "--home", home.Dir, "watch"); strings.Contains(text, "m\x1b") || strings.Contains(text, "\x1b[1m") {
		t.Errorf("NO_COLOR leaves colours:\n%q", text)
	}
	t.Setenv("NO_COLOR", "")
	for _, way := range []struct{ name, flag, variable, term string }{
		{"the flag", "--plain", "", "xterm-256color"}, {"the variable", "--plain=false", "1", "xterm-256color"}, {"a dumb terminal", "--plain=false", "", "dumb"},
	} {
		t.Setenv("TERM", way.term)
		t.Setenv("PARLEY_PLAIN", way.variable)
		if text := onScreen(t, "give this code", append([]string{way.flag}, invite...)...); drawnOn(text) != "" {
			t.Errorf("%s: the invitation has %s:\n%s", way.name, drawnOn(text), text)
		}
	}
	t.Setenv("TERM", "xterm-256color")
	t.Setenv("PARLEY_PLAIN", "")
	for _, v := range api.Verbs {
		if !v.Reads || v.Step || v.Name == "watch" || v.Name == "mcp" {
			continue
		}
		args := append([]string{"--plain", "--home", home.Dir}, strings.Fields(v.Name)...)
		text := onScreen(t, "", append(args, words[v.Name]...)...)
		if what := drawnOn(text); what != "" {
			t.Errorf("%s has %s:\n%s", v.Name, what, text)
		}
	}
}

func TestADemosSignsAreWordsForAScreenReader(t *testing.T) {
	var b bytes.Buffer
	w := (&app{plain: true}).spelled(&b)
	if _, err := fmt.Fprint(w, "  ✓ desktop holds it\n  …  laptop is closed\n  ✗ tablet: x\n"); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); drawnOn(got) != "" || !strings.Contains(got, "holds: desktop holds it\n") || !strings.Contains(got, "FAILED: tablet") {
		t.Errorf("%q", got)
	}
}
