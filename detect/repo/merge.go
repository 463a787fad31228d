package repo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// merged is git's answer about one pair, with the merged tree.
type merged struct {
	detect.Merge
	tree string
}

// mergeAll lets git merge pairs of commits in one run, as `git merge-tree --stdin` does. A pair that git could not
// judge has an outcome that says so, and spoils no other.
func (r *Repo) mergeAll(ctx context.Context, pairs [][2]string) ([]merged, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	var input strings.Builder
	for _, p := range pairs {
		fmt.Fprintf(&input, "%s %s\n", p[0], p[1])
	}
	a, err := r.merger.ask(ctx, strings.NewReader(input.String()), "merge-tree", "--write-tree", "--stdin")
	if err != nil {
		return nil, err
	}
	if a.code == 0 && !a.complains() {
		if all, err := parseMerges(string(a.out)); err == nil && len(all) == len(pairs) {
			for i := range all {
				all[i].Conflicts = realPaths(all[i].Conflicts, pairs[i])
			}
			return all, nil
		}
	}
	if len(pairs) == 1 {
		return []merged{r.unjudged(a)}, nil
	}
	half := len(pairs) / 2
	first, err := r.mergeAll(ctx, pairs[:half])
	if err != nil {
		return nil, err
	}
	second, err := r.mergeAll(ctx, pairs[half:])
	return append(first, second...), err
}

// Why nothing can be said about two commits.
const (
	cutOff  = "the history is cut off (a shallow clone): git fetch --unshallow brings the rest"
	strange = "the two have no commit in common"
)

// unjudged says why git did not judge a pair.
func (r *Repo) unjudged(a answer) merged {
	if strings.Contains(a.stderr, "unrelated histories") {
		return merged{Merge: detect.Merge{Outcome: detect.Unknown, Why: r.unknownBase()}}
	}
	return merged{Merge: detect.Merge{Outcome: detect.Unknown, Why: "git could not tell: " + a.says()}}
}

// unknownBase says why two commits have nothing in common.
func (r *Repo) unknownBase() string {
	if len(r.shallow) > 0 {
		return cutOff
	}
	return strange
}

var errOdd = errors.New("git merge-tree: the answer cannot be read")

// parseMerges reads what git says about each pair: 0 or 1, the tree, for a conflict its stages and messages, and
// an empty field.
func parseMerges(out string) (all []merged, err error) {
	fields := cut(out)
	next := func() string {
		if len(fields) == 0 {
			err = errOdd
			return ""
		}
		f := fields[0]
		fields = fields[1:]
		return f
	}
	for len(fields) > 0 && err == nil {
		status := next()
		m := merged{tree: next()}
		switch status {
		case "1":
			m.Outcome = detect.Merges
		case "0":
			m.Outcome = detect.Conflicts
			var paths []string
			for s := next(); s != "" && err == nil; s = next() {
				_, path, ok := strings.Cut(s, "\t")
				if !ok {
					return nil, errOdd
				}
				paths = append(paths, path)
			}
			var types map[string]string
			if types, fields, err = parseMessages(fields); err != nil {
				return nil, err
			}
			m.Conflicts = conflictsOf(paths, types)
			all = append(all, m)
			continue
		default:
			return nil, errOdd
		}
		for next() != "" && err == nil {
		}
		all = append(all, m)
	}
	return all, err
}

// submoduleAdvice begins what git says to people in the place of the empty field, where it could not merge a submodule.
const submoduleAdvice = "Recursive merging with submodules"

// parseMessages reads count, paths, type and text again and again, up to an empty field. It keeps the type of
// conflict of each path.
func parseMessages(fields []string) (types map[string]string, rest []string, err error) {
	types = map[string]string{}
	for len(fields) > 0 && fields[0] != "" {
		if strings.HasPrefix(fields[0], submoduleAdvice) {
			return types, fields[1:], nil
		}
		n, err := strconv.Atoi(fields[0])
		if err != nil || n < 0 || len(fields) < n+3 {
			return nil, nil, errOdd
		}
		paths, kind := fields[1:1+n], fields[1+n]
		fields = fields[3+n:]
		if !strings.HasPrefix(kind, "CONFLICT") {
			continue
		}
		for _, p := range paths {
			if types[p] == "" {
				types[p] = strings.TrimSuffix(strings.TrimPrefix(kind, "CONFLICT ("), ")")
			}
		}
	}
	if len(fields) == 0 {
		return nil, nil, errOdd
	}
	return types, fields[1:], nil
}

// conflictsOf names every path with stages, and those that only a message names: a directory that was renamed in
// two ways leaves no stages.
func conflictsOf(paths []string, types map[string]string) (all []detect.GitConflict) {
	for p := range types {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	for _, p := range slices.Compact(paths) {
		all = append(all, detect.GitConflict{Path: p, Type: types[p]})
	}
	return all
}

// realPaths puts the names of two commits' files in the place of git's temporary ones: where two things cannot have one
// path, git records one of them as "path~commit", with a number behind it where that name is taken too.
func realPaths(conflicts []detect.GitConflict, pair [2]string) (real []detect.GitConflict) {
	for _, c := range conflicts {
		for _, commit := range pair {
			if path, rest, ok := strings.Cut(c.Path, "~"+commit); ok && (rest == "" || rest[0] == '_') {
				c.Path = path
			}
		}
		real = append(real, c)
	}
	slices.SortStableFunc(real, func(a, b detect.GitConflict) int { return strings.Compare(a.Path, b.Path) })
	return slices.CompactFunc(real, func(a, b detect.GitConflict) bool { return a.Path == b.Path })
}

// commit makes a commit of a tree, among the objects that [Repo.Close] removes.
func (r *Repo) commit(ctx context.Context, tree string, parents ...string) (string, error) {
	args := []string{"commit-tree", tree, "-m", "parley check"}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	g := r.with("GIT_AUTHOR_NAME=parley", "GIT_AUTHOR_EMAIL=parley@localhost", "GIT_AUTHOR_DATE=@0 +0000",
		"GIT_COMMITTER_NAME=parley", "GIT_COMMITTER_EMAIL=parley@localhost", "GIT_COMMITTER_DATE=@0 +0000")
	id, err := g.line(ctx, args...)
	if err != nil {
		return "", fmt.Errorf("commit a tree: %w", err)
	}
	return id, nil
}
