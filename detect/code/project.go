package code

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	goModule  = regexp.MustCompile(`(?m)^module[ \t]+"?([^\s"]+)`)
	cargoName = regexp.MustCompile(`(?ms)^\[package\][^\[]*?^name[ \t]*=[ \t]*"([^"]+)"`)
)

// Manifest reports whether a file says how names of modules are to be understood, so that [Discover] wants it.
func Manifest(file string) bool {
	switch base := path.Base(file); base {
	case "go.mod", "package.json", "Cargo.toml", "jsconfig.json":
		return !strings.Contains(file, "node_modules/")
	default:
		return strings.HasPrefix(base, "tsconfig") && strings.HasSuffix(base, ".json")
	}
}

// Discover reads a project from the paths of a repository. Read gives the content of a manifest, nil where it
// cannot; a manifest that makes no sense is passed over.
func Discover(paths []string, read func(path string) []byte) Project {
	known := make(map[string]bool, len(paths))
	for _, p := range paths {
		known[p] = true
	}
	project := Project{
		Has:       func(p string) bool { return known[p] },
		GoModules: map[string]string{}, Packages: map[string]string{}, Aliases: map[string]string{},
	}
	for _, p := range slices.Sorted(slices.Values(paths)) {
		if Manifest(p) {
			project.manifest(p, read(p))
		}
	}
	return project
}

func (p *Project) manifest(file string, content []byte) {
	dir := folder(file)
	switch path.Base(file) {
	case "go.mod":
		if found := goModule.FindSubmatch(content); found != nil {
			p.GoModules[dir] = string(found[1])
		}
	case "Cargo.toml":
		if found := cargoName.FindSubmatch(content); found != nil {
			p.Packages[string(found[1])] = dir
		}
	case "package.json":
		var manifest struct{ Name string }
		if json.Unmarshal(content, &manifest) == nil && manifest.Name != "" && dir != "" {
			p.Packages[manifest.Name] = dir
		}
	default:
		p.tsconfig(dir, content)
	}
}

// tsconfig reads the paths of a configuration of TypeScript. The first target of a pattern counts.
func (p *Project) tsconfig(dir string, content []byte) {
	var config struct {
		CompilerOptions struct {
			BaseURL string `json:"baseUrl"`
			Paths   map[string][]string
		}
	}
	if json.Unmarshal(plainJSON(content), &config) != nil {
		return
	}
	for pattern, targets := range config.CompilerOptions.Paths {
		prefix, star := strings.CutSuffix(pattern, "*")
		if len(targets) == 0 || !star || prefix == "" {
			continue
		}
		to := path.Join(dir, config.CompilerOptions.BaseURL, strings.TrimSuffix(targets[0], "*"))
		if _, taken := p.Aliases[prefix]; !taken {
			p.Aliases[prefix] = to
		}
	}
}

// plainJSON takes comments and trailing commas out of JSON as people write it.
func plainJSON(content []byte) []byte {
	out := make([]byte, 0, len(content))
	for i := 0; i < len(content); i++ {
		switch c := content[i]; {
		case c == '"':
			end := i + 1
			for end < len(content) && content[end] != '"' {
				if content[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end, len(content)-1)
			out = append(out, content[i:end+1]...)
			i = end
		case c == '/' && i+1 < len(content) && content[i+1] == '/':
			for i+1 < len(content) && content[i+1] != '\n' {
				i++
			}
		case c == '/' && i+1 < len(content) && content[i+1] == '*':
			for i += 2; i+1 < len(content) && (content[i] != '*' || content[i+1] != '/'); {
				i++
			}
			i++
		case c == '}' || c == ']':
			for len(out) > 0 && strings.IndexByte(" \t\r\n", out[len(out)-1]) >= 0 {
				out = out[:len(out)-1]
			}
			if len(out) > 0 && out[len(out)-1] == ',' {
				out = out[:len(out)-1]
			}
			out = append(out, c)
		default:
			out = append(out, c)
		}
	}
	return out
}
