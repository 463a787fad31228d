package code

import (
	"regexp"
	"strings"
)

var percentVerb = regexp.MustCompile(`%[-+0-9.]*[sdrqvx]`)

// What looking through constants for one value may take: how many one behind the other, in all, and how long the text gets.
const (
	valuesMax   = 12
	stepsMax    = 2000
	valueOctets = urlMax
)

// text of a value before the program runs, with {} for every part that is not known. Known says that something
// of it is.
func (s *scan) str(i int) (text string, known bool) {
	s.budget = stepsMax
	return s.strIn(i, valuesMax)
}

func (s *scan) strIn(i, left int) (text string, known bool) {
	// What takes so much to write is no path, and each look at it would copy it.
	if i < 0 || left <= 0 || !s.step() || s.nodes[i].end-s.nodes[i].start > 8*valueOctets {
		return "{}", false
	}
	return short(s.spelled(i, left))
}

// short takes a value that is too long to be a path or a name for unknown: constants of constants grow without end.
func short(text string, known bool) (string, bool) {
	if len(text) > valueOctets {
		return "{}", false
	}
	return text, known
}

// spelled is the text of a value by its kind.
func (s *scan) spelled(i, left int) (text string, known bool) {
	switch s.kind(i) {
	case "string":
		if s.dialect == dialectPy {
			return s.pythonFormat(i, left)
		}
		text = s.text(i)
		return text[1 : len(text)-min(1, len(text)-1)], true
	case "string_literal", "raw_string_literal": // of Java and Rust
		return quotedText(s.text(i)), true
	case "field_access": // Paths.USERS
		if value, ok := s.values[s.text(i)]; ok {
			return s.strIn(value, left-1)
		}
		return s.markedAs(s.javaConstantOf(i))
	case "scoped_identifier": // paths::USERS
		name := s.rustConstantOf(i)
		if value, ok := s.values[name]; ok {
			return s.strIn(value, left-1)
		}
		return s.markedAs(name)
	case "reference_expression":
		return s.strIn(s.item(i, 0), left-1)
	case "template_string":
		return s.template(i, left)
	case "binary_expression", "binary_operator", "concatenated_string":
		if s.has(i, "%") {
			text, known = s.strIn(s.child(i, "left"), left-1)
			return percentVerb.ReplaceAllString(text, "{}"), known
		}
		if s.has(i, "&&") {
			if text, known = s.strIn(s.child(i, "right"), left-1); known && queryOnly(text) {
				return text, false
			}
			return "{}", false
		}
		return s.concat(i, left)
	case "call":
		return s.pythonCall(i, left)
	case "parenthesized_expression", "as_expression", "satisfies_expression", "non_null_expression", "await_expression", "await":
		return s.strIn(s.item(i, 0), left-1)
	case "identifier":
		if value, ok := s.values[s.text(i)]; ok && !s.hidden(s.text(i), i) {
			return s.strIn(value, left-1)
		}
		return s.marked(i)
	case "attribute":
		return s.marked(i)
	case "member_expression", "subscript_expression":
		if value := s.property(i, left); value >= 0 {
			return s.strIn(value, left-1)
		}
		return s.marked(i)
	case "ternary_expression":
		return s.either(s.child(i, "consequence"), s.child(i, "alternative"), left)
	case "conditional_expression":
		return s.either(s.item(i, 0), s.item(i, 2), left)
	case "new_expression":
		return s.newURL(i, left)
	case "call_expression":
		if f := s.child(i, "function"); s.is(f, "member_expression") && s.text(s.child(f, "property")) == "toString" {
			return s.strIn(s.child(f, "object"), left-1)
		}
	}
	return "{}", false
}

// newURL reads new URL(path, base).
func (s *scan) newURL(i, left int) (text string, known bool) {
	if s.text(s.child(i, "constructor")) != "URL" {
		return "{}", false
	}
	args := s.child(i, "arguments")
	text, known = s.strIn(s.item(args, 0), left-1)
	if base := s.item(args, 1); known && base >= 0 {
		prefix, _ := s.strIn(base, left-1)
		return origin(prefix) + text, true
	}
	return text, known
}

// marked is the mark of what another file says, if that is wanted.
func (s *scan) marked(i int) (text string, known bool) {
	return s.markedAs(s.imported(i))
}

// markedAs is the mark of a name of another module; that of none is not known.
func (s *scan) markedAs(to string) (text string, known bool) {
	if s.marks && strings.HasPrefix(to, "mod:") {
		return mark(markConstant, to), true
	}
	return "{}", false
}

// quotedText is what stands between the quotes of a string, escapes as they are written.
func quotedText(text string) string {
	text = strings.Trim(strings.TrimLeft(text, "brc"), "#")
	return strings.Trim(text, `"`)
}

// pythonFormat is the content of a string, with what stands in braces of a format worked out.
func (s *scan) pythonFormat(i, left int) (text string, known bool) {
	var b strings.Builder
	at, inside := s.nodes[i].start, false
	for c := range s.children(i) {
		if s.is(c, "interpolation") {
			inside = true
			b.Write(s.src[at:s.nodes[c].start])
			part, _ := s.strIn(s.item(c, 0), left-1)
			b.WriteString(part)
			at = s.nodes[c].end
		}
	}
	if !inside {
		return s.pythonString(i), true
	}
	b.Write(s.src[at:s.nodes[i].end])
	text = strings.Trim(strings.TrimLeft(b.String(), "rRbBuUfF"), `"'`)
	return text, strings.Trim(text, "{}") != ""
}

// pythonCall reads "…{}…".format(x), str(x) and urljoin(base, path).
func (s *scan) pythonCall(i, left int) (text string, known bool) {
	f, args := s.child(i, "function"), s.child(i, "arguments")
	switch name := s.text(f); {
	case s.is(f, "attribute") && s.text(s.child(f, "attribute")) == "format":
		return s.strIn(s.child(f, "object"), left-1)
	case name == "str":
		return s.strIn(s.item(args, 0), left-1)
	case strings.HasSuffix(name, "urljoin"):
		base, _ := s.strIn(s.item(args, 0), left-1)
		rest, ok := s.strIn(s.item(args, 1), left-1)
		return strings.TrimSuffix(base, "/") + "/" + strings.TrimPrefix(rest, "/"), ok
	}
	return "{}", false
}

// origin is the part of a URL before its path.
func origin(url string) string {
	at := strings.Index(url, "://")
	if at < 0 {
		return url
	}
	if slash := strings.IndexByte(url[at+3:], '/'); slash >= 0 {
		return url[:at+3+slash]
	}
	return url
}

// template joins the parts of a template string.
func (s *scan) template(i, left int) (text string, known bool) {
	var b strings.Builder
	at := s.nodes[i].start + 1
	for c := range s.children(i) {
		if !s.is(c, "template_substitution") {
			continue
		}
		b.Write(s.src[at:max(at, s.nodes[c].start)])
		part, _ := s.strIn(s.item(c, 0), left-1)
		b.WriteString(part)
		at = s.nodes[c].end
	}
	end := max(at, s.nodes[i].end-1)
	b.Write(s.src[at:min(end, s.nodes[i].end)])
	text = b.String()
	return text, strings.Trim(text, "{}") != ""
}

func (s *scan) concat(i, left int) (text string, known bool) {
	if !s.is(i, "concatenated_string") && !s.has(i, "+") {
		return "{}", false
	}
	for c := range s.items(i) {
		part, ok := s.strIn(c, left-1)
		if text, known = text+part, known || ok; len(text) > valueOctets {
			break
		}
	}
	return text, known
}
