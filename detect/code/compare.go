package code

import (
	"cmp"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// sorted goes over a map in the order of its keys.
func sorted[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}

// comparison is two states of a set of files.
type comparison struct {
	old, now *resolver
	renamed  map[string]string // old ids of symbols that moved, to the new ones
	changes  []detect.SymbolChange
}

// Compare says what changed. A removal, a move or a broken signature is told only where both versions of the
// file were read without an error. A file that comparing fails at counts as one that could not be read.
func (r *Reader) Compare(before, after []detect.Unit) detect.Delta {
	return sparing(before, after, r.compare)
}

// sparing makes a fault of a comparison one of the files that it met, as guarded does for reading. Where no file
// fails alone, nothing is said of any.
func sparing(before, after []detect.Unit, compare func(before, after []detect.Unit) detect.Delta) detect.Delta {
	delta, ok := tried(before, after, compare)
	if ok {
		return delta
	}
	alone := map[string]*[2][]detect.Unit{}
	sides := [2][]detect.Unit{slices.Clone(before), slices.Clone(after)}
	for side, units := range sides {
		for _, u := range units {
			if alone[u.Path] == nil {
				alone[u.Path] = new([2][]detect.Unit)
			}
			alone[u.Path][side] = append(alone[u.Path][side], u)
		}
	}
	for path, file := range alone {
		if _, ok := tried(file[0], file[1], compare); ok {
			continue
		}
		for _, units := range sides {
			for i := range units {
				if units[i].Path == path {
					units[i] = failed(path)
				}
			}
		}
	}
	delta, _ = tried(sides[0], sides[1], compare)
	return delta
}

// tried reports whether a comparison came to its end.
func tried(before, after []detect.Unit, compare func(before, after []detect.Unit) detect.Delta) (delta detect.Delta, ok bool) {
	defer func() {
		if recover() != nil {
			delta, ok = detect.Delta{}, false
		}
	}()
	return compare(before, after), true
}

func (r *Reader) compare(before, after []detect.Unit) detect.Delta {
	c := &comparison{
		old: newResolver(&r.project, before), now: newResolver(&r.project, after), renamed: map[string]string{},
	}
	c.old.same = c.unchanged()
	c.now.same = c.old.same
	c.symbols(before, after)
	slices.SortStableFunc(c.changes, func(a, b detect.SymbolChange) int { return cmp.Compare(a.Symbol.ID, b.Symbol.ID) })
	for i := range c.changes {
		sym := &c.changes[i].Symbol
		if strings.HasPrefix(sym.Package, goUnplaced) || ofTests(sym) {
			known := cmp.Or(c.changes[i].From, sym.ID)
			at := r.project.goPackage(folder(pathOf(known)))
			if ofTests(sym) {
				at += ownTests
			}
			sym.Package = "pkg:go:" + at + "#" + nameOf(base(known))
		}
	}
	return detect.Delta{
		Symbols:    c.changes,
		Contracts:  c.contracts(before, after),
		References: c.references(before, after),
	}
}

// unchanged are the files that both states have alike.
func (c *comparison) unchanged() map[string]bool {
	same := map[string]bool{}
	for p, u := range c.old.units {
		if now := c.now.units[p]; now != nil && reflect.DeepEqual(u, now) {
			same[p] = true
		}
	}
	return same
}

// clean reports whether a path was read without an error in both states; a file that is not there is clean.
func (c *comparison) clean(paths ...string) bool {
	for _, p := range paths {
		for _, u := range []*detect.Unit{c.old.units[p], c.now.units[p]} {
			if u != nil && u.Quality != detect.Clean {
				return false
			}
		}
	}
	return true
}

// read reports whether anything is known about a path in both states.
func (c *comparison) read(p string) bool {
	for _, u := range []*detect.Unit{c.old.units[p], c.now.units[p]} {
		if u != nil && (u.Quality == detect.Failed || u.Quality == detect.TimedOut || u.Quality == detect.Unread) {
			return false
		}
	}
	return true
}

func (c *comparison) symbols(before, after []detect.Unit) {
	var gone, come []*detect.Symbol
	for i := range before {
		old := &before[i]
		twice := c.alike(old.Path)
		for k := range old.Symbols {
			was := &old.Symbols[k]
			if twice[base(was.ID)] {
				continue
			}
			if is := c.now.symbols[was.ID]; is != nil {
				c.pair(was, is)
			} else if c.clean(old.Path) {
				gone = append(gone, was)
			}
		}
	}
	for i := range after {
		twice := c.alike(after[i].Path)
		for k := range after[i].Symbols {
			is := &after[i].Symbols[k]
			if c.old.symbols[is.ID] == nil && !twice[base(is.ID)] && c.read(after[i].Path) {
				come = append(come, is)
			}
		}
	}
	for file := range sorted(c.old.units) {
		c.twins(file)
	}
	gone, come = c.moves(gone, come)
	for _, was := range gone {
		c.removed(was)
	}
	for _, is := range come {
		c.added(is)
	}
	c.exports(before)
}

// base is an id without the number that tells declarations of one name apart.
func base(id string) string {
	if at := strings.LastIndexByte(id, '~'); at > strings.IndexByte(id, '#') {
		return id[:at]
	}
	return id
}

// alike tells the names of a file of which either state has several declarations. They are paired by what they
// are rather than by their order.
func (c *comparison) alike(file string) map[string]bool {
	several := map[string]bool{}
	old, now := group(c.old.units[file]), group(c.now.units[file])
	for name, was := range old {
		if is := now[name]; len(is) > 0 && (len(was) > 1 || len(is) > 1) {
			several[name] = true
		}
	}
	return several
}

// twins compares the declarations of one name where there are several.
func (c *comparison) twins(file string) {
	old, now := group(c.old.units[file]), group(c.now.units[file])
	for name := range sorted(c.alike(file)) {
		was, is := old[name], now[name]
		for _, same := range []func(a, b *detect.Symbol) bool{
			func(a, b *detect.Symbol) bool {
				return a.Kind == b.Kind && a.BodyHash == b.BodyHash && a.SignatureHash == b.SignatureHash
			},
			func(a, b *detect.Symbol) bool { return a.Kind == b.Kind && a.BodyHash == b.BodyHash },
			func(a, b *detect.Symbol) bool { return a.Kind == b.Kind && a.SignatureHash == b.SignatureHash },
			func(a, b *detect.Symbol) bool { return a.Kind == b.Kind },
		} {
			was, is = c.match(was, is, same)
		}
		if c.clean(file) {
			for _, w := range was {
				c.change(w, "", detect.Removed, detect.CannotTell, "one of several declarations of this name removed")
			}
		}
		for _, i := range is {
			c.change(i, "", detect.Added, detect.CannotTell, "another declaration of this name")
		}
	}
}

// match pairs in order what is the same, and returns the rest.
func (c *comparison) match(was, is []*detect.Symbol, same func(a, b *detect.Symbol) bool) (left, right []*detect.Symbol) {
	right = slices.Clone(is)
	for _, w := range was {
		at := slices.IndexFunc(right, func(i *detect.Symbol) bool { return same(w, i) })
		if at < 0 {
			left = append(left, w)
			continue
		}
		c.pair(w, right[at])
		right = slices.Delete(right, at, at+1)
	}
	return left, right
}

func group(u *detect.Unit) map[string][]*detect.Symbol {
	groups := map[string][]*detect.Symbol{}
	if u != nil {
		for i := range u.Symbols {
			name := base(u.Symbols[i].ID)
			groups[name] = append(groups[name], &u.Symbols[i])
		}
	}
	return groups
}

func (c *comparison) change(s *detect.Symbol, from string, what detect.Change, v detect.Verdict, why ...string) {
	c.changes = append(c.changes, detect.SymbolChange{Symbol: *s, From: from, Change: what, Verdict: v, Why: why})
}

// pair compares two versions of one symbol.
func (c *comparison) pair(was, is *detect.Symbol) {
	file := pathOf(is.ID)
	signature := was.SignatureHash != is.SignatureHash || was.Kind != is.Kind || was.Exported != is.Exported ||
		permuted(was.Signature.Params, is.Signature.Params) || c.otherPackages(was, is) != nil || c.privateTypes(was, is) != nil
	switch {
	case signature && c.clean(file, pathOf(was.ID)):
		verdict, why := c.compatible(was, is)
		c.change(is, "", detect.SignatureChanged, verdict, why...)
	case signature && c.read(file):
		c.change(is, "", detect.Body, detect.CannotTell, "the file could not be read without errors")
	case was.BodyHash != is.BodyHash && c.read(file):
		c.change(is, "", detect.Body, detect.Compatible)
	}
}

func (c *comparison) removed(was *detect.Symbol) {
	u := c.now.units[pathOf(was.ID)]
	name := nameOf(was.ID)
	switch {
	case conditional(was) && (was.Kind != detect.Field || c.now.symbols[was.Container] == nil):
		c.change(was, "", detect.Removed, detect.CannotTell, "removed from some builds, other files may declare it for them")
	case c.inherited(was):
	case c.remade(was):
		c.change(was, "", detect.Removed, detect.CannotTell, "removed, unless what makes its container now has it")
	case u != nil && was.Container == "" && slices.ContainsFunc(u.Exports, func(e detect.Binding) bool { return e.Local == name }):
		c.change(was, "", detect.Removed, detect.CannotTell, "another declaration is exported under this name")
	default:
		c.change(was, "", detect.Removed, detect.Breaking, "removed")
	}
}

// remade reports whether a member may still be there in a way that the file does not show: as one of an object that is not
// written as one any more or takes in others, or as an attribute that a base class or a call sets.
func (c *comparison) remade(was *detect.Symbol) bool {
	container := c.now.symbols[was.Container]
	switch {
	case container == nil:
		return false
	case slices.Contains(was.Signature.Modifiers, wordInstance):
		return len(container.Signature.Bases) > 0 || c.now.symbols[container.ID+".__getattr__"] != nil || c.now.symbols[container.ID+".__dict__"] != nil
	case container.Kind == detect.Variable || container.Kind == detect.Field: // an object
		u := c.now.units[pathOf(container.ID)]
		return len(container.Signature.Bases) > 0 || container.Signature.Result != "" ||
			!slices.ContainsFunc(u.Symbols, func(s detect.Symbol) bool { return s.Container == container.ID })
	}
	return false
}

// added judges a new symbol: a demand on those who implement or build its container breaks them.
func (c *comparison) added(is *detect.Symbol) {
	container := c.now.symbols[is.Container]
	verdict, why := detect.Compatible, []string(nil)
	outer := c.old.symbols[is.Container]
	if container != nil && outer != nil && (is.Exported || container.Kind == detect.Interface && container.Exported) {
		optional := slices.Contains(is.Signature.Modifiers, "optional") || slices.Contains(is.Signature.Modifiers, "default")
		switch {
		case c.sealed(is.Container):
		case languageOf(is.ID) == "go" && (container.Kind != outer.Kind || !slices.Equal(container.Signature.Bases, outer.Signature.Bases)):
			verdict, why = detect.CannotTell, []string{"what its type embeds changed too"}
		case container.Kind == detect.Interface && is.Kind == detect.Method && !optional:
			verdict, why = detect.Breaking, []string{"method added to an interface that others may implement"}
		case slices.ContainsFunc(is.Signature.Modifiers, func(m string) bool { return m == "abstract" || strings.HasSuffix(m, "abstractmethod") }):
			verdict, why = detect.Breaking, []string{"abstract member added"}
		case languageOf(is.ID) == "rs" && is.Kind == detect.Field:
			verdict, why = c.rustMember(container)
		case demanding(container) && is.Kind == detect.Field && !optional:
			verdict, why = detect.Breaking, []string{"required field added"}
		case languageOf(is.ID) == "py" && is.Kind == detect.Field && !optional:
			verdict, why = pythonField(container, is)
		}
	}
	if !c.clean(pathOf(is.ID)) {
		verdict, why = detect.CannotTell, []string{"the file could not be read without errors"}
	}
	c.change(is, "", detect.Added, verdict, why...)
}

// rustMember judges a new variant, which matches elsewhere lack, or field, which literals elsewhere may lack.
func (c *comparison) rustMember(container *detect.Symbol) (detect.Verdict, []string) {
	switch {
	case slices.Contains(container.Signature.Modifiers, "#[non_exhaustive]"):
		return detect.Compatible, nil
	case container.Kind == detect.Enum:
		return detect.Breaking, []string{"variant added to an enum that others may match"}
	}
	return detect.CannotTell, []string{"field added: literals elsewhere may lack it"}
}

// sealed reports whether an interface of Go has a method that only its package can have, so that nobody else
// implements it.
func (c *comparison) sealed(container string) bool {
	if languageOf(container) != "go" {
		return false
	}
	for _, s := range c.old.units[pathOf(container)].Symbols {
		if s.Container == container && s.Kind == detect.Method && !s.Exported {
			return true
		}
	}
	return false
}

// demanding reports whether whoever builds a thing has to give all its fields: interfaces and object types of
// TypeScript, never structs of Go, whose fields have zero values.
func demanding(container *detect.Symbol) bool {
	return languageOf(container.ID) == "ts" && (container.Kind == detect.Interface || container.Kind == detect.Type)
}

// pythonField judges a field without a default that comes new to a class whose makers have to give all fields.
func pythonField(container, field *detect.Symbol) (detect.Verdict, []string) {
	has := func(list []string, names ...string) bool {
		return slices.ContainsFunc(list, func(text string) bool {
			text, _, _ = strings.Cut(strings.TrimPrefix(text, "@"), "(")
			return slices.Contains(names, text[strings.LastIndexByte(text, '.')+1:])
		})
	}
	of, total := field.Signature.Result, !slices.Contains(container.Signature.Bases, "total=False")
	switch {
	case !has(container.Signature.Modifiers, "dataclass", "define", "frozen", "attrs") && !has(container.Signature.Bases, "BaseModel", "NamedTuple", "TypedDict", "SQLModel"):
		return detect.Compatible, nil
	case of == "" || strings.HasPrefix(of, "ClassVar") || strings.HasPrefix(of, "NotRequired") || !total && !strings.HasPrefix(of, "Required"):
		return detect.Compatible, nil
	case has(container.Signature.Bases, "BaseModel", "SQLModel") && slices.Contains(strings.Split(of, " | "), "None"):
		return detect.CannotTell, []string{"field added: whether it has to be given depends on the version of pydantic"}
	}
	return detect.Breaking, []string{"required field added"}
}

// exports finds names that a file only passes on, and no longer does.
func (c *comparison) exports(before []detect.Unit) {
	for i := range before {
		old := &before[i]
		now := c.now.units[old.Path]
		script := old.Language == "ts" || old.Language == "js"
		if !c.clean(old.Path) || now == nil && !script || !script && !strings.HasSuffix(old.Path, "__init__.py") {
			continue
		}
		for _, e := range old.Exports {
			id := "sym:" + old.Language + ":" + old.Path + "#" + e.Local
			passes := func(n detect.Binding) bool {
				return n.Local == e.Local || n.Local == "*" && c.mayPass(now, n.Module, e.Local)
			}
			if e.Local == "*" || c.old.symbols[id] != nil || c.now.symbols[id] != nil || strings.HasPrefix(e.Local, "_") ||
				now != nil && slices.ContainsFunc(now.Exports, passes) || !script && !strings.HasPrefix(e.Module, ".") {
				continue
			}
			sym := detect.Symbol{ID: id, Kind: detect.Variable, Exported: true}
			if target := c.old.symbols["sym:"+old.Language+":"+old.Path+"#"+e.Name]; target != nil && e.Module == "" {
				sym.Kind, sym.Signature = target.Kind, target.Signature
			}
			c.change(&sym, "", detect.Removed, detect.Breaking, "no longer exported under this name")
		}
	}
}

// mayPass reports whether a file may have a name from all that another module exports.
func (c *comparison) mayPass(u *detect.Unit, module, name string) bool {
	c.now.visited, c.now.unread = map[string]bool{}, map[string]bool{}
	id, sure := c.now.follow(u, module, name, linksMax)
	open := len(c.now.unread) > 0
	c.now.unread = nil
	return sure || open || !strings.HasPrefix(id, "sym:")
}

// references are the uses of the newer state that the older did not have, resolved.
func (c *comparison) references(before, after []detect.Unit) (added []detect.Reference) {
	type use struct {
		kind             detect.ReferenceKind
		path, target, in string
	}
	had := map[use]int{}
	each := func(units []detect.Unit, r *resolver, yield func(detect.Reference)) {
		for i := range units {
			passed := map[string]bool{}
			for _, ref := range units[i].References {
				r.through = nil
				ref, ok := c.resolved(r, &units[i], ref)
				if !ok {
					continue
				}
				yield(ref)
				for _, ref.Target = range r.through { // who takes the name away there breaks the use too
					if !passed[ref.Target] {
						passed[ref.Target] = true
						yield(ref)
					}
				}
			}
		}
	}
	each(before, c.old, func(ref detect.Reference) { had[use{ref.Kind, ref.Path, ref.Target, ref.In}]++ })
	each(after, c.now, func(ref detect.Reference) {
		if !c.read(ref.Path) {
			return // what the older version used is not known
		}
		key := use{ref.Kind, ref.Path, ref.Target, ref.In}
		if had[key]--; had[key] < 0 {
			added = append(added, ref)
		}
	})
	slices.SortStableFunc(added, func(a, b detect.Reference) int {
		return cmp.Or(cmp.Compare(a.Target, b.Target), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Kind, b.Kind))
	})
	return added
}

// resolved is a reference with what other files say of it.
func (*comparison) resolved(r *resolver, u *detect.Unit, ref detect.Reference) (detect.Reference, bool) {
	switch {
	case strings.HasPrefix(ref.Target, "url:"):
		return r.requestOf(u, ref)
	case strings.HasPrefix(ref.Target, "mod:"):
		ref.Target, ref.Sure = r.resolve(u, ref.Target)
	case strings.HasPrefix(ref.Target, starMark):
		rest := ref.Target[len(starMark):]
		ref.Target, ref.Sure = r.resolve(u, "mod:"+rest)
		return ref, ref.Sure && r.starGives(ref.Target, firstName(nameOf(rest)))
	case strings.HasPrefix(ref.Target, memberMark):
		rest := ref.Target[len(memberMark):]
		ref.Target, ref.Sure = r.resolve(u, "mod:"+rest)
		r.through = nil // the type's own use has said it
		return ref, strings.HasSuffix(ref.Target, rest[strings.LastIndexByte(rest, '.'):])
	default:
		ref.Sure = ref.Sure || strings.HasPrefix(ref.Target, "sym:")
	}
	return ref, ref.Target != ""
}
