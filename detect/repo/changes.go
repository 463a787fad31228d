package repo

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// span is two commits between which something changed.
type span struct{ base, head string }

// How renames are looked for.
const (
	withRenames    = "-M"
	withoutRenames = "--no-renames"
)

// changes lists what changed in each span, without lines, in one run of git. A span of which git could not read
// everything is not in the answer.
func (r *Repo) changes(ctx context.Context, renames string, spans []span) (map[span][]detect.File, error) {
	found := map[span][]detect.File{}
	if len(spans) == 0 {
		return found, nil
	}
	var input strings.Builder
	for _, s := range spans {
		fmt.Fprintf(&input, "%s %s\n", s.head, s.base)
	}
	a, err := r.ask(ctx, strings.NewReader(input.String()), "diff-tree", "--stdin", "--always", "-r", "-z", "--raw", "--no-abbrev", renames)
	if err != nil {
		return nil, err
	}
	if a.code != 0 || a.complains() {
		return r.changesApart(ctx, renames, spans)
	}
	fields, i := cut(string(a.out)), -1
	for len(fields) > 0 {
		if !strings.HasPrefix(fields[0], ":") {
			if i++; i == len(spans) || fields[0] != spans[i].head {
				return nil, fmt.Errorf("git diff-tree: unexpected %q", fields[0])
			}
			found[spans[i]] = []detect.File{}
			fields = fields[1:]
			continue
		}
		f, used, err := parseRaw(fields)
		if err != nil {
			return nil, err
		}
		found[spans[i]] = append(found[spans[i]], f)
		fields = fields[used:]
	}
	return found, nil
}

// changesApart asks for each span by itself, so that what is missing spoils no other.
func (r *Repo) changesApart(ctx context.Context, renames string, spans []span) (map[span][]detect.File, error) {
	found := map[span][]detect.File{}
	if len(spans) == 1 {
		return found, nil
	}
	for _, s := range spans {
		one, err := r.changes(ctx, renames, []span{s})
		if err != nil {
			return nil, err
		}
		if files, ok := one[s]; ok {
			found[s] = files
		}
	}
	return found, nil
}

// parseRaw reads one record of git's raw format, and says how many fields it has.
func parseRaw(fields []string) (f detect.File, used int, err error) {
	meta := strings.Fields(strings.TrimPrefix(fields[0], ":"))
	if len(meta) != 5 || len(fields) < 2 {
		return f, 0, fmt.Errorf("git diff-tree: odd record %q", fields[0])
	}
	modes := [2]uint32{}
	for i := range modes {
		m, err := strconv.ParseUint(meta[i], 8, 32)
		if err != nil {
			return f, 0, fmt.Errorf("git diff-tree: odd mode in %q", fields[0])
		}
		modes[i] = uint32(m)
	}
	f = detect.File{Path: fields[1], BaseMode: modes[0], Mode: modes[1], BaseBlob: object(meta[2]), Blob: object(meta[3]), Op: detect.Modify}
	switch used = 2; meta[4][0] {
	case 'A':
		f.Op = detect.Add
	case 'D':
		f.Op = detect.Delete
	case 'R':
		if len(fields) < 3 {
			return f, 0, fmt.Errorf("git diff-tree: odd record %q", fields[0])
		}
		f.Op, f.From, f.Path, used = detect.Rename, fields[1], fields[2], 3
	}
	return f, used, nil
}

// object is an id, "" for the one that stands for nothing.
func object(id string) string {
	if strings.Trim(id, "0") == "" {
		return ""
	}
	return id
}

// asMerge are the options by which git compares as its merge does: renames found, lines compared by the histogram
// algorithm, hunks where that algorithm leaves them.
var asMerge = []string{
	"-r", "-z", "-M", "-l7000", "--raw", "-p", "-U0", "--no-abbrev", "--full-index", "--histogram", "--no-indent-heuristic",
	"--no-ext-diff", "--no-textconv", "--no-color",
}

// Changes lists what changed from one commit to another, with the changed lines as git's merge sees them.
func (r *Repo) Changes(ctx context.Context, base, head string) ([]detect.File, error) {
	a, err := r.ask(ctx, nil, append([]string{"diff-tree"}, append(slices.Clip(asMerge), base, head)...)...)
	if err != nil {
		return nil, err
	}
	if a.code != 0 || a.complains() {
		return nil, fmt.Errorf("changes from %s to %s: %s", base, head, a.says())
	}
	files, err := parsePatch(a.out)
	if err == nil {
		err = r.emptied(ctx, head, files)
	}
	if err != nil {
		return nil, fmt.Errorf("changes from %s to %s: %w", base, head, err)
	}
	return files, nil
}

