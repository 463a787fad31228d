package install

import "strings"

// The marks around parley's part of a file that is no JSON.
const (
	blockFrom = "# >>> parley >>>"
	blockTo   = "# <<< parley <<<"
)

// blockAt finds parley's part, from its first mark to the end of its last line.
func blockAt(text string) (from, to int, ok bool) {
	for at := 0; ; {
		i := strings.Index(text[at:], blockFrom)
		if i < 0 {
			return 0, 0, false
		}
		from = at + i
		if from == 0 || text[from-1] == '\n' {
			break
		}
		at = from + 1
	}
	i := strings.Index(text[from:], "\n"+blockTo)
	if i < 0 {
		return 0, 0, false
	}
	to = from + i + 1 + len(blockTo)
	to += len(text[to:]) - len(strings.TrimPrefix(strings.TrimPrefix(text[to:], "\r"), "\n"))
	return from, to, true
}

// blockOf is parley's part without its marks.
func blockOf(text string) (string, bool) {
	from, to, ok := blockAt(text)
	if !ok {
		return "", false
	}
	_, in, _ := strings.Cut(text[from:to], "\n")
	in, _, _ = strings.Cut(in, blockTo)
	return in, true
}

// cutBlock is the text without parley's part and the line end before it, which stays where two lines would become one.
func cutBlock(text string) (string, bool) {
	from, to, ok := blockAt(text)
	if !ok {
		return text, false
	}
	before := text[:from]
	if short := strings.TrimSuffix(strings.TrimSuffix(before, "\n"), "\r"); text[to:] != "" && short != "" && !strings.HasSuffix(short, "\n") {
		return before + text[to:], true
	}
	if strings.HasPrefix(text[from+len(blockFrom):], "\r\n") {
		before = strings.TrimSuffix(before, "\r\n")
	} else {
		before = strings.TrimSuffix(before, "\n")
	}
	return before + text[to:], true
}

// putBlock replaces parley's part where it stands, or adds it at the end, behind one line end more than was there:
// so a text without a last line end comes back without one.
func putBlock(text, block string, exists bool) string {
	nl := "\n"
	if strings.Contains(text, "\r\n") {
		nl = "\r\n"
	}
	block = strings.ReplaceAll(blockFrom+"\n"+block+blockTo+"\n", "\n", nl)
	if from, to, ok := blockAt(text); ok {
		return text[:from] + block + text[to:]
	}
	if !exists {
		return block
	}
	return text + nl + block
}
