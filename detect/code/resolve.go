package code

import (
	"path"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// resolver finds what a name of another module is declared as, among the units at hand.
type resolver struct {
	project *Project
	units   map[string]*detect.Unit
	folders map[string][]*detect.Unit
	symbols map[string]*detect.Symbol
	visited map[string]bool // what the name at hand was looked for under
	through []string        // the names under which other files pass it on
	scripts map[spelled]string
	steps   int             // how many more marks the URL at hand may have
	same    map[string]bool // the files that both states have alike, in a comparison
	altered string          // the first model of the route at hand whose file is not the same in both states
	unread  map[string]bool // the files that names led to and that are not among the units; true for those that a unit names itself
}

// spelled is a module's name as the scripts of one folder and ending write it.
type spelled struct{ folder, ending, module string }

func newResolver(p *Project, units []detect.Unit) *resolver {
	r := &resolver{
		project: p, units: map[string]*detect.Unit{}, folders: map[string][]*detect.Unit{}, symbols: map[string]*detect.Symbol{},
		scripts: map[spelled]string{},
	}
	for i := range units {
		u := &units[i]
		r.units[u.Path] = u
		r.folders[folder(u.Path)] = append(r.folders[folder(u.Path)], u)
		for k := range u.Symbols {
			r.symbols[u.Symbols[k].ID] = &u.Symbols[k]
		}
	}
	return r
}

// has reports whether a file is there, as far as can be known.
func (r *resolver) has(file string) bool {
	return r.units[file] != nil || r.project.Has != nil && r.project.Has(file)
}

// linksMax bounds how many re-exports are followed.
const linksMax = 16

// resolve turns mod:<module>#<name> into the id of a symbol or of a package's export. Sure says that the
// declaration was seen.
func (r *resolver) resolve(from *detect.Unit, to string) (id string, sure bool) {
	rest, ok := strings.CutPrefix(to, "mod:")
	if !ok {
		return to, true
	}
	r.visited, r.through = map[string]bool{}, nil
	at := strings.LastIndexByte(rest, '#')
	return r.follow(from, rest[:at], rest[at+1:], linksMax)
}

func (r *resolver) follow(from *detect.Unit, module, name string, links int) (id string, sure bool) {
	switch from.Language {
	case "ts", "js":
		file := r.scriptFile(from, module)
		if file == "" {
			return "pkg:npm:" + module + "#" + name, false
		}
		return r.named(file, languages[dialectOf(file)], name, links)
	case "py":
		return r.pythonName(from, module, name, links)
	case "go":
		return r.goName(from, module, name)
	case "rs":
		return r.rustName(from, module, name, links)
	case "java":
		if module == "" {
			return r.javaPackage(from, name)
		}
		return r.javaName(module, name)
	}
	return "pkg::" + module + "#" + name, false
}

// named finds a name that a file exports.
func (r *resolver) named(file, language, name string, links int) (id string, sure bool) {
	id = "sym:" + language + ":" + file + "#" + name
	u := r.units[file]
	if u == nil && r.unread != nil {
		r.unread[file] = links == linksMax
	}
	if u == nil || name == "*" || links == 0 || r.visited[id] {
		return id, u != nil && name == "*"
	}
	r.visited[id] = true
	if r.symbols[id] != nil {
		return id, true
	}
	first, member, dotted := strings.Cut(name, ".")
	if dotted {
		outer, ok := r.named(file, language, first, links-1)
		if _, whole := strings.CutSuffix(outer, "#*"); whole && strings.HasPrefix(outer, "sym:") {
			return r.named(pathOf(outer), languageOf(outer), member, links-1)
		}
		if r.symbols[outer+"."+member] != nil {
			return outer + "." + member, true
		}
		return outer, ok
	}
	for _, e := range u.Exports {
		if e.Local != name {
			continue
		}
		if e.Module != "" {
			r.through = append(r.through, id)
			return r.follow(u, e.Module, e.Name, links-1)
		}
		if other := "sym:" + language + ":" + file + "#" + e.Name; r.symbols[other] != nil {
			return other, true
		}
		for _, i := range u.Imports {
			if i.Local == e.Name && i.Module != "" {
				r.through = append(r.through, id)
				return r.follow(u, i.Module, i.Name, links-1)
			}
		}
	}
	for _, e := range u.Exports {
		if e.Local == "*" && name != "default" {
			if found, ok := r.follow(u, e.Module, name, links-1); ok {
				return found, true
			}
		}
	}
	return id, false
}

// object reports whether a name of a file surely stands for an interface or a class.
func (r *resolver) object(file, name string) bool {
	u := r.units[file]
	if u == nil || u.Quality != detect.Clean {
		return false
	}
	id := "sym:" + u.Language + ":" + file + "#" + name
	for _, i := range u.Imports {
		if i.Local == name {
			id, _ = r.resolve(u, "mod:"+i.Module+"#"+i.Name)
		}
	}
	s := r.symbols[id]
	return s != nil && (s.Kind == detect.Interface || s.Kind == detect.Class)
}

// pathOf is the path in a symbol's id, languageOf its language.
func pathOf(id string) string {
	parts := strings.SplitN(id, ":", 3)
	file, _, _ := strings.Cut(parts[len(parts)-1], "#")
	return file
}

func languageOf(id string) string {
	parts := strings.SplitN(id, ":", 3)
	return parts[min(1, len(parts)-1)]
}

// nameOf is what stands behind the #.
func nameOf(id string) string { return id[strings.IndexByte(id, '#')+1:] }

var scriptEndings = []string{".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".d.ts"}

// scriptFile is the file that a module name of a script stands for, "" if it is a package's.
func (r *resolver) scriptFile(from *detect.Unit, module string) string {
	at := spelled{folder(from.Path), path.Ext(from.Path), module}
	file, known := r.scripts[at]
	if !known {
		file = r.findScript(from, module)
		r.scripts[at] = file
	}
	return file
}

func (r *resolver) findScript(from *detect.Unit, module string) string {
	var bases []string
	guess := ""
	switch {
	case strings.HasPrefix(module, "."):
		guess = path.Join(folder(from.Path), module)
		bases = []string{guess}
	default:
		for prefix, dir := range sorted(r.project.Aliases) {
			if rest, ok := strings.CutPrefix(module, prefix); ok {
				bases = append(bases, path.Join(dir, rest))
			}
		}
		for name, dir := range sorted(r.project.Packages) {
			if rest, ok := strings.CutPrefix(module+"/", name+"/"); ok {
				bases = append(bases, path.Join(dir, rest), path.Join(dir, "src", rest))
			}
		}
	}
	for _, base := range bases {
		for _, file := range scriptCandidates(base) {
			if r.has(file) {
				return file
			}
		}
	}
	if guess == "" || dialectOf(guess).script() {
		return guess
	}
	return guess + path.Ext(from.Path)
}

func scriptCandidates(base string) (files []string) {
	if dialectOf(base).script() {
		files = append(files, base)
	}
	stem := base
	for _, ending := range []string{".js", ".jsx", ".mjs", ".cjs"} {
		stem = strings.TrimSuffix(stem, ending)
	}
	for _, s := range slices.Compact([]string{base, stem}) {
		for _, ending := range scriptEndings {
			files = append(files, s+ending)
		}
	}
	for _, ending := range scriptEndings {
		files = append(files, path.Join(base, "index"+ending))
	}
	return files
}

// pythonName finds a name of a module, or the module of that name in a package.
func (r *resolver) pythonName(from *detect.Unit, module, name string, links int) (id string, sure bool) {
	rest := strings.TrimLeft(module, ".")
	relative := len(module) - len(rest)
	base := strings.ReplaceAll(rest, ".", "/")
	var roots []string
	if relative > 0 {
		dir := folder(from.Path)
		for range relative - 1 {
			dir = folder(dir)
		}
		roots = []string{dir}
	} else {
		roots = append([]string{"", "src"}, r.above(from.Path)...)
		for _, dir := range sorted(r.project.Packages) {
			roots = append(roots, dir, folder(dir))
		}
	}
	for _, root := range roots {
		if id, sure, ok := r.pythonIn(path.Join(root, base), name, links); ok {
			return id, sure
		}
	}
	if relative > 0 {
		file := path.Join(roots[0], base) + ".py"
		if base == "" {
			file = path.Join(roots[0], "__init__.py")
		}
		return "sym:py:" + file + "#" + name, false
	}
	return "pkg:pypi:" + module + "#" + name, false
}

func (r *resolver) pythonIn(base, name string, links int) (id string, sure, ok bool) {
	first, member, dotted := strings.Cut(name, ".")
	for _, file := range []string{base + ".py", path.Join(base, "__init__.py"), base + ".pyi"} {
		if !r.has(file) {
			continue
		}
		if id, sure = r.named(file, "py", name, links); sure {
			return id, true, true
		}
		if path.Base(file) != "__init__.py" {
			return id, sure, true
		}
	}
	for _, file := range []string{path.Join(base, first) + ".py", path.Join(base, first, "__init__.py")} {
		if first != "*" && r.has(file) { // the name is a module of the package
			if !dotted {
				member = "*"
			}
			id, sure = r.named(file, "py", member, links)
			return id, sure, true
		}
	}
	return id, false, id != ""
}

// above are the folders around a file, from the outside in.
func (r *resolver) above(file string) (dirs []string) {
	for d := folder(file); d != ""; d = folder(d) {
		dirs = append(dirs, d)
	}
	slices.Reverse(dirs)
	return dirs
}

// goFolders are the folders of a package, of the unit's own if the path is empty or of its tests.
func (r *resolver) goFolders(from *detect.Unit, module string) (dirs []string) {
	if module == "" || module == ownTests {
		return []string{folder(from.Path)}
	}
	for dir, root := range sorted(r.project.GoModules) {
		if rest, ok := strings.CutPrefix(module+"/", root+"/"); ok {
			dirs = append(dirs, strings.Trim(path.Join(dir, rest), "/"))
		}
	}
	return dirs
}

// goName finds a name of a package, of the unit's own if the path is empty.
func (r *resolver) goName(from *detect.Unit, module, name string) (id string, sure bool) {
	if strings.Contains(name, typeIs+".") {
		return r.goTyped(from, module, name)
	}
	asked, outer := module, module == ownTests
	dirs := r.goFolders(from, module)
	if module == "" || outer {
		module = r.project.goPackage(folder(from.Path)) + module
	}
	for _, dir := range dirs {
		for _, u := range r.folders[dir] {
			found := "sym:go:" + u.Path + "#" + name
			if s := r.symbols[found]; u.Language == "go" && s != nil && ofTests(s) == outer {
				return found, true
			}
		}
	}
	if holder, _, dotted := strings.Cut(name, "."); dotted {
		if id, sure = r.goName(from, asked, holder); sure {
			return id, true
		}
	}
	return "pkg:go:" + module + "#" + name, false
}

// goPackage is the import path of a folder, "./folder" where no go.mod is known.
func (p *Project) goPackage(dir string) string {
	best, found := "./"+dir, -1
	for at, module := range sorted(p.GoModules) {
		if at == "" || dir == at || strings.HasPrefix(dir, at+"/") {
			if len(at) > found {
				best, found = strings.TrimSuffix(module+"/"+strings.Trim(strings.TrimPrefix(dir, at), "/"), "/"), len(at)
			}
		}
	}
	return best
}

// javaName finds a class by its full name.
func (r *resolver) javaName(module, name string) (id string, sure bool) {
	file := strings.ReplaceAll(module, ".", "/") + "/" + firstName(name) + ".java"
	for _, root := range []string{"", "src/main/java/", "src/test/java/", "src/"} {
		if r.units[root+file] != nil {
			return r.named(root+file, "java", name, linksMax)
		}
	}
	for _, u := range sorted(r.units) {
		if strings.HasSuffix(u.Path, "/"+file) {
			return r.named(u.Path, "java", name, linksMax)
		}
	}
	return "pkg:maven:" + module + "#" + name, false
}

// rustName finds a name of a module of the crate, or of another crate.
func (r *resolver) rustName(from *detect.Unit, module, name string, links int) (id string, sure bool) {
	parts := strings.Split(module, "::")
	dir := strings.TrimSuffix(from.Path, ".rs")
	if base := path.Base(from.Path); base == "mod.rs" || base == "lib.rs" || base == "main.rs" {
		dir = folder(from.Path)
	}
	switch parts[0] {
	case "crate":
		for dir != "" && path.Base(dir) != "src" {
			dir = folder(dir)
		}
		parts = parts[1:]
	case "self":
		parts = parts[1:]
	case "super":
		for len(parts) > 0 && parts[0] == "super" {
			dir, parts = folder(dir), parts[1:]
		}
	default:
		if file := path.Join(dir, parts[0]); !r.has(file+".rs") && !r.has(path.Join(file, "mod.rs")) {
			return "pkg:cargo:" + module + "#" + name, false
		}
	}
	base := path.Join(append([]string{dir}, parts...)...)
	for _, file := range []string{base + ".rs", path.Join(base, "mod.rs"), path.Join(base, "lib.rs"), path.Join(base, "main.rs")} {
		if r.has(file) {
			return r.named(file, "rs", name, links)
		}
	}
	return "sym:rs:" + base + ".rs#" + name, false
}
