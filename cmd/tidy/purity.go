package main

import (
	"fmt"
	"go/ast"
	"slices"
	"strconv"
)

// impure are the packages that a pure package may not import: with one of them
// the same input could lead to two answers.
var impure = []string{
	"os/...", "net/...", "log/...", "context", "sync/...",
	"math/rand/...", "crypto/rand",
}

// clock are the names of package time that read or wait for the wall clock.
var clock = []string{
	"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick",
}

// checkPurity keeps pure packages to functions of their arguments: no world,
// no clock, no chance, no second goroutine.
func checkPurity(t *tree) (found []finding) {
	for _, s := range t.source {
		l, _ := layerOf(s.folder())
		if !l.pure || s.test {
			continue
		}
		report := func(node ast.Node, message string) {
			found = append(found, finding{file: s.name, line: t.line(node.Pos()), message: message})
		}
		for _, spec := range s.syntax.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			if slices.ContainsFunc(impure, func(p string) bool { return matches(p, imported) }) {
				report(spec, fmt.Sprintf("a pure package may not import %s; its caller passes what it needs", imported))
			}
		}
		for use := range uses(s.syntax, "time", clock...) {
			report(use, fmt.Sprintf("a pure package may not use time.%s; it is told the time", use.Sel.Name))
		}
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			if n, ok := n.(*ast.GoStmt); ok {
				report(n, "a pure package may not start a goroutine")
			}
			return true
		})
	}
	return found
}

// checkSleep keeps tests waiting for what they test rather than for time.
func checkSleep(t *tree) (found []finding) {
	for _, s := range t.source {
		if !s.test {
			continue
		}
		for use := range uses(s.syntax, "time", "Sleep") {
			found = append(found, finding{
				file: s.name, line: t.line(use.Pos()),
				message: "a test may not call time.Sleep; wait for the event, with a deadline",
			})
		}
	}
	return found
}
