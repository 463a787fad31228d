// Package excerpt cuts the lines that an edit changed, with a few around, out of a file, for a person's or an agent's eyes
// on another computer of the same developer. It says what is never shown, and makes of what came from elsewhere a
// quotation that can be nothing else.
package excerpt

import (
	"bytes"
	"cmp"
	"crypto/sha1"
	"crypto/sha256"
	"fmt"
	"hash"
	"slices"
	"unicode/utf8"

	"github.com/parley-mesh/parley/ledger"
)

// FileMax is the largest file of which lines are shown, in bytes, and Around how many lines beside a change.
const (
	FileMax = 1 << 20
	Around  = 3
)

// Shown reports whether an edit is one of which lines may be shown: of a file of text that somebody writes by hand.
func Shown(e *ledger.Edit) bool {
	regular := e.Mode == 0o100644 || e.Mode == 0o100755
	return (e.Op == ledger.EditModify || e.Op == ledger.EditAdd || e.Op == ledger.EditRename) && regular && !e.Binary && e.Made == 0 &&
		e.Blob != "" && !Secret(string(e.Path)) && !Secret(string(e.From))
}

// span are lines of a file, counted from 0, that gave way to others there.
type span struct {
	start, end uint64
	away       uint64 // from the line that is of interest
}

// Of cuts the lines of an edit out of what its file holds, those first that are near a line of the base. None, where the
// content is not the one that the edit names by its git id, is no text, or holds what looks like a secret.
func Of(content []byte, e *ledger.Edit, near uint64) (out ledger.LinesFile, ok bool) {
	out = ledger.LinesFile{Path: e.Path, Blob: e.Blob, Cut: e.Cut}
	if !Shown(e) || len(content) > FileMax || !utf8.Valid(content) || bytes.IndexByte(content, 0) >= 0 || secretText(content) {
		return out, false
	}
	for _, text := range [][]byte{content, bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))} {
		if blobID(text, len(e.Blob)) == e.Blob {
			lines := slices.Collect(bytes.Lines(text))
			out.Parts, out.Cut = cut(lines, spansOf(lines, e, near), out.Cut)
			return out, len(out.Parts) > 0
		}
	}
	return out, false
}

// spansOf are the changed lines of the content that an edit names.
func spansOf(lines [][]byte, e *ledger.Edit, near uint64) (all []span) {
	if e.Op == ledger.EditAdd {
		return []span{{0, uint64(len(lines)), 0}}
	}
	shift := int64(0)
	for _, h := range e.Hunks {
		start := int64(h.OldStart) + shift
		end := start + int64(h.NewLen)
		if start < 0 || end > int64(len(lines)) {
			return nil
		}
		all = append(all, span{uint64(start), uint64(end), apart(near, uint64(h.OldStart), uint64(h.OldStart)+uint64(h.OldLen))})
		shift += int64(h.NewLen) - int64(h.OldLen)
	}
	return all
}

// apart is how far a line lies from a range of lines.
func apart(line, start, end uint64) uint64 {
	switch {
	case line < start:
		return start - line
	case line >= end:
		return line - end
	}
	return 0
}

// blobID is the id that git gives to a content, of so many bytes.
func blobID(content []byte, size int) ledger.OID {
	var h hash.Hash = sha1.New()
	if size == sha256.Size {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", len(content))
	_, _ = h.Write(content)
	return ledger.OID(h.Sum(nil))
}

// cut takes the nearest spans with what is around them, as far as they fit into an answer.
func cut(lines [][]byte, spans []span, already bool) (parts []ledger.LinesPart, was bool) {
	was = already || len(spans) > ledger.LinesPartsMax
	changed := func(i uint64) bool {
		return slices.ContainsFunc(spans, func(s span) bool { return s.start <= i && i < s.end })
	}
	order := slices.Clone(spans)
	slices.SortStableFunc(order, func(a, b span) int { return cmp.Compare(a.away, b.away) })
	texts, size := map[uint64]string{}, 0
	for _, s := range order[:min(len(order), ledger.LinesPartsMax)] {
		from := s.start - min(s.start, Around)
		for i := from; i < min(s.end+Around, uint64(len(lines))); i++ {
			if _, there := texts[i]; there {
				continue
			}
			text, whole := marked(lines[i], changed(i))
			if was = was || !whole; len(texts) == ledger.LinesMax || size+len(text) > ledger.LinesFileMax {
				return partsOf(texts), true
			}
			texts[i], size = text, size+len(text)
		}
	}
	return partsOf(texts), was
}

// marked is a line as it is sent, and whether it is all of it.
func marked(line []byte, changed bool) (text string, whole bool) {
	mark := string(rune(ledger.LineAround))
	if changed {
		mark = string(rune(ledger.LineChanged))
	}
	text = mark + Plain(string(bytes.TrimRight(line, "\r\n")))
	short := clip(text, ledger.LineBytesMax)
	return short, short == text
}

func partsOf(texts map[uint64]string) (parts []ledger.LinesPart) {
	var at []uint64
	for i := range texts {
		at = append(at, i)
	}
	slices.Sort(at)
	for n, i := range at {
		if n == 0 || at[n-1]+1 != i {
			parts = append(parts, ledger.LinesPart{Start: i + 1})
		}
		p := &parts[len(parts)-1]
		p.Texts = append(p.Texts, texts[i])
	}
	return parts
}
