package repo

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// graph is the history between a number of tips, children before parents.
type graph struct {
	commits []commit
	at      map[string]int32
	flags   []uint8
}

type commit struct {
	id      string
	parents []int32 // those that were loaded
	time    uint64  // of the committer, Unix seconds
	subject string
	closes  []string // the issues that its message says it closes
	cut     bool     // its parents are not here
}

// load reads the history of the tips down to what all of them have in common.
func (r *Repo) load(ctx context.Context, tips []string) error {
	var input strings.Builder
	input.WriteString(strings.Join(tips, "\n") + "\n")
	a, err := r.ask(ctx, nil, append([]string{"merge-base", "--octopus"}, tips...)...)
	if err != nil {
		return err
	}
	if common := strings.Fields(string(a.out)); a.code == 0 && len(common) > 0 {
		parents, err := r.line(ctx, "rev-parse", common[0]+"^@")
		if err != nil {
			return err
		}
		for p := range strings.FieldsSeq(parents) {
			input.WriteString("^" + p + "\n")
		}
	}
	out, err := r.out(ctx, strings.NewReader(input.String()), "log", "--topo-order", "-z", "--format=%H %ct %P%n%s%n%b", "--stdin")
	if err != nil {
		return fmt.Errorf("read history: %w", err)
	}
	return r.parseHistory(out)
}

func (r *Repo) parseHistory(out string) error {
	g := graph{at: map[string]int32{}}
	var parents [][]string
	for record := range strings.SplitSeq(out, "\x00") {
		head, message, _ := strings.Cut(record, "\n")
		subject, body, _ := strings.Cut(message, "\n")
		fields := strings.Fields(head)
		if len(fields) < 2 {
			continue
		}
		seconds, err := strconv.ParseUint(fields[1], 10, 64)
		if err != nil {
			return fmt.Errorf("read history: odd time %q", fields[1])
		}
		g.at[fields[0]] = int32(len(g.commits))
		g.commits = append(g.commits, commit{id: fields[0], time: seconds, subject: subject, closes: closed(body), cut: r.shallow[fields[0]]})
		parents = append(parents, fields[2:])
	}
	for i := range g.commits {
		for _, p := range parents[i] {
			if j, ok := g.at[p]; ok {
				g.commits[i].parents = append(g.commits[i].parents, j)
			}
		}
	}
	g.flags = make([]uint8, len(g.commits))
	r.graph = g
	return nil
}

var closing = regexp.MustCompile(`(?i)\b(?:fix(?:es|ed)?|close[sd]?|resolve[sd]?):?\s+((?:[\w.-]+/[\w.-]+)?#\d+)\b`)

// closed lists the issues that a message closes, in the words that GitHub knows.
func closed(message string) (issues []string) {
	if strings.IndexByte(message, '#') >= 0 {
		for _, m := range closing.FindAllStringSubmatch(message, -1) {
			issues = append(issues, m[1])
		}
	}
	return issues
}

// What a walk knows of a commit.
const (
	ofA   uint8 = 1 << iota // a has it
	ofB                     // b has it
	stale                   // a better common ancestor has it
)

// base is what two commits have in common.
type base struct {
	commit string // the best common ancestor, "" when there is none
	many   bool   // there are several: git merges a base that no commit has
	cut    bool   // history is missing, so that there may be a better one
}

// meet finds the merge base of two loaded commits.
func (g *graph) meet(a, b string) base {
	i, okA := g.at[a]
	j, okB := g.at[b]
	if !okA || !okB {
		return base{cut: true}
	}
	clear(g.flags)
	g.flags[i] |= ofA
	g.flags[j] |= ofB
	var best []int32
	var found base
	for k := min(i, j); int(k) < len(g.commits); k++ {
		f := g.flags[k]
		if f == 0 {
			continue
		}
		c := &g.commits[k]
		common := f&(ofA|ofB) == ofA|ofB
		if common && f&stale == 0 {
			best = append(best, k)
			f |= stale
		}
		found.cut = found.cut || c.cut && !common
		for _, p := range c.parents {
			g.flags[p] |= f
		}
	}
	if len(best) == 0 {
		return found
	}
	newest := slices.MaxFunc(best, func(x, y int32) int { return int(int64(g.commits[x].time) - int64(g.commits[y].time)) })
	found.commit, found.many = g.commits[newest].id, len(best) > 1
	return found
}

// own lists the commits that tip has and trunk has not, newest first.
func (g *graph) own(tip, trunk string) (list []*commit) {
	i, okA := g.at[tip]
	j, okB := g.at[trunk]
	if !okA || !okB {
		return nil
	}
	clear(g.flags)
	g.flags[i] |= ofA
	g.flags[j] |= ofB
	for k := min(i, j); int(k) < len(g.commits); k++ {
		f := g.flags[k]
		if f == ofA {
			list = append(list, &g.commits[k])
		}
		for _, p := range g.commits[k].parents {
			g.flags[p] |= f
		}
	}
	return list
}

// has reports whether tip is old or descends from it.
func (g *graph) has(tip, old string) bool {
	return tip == old || g.meet(tip, old).commit == old
}
