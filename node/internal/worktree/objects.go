package worktree

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

// CommitExists reports whether the mirror holds the commit.
func (m *Mirror) CommitExists(ctx context.Context, commit OID) (bool, error) {
	if commit.Valid() && m.read.hasCommit(ctx, commit) {
		return true, nil
	}
	return m.git.hasCommit(ctx, commit)
}

func (r runner) hasCommit(ctx context.Context, commit OID) (bool, error) {
	if !commit.Valid() {
		return false, nil
	}
	a, err := r.ask(ctx, call{args: []string{"cat-file", "-e", string(commit) + "^{commit}"}})
	return a.code == 0, err
}

// IsAncestor reports whether old is new or one of its ancestors. A commit that the mirror does not hold is an
// error.
func (m *Mirror) IsAncestor(ctx context.Context, old, new OID) (bool, error) {
	if old.Valid() && new.Valid() {
		if yes, err := m.read.descends(ctx, new, old); err == nil {
			return yes, nil
		}
	}
	return m.git.isAncestor(ctx, old, new)
}

func (r runner) isAncestor(ctx context.Context, old, new OID) (bool, error) {
	if !old.Valid() || !new.Valid() {
		return false, fmt.Errorf("is %q an ancestor of %q: not commits", old, new)
	}
	c := call{args: []string{"merge-base", "--is-ancestor", string(old), string(new)}}
	a, err := r.ask(ctx, c)
	if err != nil {
		return false, err
	}
	if a.code > 1 {
		return false, a.fail(c)
	}
	return a.code == 0, nil
}

// MergeBase is the best common ancestor, or "" for histories that have none. Where there are several (criss-cross
// merges) it is the one that git names first.
func (m *Mirror) MergeBase(ctx context.Context, a, b OID) (OID, error) {
	if !a.Valid() || !b.Valid() {
		return "", fmt.Errorf("merge base of %q and %q: not commits", a, b)
	}
	c := call{args: []string{"merge-base", string(a), string(b)}}
	ans, err := m.git.ask(ctx, c)
	switch {
	case err != nil:
		return "", err
	case ans.code == 1 && ans.stderr == "":
		return "", nil
	case ans.code != 0:
		return "", ans.fail(c)
	}
	return OID(strings.TrimSpace(string(ans.stdout))), nil
}

// Entries is what commit holds at the paths. A path that it does not have is not in the map.
func (m *Mirror) Entries(ctx context.Context, commit OID, paths []string) (map[string]Entry, error) {
	if !commit.Valid() {
		return nil, fmt.Errorf("entries of %q: not a commit", commit)
	}
	if found, err := m.read.entries(ctx, commit, paths); err == nil {
		return found, nil
	}
	return m.git.entries(ctx, string(commit), paths)
}

// pathsPerCall keeps argument lists far below every system's limit.
const pathsPerCall = 200

func (r runner) entries(ctx context.Context, tree string, paths []string) (map[string]Entry, error) {
	found := map[string]Entry{}
	for some := range slices.Chunk(paths, pathsPerCall) {
		out, err := r.must(ctx, call{args: append([]string{"ls-tree", "-z", "--full-tree", tree, "--"}, some...)})
		if err != nil {
			return nil, err
		}
		for rec := range strings.SplitSeq(string(out), "\x00") {
			meta, path, ok := strings.Cut(rec, "\t")
			f := strings.Fields(meta) // mode type oid
			if ok && len(f) == 3 && f[1] != "tree" {
				found[path] = Entry{Mode: f[0], OID: OID(f[2])}
			}
		}
	}
	return found, nil
}

// Blob is the content of a blob in the mirror.
func (m *Mirror) Blob(ctx context.Context, blob OID) ([]byte, error) {
	if !blob.Valid() {
		return nil, fmt.Errorf("blob %q: not an object id", blob)
	}
	if body, err := m.read.blob(ctx, blob); err == nil {
		return body, nil
	}
	return m.git.must(ctx, call{args: []string{"cat-file", "blob", string(blob)}})
}

// maxText is the size over which content is not looked at line by line.
const maxText = 64 << 20

