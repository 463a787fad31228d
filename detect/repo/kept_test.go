package repo

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-mesh/parley/detect"
)

func folder(t testing.TB, limit int64) *Folder {
	t.Helper()
	f, err := OpenFolder(filepath.Join(t.TempDir(), "kept"), limit)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestAnotherRunReadsNothingAgain(t *testing.T) {
	s := newShop(t)
	s.branch("main", "", "a.txt", "a: 1\n", "b.txt", "b: 1\n")
	s.branch("work", "main", "a.txt", "a: 22\n", "c.txt", "c: 1\n")
	kept := folder(t, 1<<20)
	var reads atomic.Int64
	first := s.check(Options{Reader: pairsOf{&reads}, Cache: kept})
	if reads.Load() != 3 {
		t.Fatalf("%d contents were read, want 3", reads.Load())
	}
	second := s.check(Options{Reader: pairsOf{&reads}, Cache: kept})
	if reads.Load() != 3 {
		t.Errorf("%d contents were read again", reads.Load()-3)
	}
	if !reflect.DeepEqual(first.digests, second.digests) {
		t.Errorf("%+v, then %+v", first.digests[0], second.digests[0])
	}
	s.digest(s.desk(deskOfLines(&reads, kept)))
	if reads.Load() != 3 {
		t.Errorf("a desk read %d contents again", reads.Load()-3)
	}
}

func TestWhatIsSpoiledIsReadAgain(t *testing.T) {
	s := newShop(t)
	s.branch("main", "", "a.txt", "a: 1\n")
	s.branch("work", "main", "a.txt", "a: 22\n")
	kept := folder(t, 1<<20)
	var reads atomic.Int64
	want := s.check(Options{Reader: pairsOf{&reads}, Cache: kept}).digests
	for i, spoil := range []func(name string) error{
		func(name string) error { return os.Truncate(name, 9) },
		func(name string) error { return os.WriteFile(name, []byte("nonsense"), 0o600) },
		func(name string) error { return os.WriteFile(name, nil, 0o600) },
		os.Remove,
	} {
		before := reads.Load()
		err := filepath.WalkDir(kept.root, func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			return spoil(name)
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.check(Options{Reader: pairsOf{&reads}, Cache: kept}).digests; !reflect.DeepEqual(got, want) {
			t.Errorf("spoiled in way %d: %+v", i, got)
		}
		if reads.Load() != before+2 {
			t.Errorf("spoiled in way %d: %d contents were read, want 2", i, reads.Load()-before)
		}
	}
}

func TestAFolderThatCannotBeWrittenStopsNobody(t *testing.T) {
	s := newShop(t)
	s.branch("main", "", "a.txt", "a: 1\n")
	s.branch("work", "main", "a.txt", "a: 22\n")
	kept := folder(t, 1<<20)
	if err := os.Remove(kept.root); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(kept.root, []byte("a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := s.check(Options{Reader: pairsOf{}, Cache: kept}).digests; len(got) != 1 || len(got[0].Symbols) != 1 {
		t.Errorf("%+v", got)
	}
}

// time0 is long ago.
var time0 = time.Unix(1_500_000_000, 0)

func TestAFolderStaysBelowItsBound(t *testing.T) {
	f := folder(t, 2500)
	for _, name := range []string{"a", "b", "c", "d"} {
		f.Put(strings.Repeat(name, 64), make([]byte, 1000))
	}
	old := f.file(strings.Repeat("c", 64))
	if err := os.Chtimes(old, time0, time0); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(f.file(strings.Repeat("a", 64)), time0, time0.Add(1)); err != nil {
		t.Fatal(err)
	}
	if f.Get(strings.Repeat("a", 64)) == nil {
		t.Fatal("nothing is kept")
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, name := range []string{"a", "b", "c", "d"} {
		if f.Get(strings.Repeat(name, 64)) != nil {
			left = append(left, name)
		}
	}
	if len(left) != 2 || left[0] != "a" {
		t.Errorf("left: %q; used just now: a; not used for longest: c", left)
	}
}

func TestWhatIsKeptNeverLiesInTheRepository(t *testing.T) {
	s := newShop(t)
	s.branch("main", "", "a.txt", "a: 1\n")
	home := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", home)
	f, err := s.open().CacheFolder("")
	if err != nil {
		t.Fatal(err)
	}
	if in, err := filepath.Rel(home, f.root); err != nil || strings.HasPrefix(in, "..") {
		t.Errorf("%s is not in %s", f.root, home)
	}
}

func TestWhatIsKeptIsForgottenWhenOtherFilesCountAsGenerated(t *testing.T) {
	if !strings.HasSuffix(knownShape, hashName(detect.MadeRules())) {
		t.Error("old answers about who made a file would be taken for new ones")
	}
}
