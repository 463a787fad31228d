package code

import (
	"bytes"
	"regexp"
)

// What released grammars cannot read yet, and what may be blanked or replaced by as many octets without a
// change of meaning for anything that is kept: the first group is what is covered.
var (
	maskVariance  = regexp.MustCompile(`[<,](?:\s|/\*+[^*]*\*+/)*(?:const\s+)?((?:in\s+out|in|out))\s+[A-Za-z_$][\w$]*\s*(?:[,>=]|extends\b)`)
	maskTypeStar  = regexp.MustCompile(`\bexport\s+(type)\s*\*`)
	maskDefer     = regexp.MustCompile(`\bimport\s+(defer)\s+\*`)
	maskAccessor  = regexp.MustCompile(`(?m)(?:^|[{;}])\s*(?:(?:public|private|protected|static|override|readonly|declare|abstract|@[\w.]+(?:\(\))?)\s+)*(accessor)\s+[#\w$]`)
	maskWith      = regexp.MustCompile(`\bfrom\s*(?:"[^"\n]*"|'[^'\n]*')\s*(with\s*\{[^}\n]*\})`)
	maskQuery     = regexp.MustCompile(`[?&][\w.%-]+=[^"'&\s<>]*(&)[\w.%-]+=`)
	maskText      = regexp.MustCompile(`>[^<>{}&\n]*(&)[^#\w]`)
	maskCall      = regexp.MustCompile(`(?m)^[ \t]*([ \t])<(?:(?:const[ \t]+)?[A-Za-z_$]|\r?$)`)
	maskMember    = regexp.MustCompile(`(?m)(?:^|[{;}\s])(accessor)\s*[=;(:?!]`)
	maskLazy      = regexp.MustCompile(`(?m)^[ \t]*(lazy)[ \t]+(?:import|from)\b`)
	maskTemplate  = regexp.MustCompile(`(?:^|[^\w"'])([tT])[rR]?["']`)
	maskTypeParam = regexp.MustCompile(`\b(?:class|def|type)\s+\w+\s*\[[^\]\n=]*?(=\s*[\w.]+(?:\[[^\]\n=]*\])?)`)
	maskUsing     = regexp.MustCompile(`(?m)^[ \t]*(?:await[ \t]+)?(using)[ \t]+[A-Za-z_$][\w$]*[ \t]*=`)
)

// mask covers known blind spots of a dialect. Offsets stay as they are; nil says that there is nothing to
// cover.
func mask(d dialect, src []byte) []byte {
	out := bytes.Clone(src)
	switch d {
	case dialectTS, dialectTSX, dialectJS:
		for _, m := range []*regexp.Regexp{maskVariance, maskTypeStar, maskDefer, maskAccessor, maskWith} {
			blank(out, m, ' ')
		}
		replace(out, maskMember, "accessoR")
		if d == dialectTS { // call signatures that no semicolon tells apart
			replace(out, maskCall, ";")
		}
		if d == dialectJS {
			replace(out, maskUsing, "const")
		}
	case dialectPy:
		blank(out, maskLazy, ' ')
		replace(out, maskTemplate, "f")
		blank(out, maskTypeParam, ' ')
	}
	if bytes.Equal(out, src) {
		return nil
	}
	return out
}

// maskJSX covers ampersands in the text and the attributes of JSX, which elsewhere are operators.
func maskJSX(d dialect, src []byte) []byte {
	if d != dialectTSX && d != dialectJS {
		return nil
	}
	out := bytes.Clone(src)
	blank(out, maskQuery, ' ')
	blank(out, maskText, ' ')
	if bytes.Equal(out, src) {
		return nil
	}
	return out
}

// blank overwrites the first group of every match, also of those that overlap.
func blank(out []byte, m *regexp.Regexp, with byte) {
	for at := 0; at < len(out); {
		found := m.FindSubmatchIndex(out[at:])
		if found == nil {
			return
		}
		for i := at + found[2]; i < at+found[3]; i++ {
			if out[i] != '\n' && out[i] != '\r' {
				out[i] = with
			}
		}
		at += max(found[3], found[0]+1)
	}
}

// replace writes a word of the same length over the first group of every match.
func replace(out []byte, m *regexp.Regexp, with string) {
	for _, found := range m.FindAllSubmatchIndex(out, -1) {
		if found[3]-found[2] == len(with) {
			copy(out[found[2]:found[3]], with)
		}
	}
}

var conflictMark = regexp.MustCompile(`(?m)^(?:<{7}|>{7}|\|{7})(?:[ \t].*)?\r?$|^={7}\r?$`)

// unmark blanks the markers that a merge left, so that what stands around and between them can be read. The
// file is no clean one, whatever a parser then says.
func unmark(src []byte) (out []byte, marked bool) {
	if !bytes.Contains(src, []byte("<<<<<<<")) || !bytes.Contains(src, []byte(">>>>>>>")) {
		return src, false
	}
	out = bytes.Clone(src)
	for _, at := range conflictMark.FindAllIndex(src, -1) {
		for i := at[0]; i < at[1]; i++ {
			if out[i] != '\r' {
				out[i] = ' '
			}
		}
		marked = true
	}
	return out, marked
}
