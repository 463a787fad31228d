package repo

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

var movedPairs = flag.Int("moved", 60, "how many random pairs of moved folders")

// triples writes a history of small merges in one run of git: for each, a base and two edits of it. Few different
// lines make hunks that git has to place with care.
func triples(s *shop, n int, kinds int, seed uint64) (pairs [][2]string) {
	s.Helper()
	random := rand.New(rand.NewPCG(seed, 1))
	var in strings.Builder
	blob := func(lines []string) {
		text := strings.Join(lines, "")
		fmt.Fprintf(&in, "M 100644 inline f\ndata %d\n%s\n", len(text), text)
	}
	commit := func(mark int, from string, lines []string) {
		fmt.Fprintf(&in, "commit refs/heads/t%d\nmark :%d\ncommitter a <a@b> %d +0000\ndata 1\nx\n%s", mark, mark, 1_700_000_000+mark, from)
		blob(lines)
	}
	line := func() string { return fmt.Sprintf("line %d\n", random.IntN(kinds)) }
	edit := func(base []string) []string {
		out := append([]string(nil), base...)
		for range 1 + random.IntN(3) {
			at := random.IntN(len(out) + 1)
			gone := min(random.IntN(3), len(out)-at)
			var put []string
			for range random.IntN(3) {
				put = append(put, line())
			}
			out = append(out[:at:at], append(put, out[at+gone:]...)...)
		}
		return out
	}
	for i := range n {
		base := make([]string, 4+random.IntN(12))
		for j := range base {
			base[j] = line()
		}
		mark := 3*i + 1
		commit(mark, "", base)
		from := fmt.Sprintf("from :%d\n", mark)
		commit(mark+1, from, edit(base))
		commit(mark+2, from, edit(base))
	}
	s.importHistory(in.String())
	var names strings.Builder
	for i := range n {
		fmt.Fprintf(&names, "refs/heads/t%d\nrefs/heads/t%d\n", 3*i+2, 3*i+3)
	}
	ids := strings.Fields(s.git(append([]string{"rev-parse"}, strings.Fields(names.String())...)...))
	for i := 0; i < len(ids); i += 2 {
		pairs = append(pairs, [2]string{ids[i], ids[i+1]})
	}
	return pairs
}

func TestDigestsForeseeWhatGitCannotMerge(t *testing.T) { // C16
	for kinds, n := range map[int]int{3: 250, 50: 50} {
		s := newShop(t)
		pairs := triples(s, n, kinds, 7)
		got := judge(t, s.open(), pairs)
		t.Logf("%d kinds of lines: %s", kinds, got)
		for _, w := range got.wrong {
			t.Log(w)
		}
		if len(got.wrong) > 0 || got.truePositive < n/5 {
			t.Errorf("%s", got)
		}
	}
}

// moves writes a history of small merges in which folders are moved, taken apart and added to.
func moves(s *shop, n int, seed uint64) (pairs [][2]string) {
	s.Helper()
	random := rand.New(rand.NewPCG(seed, 2))
	dirs := []string{"a", "a/b", "a/b/c", "d", "d/e", "f"}
	var in strings.Builder
	commit := func(mark int, from string, files map[string]string) {
		fmt.Fprintf(&in, "commit refs/heads/m%d\nmark :%d\ncommitter a <a@b> %d +0000\ndata 1\nx\n%sdeleteall\n", mark, mark, 1_700_000_000+mark, from)
		for _, p := range slices.Sorted(maps.Keys(files)) {
			fmt.Fprintf(&in, "M 100644 inline %s\ndata %d\n%s\n", p, len(files[p]), files[p])
		}
	}
	content := func(name string) string { return strings.Repeat("a line of "+name+"\n", 8) }
	edit := func(base map[string]string, side string) map[string]string {
		out := maps.Clone(base)
		for range 1 + random.IntN(2) {
			dir, to := dirs[random.IntN(len(dirs))], dirs[random.IntN(len(dirs))]+side
			switch random.IntN(4) {
			case 0, 1: // the folder moves, whole or in part
				if random.IntN(2) == 0 {
					to = dirs[random.IntN(len(dirs))]
				}
				part := random.IntN(4) == 0
				for p, text := range base {
					rest, in := strings.CutPrefix(p, dir+"/")
					if in && out[p] != "" && (!part || random.IntN(2) == 0) && out[to+"/"+rest] == "" {
						delete(out, p)
						out[to+"/"+rest] = text
					}
				}
			case 2:
				out[fmt.Sprintf("%s/new%d%s", dir, random.IntN(3), side)] = content(side)
			case 3:
				out[fmt.Sprintf("%s/g/new%s", dir, side)] = content(side)
			}
		}
		return out
	}
	for i := range n {
		base := map[string]string{"root": "root\n"}
		for k := range 4 + random.IntN(5) {
			base[fmt.Sprintf("%s/n%d", dirs[random.IntN(len(dirs))], k)] = content(fmt.Sprintf("n%d", k))
		}
		mark := 3*i + 1
		commit(mark, "", base)
		from := fmt.Sprintf("from :%d\n", mark)
		commit(mark+1, from, edit(base, "x"))
		commit(mark+2, from, edit(base, "y"))
		pairs = append(pairs, [2]string{fmt.Sprintf("m%d", mark+1), fmt.Sprintf("m%d", mark+2)})
	}
	s.importHistory(in.String())
	for i, p := range pairs {
		ids := strings.Fields(s.git("rev-parse", p[0], p[1]))
		pairs[i] = [2]string{ids[0], ids[1]}
	}
	return pairs
}

func TestDigestsForeseeWhatMovedFoldersDoToAMerge(t *testing.T) { // C16
	s := newShop(t)
	got := judge(t, s.open(), moves(s, *movedPairs, 7))
	t.Log(got)
	for _, w := range got.wrong {
		t.Log(w)
	}
	if len(got.wrong) > 0 || got.truePositive < *movedPairs/10 {
		t.Errorf("%s", got)
	}
}