// emptied says of renames which folders are gone in head.
func (r *Repo) emptied(ctx context.Context, head string, files []detect.File) error {
	var dirs []string
	for _, f := range files {
		if f.Op == detect.Rename {
			dirs = append(dirs, folders(f.From)...)
		}
	}
	slices.Sort(dirs)
	if dirs = slices.Compact(dirs); len(dirs) == 0 {
		return nil
	}
	// git has no way to ask about names with line ends; such a folder counts as still there.
	asked := slices.DeleteFunc(dirs, func(d string) bool { return strings.ContainsRune(d, '\n') })
	out, err := r.out(ctx, strings.NewReader(head+":"+strings.Join(asked, "\n"+head+":")+"\n"), "cat-file", "--batch-check")
	if err != nil {
		return err
	}
	gone := map[string]bool{}
	answers := strings.Split(out, "\n")
	for i, d := range asked {
		gone[d] = i < len(answers) && strings.HasSuffix(answers[i], " missing")
	}
	countEmptied(files, gone)
	return nil
}

// folders are those that a path stands in, from the innermost outward.
func folders(p string) (all []string) {
	for d := path.Dir(p); d != "."; d = path.Dir(d) {
		all = append(all, d)
	}
	return all
}

func countEmptied(files []detect.File, gone map[string]bool) {
	for i := range files {
		f := &files[i]
		if f.Op != detect.Rename {
			continue
		}
		for _, d := range folders(f.From) {
			if !gone[d] {
				break
			}
			f.Emptied++
		}
	}
}

// parsePatch reads the raw records and the patch behind them.
func parsePatch(out []byte) ([]detect.File, error) {
	files, patch, err := splitRaw(out)
	if err != nil {
		return nil, err
	}
	return files, addHunks(files, patch)
}

// splitRaw reads the raw records, which an empty field ends, and returns the patch behind them.
func splitRaw(out []byte) (files []detect.File, patch []byte, err error) {
	for len(out) > 0 && out[0] == ':' {
		var fields []string
		rest := out
		for len(fields) < 3 {
			field, after, ok := bytes.Cut(rest, []byte{0})
			if !ok {
				break
			}
			fields, rest = append(fields, string(field)), after
		}
		f, used, err := parseRaw(fields)
		if err != nil {
			return nil, nil, err
		}
		for range used {
			_, out, _ = bytes.Cut(out, []byte{0})
		}
		files = append(files, f)
	}
	return files, bytes.TrimPrefix(out, []byte{0}), nil
}

// addHunks reads a patch whose parts are in the order of the files. A change of type has two parts, and no lines
// that could be merged.
func addHunks(files []detect.File, patch []byte) error {
	var parts [][]byte
	for line := range bytes.Lines(patch) {
		if bytes.HasPrefix(line, []byte("diff --git ")) {
			parts = append(parts, nil)
		}
		if len(parts) > 0 {
			n := len(parts) - 1
			parts[n] = append(parts[n], line...)
		}
	}
	for i := range files {
		f := &files[i]
		want := 1
		if f.Op == detect.Modify && f.Mode&^0o777 != f.BaseMode&^0o777 {
			want = 2
		}
		if len(parts) < want {
			return fmt.Errorf("the patch has no part for %s", f.Path)
		}
		if want == 1 {
			if err := readPart(f, parts[0]); err != nil {
				return fmt.Errorf("patch of %s: %w", f.Path, err)
			}
		}
		parts = parts[want:]
	}
	return nil
}

// readPart takes the hunks out of one file's part of a patch.
func readPart(f *detect.File, part []byte) error {
	var h *detect.Hunk
	sum := fnv.New64a()
	flush := func() {
		if h != nil {
			h.Hash = sum.Sum64()
		}
		sum.Reset()
	}
	text := f.Op == detect.Modify || f.Op == detect.Rename
	for line := range bytes.Lines(part) {
		switch {
		case h == nil && bytes.HasPrefix(line, []byte("Binary files ")), h == nil && bytes.HasPrefix(line, []byte("GIT binary patch")):
			f.Binary = true
		case bytes.HasPrefix(line, []byte("@@ ")):
			flush()
			next, err := parseHunk(string(line))
			if err != nil {
				return err
			}
			if !text {
				return nil
			}
			f.Hunks = append(f.Hunks, next)
			h = &f.Hunks[len(f.Hunks)-1]
		case h != nil && line[0] == '+':
			sum.Write(line[1:])
		case h != nil && line[0] == '\\':
			sum.Write([]byte{0}) // the line before has no end
		}
	}
	flush()
	return nil
}

// parseHunk reads "@@ -3,2 +4 @@".
func parseHunk(line string) (detect.Hunk, error) {
	fields := strings.Fields(line)
	if len(fields) < 3 {
		return detect.Hunk{}, fmt.Errorf("odd hunk %q", line)
	}
	start, n, err := parseRange(strings.TrimPrefix(fields[1], "-"))
	if err != nil {
		return detect.Hunk{}, err
	}
	_, m, err := parseRange(strings.TrimPrefix(fields[2], "+"))
	if n > 0 {
		start--
	}
	return detect.Hunk{OldStart: start, OldLen: n, NewLen: m}, err
}

func parseRange(s string) (start, n uint32, err error) {
	first, length, ok := strings.Cut(s, ",")
	if !ok {
		length = "1"
	}
	a, errA := strconv.ParseUint(first, 10, 32)
	b, errB := strconv.ParseUint(length, 10, 32)
	if errA != nil || errB != nil {
		return 0, 0, fmt.Errorf("odd range %q", s)
	}
	return uint32(a), uint32(b), nil
}
