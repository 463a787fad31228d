package overlap

import (
	"slices"
	"strings"

	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/ledger"
)

// ground says which sides may have something to do with a path: by the path itself, folded as the least careful file
// system would, and by the directories that globs begin with.
type ground struct {
	at   map[string][]spot
	keys map[ledger.ID][]string
}

// spot is one file or one claim of a side.
type spot struct {
	side        ledger.ID
	file, claim int // place in the digest; -1 for the other
}

func newGround() *ground { return &ground{at: map[string][]spot{}, keys: map[ledger.ID][]string{}} }

// put takes a side in, or what it is now in place of what it was.
func (g *ground) put(s *side) {
	for _, k := range g.keys[s.id] {
		left := slices.DeleteFunc(g.at[k], func(p spot) bool { return p.side == s.id })
		if g.at[k] = left; len(left) == 0 {
			delete(g.at, k)
		}
	}
	delete(g.keys, s.id)
	if !s.live() {
		return
	}
	add := func(k string, p spot) {
		g.at[k] = append(g.at[k], p)
		g.keys[s.id] = append(g.keys[s.id], k)
	}
	for i := range s.digest.Files {
		f := &s.digest.Files[i]
		add(whole(f.Path), spot{s.id, i, -1})
		if f.From != "" && f.From != f.Path {
			add(whole(f.From), spot{s.id, i, -1})
		}
	}
	for i, c := range s.digest.Claims {
		if c.Kind == detect.PathClaim {
			add(claimed(c.Pattern), spot{s.id, -1, i})
		}
	}
}

// whole is the key of one path, below that of what a directory holds.
func whole(path string) string { return "=" + detect.Fold(path) }

func below(directory string) string { return "<" + detect.Fold(directory) }

// claimed is the key of a pattern: a path that it spells, or the directory before its first part that is none.
func claimed(pattern string) string {
	meta := strings.IndexAny(pattern, `*?[{\`)
	if meta < 0 && !strings.HasSuffix(pattern, "/") {
		return whole(pattern)
	}
	if meta < 0 {
		meta = len(pattern)
	}
	return below(pattern[:strings.LastIndexByte(pattern[:meta], '/')+1])
}

// near lists the sides that may have something to do with paths, ascending, and what of each.
func (g *ground) near(upcoming []detect.Upcoming) (ids []ledger.ID, spots map[ledger.ID][]spot) {
	spots = map[ledger.ID][]spot{}
	for _, u := range upcoming {
		for _, k := range ways(u.Path) {
			for _, p := range g.at[k] {
				if spots[p.side] == nil {
					ids = append(ids, p.side)
				}
				spots[p.side] = append(spots[p.side], p)
			}
		}
	}
	slices.SortFunc(ids, func(a, b ledger.ID) int { return slices.Compare(a[:], b[:]) })
	return ids, spots
}

// ways are the keys under which something about a path can stand.
func ways(path string) []string {
	out := []string{whole(path), below("")}
	for i := range len(path) {
		if path[i] == '/' {
			out = append(out, below(path[:i+1]))
		}
	}
	return out
}

// part is what a side has to do with some paths. One that tries them is taken to have edited them last of all.
func (f *Fold) part(s *side, spots []spot, tries []detect.Upcoming) *detect.Party {
	d := &detect.Digest{Side: s.digest.Side, Base: s.digest.Base}
	taken := map[spot]bool{}
	for _, p := range spots {
		switch {
		case taken[p]:
		case p.file >= 0:
			file := s.digest.Files[p.file]
			file.Hunks = nil
			d.Files = append(d.Files, file)
		default:
			d.Claims = append(d.Claims, s.digest.Claims[p.claim])
		}
		taken[p] = true
	}
	if tries != nil {
		attempt(d, tries, (f.lam+2)<<23)
	}
	d.Normalize()
	return f.repos[s.place].Rules.Party(d)
}

// attempt puts edits that are about to happen into a digest, as of a logical time.
func attempt(d *detect.Digest, tries []detect.Upcoming, now uint64) {
	d.Upcoming = slices.Clone(tries)
	if d.Side.Arrived == 0 {
		d.Side.Arrived = now
	}
	for _, u := range tries {
		at := slices.IndexFunc(d.Files, func(f detect.File) bool { return f.Path == u.Path })
		if at < 0 {
			at = len(d.Files)
			d.Files = append(d.Files, detect.File{Path: u.Path, Since: now})
		}
		d.Files[at].Op, d.Files[at].Blob = u.Op, "about to change"
		if u.Op == 0 {
			d.Files[at].Op = detect.Modify
		}
	}
}
