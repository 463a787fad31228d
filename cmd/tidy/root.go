package main

import (
	"fmt"
	"slices"
	"strings"
)

// rootNames are what a reader sees first, besides dot-files.
var rootNames = []string{
	"node", "mesh", "ledger", "lanes", "conflicts", "detect", "cmd", "simnet",
	"go.mod", "go.sum", "README.md", "LICENSE",
}

// checkRoot keeps the root to rootNames. A name that is missing is no finding.
func checkRoot(t *tree) (found []finding) {
	for _, name := range t.shown {
		if !strings.HasPrefix(name, ".") && !slices.Contains(rootNames, name) {
			found = append(found, finding{
				file:    name,
				message: fmt.Sprintf("%s is not one of the root's names: %s", name, strings.Join(rootNames, " ")),
			})
		}
	}
	return found
}
