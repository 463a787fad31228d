package worktree

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// racing makes the race as long as one likes.
var racing = flag.Int("racing", 0, "writes that race with replacements; 0: 300, or 60 with -short")

// A writer saves to the file while it is being replaced, aimed at the moments around the exchange. Whatever it
// saved and did not itself overwrite is at the path or among the kept files.
func TestNoRacingWriteIsLost(t *testing.T) { // S2, P19, case 35
	c := newConflict(t)
	rounds := *racing
	switch {
	case rounds > 0:
	case testing.Short():
		rounds = 60
	default:
		rounds = 300
	}
	var quiet sync.RWMutex // held for reading by a replacement
	aim := make(chan struct{}, 1)
	fire := func() {
		select {
		case aim <- struct{}{}:
		default:
		}
	}
	target := ""
	c.c.hook = func(point string) {
		if point == target {
			fire()
		}
	}
	w := &writer{t: t, path: filepath.Join(c.dir, file)}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(done)
		for i := range rounds {
			<-aim
			w.attack(c.c, &quiet, i)
		}
	})
	targets := []string{"start", "staged", "staged", "swapped", "noted", "kept", "nowhere", "nowhere"}
	took, refused := 0, 0
	for i := 0; ; i++ {
		select {
		case <-done:
			wg.Wait()
			t.Logf("%d replacements, %d refused", took, refused)
			if took < rounds/10 || refused < rounds/10 {
				t.Error("the race never happened")
			}
			return
		default:
		}
		quiet.RLock()
		if target = targets[rand.IntN(len(targets))]; target == "start" {
			fire()
		}
		_, err := c.replace([]Entry{c.master, c.pull, c.old}[i%3])
		quiet.RUnlock()
		switch {
		case err == nil:
			took++
		case errors.Is(err, ErrUnknownContent):
			refused++
		default:
			t.Errorf("replace: %v", err)
		}
	}
}

type writer struct {
	t    *testing.T
	path string
	held *os.File
}

// attack saves at this moment, and looks for what it saved once the replacement is over.
func (w *writer) attack(c *Checkout, quiet *sync.RWMutex, i int) {
	text := fmt.Sprintf("mine %d\n", i)
	if i%4 == 3 { // holds a handle from now on, and finds out later what became of the file
		f, err := os.OpenFile(w.path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			w.t.Error(err)
		}
		w.held = f
	}
	for range rand.IntN(2000) { // a few microseconds, more or less
	}
	w.save(text, i%4)
	quiet.Lock()
	defer quiet.Unlock()
	if got, _ := os.ReadFile(w.path); !strings.Contains(string(got), text) && !isKept(c, text) {
		w.t.Errorf("%q is lost, the path has %q", text, got)
	}
	w.save("one\nold\n", 1) // so that the next replacement has a chance
	if err := c.PruneKept(w.t.Context(), time.Now().Add(time.Hour)); err != nil {
		w.t.Error(err)
	}
}

// save writes in place, by renaming over, by removing first, or through a handle that it holds, as different
// programs do.
func (w *writer) save(text string, how int) {
	var err error
	switch how {
	case 0:
		err = os.WriteFile(w.path, []byte(text), 0o644)
	case 1:
		err = errors.Join(os.WriteFile(w.path+"~", []byte(text), 0o644), os.Rename(w.path+"~", w.path))
	case 3:
		_, err = w.held.WriteString(text)
		err = errors.Join(err, w.held.Close())
	default:
		_ = os.Remove(w.path)
		err = os.WriteFile(w.path, []byte(text), 0o644)
	}
	if err != nil {
		w.t.Error(err)
	}
}

func isKept(c *Checkout, text string) bool {
	files, _ := filepath.Glob(filepath.Join(c.workArea(keptDir), "*"))
	for _, f := range files {
		if got, _ := os.ReadFile(f); strings.Contains(string(got), text) {
			return true
		}
	}
	return false
}
