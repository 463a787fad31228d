package worktree

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// ValidPath judges whether parley may ever write this path (D-7). The rules are stricter than git's with
// core.protectHFS and core.protectNTFS both on, and the same on every system: a record that was made on one is
// followed on all.
func ValidPath(p string) error {
	if why := badPath(p); why != "" {
		return fmt.Errorf("path %q: %w: %s", p, ErrRefused, why)
	}
	return nil
}

func badPath(p string) string {
	switch {
	case p == "" || len(p) > 1024:
		return "empty or longer than 1024 bytes"
	case !utf8.ValidString(p):
		return "not UTF-8"
	case strings.ContainsFunc(p, func(r rune) bool { return r < 0x20 || r == 0x7f }):
		return "a control character"
	}
	for part := range strings.SplitSeq(p, "/") {
		if why := badComponent(part); why != "" {
			return why
		}
	}
	return ""
}

func badComponent(c string) string {
	folded := foldName(c)
	base, _, _ := strings.Cut(folded, ".")
	switch {
	case c == "" || c == "." || c == "..":
		return "an empty, . or .. component"
	case len(c) > 255:
		return "a component longer than 255 bytes"
	case strings.ContainsAny(c, `\:*?"<>|`): // a separator or a stream to Windows
		return "a character that Windows reserves"
	case strings.HasSuffix(c, " ") || strings.HasSuffix(c, "."): // Windows drops them
		return "a component that ends in a space or a dot"
	case folded == "git~1" || folded == ".git" || strings.HasPrefix(folded, ".git "):
		return "the git directory"
	case strings.HasPrefix(folded, ".git.") && strings.Trim(folded[4:], ". ") == "":
		return "the git directory"
	case folded == ".gitmodules" || folded == "gitmod~1":
		return "submodule settings"
	case deviceName(strings.TrimRight(base, " ")):
		return "a Windows device name"
	}
	return ""
}

func deviceName(s string) bool {
	switch s {
	case "con", "prn", "aux", "nul", "conin$", "conout$":
		return true
	}
	for _, port := range []string{"com", "lpt"} {
		if n, ok := strings.CutPrefix(s, port); ok && (len(n) == 1 && n >= "1" && n <= "9" || n == "¹" || n == "²" || n == "³") {
			return true
		}
	}
	return false
}

// foldName lower-cases a name and drops the code points that HFS+ does not see.
func foldName(c string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		switch {
		case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
			return -1
		}
		return r
	}, c))
}
