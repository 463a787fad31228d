package main

import (
	"fmt"
	"path"
	"regexp"
	"slices"
)

// unwanted are words that may not stand in files of the given extensions; no
// extension means every text file. The word is the pattern's one group, and is
// put together from parts where it would otherwise find itself.
var unwanted = []struct {
	pattern    *regexp.Regexp
	extensions []string
	why        string
}{
	{
		pattern:    regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\b`),
		extensions: []string{".go", ".md"},
		why:        "finish it or leave it out",
	},
	{
		pattern: regexp.MustCompile(`(?:^|[^\w.-])(/wo` + `rk/|\.\./sha` + `red)`),
		why:     elsewhere,
	},
	{
		pattern: regexp.MustCompile(`(?i)\b(spi` + `kes?)\b`),
		why:     elsewhere,
	},
}

const elsewhere = "the repository does not speak of the place where it was made"

// checkWords looks for unwanted words line by line.
func checkWords(t *tree) (found []finding) {
	for _, text := range t.texts {
		for _, u := range unwanted {
			if u.extensions != nil && !slices.Contains(u.extensions, path.Ext(text.name)) {
				continue
			}
			for i, line := range text.lines {
				if match := u.pattern.FindStringSubmatch(line); match != nil {
					found = append(found, finding{
						file: text.name, line: i + 1, message: fmt.Sprintf("%q: %s", match[1], u.why),
					})
				}
			}
		}
	}
	return found
}
