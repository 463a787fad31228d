package repo

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/parley-mesh/parley/detect"
)

// Cache keeps what was read of files, so that the same content need not be read again after a restart. Whoever
// keeps it may lose any of it at any time, and may be asked by several goroutines at once. What cannot be read is
// taken for not there.
type Cache interface {
	// Get is what was put under a key last; nil for nothing. Keys are 64 hexadecimal digits, of path, blob, grammars
	// and shape: what stands under one key is always the same.
	Get(key string) []byte
	// Put keeps a value, or not. Nobody changes it afterwards.
	Put(key string, value []byte)
}

// key is under which name something is kept.
func key(grammars, path, blob string) string {
	sum := sha256.Sum256([]byte(grammars + "\x00" + knownShape + "\x00" + path + "\x00" + blob))
	return hex.EncodeToString(sum[:])
}

// Folder is a [Cache] of one file for each value. Several processes may use one at the same time, and whoever likes
// may delete it, or any of its files.
type Folder struct {
	root string
	max  int64
	mu   sync.Mutex
	puts int
}

// CacheMax bounds the [Folder] of one repository, in bytes: some 50,000 files of source.
const CacheMax = 256 << 20

// CacheFolder is where what was read of a repository is kept: below root, which is the user's own cache directory
// if it is empty. It is never inside the repository.
func (r *Repo) CacheFolder(root string) (*Folder, error) {
	if root == "" {
		var err error
		if root, err = CacheRoot(); err != nil {
			return nil, err
		}
	}
	return OpenFolder(filepath.Join(root, hashName(r.common)), CacheMax)
}

// CacheRoot is the folder of all of this user's cache folders. The one that it lies in is parley's, too.
func CacheRoot() (string, error) {
	home := os.Getenv("XDG_CACHE_HOME")
	if !filepath.IsAbs(home) {
		var err error
		if home, err = os.UserCacheDir(); err != nil {
			return "", err
		}
	}
	return filepath.Join(home, "parley", "code"), nil
}

// hashName is a name for a directory's path.
func hashName(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:8])
}

// OpenFolder uses a directory, and makes it if need be. It is kept below about max bytes by [Folder.Close].
func OpenFolder(root string, maxBytes int64) (*Folder, error) {
	if err := os.MkdirAll(root, 0o700); err != nil {
		return nil, err
	}
	return &Folder{root: root, max: maxBytes}, nil
}

func (f *Folder) file(key string) string { return filepath.Join(f.root, key[:2], key[2:]) }

// usedEach is how often a file's time is set when it is used: the times say what to delete first.
const usedEach = time.Hour

// Get reads one file.
func (f *Folder) Get(key string) []byte {
	name := f.file(key)
	b, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	if info, err := os.Stat(name); err == nil && time.Since(info.ModTime()) > usedEach {
		_ = os.Chtimes(name, time.Time{}, time.Now()) // only the order of deletion suffers
	}
	return b
}

// Put writes one file, whole or not at all.
func (f *Folder) Put(key string, value []byte) {
	name := f.file(key)
	t, err := os.CreateTemp(filepath.Dir(name), "new-")
	if errors.Is(err, fs.ErrNotExist) && os.MkdirAll(filepath.Dir(name), 0o700) == nil {
		t, err = os.CreateTemp(filepath.Dir(name), "new-")
	}
	if err != nil {
		return
	}
	_, err = t.Write(value)
	if err = errors.Join(err, t.Close()); err == nil {
		err = os.Rename(t.Name(), name)
	}
	if err != nil {
		_ = os.Remove(t.Name())
		return
	}
	f.mu.Lock()
	f.puts++
	f.mu.Unlock()
}

// Close deletes what was not used for longest if there is too much.
func (f *Folder) Close() error {
	f.mu.Lock()
	puts := f.puts
	f.puts = 0
	f.mu.Unlock()
	if puts == 0 {
		return nil
	}
	type file struct {
		name string
		size int64
		used time.Time
	}
	var all []file
	var sum int64
	err := filepath.WalkDir(f.root, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return skipGone(err)
		}
		info, err := e.Info()
		if err == nil {
			all, sum = append(all, file{name, info.Size(), info.ModTime()}), sum+info.Size()
		}
		return skipGone(err)
	})
	slices.SortFunc(all, func(a, b file) int { return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.name, b.name)) })
	for _, old := range all {
		if sum <= f.max {
			break
		}
		if os.Remove(old.name) == nil {
			sum -= old.size
		}
	}
	return err
}

// skipGone passes over what somebody else deleted.
func skipGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// recall takes what is known of a version of a file from the cache.
func (r *Repo) recall(path, blob string) bool {
	if r.cache == nil || r.reader == nil {
		return false
	}
	b := r.cache.Get(key(r.reader.Grammars(), path, blob))
	var k known
	if b == nil || k.decode(b) != nil || k.Unit.Path != "" && k.Unit.Path != path {
		return false
	}
	r.learn(path, blob, k)
	return true
}

// learn keeps what is known of a version of a file for as long as r is open.
func (r *Repo) learn(path, blob string, k known) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.made[unitKey{path, blob}] = k.Made
	if k.Unit.Path != "" {
		r.units[unitKey{path, blob}] = k.Unit
	}
}

// keep puts what is known into the cache. What ran out of time may be read on a calmer day, and what is no code is
// looked at as fast as it is recalled.
func (r *Repo) keep(path, blob string, k known) {
	if r.cache != nil && k.Unit.Language != "" && k.Unit.Quality != detect.TimedOut {
		r.cache.Put(key(r.reader.Grammars(), path, blob), k.encode())
	}
}
