package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/parley-mesh/parley/node/internal/trace"
)

// waitDelay is how long output may still be read after git was told to stop; grandchildren can hold the pipes.
const waitDelay = 3 * time.Second

// runner starts git in one fixed surrounding, so that no two calls differ by accident.
type runner struct {
	path   string   // the git program
	place  []string // leading arguments that name the repository
	config []string // key=value, passed with -c
	env    []string // the whole environment
}

// call is one run of git.
type call struct {
	args   []string
	stdin  io.Reader
	env    []string // added to the runner's
	config []string // added to the runner's
}

// answer is what a finished git said. A non-zero code is an answer, not an error.
type answer struct {
	stdout []byte
	stderr string
	code   int
}

func (r runner) command(ctx context.Context, c call) *exec.Cmd {
	args := append([]string(nil), r.place...)
	for _, list := range [][]string{r.config, c.config} {
		for _, kv := range list {
			args = append(args, "-c", kv)
		}
	}
	cmd := exec.CommandContext(ctx, r.path, append(args, c.args...)...)
	cmd.Env = append(append([]string(nil), r.env...), c.env...)
	cmd.Stdin = c.stdin
	cmd.WaitDelay = waitDelay
	ownGroup(cmd)
	return cmd
}

// ask runs git to its end. The error says that git could not be run or was stopped.
func (r runner) ask(ctx context.Context, c call) (a answer, err error) {
	ctx, end := trace.Within(ctx, "git "+c.args[0])
	defer func() { end(err) }()
	cmd := r.command(ctx, c)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	if cause := stopped(ctx); cause != nil {
		return answer{}, fmt.Errorf("git %s: %w", c.args[0], cause)
	}
	a = answer{stdout: out.Bytes(), stderr: strings.TrimSpace(errs.String())}
	if errors.Is(err, exec.ErrWaitDelay) {
		return a, nil // git is done; something that it started in the background still holds its output
	}
	if _, exited := errors.AsType[*exec.ExitError](err); exited && cmd.ProcessState.Exited() {
		a.code = cmd.ProcessState.ExitCode()
		return a, nil
	}
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return answer{}, fmt.Errorf("git %s: %w: %w", c.args[0], ErrNoGit, err)
	}
	if err != nil {
		return answer{}, fmt.Errorf("git %s: %w", c.args[0], err)
	}
	return a, nil
}

// must runs git and takes any exit status but 0 for an error.
func (r runner) must(ctx context.Context, c call) ([]byte, error) {
	a, err := r.ask(ctx, c)
	if err != nil {
		return nil, err
	}
	if a.code != 0 {
		return nil, a.fail(c)
	}
	return a.stdout, nil
}

// line runs git and returns its output without the line end.
func (r runner) line(ctx context.Context, args ...string) (string, error) {
	out, err := r.must(ctx, call{args: args})
	return strings.TrimSuffix(string(out), "\n"), err
}

// stream runs git and hands its output to read while it is being written.
func (r runner) stream(ctx context.Context, c call, read func(io.Reader) error) (err error) {
	ctx, end := trace.Within(ctx, "git "+c.args[0])
	defer func() { end(err) }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := r.command(ctx, c)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("git %s: %w", c.args[0], err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("git %s: %w", c.args[0], err)
	}
	readErr := read(out)
	if readErr != nil {
		cancel()
	}
	err = cmd.Wait()
	switch {
	case readErr != nil:
		return fmt.Errorf("git %s: %w", c.args[0], readErr)
	case stopped(ctx) != nil:
		return fmt.Errorf("git %s: %w", c.args[0], stopped(ctx))
	case err != nil:
		return fmt.Errorf("git %s: %w: %s", c.args[0], err, strings.TrimSpace(errs.String()))
	}
	return nil
}

func (a answer) fail(c call) error {
	return fmt.Errorf("git %s: exit %d: %s", c.args[0], a.code, oneLine(a.stderr))
}

// oneLine makes git's complaint fit the end of an error.
func oneLine(s string) string {
	lines := strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' })
	return strings.Join(lines, "; ")
}

// environment is this process's environment without anything that steers git from outside: an agent's or a
// hook's GIT_DIR, injected configuration, traces, prompts, and all of the names in drop.
func environment(keep, drop []string) []string {
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		name = strings.ToUpper(name)
		steers := strings.HasPrefix(name, "GIT_") && !slices.Contains(keep, name)
		if steers || slices.Contains(replaced, name) || slices.Contains(drop, name) {
			continue
		}
		env = append(env, kv)
	}
	return append(env, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "GCM_INTERACTIVE=never",
		"GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1", "GIT_LITERAL_PATHSPECS=1")
}

var (
	replaced     = []string{"LC_ALL", "LANGUAGE", "SSH_ASKPASS", "GCM_INTERACTIVE"}
	networkNames = []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE"}
	configNames  = []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_ATTR_NOSYSTEM"}
)
