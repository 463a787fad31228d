package install

import (
	"fmt"
	"slices"
	"strings"
)

// document is a JSON text in the making. Every edit can be taken back by looking at the text alone:
//
//   - a further item goes behind the last one, and its comma directly behind that one, so that comments stay
//     where they were; a trailing comma stays a trailing comma;
//   - the first item of an empty container gets a line of its own;
//   - a container that is made here begins with its first item directly behind the bracket. That tells it from one
//     that was there and empty.
type document struct {
	text string
	root *node
	nl   string // how its lines end
	unit string // one step of its indentation
	new  bool   // there is no such file yet
	of   homes  // whose items are parley's here
	take bool   // parley's items are only taken out: what has another shape holds none
}

// create begins a file that is not there.
func create() *document {
	return &document{text: "{}", root: &node{kind: '{', end: 2, comma: -1}, nl: "\n", unit: "  ", new: true}
}

// open reads a file that is there.
func open(text string) (*document, error) {
	d := &document{text: text, nl: "\n", unit: "  "}
	if strings.Contains(text, "\r\n") {
		d.nl = "\r\n"
	}
	if err := d.reread(); err != nil {
		return nil, err
	}
	if d.root.kind != '{' {
		return nil, fmt.Errorf("is no object")
	}
	if len(d.root.items) > 0 {
		if in := d.indent(d.root.items[0].start); in != "" && d.first(d.root.items[0].start) {
			d.unit = in
		}
	}
	return d, nil
}

func (d *document) reread() (err error) {
	d.root, err = parse(d.text)
	return err
}

// at is the container at a path of names; nil: there is none.
func (d *document) at(path []string) (*node, error) {
	n := d.root
	for i, key := range path {
		if n.kind != '{' && d.take {
			return nil, nil
		}
		if n.kind != '{' {
			return nil, fmt.Errorf("%s is no object", strings.Join(path[:i], "."))
		}
		next, err := n.member(key)
		if err != nil || next == nil {
			return nil, err
		}
		n = next
	}
	return n, nil
}

