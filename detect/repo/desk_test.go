package repo

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/parley-mesh/parley/detect"
)

// pairsOf is a reader that takes every line "name: text" of a .txt file for a symbol.
type pairsOf struct{ reads *atomic.Int64 }

func (pairsOf) Grammars() string { return "lines/1" }

func (l pairsOf) Read(path string, content []byte) detect.Unit {
	if l.reads != nil && content != nil {
		l.reads.Add(1)
	}
	u := detect.Unit{Path: path, Language: "txt", Quality: detect.Clean}
	if !strings.HasSuffix(path, ".txt") {
		return detect.Unit{Path: path}
	}
	for line := range strings.Lines(string(content)) {
		if name, text, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			u.Symbols = append(u.Symbols, detect.Symbol{ID: "sym:txt:" + path + "#" + name, Kind: detect.Function, Exported: true, BodyHash: uint64(len(text))})
		}
	}
	return u
}

func (pairsOf) Compare(before, after []detect.Unit) (d detect.Delta) {
	had := map[string]uint64{}
	for _, u := range before {
		for _, s := range u.Symbols {
			had[s.ID] = s.BodyHash
		}
	}
	for _, u := range after {
		for _, s := range u.Symbols {
			if was, ok := had[s.ID]; !ok || was != s.BodyHash {
				d.Symbols = append(d.Symbols, detect.SymbolChange{Symbol: s, Change: detect.Body, Verdict: detect.Compatible})
			}
		}
	}
	return d
}

func (s *shop) desk(o DeskOptions) *Desk {
	s.Helper()
	d, err := OpenDesk(s.Context(), s.dir, o)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		if err := d.Close(); err != nil {
			s.Error(err)
		}
	})
	return d
}

func (s *shop) digest(d *Desk, paths ...string) *detect.Digest {
	s.Helper()
	digest, err := d.Digest(s.Context(), paths...)
	if err != nil {
		s.Fatal(err)
	}
	return digest
}

// deskOfLines looks with the reader of lines.
func deskOfLines(reads *atomic.Int64, c Cache) DeskOptions {
	return DeskOptions{Base: "main", Cache: c, Reader: func(*Layout) detect.Reader { return pairsOf{reads} }}
}

func TestADeskThatIsToldWhatChangedSeesWhatGitSees(t *testing.T) { // C2, C3
	s := newShop(t)
	s.branch("main", "", ".gitignore", "ignored*\n", ".gitattributes", "*.crlf text eol=crlf\ngen/* linguist-generated\n",
		"a.txt", numbered(40, nil), "b.txt", "f: 1\n", "d/e/c.txt", numbered(30, nil), "gen/x.txt", "g: 1\n", "w.crlf", "one\ntwo\n")
	s.branch("work", "main", "committed.txt", "h: 1\n")
	d := s.desk(deskOfLines(nil, nil))
	random := rand.New(rand.NewPCG(7, 7))
	names := []string{
		"a.txt", "b.txt", "d/e/c.txt", "d/e/n.txt", "d/m.txt", "gen/x.txt", "gen/y.txt", "w.crlf", "ignored.txt", "ignored/x.txt", "new.txt",
		"d e/ü.txt", "q\"uote.txt", "link", "committed.txt",
	}
	rounds := 60
	if testing.Short() {
		rounds = 15
	}
	for round := range rounds {
		var touched []string
		for range 1 + random.IntN(3) {
			name := names[random.IntN(len(names))]
			s.scribble(random, name)
			touched = append(touched, name)
		}
		if random.IntN(20) == 0 {
			s.git("commit", "-q", "--allow-empty", "-a", "-m", "x")
		}
		told := s.digest(d, touched...)
		whole := s.digest(s.desk(deskOfLines(nil, nil)))
		if !reflect.DeepEqual(told, whole) {
			t.Fatalf("round %d, %q:\ntold  %+v\nwhole %+v", round, touched, told, whole)
		}
	}
}

