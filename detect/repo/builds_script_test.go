//go:build cgo

package repo

import (
	"fmt"
	"maps"
	"path"
	"strings"
)

// goScripts are kinds of pairs. Whether the merge builds is not theirs to say: that is the compiler's.
var goScripts = []struct {
	what string
	make func(t *goTown) (a, b map[string]string)
}{
	{"removes a function, used", func(t *goTown) (a, b map[string]string) {
		f := t.pick(true, func(f goFunc) bool { return t.count(path.Dir(f.file), f.decl.Name.Name) == mentions(f) })
		from, to := t.declaration(f.decl)
		return t.edit(f.file, from, to, ""), t.call(f)
	}},
	{"renames a function, used", func(t *goTown) (a, b map[string]string) {
		f := t.pick(true, nil)
		return t.renamed(path.Dir(f.file), f.decl.Name.Name, f.decl.Name.Name+"Anew"), t.call(f)
	}},
	{"hides a function, used", func(t *goTown) (a, b map[string]string) {
		f := t.pick(true, nil)
		name := f.decl.Name.Name
		return t.renamed(path.Dir(f.file), name, strings.ToLower(name[:1])+name[1:]+"Hidden"), t.call(f)
	}},
	{"adds a parameter, called", func(t *goTown) (a, b map[string]string) {
		f := t.pick(true, t.uncalled)
		return t.params(f, "added int"), t.call(f)
	}},
	{"retypes a parameter, called", func(t *goTown) (a, b map[string]string) {
		f := t.pick(true, func(f goFunc) bool {
			return t.uncalled(f) && len(f.args) == 1 && len(f.decl.Type.Params.List[0].Names) == 1
		})
		p := f.decl.Type.Params.List[0]
		at := t.offset(f.decl.Body.Lbrace) + 1
		text := t.files[f.file]
		body := fmt.Sprintf("\n\tvar %[1]s %[2]s\n\t_ = %[1]s", p.Names[0].Name, t.text(f.file, p.Type))
		if p.Names[0].Name == "_" {
			body = ""
		}
		now := text[:t.offset(p.Pos())] + "anew struct{ X int }" + text[t.offset(p.End()):at] + body + text[at:]
		return map[string]string{f.file: now}, t.call(f)
	}},
	{"removes a function, another is used", func(t *goTown) (a, b map[string]string) {
		f := t.pick(true, func(f goFunc) bool { return t.count(path.Dir(f.file), f.decl.Name.Name) == mentions(f) })
		from, to := t.declaration(f.decl)
		g := t.pick(true, func(g goFunc) bool { return path.Dir(g.file) == path.Dir(f.file) && g.decl != f.decl })
		return t.edit(f.file, from, to, ""), t.call(g)
	}},
	{"renames a function, another is used", func(t *goTown) (a, b map[string]string) {
		f := t.pick(true, nil)
		g := t.pick(true, func(g goFunc) bool {
			return path.Dir(g.file) == path.Dir(f.file) && g.decl.Name.Name != f.decl.Name.Name
		})
		return t.renamed(path.Dir(f.file), f.decl.Name.Name, f.decl.Name.Name+"Anew"), t.call(g)
	}},
	{"changes a body, called", func(t *goTown) (a, b map[string]string) {
		f := t.pick(true, nil)
		at := t.offset(f.decl.Body.Lbrace) + 1
		return t.edit(f.file, at, at, "\n\t_ = 0"), t.call(f)
	}},
	{"writes about a function, called", func(t *goTown) (a, b map[string]string) {
		f := t.pick(true, nil)
		at := t.offset(f.decl.Pos())
		return t.edit(f.file, at, at, "// More is to be said.\n"), t.call(f)
	}},
	{"adds a variadic parameter, called", func(t *goTown) (a, b map[string]string) {
		f := t.pick(true, nil)
		return t.params(f, "more ...int"), t.call(f)
	}},
	{"adds a function, another is called", func(t *goTown) (a, b map[string]string) {
		f := t.pick(true, nil)
		_, to := t.declaration(f.decl)
		return t.edit(f.file, to, to, "\n\n// Anew is new.\nfunc Anew() {}"), t.call(f)
	}},
	{"renames a field, set", func(t *goTown) (a, b map[string]string) {
		s := pickOne(t, t.structs)
		dir := path.Dir(s.file)
		return t.renamed(dir, s.field, s.field+"Anew"), t.user(dir, nil, fmt.Sprintf("\t_ = p.%s{%s: *new(%s)}\n", s.name, s.field, s.of))
	}},
	{"renames a field, its struct is used", func(t *goTown) (a, b map[string]string) {
		s := pickOne(t, t.structs)
		dir := path.Dir(s.file)
		return t.renamed(dir, s.field, s.field+"Anew"), t.user(dir, nil, fmt.Sprintf("\t_ = p.%s{}\n", s.name))
	}},
	{"renames a field, read", func(t *goTown) (a, b map[string]string) {
		s := pickOne(t, t.structs)
		dir := path.Dir(s.file)
		return t.renamed(dir, s.field, s.field+"Anew"), t.user(dir, nil, fmt.Sprintf("\tvar v *p.%s\n\t_ = v.%s\n", s.name, s.field))
	}},
	{"renames a method, called", func(t *goTown) (a, b map[string]string) {
		m := pickOne(t, t.methods)
		dir := path.Dir(m.file)
		return t.renamed(dir, m.name, m.name+"Anew"), t.user(dir, nil, fmt.Sprintf("\tf := func(v *p.%s) any { return v.%s }\n\t_ = f\n", m.of, m.name))
	}},
	{"renames a method, another value has one of that name", func(t *goTown) (a, b map[string]string) {
		m := pickOne(t, t.methods)
		dir := path.Dir(m.file)
		return t.renamed(dir, m.name, m.name+"Anew"), t.user(dir, nil, fmt.Sprintf("\tvar v interface{ %s() }\n\t_ = new(p.%s)\n\tif v != nil {\n\t\tv.%s()\n\t}\n", m.name, m.of, m.name))
	}},
	{"adds a field, another is set", func(t *goTown) (a, b map[string]string) {
		s := pickOne(t, t.structs)
		at := t.offset(s.at.Pos())
		return t.edit(s.file, at, at, "Anew int\n\t"), t.user(path.Dir(s.file), nil, fmt.Sprintf("\t_ = p.%s{%s: *new(%s)}\n", s.name, s.field, s.of))
	}},
	{"renames a type, used", func(t *goTown) (a, b map[string]string) {
		s := pickOne(t, t.structs)
		dir := path.Dir(s.file)
		return t.renamed(dir, s.name, s.name+"Anew"), t.user(dir, nil, fmt.Sprintf("\t_ = p.%s{}\n", s.name))
	}},
	{"removes a function of the package, called there", func(t *goTown) (a, b map[string]string) {
		f := t.pick(false, t.uncalled)
		from, to := t.declaration(f.decl)
		return t.edit(f.file, from, to, ""), t.callBeside(f)
	}},
	{"renames a function of the package, called there", func(t *goTown) (a, b map[string]string) {
		f := t.pick(false, nil)
		return t.renamed(path.Dir(f.file), f.decl.Name.Name, f.decl.Name.Name+"Anew"), t.callBeside(f)
	}},
	{"changes a body of the package, called there", func(t *goTown) (a, b map[string]string) {
		f := t.pick(false, nil)
		at := t.offset(f.decl.Body.Lbrace) + 1
		return t.edit(f.file, at, at, "\n\t_ = 0"), t.callBeside(f)
	}},
	{"both add a function to a package, of one name", func(t *goTown) (a, b map[string]string) {
		f := t.pick(true, nil)
		return t.beside(path.Dir(f.file), t.pkg(f), t.fresh("func Twice%d() int { return 1 }\n")), t.beside(path.Dir(f.file), t.pkg(f), t.fresh("func Twice%d() int { return 2 }\n"))
	}},
	{"both add a function to a package, of two names", func(t *goTown) (a, b map[string]string) {
		f := t.pick(true, nil)
		return t.beside(path.Dir(f.file), t.pkg(f), t.fresh("func Once%d() int { return 1 }\n")), t.beside(path.Dir(f.file), t.pkg(f), t.fresh("func Twice%d() int { return 1 }\n"))
	}},
	{"both add a function of one name, in two packages", func(t *goTown) (a, b map[string]string) {
		f := t.pick(true, nil)
		g := t.pick(true, func(g goFunc) bool { return path.Dir(g.file) != path.Dir(f.file) })
		return t.beside(path.Dir(f.file), t.pkg(f), t.fresh("func Twice%d() int { return 1 }\n")), t.beside(path.Dir(g.file), t.pkg(g), t.fresh("func Twice%d() int { return 2 }\n"))
	}},
	{"moves a function within its package, called", func(t *goTown) (a, b map[string]string) {
		f := t.pick(true, nil)
		from, to := t.declaration(f.decl)
		a = t.beside(path.Dir(f.file), t.pkg(f), t.files[f.file][from:to]+"\n")
		maps.Copy(a, t.edit(f.file, from, to, ""))
		return a, t.call(f)
	}},
}

