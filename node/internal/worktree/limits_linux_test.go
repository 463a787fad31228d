package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// A limit of the computer is met in a child process that runs one test alone: with mounts of its own, as somebody
// who is not root, or with few file handles.
const limitVariable = "PARLEY_TEST_LIMIT"

// inChild reruns the calling test in a child. It reports true in the child, where dir is the directory that the
// parent prepared.
func inChild(t *testing.T, attr *syscall.SysProcAttr, dir string) (string, bool) {
	t.Helper()
	if dir := os.Getenv(limitVariable); dir != "" {
		return dir, true
	}
	self := filepath.Join(dir, "self") // the child may not be let to the place of this binary
	if err := errors.Join(os.WriteFile(self, []byte(read(t, os.Args[0])), 0o755), os.Chmod(self, 0o755)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), limitVariable+"="+dir, "TMPDIR="+dir, "HOME="+dir)
	cmd.SysProcAttr = attr
	out, err := cmd.CombinedOutput()
	if errors.Is(err, unix.EPERM) {
		t.Skipf("not allowed here: %v", err)
	}
	if strings.Contains(string(out), "--- SKIP") {
		t.Skipf("%s", out)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return "", false
}

// crowd is a file that takes all room of a file system.
func crowd(t *testing.T, dir string, leave int) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "crowd"))
	if err != nil {
		t.Fatal(err)
	}
	block := make([]byte, 1024)
	for err == nil {
		_, err = f.Write(block)
	}
	fi, statErr := f.Stat()
	if !errors.Is(err, unix.ENOSPC) || statErr != nil {
		t.Fatal(err, statErr)
	}
	if err := errors.Join(f.Truncate(max(0, fi.Size()-int64(leave))), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// The file system is full from a given point of the replacement on. Whatever comes of it, what the person had is at
// the path or kept, master's version or nothing stands beside it, and with room again the same call succeeds.
func TestAFullDiskLosesNothing(t *testing.T) { // S2, P19
	if os.Geteuid() != 0 {
		t.Skip("only root mounts a small file system")
	}
	shared := t.TempDir()
	dir, child := inChild(t, &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}, shared)
	if !child {
		return
	}
	small := filepath.Join(dir, "small")
	if err := os.MkdirAll(small, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, mount := range []error{
		unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""), unix.Mount("tmpfs", small, "tmpfs", 0, "size=2m"),
	} {
		if mount != nil {
			t.Skip("no mounts here:", mount)
		}
	}
	base := newConflict(t)
	large := strings.Repeat("one large version of master\n", 1000) // there may be room for the record, but not for it
	loose(t, filepath.Join(base.m.dir, "objects"), base.c, large)
	base.master = Entry{modeFile, base.c.blobID([]byte(large))}
	refused, took := 0, 0
	for _, point := range []string{"before", "staged", "swapped", "noted", "kept"} {
		for _, leave := range []int{0, 4 << 10, 8 << 10, 16 << 10, 64 << 10} {
			where := filepath.Join(small, fmt.Sprint(point, leave))
			git(t, small, "clone", "-q", "--no-hardlinks", base.dir, where)
			c := &conflict{fixture: &fixture{hub: base.hub, m: base.m, dir: where}, k: base.k, master: base.master}
			c.c = openCheckout(t, where)
			filled := false
			fill := func(at string) {
				if at == point && !filled {
					filled = true
					crowd(t, small, leave)
				}
			}
			c.c.hook = fill
			fill("before")
			_, err := c.replace(c.master)
			if err != nil {
				refused++
			} else {
				took++
			}
			c.settled(t, fmt.Sprint(point, " ", leave, ": ", err), large)
			if err := errors.Join(os.Remove(filepath.Join(small, "crowd")), os.RemoveAll(where)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if refused < 5 || took < 5 {
		t.Errorf("%d refused, %d took: the disk was never full in time", refused, took)
	}
}

// settled looks at the checkout while the limit holds, then lifts it and replaces again.
func (c *conflict) settled(t *testing.T, when, new string) {
	t.Helper()
	const old = "one\nold\n"
	at, err := os.ReadFile(filepath.Join(c.dir, file))
	if err != nil || string(at) != old && string(at) != new {
		t.Errorf("%s: the path has %.60q, %v", when, at, err)
	}
	if string(at) == new && !c.somewhere(old) {
		t.Errorf("%s: %q is lost", when, old)
	}
	if crowd := filepath.Join(filepath.Dir(c.dir), "crowd"); os.Truncate(crowd, 0) != nil {
		return
	}
	c.c = openCheckout(t, c.dir)
	if _, err := c.replace(c.master); err != nil {
		t.Errorf("%s: with room again: %v", when, err)
	}
	wantText(t, filepath.Join(c.dir, file), new)
	if kept, err := c.c.Kept(t.Context()); err != nil || len(kept) != 1 || read(t, kept[0].File) != old {
		t.Errorf("%s: kept %+v %v", when, kept, err)
	}
	if left, _ := os.ReadDir(c.c.workArea(tmpDir)); len(left) != 0 {
		t.Errorf("%s: left %v", when, left)
	}
}

// somewhere looks for a text among what parley holds for the person.
func (c *conflict) somewhere(text string) bool {
	for _, sub := range []string{tmpDir, keptDir} {
		files, _ := filepath.Glob(filepath.Join(c.c.workArea(sub), "*"))
		for _, f := range files {
			if body, err := os.ReadFile(f); err == nil && string(body) == text {
				return true
			}
		}
	}
	return false
}

func TestFewFileHandlesLoseNothing(t *testing.T) { // S2
	shared := t.TempDir()
	if _, child := inChild(t, nil, shared); !child {
		return
	}
	base := newConflict(t)
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	c := base.fork(t)
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	refused, took := 0, 0
	for n := len(open); n < len(open)+24; n++ {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: uint64(n), Max: was.Max}); err != nil {
			t.Fatal(err)
		}
		_, err := c.c.Replace(context.Background(), agreed, file, c.k, c.master)
		if back := unix.Setrlimit(unix.RLIMIT_NOFILE, &was); back != nil {
			t.Fatal(back)
		}
		if err != nil {
			refused++
		} else {
			took++
		}
		c.settled(t, fmt.Sprint(n, " handles: ", err), "one\nmaster\n")
		if _, err := c.c.Replace(t.Context(), agreed, file, c.k, c.master); err != nil {
			t.Errorf("with handles again: %v", err)
		}
		if _, err := c.c.Replace(t.Context(), agreed, file, c.k, c.old); err != nil {
			t.Errorf("back: %v", err)
		}
	}
	if refused < 5 || took < 1 {
		t.Errorf("%d refused, %d took", refused, took)
	}
}

// Unlike a full disk, a limit on the size of a file leaves room for the record of a version that was cut off.
func TestAVersionThatIsCutOffIsNeverInPlace(t *testing.T) { // S2
	if _, child := inChild(t, nil, t.TempDir()); !child {
		return
	}
	signal.Ignore(unix.SIGXFSZ) // the write fails instead
	c := newConflict(t)
	large := strings.Repeat("one large version of master\n", 3000)
	loose(t, filepath.Join(c.m.dir, "objects"), c.c, large)
	c.master = Entry{modeFile, c.c.blobID([]byte(large))}
	var was unix.Rlimit
	err := unix.Getrlimit(unix.RLIMIT_FSIZE, &was)
	if err := errors.Join(err, unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 16 << 10, Max: was.Max})); err != nil {
		t.Fatal(err)
	}
	_, err = c.replace(c.master)
	if back := unix.Setrlimit(unix.RLIMIT_FSIZE, &was); back != nil || !errors.Is(err, unix.EFBIG) {
		t.Errorf("%v %v", err, back)
	}
	wantText(t, filepath.Join(c.dir, file), "one\nold\n")
	if o, err := c.replace(c.master); err != nil || o != Took {
		t.Error(o, err)
	}
}

