package repo

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/parley-mesh/parley/detect"
)

// Desk is one working copy for those who look at it after every edit. It remembers what differs from a commit and
// keeps some gits running, so that a new digest costs little more than reading what was edited. It may be used by
// several goroutines; they wait for each other. Ten of them are no burden, a hundred are.
type Desk struct {
	repo *Repo
	mu   sync.Mutex

	there     git    // in the working copy, with its own settings
	top       string // the top directory of the working copy
	base      string // the commit
	was       map[string]entry
	now       map[string]entry // what differs; the zero entry is a path that is gone
	unread    map[string]bool  // paths that could not be looked at
	generated map[string]bool  // by path, as the base's attributes say; asked once for each path
	trees     map[string]string
	sparse    bool   // not all that is committed stands on the disk
	folds     bool   // the disk takes names that differ only in case for one
	modes     bool   // the disk knows which files are executable
	links     bool   // the disk has symbolic links
	index     string // a copy of the base's, for questions about attributes

	hash, tree, diff, contents pipe
}

// entry is one file of a tree.
type entry struct {
	mode uint32
	blob string
}

// DeskOptions say how a working copy is looked at.
type DeskOptions struct {
	// Base is the commit that changes are counted from; "" for the merge base of what is checked out and the trunk.
	Base string
	// Reader makes the reader of code from how modules are found at the base; nil for none.
	Reader func(*Layout) detect.Reader
	// Cache keeps what was read of committed files; nil for none. A desk does not close it.
	Cache Cache
}

// OpenDesk looks at a whole working copy once. [ErrNoRepository] and, for a base that is none, [ErrNoRevision].
func OpenDesk(ctx context.Context, dir string, o DeskOptions) (*Desk, error) {
	r, err := Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	d := &Desk{repo: r, generated: map[string]bool{}, trees: map[string]string{}}
	if err = d.open(ctx, dir, o); err != nil {
		return nil, errors.Join(fmt.Errorf("look at %s: %w", dir, err), d.Close())
	}
	return d, nil
}

func (d *Desk) open(ctx context.Context, dir string, o DeskOptions) (err error) {
	d.there = d.repo.git
	d.there.dir = dir
	if d.there, _, err = d.there.tame(ctx); err != nil {
		return err
	}
	if d.top, err = d.there.line(ctx, "rev-parse", "--path-format=absolute", "--show-toplevel"); err != nil {
		return err
	}
	d.there.dir = d.top
	if d.base, err = d.findBase(ctx, o.Base); err != nil {
		return err
	}
	layout, err := d.repo.Layout(ctx, d.base)
	if err != nil {
		return err
	}
	d.was = layout.files
	if d.repo.cache = o.Cache; o.Reader != nil {
		d.repo.reader = o.Reader(layout)
	}
	d.sparse = d.flag(ctx, "core.sparseCheckout", false)
	d.folds = d.flag(ctx, "core.ignoreCase", false)
	d.modes = d.flag(ctx, "core.fileMode", true)
	d.links = d.flag(ctx, "core.symlinks", true)
	d.hash = pipe{git: d.there, args: []string{"hash-object", "-w", "--stdin-paths"}}
	d.tree = pipe{git: d.there, args: []string{"mktree", "-z", "--missing", "--batch"}}
	d.diff = pipe{git: d.there, args: append([]string{"diff-tree", "--stdin"}, asMerge...)}
	d.contents = pipe{git: d.there, args: []string{"cat-file", "--batch"}}
	return d.scan(ctx)
}

// findBase is the commit that a desk counts from.
func (d *Desk) findBase(ctx context.Context, name string) (string, error) {
	if name != "" {
		return d.repo.Resolve(ctx, name)
	}
	_, trunk, err := d.repo.Trunk(ctx)
	if err != nil {
		return "", err
	}
	a, err := d.there.ask(ctx, nil, "merge-base", "HEAD", trunk)
	if common, _, _ := strings.Cut(string(a.out), "\n"); err != nil || common != "" {
		return common, err
	}
	return "", fmt.Errorf("merge base of HEAD and %s: %w", trunk, ErrNoRevision)
}

