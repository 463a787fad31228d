package demo

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"time"
)

// process is one program of the demo. Should it end by itself, or be killed, it is started again.
type process struct {
	name string
	argv []string
	log  string // file that takes what it prints
	pid  string // file that names the running one

	mu      sync.Mutex
	cmd     *exec.Cmd
	stopped bool
	ended   chan struct{} // closed when the keeper has ended
}

// startProcess starts a program and keeps it running until stop.
func startProcess(ctx context.Context, p *process) error {
	if err := os.MkdirAll(filepath.Dir(p.pid), 0o700); err != nil {
		return err
	}
	p.ended = make(chan struct{})
	first := make(chan error, 1)
	go p.keep(ctx, first)
	return <-first
}

func (p *process) keep(ctx context.Context, first chan<- error) {
	defer close(p.ended)
	// A program that dies with its parent dies with the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for again := false; ; again = true {
		err := p.launch()
		if !again {
			first <- err
		}
		if err != nil {
			return
		}
		p.cmd.Wait() //nolint:errcheck // how it ended does not matter: it is started again
		p.mu.Lock()
		done := p.stopped || ctx.Err() != nil
		p.mu.Unlock()
		if done {
			return
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return
		}
	}
}

func (p *process) launch() error {
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return nil
	}
	p.cmd = exec.Command(p.argv[0], p.argv[1:]...)
	p.cmd.Stdout, p.cmd.Stderr = out, out
	p.cmd.Env = quietEnv(os.Environ())
	dieWithParent(p.cmd)
	if err := p.cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.name, err)
	}
	return os.WriteFile(p.pid, []byte(strconv.Itoa(p.cmd.Process.Pid)), 0o600)
}

// quietEnv keeps the user's own credentials and git settings out of the demo.
func quietEnv(env []string) []string {
	out := withoutGit(env)
	return append(out, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
}

// stop ends the program for good, politely first.
func (p *process) stop() {
	p.mu.Lock()
	p.stopped = true
	if p.cmd != nil && p.cmd.Process != nil {
		p.cmd.Process.Signal(os.Interrupt) //nolint:errcheck // it may have ended already
	}
	p.mu.Unlock()
	select {
	case <-p.ended:
	case <-time.After(15 * time.Second):
		p.mu.Lock()
		p.cmd.Process.Kill() //nolint:errcheck // it may have ended already
		p.mu.Unlock()
		<-p.ended
	}
	os.Remove(p.pid) //nolint:errcheck // only a hint for people
}

// tail is the end of what a program printed, for an error.
func (p *process) tail() string {
	f, err := os.Open(p.log)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > 2000 {
		if _, err := f.Seek(-2000, io.SeekEnd); err != nil {
			return ""
		}
	}
	b, err := io.ReadAll(f)
	if err != nil {
		return ""
	}
	return string(b)
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
