// Command tidy checks the rules of this house that no compiler knows: which
// names the root shows, which package may import what, what a pure package
// must not touch, sizes, documentation, words that must not appear, and that
// every promise of a contract names its test.
//
//	go run ./cmd/tidy [dir]
//
// It prints one "file:line: rule: message" per finding and exits with 1 when
// there are any, with 2 when dir cannot be read as a module. Its own test runs
// it on the module, so `go test ./...` keeps the rules too.
package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// A finding is one place that breaks a rule. Line 0 stands for the whole file.
type finding struct {
	file    string
	line    int
	rule    string
	message string
}

// String formats f as compilers do, so that editors can jump to it.
func (f finding) String() string {
	return fmt.Sprintf("%s:%d: %s: %s", f.file, max(f.line, 1), f.rule, f.message)
}

// rules are all rules by name. A check leaves the rule of its findings empty.
var rules = []struct {
	name  string
	check func(*tree) []finding
}{
	{"root", checkRoot},
	{"layers", checkLayers},
	{"purity", checkPurity},
	{"sizes", checkSizes},
	{"docs", checkDocs},
	{"sleep", checkSleep},
	{"words", checkWords},
	{"contract", checkContracts},
}

func main() {
	dir := "."
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	findings, err := tidy(os.DirFS(dir))
	if err != nil {
		fmt.Fprintf(os.Stderr, "tidy: %s: %v\n", dir, err)
		os.Exit(2)
	}
	for _, f := range findings {
		fmt.Println(f)
	}
	if len(findings) > 0 {
		os.Exit(1)
	}
}

// tidy applies every rule to the module at root and returns what it found, in
// the order of files and lines.
func tidy(root fs.FS) ([]finding, error) {
	t, err := load(root)
	if err != nil {
		return nil, err
	}
	findings := t.broken
	for _, r := range rules {
		for _, f := range r.check(t) {
			f.rule = r.name
			findings = append(findings, f)
		}
	}
	slices.SortStableFunc(findings, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line))
	})
	return findings, nil
}
