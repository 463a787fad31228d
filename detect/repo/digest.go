package repo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/parley-mesh/parley/detect"
)

// blobMax is the size up to which content is read as code, in bytes.
const blobMax = 1 << 20

// digests lists what the sides changed by themselves since they left the trunk. What it means, understand says.
func (r *Repo) digests(ctx context.Context, tips []tip, trunk string) ([]*detect.Digest, error) {
	spans := make([]span, len(tips))
	for i, t := range tips {
		spans[i] = span{r.graph.meet(trunk, t.head).commit, t.head}
	}
	known := slices.DeleteFunc(slices.Clone(spans), func(s span) bool { return s.base == "" })
	slices.SortFunc(known, func(a, b span) int { return strings.Compare(a.base+a.head, b.base+b.head) })
	changed, err := r.changes(ctx, withRenames, slices.Compact(known))
	if err != nil {
		return nil, err
	}
	list := make([]*detect.Digest, len(tips))
	for i, t := range tips {
		d := &detect.Digest{Side: t.Side, Base: spans[i].base, Head: t.head}
		files, ok := changed[spans[i]]
		if !ok {
			d.Unreadable = []string{"what " + t.Ref + " changed (" + r.whyUnread(spans[i]) + ")"} // all of it
		}
		d.Files = slices.Clone(files)
		r.describe(&d.Side, t, trunk)
		d.Normalize()
		list[i] = d
	}
	return list, nil
}

// whyUnread says why nobody knows what changed in a span.
func (r *Repo) whyUnread(s span) string {
	switch {
	case s.base != "":
		return "objects of it are missing here"
	case len(r.shallow) > 0:
		return "its history is cut off"
	}
	return "it has no commit in common with the base"
}

// understand adds to digests what the contents of their files say. It leaves the files where they are.
func (r *Repo) understand(ctx context.Context, list []*detect.Digest, trunk string) error {
	if err := r.readContents(ctx, list, trunk); err != nil {
		return err
	}
	outside, err := r.outside(ctx, list)
	if err != nil {
		return err
	}
	for i, d := range list {
		r.compare(d, outside[i])
		d.Normalize()
	}
	return nil
}

// Read adds to a digest, which has its base and files, what the contents of the files say to a reader of code, beside unchanged files
// that the reader asks for. What was read for an earlier one is forgotten.
func (r *Repo) Read(ctx context.Context, d *detect.Digest, reader detect.Reader) error {
	r.reader = reader
	clear(r.units)
	clear(r.made)
	return r.understand(ctx, []*detect.Digest{d}, d.Base)
}

// PrintsOf are the fingerprints of what a side added to a file, of which the contents were read last.
func (r *Repo) PrintsOf(f *detect.File) []uint64 {
	return detect.NewPrints(r.units[unitKey{f.Old(), f.BaseBlob}].Prints, r.units[unitKey{f.Path, f.Blob}].Prints)
}

var issue = regexp.MustCompile(`(?:[\w.-]+/[\w.-]+)?#\d+\b`)

// subjectsMax is how many commits speak for a side's task.
const subjectsMax = 30

// describe takes the task, the issues and the moment of arrival from a side's own commits.
func (r *Repo) describe(s *detect.Side, t tip, trunk string) {
	s.Arrived = t.time
	own := r.graph.own(t.head, trunk)
	var subjects, issues []string
	for _, c := range own {
		if c.time > 0 {
			s.Arrived = min(s.Arrived, c.time)
			subjects = append(subjects, c.subject)
			issues = append(issues, c.closes...)
		}
	}
	s.Task = strings.Join(subjects[:min(len(subjects), subjectsMax)], "\n")
	s.Issues = append(issues, issue.FindAllString(s.Task, -1)...)
}

// readContents looks at every changed content once: who made the file, and, with a reader, what it declares.
func (r *Repo) readContents(ctx context.Context, list []*detect.Digest, trunk string) error {
	wanted := map[unitKey]bool{}
	var paths []string
	for _, d := range list {
		for _, f := range d.Files {
			if isCommit(f.Mode) || isCommit(f.BaseMode) {
				continue // of another repository
			}
			wanted[unitKey{f.Path, f.Blob}], wanted[unitKey{f.Old(), f.BaseBlob}] = true, true
			paths = append(paths, f.Path)
		}
	}
	if err := r.readAll(ctx, wanted); err != nil {
		return err
	}
	generated, err := r.markedGenerated(ctx, trunk, paths)
	for _, d := range list {
		for i := range d.Files {
			r.madeBy(&d.Files[i], generated)
		}
	}
	return err
}

