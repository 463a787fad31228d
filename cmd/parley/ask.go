package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
)

const passphraseBytesMax = 1024

// passphrase asks for the passphrase, or reads it from the file of the flag.
func (a *app) passphrase(ctx context.Context, prompt string) (string, error) {
	if a.passphraseFile != "" {
		return readPassphrase(a.passphraseFile)
	}
	if !terminal(a.in) {
		return "", api.ErrNoTerminal
	}
	fmt.Fprint(a.err, prompt)
	defer fmt.Fprintln(a.err)
	text, err := await(ctx, a.in, term.ReadPassword)
	return string(text), err
}

// await reads from a terminal without echo until ctx ends, and puts the terminal back. The reading goroutine
// of an interrupted command ends with the process.
func await(ctx context.Context, in *os.File, read func(fd int) ([]byte, error)) ([]byte, error) {
	fd := int(in.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return nil, err
	}
	type typed struct {
		text []byte
		err  error
	}
	done := make(chan typed, 1)
	go func() {
		text, err := read(fd)
		done <- typed{text, err}
	}()
	select {
	case t := <-done:
		return t.text, t.err
	case <-ctx.Done():
		return nil, errors.Join(ctx.Err(), term.Restore(fd, before))
	}
}

// readPassphrase takes the first line of a file that nobody else may read.
func readPassphrase(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", fmt.Errorf("read passphrase: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if perm := info.Mode().Perm(); info.Mode().IsRegular() && perm&0o077 != 0 && os.PathSeparator == '/' {
		err := fmt.Errorf("read passphrase %s: mode %04o lets others read it", file, perm)
		return "", api.WithHint(err, "run chmod 600 "+file)
	}
	line, err := bufio.NewReader(io.LimitReader(f, passphraseBytesMax)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read passphrase: %w", err)
	}
	return strings.TrimRight(line, "\r\n"), nil
}

// unlock asks the person and opens the approval key, for one act. A demo's home asks nobody.
func (a *app) unlock(ctx context.Context, home node.Home, prompt string) (api.Prover, error) {
	c, err := home.Config()
	if err != nil {
		return nil, err
	}
	if c.Demo {
		a.note("this is a demo's home: no passphrase is asked")
		return api.DemoProver(), nil
	}
	if err := home.CheckApproval(); err != nil {
		return nil, err
	}
	passphrase, err := a.passphrase(ctx, prompt)
	if err != nil {
		return nil, err
	}
	return home.Unlock(passphrase)
}

// line reads one line of the input, without its end.
func (a *app) line(ctx context.Context) (string, error) {
	type typed struct {
		text string
		err  error
	}
	done := make(chan typed, 1)
	go func() { // ends with the process when the command is interrupted
		text, err := readLine(a.in)
		done <- typed{text, err}
	}()
	select {
	case t := <-done:
		return t.text, t.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// readLine reads up to the end of a line and not a byte further, so that the next question finds its answer.
func readLine(r io.Reader) (string, error) {
	var line []byte
	for b := make([]byte, 1); len(line) < passphraseBytesMax; {
		n, err := r.Read(b)
		if n == 1 && b[0] == '\n' {
			break
		}
		line = append(line, b[:n]...)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", err
		}
	}
	return strings.TrimRight(string(line), "\r"), nil
}