// scribble does something to a file.
func (s *shop) scribble(random *rand.Rand, name string) {
	s.Helper()
	full := filepath.Join(s.dir, name)
	check := func(err error) {
		if err != nil && !os.IsNotExist(err) {
			s.Fatal(err)
		}
	}
	check(os.MkdirAll(filepath.Dir(full), 0o700))
	end := "\n"
	switch random.IntN(8) {
	case 0:
		check(os.Remove(full))
		return
	case 1:
		check(os.Remove(full))
		check(os.Symlink("a.txt", full))
		return
	case 2:
		if info, err := os.Lstat(full); err == nil && info.Mode().IsRegular() {
			check(os.Chmod(full, 0o755))
		}
		return
	case 3:
		end = "\r\n"
	}
	if info, err := os.Lstat(full); err == nil && info.Mode()&os.ModeSymlink != 0 {
		check(os.Remove(full))
	}
	text := numbered(40, map[int]string{random.IntN(40): fmt.Sprintf("f%d: %d", random.IntN(3), random.IntN(1000)), random.IntN(40): "x"})
	check(os.WriteFile(full, []byte(strings.ReplaceAll(text, "\n", end)), 0o600))
}

func TestADeskAgreesWithACheckOfTheWorktree(t *testing.T) { // C16
	s := newShop(t)
	s.branch("main", "", "a.txt", numbered(40, nil), "b.txt", "f: 1\ng: 1\n", "c.txt", "h: 1\n")
	s.branch("work", "main", "a.txt", numbered(40, map[int]string{3: "x"}))
	d := s.desk(deskOfLines(nil, nil))
	s.git("mv", "c.txt", "moved.txt")
	s.write("b.txt", "f: 22\ng: 1\n")
	s.write("new.txt", "n: 1\n")
	got := s.digest(d, "b.txt", "new.txt", "c.txt", "moved.txt")
	result := s.check(Options{Reader: pairsOf{}})
	want := result.digests[0]
	if want.Side.Kind != detect.Worktree {
		t.Fatalf("a side of kind %d", want.Side.Kind)
	}
	for i := range got.Files {
		got.Files[i].Hunks = nil // a check has none: it asks git
	}
	if !reflect.DeepEqual(got.Files, want.Files) || !reflect.DeepEqual(got.Delta, want.Delta) || got.Base != want.Base {
		t.Errorf("desk  %+v\ncheck %+v", got, want)
	}
}

func TestADeskSeesFoldersComeAndGo(t *testing.T) {
	s := newShop(t)
	s.branch("main", "", "d/a.txt", "a: 1\n", "d/e/b.txt", "b: 1\n", "c.txt", "c: 1\n")
	d := s.desk(deskOfLines(nil, nil))
	if err := os.Rename(filepath.Join(s.dir, "d"), filepath.Join(s.dir, "n")); err != nil {
		t.Fatal(err)
	}
	files := s.digest(d, "d", "n").Files
	if len(files) != 2 || files[0].From != "d/a.txt" || files[1].From != "d/e/b.txt" || files[0].Emptied != 1 || files[1].Emptied != 2 {
		t.Errorf("renamed d to n: %+v", files)
	}
	s.write("d/new.txt", "n: 1\n")
	files = s.digest(d, "d/new.txt").Files
	if len(files) != 3 || files[1].Emptied != 0 || files[2].Emptied != 1 {
		t.Errorf("d is there again: %+v", files)
	}
}

func TestADeskNamesWhatItCannotRead(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root can read everything")
	}
	s := newShop(t)
	s.branch("main", "", "a.txt", "a: 1\n", "b.txt", "b: 1\n")
	d := s.desk(deskOfLines(nil, nil))
	s.write("a.txt", "a: 22\n")
	if err := os.Chmod(filepath.Join(s.dir, "a.txt"), 0); err != nil {
		t.Fatal(err)
	}
	if got := s.digest(d, "a.txt"); !reflect.DeepEqual(got.Unreadable, []string{"a.txt"}) {
		t.Errorf("unreadable: %q", got.Unreadable)
	}
}

func TestADeskOutlivesItsGits(t *testing.T) {
	s := newShop(t)
	s.branch("main", "", "a.txt", "a: 1\n")
	d := s.desk(deskOfLines(nil, nil))
	for i := range 5 {
		s.write("a.txt", fmt.Sprintf("a: %d\n", i*1000))
		if i == 2 {
			for _, p := range d.pipes() {
				if err := p.command.Process.Kill(); err != nil {
					t.Fatal(err)
				}
				if _, err := p.command.Process.Wait(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := s.digest(d, "a.txt"); len(got.Files) != 1 {
			t.Errorf("after edit %d: %+v", i, got.Files)
		}
	}
}