// isCommit reports whether a mode is that of a submodule.
func isCommit(mode uint32) bool { return mode&0o170000 == 0o160000 }

// madeBy says who made a file: what either version says of itself, or .gitattributes.
func (r *Repo) madeBy(f *detect.File, generated map[string]bool) {
	f.Made = max(r.made[unitKey{f.Path, f.Blob}], r.made[unitKey{f.Old(), f.BaseBlob}])
	if f.Made == detect.ByHand && generated[f.Path] {
		f.Made = detect.Generated
	}
}

// readAll reads what is neither known nor kept.
func (r *Repo) readAll(ctx context.Context, wanted map[unitKey]bool) error {
	paths := map[string][]string{} // of each blob
	for k := range wanted {
		if _, ok := r.made[k]; !ok && k.blob != "" && !r.recall(k.path, k.blob) {
			paths[k.blob] = append(paths[k.blob], k.path)
		}
	}
	return r.readEach(ctx, paths, func(k unitKey, found known) {
		r.learn(k.path, k.blob, found)
		r.keep(k.path, k.blob, found)
	})
}

// readEach reads the paths of blobs, as many at a time as there are processors. It calls learn from several goroutines.
func (r *Repo) readEach(ctx context.Context, paths map[string][]string, learn func(unitKey, known)) error {
	type file struct {
		unitKey
		content []byte
	}
	files := make(chan file, readersMax)
	var readers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), readersMax, len(paths)) {
		readers.Go(func() {
			for f := range files {
				learn(f.unitKey, r.read(f.path, f.content))
			}
		})
	}
	err := r.blobs(ctx, slices.Sorted(maps.Keys(paths)), func(blob string, content []byte) {
		for _, p := range paths[blob] {
			files <- file{unitKey{p, blob}, content}
		}
	})
	close(files)
	readers.Wait()
	return err
}

// readersMax bounds how many files are read at a time: each may need 50 MB.
const readersMax = 8

// read is what a content by itself says. A nil content was not read: it is not to be taken for an empty file.
func (r *Repo) read(path string, content []byte) (k known) {
	k.Made = detect.MadeBy(path, content)
	switch {
	case r.reader == nil || k.Made != detect.ByHand:
	case content == nil:
		k.Unit = detect.Unit{Path: path, Quality: detect.TimedOut}
		if r.reader.Read(path, nil).Quality == detect.Unread {
			k.Unit.Quality = detect.Unread // no code anyway
		}
	default:
		k.Unit = r.reader.Read(path, content)
	}
	return k
}

// markedGenerated lists the paths that .gitattributes of the trunk says are generated.
func (r *Repo) markedGenerated(ctx context.Context, trunk string, paths []string) (map[string]bool, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	index, err := r.indexOf(ctx, trunk)
	if err != nil {
		return nil, err
	}
	defer os.Remove(index) // else Close does
	return r.generatedIn(ctx, index, paths)
}

// indexOf makes an index of a commit, and names its file.
func (r *Repo) indexOf(ctx context.Context, commit string) (string, error) {
	temporary, err := os.CreateTemp(r.scratch, "index-")
	if err != nil {
		return "", err
	}
	_ = temporary.Close() // it is empty
	if err := os.Remove(temporary.Name()); err != nil {
		return "", err
	}
	_, err = r.with("GIT_INDEX_FILE="+temporary.Name()).out(ctx, nil, "read-tree", commit)
	return temporary.Name(), err
}

// generatedIn lists the paths that .gitattributes of an index says are generated.
func (r *Repo) generatedIn(ctx context.Context, index string, paths []string) (map[string]bool, error) {
	input := strings.Join(paths, "\x00") + "\x00"
	out, err := r.with("GIT_INDEX_FILE="+index).out(ctx, strings.NewReader(input), "check-attr", "--cached", "-z", "--stdin", "linguist-generated")
	if err != nil {
		return nil, err
	}
	marked := map[string]bool{}
	for f := range slices.Chunk(cut(out), 3) {
		if len(f) == 3 && (f[2] == "set" || f[2] == "true") {
			marked[f[0]] = true
		}
	}
	return marked, nil
}

