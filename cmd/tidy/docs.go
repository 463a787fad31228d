package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"strings"
)

// checkDocs wants exactly one package comment per package and a comment on
// every exported name. Tests and generated files introduce themselves.
func checkDocs(t *tree) (found []finding) {
	comments := map[string]int{} // package comments by folder
	for _, s := range t.source {
		if s.test || s.generated {
			continue
		}
		if _, seen := comments[s.folder()]; !seen {
			comments[s.folder()] = 0
		}
		if s.syntax.Doc != nil {
			comments[s.folder()]++
			found = append(found, t.packageComment(s, comments[s.folder()])...)
		}
		for _, d := range s.syntax.Decls {
			found = append(found, t.undocumented(s, d)...)
		}
	}
	for _, s := range t.source { // in the order of the files
		if n, ok := comments[s.folder()]; ok && n == 0 {
			delete(comments, s.folder())
			found = append(found, finding{
				file: s.name, line: t.line(s.syntax.Package),
				message: fmt.Sprintf("package %s has no package comment", s.folder()),
			})
		}
	}
	return found
}

// packageComment looks at the nth package comment of a folder.
func (t *tree) packageComment(s source, nth int) (found []finding) {
	report := func(message string) {
		found = append(found, finding{file: s.name, line: t.line(s.syntax.Doc.Pos()), message: message})
	}
	if nth > 1 {
		report(fmt.Sprintf("package %s has another package comment", s.folder()))
	}
	starts := []string{"Package " + s.syntax.Name.Name}
	if s.syntax.Name.Name == "main" {
		command := path.Base(s.folder())
		starts = []string{"Command " + command, strings.ToUpper(command[:1]) + command[1:]}
	}
	words := strings.Join(strings.Fields(s.syntax.Doc.Text()), " ") + " "
	for _, start := range starts {
		if strings.HasPrefix(words, start+" ") {
			return found
		}
	}
	report(fmt.Sprintf("package comment does not start with %q", starts[0]))
	return found
}

// undocumented returns the exported names of d that have no comment. A comment
// on a group of constants or variables covers the group.
func (t *tree) undocumented(s source, d ast.Decl) (found []finding) {
	want := func(name *ast.Ident, docs ...*ast.CommentGroup) {
		for _, doc := range docs {
			if strings.TrimSpace(doc.Text()) != "" {
				return
			}
		}
		if name.IsExported() {
			found = append(found, finding{
				file: s.name, line: t.line(name.Pos()),
				message: fmt.Sprintf("exported %s has no comment", name.Name),
			})
		}
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if of := receiver(d); of == "" || token.IsExported(of) {
			want(d.Name, d.Doc)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				doc := spec.Doc
				if !d.Lparen.IsValid() {
					doc = d.Doc
				}
				want(spec.Name, doc)
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					want(name, spec.Doc, spec.Comment, d.Doc)
				}
			}
		}
	}
	return found
}
