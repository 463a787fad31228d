package github

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// gitTimeout bounds every git process but the smart HTTP ones.
const gitTimeout = 60 * time.Second

// bare is the path of a bare repository.
type bare string

// invocation is one run of git in a bare repository.
type invocation struct {
	args  []string
	stdin string
	env   []string
}

// git runs git and returns its output without the last line feed.
func (b bare) git(args ...string) (string, error) {
	return b.run(invocation{args: args})
}

func (b bare) run(in invocation) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), gitTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", in.args...)
	cmd.Dir = string(b)
	cmd.Env = slices.Concat(gitEnvironment(), in.env)
	cmd.Stdin = strings.NewReader(in.stdin)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		return strings.TrimSuffix(out.String(), "\n"), fmt.Errorf("git %s in %s: %w: %s", in.args[0], b, err, bytes.TrimSpace(complaint.Bytes()))
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

// gitEnvironment is the process's own without any setting that could lead git to another repository or configuration.
func gitEnvironment() []string {
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "GIT_") })
	return append(env, "GIT_AUTHOR_NAME=GitHub", "GIT_AUTHOR_EMAIL=noreply@github.com", "GIT_COMMITTER_NAME=GitHub",
		"GIT_COMMITTER_EMAIL=noreply@github.com", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
}

// resolve returns the object a revision names, empty when it names none.
func (b bare) resolve(revision string) string {
	oid, err := b.git("rev-parse", "-q", "--verify", "--end-of-options", revision)
	if err != nil {
		return ""
	}
	return oid
}

// tip returns the commit at the end of a branch, empty when there is no such branch.
func (b bare) tip(branch string) string {
	return b.resolve("refs/heads/" + branch + "^{commit}")
}

// objectType returns commit, tree, blob or tag, empty for an object that is not here.
func (b bare) objectType(oid string) string {
	kind, err := b.git("cat-file", "-t", oid)
	if err != nil {
		return ""
	}
	return kind
}

// contains reports whether ancestor can be reached from commit.
func (b bare) contains(commit, ancestor string) bool {
	_, err := b.git("merge-base", "--is-ancestor", ancestor, commit)
	return err == nil
}

// mergeTree merges two commits without writing a ref; clean is false when they conflict.
func (b bare) mergeTree(ours, theirs string) (tree string, clean bool, err error) {
	out, err := b.git("merge-tree", "--write-tree", "-z", "--no-messages", "--name-only", ours, theirs)
	tree, _, _ = strings.Cut(out, "\x00")
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 && tree != "" {
		return tree, false, nil
	}
	return tree, err == nil, err
}

// commit is what commitTree writes; author is "name <address>", GitHub itself when empty.
type commit struct {
	tree, message string
	parents       []string
	author        *User
}

func (b bare) commitTree(c commit) (string, error) {
	args := []string{"commit-tree", c.tree}
	for _, p := range c.parents {
		args = append(args, "-p", p)
	}
	in := invocation{args: args, stdin: c.message}
	if c.author != nil {
		in.env = []string{
			"GIT_AUTHOR_NAME=" + c.author.Login,
			fmt.Sprintf("GIT_AUTHOR_EMAIL=%d+%s@users.noreply.github.com", c.author.ID, c.author.Login),
		}
	}
	return b.run(in)
}

// rebase writes the commits of head anew on top of base and returns the last of them.
func (b bare) rebase(base, head string) (string, error) {
	work, err := os.MkdirTemp("", "rebase-")
	if err != nil {
		return "", fmt.Errorf("rebase %s: %w", head, err)
	}
	defer os.RemoveAll(work)
	tree := filepath.Join(work, "tree")
	if _, err := b.git("worktree", "add", "-q", "--detach", tree, head); err != nil {
		return "", err
	}
	_, err = bare(tree).git("rebase", "-q", "--force-rebase", "--onto", base, base)
	tip := bare(tree).resolve("HEAD")
	_, gone := b.git("worktree", "remove", "--force", tree)
	if err := errors.Join(err, gone); err != nil {
		return "", err
	}
	return tip, nil
}

// The hooks let git itself keep the books and the rules. The update hook refuses what the caller may not push, in GitHub's words. The
// reference-transaction hook notes every branch about to move and every branch that did or did not; STANDIN_SEED marks the filling of a new
// repository, which is no write.
const (
	updateHook = `#!/bin/sh
for ref in $STANDIN_PROTECTED; do
	if [ "$ref" = "$1" ]; then
		echo "error: GH006: Protected branch update failed for $1." >&2
		echo "error: Changes must be made through a pull request." >&2
		exit 1
	fi
done
[ -z "$STANDIN_ONLY" ] && exit 0
for ref in $STANDIN_ONLY; do
	[ "$ref" = "$1" ] && exit 0
done
echo "error: permission to update $1 denied" >&2
exit 1
`
	transactionHook = `#!/bin/sh
[ -z "$STANDIN_SEED" ] || exit 0
while read -r old new ref; do
	case "$ref" in
	refs/heads/*)
		[ "$old" = "$new" ] || printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$STANDIN_AT" "${STANDIN_KIND:-direct}" \
			"$STANDIN_LOGIN" "${STANDIN_PULL:-0}" "$ref" "$old" "$new" >>"${0%/*}/../` + notesFile + `"
	esac
done
`
)

// bareConfig is what GitHub's repositories grant and refuse, added to what git init writes.
const bareConfig = `[http]
	receivepack = true
[receive]
	hideRefs = refs/pull
	fsckObjects = true
	advertisePushOptions = true
[uploadpack]
	allowFilter = true
	allowAnySHA1InWant = true
[gc]
	auto = 0
`

// newBare makes a bare repository that answers as GitHub's do.
func newBare(dir, defaultBranch string) (bare, error) {
	b := bare(dir)
	if err := os.MkdirAll(filepath.Join(dir, "hooks"), 0o755); err != nil {
		return "", fmt.Errorf("make repository %s: %w", dir, err)
	}
	if _, err := b.git("init", "-q", "--bare", "--template=", "--initial-branch="+defaultBranch); err != nil {
		return "", err
	}
	config := filepath.Join(dir, "config")
	made, err := os.ReadFile(config)
	if err != nil {
		return "", fmt.Errorf("make repository %s: %w", dir, err)
	}
	if err := os.WriteFile(config, append(made, bareConfig...), 0o644); err != nil {
		return "", fmt.Errorf("make repository %s: %w", dir, err)
	}
	for name, text := range map[string]string{"update": updateHook, "reference-transaction": transactionHook} {
		if err := os.WriteFile(filepath.Join(dir, "hooks", name), []byte(text), 0o755); err != nil {
			return "", fmt.Errorf("make repository %s: %w", dir, err)
		}
	}
	return b, nil
}
