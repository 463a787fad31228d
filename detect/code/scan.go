package code

import (
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// scan is one file while it is read: the tree, and what was found so far.
type scan struct {
	*tree
	reader    *Reader
	dialect   dialect
	unit      *detect.Unit
	lines     []uint32         // where each line starts
	test      bool             // the file is one of tests
	seen      map[string]int   // how many declarations have an id
	index     map[string]int   // the symbol with an id
	known     []declared       // by symbol
	owner     map[int]int      // the symbol that a node declares
	top       map[string]int   // symbols at the top of the file by name
	bound     map[string]bound // what imported names stand for
	shadow    shadows
	variables map[string][]variable // declarations by name, with their types
	exports   map[string]bool       // names that the file exports by a list
	values    map[string]int        // nodes that constants at the top are set to
	depth     int                   // how deep values are followed just now
	stars     []string              // the modules of Python whose names the file takes all
	naming    []string              // the schemas that are being read, outermost first
	marks     bool                  // what other files say is marked rather than unknown
	budget    int                   // how many more steps the value at hand may take
	routes    int                   // how many [scan.another] counted
	made      map[string][]int      // what names anywhere in the file are set to, once somebody asks

	returned map[int][]string         // the names that a function of Python returns, once somebody asks
	prefixes map[string][]int         // the calls that give routers of Koa a prefix, by name, once somebody asks
	lets     map[int]map[string][]int // the variables of functions of Rust, once somebody asks
}

// declared is what a symbol was made from.
type declared struct {
	index int
	nodes []int // one for each part of an overload set
	name  int
}

// bound is what a local name stands for: a name of a module, "*" for all of it.
type bound struct{ module, name string }

func newScan(r *Reader, t *tree, d dialect, unit detect.Unit) *scan {
	s := &scan{
		tree: t, reader: r, dialect: d, unit: &unit, lines: lineStarts(t.src), test: testFile(unit.Path),
		seen: map[string]int{}, index: map[string]int{}, owner: map[int]int{}, top: map[string]int{},
		bound: map[string]bound{}, shadow: shadows{}, variables: map[string][]variable{}, exports: map[string]bool{}, values: map[string]int{},
	}
	unit.Quality = detect.Clean
	if t.broken {
		unit.Quality = detect.Recovered
		if root := t.nodes[0]; t.is(0, "ERROR") || t.errors > int(root.end-root.start)/2 {
			unit.Quality = detect.Failed
		}
	}
	return s
}

// enter bounds how deep the functions that follow values may go: a constant may well be set to itself. Each has
// to leave again.
func (s *scan) enter() bool {
	s.depth++
	return s.depth < 3*valuesMax
}

func (s *scan) leave() { s.depth-- }

// step takes one step of the budget of a value, which bounds how wide constants of constants spread.
func (s *scan) step() bool {
	s.budget--
	return s.budget > 0
}

func lineStarts(src []byte) []uint32 {
	starts := []uint32{0}
	for i, c := range src {
		if c == '\n' {
			starts = append(starts, uint32(i+1))
		}
	}
	return starts
}

// line is the number, from 1, of the line that an octet stands in.
func (s *scan) line(at uint32) uint32 {
	return uint32(sort.Search(len(s.lines), func(i int) bool { return s.lines[i] > at }))
}

// testFile reports whether a path is one of tests, by the customs of its language.
func testFile(file string) bool {
	name := path.Base(file)
	stem := strings.TrimSuffix(name, path.Ext(name))
	if strings.HasSuffix(stem, "_test") || strings.HasSuffix(stem, ".test") || strings.HasSuffix(stem, ".spec") ||
		strings.HasPrefix(name, "test_") || name == "conftest.py" {
		return true
	}
	return slices.ContainsFunc(strings.Split(path.Dir(file), "/"), func(d string) bool {
		return d == "test" || d == "tests" || d == "__tests__" || d == "spec" || d == "testdata"
	})
}

// id is the id of a name of this file.
func (s *scan) id(name string) string {
	return "sym:" + s.unit.Language + ":" + s.unit.Path + "#" + name
}

// declare adds a symbol. The node is what is hashed and counted in lines.
func (s *scan) declare(at, name int, sym detect.Symbol, qualified string) int {
	id := s.id(qualified)
	s.seen[id]++
	if n := s.seen[id]; n > 1 {
		id += "~" + strconv.Itoa(n)
	}
	sym.ID = id
	return s.place(at, name, sym)
}

// place adds a symbol that has its id.
func (s *scan) place(at, name int, sym detect.Symbol) int {
	n := s.nodes[at]
	sym.Line = s.line(n.start)
	sym.Lines = s.line(max(n.start, n.end-min(n.end, 1))) - sym.Line + 1
	sym.Test = s.test
	i := len(s.unit.Symbols)
	s.unit.Symbols = append(s.unit.Symbols, sym)
	s.known = append(s.known, declared{index: i, nodes: []int{at}, name: name})
	s.index[sym.ID] = i
	if _, taken := s.owner[at]; !taken {
		s.owner[at] = i
	}
	return i
}

// join adds one more part to a symbol: another overload, the setter of a getter.
func (s *scan) join(i, at int) {
	s.known[i].nodes = append(s.known[i].nodes, at)
	s.owner[at] = i
}

// in is the id of the symbol that holds a node, "" at the top of the file.
func (s *scan) in(i int) string {
	for ; i >= 0; i = s.parent(i) {
		if symbol, ok := s.owner[i]; ok {
			return s.unit.Symbols[symbol].ID
		}
	}
	return ""
}

// refer adds a use.
func (s *scan) refer(kind detect.ReferenceKind, target string, at int) {
	s.unit.References = append(s.unit.References, detect.Reference{
		Kind: kind, Target: target, In: s.in(at), Path: s.unit.Path, Line: s.line(s.nodes[at].start),
	})
}

// hide notes that a name means something else within a node.
func (s *scan) hide(name string, scope int) {
	if name != "" && scope >= 0 {
		n := s.nodes[scope]
		s.shadow.add(name, n.start, n.end)
	}
}

// hideAfter is hide for names that are known from their declaration on only.
func (s *scan) hideAfter(i, declaration, scope int) {
	if scope >= 0 {
		from := s.nodes[declaration].end
		if declaration == i {
			from = s.nodes[i].start
		}
		s.shadow.add(s.text(i), from, s.nodes[scope].end)
		s.shadow.add(s.text(i), s.nodes[i].start, s.nodes[i].end)
	}
}

// hidden reports whether the name that stands at a node is some local's.
func (s *scan) hidden(name string, at int) bool {
	return s.shadow.hold(name, s.nodes[at].start)
}

// finish hashes every symbol and puts the unit in order.
func (s *scan) finish() {
	for i := range s.unit.Symbols {
		sym := &s.unit.Symbols[i]
		sym.BodyHash, sym.ShapeHash = s.hashes(s.known[i], s.text(s.known[i].name))
		sym.SignatureHash = signatureHash(s.unit.Language, sym)
	}
	s.unit.Prints = s.prints()
	slices.SortStableFunc(s.unit.References, func(a, b detect.Reference) int { return int(a.Line) - int(b.Line) })
	slices.SortStableFunc(s.unit.Contracts, func(a, b detect.Contract) int { return int(a.Line) - int(b.Line) })
}

// signatureHash is over a signature's normal form, its text for people apart. Names of parameters count where
// callers can write them.
func signatureHash(language string, sym *detect.Symbol) uint64 {
	h := sumStart.add(strconv.Itoa(int(sym.Kind))).add(strconv.FormatBool(sym.Exported))
	for _, sig := range append([]detect.Signature{sym.Signature}, sym.Signature.Overloads...) {
		h = h.add("sig").add(sig.Receiver).add(sig.Result)
		for _, list := range [][]detect.Param{sig.TypeParams, sig.Params} {
			h = h.add("params")
			for _, p := range list {
				if language == "py" && p.Kind != detect.PositionalOnly {
					h = h.add(p.Name)
				}
				h = h.add(p.Type).add(strconv.Itoa(int(p.Kind))).add(strconv.FormatBool(p.Optional))
			}
		}
		for _, list := range [][]string{sig.Modifiers, sig.Bases} {
			h = h.add("list")
			for _, word := range list {
				h = h.add(word)
			}
		}
	}
	return uint64(h)
}
