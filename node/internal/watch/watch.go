// Package watch rings when something below a directory may have changed. It is a doorbell and no truth: it may
// ring for nothing, and after it missed something it says so; whoever hears it looks with git.
package watch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// Bounds of one watcher: the system has a limit of its own for all programs of a person together (8,192 on some),
// and what is not watched is looked at by the clock.
const (
	dirsMax   = 4096
	pathsMax  = 256 // that are told one by one; more are told as everything
	eventsMax = 1024
)

// Bell rings for one directory and all below it, but what git keeps for itself and what was to be skipped.
type Bell struct {
	root  string
	git   []string // directories whose own files alone are watched
	skip  func(rel string) bool
	w     *fsnotify.Watcher
	rings chan struct{} // holds one ring
	done  chan struct{}

	mu      sync.Mutex
	paths   []string
	all     bool
	dirs    int
	partial bool
}

// Open watches root, an absolute path. gitDirs are the directories of git's own that tell of commits and checkouts;
// they may lie anywhere. skip leaves directories out by their slash-separated path below root; nil leaves out none.
// That not all could be watched is no error, [Bell.Partial] says it.
func Open(root string, gitDirs []string, skip func(rel string) bool) (*Bell, error) {
	w, err := fsnotify.NewBufferedWatcher(eventsMax)
	if err != nil {
		return nil, err
	}
	b := &Bell{root: root, git: gitDirs, skip: skip, w: w, rings: make(chan struct{}, 1), done: make(chan struct{})}
	for _, dir := range gitDirs {
		b.add(dir)
	}
	b.walk(root)
	go b.run()
	return b, nil
}

// C receives once something may have changed since [Bell.Take].
func (b *Bell) C() <-chan struct{} { return b.rings }

// Take is what may have changed since the last call, as slash-separated paths below the root, ascending; all says
// that it may be anything.
func (b *Bell) Take() (paths []string, all bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	paths, all = b.paths, b.all
	b.paths, b.all = nil, false
	slices.Sort(paths)
	return slices.Compact(paths), all
}

// Partial reports whether some directory is not watched.
func (b *Bell) Partial() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.partial
}

// Close ends the watching.
func (b *Bell) Close() error {
	err := b.w.Close()
	<-b.done
	return err
}

func (b *Bell) run() {
	defer close(b.done)
	for {
		select {
		case e, ok := <-b.w.Events:
			if !ok {
				return
			}
			b.event(e)
		case _, ok := <-b.w.Errors:
			if !ok {
				return
			}
			b.ring("", true) // something may have been missed
		}
	}
}

// telling are git's own files that a commit, a checkout, a merge or a fetch writes. The index is none: it changes when
// somebody only looks.
var telling = []string{"HEAD", "ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD", "COMMIT_EDITMSG", "packed-refs"}

func (b *Bell) event(e fsnotify.Event) {
	if e.Op == fsnotify.Chmod && !isFile(e.Name) {
		return
	}
	if slices.Contains(b.git, filepath.Dir(e.Name)) {
		if slices.Contains(telling, filepath.Base(e.Name)) {
			b.ring("", true)
		}
		return
	}
	rel, err := filepath.Rel(b.root, e.Name)
	if err != nil || rel == "." || strings.HasPrefix(rel, "..") {
		return
	}
	if e.Has(fsnotify.Create) && isDir(e.Name) {
		if b.walk(e.Name); b.left(filepath.ToSlash(rel)) {
			return
		}
		b.ring("", true) // it may have been filled before it was watched
		return
	}
	b.ring(filepath.ToSlash(rel), false)
}

// ring tells of one path, or of everything.
func (b *Bell) ring(path string, all bool) {
	b.mu.Lock()
	if b.all = b.all || all || len(b.paths) >= pathsMax; b.all {
		b.paths = nil
	} else {
		b.paths = append(b.paths, path)
	}
	b.mu.Unlock()
	select {
	case b.rings <- struct{}{}:
	default: // one is waiting
	}
}

// left reports whether a directory is not watched.
func (b *Bell) left(rel string) bool {
	name := rel[strings.LastIndexByte(rel, '/')+1:]
	return name == ".git" || rel != "." && b.skip != nil && b.skip(rel)
}

// walk watches a directory and all below it.
func (b *Bell) walk(dir string) {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			b.missed()
			return fs.SkipDir
		}
		if !d.IsDir() {
			return nil
		}
		rel, err := filepath.Rel(b.root, path)
		if err != nil || b.left(filepath.ToSlash(rel)) {
			return fs.SkipDir
		}
		if !b.add(path) {
			return fs.SkipAll
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		b.missed()
	}
}

// add watches one directory; false when there is no room for more.
func (b *Bell) add(dir string) bool {
	b.mu.Lock()
	full := b.dirs >= dirsMax
	b.mu.Unlock()
	if full {
		b.missed()
		return false
	}
	if err := b.w.Add(dir); err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			b.missed()
		}
		return errors.Is(err, fs.ErrNotExist)
	}
	b.mu.Lock()
	b.dirs++
	b.mu.Unlock()
	return true
}

func (b *Bell) missed() {
	b.mu.Lock()
	b.partial = true
	b.mu.Unlock()
}

func isDir(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

func isFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}
