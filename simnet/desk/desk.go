// Package desk is a desk without an agent, for demos and tests: it speaks the desk protocol (D-29) and settles
// every conflict by one rule, the lines of both sides. Whatever it says, it says that it is no agent.
package desk

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"
)

// The exit statuses of the desk protocol.
const (
	exitDone   = 0
	exitFailed = 1
	exitGaveUp = 3
)

// What the desk tells people. It must never pass for an agent.
const (
	wordsMerge  = "resolved by a rule (both sides' lines, union); this is no agent, and no test was run"
	wordsDecide = "a rule, not an agent: it takes no file from the pull request for the time being"
	wordsGaveUp = "gives up because it was told to; this is no agent"
)

type file struct {
	Path       string `json:"path"`
	PathBase64 string `json:"path_base64"`
}

func (f file) name() (string, error) {
	if f.PathBase64 == "" {
		return f.Path, nil
	}
	b, err := base64.StdEncoding.DecodeString(f.PathBase64)
	return string(b), err
}

type task struct {
	Kind     string    `json:"kind"`
	Base     string    `json:"base"`
	Pull     uint64    `json:"pull"`
	Files    []file    `json:"files"`
	Deadline time.Time `json:"deadline"`
	Head     string    `json:"head"`
	Tip      string    `json:"tip"`
	Scratch  string    `json:"scratch"`
	Result   string    `json:"result"`
}

type result struct {
	Pick   []int  `json:"pick,omitempty"`
	Commit string `json:"commit,omitempty"`
	Tests  string `json:"tests"`
	Words  string `json:"words"`
}

// Main does one turn and returns the exit status of the desk protocol. args are the path of the task file and,
// before it, --give-up for a desk that never settles anything.
func Main(args []string) int {
	code, err := run(args, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "desk:", err)
	}
	return code
}

func run(args []string, out io.Writer) (int, error) {
	flags := flag.NewFlagSet("desk", flag.ContinueOnError)
	flags.SetOutput(out)
	giveUp := flags.Bool("give-up", false, "give up every turn")
	if err := flags.Parse(args); err != nil {
		return exitFailed, err
	}
	if flags.NArg() != 1 {
		return exitFailed, errors.New("want the path of one task file")
	}
	t, err := readTask(flags.Arg(0))
	if err != nil {
		return exitFailed, err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if !t.Deadline.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, t.Deadline)
		defer cancel()
	}
	r, code := result{Tests: "none", Words: wordsGaveUp}, exitGaveUp
	if !*giveUp {
		if r, err = settle(ctx, t); err != nil {
			return exitFailed, err
		}
		code = exitDone
	}
	if err := writeResult(t.Result, r); err != nil {
		return exitFailed, err
	}
	return code, nil
}

func settle(ctx context.Context, t task) (result, error) {
	switch t.Kind {
	case "decide":
		return result{Tests: "none", Words: wordsDecide}, nil
	case "merge":
		commit, err := merge(ctx, t)
		return result{Commit: commit, Tests: "none", Words: wordsMerge}, err
	}
	return result{}, fmt.Errorf("task kind %q: want decide or merge", t.Kind)
}

func readTask(path string) (task, error) {
	var t task
	b, err := os.ReadFile(path)
	if err != nil {
		return t, err
	}
	if err := json.Unmarshal(b, &t); err != nil {
		return t, fmt.Errorf("decode task %s: %w", path, err)
	}
	for _, f := range t.Files {
		if _, err := f.name(); err != nil {
			return t, fmt.Errorf("decode task %s: path %q: %w", path, f.Path, err)
		}
	}
	if t.Scratch == "" || t.Result == "" {
		return t, fmt.Errorf("task %s: want a scratch and a place for the result", path)
	}
	return t, nil
}

func writeResult(path string, r result) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o600)
}
