package repo

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// pipe is a git that stays, and answers one question after the other: starting one costs more than most answers.
type pipe struct {
	git  git
	args []string
	uses int

	command *exec.Cmd // nil: not started
	in      io.WriteCloser
	out     *bufio.Reader
	said    *bytes.Buffer
}

// usesMax is after how many questions a git is started anew: it keeps what it has read in memory.
const usesMax = 2000

// ask writes a question and lets read take the answer. A git that went away since it was asked last is replaced, and
// asked again. After an error the next question goes to a new one, so that no answer is taken for that to another question.
func (p *pipe) ask(ctx context.Context, question string, read func(*bufio.Reader) error) error {
	if p.uses++; p.uses > usesMax {
		_ = p.close() // it is idle
	}
	old := p.command != nil
	err := p.once(ctx, question, read)
	if err != nil && old && ctx.Err() == nil {
		err = p.once(ctx, question, read)
	}
	if err != nil {
		return fmt.Errorf("git %s: %w", p.args[0], err)
	}
	return nil
}

func (p *pipe) once(ctx context.Context, question string, read func(*bufio.Reader) error) error {
	if p.command == nil {
		if err := p.start(); err != nil {
			return err
		}
	}
	process := p.command.Process
	unwatch := context.AfterFunc(ctx, func() { _ = process.Kill() }) // then read fails
	wrote := make(chan error, 1)
	go func() { // a long question and a long answer would wait for each other
		_, err := io.WriteString(p.in, question)
		wrote <- err
	}()
	err := read(p.out)
	if err != nil {
		_ = process.Kill() // and the writing ends
	}
	err = errors.Join(err, <-wrote)
	if !unwatch() || err != nil {
		return errors.Join(ctx.Err(), err, p.close())
	}
	return nil
}

func (p *pipe) start() (err error) {
	// The git outlives the question that started it: close ends it.
	p.command = p.git.command(context.Background(), p.args...)
	p.said = &bytes.Buffer{}
	p.command.Stderr = p.said
	var out io.ReadCloser
	if p.in, err = p.command.StdinPipe(); err == nil {
		if out, err = p.command.StdoutPipe(); err == nil {
			p.out = bufio.NewReaderSize(out, 64<<10)
			err = p.command.Start()
		}
	}
	if err != nil {
		p.command = nil
	}
	return err
}

// close ends the git, and says what it complained about.
func (p *pipe) close() error {
	if p.command == nil {
		return nil
	}
	_ = p.in.Close()
	_ = p.command.Process.Kill()
	_ = p.command.Wait() // killed
	p.command, p.uses = nil, 0
	if said := strings.TrimSpace(p.said.String()); said != "" {
		return errors.New(said)
	}
	return nil
}

// line reads one line without its end.
func line(in *bufio.Reader) (string, error) {
	s, err := in.ReadString('\n')
	return strings.TrimSuffix(s, "\n"), err
}
