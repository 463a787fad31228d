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

// This file and walk.go alone touch the binding. What they hand out is plain Go: a tree flattened into one slice.

// grammarSet names the grammars and the rules by which they are read.
const grammarSet = "smacker-20240827/7"

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

// flatten makes a tree one slice in preorder.
func flatten(g *grammar, parsed *sitter.Tree, src []byte) *tree {
	t := &tree{grammar: g, src: src}
	root := parsed.RootNode()
	t.broken = root.HasError()
	leaves := g.whole
	if t.broken {
		leaves = g.leaves
	}
	if t.nodes, t.deep = walk(root, t.broken, leaves); t.deep {
		return t
	}
	for i := range t.nodes {
		t.settle(&t.nodes[i])
	}
	return t
}

// settle holds the offsets of a node to the file, whatever a grammar's scanner says, and counts errors.
func (t *tree) settle(n *node) {
	size := uint32(len(t.src))
	n.start = min(n.start, size)
	if end := t.literalEnd(int(n.kind), int(n.start)); end >= 0 {
		n.end, n.field = uint32(end), 0
	} else {
		n.end = max(n.start, min(n.end, size))
	}
	n.missing = n.missing && n.start == n.end && n.kind != kindError
	switch {
	case n.kind == kindError:
		t.errors += int(n.end - n.start)
	case n.missing:
		t.errors++
	}
}

// literalEnd is where a token ends that is written as its kind is called, -1 for all others.
func (t *tree) literalEnd(kind, start int) int {
	if t.broken || kind >= len(t.grammar.named) || t.grammar.named[kind] {
		return -1
	}
	if end := start + len(t.grammar.kinds[kind]); end <= len(t.src) && string(t.src[start:end]) == t.grammar.kinds[kind] {
		return end
	}
	return -1
}