func TestAReadOnlyDirectoryLosesNothing(t *testing.T) { // S2
	shared := t.TempDir()
	if err := os.Chmod(filepath.Dir(shared), 0o755); err != nil {
		t.Fatal(err)
	}
	var attr *syscall.SysProcAttr
	if os.Geteuid() == 0 { // nothing is read-only for root
		attr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		if err := os.Chown(shared, 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	if _, child := inChild(t, attr, shared); !child {
		return
	}
	base := newConflict(t)
	for _, dir := range []string{"src", ".", ".git", ".git/parley", ".git/parley/tmp", ".git/parley/kept"} {
		c := base.fork(t)
		if err := os.MkdirAll(c.c.workArea(keptDir), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(c.c.workArea(tmpDir), 0o755); err != nil {
			t.Fatal(err)
		}
		closed := filepath.Join(c.dir, dir)
		for _, point := range []string{"", "staged", "swapped"} {
			shut := func(at string) {
				if at == point {
					if err := os.Chmod(closed, 0o555); err != nil {
						t.Error(err)
					}
				}
			}
			c.c.hook = shut
			shut("")
			_, err := c.replace(c.master)
			at := read(t, c.dir, file)
			if at != "one\nold\n" && (at != "one\nmaster\n" || !c.somewhere("one\nold\n")) {
				t.Errorf("%s closed at %q: %v, the path has %q", dir, point, err, at)
			}
			if dir == "src" && point != "swapped" && err == nil {
				t.Errorf("%s closed at %q: it was replaced", dir, point)
			}
			if err := os.Chmod(closed, 0o755); err != nil {
				t.Fatal(err)
			}
			c.c = openCheckout(t, c.dir)
			for _, want := range []Entry{c.master, c.old} {
				if _, err := c.replace(want); err != nil {
					t.Errorf("%s, open again: %v", dir, err)
				}
			}
			if left, _ := os.ReadDir(c.c.workArea(tmpDir)); len(left) != 0 {
				t.Errorf("%s closed at %q: left %v", dir, point, left)
			}
		}
	}
}
