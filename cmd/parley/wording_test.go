package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sources are the files of one package, as far as its words are concerned.
type sources struct {
	files  map[string]*ast.File // by name
	consts map[string]string
	funcs  map[string]*ast.FuncDecl
}

// parsed reads a folder of the module.
func parsed(t *testing.T, dir string) sources {
	t.Helper()
	s := sources{files: map[string]*ast.File{}, consts: map[string]string{}, funcs: map[string]*ast.FuncDecl{}}
	names, err := filepath.Glob(filepath.Join("..", "..", dir, "*.go"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %v", dir, err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		s.files[filepath.Base(name)] = f
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				s.funcs[d.Name.Name] = d
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok && len(v.Values) == len(v.Names) {
						for i, n := range v.Names {
							s.consts[n.Name] = s.words(v.Values[i])
						}
					}
				}
			}
		}
	}
	return s
}

var verbForm = regexp.MustCompile(`%[-+ #0-9.]*[a-zA-Z]`)

// words are what an expression says, with … for what is filled in.
func (s sources) words(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			return constant.StringVal(constant.MakeFromLiteral(e.Value, e.Kind, 0))
		}
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			return s.words(e.X) + s.words(e.Y)
		}
	case *ast.ParenExpr:
		return s.words(e.X)
	case *ast.Ident:
		if text, ok := s.consts[e.Name]; ok {
			return text
		}
	case *ast.CallExpr:
		switch name := called(e); {
		case name == "New" && len(e.Args) == 1, (name == "Sprintf" || name == "Errorf") && len(e.Args) > 0:
			return verbForm.ReplaceAllString(s.words(e.Args[0]), "…")
		}
	}
	return "…"
}

func called(e *ast.CallExpr) string {
	switch f := e.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// says are the words of an expression; of a call to a function beside it, all that this returns.
func (s sources) says(e ast.Expr) []string {
	if call, ok := e.(*ast.CallExpr); ok {
		if f := s.funcs[called(call)]; f != nil && f.Body != nil {
			var out []string
			ast.Inspect(f.Body, func(n ast.Node) bool {
				if r, ok := n.(*ast.ReturnStmt); ok && len(r.Results) > 0 {
					out = append(out, s.words(r.Results[0]))
				}
				return true
			})
			if slices.ContainsFunc(out, func(text string) bool { return text != "…" }) {
				return out
			}
		}
	}
	return []string{s.words(e)}
}

var codeForm = regexp.MustCompile(`^C\d+$`)

// cards are the words of the cards that a package makes, by function: composite literals with a code, what is set on
// them afterwards, and calls of card(code, title, what, why).
func (s sources) cards() (out []string) {
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		for _, d := range s.files[name].Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			text, found := "", false
			say := func(field string, e ast.Expr) {
				for _, words := range s.says(e) {
					text += fmt.Sprintf("    %-5s %s\n", strings.ToLower(field), words)
				}
			}
			ast.Inspect(f.Body, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.KeyValueExpr:
					key, _ := n.Key.(*ast.Ident)
					switch {
					case key == nil:
					case key.Name == "Code" && codeForm.MatchString(s.words(n.Value)):
						found = true
						text += "  " + s.words(n.Value) + "\n"
					case key.Name == "Title" || key.Name == "What" || key.Name == "Why":
						say(key.Name, n.Value)
					}
				case *ast.AssignStmt:
					for i, left := range n.Lhs {
						if x, ok := left.(*ast.SelectorExpr); ok && len(n.Rhs) == len(n.Lhs) && slices.Contains([]string{"Title", "What", "Why", "Button"}, x.Sel.Name) {
							say(x.Sel.Name, n.Rhs[i])
						}
					}
				case *ast.CallExpr:
					if called(n) == "card" && len(n.Args) == 4 && codeForm.MatchString(s.words(n.Args[0])) {
						found = true
						text += "  " + s.words(n.Args[0]) + "\n"
						for i, field := range []string{"title", "what", "why"} {
							say(field, n.Args[i+1])
						}
					}
				}
				return true
			})
			if found {
				out = append(out, text)
			}
		}
	}
	return out
}

// hints are those of single errors, which are better than the table's.
func (s sources) hints() (out []string) {
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		ast.Inspect(s.files[name], func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && called(call) == "WithHint" && len(call.Args) == 2 {
				out = append(out, fmt.Sprintf("  %s\n    do    %s\n", s.words(call.Args[0]), s.words(call.Args[1])))
			}
			return true
		})
	}
	return out
}

