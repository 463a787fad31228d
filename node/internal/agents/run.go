package agents

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// What callers tell apart about a turn that brought no result.
var (
	ErrGaveUp   = errors.New("the desk gave up")
	ErrFailed   = errors.New("the desk failed")
	ErrTimedOut = errors.New("the desk ran out of time")
)

// gaveUp is the exit status of a desk that gives up.
const gaveUp = 3

// The files of a turn in its folder.
const (
	taskName   = "task.json"
	resultName = "result.json"
	outputName = "output.log"
)

// Run wakes the desk for one turn and waits for its end. dir is the folder for the task, the result and the
// output; what an earlier turn left there is replaced. Only one turn may use a folder at a time. The error is
// ErrGaveUp, ErrTimedOut or ErrFailed, or the context's when that was cancelled; with ErrGaveUp the result
// may hold words.
func Run(ctx context.Context, t Template, task Task, dir string) (Result, error) {
	task, taskPath, err := prepare(t, task, dir)
	if err != nil {
		return Result{}, fmt.Errorf("run desk: %w: %w", ErrFailed, err)
	}
	output, err := openLog(filepath.Join(dir, outputName))
	if err != nil {
		return Result{}, fmt.Errorf("run desk: %w: %w", ErrFailed, err)
	}
	code, err := t.run(ctx, t.command(task, taskPath), task.Scratch, task.Deadline, output)
	if closeErr := output.Close(); err == nil && closeErr != nil {
		err = fmt.Errorf("%w: %w", ErrFailed, closeErr)
	}
	if err != nil {
		return Result{}, fmt.Errorf("run desk: %w", err)
	}
	r, err := readResult(task)
	switch {
	case code == gaveUp:
		return Result{Words: wordsOf(task)}, ErrGaveUp
	case code != 0:
		return Result{}, fmt.Errorf("%w: exit status %d", ErrFailed, code)
	case err != nil:
		return Result{}, fmt.Errorf("%w: %w", ErrFailed, err)
	}
	return r, nil
}

// wordsOf is what a desk says that has no result otherwise.
func wordsOf(task Task) string {
	r, err := decodeResult(task.Result)
	if err != nil {
		return ""
	}
	return tame(r.Words)
}

func prepare(t Template, task Task, dir string) (Task, string, error) {
	if err := t.Validate(); err != nil {
		return task, "", err
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return task, "", err
	}
	if !filepath.IsAbs(task.Scratch) {
		return task, "", fmt.Errorf("scratch %q: want an absolute path", task.Scratch)
	}
	if task.Kind != Decide && task.Kind != Merge && task.Kind != Brief {
		return task, "", fmt.Errorf("task kind %q: want decide, merge or brief", task.Kind)
	}
	task.Result = filepath.Join(dir, resultName)
	task.Deadline = t.ends(task, time.Now())
	if err := os.Remove(task.Result); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return task, "", fmt.Errorf("remove the last result: %w", err)
	}
	b, err := task.encode()
	if err != nil {
		return task, "", err
	}
	taskPath := filepath.Join(dir, taskName)
	return task, taskPath, os.WriteFile(taskPath, b, 0o600)
}

// run runs a command to its end and returns its exit status.
func (t Template) run(ctx context.Context, argv []string, dir string, until time.Time, output io.Writer) (int, error) {
	turn, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	cmd := exec.CommandContext(turn, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, t.environment(dir)
	cmd.Stdout, cmd.Stderr = output, output
	cmd.WaitDelay = t.grace()
	g := newGroup(cmd)
	cmd.Cancel = g.interrupt
	if err := cmd.Start(); err != nil {
		if why := stopped(ctx, turn); why != nil {
			return 0, why
		}
		return 0, fmt.Errorf("%w: %w", ErrFailed, err)
	}
	g.started()
	err := cmd.Wait()
	g.kill() // a turn leaves nothing running
	if err == nil || errors.Is(err, exec.ErrWaitDelay) {
		return 0, nil
	}
	if why := stopped(ctx, turn); why != nil {
		return 0, why
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Exited() {
		return exit.ExitCode(), nil
	}
	return 0, fmt.Errorf("%w: %w", ErrFailed, err)
}

// stopped tells why a turn was ended from outside, nil when it was not.
func stopped(ctx, turn context.Context) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case turn.Err() != nil:
		return ErrTimedOut
	}
	return nil
}
