package agents

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

const (
	turnMax      = 30 * time.Minute
	graceDefault = 10 * time.Second
)

// Template is the command that wakes the desk. It is never given to a shell.
type Template struct {
	// Argv is the program, a name in PATH or an absolute path, and its arguments. {task}, {result},
	// {scratch} and {thread} are filled in; without {task} the task's path follows as the last argument.
	Argv []string
	// Timeout ends a turn, at most 30 minutes; 0 is 30 minutes.
	Timeout time.Duration
	// Env is added to the environment, KEY=VALUE.
	Env []string
	// Grace is how long an interrupted process may take to end before it is killed; 0 is ten seconds.
	Grace time.Duration
}

// Validate tells what is wrong with a template.
func (t Template) Validate() error {
	if len(t.Argv) == 0 || t.Argv[0] == "" {
		return fmt.Errorf("desk command: empty")
	}
	if p := t.Argv[0]; strings.ContainsAny(p, `/\`) && !filepath.IsAbs(p) {
		return fmt.Errorf("desk command %q: want a name or an absolute path", p)
	}
	for _, a := range slices.Concat(t.Argv, t.Env) {
		if strings.ContainsRune(a, 0) {
			return fmt.Errorf("desk command: %q holds a zero byte", a)
		}
	}
	for _, e := range t.Env {
		if key, _, ok := strings.Cut(e, "="); !ok || key == "" {
			return fmt.Errorf("desk environment %q: want KEY=VALUE", e)
		}
	}
	if t.Timeout < 0 || t.Timeout > turnMax {
		return fmt.Errorf("desk timeout %s: want at most %s", t.Timeout, turnMax)
	}
	if t.Grace < 0 || t.Grace > time.Minute {
		return fmt.Errorf("desk grace %s: want at most a minute", t.Grace)
	}
	return nil
}

// command fills in the placeholders of the arguments.
func (t Template) command(task Task, taskPath string) []string {
	fill := strings.NewReplacer("{task}", taskPath, "{result}", task.Result, "{scratch}", task.Scratch, "{thread}", task.Thread)
	argv, named := []string{t.Argv[0]}, false
	for _, a := range t.Argv[1:] {
		named = named || strings.Contains(a, "{task}")
		argv = append(argv, fill.Replace(a))
	}
	if !named {
		argv = append(argv, taskPath)
	}
	return argv
}

// ends is when a turn that starts now is over.
func (t Template) ends(task Task, now time.Time) time.Time {
	most := t.Timeout
	if most == 0 {
		most = turnMax
	}
	end := now.Add(most)
	if !task.Deadline.IsZero() && task.Deadline.Before(end) {
		return task.Deadline
	}
	return end
}

func (t Template) grace() time.Duration {
	if t.Grace == 0 {
		return graceDefault
	}
	return t.Grace
}

// scrubbed are variables that a desk must not inherit: an agent takes itself for a nested session by some,
// others hand out the node's sign-in or point git at another repository. A * stands for any ending.
var scrubbed = []string{
	"CLAUDECODE", "CLAUDE_CODE_*", "CODEX_*", "GEMINI_*",
	"GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN",
	"GIT_*", "PWD", "OLDPWD",
}

func (t Template) environment(scratch string) []string {
	var env []string
	for _, e := range os.Environ() {
		key, _, _ := strings.Cut(e, "=")
		if !isScrubbed(key) {
			env = append(env, e)
		}
	}
	env = append(env, "PWD="+scratch)
	return append(env, t.Env...)
}

func isScrubbed(key string) bool {
	if runtime.GOOS == "windows" {
		key = strings.ToUpper(key)
	}
	return slices.ContainsFunc(scrubbed, func(s string) bool {
		if prefix, open := strings.CutSuffix(s, "*"); open {
			return strings.HasPrefix(key, prefix)
		}
		return key == s
	})
}