// fresh gives a new declaration the name of this turn, so that no two pairs make the same.
func (t *goTown) fresh(text string) string { return fmt.Sprintf(text, t.turn) }

func pickOne[E any](t *goTown, list []E) E { return list[t.IntN(len(list))] }

// noneFound is what a script gives up with.
type noneFound struct{}

// pick is a function that others can use, or only its package.
func (t *goTown) pick(exported bool, want func(goFunc) bool) goFunc {
	for range 2000 {
		f := pickOne(t, t.funcs)
		if f.decl.Name.IsExported() == exported && (want == nil || want(f)) {
			return f
		}
	}
	panic(noneFound{})
}

// mentions is how often a function's own declaration says its name.
func mentions(f goFunc) int {
	if f.decl.Doc != nil {
		return 1 + strings.Count(f.decl.Doc.Text(), f.decl.Name.Name)
	}
	return 1
}

// uncalled reports whether nothing of its package uses a function.
func (t *goTown) uncalled(f goFunc) bool {
	return t.count(path.Dir(f.file), f.decl.Name.Name) == mentions(f)
}

func (t *goTown) pkg(f goFunc) string { return t.parsed[f.file].Name.Name }

// params gives a function one more parameter.
func (t *goTown) params(f goFunc, more string) map[string]string {
	list := f.decl.Type.Params
	if len(list.List) > 0 {
		if list.List[0].Names == nil {
			panic(noneFound{})
		}
		more = ", " + more
	}
	at := t.offset(list.Closing)
	if len(list.List) > 0 {
		at = t.offset(list.List[len(list.List)-1].End())
	}
	return t.edit(f.file, at, at, more)
}

func (t *goTown) call(f goFunc) map[string]string {
	return t.user(path.Dir(f.file), f.uses, fmt.Sprintf("\tp.%s(%s)\n", f.decl.Name.Name, strings.Join(f.args, ", ")))
}

// callBeside calls a function from a new file of its own package.
func (t *goTown) callBeside(f goFunc) map[string]string {
	if len(f.uses) > 0 {
		panic(noneFound{})
	}
	args := strings.ReplaceAll(strings.Join(f.args, ", "), "p.", "")
	return t.beside(path.Dir(f.file), t.pkg(f), fmt.Sprintf("func zzWork%d() {\n\t%s(%s)\n}\n", t.turn, f.decl.Name.Name, args))
}

// scripted makes pairs of every kind in turn.
func scripted(t *goTown, n int) (all []clash) {
	for i := 0; len(all) < n && i < 4*n; i++ {
		s := goScripts[i%len(goScripts)]
		t.turn = i
		func() {
			defer func() {
				if r := recover(); r != nil {
					if _, ok := r.(noneFound); !ok {
						panic(r)
					}
				}
			}()
			a, b := s.make(t)
			all = append(all, clash{s.what, a, b})
		}()
	}
	return all
}
