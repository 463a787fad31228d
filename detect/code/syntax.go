package code

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	sitter "github.com/smacker/go-tree-sitter"
	"github.com/smacker/go-tree-sitter/golang"
	"github.com/smacker/go-tree-sitter/java"
	"github.com/smacker/go-tree-sitter/javascript"
	"github.com/smacker/go-tree-sitter/python"
	"github.com/smacker/go-tree-sitter/rust"
	"github.com/smacker/go-tree-sitter/typescript/tsx"
	"github.com/smacker/go-tree-sitter/typescript/typescript"
)

// This file alone touches the binding. What it hands out is plain Go: a tree flattened into one slice.

// grammarSet names the grammars and the rules by which they are read.
const grammarSet = "smacker-20240827/5"

// What one parse may cost.
const (
	sourceMax  = 1 << 20 // octets; a longer file is skipped
	depthMax   = 2000    // nodes from the root to a leaf; a deeper file is skipped
	limitBase  = 250 * time.Millisecond
	limitPer   = 20 * time.Millisecond // for every limitChunk of source
	limitChunk = 100 << 10
	starved    = 8 // times as long for the second try
)

// grammar is a language of the binding with its tables, which a walk would otherwise ask for node by node.
type grammar struct {
	language *sitter.Language
	kinds    []string
	named    []bool
	leaves   []bool // kinds that have nothing below them, or nothing that matters
	whole    []bool // and those below which only errors matter
	fields   map[string]uint8
	names    []string // of fields
}

var grammars = map[dialect]func() *grammar{
	dialectTS:   sync.OnceValue(func() *grammar { return newGrammar(typescript.GetLanguage(), "string") }),
	dialectTSX:  sync.OnceValue(func() *grammar { return newGrammar(tsx.GetLanguage(), "string") }),
	dialectJS:   sync.OnceValue(func() *grammar { return newGrammar(javascript.GetLanguage(), "string") }),
	dialectPy:   sync.OnceValue(func() *grammar { return newGrammar(python.GetLanguage()) }),
	dialectGo:   sync.OnceValue(func() *grammar { return newGrammar(golang.GetLanguage()) }),
	dialectRust: sync.OnceValue(func() *grammar { return newGrammar(rust.GetLanguage()) }),
	dialectJava: sync.OnceValue(func() *grammar { return newGrammar(java.GetLanguage()) }),
}

// leafKinds are named kinds that are one token in every grammar.
var leafKinds = map[string]bool{
	"identifier": true, "property_identifier": true, "type_identifier": true, "field_identifier": true, "number": true,
	"shorthand_property_identifier": true, "shorthand_property_identifier_pattern": true, "string_fragment": true,
	"string_content": true, "escape_sequence": true, "integer": true, "integer_literal": true, "decimal_integer_literal": true,
	"this": true, "comment": true, "primitive_type": true, "jsx_text": true,
}

// wholeKinds are kinds of which the text alone matters, by the language that has them; strings of Python have values inside.
var wholeKinds = map[string]bool{
	"regex": true, "predefined_type": true, "accessibility_modifier": true, "optional_chain": true, "string_literal": true,
	"raw_string_literal": true, "character_literal": true, "char_literal": true, "integral_type": true, "floating_point_type": true,
}

func newGrammar(l *sitter.Language, more ...string) *grammar {
	g := &grammar{language: l, fields: map[string]uint8{}, names: []string{""}}
	for s := range l.SymbolCount() {
		g.kinds = append(g.kinds, l.SymbolName(sitter.Symbol(s)))
		g.leaves = append(g.leaves, leafKinds[g.kinds[s]] || l.SymbolType(sitter.Symbol(s)) != sitter.SymbolTypeRegular)
		g.whole = append(g.whole, g.leaves[s] || wholeKinds[g.kinds[s]] || slices.Contains(more, g.kinds[s]))
		g.named = append(g.named, l.SymbolType(sitter.Symbol(s)) == sitter.SymbolTypeRegular)
	}
	for i := 1; ; i++ {
		name := l.FieldName(i)
		if name == "" {
			return g
		}
		g.fields[name] = uint8(i)
		g.names = append(g.names, name)
	}
}

