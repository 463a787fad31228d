package install

import (
	"slices"
	"strings"
)

// freed is a text whose tables of others stand behind parley's part and no more in it. Codex adds its tables behind the
// last one, which is before parley's second mark where that ends the text; so what it remembers of projects, servers and
// trust comes to stand between the marks. own tells parley's tables by their first line and the rest of them.
func freed(text string, own func(head, body string) bool) string {
	from, to, ok := blockAt(text)
	if !ok {
		return text
	}
	lines := strings.SplitAfter(text[from:to], "\n")
	last := len(lines) - 1
	for !strings.HasPrefix(lines[last], blockTo) {
		last--
	}
	var ours, theirs strings.Builder
	ours.WriteString(lines[0])
	for _, t := range tables(lines[1:last]) {
		if len(t) == 0 {
			continue
		}
		at := slices.IndexFunc(t, isHead)
		if at < 0 && !slices.ContainsFunc(t, isComment) || at >= 0 && own(strings.TrimSpace(t[at]), strings.TrimSpace(strings.Join(t[at+1:], ""))) {
			ours.WriteString(strings.Join(t, ""))
		} else {
			theirs.WriteString(strings.Join(t, ""))
		}
	}
	if theirs.Len() == 0 {
		return text
	}
	ours.WriteString(strings.TrimRight(lines[last], "\r\n"))
	nl := "\n"
	if strings.HasSuffix(lines[0], "\r\n") {
		nl = "\r\n"
	}
	return text[:from] + ours.String() + nl + theirs.String() + text[to:]
}

// tables splits lines before each table, with the empty lines and the comments above it. The last part is the comments
// below all of them.
func tables(lines []string) (out [][]string) {
	var now, above []string
	for _, l := range lines {
		switch {
		case isHead(l):
			out = append(out, now)
			now, above = append(above, l), nil
		case strings.TrimSpace(l) == "" || isComment(l):
			above = append(above, l)
		default:
			now = append(append(now, above...), l)
			above = nil
		}
	}
	return append(out, now, above)
}

func isHead(line string) bool    { return strings.HasPrefix(strings.TrimSpace(line), "[") }
func isComment(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "#") }

// ownTable tells the tables that parley writes into config.toml: its server, and the trust of its hooks. known are the
// keys of hooks that are parley's besides those told by their hash.
func (o Options) ownTable(hooksPath string, known []trusted) func(head, body string) bool {
	var hashes []string
	for _, e := range o.codexEntries() {
		if hash, err := codexHash(e.label, e.text); err == nil {
			hashes = append(hashes, hash)
		}
	}
	return func(head, body string) bool {
		if head == "[mcp_servers."+serverName+"]" {
			return true
		}
		hash, ok := strings.CutPrefix(body, `trusted_hash = "`)
		hash, whole := strings.CutSuffix(hash, `"`)
		if !ok || !whole || strings.ContainsAny(hash, "\"\n") || !strings.HasPrefix(head, "[hooks.state."+strings.TrimSuffix(encode(hooksPath), `"`)+":") {
			return false
		}
		return slices.Contains(hashes, hash) || slices.ContainsFunc(known, func(t trusted) bool { return head == "[hooks.state."+encode(t.key)+"]" })
	}
}
