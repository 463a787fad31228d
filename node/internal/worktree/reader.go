package worktree

import (
	"bytes"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// reader answers questions about the mirror's objects in this process, through go-git. It believes an object only
// when it hashes to its name. An object that it does not find, an error and whatever is over its limits are no
// answers: then the git program is asked. A nil reader reads nothing.
type reader struct {
	dir string

	mu    sync.Mutex // go-git's storage is not safe for concurrent use
	store *filesystem.Storage
	graph *graph
	seen  string // the layout that store and graph were opened at
}

// errNotRead: go-git gave no answer, which says nothing about the repository.
var errNotRead = errors.New("not read in this process")

// Limits of what go-git does. It holds the index of every pack in memory, and reads all of them again when a pack
// has come.
const (
	maxPackIndexes  = 8 << 20 // bytes of all pack indexes, 290,000 objects; above it git is asked everything
	maxReadBlob     = 4 << 20
	maxReadTree     = 4 << 20
	objectCacheSize = 16 * cache.MiByte
	openPacks       = 8
)

// newReader reads SHA-1 repositories only, since go-git's object ids are of a fixed size.
func newReader(dir, format string) *reader {
	if format != "sha1" {
		return nil
	}
	return &reader{dir: dir}
}

// close lets go of every file, so that a pack which git has removed takes no more room.
func (r *reader) close() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reset()
}

func (r *reader) reset() {
	if r.store != nil {
		_ = r.store.Close() // the files were only read
	}
	r.graph.close()
	r.store, r.graph, r.seen = nil, nil, ""
}

