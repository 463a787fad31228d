package install

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

//go:embed plugin.js
var pluginText string

// pluginMark tells parley's plugin from a file of the same name.
const pluginMark = "// parley's plugin for opencode."

// skillMark tells parley's skills from others of the same name.
const skillMark = "<!-- parley skill -->"

var (
	//go:embed skills/parley/SKILL.md
	skillParley string
	//go:embed skills/sync-conflict-desk/SKILL.md
	skillDesk string
)

// pluginHome is the home that a plugin of parley asks; "" for every other file.
func pluginHome(text string) string {
	_, rest, _ := strings.Cut(text, "\nconst home = ")
	line, _, _ := strings.Cut(rest, "\n")
	var home string
	if json.Unmarshal([]byte(strings.TrimSpace(line)), &home) != nil {
		return ""
	}
	return home
}

// skills are those that parley brings, by name.
var skills = []struct{ name, text string }{{"parley", skillParley}, {"sync-conflict-desk", skillDesk}}

// ownFile is a file that is all parley's, told by a mark.
func ownFile(path, what, mark, text string) file {
	return file{
		path: path, what: what,
		put: func(old string, exists bool) (string, error) {
			if exists && !strings.Contains(old, mark) {
				return "", fmt.Errorf("is there already and is not parley's")
			}
			return text, nil
		},
		take: func(old string, of homes) (string, bool, error) {
			return old, strings.Contains(old, mark) && of.has(pluginHome(old)), nil
		},
	}
}

// skillFiles are the skills where an agent looks for them. All but Claude Code look in one place.
func (o Options) skillFiles(agent string) []file {
	dir, users := join(o.Home, ".agents"), sharers
	switch {
	case agent == Claude:
		dir, users = o.dir(Claude), []string{Claude}
	case o.Project != "":
		dir = join(o.Project, ".agents")
	}
	var out []file
	for _, s := range skills {
		f := ownFile(join(dir, "skills", s.name, "SKILL.md"), "skill "+s.name, skillMark, s.text)
		f.users = users
		out = append(out, f)
	}
	return out
}
