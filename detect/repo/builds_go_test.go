//go:build cgo

package repo

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"maps"
	"math/rand/v2"
	"path"
	"regexp"
	"slices"
	"strings"
)

// clash is two sides of one base: the files that each writes whole.
type clash struct {
	what string
	a, b map[string]string
}

// goTown is the Go code of a repository as scripted work picks from it.
type goTown struct {
	*rand.Rand
	module  string
	files   map[string]string // paths to contents, without tests
	parsed  map[string]*ast.File
	pos     *token.FileSet
	funcs   []goFunc
	structs []goField
	methods []goMethod
	n, turn int
}

// goFunc is an exported or unexported function whose arguments can be made up anywhere.
type goFunc struct {
	file string
	decl *ast.FuncDecl
	args []string // zero values, as another package writes them
	uses []string // import paths that these need
}

// goField is a struct of a package and one of its exported fields.
type goField struct {
	file, name, field, of string
	at                    *ast.Field
}

// goMethod is an exported method of an exported type without type parameters.
type goMethod struct{ file, of, name string }

func newGoTown(files map[string]string, module string, seed uint64) *goTown {
	t := &goTown{Rand: rand.New(rand.NewPCG(seed, 9)), module: module, files: files, parsed: map[string]*ast.File{}, pos: token.NewFileSet()}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		syntax, err := parser.ParseFile(t.pos, file, files[file], parser.ParseComments|parser.SkipObjectResolution)
		if err != nil || syntax.Name.Name == "main" || strings.Contains(files[file], "//go:build") || strings.Contains(files[file], `import "C"`) {
			continue
		}
		t.parsed[file] = syntax
		for _, d := range syntax.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				t.function(file, d)
			case *ast.GenDecl:
				t.typeDecl(file, d)
			}
		}
	}
	return t
}

func (t *goTown) function(file string, d *ast.FuncDecl) {
	if d.Recv != nil && d.Name.IsExported() {
		of := d.Recv.List[0].Type
		if star, ok := of.(*ast.StarExpr); ok {
			of = star.X
		}
		if id, ok := of.(*ast.Ident); ok && id.IsExported() {
			t.methods = append(t.methods, goMethod{file, id.Name, d.Name.Name})
		}
	}
	if d.Recv != nil || d.Type.TypeParams != nil || d.Body == nil || d.Name.Name == "init" || len(d.Body.List) == 0 {
		return
	}
	f := goFunc{file: file, decl: d}
	for _, p := range d.Type.Params.List {
		text, uses, ok := t.abroad(file, t.text(file, p.Type))
		if !ok {
			return
		}
		for range max(1, len(p.Names)) {
			f.args = append(f.args, "*new("+text+")")
		}
		f.uses = append(f.uses, uses...)
	}
	t.funcs = append(t.funcs, f)
}

func (t *goTown) typeDecl(file string, d *ast.GenDecl) {
	for _, spec := range d.Specs {
		s, ok := spec.(*ast.TypeSpec)
		if !ok || !s.Name.IsExported() || s.TypeParams != nil {
			continue
		}
		if body, ok := s.Type.(*ast.StructType); ok {
			for _, f := range body.Fields.List {
				if len(f.Names) == 1 && f.Names[0].IsExported() && f.Tag == nil {
					if of, uses, ok := t.abroad(file, t.text(file, f.Type)); ok && len(uses) == 0 {
						t.structs = append(t.structs, goField{file, s.Name.Name, f.Names[0].Name, of, f})
					}
				}
			}
		}
	}
}

func (t *goTown) text(file string, n ast.Node) string {
	return t.files[file][t.offset(n.Pos()):t.offset(n.End())]
}

func (t *goTown) offset(p token.Pos) int { return t.pos.Position(p).Offset }