// blobs hands each blob that exists to see, in the order given. A blob over maxText is handed over as nil.
func (r runner) blobs(ctx context.Context, oids []OID, see func(OID, []byte)) error {
	if len(oids) == 0 {
		return nil
	}
	var in strings.Builder
	for _, o := range oids {
		fmt.Fprintln(&in, o)
	}
	return r.stream(ctx, call{args: []string{"cat-file", "--batch"}, stdin: strings.NewReader(in.String())}, func(out io.Reader) error {
		br := bufio.NewReaderSize(out, 64<<10)
		for range oids {
			if err := oneBlob(br, see); err != nil {
				return err
			}
		}
		return nil
	})
}

func oneBlob(br *bufio.Reader, see func(OID, []byte)) error {
	head, err := br.ReadString('\n')
	if err != nil {
		return err
	}
	f := strings.Fields(head) // oid type size, or oid "missing"
	if len(f) == 2 && f[1] == "missing" {
		return nil
	}
	if len(f) != 3 {
		return fmt.Errorf("cat-file said %q", head)
	}
	size, err := strconv.ParseInt(f[2], 10, 64)
	if err != nil {
		return fmt.Errorf("cat-file said %q", head)
	}
	if f[1] != "blob" || size > maxText {
		see(OID(f[0]), nil)
		_, err = io.CopyN(io.Discard, br, size+1)
		return err
	}
	body := make([]byte, size+1)
	if _, err := io.ReadFull(br, body); err != nil {
		return err
	}
	see(OID(f[0]), body[:size])
	return nil
}

// HasMarkers lists those of the paths in which commit has a conflict marker triple (<<<<<<<, =======, >>>>>>>)
// that none of the parents has at that path (D-18).
func (m *Mirror) HasMarkers(ctx context.Context, commit OID, paths []string, parents ...OID) ([]string, error) {
	mine, err := m.Entries(ctx, commit, paths)
	if err != nil {
		return nil, fmt.Errorf("conflict markers of %s: %w", commit, err)
	}
	theirs := make([]map[string]Entry, len(parents))
	for i, p := range parents {
		if theirs[i], err = m.Entries(ctx, p, paths); err != nil {
			return nil, fmt.Errorf("conflict markers of %s: %w", p, err)
		}
	}
	var marked []string
	for path, e := range mine {
		if !e.regular() {
			continue
		}
		allowed := map[string]int{}
		for i := range parents {
			if pe := theirs[i][path]; pe.regular() {
				counts, err := m.triples(ctx, pe.OID)
				if err != nil {
					return nil, fmt.Errorf("conflict markers: %w", err)
				}
				for t, n := range counts {
					allowed[t] = max(allowed[t], n)
				}
			}
		}
		counts, err := m.triples(ctx, e.OID)
		if err != nil {
			return nil, fmt.Errorf("conflict markers: %w", err)
		}
		for t, n := range counts {
			if n > allowed[t] {
				marked = append(marked, path)
				break
			}
		}
	}
	slices.Sort(marked)
	return marked, nil
}

func (m *Mirror) triples(ctx context.Context, blob OID) (map[string]int, error) {
	body, err := m.Blob(ctx, blob)
	if err != nil {
		return nil, err
	}
	return markerTriples(string(body)), nil
}

// markerTriples counts the conflict marker triples of a text by the words of their three lines.
func markerTriples(text string) map[string]int {
	counts := map[string]int{}
	var open, middle string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "<<<<<<<"):
			open, middle = line, ""
		case open != "" && strings.HasPrefix(line, "======="):
			middle = line
		case middle != "" && strings.HasPrefix(line, ">>>>>>>"):
			counts[open+"\n"+middle+"\n"+line]++
			open, middle = "", ""
		}
	}
	return counts
}

// alternate quotes a directory for GIT_ALTERNATE_OBJECT_DIRECTORIES, where a separator would end it.
func alternate(dir string) string {
	if strings.ContainsRune(dir, os.PathListSeparator) || strings.HasPrefix(dir, `"`) {
		return strconv.Quote(dir)
	}
	return dir
}
