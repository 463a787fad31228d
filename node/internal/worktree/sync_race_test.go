package worktree

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// A writer saves to a file while the merge of its former content is being put there, aimed at the moments around
// the exchange. Whatever it saved is at the path, by itself or merged, or among the kept files.
func TestNoRacingWriteIsLostInASync(t *testing.T) { // S2, P0
	h, old, tip := shared(t)
	base := newFixture(t, h, old)
	for i, target := range []string{"brought", "staged", "staged", "swapped", "kept", "files"} {
		f := base.fork(t, old)
		put(t, f.dir, "a", "mine\n"+longText)
		text := fmt.Sprintf("write %d\n", i) + longText
		w := &writer{t: t, path: filepath.Join(f.dir, "a")}
		aim := make(chan struct{})
		fire := sync.OnceFunc(func() { close(aim) })
		f.c.hook = func(point string) {
			if point == target {
				fire()
			}
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			<-aim
			for range rand.IntN(20000) { // some microseconds, more or less
			}
			w.save(text, i%3)
		})
		_, err := f.forward(tip)
		fire()
		wg.Wait()
		if err != nil && !errors.Is(err, ErrBusy) {
			t.Errorf("at %s: %v", target, err)
		}
		if _, err := f.forward(tip); err != nil {
			t.Errorf("at %s: again: %v", target, err)
		}
		if got := read(t, f.dir, "a"); !strings.HasPrefix(got, text) && !isKept(f.c, text) {
			t.Errorf("at %s: %q is lost, the path has %q", target, text, got)
		}
		if !isKept(f.c, "mine\n"+longText) && !strings.HasPrefix(read(t, f.dir, "a"), text) {
			t.Errorf("at %s: the work before is lost", target)
		}
		f.nothingLeft(t)
	}
}
