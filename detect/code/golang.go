package code

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// goScan reads one file of Go by the standard library's own parser, which knows every version of the language
// and is four times as fast.
type goScan struct {
	reader    *Reader
	unit      *detect.Unit
	file      *token.File
	syntax    *ast.File
	test      bool
	outer     bool   // the file is one of package p_test
	build     string // when the file is built, see [buildOf]
	seen      map[string]int
	index     map[string]int
	ranges    []goRange // of symbols
	tokens    []goToken
	imports   map[string]string // local names to paths
	shadow    shadows
	values    map[string][]goValue
	variables map[string][]goVariable
	budget    int  // how many more steps the value at hand may take
	marks     bool // what other files say is marked
}

type goRange struct{ from, to, name token.Pos }

// within reports whether a token stands in a range that is a smaller part of another.
func (r goRange) within(outer goRange, at token.Pos) bool {
	return r.from <= at && at < r.to && r.to <= outer.to && (r.from > outer.from || r.to < outer.to)
}

type goToken struct {
	at   token.Pos
	text string
	name bool
}

func (r *Reader) readGo(u *detect.Unit, content []byte) {
	switch {
	case len(content) > sourceMax:
		u.Quality = detect.TimedOut
		return
	case bytes.IndexByte(content, 0) >= 0:
		u.Quality = detect.Failed
		return
	}
	content, marked := unmark(content)
	set := token.NewFileSet()
	syntax, err := parser.ParseFile(set, "", content, parser.SkipObjectResolution|parser.AllErrors|parser.ParseComments)
	u.Quality = detect.Clean
	if err != nil || marked {
		u.Quality = detect.Recovered
		if syntax == nil || syntax.Name == nil || len(syntax.Decls) == 0 {
			u.Quality = detect.Failed
			return
		}
	}
	g := &goScan{
		reader: r, unit: u, file: set.File(syntax.FileStart), syntax: syntax, test: testFile(u.Path),
		seen: map[string]int{}, index: map[string]int{}, imports: map[string]string{}, shadow: shadows{}, variables: map[string][]goVariable{},
	}
	g.build = buildOf(u.Path, syntax)
	g.outer = strings.HasSuffix(syntax.Name.Name, "_test") && strings.HasSuffix(u.Path, "_test.go")
	g.scan(content)
	g.importsOf()
	for _, d := range syntax.Decls {
		g.decl(d)
	}
	g.scopes()
	g.uses()
	g.contracts()
	g.hash()
	u.Prints = g.prints()
}

// scan splits the file into tokens, without comments.
func (g *goScan) scan(content []byte) {
	var s scanner.Scanner
	s.Init(g.file, content, func(token.Position, string) {}, 0)
	for {
		at, tok, literal := s.Scan()
		if tok == token.EOF {
			return
		}
		if literal == "" || tok == token.SEMICOLON {
			literal = tok.String()
		}
		if n := len(g.tokens); n > 0 && (tok == token.RBRACE || tok == token.RPAREN) &&
			(g.tokens[n-1].text == ";" || g.tokens[n-1].text == ",") {
			g.tokens = g.tokens[:n-1] // which only the layout asks for
		}
		g.tokens = append(g.tokens, goToken{at, literal, tok == token.IDENT})
	}
}

func (g *goScan) line(at token.Pos) uint32 { return uint32(g.file.Line(at)) }

// goUnplaced begins the id under which others import a symbol, as long as nobody said which package its folder is:
// a unit holds for every repository with the file.
const goUnplaced = "pkg:go:#"

// goTests begins that of a symbol of the tests from outside: package p_test.
const goTests = "pkg:go:" + ownTests + "#"

// ofTests reports whether a symbol of Go is one of the tests from outside, of which its folder's package knows nothing.
func ofTests(s *detect.Symbol) bool { return strings.HasPrefix(s.Package, goTests) }

// declare adds a symbol.
func (g *goScan) declare(node ast.Node, name *ast.Ident, qualified string, sym detect.Symbol) int {
	sym.ID = "sym:go:" + g.unit.Path + "#" + qualified
	g.seen[sym.ID]++
	if n := g.seen[sym.ID]; n > 1 {
		sym.ID += "~" + strconv.Itoa(n)
	}
	sym.Line = g.line(node.Pos())
	sym.Lines = g.line(max(node.Pos(), node.End()-1)) - sym.Line + 1
	sym.Test = g.test
	sym.Package = goUnplaced + qualified
	if g.outer {
		sym.Package = goTests + qualified
	}
	if g.build != "" {
		sym.Signature.Modifiers = append(sym.Signature.Modifiers, g.build)
	}
	i := len(g.unit.Symbols)
	g.unit.Symbols = append(g.unit.Symbols, sym)
	g.index[sym.ID] = i
	g.ranges = append(g.ranges, goRange{node.Pos(), node.End(), name.Pos()})
	return i
}

