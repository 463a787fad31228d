package overlap

import (
	"strings"
	"testing"

	"github.com/parley-mesh/parley/detect"
)

func TestAConflictIsFoundKeptAndClosedWhenTheOverlapGoes(t *testing.T) { // C1, C10
	w, a, b, x, y := two(t)
	a.edits(x, "src/refund.ts", "src/own.ts")
	w.none()
	b.edits(y, "src/refund.ts")
	c := w.is(detect.PathOverlap, Open)
	if c.Severity != detect.Info || c.Blocking || c.Confidence != 90 || len(c.About) != 1 || !strings.HasPrefix(c.Name, "CF-") {
		t.Errorf("found %+v", c)
	}
	if c.Sides[0].ID != x || c.Sides[1].ID != y {
		t.Errorf("sides %+v", c.Sides)
	}
	w.settles(a, b)
	b.undoes(y, "src/refund.ts")
	w.is(detect.PathOverlap, Resolved)
	w.settles(a, b)
	gone := w.is(detect.PathOverlap, Resolved)
	b.edits(y, "src/refund.ts")
	again := w.is(detect.PathOverlap, Open)
	if again.ID != c.ID || gone.Name != again.Name || again.Reopened != 1 {
		t.Errorf("it came back as %s, reopened %d times; it was %s", again.Name, again.Reopened, c.Name)
	}
}
