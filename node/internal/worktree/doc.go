// Package worktree is the node's only hand on git.
//
// It holds three kinds of place. A [Mirror] is the node's own bare copy of what GitHub has: everything that
// parley calls known, every trial merge and every push comes from it. A [Scratch] is a throw-away checkout in
// which an agent may do what it likes. A [Checkout] is a person's working tree: it is read with plumbing alone
// and written only by [Checkout.Replace], [Checkout.SyncMaster], [Checkout.Restore] and [Checkout.Undo], which never
// lose content that GitHub does not hold.
package worktree

import (
	"context"
	"errors"
	"strings"
)

// OID is a git object id in lower-case hex: 40 digits in a SHA-1 repository, 64 in a SHA-256 one. The zero
// value names no object; where a file is meant it says that the file is absent.
type OID string

// Valid reports whether o is a whole object id and not the null id.
func (o OID) Valid() bool {
	if len(o) != 40 && len(o) != 64 {
		return false
	}
	return strings.Trim(string(o), "0123456789abcdef") == "" && strings.Trim(string(o), "0") != ""
}

// Entry is what a tree, an index or a working directory holds at one path. The zero value means that nothing
// is there.
type Entry struct {
	Mode string // as git writes it: 100644, 100755, 120000 (symbolic link), 160000 (submodule)
	OID  OID
}

// Modes of tree entries.
const (
	modeFile       = "100644"
	modeExecutable = "100755"
	modeSymlink    = "120000"
	modeSubmodule  = "160000"
)

// Absent reports that nothing is at the path.
func (e Entry) Absent() bool { return e.OID == "" }

func (e Entry) regular() bool { return e.Mode == modeFile || e.Mode == modeExecutable }

// Errors that callers branch on. All are wrapped with the operation and its object.
var (
	// ErrNoGit: there is no git program to run.
	ErrNoGit = errors.New("git is not installed")
	// ErrOldGit: the git program cannot try a merge without a working tree.
	ErrOldGit = errors.New("git is too old (2.38 or newer is needed)")
	// ErrTemporary: the network or the other end failed; the same call may succeed later and nothing is known.
	ErrTemporary = errors.New("temporary failure")
	// ErrDenied: the other end refused these credentials, or hides the repository from them.
	ErrDenied = errors.New("access denied")
	// ErrProtected: a rule of the branch at the other end refused the push.
	ErrProtected = errors.New("the branch is protected")
	// ErrStale: the remote branch no longer stands where the caller believed.
	ErrStale = errors.New("the branch has moved")
	// ErrNoBranch: the remote has no branch of that name.
	ErrNoBranch = errors.New("no such branch")
	// ErrNotDescendant: the new commit would drop commits instead of adding to them.
	ErrNotDescendant = errors.New("not a descendant")
	// ErrVoid: git gave no answer that may be believed; the question may be asked again.
	ErrVoid = errors.New("git gave no valid answer")
	// ErrNotRepository: the directory belongs to no git repository.
	ErrNotRepository = errors.New("is no git repository")
	// ErrBare: the repository has no working files.
	ErrBare = errors.New("is a bare git repository")
	// ErrBusy: somebody else is at work in this checkout; try again later.
	ErrBusy = errors.New("the checkout is busy")
	// ErrRefused: this path or version is never written here, whatever it holds.
	ErrRefused = errors.New("refused")
	// ErrUnknownContent: the file holds content that GitHub does not have. Nothing was lost.
	ErrUnknownContent = errors.New("the file holds work that is not on GitHub")
	// ErrUnsupported: this system or file system cannot replace a file without a gap.
	ErrUnsupported = errors.New("safe replacement is not supported here")
)

// stopped keeps a call that was ended apart from one that git answered: the caller's deadline and shutdown
// are never a verdict.
func stopped(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return errors.Join(ErrTemporary, context.Cause(ctx))
}
