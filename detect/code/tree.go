package code

import (
	"bytes"
	"iter"
	"slices"
	"time"
)

// Why a file was not read.
const (
	tooLarge = "larger than 1 MiB"
	tooSlow  = "took too long to parse"
)

// kindError is what grammars call a node that they could not read.
const kindError = 0xFFFF

// node is one node of a syntax tree in preorder.
type node struct {
	start, end uint32 // octets of the source
	parent     int32  // -1 at the root
	next       int32  // the first node after this one's subtree
	kind       uint16 // index into the grammar's kinds, or kindError
	field      uint8  // which field of its parent it is, 0 for none
	missing    bool   // a token that the parser put in by itself
}

// tree is one parsed file. Node 0 is the root; -1 stands for no node.
type tree struct {
	grammar *grammar
	src     []byte
	nodes   []node
	broken  bool // some node is an error or was put in
	deep    bool // nested deeper than depthMax, nodes are not all there
	errors  int  // octets under error nodes, and one for every token put in
}

// parse reads a whole file, never a part of an older tree, so that the same octets give the same tree on
// every computer. Why is empty if there is one. A starved machine gets a second, longer chance, since the
// parser's limit is wall time.
func parse(d dialect, src []byte) (t *tree, why string) {
	switch {
	case len(src) > sourceMax:
		return nil, tooLarge
	case bytes.IndexByte(src, 0) >= 0:
		return nil, "not text"
	}
	g := grammars[d]()
	src, marked := unmark(src)
	limit := limitBase + limitPer*time.Duration(len(src)/limitChunk)
	if t = parseOnce(g, src, limit); t == nil {
		t = parseOnce(g, src, starved*limit)
	}
	if t == nil {
		return nil, tooSlow
	}
	if t.deep {
		return nil, "nested too deeply"
	}
	if t.broken {
		if t = mend(d, t, starved*limit); t == nil {
			return nil, tooSlow
		}
	}
	t.broken = t.broken || marked
	return t, ""
}

// mend parses again with known blind spots of the grammars covered, and keeps what has fewer errors. It is nil if
// the time ran out: then nobody knows which tree another computer keeps.
func mend(d dialect, t *tree, limit time.Duration) *tree {
	for _, cover := range []func(dialect, []byte) []byte{mask, maskJSX} {
		masked := cover(d, t.src)
		if !t.broken || masked == nil {
			continue
		}
		again := parseOnce(t.grammar, masked, limit)
		if again == nil {
			return nil
		}
		if !again.deep && again.errors < t.errors {
			again.src = t.src // what was covered still counts
			t = again
		}
	}
	return t
}

// kind is the grammar's name of a node.
func (t *tree) kind(i int) string {
	if i < 0 {
		return ""
	}
	if k := t.nodes[i].kind; int(k) < len(t.grammar.kinds) {
		return t.grammar.kinds[k]
	}
	return "ERROR"
}

// is reports whether a node is of one of the kinds.
func (t *tree) is(i int, kinds ...string) bool { return i >= 0 && slices.Contains(kinds, t.kind(i)) }

// named reports whether a node is more than punctuation or a keyword.
func (t *tree) named(i int) bool {
	k := t.nodes[i].kind
	return int(k) >= len(t.grammar.named) || t.grammar.named[k]
}

// field is the name of the field that a node is of its parent.
func (t *tree) field(i int) string { return t.grammar.names[t.nodes[i].field] }

// text is the source of a node, empty for none.
func (t *tree) text(i int) string {
	if i < 0 {
		return ""
	}
	return string(t.src[t.nodes[i].start:t.nodes[i].end])
}

// parent is the node around a node.
func (t *tree) parent(i int) int { return int(t.nodes[i].parent) }

// children goes over the direct children of a node.
func (t *tree) children(i int) iter.Seq[int] {
	return func(yield func(int) bool) {
		if i < 0 {
			return
		}
		for c := i + 1; c < int(t.nodes[i].next); c = int(t.nodes[c].next) {
			if !yield(c) {
				return
			}
		}
	}
}

// items goes over the direct children that mean something: no punctuation, no comments.
func (t *tree) items(i int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for c := range t.children(i) {
			if t.named(c) && !t.comment(c) && !yield(c) {
				return
			}
		}
	}
}

// child is the direct child in a field, or -1.
func (t *tree) child(i int, field string) int {
	id := t.grammar.fields[field]
	if id == 0 {
		return -1
	}
	for c := range t.children(i) {
		if t.nodes[c].field == id && !t.comment(c) {
			return c
		}
	}
	return -1
}

// first is the first direct child of one of the kinds, or -1.
func (t *tree) first(i int, kinds ...string) int {
	for c := range t.children(i) {
		if t.is(c, kinds...) {
			return c
		}
	}
	return -1
}

// has reports whether a direct child is of one of the kinds; keywords are kinds too.
func (t *tree) has(i int, kinds ...string) bool { return t.first(i, kinds...) >= 0 }

// item is the nth direct child that means something, or -1.
func (t *tree) item(i, n int) int {
	for c := range t.items(i) {
		if n--; n < 0 {
			return c
		}
	}
	return -1
}

// comment reports whether a node is one.
func (t *tree) comment(i int) bool {
	return t.is(i, "comment", "line_comment", "block_comment", "html_comment", "hash_bang_line")
}

// within goes over every node below a node, in preorder.
func (t *tree) within(i int) iter.Seq[int] {
	return func(yield func(int) bool) {
		if i < 0 {
			return
		}
		for c := i + 1; c < int(t.nodes[i].next); c++ {
			if !yield(c) {
				return
			}
		}
	}
}
