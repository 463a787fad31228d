package code

import (
	"bytes"
	"strconv"

	"github.com/parley-mesh/parley/detect"
)

// sum is FNV-1a over tokens, each closed by an octet that no token has.
type sum uint64

const sumStart sum = 14695981039346656037

func (h sum) add(token string) sum {
	for i := range len(token) {
		h = (h ^ sum(token[i])) * 1099511628211
	}
	return (h ^ 0x1e) * 1099511628211
}

// atoms are kinds of nodes that count as one token, whatever the grammar makes of their inside.
var atoms = map[string]bool{
	"string": true, "template_string": true, "regex": true, "jsx_text": true, "string_literal": true,
	"char_literal": true, "raw_string_literal": true, "character_literal": true, "text_block": true,
	"number": true, "concatenated_string": false,
}

// tokens goes over the tokens of a node without comments, spaces, trailing commas and the choice of quotes.
// A node that skip names is left out whole. Blocks that only indentation marks are told by braces.
func (t *tree) tokens(i int, skip func(int) bool, yield func(at int, token string)) {
	if i < 0 {
		return
	}
	held := "" // a comma that may turn out to be a trailing one
	last := t.nodes[i].start
	emit := func(at int, token string) {
		switch token {
		case ";":
			return
		case ",":
			held = ","
			return
		case ")", "]", "}", ">":
		default:
			if held != "" {
				yield(-1, held)
			}
		}
		held = ""
		yield(at, token)
	}
	end := int(t.nodes[i].next)
	var blocks []int
	for c := i; c < end; {
		for len(blocks) > 0 && c >= int(t.nodes[blocks[len(blocks)-1]].next) {
			emit(-1, "}")
			blocks = blocks[:len(blocks)-1]
		}
		n := &t.nodes[c]
		if c != i && (t.comment(c) || skip != nil && skip(c)) {
			last, c = max(last, n.end), int(n.next)
			continue
		}
		kind := t.kind(c)
		if int(n.next) > c+1 && !atoms[kind] {
			if kind == "block" && t.src[n.start] != '{' {
				emit(-1, "{")
				blocks = append(blocks, c)
			}
			c++
			continue
		}
		if n.start > last {
			if gap := bytes.TrimSpace(t.src[last:n.start]); len(gap) > 0 && gap[0] != '\\' {
				emit(-1, string(gap))
			}
		}
		if n.end > n.start {
			emit(c, unquote(t.text(c)))
		}
		last, c = max(last, n.end), int(n.next)
	}
	for range blocks {
		emit(-1, "}")
	}
}

// unquote writes a plain quoted string with double quotes.
func unquote(token string) string {
	if n := len(token); n >= 2 && token[0] == '\'' && token[n-1] == '\'' && !bytes.ContainsAny([]byte(token), `"\`) {
		return `"` + token[1:n-1] + `"`
	}
	return token
}

// hashes are those of a declaration: the body by its tokens, the shape with names that it declares itself
// replaced by their order of appearance. The declaration's own name is in neither.
func (s *scan) hashes(d declared, name string) (body, shape uint64) {
	b, h := sumStart, sumStart
	own, met := map[string]int{name: 0}, 0
	for _, at := range d.nodes {
		s.locals(at, own)
		skip := func(c int) bool {
			owner, ok := s.owner[c]
			return ok && owner != d.index || c == d.name
		}
		s.tokens(at, skip, func(c int, token string) {
			b = b.add(token)
			if c >= 0 && s.identifier(c) {
				if n, ok := own[token]; ok {
					if n < 0 {
						met++
						n, own[token] = met, met
					}
					token = "\x01" + strconv.Itoa(n)
				}
			}
			h = h.add(token)
		})
	}
	return uint64(b), uint64(h)
}

// identifier reports whether a token is a name.
func (t *tree) identifier(i int) bool {
	switch t.kind(i) {
	case "identifier", "shorthand_property_identifier", "shorthand_property_identifier_pattern", "type_identifier":
		return true
	}
	return false
}

// prints are the fingerprints of the whole file, in which local names do not matter.
func (s *scan) prints() []uint64 {
	var tokens []uint64
	s.tokens(0, nil, func(at int, token string) {
		if at >= 0 && s.identifier(at) && s.shadow[token] != nil {
			token = "\x01"
		}
		tokens = append(tokens, uint64(sumStart.add(token)))
	})
	return detect.Winnow(tokens)
}

func (g *goScan) prints() []uint64 {
	var tokens []uint64
	for _, t := range g.tokens {
		if t.name && g.shadow[t.text] != nil {
			t.text = "\x01"
		}
		tokens = append(tokens, uint64(sumStart.add(t.text)))
	}
	return detect.Winnow(tokens)
}