// indent is the white space that the line of a place begins with.
func (d *document) indent(at int) string {
	line := d.text[strings.LastIndexAny(d.text[:at], "\r\n")+1:]
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// first reports whether nothing but white space stands before a place in its line.
func (d *document) first(at int) bool {
	start := strings.LastIndexAny(d.text[:at], "\r\n") + 1
	return start > 0 && strings.TrimLeft(d.text[start:at], " \t") == ""
}

// put adds an item at the end of a container, and makes the containers on the way to it that are not there.
func (d *document) put(path []string, array bool, text string) error {
	for n := len(path); ; n-- {
		c, err := d.at(path[:n])
		if err != nil {
			return err
		}
		if c == nil {
			open, shut := "{", "}"
			if n == len(path) && array {
				open, shut = "[", "]"
			}
			text = encode(path[n-1]) + ": " + open + text + shut
			continue
		}
		list := n == len(path) && array
		switch {
		case list && c.kind != '[':
			return fmt.Errorf("%s is no list", strings.Join(path[:n], "."))
		case !list && c.kind != '{':
			return fmt.Errorf("%s is no object", strings.Join(path[:n], "."))
		}
		d.add(c, text)
		return d.reread()
	}
}

// add puts an item behind the last one of a container.
func (d *document) add(c *node, text string) {
	shut := c.end - 1
	at := shut
	for isSpace(d.text[at-1]) {
		at--
	}
	outer := d.indent(c.start)
	if len(c.items) == 0 && d.new && c == d.root {
		d.text = "{" + text + "}\n"
		return
	}
	if len(c.items) == 0 {
		d.text = d.text[:at] + d.nl + outer + d.unit + text + d.nl + outer + d.text[at:]
		return
	}
	last := c.items[len(c.items)-1]
	in := outer + d.unit
	if d.first(last.start) {
		in = d.indent(last.start)
	}
	if c.comma >= 0 {
		d.text = d.text[:at] + d.nl + in + text + "," + d.text[at:]
		return
	}
	end := last.value.end
	d.text = d.text[:end] + "," + d.text[end:at] + d.nl + in + text + d.text[at:]
}

// drop takes one item of a container out, with the comma and the line that came with it.
func (d *document) drop(c *node, i int) error {
	it := c.items[i]
	from, to := it.start, it.value.end
	for isSpace(d.text[from-1]) {
		from--
	}
	made := c.items[0].start == c.start+1
	comma := it.comma
	if i == len(c.items)-1 {
		comma = c.comma
	}
	switch {
	case comma >= 0:
		d.text = d.text[:from] + d.text[to:comma] + d.text[comma+1:]
	case i > 0:
		comma = c.items[i-1].comma
		d.text = d.text[:comma] + d.text[comma+1:from] + d.text[to:]
	default:
		rest := d.text[to:]
		if !made {
			rest = strings.TrimPrefix(rest, d.nl+d.indent(c.start))
		}
		d.text = d.text[:from] + rest
	}
	return d.reread()
}

// made reports whether a container is one of those that put makes: its first item stands directly behind its
// bracket.
func (n *node) made() bool {
	return n != nil && (n.kind == '{' || n.kind == '[') && len(n.items) > 0 && n.items[0].start == n.start+1
}

// spot is one place where items of parley may stand.
type spot struct {
	path  []string
	array bool
	// ours tells an item of parley from others.
	ours func(d *document, i item) bool
	// within, if set, tells the handlers of parley in a group of somebody else.
	within func(d *document, i item) []int
}

// among are the handlers of parley in a group of somebody else.
func (s spot) among(d *document, i item) []int {
	if s.within == nil {
		return nil
	}
	return s.within(d, i)
}

// part takes parley's handlers out of the groups of others at a place, which keep theirs.
func (d *document) part(s spot) error {
	for at := 0; ; {
		c, err := d.at(s.path)
		if err != nil || c == nil || at >= len(c.items) {
			return err
		}
		ours := s.among(d, c.items[at])
		if len(ours) == 0 {
			at++
			continue
		}
		list, err := c.items[at].value.member("hooks")
		if err != nil {
			return err
		}
		if err := d.drop(list, ours[len(ours)-1]); err != nil {
			return err
		}
	}
}

// remove takes every item of parley out of some places, and the containers that put made for them: the last place
// first, so that each step finds the text as put left it.
func (d *document) remove(spots []spot) error {
	made, err := d.madeAt(spots)
	if err != nil {
		return err
	}
	for _, s := range slices.Backward(spots) {
		if err := d.part(s); err != nil {
			return err
		}
		for {
			c, err := d.at(s.path)
			if err != nil {
				return err
			}
			i := -1
			if c != nil {
				for at := len(c.items) - 1; at >= 0 && i < 0; at-- {
					if s.ours(d, c.items[at]) {
						i = at
					}
				}
			}
			if i < 0 {
				break
			}
			if err := d.drop(c, i); err != nil {
				return err
			}
		}
		if err := d.collapse(s.path, made); err != nil {
			return err
		}
	}
	return nil
}

// madeAt finds the containers on the way to some places that put made.
func (d *document) madeAt(spots []spot) (map[string]bool, error) {
	made := map[string]bool{}
	for _, s := range spots {
		for n := range len(s.path) + 1 {
			c, err := d.at(s.path[:n])
			if err != nil {
				return nil, err
			}
			made[strings.Join(s.path[:n], "\x00")] = c.made()
		}
	}
	return made, nil
}

// collapse takes the containers on a path out that put made and that are empty again, the innermost first.
func (d *document) collapse(path []string, made map[string]bool) error {
	for n := len(path); n > 0; n-- {
		c, err := d.at(path[:n])
		if err != nil {
			return err
		}
		if c == nil {
			continue
		}
		if len(c.items) > 0 || !made[strings.Join(path[:n], "\x00")] {
			return nil
		}
		outer, err := d.at(path[:n-1])
		if err != nil {
			return err
		}
		i := slices.IndexFunc(outer.items, func(i item) bool { return i.key == path[n-1] })
		if err := d.drop(outer, i); err != nil {
			return err
		}
	}
	return nil
}
