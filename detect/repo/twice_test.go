//go:build cgo

package repo

import (
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/detect"
)

var (
	fixes  = regexp.MustCompile(`(?i)(?:fix(?:es|ed)?|close[sd]?|resolve[sd]?)[:\s(]+#(\d+)`)
	number = regexp.MustCompile(`#\d+`)
)

// request is a pull request as its last commit tells of it.
type request struct{ ref, author string }

// twice lists pairs of pull requests of different authors whose last commits say that they fix one issue, and the requests
// around them that fix another or none.
func twice(t *testing.T, dir string) (pairs map[[2]string]bool, names []string) {
	t.Helper()
	run := func(stdin string, args ...string) string {
		c := exec.CommandContext(t.Context(), "git", append([]string{"-C", dir}, args...)...)
		c.Stdin = strings.NewReader(stdin)
		out, err := c.Output()
		if err != nil {
			t.Fatalf("git %q: %v", args, err)
		}
		return string(out)
	}
	refs, heads := map[string]string{}, ""
	for line := range strings.Lines(run("", "for-each-ref", "--format=%(objectname) %(refname)", "--sort=version:refname", "refs/pull/")) {
		id, ref, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, ok := strings.CutSuffix(strings.TrimPrefix(ref, "refs/pull/"), "/head"); ok && refs[id] == "" {
			refs[id] = "#" + n
			heads += id + "\n"
		}
	}
	var order []string
	byIssue := map[string][]request{}
	for record := range strings.SplitSeq(run(heads, "log", "--no-walk=unsorted", "--stdin", "-z", "--format=%H%n%an%n%B"), "\x00") {
		id, rest, _ := strings.Cut(record, "\n")
		if refs[id] == "" {
			continue
		}
		author, message, _ := strings.Cut(rest, "\n")
		order = append(order, refs[id])
		for _, m := range fixes.FindAllStringSubmatch(message, -1) {
			if r := (request{refs[id], author}); !slices.Contains(byIssue[m[1]], r) {
				byIssue[m[1]] = append(byIssue[m[1]], r)
			}
		}
	}
	pairs = map[[2]string]bool{}
	for _, list := range byIssue {
		for i, a := range list {
			for _, b := range list[:i] {
				if a.author != b.author {
					pairs[pairOf(a.ref, b.ref)] = true
				}
			}
		}
	}
	for pair := range pairs {
		for _, ref := range pair {
			at := slices.Index(order, ref)
			names = append(names, order[max(0, at-1):min(len(order), at+2)]...)
		}
	}
	slices.SortFunc(names, detect.CompareRefs)
	return pairs, slices.Compact(names)
}

func pairOf(a, b string) [2]string {
	if detect.CompareRefs(a, b) > 0 {
		a, b = b, a
	}
	return [2]string{a, b}
}

// teller is who wrote a pull request's own commits, and which issues these say that they fix.
type teller struct{ authors, issues map[string]bool }

// tell asks git who wrote what, merges and programs left out.
func (r *Repo) tell(t *testing.T, d *detect.Digest) (who teller) {
	t.Helper()
	who = teller{map[string]bool{}, map[string]bool{}}
	text, err := r.out(t.Context(), nil, "log", "--no-merges", "-z", "--format=%an%n%B", d.Base+".."+d.Head)
	if err != nil {
		t.Fatal(err)
	}
	for record := range strings.SplitSeq(string(text), "\x00") {
		author, message, _ := strings.Cut(record, "\n")
		if author != "" && !strings.HasSuffix(author, "[bot]") {
			who.authors[strings.ToLower(author)] = true
		}
		for _, m := range fixes.FindAllStringSubmatch(message, -1) {
			who.issues[m[1]] = true
		}
	}
	return who
}

func meet(a, b map[string]bool) bool {
	for k := range a {
		if b[k] {
			return true
		}
	}
	return false
}

// TestWorkDoneTwiceInHistory holds duplicate_work against pull requests of different people that fix one issue: with
// what they say about issues, without, and without their code as well. Two of one person's pull requests count for nothing.
// go test ./detect/repo -run Twice -v -repo PATH.
func TestWorkDoneTwiceInHistory(t *testing.T) { // C16
	r := openReplay(t)
	_, names := twice(t, *replayRepo)
	digests := r.readSides(t, names)
	who := map[string]teller{}
	for _, d := range digests {
		who[d.Side.Ref] = r.tell(t, d)
		files, err := r.Changes(t.Context(), d.Base, d.Head)
		if err != nil {
			t.Fatal(err)
		}
		hunks := map[string][]detect.Hunk{}
		for _, f := range files {
			hunks[f.Path] = f.Hunks
		}
		for i := range d.Files {
			d.Files[i].Hunks = hunks[d.Files[i].Path]
		}
	}
	labelled := 0
	for i, a := range digests {
		for _, b := range digests[:i] {
			if a, b := who[a.Side.Ref], who[b.Side.Ref]; !meet(a.authors, b.authors) && meet(a.issues, b.issues) {
				labelled++
			}
		}
	}
	rules, err := detect.NewRules(detect.DefaultPolicy())
	if err != nil {
		t.Fatal(err)
	}
	for _, hide := range []func(*detect.Digest){
		func(*detect.Digest) {},
		func(d *detect.Digest) { d.Side.Issues, d.Side.Task = nil, number.ReplaceAllString(d.Side.Task, "") },
		func(d *detect.Digest) {
			d.Prints = nil
			for i := range d.Files {
				d.Files[i].Hunks = nil
			}
		},
	} {
		var parties []*detect.Party
		for _, d := range digests {
			hide(d)
			parties = append(parties, rules.Party(d))
		}
		right, others := 0, []string{}
		for _, f := range detect.Together(parties).Findings {
			a, b := who[f.Sides[0]], who[f.Sides[1]]
			switch {
			case f.Kind != detect.DuplicateWork || meet(a.authors, b.authors):
			case meet(a.issues, b.issues):
				right++
			default:
				others = append(others, fmt.Sprint(f.Confidence, " ", f.Sentence))
			}
		}
		t.Logf("%d sides, %d labelled pairs, %d found, %d others said", len(parties), labelled, right, len(others))
		for _, s := range others {
			t.Log("  ", s)
		}
	}
}

// readSides are the digests of what is named.
func (r *Repo) readSides(t testing.TB, names []string) []*detect.Digest {
	t.Helper()
	_, trunk, err := r.Trunk(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tips, err := r.tips(t.Context(), Which{Names: names}, &Result{})
	if err != nil {
		t.Fatal(err)
	}
	heads := []string{trunk}
	for _, tip := range tips {
		heads = append(heads, tip.head)
	}
	if err := r.load(t.Context(), heads); err != nil {
		t.Fatal(err)
	}
	layout, err := r.Layout(t.Context(), trunk)
	if err != nil {
		t.Fatal(err)
	}
	r.reader = reader(layout)
	digests, err := r.digests(t.Context(), tips, trunk)
	if err == nil {
		err = r.understand(t.Context(), digests, trunk)
	}
	if err != nil {
		t.Fatal(err)
	}
	return digests
}
