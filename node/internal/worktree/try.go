package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Conflict is one path that git could not merge.
type Conflict struct {
	Path   string
	Stage  [4]Entry // 1 Verdict.Base, 2 ours, 3 theirs; [0] is unused
	MadeUp bool     // ours or theirs does not hold these stages under this name: git moved or invented the path
}

// Message is what git says about one step of the merge. Type is stable, Text is for people.
type Message struct {
	Paths []string
	Type  string
	Text  string
}

// Verdict is git's own answer whether two commits merge.
type Verdict struct {
	Clean     bool
	Tree      OID // the merged tree (with conflict markers unless Clean); its objects are not kept
	Base      OID // the merge base, as MergeBase names it; set when not Clean
	Files     []Conflict
	Messages  []Message
	Unrelated bool // the commits have no common ancestor
}

// quarantinePrefix names the directories that take the objects of trial merges.
const quarantinePrefix = "quarantine-"

// Try lets git merge theirs into ours (the base branch's tip) without a working tree, the way GitHub does it.
// Nothing stays in the mirror. ErrVoid says that git answered neither yes nor no: it is never a conflict.
func (m *Mirror) Try(ctx context.Context, ours, theirs OID) (Verdict, error) {
	v, err := m.try(ctx, ours, theirs)
	if err != nil {
		return Verdict{}, fmt.Errorf("try merge of %s and %s: %w", ours, theirs, err)
	}
	return v, nil
}

func (m *Mirror) try(ctx context.Context, ours, theirs OID) (Verdict, error) {
	for _, c := range []OID{ours, theirs} {
		if ok, err := m.CommitExists(ctx, c); err != nil {
			return Verdict{}, err
		} else if !ok {
			return Verdict{}, fmt.Errorf("%w: no commit %q here", ErrVoid, c)
		}
	}
	if _, err := os.Stat(filepath.Join(m.dir, "shallow")); err == nil {
		return Verdict{}, fmt.Errorf("%w: %w", ErrVoid, errNoShallow)
	}
	quarantine, err := os.MkdirTemp(m.dir, quarantinePrefix)
	if err != nil {
		return Verdict{}, err
	}
	v, err := m.mergeTree(ctx, quarantine, ours, theirs)
	if gone := os.RemoveAll(quarantine); err == nil {
		err = gone
	}
	if err != nil || v.Clean {
		return v, err
	}
	return m.compare(ctx, v, ours, theirs)
}

// mergeTree runs the merge. git 2.39 answers "conflict" (exit 1) for a missing object too, with nothing on
// standard output, and takes a missing tree for an empty one, with a complaint on standard error only; so both
// are looked at before the exit status is believed.
func (m *Mirror) mergeTree(ctx context.Context, quarantine string, ours, theirs OID) (Verdict, error) {
	a, err := m.git.ask(ctx, call{
		args: []string{"merge-tree", "--write-tree", "-z", "--messages", string(ours), string(theirs)},
		env: []string{
			"GIT_OBJECT_DIRECTORY=" + quarantine,
			"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + alternate(filepath.Join(m.dir, "objects")),
		},
	})
	if err != nil {
		return Verdict{}, err
	}
	return a.verdict()
}

// verdict reads what merge-tree said.
func (a answer) verdict() (Verdict, error) {
	if a.code == 128 && strings.Contains(a.stderr, "unrelated histories") {
		return Verdict{Unrelated: true}, nil
	}
	if complains(a.stderr) || a.code != 0 && a.code != 1 {
		return Verdict{}, fmt.Errorf("%w: exit %d: %s", ErrVoid, a.code, oneLine(a.stderr))
	}
	v, err := parseMergeTree(string(a.stdout))
	if err != nil {
		return Verdict{}, fmt.Errorf("%w: %w", ErrVoid, err)
	}
	v.Clean = a.code == 0
	if v.Clean && len(v.Files) > 0 {
		return Verdict{}, fmt.Errorf("%w: a clean merge with conflicts", ErrVoid)
	}
	return v, nil
}

