package main

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"strings"
)

var (
	testName    = regexp.MustCompile(`([\w/-]+\.)?\b((?:Test|Fuzz)[A-Z]\w*)`)
	testColumn  = regexp.MustCompile(`(?i)\b(tests?|proved by)\b`)
	promiseCell = regexp.MustCompile(`^[*\x60]*[A-Z]-?\d+`) // P18, C3, D-22
	dashes      = regexp.MustCompile(`^[|\s:-]+$`)
)

// checkContracts wants every promise of a CONTRACT.md to name a test that
// exists: one of the package where the contract stands, or of another as in
// node/core.TestName. A promise is a row of a table that has a column for
// tests, or a row that starts with a number such as P18; a contract has at
// least one.
func checkContracts(t *tree) (found []finding) {
	tests := t.tests()
	for _, text := range t.texts {
		if path.Base(text.name) != "CONTRACT.md" {
			continue
		}
		rows := promises(text.lines)
		if len(rows) == 0 {
			found = append(found, finding{file: text.name, message: "no table of promises with their tests"})
		}
		for _, n := range rows {
			row := text.lines[n-1]
			names := testName.FindAllStringSubmatch(row, -1)
			if len(names) == 0 {
				found = append(found, finding{file: text.name, line: n, message: "promise names no test: " + row})
			}
			for _, name := range names {
				folder := path.Dir(text.name)
				if name[1] != "" {
					folder = strings.TrimSuffix(name[1], ".")
				}
				if !tests[folder+"."+name[2]] {
					found = append(found, finding{
						file: text.name, line: n, message: fmt.Sprintf("promise names %s, which does not exist in %s", name[2], folder),
					})
				}
			}
		}
	}
	return found
}

// promises returns the line numbers, from 1, of a contract's promises.
func promises(lines []string) (numbers []int) {
	inTable, tested := false, false
	for i, line := range lines {
		row := strings.TrimSpace(line)
		switch {
		case !strings.HasPrefix(row, "|"):
			inTable = false
		case !inTable:
			inTable, tested = true, testColumn.MatchString(row)
		case dashes.MatchString(row):
		case tested || promiseCell.MatchString(strings.TrimSpace(strings.Split(row, "|")[1])):
			numbers = append(numbers, i+1)
		}
	}
	return numbers
}

// tests returns the module's test functions, as package.Name.
func (t *tree) tests() map[string]bool {
	names := map[string]bool{}
	for _, s := range t.source {
		for _, d := range s.syntax.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && s.test && f.Recv == nil && testName.MatchString(f.Name.Name) {
				names[s.folder()+"."+f.Name.Name] = true
			}
		}
	}
	return names
}
