package worktree

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// Git names the git program.
type Git struct {
	Path string // empty: the git of the search path
}

// Version is a git release.
type Version struct{ Major, Minor, Patch int }

// oldest is the first git with merge-tree --write-tree.
var oldest = Version{2, 38, 0}

// String is the version as git prints it, such as "2.39.5".
func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch) }

func (v Version) before(w Version) bool {
	if v.Major != w.Major {
		return v.Major < w.Major
	}
	if v.Minor != w.Minor {
		return v.Minor < w.Minor
	}
	return v.Patch < w.Patch
}

// Probe asks git for its version. The error is ErrNoGit or ErrOldGit where that is the cause; with ErrOldGit
// the version is still returned.
func (g Git) Probe(ctx context.Context) (Version, error) {
	path, err := exec.LookPath(g.program())
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return Version{}, fmt.Errorf("find %s: %w", g.program(), ErrNoGit)
	}
	out, err := runner{path: path, env: environment(nil, networkNames)}.line(ctx, "version")
	if err != nil {
		return Version{}, err
	}
	v, err := parseVersion(out)
	if err != nil {
		return Version{}, fmt.Errorf("%s: %w", path, err)
	}
	if v.before(oldest) {
		return v, fmt.Errorf("%s is git %s: %w", path, v, ErrOldGit)
	}
	return v, nil
}

// parseVersion reads "git version 2.39.5 (Apple Git-154)" and "git version 2.45.0.windows.1".
func parseVersion(s string) (Version, error) {
	words := strings.Fields(s)
	if len(words) < 3 || words[0] != "git" || words[1] != "version" {
		return Version{}, fmt.Errorf("read version %q: not git's", s)
	}
	var n [3]int
	for i, part := range strings.SplitN(words[2], ".", 4) {
		if i == len(n) {
			break
		}
		v, err := strconv.Atoi(part)
		if err != nil && i < 2 {
			return Version{}, fmt.Errorf("read version %q: %w", s, err)
		}
		n[i] = v
	}
	return Version{n[0], n[1], n[2]}, nil
}

func (g Git) program() string {
	if g.Path == "" {
		return "git"
	}
	return g.Path
}

// ours is the configuration in which git runs on the node's own repositories: nobody else's settings count,
// no hook or helper program starts, no transport is open, and the trial merge does what GitHub's does.
var ours = []string{
	"core.hooksPath=/dev/null", "core.fsmonitor=false", "core.quotePath=false", "core.attributesFile=/dev/null",
	"core.excludesFile=/dev/null", "protocol.allow=never", "gc.auto=0", "maintenance.auto=false", "credential.helper=",
	"submodule.recurse=false", "fetch.recurseSubmodules=false", "log.showRoot=true", "log.showSignature=false",
	"merge.renames=true", "merge.directoryRenames=conflict", "merge.renameLimit=7000", "merge.conflictStyle=merge",
	"diff.renames=false", "rerere.enabled=false", "color.ui=false",
}

// own is a runner for a repository that belongs to the node.
func (g Git) own(place ...string) runner {
	env := append(environment(nil, networkNames), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1")
	return runner{path: g.program(), place: place, config: ours, env: env}
}

// theirs is a runner for a person's checkout: their own settings count, since they decide how a file looks on
// this computer, but nothing of them is started except content filters, which may need the network settings of the
// environment (LFS).
func (g Git) theirs(dir string) runner {
	return runner{
		path: g.program(), place: []string{"-C", dir},
		config: []string{
			"core.fsmonitor=false", "core.hooksPath=/dev/null", "core.quotePath=false", "core.pager=cat",
			"color.ui=false", "gc.auto=0", "maintenance.auto=false", "log.showSignature=false", "submodule.recurse=false",
			"fetch.recurseSubmodules=false", "fetch.writeCommitGraph=false", "protocol.allow=never", "credential.helper=",
		},
		env: environment(configNames, nil),
	}
}
