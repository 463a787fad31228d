package worktree

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// A real file system that folds names does what the one of [foldedNames] does, and the system's own calls see it so.
func TestOnAFileSystemThatFoldsNamesNothingIsLost(t *testing.T) { // D-7, S2
	if os.Geteuid() != 0 || testing.Short() {
		t.Skip("only root mounts a file system, and it takes some seconds")
	}
	if dir := os.Getenv(foldingVariable); dir != "" {
		serveFolding(t, dir)
		return
	}
	dir, child := inChild(t, &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}, t.TempDir())
	if !child {
		return
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		t.Skip("no mounts here:", err)
	}
	t.Setenv("TMPDIR", mountFolding(t, dir))

	t.Run("a folded name", leavesFoldedNamesAlone)
	t.Run("what master brings", bringsNothingOverFoldedNames)
}

// bringsNothingOverFoldedNames moves master forward to names that fold to those of a person's own files.
func bringsNothingOverFoldedNames(t *testing.T) {
	h := newHub(t)
	old := h.commit("", tree{"notes": "n\n", "first": "one\n"})
	tip := h.commit(old, tree{"notes": "", "Notes": "n\n", "Added": "theirs\n", "Both": "1\n", "both": "2\n"})
	h.publish(map[string]OID{"refs/heads/master": tip})
	base := newFixture(t, h, old)
	for name, own := range map[string]struct {
		have tree
		at   string // where the own text is expected, whatever case it is under
	}{
		"an untracked file":                {tree{"added": "mine\n"}, "added"},
		"an edit, and only the case moves": {tree{"notes": "mine\n"}, "notes"},
		"nothing but two names for one":    {nil, "first"},
	} {
		t.Run(name, func(t *testing.T) {
			f := base.fork(t, old)
			for path, text := range own.have {
				put(t, f.dir, path, text)
			}
			if res, err := f.forward(tip); err != nil {
				t.Errorf("%+v %v", res, err)
			}
			want := own.have[own.at]
			if want == "" {
				want = "one\n"
			}
			wantText(t, filepath.Join(f.dir, own.at), want)
			f.nothingLeft(t)
		})
	}
}

// folding is a directory of a file system that takes names for the same which fold to the same, and keeps each as it
// was first written: all of it lies in another directory, which does not fold.
type folding struct {
	fs.Inode
	under string
}

// foldingVariable names, to the process that is such a file system, where all of it lies.
const foldingVariable = "PARLEY_TEST_FOLDING"

// mountFolding mounts such a file system at dir/folding. It is served by a process of its own: one that starts
// another stands still until that runs, and could answer nothing meanwhile.
func mountFolding(t *testing.T, dir string) string {
	t.Helper()
	mounted := filepath.Join(dir, "folding")
	for _, dir := range []string{mounted, filepath.Join(dir, "under")} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	server := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	server.Env = append(os.Environ(), foldingVariable+"="+dir)
	hold, holdErr := server.StdinPipe()
	out, outErr := server.StdoutPipe()
	if err := errors.Join(holdErr, outErr, server.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(hold.Close(), server.Wait()); err != nil {
			t.Error(err)
		}
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "mounted\n" {
		t.Skipf("no FUSE here: %q, %v", line, err)
	}
	return mounted
}

// serveFolding is the file system until its standard input ends. The mount goes with the name space of the child.
func serveFolding(t *testing.T, dir string) {
	t.Helper()
	_, err := fs.Mount(filepath.Join(dir, "folding"), &folding{under: filepath.Join(dir, "under")}, &fs.Options{
		MountOptions:    fuse.MountOptions{DirectMountStrict: true, FsName: "folding", Name: "folding"},
		NullPermissions: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("mounted")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		t.Error(err)
	}
}

// stored is the name under which a directory has what folds to name, and name itself where it has none.
func stored(dir, name string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return name
	}
	for _, e := range entries {
		if fold(e.Name()) == fold(name) {
			return e.Name()
		}
	}
	return name
}

// at is where a node, or what it has under a name, really lies.
func (n *folding) at(name ...string) string {
	path := n.Root().Operations().(*folding).under
	for part := range strings.SplitSeq(filepath.Join(append([]string{n.Path(n.Root())}, name...)...), "/") {
		path = filepath.Join(path, stored(path, part))
	}
	return path
}

// child is the node of what lies at a path.
func (n *folding) child(ctx context.Context, path string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	var st syscall.Stat_t
	if err := syscall.Lstat(path, &st); err != nil {
		return nil, fs.ToErrno(err)
	}
	out.FromStat(&st)
	return n.NewInode(ctx, &folding{}, fs.StableAttr{Mode: st.Mode, Ino: st.Ino}), 0
}

func (n *folding) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return n.child(ctx, n.at(name), out)
}

