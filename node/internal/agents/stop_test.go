//go:build !windows

package agents

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// follow makes a pipe that a descendant of the desk holds open, and reports when it is up and when the last
// of them has ended.
func follow(t *testing.T) (fifo string, up, gone <-chan struct{}) {
	t.Helper()
	fifo = filepath.Join(t.TempDir(), "life")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	upC, goneC := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(goneC)
		f, err := os.Open(fifo)
		if err != nil {
			return
		}
		defer f.Close()
		if _, err := io.ReadFull(f, make([]byte, 3)); err != nil {
			return
		}
		if err := os.WriteFile(filepath.Join(filepath.Dir(fifo), "up"), nil, 0o600); err != nil {
			return
		}
		close(upC)
		io.Copy(io.Discard, f)
	}()
	return fifo, upC, goneC
}

func wait(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(2 * time.Minute):
		t.Fatal("never: " + what)
	}
}

func TestCancelledTurnEndsWithAllThatItStarted(t *testing.T) { // D-29
	for _, act := range []string{"hang", "ignore"} {
		t.Run(act, func(t *testing.T) {
			fifo, up, gone := follow(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			go func() {
				_, err := Run(ctx, template(t, act+":"+fifo), someTask(t, Merge), t.TempDir())
				ended <- err
			}()
			wait(t, "the desk is up", up)
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
			wait(t, "the desk's child ended", gone)
		})
	}
}

func TestTurnOverTimeIsStopped(t *testing.T) { // D-29
	for _, act := range []string{"hang", "ignore"} {
		t.Run(act, func(t *testing.T) {
			t.Parallel()
			fifo, _, gone := follow(t)
			tpl := template(t, act+":"+fifo)
			tpl.Timeout = 4 * time.Second
			if _, err := Run(t.Context(), tpl, someTask(t, Merge), t.TempDir()); !errors.Is(err, ErrTimedOut) {
				t.Errorf("error %v", err)
			}
			// On a busy machine the time may be over before the child begins; nobody else would end the wait for it then.
			if f, err := os.OpenFile(fifo, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
				f.Close()
			}
			wait(t, "the desk's child ended", gone)
		})
	}
}

func TestFinishedTurnLeavesNothingRunning(t *testing.T) { // D-29
	fifo, _, gone := follow(t)
	if _, err := Run(t.Context(), template(t, "leave:"+fifo), someTask(t, Decide), t.TempDir()); err != nil {
		t.Error(err)
	}
	wait(t, "the desk's child ended", gone)
}
