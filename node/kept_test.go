package node

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestWhatAnotherHomeMayKeepIsNotThisHomesAlone(t *testing.T) { // D-22
	root := t.TempDir()
	home := OpenHome(filepath.Join(root, "home"))
	full, empty := filepath.Join(root, "full", "home"), filepath.Join(root, "empty", "home")
	for _, dir := range []string{home.Dir, filepath.Join(root, "full", "else"), filepath.Dir(empty)} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	own := home.Dir
	for _, c := range []struct {
		what  string
		homes []string
		keeps bool
		alone bool
	}{
		{"nothing is kept and nobody is noted", nil, false, true},
		{"nobody is noted", nil, true, false},
		{"only another one is noted, which is gone", []string{full}, true, false},
		{"this one alone is noted", []string{own}, true, true},
		{"the other one is gone", []string{own, full}, true, true},
		{"the other one's disk is away", []string{own, empty}, true, false},
		{"the other one's mount point is empty", []string{own, filepath.Dir(empty)}, true, false},
		{"the other one lies where disks are mounted", []string{own, "/mnt/none/home"}, true, false},
		{"the other one's disk is away, and nothing is kept", []string{own, empty}, false, true},
	} {
		common := t.TempDir()
		kept := filepath.Join(common, "parley", "kept")
		if err := os.MkdirAll(kept, 0o700); err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for _, h := range c.homes {
			text.WriteString("\n" + strconv.Quote(h) + "\n")
		}
		for file, write := range map[string]bool{filepath.Join(kept, "1"): c.keeps, filepath.Join(common, "parley", "homes"): text.String() != ""} {
			if !write {
				continue
			}
			if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if others, err := home.OthersAt(common); len(others) > 0 || (err == nil) != c.alone {
			t.Errorf("%s: %v, %v", c.what, others, err)
		}
	}
}