func (n *folding) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	path := n.at(name)
	if err := syscall.Mkdir(path, mode); err != nil {
		return nil, fs.ToErrno(err)
	}
	return n.child(ctx, path, out)
}

func (n *folding) Symlink(ctx context.Context, target, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	path := n.at(name)
	if err := syscall.Symlink(target, path); err != nil {
		return nil, fs.ToErrno(err)
	}
	return n.child(ctx, path, out)
}

func (n *folding) Link(ctx context.Context, target fs.InodeEmbedder, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	path := n.at(name)
	if err := syscall.Link(target.(*folding).at(), path); err != nil {
		return nil, fs.ToErrno(err)
	}
	return n.child(ctx, path, out)
}

func (n *folding) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	path := n.at(name)
	f, err := os.OpenFile(path, int(flags)&^syscall.O_APPEND|os.O_CREATE, os.FileMode(mode))
	if err != nil {
		return nil, nil, 0, fs.ToErrno(err)
	}
	child, errno := n.child(ctx, path, out)
	return child, fs.NewLoopbackFileFromOS(f), 0, errno
}

func (n *folding) Open(_ context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	f, err := os.OpenFile(n.at(), int(flags)&^(syscall.O_APPEND|fuse.FMODE_EXEC), 0)
	if err != nil {
		return nil, 0, fs.ToErrno(err)
	}
	return fs.NewLoopbackFileFromOS(f), 0, 0
}

func (n *folding) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno { return 0 }

func (n *folding) Unlink(_ context.Context, name string) syscall.Errno {
	return fs.ToErrno(syscall.Unlink(n.at(name)))
}

func (n *folding) Rmdir(_ context.Context, name string) syscall.Errno {
	return fs.ToErrno(syscall.Rmdir(n.at(name)))
}

func (n *folding) Rename(_ context.Context, name string, to fs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	from, path := n.at(name), to.(*folding).at(newName)
	if from == path && flags == 0 {
		path = filepath.Join(filepath.Dir(path), newName) // only how it is written changes
	}
	return fs.ToErrno(unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, path, uint(flags)))
}

func (n *folding) Readlink(context.Context) ([]byte, syscall.Errno) {
	target, err := os.Readlink(n.at())
	return []byte(target), fs.ToErrno(err)
}

func (n *folding) Readdir(context.Context) (fs.DirStream, syscall.Errno) {
	return fs.NewLoopbackDirStream(n.at())
}

func (n *folding) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	var st syscall.Stat_t
	err := syscall.Lstat(n.at(), &st)
	out.FromStat(&st)
	return fs.ToErrno(err)
}

func (n *folding) Setattr(ctx context.Context, f fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	path := n.at()
	if mode, ok := in.GetMode(); ok {
		if err := syscall.Chmod(path, mode); err != nil {
			return fs.ToErrno(err)
		}
	}
	if size, ok := in.GetSize(); ok {
		if err := syscall.Truncate(path, int64(size)); err != nil {
			return fs.ToErrno(err)
		}
	}
	if at, ok := in.GetMTime(); ok {
		if err := os.Chtimes(path, at, at); err != nil {
			return fs.ToErrno(err)
		}
	}
	return n.Getattr(ctx, f, out)
}
