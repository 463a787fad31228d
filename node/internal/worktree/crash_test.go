package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A crash is a real one: this test binary runs a sync, an undo or a restoring as a child process, which ends itself,
// without any cleaning up, at the nth passing of a point, or is killed from outside.
const crashVariable = "PARLEY_TEST_CRASH"

func TestMain(m *testing.M) {
	if task := os.Getenv(crashVariable); task != "" {
		if err := crashing(strings.Split(task, "\n")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// crashing runs with {checkout, mirror, what, object, point, n}. The checkout is not healed when it is opened, so
// that the healing can crash too.
func crashing(task []string) error {
	ctx := context.Background()
	c, err := locate(ctx, Git{}, Git{}.theirs(task[0]))
	if err != nil {
		return err
	}
	left, err := strconv.Atoi(task[5])
	if err != nil {
		return err
	}
	c.hook = func(point string) {
		if point == task[4] {
			if left--; left == 0 {
				os.Exit(3)
			}
		}
	}
	switch task[2] {
	case "undo":
		_, err = c.Undo(ctx, task[3])
		return err
	case "restore":
		_, err = c.Restore(ctx, task[3])
		return err
	}
	m, err := OpenMirror(ctx, Git{}, task[1], Remote{URL: "https://example.invalid/r"})
	if err != nil {
		return err
	}
	r := SyncRequest{Base: "master", Tip: OID(task[3]), Bring: task[2] == "bring"}
	if held, holds := strings.CutPrefix(task[2], "hold "); holds {
		r.Hold = func(path string) bool { return path == held }
	}
	_, err = c.SyncMaster(ctx, m, r)
	return err
}

func (f *fixture) child(tip OID, point string, n int) *exec.Cmd {
	return f.childTo("sync", string(tip), point, n)
}

func (f *fixture) childTo(what, object, point string, n int) *exec.Cmd {
	cmd := exec.CommandContext(f.t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), crashVariable+"="+strings.Join([]string{f.dir, f.m.dir, what, object, point, strconv.Itoa(n)}, "\n"))
	return cmd
}

// crashes runs a child that must crash.
func crashes(t *testing.T, child *exec.Cmd) {
	t.Helper()
	out, err := child.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 3 {
		t.Fatalf("the child did not crash: %v %s", err, out)
	}
}

func TestACrashAtAnyPointIsHealedByRunningAgain(t *testing.T) { // P0, D-22
	h, old, tip := advance(t)
	m := h.mirror()
	points := map[string]int{
		"brought": 1, "staged": 5, "swapped": 2, "noted": 1, "kept": 3, "told": 9, "file": 4, "files": 1, "locked": 1,
		"draft": 1, "aside": 1, "index": 1, "ref": 1,
	}
	for point, n := range points {
		t.Run(fmt.Sprint(point, n), func(t *testing.T) {
			f := &fixture{hub: h, m: m, dir: h.clone(t, old)}
			t.Setenv("GIT_CONFIG_GLOBAL", "/dev/null")
			crashes(t, f.child(tip, point, n))
			f.healed(t, old, tip)
		})
	}
}

// healed opens the checkout as a restarted node does, runs again and looks at everything.
func (f *fixture) healed(t *testing.T, old, tip OID) {
	t.Helper()
	f.c = openCheckout(t, f.dir)
	res, err := f.forward(tip)
	if err != nil || len(res.Kept) != 0 || res.Why != "" {
		t.Fatalf("again: %+v %v", res, err)
	}
	f.atTip(t, tip)
	kept, err := f.c.Kept(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, k := range kept {
		texts[k.Path] = read(t, k.File)
	}
	for path, text := range map[string]string{"edit me": "1\n", "mode": "m\n", "gone/deep/x": "x\n", "dir/f": "f\n", "über": "ü\n"} {
		if texts[path] != text {
			t.Errorf("kept of %s: %q", path, texts[path])
		}
	}
	if strays, _ := filepath.Glob(filepath.Join(f.dir, ".git/parley/kept/*")); len(strays) != 2*len(kept) {
		t.Errorf("strays among the kept files: %v", strays)
	}
}

func TestAKillAtAnyTimeIsHealedByRunningAgain(t *testing.T) { // P0, D-22
	h, old, tip := advance(t)
	m := h.mirror()
	t.Setenv("GIT_CONFIG_GLOBAL", "/dev/null")
	probe := &fixture{hub: h, m: m, dir: h.clone(t, old)}
	start := time.Now()
	if out, err := probe.child(tip, "never", 1).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	whole := time.Since(start)
	for i := range 8 {
		f := &fixture{hub: h, m: m, dir: h.clone(t, old)}
		child := f.child(tip, "never", 1)
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(time.Duration(rand.Int64N(int64(whole))), func() { _ = child.Process.Kill() })
		_ = child.Wait()
		timer.Stop()
		waitForStragglers(t, f.dir)
		f.healed(t, old, tip)
		if t.Failed() {
			t.Fatalf("at kill %d", i)
		}
	}
}

// waitForStragglers waits until no git that the killed child had started still holds a lock.
func waitForStragglers(t *testing.T, dir string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for ctx.Err() == nil {
		locks, _ := filepath.Glob(filepath.Join(dir, ".git/*.lock"))
		refs, _ := filepath.Glob(filepath.Join(dir, ".git/refs/heads/*.lock"))
		ours := 0
		for _, l := range locks {
			if body, err := os.ReadFile(l); err == nil && strings.HasPrefix(string(body), indexLockMark) {
				ours++
			}
		}
		if len(locks)+len(refs) == ours {
			return
		}
		_, _ = gitTry(t, dir, "", "version") // passes some time
	}
}

// A version that was written in the last moment goes back even if parley was killed right after the exchange.
func TestACrashRightAfterTheExchangeLosesNothing(t *testing.T) { // S2
	base := newConflict(t)
	for name, c := range map[string]struct {
		after func(t *testing.T, c *conflict)
		want  string
		kept  string
	}{
		"nothing more happens":   {func(*testing.T, *conflict) {}, "mine\n", ""},
		"it is written again":    {func(t *testing.T, c *conflict) { put(t, c.dir, file, "newer\n") }, "newer\n", "mine\n"},
		"it is deleted":          {func(t *testing.T, c *conflict) { put(t, c.dir, file, "") }, "", "mine\n"},
		"the directory went too": {func(t *testing.T, c *conflict) { put(t, c.dir, "src", "") }, "", "mine\n"},
	} {
		t.Run(name, func(t *testing.T) {
			cc := base.fork(t)
			type crash struct{}
			cc.c.hook = func(point string) {
				switch point {
				case "staged":
					put(t, cc.dir, file, "mine\n")
				case "swapped":
					panic(crash{})
				}
			}
			func() {
				defer func() {
					if _, ours := recover().(crash); !ours {
						t.Fatal("no crash")
					}
				}()
				_, _ = cc.replace(cc.master)
			}()
			c.after(t, cc)
			again := openCheckout(t, cc.dir)
			if got, _ := os.ReadFile(filepath.Join(cc.dir, file)); string(got) != c.want {
				t.Errorf("the path has %q", got)
			}
			kept, err := again.Kept(t.Context())
			if want := cmp.Or(c.kept, "one\nmaster\n"); err != nil || len(kept) != 1 || read(t, kept[0].File) != want {
				t.Errorf("kept %+v %v", kept, err)
			}
			if left, _ := os.ReadDir(filepath.Join(cc.dir, ".git/parley/tmp")); len(left) != 0 {
				t.Errorf("temporary files are left: %v", left)
			}
		})
	}
}
