package worktree

import (
	"os"

	"golang.org/x/sys/unix"
)

// exchange swaps two names in one step, by directory handles.
func exchange(a *os.File, aName string, b *os.File, bName string) error {
	return renameError("exchange "+bName, unix.Renameat2(int(a.Fd()), aName, int(b.Fd()), bName, unix.RENAME_EXCHANGE))
}

// moveNew renames into a name that must be free.
func moveNew(a *os.File, aName string, b *os.File, bName string) error {
	return renameError("move "+bName, unix.Renameat2(int(a.Fd()), aName, int(b.Fd()), bName, unix.RENAME_NOREPLACE))
}
