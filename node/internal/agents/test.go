package agents

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// tailBytesMax is how much of a test's output is told.
const tailBytesMax = 1 << 10

// Test runs the command of t, as it stands, on what is in dir. nil means that it ended with status 0. Otherwise
// the error holds the end of what it printed; it is ErrTimedOut where it was ended, or the context's.
func Test(ctx context.Context, t Template, dir string) error {
	if err := t.Validate(); err != nil {
		return err
	}
	var out tail
	code, err := t.run(ctx, t.Argv, dir, t.ends(Task{}, time.Now()), &out)
	switch {
	case err != nil:
		return fmt.Errorf("test %s: %w", t.Argv[0], err)
	case code != 0:
		return fmt.Errorf("test %s: exit status %d: %s", t.Argv[0], code, out.text())
	}
	return nil
}

// tail keeps the end of what is written to it.
type tail struct{ end []byte }

// Write never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.end = append(t.end, p...)
	if over := len(t.end) - tailBytesMax; over > 0 {
		t.end = append(t.end[:0], t.end[over:]...)
	}
	return len(p), nil
}

func (t *tail) text() string { return tame(strings.TrimSpace(strings.ToValidUTF8(string(t.end), "?"))) }
