package worktree

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
)

// The bounds of what is remembered of paths. When one is reached, all is forgotten and asked for again.
const (
	setsMax     = 512     // answers
	linesMax    = 500_000 // lines in them, about 50 bytes each
	pastsMax    = 2_000   // paths whose history is remembered
	versionsMax = 200_000 // versions in those histories, about 150 bytes each
)

// severalMax is up to how many paths a whole history is read for each by itself: git uses the changed-path filters
// of the commit graph for a single path only, and compares the trees of every commit for several.
const severalMax = 28

// past is what a history had at a path. It is not changed any more.
type past struct {
	tip    OID
	modes  map[OID][]string
	absent bool
}

// knownSets remembers what was told of paths, so that a look at what has not changed costs nothing, and one at a
// branch that has grown costs what is new.
type knownSets struct {
	mu       sync.Mutex
	sets     map[string]*Known // by everything that the answer depends on
	pasts    map[string]past   // by path
	versions int
}

// Known is KnownAll of one path.
func (m *Mirror) Known(ctx context.Context, base OID, pull uint64, path string, extra ...OID) (*Known, error) {
	all, err := m.KnownAll(ctx, base, pull, []string{path}, map[string][]OID{path: extra})
	return all[path], err
}

// KnownAll collects K of each path: what any commit reachable from base had there, what every head ever seen of
// the pull request has, and extra (by path, the blobs of a verified open record). Pull 0 means no pull request.
func (m *Mirror) KnownAll(ctx context.Context, base OID, pull uint64, paths []string, extra map[string][]OID) (map[string]*Known, error) {
	all, err := m.knownAll(ctx, base, pull, paths, extra)
	if err != nil {
		return nil, fmt.Errorf("known versions of %s: %w", strings.Join(paths, ", "), err)
	}
	return all, nil
}

func (m *Mirror) knownAll(ctx context.Context, base OID, pull uint64, paths []string, extra map[string][]OID) (map[string]*Known, error) {
	if !base.Valid() {
		return nil, fmt.Errorf("base %q is not a commit", base)
	}
	var heads []OID
	if pull != 0 {
		var err error
		if heads, err = m.Heads(ctx, pull); err != nil {
			return nil, err
		}
	}
	key := func(path string) string { return fmt.Sprint(base, heads, extra[path], path) }
	all := map[string]*Known{}
	var missing []string
	for _, path := range paths {
		if k := m.sets.get(key(path)); k != nil {
			all[path] = k
		} else {
			missing = append(missing, path)
		}
	}
	if len(missing) == 0 {
		return all, nil
	}
	pasts, err := m.pastsOf(ctx, base, missing)
	if err != nil {
		return nil, err
	}
	fresh := map[string]*Known{}
	for _, path := range missing {
		k := &Known{path: path, mirror: m, modes: maps.Clone(pasts[path].modes), absent: pasts[path].absent}
		for _, o := range extra[path] {
			if o.Valid() {
				k.modes[o] = nil
			}
		}
		fresh[path] = k
	}
	for _, head := range heads {
		if err := m.addHead(ctx, fresh, missing, base, head); err != nil {
			return nil, err
		}
	}
	for path, k := range fresh {
		all[path] = k
		m.sets.put(key(path), k)
	}
	return all, nil
}

// addHead adds what a pull request's head has. A head that deleted a path publishes its absence.
func (m *Mirror) addHead(ctx context.Context, fresh map[string]*Known, paths []string, base, head OID) error {
	found, err := m.Entries(ctx, head, paths)
	if err != nil {
		return err
	}
	var gone []string
	for _, path := range paths {
		e := found[path]
		if fresh[path].add(e); e.Absent() && !fresh[path].absent {
			gone = append(gone, path)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	fork, err := m.MergeBase(ctx, base, head)
	if err != nil || fork == "" {
		return err
	}
	before, err := m.Entries(ctx, fork, gone)
	for _, path := range gone {
		fresh[path].absent = !before[path].Absent()
	}
	return err
}

// pastsOf is what the history of base had at the paths. Of a path whose history is remembered up to an ancestor
// only what came since is read.
func (m *Mirror) pastsOf(ctx context.Context, base OID, paths []string) (map[string]past, error) {
	found := map[string]past{}
	from := map[string]past{}
	since := map[OID][]string{}
	for _, path := range paths {
		p := m.sets.past(path)
		if p.tip == base {
			found[path] = p
		} else {
			from[path] = p
			since[p.tip] = append(since[p.tip], path)
		}
	}
	whole := since[""]
	delete(since, "")
	for _, old := range slices.Sorted(maps.Keys(since)) {
		grown, err := m.IsAncestor(ctx, old, base)
		if err != nil {
			return nil, err
		}
		if !grown {
			whole = append(whole, since[old]...)
		} else if err := m.readPasts(ctx, found, from, base, since[old], pathsPerCall); err != nil {
			return nil, err
		}
	}
	together := 1
	if len(whole) > severalMax {
		together = pathsPerCall
	}
	return found, m.readPasts(ctx, found, nil, base, whole, together)
}

// readPasts reads the raw differences of every commit against each of its parents: a version that a commit has is
// on one side of one of them. What is in from, all of one tip, is added to.
// So many paths are asked for together.
func (m *Mirror) readPasts(ctx context.Context, found, from map[string]past, base OID, paths []string, together int) error {
	for some := range slices.Chunk(paths, together) {
		sets := map[string]*Known{}
		for _, path := range some {
			k := &Known{modes: map[OID][]string{}}
			if p, is := from[path]; is {
				k.modes, k.absent = maps.Clone(p.modes), p.absent
			}
			sets[path] = k
		}
		args := []string{"log", "--format=", "--raw", "-z", "--no-abbrev", "--no-renames", "--full-history", "-m", "--root", string(base)}
		if old := from[some[0]].tip; old != "" {
			args = append(args, "^"+string(old))
		}
		c := call{args: append(append(args, "--"), some...)}
		if err := m.git.stream(ctx, c, func(out io.Reader) error { return addRaw(sets, out) }); err != nil {
			return err
		}
		for path, k := range sets {
			found[path] = past{base, k.modes, k.absent}
			m.sets.keep(path, found[path])
		}
	}
	return nil
}

// addRaw reads "<difference> NUL <path> NUL". What lies below a path that is a directory is not its own.
func addRaw(sets map[string]*Known, out io.Reader) error {
	br := bufio.NewReader(out)
	for {
		rec, err := br.ReadString(0)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		path, err := br.ReadString(0)
		if err != nil {
			return err
		}
		old, new, err := parseRaw(rec)
		if err != nil {
			return err
		}
		if k := sets[strings.TrimSuffix(path, "\x00")]; k != nil {
			k.add(old)
			k.add(new)
			k.absent = k.absent || new.Absent()
		}
	}
}

func (s *knownSets) get(key string) *Known {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sets[key]
}

func (s *knownSets) put(key string, k *Known) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := int64(0)
	for _, other := range s.sets {
		lines += other.size.Load()
	}
	if s.sets == nil || len(s.sets) >= setsMax || lines > linesMax {
		s.sets = map[string]*Known{}
	}
	s.sets[key] = k
}

func (s *knownSets) past(path string) past {
	if s == nil {
		return past{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pasts[path]
}

func (s *knownSets) keep(path string, p past) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.versions += len(p.modes) - len(s.pasts[path].modes)
	if s.pasts == nil || len(s.pasts) >= pastsMax || s.versions > versionsMax {
		s.pasts, s.versions = map[string]past{}, len(p.modes)
	}
	s.pasts[path] = p
}
