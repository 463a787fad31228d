package overlap

import (
	"cmp"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/ledger"
)

// conclude lists all conflicts, with what became of them. Told anew are those that something was found or said about, and
// those of whose sides one was computed anew; the rest stays as it was listed last.
func (f *Fold) conclude() {
	renew := f.renewed()
	fresh := f.standing(renew)
	stands := make(map[ledger.ID]bool, len(fresh))
	for i := range fresh {
		stands[fresh[i].ID] = true
	}
	for id := range renew {
		if events := f.events[id]; len(events) > 0 && !stands[id] {
			if c, ok := f.past(id, events); ok {
				fresh = append(fresh, c)
			}
		}
	}
	for i := range fresh {
		f.live(&fresh[i])
		fresh[i].Minutes = f.minutes(&fresh[i])
	}
	f.arrange(fresh, renew)
	f.bind()
}

// renewed are the conflicts that may not be as they were listed last.
func (f *Fold) renewed() map[ledger.ID]bool {
	renew := f.changed
	f.changed = map[ledger.ID]bool{}
	for i := range f.list {
		if c := &f.list[i]; slices.ContainsFunc(c.Sides, func(s Side) bool { return f.revised[s.ID] }) {
			renew[c.ID] = true
		}
	}
	for id, events := range f.events {
		if !renew[id] && slices.ContainsFunc(events, f.restsOnRevised) {
			renew[id] = true
		}
	}
	clear(f.revised)
	return renew
}

// restsOnRevised reports whether what was said of a conflict is of a side that was computed anew.
func (f *Fold) restsOnRevised(it item) bool {
	switch c := it.Content.(type) {
	case *ledger.Act:
		return f.revised[c.Side]
	case *ledger.Found:
		return slices.ContainsFunc(c.Sides, func(id ledger.ID) bool { return f.revised[id] })
	}
	return false
}

// standing lists what stands now of some conflicts, each once.
func (f *Fold) standing(some map[ledger.ID]bool) (list []Conflict) {
	take := func(t told) {
		for i := range t.conflicts {
			if some[t.conflicts[i].ID] {
				list = append(list, t.conflicts[i])
			}
		}
	}
	take(f.joint)
	for _, one := range f.alone {
		take(one)
	}
	for _, one := range f.pairs {
		take(one)
	}
	slices.SortFunc(list, func(a, b Conflict) int {
		return cmp.Or(slices.Compare(a.ID[:], b.ID[:]), int(b.Severity)-int(a.Severity), strings.Compare(a.Sentence, b.Sentence))
	})
	n := 0
	for i := range list {
		if n > 0 && list[n-1].ID == list[i].ID {
			list[n-1].join(list[i])
			continue
		}
		list[n] = list[i]
		sides := slices.Clone(list[n].Sides)
		for k := range sides {
			sides[k] = f.view(f.sides[sides[k].ID])
		}
		list[n].Sides = sides
		n++
	}
	return list[:n]
}

// arrange puts what was told anew in its place among the rest, and gives all their names.
func (f *Fold) arrange(fresh []Conflict, renew map[ledger.ID]bool) {
	kept := make([]Conflict, 0, len(f.list))
	for i := range f.list {
		if !renew[f.list[i].ID] {
			kept = append(kept, f.list[i])
		}
	}
	verdicts := count(kept, fresh)
	if mark(kept, verdicts) {
		slices.SortFunc(kept, compareConflicts)
	}
	mark(fresh, verdicts)
	slices.SortFunc(fresh, compareConflicts)
	list := make([]Conflict, 0, len(kept)+len(fresh))
	for len(kept) > 0 && len(fresh) > 0 {
		if compareConflicts(kept[0], fresh[0]) < 0 {
			list, kept = append(list, kept[0]), kept[1:]
		} else {
			list, fresh = append(list, fresh[0]), fresh[1:]
		}
	}
	f.list = append(append(list, kept...), fresh...)
	f.byID = make(map[ledger.ID]int, len(f.list))
	for i := range f.list {
		f.byID[f.list[i].ID] = i
	}
	f.call(renew)
}

// call gives the conflicts their names. A new one may make those of others longer.
func (f *Fold) call(renew map[ledger.ID]bool) {
	same := true
	for id := range renew {
		_, listed := f.byID[id]
		_, named := f.number[id]
		switch {
		case listed && !named:
			n := numbered{id, ledger.NameOf(id)}
			at, _ := slices.BinarySearchFunc(f.numbers, n, compareNumbers)
			f.numbers, f.number[id], same = slices.Insert(f.numbers, at, n), "", false
		case !listed && named:
			f.numbers = slices.DeleteFunc(f.numbers, func(n numbered) bool { return n.id == id })
			delete(f.number, id)
			same = false
		}
	}
	if !same {
		shorten(f.number, "CF-", f.numbers)
	}
	for i := range f.list {
		f.list[i].Name = f.number[f.list[i].ID]
	}
}

func compareNumbers(a, b numbered) int { return strings.Compare(a.number, b.number) }
