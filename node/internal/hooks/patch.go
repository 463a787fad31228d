package hooks

import (
	"slices"
	"strings"
)

// patchHeads start the lines of a patch for apply_patch that name files. A file that moves has two names, and
// both are edited.
var patchHeads = []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "}

// patchPaths are the files that a patch names, in the order of the patch. A text without a patch names none; a
// command that holds one is read like the patch itself.
func patchPaths(s string) []string {
	_, patch, ok := strings.Cut(s, "*** Begin Patch")
	if !ok {
		return nil
	}
	var out []string
	for line := range strings.Lines(patch) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, "*** End Patch") || len(out) > pathsMax {
			break
		}
		for _, h := range patchHeads {
			if p, ok := strings.CutPrefix(line, h); ok {
				if p = strings.TrimSpace(p); p != "" && !slices.Contains(out, p) {
					out = append(out, p)
				}
			}
		}
	}
	return out
}