// compare lets the reader say what a side's changes mean, with unchanged files beside them.
func (r *Repo) compare(d *detect.Digest, outside []detect.Unit) {
	if r.reader == nil {
		return
	}
	d.Grammars = r.reader.Grammars()
	for i := range d.Files {
		f := &d.Files[i]
		f.Quality = max(r.units[unitKey{f.Old(), f.BaseBlob}].Quality, r.units[unitKey{f.Path, f.Blob}].Quality)
	}
	before, after := r.states(d)
	d.Prints = detect.Prints(detect.NewPrints(prints(before), prints(after)))
	d.Delta = r.reader.Compare(append(before, outside...), append(after, outside...))
}

// states are the files that a side changed, before and after.
func (r *Repo) states(d *detect.Digest) (before, after []detect.Unit) {
	for i := range d.Files {
		f := &d.Files[i]
		if old, ok := r.units[unitKey{f.Old(), f.BaseBlob}]; ok {
			before = append(before, old)
		}
		if now, ok := r.units[unitKey{f.Path, f.Blob}]; ok {
			after = append(after, now)
		}
	}
	return before, after
}

func prints(units []detect.Unit) (all []uint64) {
	for _, u := range units {
		all = append(all, u.Prints...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// restartsMax is how often git is started again behind a content over which it gave up.
const restartsMax = 20

// blobs reads contents in one run of git. One that is missing, or larger than blobMax, is passed on as nil: in a
// partial clone git gives up over the first one that it would have to fetch, and what is left after that happened
// too often is passed on as nil.
func (r *Repo) blobs(ctx context.Context, ids []string, each func(id string, content []byte)) error {
	for range restartsMax {
		if len(ids) == 0 {
			return nil
		}
		done, err := r.someBlobs(ctx, ids, each)
		if err != nil {
			return fmt.Errorf("read contents: %w", errors.Join(err, ctx.Err()))
		}
		if ids = ids[done:]; len(ids) > 0 {
			each(ids[0], nil)
			ids = ids[1:]
		}
	}
	for _, id := range ids {
		each(id, nil)
	}
	return nil
}

// someBlobs is how many contents were read before git gave up over the next one.
func (r *Repo) someBlobs(ctx context.Context, ids []string, each func(id string, content []byte)) (done int, err error) {
	c := r.command(ctx, "cat-file", "--batch")
	c.Stdin = strings.NewReader(strings.Join(ids, "\n") + "\n")
	out, err := c.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := c.Start(); err != nil {
		return 0, err
	}
	done, err = readBlobs(bufio.NewReader(out), ids, each)
	if err != nil && !errors.Is(err, io.EOF) {
		_ = c.Process.Kill() // it may still have more to say
	}
	waited := c.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](waited); ok && exit.ExitCode() > 0 && errors.Is(err, io.EOF) && ctx.Err() == nil {
		return done, nil
	}
	if err == nil {
		err = waited
	}
	return done, err
}

func readBlobs(in *bufio.Reader, ids []string, each func(string, []byte)) (int, error) {
	for done, id := range ids {
		head, err := in.ReadString('\n')
		if err != nil {
			return done, err
		}
		if strings.HasSuffix(head, " missing\n") || strings.HasSuffix(head, " ambiguous\n") {
			each(id, nil)
			continue
		}
		size, err := strconv.ParseInt(strings.TrimSpace(head[strings.LastIndexByte(head, ' ')+1:]), 10, 64)
		if err != nil {
			return done, err
		}
		var content []byte
		if size <= blobMax {
			content = make([]byte, size)
			_, err = io.ReadFull(in, content)
		} else {
			_, err = io.CopyN(io.Discard, in, size)
		}
		if err == nil {
			_, err = in.Discard(1)
		}
		if err != nil {
			return done, err
		}
		each(id, content)
	}
	return len(ids), nil
}