func complains(stderr string) bool {
	for line := range strings.Lines(stderr) {
		if strings.HasPrefix(line, "error:") || strings.HasPrefix(line, "fatal:") {
			return true
		}
	}
	return false
}

// compare holds each conflicted path against the trees. With several merge bases (criss-cross) git merges a base
// that no commit has, so what the named base holds takes its place.
func (m *Mirror) compare(ctx context.Context, v Verdict, ours, theirs OID) (Verdict, error) {
	if v.Unrelated {
		return v, nil
	}
	var err error
	if v.Base, err = m.MergeBase(ctx, ours, theirs); err != nil {
		return Verdict{}, err
	}
	paths := make([]string, len(v.Files))
	for i, f := range v.Files {
		paths[i] = f.Path
	}
	for side, commit := range []OID{1: v.Base, 2: ours, 3: theirs} {
		if side == 0 {
			continue
		}
		have, err := m.Entries(ctx, commit, paths)
		if err != nil {
			return Verdict{}, err
		}
		for i := range v.Files {
			f := &v.Files[i]
			if side > 1 {
				f.MadeUp = f.MadeUp || have[f.Path] != f.Stage[side]
			} else if !have[f.Path].Absent() {
				f.Stage[side] = have[f.Path]
			}
		}
	}
	return v, nil
}

var (
	errTruncated = errors.New("the answer ends in the middle")
	errNoShallow = errors.New("the history is cut off")
)

// parseMergeTree reads the -z output: the tree, entries up to an empty field, messages to the end.
func parseMergeTree(out string) (Verdict, error) {
	fields := strings.Split(out, "\x00")
	// After a submodule conflict git adds advice for people, outside of its own format.
	if rest := fields[len(fields)-1]; rest != "" && !strings.HasPrefix(rest, "Recursive merging with submodules") {
		return Verdict{}, errTruncated
	}
	fields = fields[:len(fields)-1]
	if len(fields) == 0 || !OID(fields[0]).Valid() {
		return Verdict{}, errors.New("the answer does not start with a tree")
	}
	v := Verdict{Tree: OID(fields[0])}
	fields = fields[1:]
	at := map[string]int{}
	for len(fields) > 0 && fields[0] != "" {
		path, stage, e, err := parseStage(fields[0])
		if err != nil {
			return Verdict{}, err
		}
		i, seen := at[path]
		if !seen {
			i = len(v.Files)
			at[path] = i
			v.Files = append(v.Files, Conflict{Path: path})
		}
		v.Files[i].Stage[stage] = e
		fields = fields[1:]
	}
	if len(fields) == 0 {
		return v, nil
	}
	var err error
	v.Messages, err = parseMessages(fields[1:])
	return v, err
}

// parseStage reads "<mode> <oid> <stage>\t<path>".
func parseStage(s string) (path string, stage int, e Entry, err error) {
	meta, path, ok := strings.Cut(s, "\t")
	f := strings.Fields(meta)
	if !ok || len(f) != 3 || len(f[2]) != 1 || f[2] < "1" || f[2] > "3" || !OID(f[1]).Valid() {
		return "", 0, Entry{}, fmt.Errorf("odd entry %q", s)
	}
	return path, int(f[2][0] - '0'), Entry{Mode: f[0], OID: OID(f[1])}, nil
}

// parseMessages reads "<n>", n paths, type and text, again and again.
func parseMessages(fields []string) ([]Message, error) {
	var list []Message
	for len(fields) > 0 {
		n, err := strconv.Atoi(fields[0])
		if err != nil || n < 0 {
			return nil, fmt.Errorf("odd message count %q", fields[0])
		}
		if len(fields)-3 < n {
			return nil, errTruncated
		}
		list = append(list, Message{Paths: fields[1 : 1+n], Type: fields[1+n], Text: strings.TrimSuffix(fields[2+n], "\n")})
		fields = fields[3+n:]
	}
	return list, nil
}
