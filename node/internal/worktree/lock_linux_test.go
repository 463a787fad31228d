package worktree

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestAChildThatIsBeingStartedKeepsNoLock has the file open a second time, as a child does between fork and exec.
func TestAChildThatIsBeingStartedKeepsNoLock(t *testing.T) { // case 40
	f, err := os.Create(filepath.Join(t.TempDir(), "lock"))
	if err != nil {
		t.Fatal(err)
	}
	if err := lockFile(f); err != nil {
		t.Fatal(err)
	}
	child, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(child) //nolint:errcheck // nothing was written
	next, err := os.Open(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close() //nolint:errcheck // nothing was written
	if err := lockFile(next); err == nil {
		t.Fatal("two held the lock")
	}
	if err := unlockFile(f); err != nil {
		t.Fatal(err)
	}
	if err := lockFile(next); err != nil {
		t.Error(err)
	}
}