func (g *goScan) decl(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		g.function(d)
	case *ast.GenDecl:
		if d.Tok == token.CONST {
			g.constGroup(d)
			return
		}
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				g.typeSpec(d, spec)
			case *ast.ValueSpec:
				g.valueSpec(d, spec, spec, 0)
			}
		}
	}
}

func (g *goScan) function(d *ast.FuncDecl) {
	sym := detect.Symbol{Kind: detect.Function, Exported: d.Name.IsExported()}
	qualified := d.Name.Name
	names := typeNames{}
	if d.Recv != nil && len(d.Recv.List) > 0 {
		of, pointer, params := receiverOf(d.Recv.List[0].Type)
		for i, p := range params {
			names[p] = "$" + strconv.Itoa(i)
		}
		if of == "" {
			return
		}
		sym.Kind, sym.Exported = detect.Method, sym.Exported && ast.IsExported(of)
		qualified = of + "." + qualified
		sym.Container = "sym:go:" + g.unit.Path + "#" + of
		sym.Signature.Receiver = of
		if pointer {
			sym.Signature.Receiver = "*" + of
		}
	}
	sym.Signature.TypeParams = names.params(d.Type.TypeParams)
	sym.Signature.Params, sym.Signature.Result = names.signature(d.Type)
	sym.Signature.Text = goText(qualified, sym.Signature)
	if qualified == "init" || qualified == "_" {
		return
	}
	sym.Test = g.test || strings.HasPrefix(qualified, "Test")
	g.declare(d, d.Name, qualified, sym)
}

// receiverOf is the type that a method is of.
func receiverOf(e ast.Expr) (name string, pointer bool, params []string) {
	for {
		switch t := e.(type) {
		case *ast.ParenExpr:
			e = t.X
		case *ast.StarExpr:
			e, pointer = t.X, true
		case *ast.IndexExpr:
			e, params = t.X, identNames(t.Index)
		case *ast.IndexListExpr:
			e, params = t.X, identNames(t.Indices...)
		case *ast.Ident:
			return t.Name, pointer, params
		default:
			return "", false, nil
		}
	}
}

func identNames(list ...ast.Expr) (names []string) {
	for _, e := range list {
		if id, ok := e.(*ast.Ident); ok {
			names = append(names, id.Name)
		}
	}
	return names
}

func (g *goScan) typeSpec(d *ast.GenDecl, spec *ast.TypeSpec) {
	if spec.Name.Name == "_" {
		return
	}
	var node ast.Node = spec
	if !d.Lparen.IsValid() {
		node = d
	}
	names := typeNames{}
	sym := detect.Symbol{Kind: detect.Type, Exported: spec.Name.IsExported()}
	sym.Signature.TypeParams = names.params(spec.TypeParams)
	if spec.Assign.IsValid() {
		sym.Signature.Modifiers = []string{"alias"}
	}
	switch t := spec.Type.(type) {
	case *ast.StructType:
		sym.Signature.Result = "struct"
	case *ast.InterfaceType:
		sym.Kind = detect.Interface
		for _, f := range t.Methods.List {
			if len(f.Names) == 0 {
				sym.Signature.Bases = append(sym.Signature.Bases, names.text(f.Type))
			}
		}
	default:
		sym.Signature.Result = names.text(t)
	}
	sym.Signature.Text = "type " + spec.Name.Name
	i := g.declare(node, spec.Name, spec.Name.Name, sym)
	switch t := spec.Type.(type) {
	case *ast.StructType:
		g.fields(t.Fields, i, names)
	case *ast.InterfaceType:
		g.fields(t.Methods, i, names)
	}
}

// fields declares the fields of a struct or the methods of an interface.
func (g *goScan) fields(list *ast.FieldList, of int, names typeNames) {
	outer := g.unit.Symbols[of]
	prefix := nameOf(outer.ID) + "."
	for _, f := range list.List {
		method, isMethod := f.Type.(*ast.FuncType)
		idents := f.Names
		if len(idents) == 0 && outer.Kind != detect.Interface { // embedded
			if id := embeddedName(f.Type); id != nil {
				idents = []*ast.Ident{id}
			}
		}
		for _, id := range idents {
			if id.Name == "_" {
				continue
			}
			sym := detect.Symbol{Kind: detect.Field, Container: outer.ID, Exported: outer.Exported && id.IsExported()}
			if isMethod && outer.Kind == detect.Interface {
				sym.Kind = detect.Method
				sym.Signature.Params, sym.Signature.Result = names.signature(method)
				sym.Signature.Text = goText(prefix+id.Name, sym.Signature)
			} else {
				sym.Signature.Result = names.text(f.Type)
				if f.Tag != nil {
					sym.Signature.Modifiers = []string{f.Tag.Value}
				}
			}
			g.declare(f, id, prefix+id.Name, sym)
		}
	}
}

