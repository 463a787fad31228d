package code

import (
	"path"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// A URL in which a constant or a client of another file stands waits until that file is at hand. Until then a mark stands in
// its place: markOpen, how sure it is to be something of a URL, mod:<module>#<name>, markClose. The target of such a request
// is url:<method> <url>.
const (
	markOpen  = '\x02'
	markClose = '\x03'

	markConstant = '='
	markLeading  = '^' // a constant: unless it is known, nothing before it counts
	markClient   = '!' // it may well be no client at all: unless it is one there is no request
	markLikely   = '?' // it is called as clients are
)

func mark(sort byte, target string) string {
	return string([]byte{markOpen, sort}) + target + string(rune(markClose))
}

// url is as str, with marks for what other files say.
func (s *scan) url(i int) (text string, known bool) {
	s.marks = true
	defer func() { s.marks = false }()
	return s.str(i)
}

// imported is what a name, or a member of what a name stands for, is in another module: mod:<module>#<name>; "" for all else.
func (s *scan) imported(i int) string {
	text := s.text(i)
	if s.is(i, "subscript_expression") && s.propertyName(i) != "" {
		text = s.text(s.child(i, "object")) + "." + s.propertyName(i)
	}
	first, rest, _ := strings.Cut(text, ".")
	b, ok := s.bound[first]
	if !ok || b.name == "" || len(text) > 100 || strings.ContainsAny(text, "()[]?! \n") || s.hidden(first, i) {
		return ""
	}
	name := strings.Trim(b.name+"."+rest, ".")
	if b.name == "*" {
		name = rest
	}
	if name == "" {
		return ""
	}
	return target(b.module, name)
}

// What a file says to others of its constants.
const (
	constantsMax = 200 // of them
	constantMax  = 300 // octets of each
)

// constants notes what exported constants and clients of HTTP hold, for the URLs of other files.
func (s *scan) constants() {
	for name, value := range sorted(s.values) {
		if i, ok := s.index[s.id(name)]; ok && (s.unit.Symbols[i].Exported || s.dialect == dialectPy || s.passes(name)) {
			s.constant(name, value, 2)
		}
	}
	for c := range s.items(0) { // export default axios.create({…})
		if s.is(c, "export_statement") && s.is(s.child(c, "value"), "call_expression") {
			s.constant("default", s.child(c, "value"), 0)
		}
	}
}

// passes reports whether the file exports a name of its own by a list.
func (s *scan) passes(name string) bool {
	for _, e := range s.unit.Exports {
		if e.Name == name && e.Module == "" {
			return true
		}
	}
	return false
}

// constant notes one value, and those of an object's entries.
func (s *scan) constant(name string, value, deep int) {
	value = s.unfrozen(s.unwrap(value))
	var v detect.Value
	switch s.kind(value) {
	case "string", "string_literal", "raw_string_literal", "field_access", "scoped_identifier", "reference_expression", "template_string", "ternary_expression", "binary_expression", "binary_operator", "concatenated_string", "new_expression", "identifier", "member_expression", "attribute":
		text, known := s.url(value)
		if !known {
			return
		}
		v.Text = text
	case "call_expression", "call":
		if options := s.createdRoute(value); options >= 0 && deep > 0 {
			s.constant(name, options, deep-1)
			return
		}
		base, sure, ok := s.clientMade(value)
		if !ok || !sure {
			return
		}
		v.Text, v.Client = base, true
	case "object", "enum_declaration":
		for key, entry := range s.entries(value) {
			if deep > 0 && !s.is(entry, "shorthand_property_identifier", "method_definition") {
				s.constant(name+"."+key, entry, deep-1)
			}
		}
		return
	default:
		return
	}
	if v.Name = name; len(v.Text) <= constantMax && !strings.ContainsAny(v.Text, " \n") && len(s.unit.Values) < constantsMax {
		s.unit.Values = append(s.unit.Values, v)
	}
}

// clientMade is the base URL of a client of HTTP that a call makes.
func (s *scan) clientMade(call int) (base string, sure, ok bool) {
	s.marks = true
	defer func() { s.marks = false }()
	if s.dialect == dialectPy {
		return s.pythonClientMade(call)
	}
	return s.madeClient(call)
}

// requestOf is the request that a reference is about, once the files of its marks are at hand. It is not ok if what was taken
// for a client is none, or nothing of the URL is known.
func (r *resolver) requestOf(u *detect.Unit, ref detect.Reference) (detect.Reference, bool) {
	method, url, _ := strings.Cut(strings.TrimPrefix(ref.Target, "url:"), " ")
	r.steps = marksMax
	text, sure, ok := r.unmark(u, url, linksMax)
	if !ok {
		return ref, false
	}
	if at := strings.LastIndex(text, "://"); at > 0 { // a whole URL counts whatever base stands before it
		text = text[strings.LastIndexByte(text[:at], '/')+1:]
	}
	for strings.HasPrefix(text, "{}{}") || strings.HasPrefix(text, "{}/{}/") {
		text = strings.TrimPrefix(text[len("{}"):], "/")
	}
	ref.Target, ref.Tail, ok = request(method, text)
	ref.Sure = ref.Sure && sure && !ref.Tail
	return ref, ok
}

// marksMax is how many marks one URL may be made of, those in the constants of its constants too.
const marksMax = 200

// unmark puts in what other files say; {} for what they do not. It gives up what grows longer than a URL.
func (r *resolver) unmark(u *detect.Unit, url string, left int) (text string, sure, ok bool) {
	sure = true
	for {
		before, rest, marked := strings.Cut(url, string(rune(markOpen)))
		if text += before; len(text) > urlMax {
			return "", false, false
		}
		if !marked {
			return text, sure, true
		}
		to, after, closed := strings.Cut(rest, string(rune(markClose)))
		if !closed || len(to) < 2 || !strings.HasPrefix(to[1:], "mod:") || strings.IndexByte(to, '#') < 0 {
			return "", false, false // the source itself has such an octet
		}
		part, found, known := r.outside(u, to[1:], to[0] == markClient || to[0] == markLikely, left)
		switch {
		case !known && to[0] == markLeading:
			text, part, sure = "", "{}", false
		case !known && to[0] == markClient:
			return "", false, false
		case !known:
			part, sure = "{}", false
		}
		sure = sure && found
		if strings.HasSuffix(part, "/") && strings.HasPrefix(after, "/") {
			after = after[1:]
		}
		text, url = text+part, after
	}
}

// outside is the value that a name of another module has, if that file is at hand and says it.
func (r *resolver) outside(u *detect.Unit, to string, client bool, left int) (text string, sure, known bool) {
	if r.steps--; left == 0 || r.steps < 0 {
		return "", false, false
	}
	at := strings.IndexByte(to, '#')
	first, rest, dotted := strings.Cut(to[at+1:], ".")
	id, _ := r.resolve(u, to[:at+1]+first)
	other := r.units[pathOf(id)]
	if other == nil || !strings.Contains(id, "#") {
		return "", false, false
	}
	name := nameOf(id)
	if dotted {
		name = strings.TrimPrefix(name+"."+rest, "*.")
	}
	for _, v := range other.Values {
		if v.Name == name && v.Client == client {
			return r.unmark(other, v.Text, left/2)
		}
	}
	return "", false, false
}

// unmarked is a path with what other files say of it, {} for what they do not.
func (r *resolver) unmarked(u *detect.Unit, path string) string {
	r.steps = marksMax
	if text, _, ok := r.unmark(u, path, linksMax); ok {
		return text
	}
	return "{}"
}

// Outside names the unchanged files whose constants and clients the URLs and routes of units are made of, those whose routers the
// units mount, and those through which units get names of others, as far as they are there and not among the units, ascending.
func (r *Reader) Outside(units []detect.Unit) []string {
	known := newResolver(&r.project, units)
	wanted := map[string]bool{}
	for i := range units {
		u := &units[i]
		for _, ref := range u.References {
			if strings.HasPrefix(ref.Target, "url:") {
				known.outsideOf(u, ref.Target, wanted)
			} else if !strings.HasPrefix(ref.Target, starMark) { // the import itself asks for its module
				known.leading(u, strings.Replace(ref.Target, memberMark, "mod:", 1), wanted)
			}
		}
		for _, v := range u.Values {
			known.outsideOf(u, v.Text, wanted)
		}
		for _, c := range u.Contracts {
			known.outsideOf(u, c.ID, wanted)
		}
		for _, m := range u.Mounts {
			known.outsideOf(u, m.Prefix, wanted)
			known.want(u, m.Router, wanted)
			known.want(u, m.Into, wanted)
		}
		for _, e := range u.Exports {
			if e.Local == "*" {
				known.leading(u, "mod:"+e.Module+"#*", wanted)
			}
		}
	}
	var all []string
	for p := range sorted(wanted) {
		all = append(all, p)
	}
	return all
}

// outsideOf adds the files of the marks in a text.
func (r *resolver) outsideOf(u *detect.Unit, text string, wanted map[string]bool) {
	for {
		_, rest, marked := strings.Cut(text, string(rune(markOpen)))
		to, after, closed := strings.Cut(rest, string(rune(markClose)))
		if !marked || !closed || to == "" {
			return
		}
		r.want(u, to[1:], wanted)
		text = after
	}
}

// want adds the file in which a name of another module stands.
func (r *resolver) want(u *detect.Unit, to string, wanted map[string]bool) {
	at := strings.IndexByte(to, '#')
	if at < 1 || !strings.HasPrefix(to, "mod:") {
		return
	}
	if u.Language == "go" {
		r.wantGo(u, to[len("mod:"):at], to[at+1:], wanted)
		return
	}
	first, _, _ := strings.Cut(to[at+1:], ".")
	id, _ := r.resolve(u, to[:at+1]+first)
	if u.Language == "java" && strings.HasPrefix(id, "pkg:") {
		id = r.javaBeside(u, to[len("mod:"):at], first)
	}
	if p := pathOf(id); strings.HasPrefix(id, "sym:") && r.units[p] == nil && r.has(p) {
		wanted[p] = true
	}
}

// leading adds the files through which a name of another module leads to where it is declared. Only files that are called
// as those are that stand for a folder are looked into: most others declare themselves what is imported from them.
func (r *resolver) leading(u *detect.Unit, to string, wanted map[string]bool) {
	r.unread = map[string]bool{}
	r.resolve(u, to)
	for file, direct := range r.unread {
		if (!direct || standsForFolder(file) || strings.HasSuffix(to, "#*")) && r.has(file) {
			wanted[file] = true
		}
	}
	r.unread = nil
}

// standsForFolder reports whether a file usually hands on what the others of its folder declare.
func standsForFolder(file string) bool {
	name, _, _ := strings.Cut(path.Base(file), ".")
	switch name {
	case "index", "__init__", "mod", "lib", "main":
		return true
	}
	return false
}
