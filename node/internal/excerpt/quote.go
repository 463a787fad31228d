package excerpt

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/parley-mesh/parley/ledger"
)

// Plain is a line in which every character is seen and moves nothing: control and format characters, those that turn the
// direction of writing among them, ends of lines, characters for private use and what is no UTF-8 become U+FFFD. Tabs stay.
func Plain(line string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && (r == utf8.RuneError || unicode.In(r, unicode.C, unicode.Zl, unicode.Zp) || unicode.Is(unicode.Variation_Selector, r)) {
			return utf8.RuneError
		}
		return r
	}, line)
}

// clip is as much of a text as so many bytes hold, with an ellipsis where something is left out.
func clip(s string, most int) string {
	const more = "…"
	if len(s) <= most {
		return s
	}
	n := most - len(more)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + more
}

// QuoteBytes is how much of one line a quotation has.
const QuoteBytes = 160

// Quote is a file's lines as a quotation of at most so many lines: every one behind a bar and with its number, so that nothing
// of it looks like a line of parley's own. The lines that are around a change go first where there are too many.
func Quote(f *ledger.LinesFile, most int) string {
	var b strings.Builder
	left, total := most, 0
	changed := 0
	for _, p := range f.Parts {
		total += len(p.Texts)
		for _, text := range p.Texts {
			if text[0] == ledger.LineChanged {
				changed++
			}
		}
	}
	bare := total > most && changed > 0
	for _, p := range f.Parts {
		for i, text := range p.Texts {
			if left == 0 || bare && text[0] != ledger.LineChanged {
				continue
			}
			fmt.Fprintf(&b, "  | %d %c %s\n", p.Start+uint64(i), text[0], clip(Plain(text[1:]), QuoteBytes))
			left--
		}
	}
	if f.Cut || total > most {
		b.WriteString("  | …\n")
	}
	return b.String()
}
