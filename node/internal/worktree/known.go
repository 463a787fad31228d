package worktree

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Known is the set K of one path (D-9): every version of it that GitHub has. Content in the set may be
// replaced, content outside never is. A Known does not follow later fetches.
type Known struct {
	path   string
	mirror *Mirror
	modes  map[OID][]string // blob to the modes it had; none: any mode
	absent bool             // a published version has the path deleted

	mu    sync.Mutex
	lines map[lineID]struct{} // of all versions; nil until asked for
	size  atomic.Int64        // how many lines those are
}

// lineID stands for a line. Two lines with the same id could only hide an own line of a copy that is kept
// anyway.
type lineID [16]byte

// Has reports whether GitHub has this content at the path. The zero id asks for the deleted file.
func (k *Known) Has(o OID) bool {
	if o == "" {
		return k.absent
	}
	_, ok := k.modes[o]
	return ok
}

// hasEntry is Has for content together with its executable bit.
func (k *Known) hasEntry(e Entry) bool {
	if e.Absent() {
		return k.absent
	}
	modes, ok := k.modes[e.OID]
	return ok && (len(modes) == 0 || slices.Contains(modes, e.Mode))
}

// With is the set with further content that may be displaced: this computer's own, of which the wanted version
// is the merge with the base (D-21). It is kept like everything that is displaced.
func (k *Known) With(own ...OID) *Known {
	modes := maps.Clone(k.modes)
	for _, o := range own {
		if o.Valid() {
			modes[o] = nil
		}
	}
	return &Known{path: k.path, mirror: k.mirror, modes: modes, absent: k.absent}
}

func (k *Known) add(e Entry) {
	if !e.regular() {
		return
	}
	modes, seen := k.modes[e.OID]
	if seen && len(modes) == 0 || slices.Contains(modes, e.Mode) {
		return
	}
	k.modes[e.OID] = append(slices.Clone(modes), e.Mode) // others may read the former list
}

// parseRaw reads ":<mode> <mode> <oid> <oid> <letter>".
func parseRaw(rec string) (old, new Entry, err error) {
	f := strings.Fields(strings.TrimPrefix(strings.TrimRight(rec, "\x00"), ":"))
	if len(f) != 5 {
		return old, new, fmt.Errorf("odd raw difference %q", rec)
	}
	if OID(f[2]).Valid() {
		old = Entry{Mode: f[0], OID: OID(f[2])}
	}
	if OID(f[3]).Valid() {
		new = Entry{Mode: f[1], OID: OID(f[3])}
	}
	return old, new, nil
}

// Line reports whether the line (bytes between line feeds) stands in any known version. The versions are read
// at the first call.
func (k *Known) Line(ctx context.Context, line []byte) (bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.lines == nil {
		lines, err := k.readLines(ctx)
		if err != nil {
			return false, fmt.Errorf("lines of %s: %w", k.path, err)
		}
		k.lines = lines
		k.size.Store(int64(len(lines)))
	}
	_, ok := k.lines[idOfLine(line)]
	return ok, nil
}

func (k *Known) readLines(ctx context.Context) (map[lineID]struct{}, error) {
	lines := map[lineID]struct{}{}
	var oids []OID
	for o := range k.modes {
		oids = append(oids, o)
	}
	slices.Sort(oids)
	if k.mirror == nil {
		return lines, nil
	}
	return lines, k.mirror.git.blobs(ctx, oids, func(_ OID, body []byte) {
		if isText(body) {
			for line := range splitLines(body) {
				lines[idOfLine(line)] = struct{}{}
			}
		}
	})
}

func idOfLine(line []byte) lineID {
	sum := sha256.Sum256(line)
	return lineID(sum[:16])
}

func isText(body []byte) bool { return bytes.IndexByte(body, 0) < 0 }

// splitLines yields the bytes between line feeds; a last line need not end in one.
func splitLines(body []byte) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for len(body) > 0 {
			line, rest, _ := bytes.Cut(body, []byte("\n"))
			if !yield(line) {
				return
			}
			body = rest
		}
	}
}
