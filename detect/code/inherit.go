package code

import (
	"slices"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// inherited tells of a member that a class lost what becomes of those who use it, where a base class has one of that name.
// It reports whether it did: not where all bases are known to have none, or come from other packages.
func (c *comparison) inherited(was *detect.Symbol) bool {
	class := c.now.symbols[was.Container]
	if class == nil || class.Kind != detect.Class && class.Kind != detect.Interface {
		return false
	}
	base, unread := c.now.member(class, lastName(was.ID), nil)
	switch {
	case base != nil:
		given := *base // it is seen through the class, whether or not its own class is
		given.Exported = base.Exported || !c.now.symbols[base.Container].Exported
		verdict, why := c.compatible(was, &given)
		c.change(was, "", detect.Removed, verdict, append([]string{"its base class has one"}, why...)...)
	case unread:
		c.change(was, "", detect.Removed, detect.CannotTell, "removed, unless a base class that is not at hand has it")
	}
	return base != nil || unread
}

// member is what a class takes from its bases under a name, nil for nothing. Unread says that there may be one in a file of
// the same project that was not read.
func (r *resolver) member(class *detect.Symbol, name string, within []string) (found *detect.Symbol, unread bool) {
	u := r.units[pathOf(class.ID)]
	for _, b := range class.Signature.Bases {
		b, _, _ = strings.Cut(b, "<") // without its type arguments
		base, relative := r.baseNamed(u, languageOf(class.ID), b)
		switch {
		case base == nil:
			unread = unread || relative
		case base.Kind != class.Kind || slices.Contains(within, base.ID) || len(within) >= valuesMax: // what is implemented gives nothing
		case r.symbols[base.ID+"."+name] != nil:
			return r.symbols[base.ID+"."+name], false
		default:
			found, more := r.member(base, name, append(slices.Clip(within), base.ID))
			if found != nil {
				return found, false
			}
			unread = unread || more
		}
	}
	return nil, unread
}

// baseNamed is the class that a name in a file stands for, nil if it is not at hand; relative says that a file of the same
// project declares it.
func (r *resolver) baseNamed(u *detect.Unit, language, name string) (base *detect.Symbol, relative bool) {
	if s := r.symbols["sym:"+language+":"+u.Path+"#"+name]; s != nil {
		return s, true
	}
	first, rest, _ := strings.Cut(name, ".")
	for _, b := range u.Imports {
		if b.Name == "*" && rest == "" || b.Local != first && b.Local != name {
			continue
		}
		to := "mod:" + b.Module + "#" + strings.TrimPrefix(strings.Trim(b.Name+"."+rest, "."), "*.")
		if id, sure := r.resolve(u, to); sure {
			return r.symbols[id], true
		}
		relative = relative || strings.HasPrefix(b.Module, ".")
	}
	return nil, relative
}
