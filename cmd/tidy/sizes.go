package main

import (
	"fmt"
	"go/ast"
)

// What a reader can hold at once. A function is counted from its func keyword
// to its closing brace.
const (
	functionLinesMax = 70
	fileLinesMax     = 500
)

// checkSizes keeps functions and files small. Generated files may be longer.
func checkSizes(t *tree) (found []finding) {
	for _, s := range t.source {
		if s.generated {
			continue
		}
		if s.lines > fileLinesMax {
			found = append(found, finding{
				file:    s.name,
				message: fmt.Sprintf("%d lines, more than %d", s.lines, fileLinesMax),
			})
		}
		for _, d := range s.syntax.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			first, last := t.line(f.Pos()), t.line(f.End())
			if lines := last - first + 1; lines > functionLinesMax {
				found = append(found, finding{
					file: s.name, line: first,
					message: fmt.Sprintf("%s has %d lines, more than %d", f.Name.Name, lines, functionLinesMax),
				})
			}
		}
	}
	return found
}