func embeddedName(e ast.Expr) *ast.Ident {
	for {
		switch t := e.(type) {
		case *ast.StarExpr:
			e = t.X
		case *ast.SelectorExpr:
			return t.Sel
		case *ast.IndexExpr:
			e = t.X
		case *ast.IndexListExpr:
			e = t.X
		case *ast.Ident:
			return t
		default:
			return nil
		}
	}
}

// valueSpec declares variables or constants. Type and values are those of a line that is this one or one before.
func (g *goScan) valueSpec(d *ast.GenDecl, spec, line *ast.ValueSpec, iota int) {
	for i, id := range spec.Names {
		if id.Name == "_" {
			continue
		}
		sym := detect.Symbol{Kind: detect.Variable, Exported: id.IsExported()}
		if line.Type != nil {
			sym.Signature.Result = typeNames{}.text(line.Type)
		}
		if d.Tok == token.CONST {
			sym.Signature.Modifiers = []string{"const"}
			if i < len(line.Values) {
				if value, ok := constantText(line.Values[i], iota); ok {
					sym.Signature.Result += " = " + value
				}
			}
		} else if i < len(spec.Values) && len(spec.Values) == len(spec.Names) && spec.Type == nil {
			sym.Signature.Result = literalType(spec.Values[i])
		}
		var node ast.Node = spec
		if !d.Lparen.IsValid() {
			node = d
		}
		g.declare(node, id, id.Name, sym)
	}
}

// literalType is the type of a value that shows it, "" for others.
func literalType(e ast.Expr) string {
	switch v := e.(type) {
	case *ast.BasicLit:
		return map[token.Token]string{token.INT: "int", token.FLOAT: "float64", token.STRING: "string", token.CHAR: "rune", token.IMAG: "complex128"}[v.Kind]
	case *ast.CompositeLit:
		if v.Type != nil {
			return typeNames{}.text(v.Type)
		}
	case *ast.UnaryExpr:
		if inner := literalType(v.X); v.Op == token.AND && inner != "" {
			return "*" + inner
		}
	}
	return ""
}

func goText(name string, sig detect.Signature) string {
	var parts []string
	for _, p := range sig.Params {
		of := p.Type
		if p.Kind == detect.Variadic {
			of = "..." + of
		}
		parts = append(parts, strings.TrimSpace(p.Name+" "+of))
	}
	text := name + "(" + strings.Join(parts, ", ") + ")"
	if strings.Contains(sig.Result, ", ") {
		return text + " (" + sig.Result + ")"
	}
	return strings.TrimSpace(text + " " + sig.Result)
}

// hash gives every symbol its hashes. Members are left out of what holds them.
func (g *goScan) hash() {
	for i := range g.unit.Symbols {
		sym, r := &g.unit.Symbols[i], g.ranges[i]
		body, shape := sumStart, sumStart
		own := map[string]int{lastName(sym.ID): 0}
		calls := sym.Kind == detect.Function || sym.Kind == detect.Method
		met := 0
		at, _ := slices.BinarySearchFunc(g.tokens, r.from, func(t goToken, p token.Pos) int { return int(t.at) - int(p) })
		for inner := i + 1; at < len(g.tokens) && g.tokens[at].at < r.to; at++ {
			t := g.tokens[at]
			for inner < len(g.ranges) && g.ranges[inner].to <= t.at {
				inner++
			}
			if t.at == r.name || inner < len(g.ranges) && g.ranges[inner].within(r, t.at) {
				continue
			}
			body = body.add(t.text)
			if t.name {
				n, known := own[t.text]
				if !known && calls && g.shadow.startIn(t.text, uint32(r.from), uint32(r.to)) {
					met++
					n, known, own[t.text] = met, true, met
				}
				if known {
					t.text = "\x01" + strconv.Itoa(n)
				}
			}
			shape = shape.add(t.text)
		}
		sym.BodyHash, sym.ShapeHash = uint64(body), uint64(shape)
		sym.SignatureHash = signatureHash("go", sym)
	}
}