// flag is a setting of the working copy.
func (d *Desk) flag(ctx context.Context, name string, otherwise bool) bool {
	s, err := d.there.line(ctx, "config", "--type=bool", name)
	if err != nil {
		return otherwise // it is not set
	}
	return s == "true"
}

// Base is the commit that digests are counted from.
func (d *Desk) Base() string { return d.base }

// Repo is the repository, for questions beside the digest.
func (d *Desk) Repo() *Repo { return d.repo }

// Warm puts all code of the base into the cache, so that the first edit of a file costs no more than later ones. It may run
// beside digests, and says how many files it had to read.
func (d *Desk) Warm(ctx context.Context) (read int, err error) {
	r := d.repo
	if r.cache == nil || r.reader == nil {
		return 0, nil
	}
	paths := map[string][]string{}
	for path, is := range d.was {
		if r.reader.Read(path, nil).Language != "" && !isCommit(is.mode) && !intact(r.cache.Get(key(r.reader.Grammars(), path, is.blob))) {
			paths[is.blob] = append(paths[is.blob], path)
			read++
		}
	}
	err = r.readEach(ctx, paths, func(k unitKey, found known) { r.keep(k.path, k.blob, found) })
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", d.base, err)
	}
	return read, nil
}

// Close ends what runs and removes what was made.
func (d *Desk) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.pipes() {
		_ = p.close() // what it complained about, its question has told
	}
	return d.repo.Close()
}

func (d *Desk) pipes() []*pipe { return []*pipe{&d.hash, &d.tree, &d.diff, &d.contents} }

// Digest is what stands in the working copy now, committed or not, against the base. Paths, slash-separated and
// below the top of the working copy, are those that may have changed since the last digest, ignored ones too; no
// paths at all stand for any. The side has a Kind, a Checkout and Folds; who works there and on what, and what is
// claimed, the caller puts in. Paths that cannot be read are Unreadable.
func (d *Desk) Digest(ctx context.Context, paths ...string) (*detect.Digest, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	whole := len(paths) == 0
	if !whole {
		var err error
		if whole, err = d.look(ctx, paths); err != nil {
			return nil, fmt.Errorf("look at %s: %w", d.top, err)
		}
	}
	if whole {
		if err := d.scan(ctx); err != nil {
			return nil, fmt.Errorf("look at %s: %w", d.top, err)
		}
	}
	digest, err := d.digest(ctx)
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", d.top, err)
	}
	return digest, nil
}

func (d *Desk) digest(ctx context.Context) (*detect.Digest, error) {
	digest := &detect.Digest{Base: d.base, Unreadable: slices.Sorted(maps.Keys(d.unread))}
	digest.Side = detect.Side{Kind: detect.Worktree, Checkout: d.top, Folds: d.folds}
	var err error
	if digest.Files, err = d.changes(ctx); err != nil {
		return nil, err
	}
	outside, err := d.read(ctx, digest)
	if err != nil {
		return nil, err
	}
	d.repo.compare(digest, outside)
	digest.Normalize()
	return digest, nil
}

// changes asks git for the difference of two trees that have nothing but what differs.
func (d *Desk) changes(ctx context.Context) (files []detect.File, err error) {
	if len(d.now) == 0 {
		return nil, nil
	}
	was, is := map[string]entry{}, map[string]entry{}
	for path, now := range d.now {
		if now.blob != "" {
			is[path] = now
		}
		if old, ok := d.was[path]; ok {
			was[path] = old
		}
	}
	from, err := d.makeTree(ctx, was)
	if err != nil {
		return nil, err
	}
	to, err := d.makeTree(ctx, is)
	if err != nil {
		return nil, err
	}
	end := "parley-" + rand.Text() + "\n" // git says what it cannot take for a name, and then all that it said before is out
	err = d.diff.ask(ctx, from+" "+to+"\n"+end, func(in *bufio.Reader) error {
		out, err := readUntil(in, []byte(end))
		if err != nil {
			return err
		}
		_, out, _ = bytes.Cut(out, []byte("\n")) // the names of the trees
		files, err = parsePatch(out)
		return err
	})
	countEmptied(files, d.goneFolders(files))
	return files, err
}

