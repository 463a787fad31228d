package install

import (
	"encoding/json"
	"fmt"
	"strings"
)

const (
	fileBytesMax = 32 << 20
	depthMax     = 200
)

// node is one value of a JSON text with comments and trailing commas, by where it stands. Nothing is ever
// written anew from a node: edits are made to the text.
type node struct {
	kind       byte // '{', '[', '"', or 'x' for a number or a word
	start, end int
	items      []item
	comma      int // of a container: where the comma after the last item stands, -1: nowhere
}

// item is one member of an object, or one element of an array, whose key is "".
type item struct {
	key   string
	start int // of the key, or of the element
	value *node
	comma int // the comma after it that a further item follows, -1: none
}

// reader walks through a text.
type reader struct {
	text  string
	at    int
	depth int
}

// parse reads a whole text.
func parse(text string) (*node, error) {
	if len(text) > fileBytesMax {
		return nil, fmt.Errorf("longer than %d bytes", fileBytesMax)
	}
	r := &reader{text: text}
	if strings.HasPrefix(text, "\ufeff") {
		r.at = len("\ufeff")
	}
	n, err := r.value()
	if err == nil {
		err = r.space()
	}
	if err == nil && r.at < len(text) {
		err = r.wrong("text after the end")
	}
	return n, err
}

func (r *reader) wrong(what string) error {
	return fmt.Errorf("line %d: %s", 1+strings.Count(r.text[:min(r.at, len(r.text))], "\n"), what)
}

// space skips white space and comments.
func (r *reader) space() error {
	for r.at < len(r.text) {
		rest := r.text[r.at:]
		switch {
		case isSpace(rest[0]):
			r.at++
		case strings.HasPrefix(rest, "//"):
			if end := strings.IndexAny(rest, "\r\n"); end >= 0 {
				r.at += end
			} else {
				r.at = len(r.text)
			}
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				return r.wrong("a comment has no end")
			}
			r.at += 2 + end + 2
		default:
			return nil
		}
	}
	return nil
}

func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }

func (r *reader) value() (*node, error) {
	if err := r.space(); err != nil {
		return nil, err
	}
	if r.at == len(r.text) {
		return nil, r.wrong("a value is missing")
	}
	switch b := r.text[r.at]; b {
	case '{', '[':
		return r.container(b)
	case '"':
		start := r.at
		_, err := r.string()
		return &node{kind: '"', start: start, end: r.at, comma: -1}, err
	}
	start := r.at
	for r.at < len(r.text) && !isSpace(r.text[r.at]) && !strings.ContainsRune(",]}/:\"[{", rune(r.text[r.at])) {
		r.at++
	}
	if !json.Valid([]byte(r.text[start:r.at])) {
		return nil, r.wrong("a value is missing")
	}
	return &node{kind: 'x', start: start, end: r.at, comma: -1}, nil
}

// string reads one, and returns what it means.
func (r *reader) string() (string, error) {
	start := r.at
	for r.at++; r.at < len(r.text); r.at++ {
		switch r.text[r.at] {
		case '\\':
			r.at++
		case '"':
			r.at++
			var s string
			if err := json.Unmarshal([]byte(r.text[start:r.at]), &s); err != nil {
				return "", r.wrong("a string is spoiled")
			}
			return s, nil
		}
	}
	r.at = len(r.text)
	return "", r.wrong("a string has no end")
}

func (r *reader) container(open byte) (*node, error) {
	if r.depth++; r.depth > depthMax {
		return nil, r.wrong("too deep")
	}
	defer func() { r.depth-- }()
	n := &node{kind: open, start: r.at, comma: -1}
	shut := byte('}')
	if open == '[' {
		shut = ']'
	}
	for r.at++; ; {
		if err := r.space(); err != nil {
			return nil, err
		}
		switch {
		case r.at == len(r.text):
			return nil, r.wrong("a bracket is not closed")
		case r.text[r.at] == shut:
			r.at++
			n.end = r.at
			return n, nil
		case len(n.items) > 0 && n.comma < 0:
			return nil, r.wrong("a comma is missing")
		}
		if len(n.items) > 0 {
			n.items[len(n.items)-1].comma, n.comma = n.comma, -1
		}
		i, err := r.item(open)
		if err != nil {
			return nil, err
		}
		n.items = append(n.items, i)
		if err := r.space(); err != nil {
			return nil, err
		}
		if r.at < len(r.text) && r.text[r.at] == ',' {
			n.comma = r.at
			r.at++
		}
	}
}

func (r *reader) item(open byte) (item, error) {
	i := item{start: r.at, comma: -1}
	if open == '{' {
		if r.text[r.at] != '"' {
			return i, r.wrong("a name is missing")
		}
		var err error
		if i.key, err = r.string(); err != nil {
			return i, err
		}
		if err := r.space(); err != nil {
			return i, err
		}
		if r.at == len(r.text) || r.text[r.at] != ':' {
			return i, r.wrong("a colon is missing")
		}
		r.at++
	}
	var err error
	i.value, err = r.value()
	return i, err
}

// member is the value of a name in an object; nil: there is none. A name that stands twice is refused: no two
// readers agree about it.
func (n *node) member(key string) (*node, error) {
	var found *node
	for _, i := range n.items {
		if i.key != key {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("%q stands twice", key)
		}
		found = i.value
	}
	return found, nil
}