// abroad writes a type as another package has to, with what it has to import.
func (t *goTown) abroad(file, text string) (out string, uses []string, ok bool) {
	if strings.ContainsAny(text, "{(.") && (strings.Contains(text, "func") || strings.Contains(text, "struct") || strings.Contains(text, "...")) {
		return "", nil, false
	}
	var s scanner.Scanner
	set := token.NewFileSet()
	s.Init(set.AddFile("", -1, len(text)), []byte(text), func(token.Position, string) {}, 0)
	var b strings.Builder
	for last := token.ILLEGAL; ; {
		_, tok, literal := s.Scan()
		switch {
		case tok == token.EOF:
			return b.String(), uses, true
		case tok == token.SEMICOLON && literal == "\n":
			continue
		case tok != token.IDENT:
			b.WriteString(tok.String())
			if literal != "" {
				return "", nil, false // an array's length
			}
			if tok == token.MAP || tok == token.CHAN || tok == token.INTERFACE {
				b.WriteString(" ")
			}
		case last == token.PERIOD:
			b.WriteString(literal)
		default:
			imported := t.imported(file, literal)
			switch {
			case imported != "":
				uses = append(uses, imported)
			case ast.IsExported(literal):
				b.WriteString("p.")
			case !predeclared[literal]:
				return "", nil, false
			}
			b.WriteString(literal)
		}
		last = tok
	}
}

var predeclared = map[string]bool{
	"string": true, "int": true, "bool": true, "error": true, "any": true, "byte": true, "rune": true, "int64": true, "uint64": true, "uint32": true,
	"int32": true, "uint8": true, "uint16": true, "float64": true, "uint": true,
}

// imported is the path of what a file calls by a name.
func (t *goTown) imported(file, name string) string {
	for _, i := range t.parsed[file].Imports {
		p := strings.Trim(i.Path.Value, `"`)
		if i.Name != nil && i.Name.Name == name || i.Name == nil && path.Base(p) == name {
			return p
		}
	}
	return ""
}

// edit puts a text in the place of some octets of a file.
func (t *goTown) edit(file string, from, to int, text string) map[string]string {
	was := t.files[file]
	return map[string]string{file: was[:from] + text + was[to:]}
}

// declaration is where a declaration begins, its comment included, and ends.
func (t *goTown) declaration(d *ast.FuncDecl) (from, to int) {
	from, to = t.offset(d.Pos()), t.offset(d.End())
	if d.Doc != nil {
		from = t.offset(d.Doc.Pos())
	}
	return from, to
}

// renamed writes another word for a word in all files of one package.
func (t *goTown) renamed(dir, word, other string) map[string]string {
	out := map[string]string{}
	re := regexp.MustCompile(`\b` + word + `\b`)
	for file, text := range t.files {
		if path.Dir(file) == dir {
			if now := re.ReplaceAllString(text, other); now != text {
				out[file] = now
			}
		}
	}
	return out
}

// count is how often a word stands in a package.
func (t *goTown) count(dir, word string) (n int) {
	re := regexp.MustCompile(`\b` + word + `\b`)
	for file, text := range t.files {
		if path.Dir(file) == dir {
			n += len(re.FindAllString(text, -1))
		}
	}
	return n
}

// user is a new package that does something with package dir, which it calls p.
func (t *goTown) user(dir string, uses []string, body string) map[string]string {
	t.n++
	var b bytes.Buffer
	fmt.Fprintf(&b, "package use%d\n\nimport (\n\tp %q\n", t.n, path.Join(t.module, dir))
	slices.Sort(uses)
	for _, u := range slices.Compact(uses) {
		fmt.Fprintf(&b, "\t%q\n", u)
	}
	fmt.Fprintf(&b, ")\n\n// Work is new.\nfunc Work() {\n%s}\n", body)
	return map[string]string{fmt.Sprintf("zz/use%d/use.go", t.n): b.String()}
}

// beside is a new file of package dir itself.
func (t *goTown) beside(dir, pkg, body string) map[string]string {
	t.n++
	return map[string]string{path.Join(dir, fmt.Sprintf("zz_new%d.go", t.n)): fmt.Sprintf("package %s\n\n%s", pkg, body)}
}
