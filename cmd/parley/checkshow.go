package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/detect/repo"
)

// matrixMax is up to how many sides fit beside each other.
const matrixMax = 30

func (a *app) printCheck(r *repo.Result, o checkOptions) {
	fmt.Fprintf(a.out, "%s and %s\n", a.bold(oneLine(r.Base.Label)+" at "+short(r.Base.Commit)), many(len(r.Sides), "side"))
	if r.Guessed {
		a.note("there is no main, no master and no default branch of origin: this is what is checked out (--base names another)")
	}
	if r.Left > 0 {
		a.note("%s, worked on less recently, %s left out (--max)", many(r.Left, "side"), verb(r.Left, "was", "were"))
	}
	if n := len(r.Merged); n > 0 {
		a.note("%s %s left out: the work is in %s already", many(n, "side"), verb(n, "was", "were"), r.Base.Label)
	}
	a.noteUnseen(r, o)
	if len(r.Sides) == 0 {
		fmt.Fprintln(a.out, "Nothing is ahead of it.")
		return
	}
	rows := [][]string{}
	for i, s := range r.Sides {
		rows = append(rows, []string{strconv.Itoa(i + 1), s.Label, many(s.Files, "file")})
	}
	table(a.out, "  ", rows)
	if len(r.Sides) <= matrixMax {
		a.printMatrix(r)
	}
	a.printFindings(r, o.all)
	if o.Order {
		a.printOrder(r, o.all)
	}
}

// noteUnseen says what was not looked at, and how it can be.
func (a *app) noteUnseen(r *repo.Result, o checkOptions) {
	if len(r.Sides) == 0 && r.Remote > 0 {
		a.note("%s of remotes %s not looked at (--remotes)", branches(r.Remote), verb(r.Remote, "is", "are"))
	}
	if o.PullRequests && r.Fetched == 0 {
		a.note("no pull request was fetched; for GitHub run git fetch origin '+refs/pull/*/head:refs/remotes/origin/pull/*'")
	}
	for _, u := range r.Unread {
		where := u.Ref
		if u.Path != "" {
			where = u.Path + " of " + u.Ref
		}
		a.note("%s: %s", oneLine(where), u.Why)
	}
}

func branches(n int) string {
	if n == 1 {
		return "1 branch"
	}
	return strconv.Itoa(n) + " branches"
}

// printMatrix has a line for each side, and the base first.
func (a *app) printMatrix(r *repo.Result) {
	marks := map[[2]string]string{}
	for _, p := range r.Pairs {
		marks[[2]string{p.A, p.B}] = sharpest(p)
	}
	head := []string{""}
	for i := range r.Sides {
		head = append(head, strconv.Itoa(i+1))
	}
	base := []string{oneLine(r.Base.Ref)}
	for _, s := range r.Sides {
		base = append(base, marks[[2]string{r.Base.Ref, s.Ref}])
	}
	rows := [][]string{head, base}
	for i, s := range r.Sides {
		row := []string{strconv.Itoa(i + 1)}
		for j, o := range r.Sides {
			switch {
			case i == j:
				row = append(row, "-")
			case j > i:
				row = append(row, marks[[2]string{s.Ref, o.Ref}])
			default:
				row = append(row, marks[[2]string{o.Ref, s.Ref}])
			}
		}
		rows = append(rows, row)
	}
	fmt.Fprintln(a.out)
	table(a.out, "  ", rows)
	fmt.Fprintln(a.out, "\n  . nothing   i info   w warn   b blocks   g regenerate   x git cannot merge   ? cannot tell")
}

func (a *app) printFindings(r *repo.Result, all bool) {
	quiet := 0
	if len(r.Report.Findings) == 0 && len(r.Report.Doubts) == 0 {
		fmt.Fprintln(a.out, "\nNothing overlaps.")
	}
	for _, f := range r.Report.Findings {
		if f.Severity < detect.Warn && !all {
			quiet++
			continue
		}
		fmt.Fprintf(a.out, "\n%s  %s, confidence %s, %s\n", a.bold(f.Severity.String()), f.Kind, f.Confidence, f.Evidence)
		fmt.Fprintf(a.out, "  %s\n", oneLine(f.Sentence))
		if f.Suggestion != "" {
			fmt.Fprintf(a.out, "  %s\n", oneLine(f.Suggestion))
		}
	}
	if quiet > 0 {
		fmt.Fprintf(a.out, "\n%s that only %s (--all)\n", many(quiet, "finding"), verb(quiet, "informs", "inform"))
	}
	for _, d := range r.Report.Doubts {
		fmt.Fprintf(a.out, "\n%s  %s, %s\n  %s\n", a.bold("cannot tell"), d.Kind, oneLine(strings.Join(d.Sides, " and ")), oneLine(d.Why))
	}
}

func (a *app) printOrder(r *repo.Result, all bool) {
	fmt.Fprintf(a.out, "\n%s\n", a.bold("Merging into "+oneLine(r.Base.Label)+" with the fewest conflicts"))
	for i, s := range r.Order {
		fmt.Fprintf(a.out, "  %d  %s: %s\n", i+1, oneLine(s.Label), oneLine(does(s)))
		for _, m := range s.Findings {
			if (m.Severity >= detect.Warn || all) && !saidByGit(s, m) {
				fmt.Fprintf(a.out, "     %s  %s\n", m.Severity, oneLine(meets(m)))
			}
		}
	}
}

// does says what one merge of the order will do.
func does(s repo.Step) string {
	switch s.Merge {
	case "clean":
		return "merges cleanly"
	case "unknown":
		return "cannot tell: " + s.Why
	}
	again := "regenerate " + listed(s.Regenerate)
	if len(s.Conflicts) == 0 {
		return "merges but for what programs write: " + again
	}
	text := "conflicts"
	if len(s.With) > 0 {
		text += " with " + strings.Join(s.With, ", ")
	}
	text += " in " + named(s.Conflicts)
	if s.Together {
		text += ", although it merges with each of the others by itself"
	}
	if len(s.Regenerate) > 0 {
		text += "; " + again
	}
	return text
}

// saidByGit reports whether what a step does has said already what git finds.
func saidByGit(s repo.Step, m repo.Met) bool {
	paths := slices.Clone(s.Regenerate)
	for _, c := range s.Conflicts {
		paths = append(paths, c.Path)
	}
	return m.Kind == detect.TextualMerge && !slices.ContainsFunc(m.About, func(p string) bool { return !slices.Contains(paths, p) })
}

// meets names a finding that is told in full above the order.
func meets(m repo.Met) string {
	text := string(m.Kind)
	if len(m.With) > 0 {
		text += " with " + strings.Join(m.With, " and ")
	}
	return text + ": " + listed(m.About)
}

func named(conflicts []detect.GitConflict) string {
	var names []string
	for _, c := range conflicts {
		names = append(names, c.String())
	}
	return listed(names)
}

// listedMax is how many names a line spells out; --json has all.
const listedMax = 12

func listed(names []string) string {
	if len(names) <= listedMax {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:listedMax], ", "), len(names)-listedMax)
}
