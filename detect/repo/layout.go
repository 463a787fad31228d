package repo

import (
	"context"
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Layout is how the modules of one commit are found.
type Layout struct {
	files     map[string]entry
	GoModules map[string]string // module paths by the folder of their go.mod, "" for the root
	Packages  map[string]string // folders of packages by the name in their package.json
	Aliases   map[string]string // folders by the prefix that the root's tsconfig.json gives them
}

// Has reports whether the commit has a file.
func (l *Layout) Has(name string) bool { return l.files[name].blob != "" }

// Folder lists the files that stand in a folder of the commit itself, "" for the root, ascending.
func (l *Layout) Folder(folder string) (names []string) {
	for name := range l.files {
		if at := strings.LastIndexByte(name, '/'); name[:max(at, 0)] == folder && l.Has(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Layout reads which files a commit has, and what its manifests say. A manifest that cannot be read says nothing.
func (r *Repo) Layout(ctx context.Context, commit string) (*Layout, error) {
	out, err := r.out(ctx, nil, "ls-tree", "-r", "-z", commit)
	if err != nil {
		return nil, err
	}
	l := &Layout{files: map[string]entry{}, GoModules: map[string]string{}, Packages: map[string]string{}, Aliases: map[string]string{}}
	manifests := map[string][]string{}
	var blobs []string
	for _, record := range cut(out) {
		meta, name, _ := strings.Cut(record, "\t")
		f := strings.Fields(meta)
		if len(f) != 3 {
			continue
		}
		mode, _ := strconv.ParseUint(f[0], 8, 32) // git wrote it
		l.files[name] = entry{uint32(mode), f[2]}
		if isManifest(name) {
			manifests[f[2]] = append(manifests[f[2]], name)
			blobs = append(blobs, f[2])
		}
	}
	slices.Sort(blobs)
	err = r.blobs(ctx, slices.Compact(blobs), func(blob string, content []byte) {
		for _, name := range manifests[blob] {
			l.read(name, content)
		}
	})
	return l, err
}

func isManifest(name string) bool {
	switch path.Base(name) {
	case "go.mod", "package.json":
		return !strings.Contains(name, "node_modules/") && !strings.Contains(name, "testdata/")
	}
	return name == "tsconfig.json"
}

func (l *Layout) read(name string, content []byte) {
	folder := path.Dir(name)
	if folder == "." {
		folder = ""
	}
	switch path.Base(name) {
	case "go.mod":
		for line := range strings.Lines(string(content)) {
			if module, ok := strings.CutPrefix(strings.TrimSpace(line), "module "); ok {
				l.GoModules[folder] = strings.Trim(strings.TrimSpace(module), `"`)
				return
			}
		}
	case "package.json":
		var p struct{ Name string }
		if json.Unmarshal(content, &p) == nil && p.Name != "" && (l.Packages[p.Name] == "" || folder < l.Packages[p.Name]) {
			l.Packages[p.Name] = folder
		}
	case "tsconfig.json":
		l.aliases(content)
	}
}

// aliases are the paths that stand for one folder each: "@/*" is "src/*".
func (l *Layout) aliases(content []byte) {
	var config struct {
		CompilerOptions struct {
			BaseURL string `json:"baseUrl"`
			Paths   map[string][]string
		} `json:"compilerOptions"`
	}
	if json.Unmarshal(plainJSON(content), &config) != nil {
		return
	}
	for prefix, folders := range config.CompilerOptions.Paths {
		alias, all := strings.CutSuffix(prefix, "*")
		if all && alias != "" && len(folders) == 1 && strings.HasSuffix(folders[0], "*") {
			l.Aliases[alias] = path.Join(config.CompilerOptions.BaseURL, strings.TrimSuffix(folders[0], "*")) + "/"
		}
	}
}