// try lets ask question the open repository. go-git lists the packs once, so a question that fails is asked
// again if there are other packs now.
func (r *reader) try(ctx context.Context, ask func() error) error {
	if r == nil || ctx.Err() != nil {
		return errNotRead
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.store != nil && ask() == nil {
		return nil
	}
	before := r.seen
	if err := r.reopen(); err != nil || r.seen == before {
		return errors.Join(errNotRead, err)
	}
	err := ask()
	if err != nil {
		r.reset()
	}
	return err
}

// reopen opens what there is now, unless it is open already.
func (r *reader) reopen() error {
	now, err := r.layout()
	if err != nil || now == r.seen {
		return err
	}
	r.reset()
	r.store = filesystem.NewStorageWithOptions(osfs.New(r.dir), cache.NewObjectLRU(objectCacheSize), filesystem.Options{
		MaxOpenDescriptors: openPacks, LargeObjectThreshold: maxReadBlob,
	})
	r.graph = openGraph(r.dir)
	r.seen = now
	return nil
}

// layout names the packs and the state of the commit graph.
func (r *reader) layout() (string, error) {
	packs, err := os.ReadDir(filepath.Join(r.dir, "objects", "pack"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	var all strings.Builder
	var size int64
	for _, p := range packs {
		if filepath.Ext(p.Name()) != ".idx" {
			continue
		}
		fi, err := p.Info()
		if err != nil {
			return "", err
		}
		size += fi.Size()
		fmt.Fprintln(&all, p.Name())
	}
	if size > maxPackIndexes {
		return "", fmt.Errorf("pack indexes of %d bytes", size)
	}
	for _, name := range []string{graphFile, chainFile} {
		if fi, err := os.Stat(filepath.Join(r.dir, filepath.FromSlash(name))); err == nil {
			fmt.Fprintln(&all, name, fi.ModTime().UnixNano(), fi.Size())
		}
	}
	fmt.Fprintln(&all, "end")
	return all.String(), nil
}

// object reads an object whole and believes it only if it hashes to its name.
func (r *reader) object(kind plumbing.ObjectType, h plumbing.Hash, limit int64) ([]byte, error) {
	o, err := r.store.EncodedObject(kind, h)
	if err != nil {
		return nil, err
	}
	if o.Size() > limit {
		return nil, fmt.Errorf("%w: %s has %d bytes", errNotRead, h, o.Size())
	}
	from, err := o.Reader()
	if err != nil {
		return nil, err
	}
	body := make([]byte, o.Size())
	_, err = io.ReadFull(from, body)
	if err := errors.Join(err, from.Close()); err != nil {
		return nil, err
	}
	sum := sha1.New()
	fmt.Fprintf(sum, "%s %d\x00", kind, len(body))
	sum.Write(body)
	if plumbing.Hash(sum.Sum(nil)) != h {
		return nil, fmt.Errorf("%w: %s is damaged", errNotRead, h)
	}
	return body, nil
}

// commit is what a commit names: its tree and its parents.
func (r *reader) commit(h plumbing.Hash) (tree plumbing.Hash, parents []plumbing.Hash, err error) {
	body, err := r.object(plumbing.CommitObject, h, maxReadTree)
	if err != nil {
		return tree, nil, err
	}
	for line := range strings.Lines(string(body)) {
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		id := plumbing.NewHash(rest)
		switch {
		case word != "tree" && word != "parent":
			return tree, parents, nil // authors, and then the text, in which anything may stand
		case !plumbing.IsHash(rest):
			return tree, nil, fmt.Errorf("commit %s: odd line %q", h, line)
		case word == "tree":
			tree = id
		default:
			parents = append(parents, id)
		}
	}
	return tree, parents, nil
}

func (r *reader) hasCommit(ctx context.Context, commit OID) bool {
	return r.try(ctx, func() error {
		_, _, err := r.commit(plumbing.NewHash(string(commit)))
		return err
	}) == nil
}

func (r *reader) blob(ctx context.Context, blob OID) (body []byte, err error) {
	err = r.try(ctx, func() error {
		body, err = r.object(plumbing.BlobObject, plumbing.NewHash(string(blob)), maxReadBlob)
		return err
	})
	return body, err
}

// entries looks the paths up in the commit's trees, each of which is read once.
func (r *reader) entries(ctx context.Context, commit OID, paths []string) (found map[string]Entry, err error) {
	err = r.try(ctx, func() error {
		root, _, err := r.commit(plumbing.NewHash(string(commit)))
		if err != nil {
			return err
		}
		found = make(map[string]Entry, len(paths))
		trees := map[plumbing.Hash][]byte{}
		for _, p := range paths {
			e, err := r.entry(trees, root, p)
			if err != nil {
				return err
			}
			if !e.Absent() {
				found[p] = e
			}
		}
		return nil
	})
	return found, err
}

// entry walks from a tree down to the file at path; anything else there is absent. go-git's own walk refuses
// names that git has no objection to.
func (r *reader) entry(trees map[plumbing.Hash][]byte, at plumbing.Hash, path string) (Entry, error) {
	parts := strings.Split(path, "/")
	for i, name := range parts {
		if name == "" || name == "." || name == ".." {
			return Entry{}, fmt.Errorf("%w: path %q", errNotRead, path)
		}
		body, ok := trees[at]
		if !ok {
			var err error
			if body, err = r.object(plumbing.TreeObject, at, maxReadTree); err != nil {
				return Entry{}, err
			}
			trees[at] = body
		}
		e, err := inTree(body, name)
		last := i == len(parts)-1
		switch {
		case err != nil:
			return Entry{}, fmt.Errorf("tree %s: %w", at, err)
		case e.Absent(), last && e.Mode == modeTree, !last && e.Mode != modeTree:
			return Entry{}, nil
		case last:
			return e, nil
		}
		at = plumbing.NewHash(string(e.OID))
	}
	return Entry{}, nil
}

// inTree finds a name among a tree's "<mode> <name>\0<20 bytes>".
func inTree(tree []byte, name string) (Entry, error) {
	for len(tree) > 0 {
		mode, rest, ok := bytes.Cut(tree, []byte(" "))
		found, rest, ended := bytes.Cut(rest, []byte{0})
		if !ok || !ended || len(rest) < sha1.Size {
			return Entry{}, errTruncated
		}
		if string(found) == name {
			m, err := plainMode(string(mode))
			return Entry{Mode: m, OID: OID(plumbing.Hash(rest[:sha1.Size]).String())}, err
		}
		tree = rest[sha1.Size:]
	}
	return Entry{}, nil
}

// modeTree is a directory, as git pads it.
const modeTree = "040000"

// plainMode is a mode of a tree as git shows it: old trees have modes such as 100664.
func plainMode(octal string) (string, error) {
	n, err := strconv.ParseUint(octal, 8, 32)
	if err != nil {
		return "", fmt.Errorf("mode %q: %w", octal, err)
	}
	switch n & 0o170000 {
	case 0o040000:
		return modeTree, nil
	case 0o120000:
		return modeSymlink, nil
	case 0o100000:
		if n&0o100 != 0 {
			return modeExecutable, nil
		}
		return modeFile, nil
	}
	return modeSubmodule, nil
}
