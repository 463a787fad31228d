package desk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// repository is the scratch, reached by the git program alone.
type repository struct{ dir string }

// identity signs every commit of this desk.
var identity = []string{
	"GIT_AUTHOR_NAME=parley demo desk", "GIT_AUTHOR_EMAIL=desk@parley.invalid",
	"GIT_COMMITTER_NAME=parley demo desk", "GIT_COMMITTER_EMAIL=desk@parley.invalid",
}

// run returns what git prints. The person's git settings, hooks and signing keys have no part in it.
func (r repository) run(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	out, _, err := r.ask(ctx, stdin, args...)
	return out, err
}

func (r repository) ask(ctx context.Context, stdin []byte, args ...string) (out []byte, code int, err error) {
	settings := []string{"-C", r.dir, "-c", "core.hooksPath=" + os.DevNull, "-c", "commit.gpgSign=false", "-c", "core.quotePath=false"}
	cmd := exec.CommandContext(ctx, "git", append(settings, args...)...)
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "GIT_") {
			cmd.Env = append(cmd.Env, e)
		}
	}
	cmd.Env = append(cmd.Env, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1", "LC_ALL=C")
	cmd.Env = append(cmd.Env, identity...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), &stdout, &stderr
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	}
	if err != nil {
		err = fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return stdout.Bytes(), code, err
}

func (r repository) line(ctx context.Context, args ...string) (string, error) {
	out, err := r.run(ctx, nil, args...)
	return strings.TrimSpace(string(out)), err
}

// mergeHead is the commit being merged, "" when no merge is under way.
func (r repository) mergeHead(ctx context.Context) (string, error) {
	path, err := r.line(ctx, "rev-parse", "--git-path", "MERGE_HEAD")
	if err != nil {
		return "", err
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.dir, path)
	}
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(b)), err
}

// side is one stage of a path in conflict; the zero side is an absent file.
type side struct{ mode, oid string }

func (s side) absent() bool { return s.oid == "" }

func (s side) plain() bool { return s.mode == "100644" || s.mode == "100755" }

// conflict is a path with its stages: base, ours (the pull request) and theirs (the base branch).
type conflict struct {
	path  string
	stage [4]side
}

// conflicts lists the unmerged paths in git's order.
func (r repository) conflicts(ctx context.Context) ([]conflict, error) {
	out, err := r.run(ctx, nil, "ls-files", "-u", "-z")
	if err != nil {
		return nil, err
	}
	var list []conflict
	for entry := range strings.SplitSeq(string(out), "\x00") {
		if entry == "" {
			continue
		}
		meta, path, ok := strings.Cut(entry, "\t")
		f := strings.Fields(meta)
		if !ok || len(f) != 3 || len(f[2]) != 1 || f[2] < "1" || f[2] > "3" {
			return nil, fmt.Errorf("git ls-files: odd entry %q", entry)
		}
		if n := len(list); n == 0 || list[n-1].path != path {
			list = append(list, conflict{path: path})
		}
		list[len(list)-1].stage[f[2][0]-'0'] = side{mode: f[0], oid: f[1]}
	}
	return list, nil
}

func (r repository) blob(ctx context.Context, s side) ([]byte, error) {
	if s.absent() {
		return nil, nil
	}
	return r.run(ctx, nil, "cat-file", "blob", s.oid)
}
