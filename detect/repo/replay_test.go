package repo

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/detect"
)

// The history of a real repository is the judge: go test ./detect/repo -run Replay -v -repo PATH.
var (
	replayRepo   = flag.String("repo", os.Getenv("PARLEY_REPLAY_REPO"), "a clone whose history is replayed")
	replayMerges = flag.Int("merges", 600, "how many of its merges, newest first")
	replayPairs  = flag.Int("pairs", 3000, "how many pairs of its pull requests")
)

// score counts answers against git's.
type score struct {
	pairs, pruned, truePositive, falsePositive, falseNegative, unknown int
	wrong                                                              []string
}

func (s *score) String() string {
	part := func(n, of int) string {
		if of == 0 {
			return "-"
		}
		return fmt.Sprintf("%.3f", float64(n)/float64(of))
	}
	return fmt.Sprintf("%d pairs, %d pruned, %d git could not tell; TP %d FP %d FN %d; precision %s recall %s",
		s.pairs, s.pruned, s.unknown, s.truePositive, s.falsePositive, s.falseNegative,
		part(s.truePositive, s.truePositive+s.falsePositive), part(s.truePositive, s.truePositive+s.falseNegative))
}

func openReplay(t testing.TB) *Repo {
	t.Helper()
	if *replayRepo == "" {
		t.Skip("no repository to replay: -repo PATH")
	}
	r, err := Open(t.Context(), *replayRepo)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// judge holds what pruning and digests say about pairs of commits against git.
func judge(t *testing.T, r *Repo, pairs [][2]string) *score {
	t.Helper()
	var tips []string
	for _, p := range pairs {
		tips = append(tips, p[0], p[1])
	}
	slices.Sort(tips)
	if err := r.load(t.Context(), slices.Compact(tips)); err != nil {
		t.Fatal(err)
	}
	var spans []span
	bases := make([]base, len(pairs))
	for i, p := range pairs {
		if bases[i] = r.graph.meet(p[0], p[1]); bases[i].commit != "" {
			spans = append(spans, span{bases[i].commit, p[0]}, span{bases[i].commit, p[1]})
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return strings.Compare(a.base+a.head, b.base+b.head) })
	changed, err := r.changes(t.Context(), withoutRenames, slices.Compact(spans))
	if err != nil {
		t.Fatal(err)
	}
	answers, err := r.mergeAll(t.Context(), pairs)
	if err != nil {
		t.Fatal(err)
	}
	s := &score{}
	cache := map[span][]detect.File{}
	for i, p := range pairs {
		s.add(t, r, p, bases[i], changed, answers[i], cache)
	}
	return s
}

func (s *score) add(t *testing.T, r *Repo, p [2]string, b base, changed map[span][]detect.File, m merged, cache map[span][]detect.File) {
	s.pairs++
	if m.Outcome == detect.Unknown || b.commit == "" {
		s.unknown++
		return
	}
	conflict := m.Outcome == detect.Conflicts
	if !b.many && !canConflict(changed[span{b.commit, p[0]}], changed[span{b.commit, p[1]}]) {
		s.pruned++
		if conflict {
			t.Errorf("%s and %s conflict, and were pruned: %+v", p[0], p[1], m.Conflicts)
		}
		return
	}
	files := func(head string) []detect.File {
		k := span{b.commit, head}
		if _, ok := cache[k]; !ok {
			list, err := r.Changes(t.Context(), k.base, k.head)
			if err != nil {
				t.Fatal(err)
			}
			cache[k] = list
		}
		return cache[k]
	}
	said := detect.Textual(files(p[0]), files(p[1]))
	switch {
	case conflict && len(said) > 0:
		s.truePositive++
	case conflict:
		s.falseNegative++
		s.wrong = append(s.wrong, fmt.Sprintf("missed %s %s: %v", p[0], p[1], m.Conflicts))
	case len(said) > 0:
		s.falsePositive++
		s.wrong = append(s.wrong, fmt.Sprintf("made up %s %s: %v", p[0], p[1], said))
	}
}

func (s *score) report(t *testing.T, what string) {
	t.Logf("%s: %s", what, s)
	for _, w := range s.wrong[:min(len(s.wrong), 20)] {
		t.Log(w)
	}
	if s.truePositive >= 10 && (20*s.falsePositive > s.truePositive+s.falsePositive || 100*s.falseNegative > s.truePositive+s.falseNegative) {
		t.Errorf("precision is below 0.95 or recall below 0.99")
	}
}

func TestReplayMerges(t *testing.T) { // C16: digests against git's verdict, on merges that happened
	r := openReplay(t)
	out, err := r.out(t.Context(), nil, "rev-list", "--all", "--min-parents=2", "--max-parents=2", "--parents", "-n", strconv.Itoa(*replayMerges))
	if err != nil {
		t.Fatal(err)
	}
	var pairs [][2]string
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) == 3 {
			pairs = append(pairs, [2]string{f[1], f[2]})
		}
	}
	judge(t, r, pairs).report(t, "merges")
}

// neighbours is how far apart the numbers of two pull requests may be that are taken for work at one time.
const neighbours = 8

func TestReplayPullRequests(t *testing.T) { // C16: on pull requests that were open at one time
	r := openReplay(t)
	out, err := r.out(t.Context(), nil, "for-each-ref", "--format=%(refname) %(objectname)", "refs/pull/*/head")
	if err != nil {
		t.Fatal(err)
	}
	heads := map[int]string{}
	var numbers []int
	for line := range strings.Lines(out) {
		ref, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(ref, "refs/pull/"), "/head"))
		if err == nil {
			heads[n] = id
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	slices.Reverse(numbers)
	var pairs [][2]string
	for i, n := range numbers {
		for _, m := range numbers[i+1 : min(len(numbers), i+1+neighbours)] {
			if len(pairs) < *replayPairs && n-m <= neighbours {
				pairs = append(pairs, [2]string{heads[n], heads[m]})
			}
		}
	}
	if len(pairs) == 0 {
		t.Skip("no pull requests here")
	}
	judge(t, r, pairs).report(t, "pull requests")
}