// goneFolders are those, of the folders that files were renamed out of, in which nothing stands any more.
func (d *Desk) goneFolders(files []detect.File) map[string]bool {
	gone := map[string]bool{}
	for _, f := range files {
		if f.Op == detect.Rename {
			for _, dir := range folders(f.From) {
				gone[dir] = true
			}
		}
	}
	if len(gone) == 0 {
		return nil
	}
	stands := func(p string) {
		for _, dir := range folders(p) {
			delete(gone, dir)
		}
	}
	for p := range d.was {
		if now, changed := d.now[p]; !changed || now.blob != "" {
			stands(p)
		}
	}
	for p, now := range d.now {
		if now.blob != "" {
			stands(p)
		}
	}
	return gone
}

// readUntil reads up to a line that ends everything.
func readUntil(in *bufio.Reader, end []byte) (all []byte, err error) {
	for !bytes.HasSuffix(all, end) {
		part, err := in.ReadSlice('\n')
		all = append(all, part...)
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
	}
	return all[:len(all)-len(end)], nil
}

// read reads the contents of both sides of every change, and forgets those of earlier digests. Outside are unchanged files
// that the reader wanted to see, too.
func (d *Desk) read(ctx context.Context, digest *detect.Digest) (outside []detect.Unit, err error) {
	r := d.repo
	units, made := r.units, r.made
	r.units, r.made = map[unitKey]detect.Unit{}, map[unitKey]detect.Made{}
	var unknown []string
	for _, f := range digest.Files {
		if isCommit(f.Mode) || isCommit(f.BaseMode) {
			continue
		}
		for _, k := range []unitKey{{f.Path, f.Blob}, {f.Old(), f.BaseBlob}} {
			if err := d.content(ctx, k, units, made); err != nil {
				return nil, err
			}
		}
		if _, asked := d.generated[f.Path]; !asked {
			unknown = append(unknown, f.Path)
		}
	}
	if err := d.askGenerated(ctx, unknown); err != nil {
		return nil, err
	}
	for i := range digest.Files {
		r.madeBy(&digest.Files[i], d.generated)
	}
	if r.reader == nil {
		return nil, nil
	}
	return d.outside(ctx, digest, units, made)
}

// content learns what one version of a file says: from the last digest, from the cache, or by reading it. Only what is
// committed is worth being kept: what is being typed is soon gone.
func (d *Desk) content(ctx context.Context, k unitKey, units map[unitKey]detect.Unit, made map[unitKey]detect.Made) error {
	r := d.repo
	if m, ok := made[k]; ok {
		r.learn(k.path, k.blob, known{units[k], m})
		return nil
	}
	if k.blob == "" || r.recall(k.path, k.blob) {
		return nil
	}
	content, err := d.blob(ctx, k.blob)
	if err != nil {
		return err
	}
	found := r.read(k.path, content)
	r.learn(k.path, k.blob, found)
	if d.was[k.path].blob == k.blob {
		r.keep(k.path, k.blob, found)
	}
	return nil
}

// blob is a content; nil for one that is missing or too large. Where git gives up over it, a git of its own is asked.
func (d *Desk) blob(ctx context.Context, id string) (content []byte, err error) {
	each := func(_ string, b []byte) { content = b }
	err = d.contents.ask(ctx, id+"\n", func(in *bufio.Reader) error {
		_, err := readBlobs(in, []string{id}, each)
		return err
	})
	if err != nil {
		err = d.repo.blobs(ctx, []string{id}, each)
	}
	return content, err
}

// askGenerated asks about paths that were not seen before.
func (d *Desk) askGenerated(ctx context.Context, paths []string) (err error) {
	if len(paths) == 0 {
		return nil
	}
	if d.index == "" {
		if d.index, err = d.repo.indexOf(ctx, d.base); err != nil {
			return err
		}
	}
	marked, err := d.repo.generatedIn(ctx, d.index, paths)
	for _, p := range paths {
		d.generated[p] = marked[p]
	}
	return err
}