// errorTable are the rows of the table that says what an error means outside.
func errorTable(t *testing.T) (out []string) {
	t.Helper()
	all := parsed(t, "node/api")
	proofs := parsed(t, "node/internal/presence")
	ast.Inspect(all.files["errors.go"], func(n ast.Node) bool {
		row, ok := n.(*ast.CompositeLit)
		if !ok || row.Type != nil || len(row.Elts) != 5 {
			return true
		}
		text := all.words(row.Elts[0])
		if x, ok := row.Elts[0].(*ast.SelectorExpr); ok {
			text = proofs.consts[x.Sel.Name]
			if text == "" {
				text = "it was interrupted, or: it took too long" // of the package context
			}
		}
		out = append(out, fmt.Sprintf("  %s: %s\n    do    %s\n", all.words(row.Elts[1]), text, all.words(row.Elts[4])))
		return true
	})
	return out
}

// TestTheWordsThatPeopleReadAreOneList keeps the wording of every card, error, hint and row of the doctor where it can
// be read in one go. It is made from the code that says it.
func TestTheWordsThatPeopleReadAreOneList(t *testing.T) {
	var b strings.Builder
	part := func(title string, rows []string, least int) {
		if len(rows) < least {
			t.Errorf("%s: only %d were found", title, len(rows))
		}
		b.WriteString(title + "\n" + strings.Repeat("=", len(title)) + "\n\n" + strings.Join(rows, "\n") + "\n\n")
	}
	var cards, hints []string
	for _, dir := range []string{"conflicts/thread", "node/core", "node"} {
		cards = append(cards, parsed(t, dir).cards()...)
	}
	for _, dir := range []string{"cmd/parley", "node", "node/api", "node/internal/install", "simnet/demo"} {
		hints = append(hints, parsed(t, dir).hints()...)
	}
	part("Cards", cards, 15)
	part("Errors", errorTable(t), 50)
	part("Hints of single errors", hints, 30)
	var rows []string
	for _, x := range ailments {
		rows = append(rows, fmt.Sprintf("  %s: %s\n    do    %s\n", x.code, x.means, strings.ReplaceAll(x.mend, "%s", "…")))
	}
	part("Rows of the doctor", rows, 40)
	golden(t, "wording.golden", strings.TrimRight(b.String(), "\n")+"\n")
	for _, row := range append(errorTable(t), rows...) {
		if strings.Contains(row, "do    …\n") || !strings.Contains(row, "interrupted") && strings.Contains(row, "do    \n") {
			if !strings.Contains(row, "agent-") { // its own check says what to do
				t.Errorf("no next step:\n%s", row)
			}
		}
	}
}

// otherPlace are words about another computer or another home.
var otherPlace = regexp.MustCompile(`\b(there|on both|on one of them|at the other end|the other computer|each other computer|another computer|another --home|on the computer that)\b`)

// strings are all constant texts of a package, by the outermost expression.
func (s sources) strings() (out []string) {
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		ast.Inspect(s.files[name], func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				if n.Op == token.ADD {
					out = append(out, s.words(n))
					return false
				}
			case *ast.BasicLit:
				out = append(out, s.words(n))
			}
			return true
		})
	}
	return out
}

// A hint's "run parley" becomes a command with this computer's --home.
func TestNoCommandForAnotherComputerCarriesThisHome(t *testing.T) {
	found := 0
	for _, dir := range []string{"cmd/parley", "node", "node/api", "node/core", "node/internal/install", "simnet/demo"} {
		for _, text := range parsed(t, dir).strings() {
			for clause := range strings.SplitSeq(text, ";") {
				if strings.Contains(clause, "\n") {
					continue // a page of help, which names no home
				}
				if strings.Contains(clause, "enter parley ") {
					found++
				}
				if strings.Contains(clause, "run parley ") && otherPlace.MatchString(clause) {
					t.Errorf("%s: %q gets this computer's --home", dir, clause)
				}
			}
		}
	}
	if found < 15 {
		t.Errorf("only %d commands for another place were found", found)
	}
	a := &app{home: "/x"}
	if got, want := a.here("enter parley up there, then run parley netcheck"), "enter parley up there, then run parley --home /x netcheck"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
