package repo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// git runs the real git in one repository. Whatever it writes goes into a directory of its own.
type git struct {
	dir string
	env []string
	set []string // settings in env
}

// settings keep the user's own from changing what git answers, git from the network and from writing beside its
// index, and it from running hooks and signature checkers.
var settings = []string{
	"core.hooksPath=/dev/null", "core.splitIndex=false", "log.showSignature=false", "i18n.logOutputEncoding=UTF-8",
	"core.quotePath=false", "core.fsmonitor=false", "core.looseCompression=0", "gc.auto=0", "protocol.allow=never",
	"diff.renames=true", "diff.algorithm=histogram", "diff.indentHeuristic=false", "diff.noprefix=false", "diff.mnemonicPrefix=false",
	"diff.orderFile=/dev/null", "diff.renameLimit=7000",
	"merge.renames=true", "merge.directoryRenames=conflict", "merge.renameLimit=7000", "merge.conflictStyle=merge",
	"advice.detachedHead=false", "commit.gpgSign=false",
}

// local are the variables that would point git to another repository than the one it is asked about.
var local = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR",
	"GIT_PREFIX", "GIT_SHALLOW_FILE", "GIT_NAMESPACE", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT",
	"GIT_NO_REPLACE_OBJECTS", "GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS", "GIT_LITERAL_PATHSPECS",
}

func newGit(dir string) git {
	env := slices.DeleteFunc(os.Environ(), func(s string) bool {
		name, _, _ := strings.Cut(s, "=")
		return slices.Contains(local, name)
	})
	env = append(env, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1")
	env = append(env, "GIT_ALLOW_PROTOCOL=") // unlike protocol.allow, above what a repository allows itself
	return git{dir: dir, env: env}.setting(settings...)
}

// setting is the same git with more settings, each key=value.
func (g git) setting(more ...string) git {
	env := []string{"GIT_CONFIG_COUNT=" + strconv.Itoa(len(g.set)+len(more))}
	for i, s := range more {
		at := strings.LastIndexByte(s, '=')
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", len(g.set)+i, s[:at]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", len(g.set)+i, s[at+1:]))
	}
	g.set = append(slices.Clip(g.set), more...)
	return g.with(env...)
}

// programs are the settings that name programs which attributes of files call up.
const programs = `^(filter\..*\.(clean|smudge|process|required)|merge\..*\.driver)$`

// tame keeps git from running the filters and merge drivers that a repository's settings name: they may write
// where they like, as that of git-lfs does. What has a driver is merged as text. It reports whether there are any.
func (g git) tame(ctx context.Context) (tamed git, drivers bool, err error) {
	a, err := g.ask(ctx, nil, "config", "--name-only", "-z", "--get-regexp", programs)
	if err != nil {
		return g, false, err
	}
	var off []string
	for _, key := range cut(string(a.out)) {
		switch {
		case strings.HasPrefix(key, "merge."):
			drivers = true
			off = append(off, key+"=git merge-file --marker-size %L %A %O %B")
		case strings.HasSuffix(key, ".required"):
			off = append(off, key+"=false")
		default:
			off = append(off, key+"=")
		}
	}
	return g.setting(off...), drivers, nil
}

// with is the same git with more in its environment.
func (g git) with(env ...string) git {
	g.env = append(slices.Clip(g.env), env...)
	return g
}

// answer is what git said. Code is its exit status.
type answer struct {
	out    []byte
	stderr string
	code   int
}

// ask runs git to its end. Only a git that could not be run is an error; it judges no exit status.
func (g git) ask(ctx context.Context, stdin io.Reader, args ...string) (answer, error) {
	c := g.command(ctx, args...)
	c.Stdin = stdin
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.Output()
	a := answer{out: out, stderr: said.String()}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() > 0 {
		a.code, err = exit.ExitCode(), nil
	}
	if err != nil {
		return a, fmt.Errorf("git %s: %w", args[0], errors.Join(err, ctx.Err()))
	}
	return a, nil
}

func (g git) command(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, "git", args...)
	c.Dir, c.Env = g.dir, g.env
	return c
}

// out runs git and wants it to succeed.
func (g git) out(ctx context.Context, stdin io.Reader, args ...string) (string, error) {
	a, err := g.ask(ctx, stdin, args...)
	if err != nil {
		return "", err
	}
	if a.code != 0 {
		return "", fmt.Errorf("git %s: %s", args[0], a.says())
	}
	return string(a.out), nil
}

// line is the output without the last line end.
func (g git) line(ctx context.Context, args ...string) (string, error) {
	s, err := g.out(ctx, nil, args...)
	return strings.TrimRight(s, "\n"), err
}

// says is the first line of what git complained about.
func (a answer) says() string {
	first, _, _ := strings.Cut(strings.TrimSpace(a.stderr), "\n")
	if first == "" {
		return "exit status " + strconv.Itoa(a.code)
	}
	return strings.TrimPrefix(strings.TrimPrefix(first, "fatal: "), "error: ")
}

// complains reports whether git could not do all that it was asked: it takes a missing tree for an empty one, and
// says so on standard error alone.
func (a answer) complains() bool {
	for line := range strings.Lines(a.stderr) {
		if strings.HasPrefix(line, "error:") || strings.HasPrefix(line, "fatal:") {
			return true
		}
	}
	return false
}

// cut splits output that ends every field with a zero byte.
func cut(out string) []string {
	fields := strings.Split(out, "\x00")
	return fields[:len(fields)-1]
}
