package overlap

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/ledger"
)

// Errors of looking something up by its name.
var (
	ErrUnknown   = errors.New("there is no such name")
	ErrAmbiguous = errors.New("the name stands for more than one")
)

// prefixOf is what stands before a thing's number, "" for branches.
func prefixOf(first item) string {
	switch first.Content.(type) {
	case *ledger.Session:
		return "S-"
	case *ledger.Intent:
		return "INT-"
	}
	return ""
}

// refOf is what a side is called. An id that is not known here is taken for an intent's.
func (f *Fold) refOf(id ledger.ID) string {
	if ref := f.refs[id]; ref != "" {
		return ref
	}
	return "INT-" + ledger.NameOf(id)[:ledger.NameShown]
}

// refIn is what a side is called in what another one says.
func (f *Fold) refIn(id, by ledger.ID) string {
	if f.refs[id] == "" {
		wants(f.unborn, id, by)
	}
	return f.refOf(id)
}

// rename gives every side its name, and reports whether one that had a name has another now.
func (f *Fold) rename() (changed bool) {
	refs := map[ledger.ID]string{}
	numbers := map[string][]numbered{}
	branches := map[string][]*thing{}
	for id, t := range f.things {
		switch first := t.first(); {
		case first.Record == nil:
		case prefixOf(first) != "":
			p := prefixOf(first)
			numbers[p] = append(numbers[p], numbered{id, ledger.NameOf(id)})
		default:
			name := first.Content.(*ledger.Branch).Name
			branches[name] = append(branches[name], t)
		}
	}
	for prefix, list := range numbers {
		shorten(refs, prefix, list)
	}
	for name, list := range branches {
		for _, t := range list {
			if refs[t.id] = name; len(list) > 1 { // in several repositories
				refs[t.id] = f.repos[t.first().place].Slug + ":" + name
			}
		}
	}
	for id, ref := range f.refs {
		changed = changed || refs[id] != ref
	}
	for id, by := range f.unborn {
		if refs[id] != "" {
			maps.Copy(f.dirty, by)
			delete(f.unborn, id)
		}
	}
	f.refs = refs
	return changed
}

type numbered struct {
	id     ledger.ID
	number string
}

// shorten gives each the first digits of its number that no other has.
func shorten(refs map[ledger.ID]string, prefix string, list []numbered) {
	slices.SortFunc(list, compareNumbers)
	for i, n := range list {
		digits := ledger.NameShown
		if i > 0 {
			digits = max(digits, common(n.number, list[i-1].number)+1)
		}
		if i+1 < len(list) {
			digits = max(digits, common(n.number, list[i+1].number)+1)
		}
		refs[n.id] = prefix + n.number[:min(digits, len(n.number))]
	}
}

func common(a, b string) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// candidatesMax is how many longer names the error about an ambiguous one lists.
const candidatesMax = 8

// find looks a name up among numbers: as many of its first digits as only one has, at least one. Case does not matter, and
// what stands before the digits may be left out.
func find(name, prefix string, list []numbered) (ledger.ID, error) {
	digits := strings.TrimPrefix(strings.ToUpper(name), prefix)
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return ledger.ID{}, fmt.Errorf("%s: %w", name, ErrUnknown)
	}
	var hits []numbered
	for _, n := range list {
		if strings.HasPrefix(n.number, digits) {
			hits = append(hits, n)
		}
	}
	switch len(hits) {
	case 0:
		return ledger.ID{}, fmt.Errorf("%s: %w", name, ErrUnknown)
	case 1:
		return hits[0].id, nil
	}
	refs := map[ledger.ID]string{}
	shorten(refs, prefix, hits)
	var longer []string
	for _, h := range hits[:min(len(hits), candidatesMax)] {
		longer = append(longer, refs[h.id])
	}
	more := ""
	if n := len(hits) - candidatesMax; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return ledger.ID{}, fmt.Errorf("%s: %w: %s%s", name, ErrAmbiguous, strings.Join(longer, ", "), more)
}

// SideNamed finds a side by its name: INT-…, S-…, a branch, or "#42". Errors are [ErrUnknown], and [ErrAmbiguous]
// with the longer names.
func (f *Fold) SideNamed(name string) (ledger.ID, error) {
	f.settle()
	if s := f.byRef[name]; s != nil {
		return s.id, nil
	}
	for _, prefix := range []string{"INT-", "S-"} {
		if !strings.HasPrefix(strings.ToUpper(name), prefix) {
			continue
		}
		var list []numbered
		for _, s := range f.order {
			if strings.HasPrefix(f.refs[s.id], prefix) && s.published == nil {
				list = append(list, numbered{s.id, ledger.NameOf(s.id)})
			}
		}
		return find(name, prefix, list)
	}
	return ledger.ID{}, fmt.Errorf("%s: %w", name, ErrUnknown)
}

// ConflictNamed finds a conflict by its name CF-…. Errors are as of [Fold.SideNamed].
func (f *Fold) ConflictNamed(name string) (Conflict, error) {
	var list []numbered
	for _, c := range f.Conflicts() {
		list = append(list, numbered{c.ID, ledger.NameOf(c.ID)})
	}
	id, err := find(name, "CF-", list)
	if err != nil {
		return Conflict{}, err
	}
	return f.list[f.byID[id]], nil
}
