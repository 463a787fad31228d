package disk

import (
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// TestAChildThatIsBeingStartedKeepsNoLock holds the directory open a second time, as a child does between fork
// and exec.
func TestAChildThatIsBeingStartedKeepsNoLock(t *testing.T) { // case 40
	dir := t.TempDir()
	unlock, err := lockDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	child := inherited(t, dir)
	defer syscall.Close(child) //nolint:errcheck // nothing was written
	if _, err := lockDir(dir); err == nil {
		t.Fatal("two held the lock")
	}
	unlock()
	unlock, err = lockDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}

// inherited is what a child would have of this process's open directory.
func inherited(t *testing.T, dir string) int {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc: ", err)
	}
	for _, entry := range open {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil {
			t.Fatal(err)
		}
		if name, err := os.Readlink(filepath.Join("/proc/self/fd", entry.Name())); err == nil && name == dir {
			copied, err := syscall.Dup(fd)
			if err != nil {
				t.Fatal(err)
			}
			return copied
		}
	}
	t.Fatalf("%s is not open", dir)
	return 0
}
