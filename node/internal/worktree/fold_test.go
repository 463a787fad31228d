package worktree

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
)

// fold gives the same for names which differ in case, also in the long way (ß is ss), or in how an accent is
// written, as APFS, NTFS and ext4 with casefold do between them.
func fold(s string) string {
	return strings.NewReplacer("u\u0308", "ü", "ß", "ss", "\ufb01", "fi").Replace(strings.ToLower(s))
}

// foldedNames lets this package look names up as a file system that folds them does.
func foldedNames(t *testing.T) {
	t.Helper()
	was := lookUp
	t.Cleanup(func() { lookUp = was })
	lookUp = func(dir *os.Root, name string) error {
		d, err := dir.Open(".")
		if err != nil {
			return err
		}
		names, err := d.Readdirnames(-1)
		if err := errors.Join(err, d.Close()); err != nil {
			return err
		}
		for _, n := range names {
			if fold(n) == fold(name) {
				return nil
			}
		}
		return fs.ErrNotExist
	}
}

func TestANameThatTheFileSystemFoldsIsLeftAlone(t *testing.T) { // D-7, S2
	foldedNames(t)
	leavesFoldedNamesAlone(t)
}

func leavesFoldedNamesAlone(t *testing.T) {
	t.Helper()
	base := newConflict(t)
	for name, c := range map[string]struct{ have, path string }{
		"a letter's case":               {"src/Ü f.txt", file},
		"a directory's case":            {"Deep/x.txt", "deep/x.txt"},
		"an accent of two characters":   {"src/u\u0308 f.txt", file},
		"a directory's accent":          {"u\u0308/x.txt", "ü/x.txt"},
		"a letter that folds to two":    {"stra\u00dfe", "strasse"},
		"a ligature":                    {"\ufb01le", "file"},
		"a directory that folds to two": {"stra\u00dfe/deep/x", "strasse/deep/x"},
	} {
		t.Run(name, func(t *testing.T) {
			cc := base.fork(t)
			if c.path == file {
				git(t, cc.dir, "rm", "-q", file)
			}
			put(t, cc.dir, c.have, "mine\n")
			before := snapshot(t, cc.dir)
			k := &Known{path: c.path, mirror: cc.m, modes: map[OID][]string{cc.master.OID: nil, cc.old.OID: nil}, absent: true}
			if _, err := cc.c.Replace(t.Context(), agreed, c.path, k, cc.master); !errors.Is(err, ErrRefused) {
				t.Errorf("replace: %v", err)
			}
			if class, _, err := cc.c.Classify(t.Context(), k, c.path, Versions{Master: cc.master.OID}, "master"); err != nil || class != NotHere {
				t.Errorf("class %v %v", class, err)
			}
			if after := snapshot(t, cc.dir); after != before {
				t.Errorf("changed: %q to %q", before, after)
			}
		})
	}
	// A name of its own is written as ever.
	if o, err := base.replace(base.master); err != nil || o != Took {
		t.Error(o, err)
	}
}
