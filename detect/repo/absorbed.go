package repo

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// leaveOutMerged takes out the sides whose work the base has already, though none of their commits: it was squashed,
// rebased or picked. Merging such a side changes nothing; or, where the base went on since then, one commit of the base is
// the side's whole patch, which is when git's rebase drops a commit.
func (r *Repo) leaveOutMerged(ctx context.Context, result *Result) error {
	var spans []span
	for _, d := range result.digests {
		if d.Base != "" && d.Base != result.Base.Commit && len(d.Files) > 0 {
			spans = append(spans, span{d.Base, result.Base.Commit})
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return strings.Compare(a.base, b.base) })
	changed, err := r.changes(ctx, withoutRenames, slices.Compact(spans))
	if err != nil {
		return err
	}
	var maybe []*detect.Digest
	var pairs [][2]string
	for _, d := range result.digests {
		files, ok := changed[span{d.Base, result.Base.Commit}]
		if ok && len(d.Files) > 0 && coversPaths(files, renamesApart(d.Files)) && !r.graph.meet(result.Base.Commit, d.Head).many {
			maybe = append(maybe, d)
			pairs = append(pairs, [2]string{result.Base.Commit, d.Head})
		}
	}
	if len(maybe) == 0 {
		return nil
	}
	tree, err := r.line(ctx, "rev-parse", result.Base.Commit+"^{tree}")
	if err != nil {
		return err
	}
	answers, err := r.mergeAll(ctx, pairs)
	if err != nil {
		return fmt.Errorf("merge the sides: %w", err)
	}
	for i, m := range answers {
		there := m.Outcome == detect.Merges && m.tree == tree
		if m.Outcome == detect.Conflicts {
			if there, err = r.picked(ctx, maybe[i], result.Base.Commit); err != nil {
				return err
			}
		}
		if there {
			result.Merged = append(result.Merged, tipOf(maybe[i]))
			result.digests = slices.DeleteFunc(result.digests, func(d *detect.Digest) bool { return d == maybe[i] })
		}
	}
	return nil
}

// pickedMax bounds in how many commits of the base that changed a path of a side its patch is looked for.
const pickedMax = 50

// picked reports whether a commit of the base has a side's patch, and no later one says that it takes it back.
func (r *Repo) picked(ctx context.Context, d *detect.Digest, trunk string) (bool, error) {
	want, err := r.patch(ctx, d.Base, d.Head)
	if err != nil || want == nil {
		return false, err
	}
	out, err := r.out(ctx, nil, "--literal-pathspecs", "log", "--first-parent", "-n", strconv.Itoa(pickedMax), "-z", "--format=%H %P%n%s",
		d.Base+".."+trunk, "--", d.Files[0].Path)
	if err != nil {
		return false, err
	}
	var later []string
	for record := range strings.SplitSeq(out, "\x00") {
		head, subject, _ := strings.Cut(record, "\n")
		ids := strings.Fields(head)
		if len(ids) < 2 {
			continue
		}
		got, err := r.patch(ctx, ids[1], ids[0])
		if err != nil {
			return false, err
		}
		if bytes.Equal(got, want) {
			return !slices.ContainsFunc(later, func(s string) bool { return takesBack(s, subject) }), nil
		}
		later = append(later, subject)
	}
	return false, nil
}

// takesBack reports whether a commit's subject says that it takes another back.
func takesBack(subject, other string) bool {
	other, _, _ = strings.Cut(other, " (#")
	return strings.Contains(strings.ToLower(subject), "revert") && strings.Contains(subject, other)
}

// patch is the sum of what was changed, wherever in the files it stands; nil for what has no lines.
func (r *Repo) patch(ctx context.Context, base, head string) ([]byte, error) {
	a, err := r.ask(ctx, nil, append([]string{"diff-tree"}, append(slices.Clip(asMerge), base, head)...)...)
	if err != nil || a.code != 0 || a.complains() {
		return nil, err // what is missing in a partial clone is not the same
	}
	_, patch, err := splitRaw(a.out)
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	for line := range bytes.Lines(patch) {
		switch {
		case bytes.HasPrefix(line, []byte("Binary files ")):
			return nil, nil
		case bytes.HasPrefix(line, []byte("@@ ")):
			line = []byte("@@\n")
		case bytes.HasPrefix(line, []byte("index ")), bytes.HasPrefix(line, []byte("similarity ")):
			continue
		}
		sum.Write(line)
	}
	return sum.Sum(nil), nil
}

// coversPaths reports whether a list of changes that git has sorted has all paths of another.
func coversPaths(all, some []detect.File) bool {
	for _, f := range some {
		if _, ok := slices.BinarySearchFunc(all, f.Path, func(g detect.File, path string) int { return strings.Compare(g.Path, path) }); !ok {
			return false
		}
	}
	return true
}