// parseOnce makes a tree from scratch, always by a parser of its own: one that has hit its limit once, or
// whose cancellation came late, would spoil the next file. A nil tree says that the time ran out.
func parseOnce(g *grammar, src []byte, limit time.Duration) *tree {
	parser := sitter.NewParser()
	defer parser.Close()
	parser.SetLanguage(g.language)
	parser.SetOperationLimit(int(limit.Microseconds()))
	parsed, err := parser.ParseCtx(context.Background(), nil, src)
	if err != nil {
		return nil
	}
	defer runtime.KeepAlive(parsed)
	defer parsed.Close()
	return flatten(g, parsed, src)
}

// flatten walks a tree once, without recursion, into preorder.
func flatten(g *grammar, parsed *sitter.Tree, src []byte) *tree {
	t := &tree{grammar: g, src: src, nodes: make([]node, 0, len(src)/3+1)}
	root := parsed.RootNode()
	t.broken = root.HasError()
	cursor := sitter.NewTreeCursor(root)
	defer cursor.Close()
	t.push(cursor, root, -1)
	for open := []int32{0}; ; {
		switch {
		case len(open) > depthMax:
			t.deep = true
			return t
		case !t.leaf(open[len(open)-1]) && cursor.GoToFirstChild():
			open = append(open, t.push(cursor, cursor.CurrentNode(), open[len(open)-1]))
		case cursor.GoToNextSibling():
			open = t.next(cursor, open)
		default:
			for {
				t.nodes[open[len(open)-1]].next = int32(len(t.nodes))
				if open = open[:len(open)-1]; len(open) == 0 || !cursor.GoToParent() {
					return t
				}
				if cursor.GoToNextSibling() {
					open = t.next(cursor, open)
					break
				}
			}
		}
	}
}

// leaf reports whether a node surely has nothing below it that matters.
func (t *tree) leaf(i int32) bool {
	k, leaves := t.nodes[i].kind, t.grammar.whole
	if t.broken {
		leaves = t.grammar.leaves
	}
	return int(k) < len(leaves) && leaves[k]
}

// next closes the innermost open node and opens its sibling.
func (t *tree) next(cursor *sitter.TreeCursor, open []int32) []int32 {
	last := len(open) - 1
	t.nodes[open[last]].next = int32(len(t.nodes))
	parent := int32(-1)
	if last > 0 {
		parent = open[last-1]
	}
	open[last] = t.push(cursor, cursor.CurrentNode(), parent)
	return open
}

// push appends a node. Offsets are held to the file, whatever a grammar's scanner says.
func (t *tree) push(cursor *sitter.TreeCursor, from *sitter.Node, parent int32) int32 {
	n := node{parent: parent, kind: uint16(from.Symbol())}
	start := min(int(from.StartByte()), len(t.src))
	end := t.literalEnd(int(n.kind), start)
	if end < 0 { // a name, or a token that is not written as it is called
		end = max(start, min(int(from.EndByte()), len(t.src)))
		if name := cursor.CurrentFieldName(); name != "" {
			n.field = t.grammar.fields[name]
		}
	}
	n.start, n.end = uint32(start), uint32(end)
	if n.kind == kindError {
		t.errors += int(n.end - n.start)
	} else if n.start == n.end && t.broken && from.IsMissing() {
		n.missing = true
		t.errors++
	}
	at := int32(len(t.nodes))
	n.next = at + 1
	t.nodes = append(t.nodes, n)
	return at
}

// literalEnd is where a token ends that is written as its kind is called, -1 for all others. It saves two of
// the calls into C, which are most of what a walk costs.
func (t *tree) literalEnd(kind, start int) int {
	if t.broken || kind >= len(t.grammar.named) || t.grammar.named[kind] {
		return -1
	}
	if end := start + len(t.grammar.kinds[kind]); end <= len(t.src) && string(t.src[start:end]) == t.grammar.kinds[kind] {
		return end
	}
	return -1
}
