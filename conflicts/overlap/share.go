package overlap

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/ledger"
)

// Share is leave to count what another developer writes for a lane.
type Share struct {
	Fleet ledger.TID      // whose computers alone write under it
	Names ledger.NamesKey // by which the names in it are hidden; zero: they are shown
}

// SetShares says which of other developers' statements share their live work now, by the statement's id. What was
// written under another one counts for nothing.
func (f *Fold) SetShares(shares map[ledger.ID]Share) {
	if maps.Equal(f.shares, shares) {
		return
	}
	f.shares, f.keys, f.rebuild, f.stale = shares, nil, true, true
	for _, s := range shares {
		if s.Names != (ledger.NamesKey{}) {
			f.keys = append(f.keys, s.Names)
		}
	}
}

// counts reports whether what a chain says counts here, and gives a record that was written for a lane the place of the
// one at home that it stands for.
func (f *Fold) counts(it *item, c *chain) bool {
	if c.share == (ledger.ID{}) {
		return it.For == ledger.Place{}
	}
	s, ok := f.shares[c.share]
	if !ok || it.For == (ledger.Place{}) || f.developer(it.Device) != s.Fleet {
		return false
	}
	it.Lam, it.ID, it.shared, it.names = it.For.Lam, it.For.ID, true, s.Names
	return true
}

// DeveloperOf is the developer of a side, as it was settled last; zero for one that is not known.
func (f *Fold) DeveloperOf(id ledger.ID) (who ledger.TID) {
	if s := f.sides[id]; s != nil {
		who = s.who
	}
	return who
}

// DevelopersIn are the developers of a conflict's sides, as they were settled last.
func (f *Fold) DevelopersIn(conflict ledger.ID) (all []ledger.TID) {
	if i, ok := f.byID[conflict]; ok {
		for _, s := range f.list[i].Sides {
			all = append(all, s.Developer)
		}
	}
	return all
}

// Shown is a name in what was written under a statement, as far as it is shown here.
func (f *Fold) Shown(on ledger.ID, name string) string {
	if f.shares[on].Names == (ledger.NamesKey{}) {
		return name
	}
	return cmp.Or(f.names.shown[name], unnamedPath)
}

// hides reports whether a developer hides names from this one.
func (f *Fold) hides(fleet ledger.TID) bool {
	for _, s := range f.shares {
		if s.Fleet == fleet && s.Names != (ledger.NamesKey{}) {
			return true
		}
	}
	return false
}

// dictionary is what hidden names stand for: only names that somebody here works on, so that nobody reads what the
// other developer works on elsewhere.
type dictionary struct {
	shown  map[string]string             // by hidden form
	wanted map[string]map[ledger.ID]bool // things that hold a hidden form without a name
	past   map[string]map[ledger.ID]bool // conflicts that are over, about one
}

func newDictionary() dictionary {
	return dictionary{shown: map[string]string{}, wanted: map[string]map[ledger.ID]bool{}, past: map[string]map[ledger.ID]bool{}}
}

// wants notes that something is to be looked at again once something has a name.
func wants[K comparable](list map[K]map[ledger.ID]bool, unknown K, id ledger.ID) {
	if list[unknown] == nil {
		list[unknown] = map[ledger.ID]bool{}
	}
	list[unknown][id] = true
}

// learn notes a name that somebody here works on. Whoever hides it is looked at again.
func (f *Fold) learn(name string) {
	for _, key := range f.keys {
		f.shows(ledger.HideName(key, name), name)
	}
}

func (f *Fold) shows(hidden, name string) {
	if f.names.shown[hidden] == name {
		return
	}
	f.names.shown[hidden] = name
	for id := range f.names.wanted[hidden] {
		f.dirty[id], f.stale = true, true
	}
	for id := range f.names.past[hidden] {
		f.changed[id], f.unlisted = true, true
	}
	delete(f.names.wanted, hidden)
	delete(f.names.past, hidden)
}

// hears learns the names in what is said at home.
func (f *Fold) hears(it item) {
	if len(f.keys) == 0 || it.shared {
		return
	}
	switch c := it.Content.(type) {
	case *ledger.Edit:
		f.hearsEdit(c)
	case *ledger.Claim:
		for _, h := range c.Claims {
			f.learn(h.Pattern)
		}
	case *ledger.Attempt:
		for _, p := range c.Paths {
			f.learn(string(p.Path))
		}
	}
}

func (f *Fold) hearsEdit(e *ledger.Edit) {
	f.learn(string(e.Path))
	w := wording{path: string(e.Path)}
	for _, s := range namesIn(e) {
		if *s != "" {
			f.learn(w.long(*s))
		}
	}
	for _, key := range f.keys {
		for _, o := range []ledger.OID{e.BaseBlob, e.Blob} {
			f.shows(string(ledger.HideOID(key, o)), string(o))
		}
		for _, h := range e.Hunks {
			f.shows(number8(ledger.HideHash(key, h.Hash)), number8(h.Hash))
		}
	}
}

func number8(n uint64) string { return string(binary.BigEndian.AppendUint64(nil, n)) }

// namesIn are the names in an edit besides its path.
func namesIn(e *ledger.Edit) (out []*string) {
	out = append(out, (*string)(&e.From))
	for i := range e.Symbols {
		s := &e.Symbols[i]
		out = append(out, &s.Symbol, &s.From, &s.Container, &s.Package)
	}
	for i := range e.Contracts {
		out = append(out, &e.Contracts[i].Contract, &e.Contracts[i].From)
	}
	for i := range e.References {
		out = append(out, &e.References[i].Target)
	}
	return out
}

// name is what a hidden name of a thing stands for, "" while that is not known here.
func (f *Fold) name(hidden string, of ledger.ID) string {
	name, ok := f.names.shown[hidden]
	if !ok {
		wants(f.names.wanted, hidden, of)
	}
	return name
}

// revealed are the hidden names of what a past conflict was about that are known here.
func (f *Fold) revealed(list []string, conflict ledger.ID) (out []string) {
	for _, s := range list {
		if name, ok := f.names.shown[s]; ok {
			out = append(out, name)
		} else {
			wants(f.names.past, s, conflict)
		}
	}
	return out
}

// unnamedPath stands for the path of something hidden where only its symbol or contract is known here.
const unnamedPath = "a file whose name is not shown"

// reveal is an edit with the names that are known here; false where its path is not.
func (f *Fold) reveal(it item, e *ledger.Edit, of ledger.ID) (*ledger.Edit, bool) {
	if it.names == (ledger.NamesKey{}) {
		return e, true
	}
	out := copyOf(e)
	path := f.name(string(e.Path), of)
	out.Path = ledger.Path(path)
	if path == "" {
		out.Path = unnamedPath
	}
	for _, s := range namesIn(out) {
		if *s != "" {
			*s = f.name(*s, of)
		}
	}
	if out.Op == ledger.EditRename && out.From == "" {
		out.Op = ledger.EditAdd
	}
	for _, o := range []*ledger.OID{&out.BaseBlob, &out.Blob} {
		if known := f.name(string(*o), of); known != "" {
			*o = ledger.OID(known)
		}
	}
	for i := range out.Hunks {
		if known := f.name(number8(out.Hunks[i].Hash), of); known != "" {
			out.Hunks[i].Hash = binary.BigEndian.Uint64([]byte(known))
		}
	}
	dropUnnamed(out)
	return out, path != ""
}

// Hide is what a body says with its names hidden, nil for one that says nothing without them: what was published is
// known at the other end anyhow. Whatever would tell a name in another way is left out.
func Hide(body ledger.Body, key ledger.NamesKey, size int) ledger.Body {
	switch c := body.(type) {
	case *ledger.Session:
		out := *c
		out.Branch = ""
		return &out
	case *ledger.Intent:
		out := *c
		out.Task = hiddenTask
		return &out
	case *ledger.Claim:
		return hideClaim(c, key)
	case *ledger.Edit:
		return hideEdit(c, key, size)
	case *ledger.Attempt:
		return hideAttempt(c, key)
	case *ledger.Found:
		out := *c
		out.About = nil
		for _, s := range c.About {
			out.About = append(out.About, ledger.HideName(key, s))
		}
		return &out
	case *ledger.Branch:
		return nil
	}
	return body
}

// hiddenTask stands in place of a task's text.
const hiddenTask = "(not shown)"

func hideClaim(c *ledger.Claim, key ledger.NamesKey) *ledger.Claim {
	out := &ledger.Claim{Holder: c.Holder}
	for _, h := range c.Claims {
		h.Pattern = ledger.HideName(key, h.Pattern)
		out.Claims = append(out.Claims, h)
	}
	slices.SortFunc(out.Claims, func(a, b ledger.Held) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), strings.Compare(a.Pattern, b.Pattern))
	})
	return out
}

func hideAttempt(c *ledger.Attempt, key ledger.NamesKey) *ledger.Attempt {
	out := &ledger.Attempt{Session: c.Session}
	for _, p := range c.Paths {
		p.Path = ledger.Path(ledger.HideName(key, string(p.Path)))
		out.Paths = append(out.Paths, p)
	}
	slices.SortFunc(out.Paths, func(a, b ledger.Trying) int { return strings.Compare(string(a.Path), string(b.Path)) })
	return out
}

// hideEdit leaves out the reasons in words, the fingerprints, and the hashes of signatures and bodies besides.
func hideEdit(e *ledger.Edit, key ledger.NamesKey, size int) *ledger.Edit {
	out, w := copyOf(e), wording{path: string(e.Path)}
	out.Path, out.Prints = ledger.Path(ledger.HideName(key, string(e.Path))), nil
	for _, s := range namesIn(out) {
		if *s != "" {
			*s = ledger.HideName(key, w.long(*s))
		}
	}
	for i := range out.Symbols {
		s := &out.Symbols[i]
		s.Why, s.Signature, s.Body = nil, 0, 0
	}
	for i := range out.Contracts {
		out.Contracts[i].Why = nil
	}
	out.Emptied = 0 // a hidden name says no folder
	out.BaseBlob, out.Blob = ledger.HideOID(key, out.BaseBlob), ledger.HideOID(key, out.Blob)
	for i := range out.Hunks {
		out.Hunks[i].Hash = ledger.HideHash(key, out.Hunks[i].Hash)
	}
	fit(out, size)
	return out
}

// copyOf is an edit whose lists can be changed.
func copyOf(e *ledger.Edit) *ledger.Edit {
	out := *e
	out.Hunks, out.Symbols = slices.Clone(e.Hunks), slices.Clone(e.Symbols)
	out.Contracts, out.References = slices.Clone(e.Contracts), slices.Clone(e.References)
	return &out
}

// dropUnnamed leaves out what has no name here: nothing that is known here can be the same.
func dropUnnamed(e *ledger.Edit) {
	e.Symbols = slices.DeleteFunc(e.Symbols, func(s ledger.SymbolEdit) bool { return s.Symbol == "" })
	e.Contracts = slices.DeleteFunc(e.Contracts, func(c ledger.ContractEdit) bool { return c.Contract == "" })
	e.References = slices.DeleteFunc(e.References, func(r ledger.ReferenceEdit) bool { return r.Target == "" })
}

// meetsHidden looks whether somebody who hides names works on one of these paths, and knows it from then on.
func (f *Fold) meetsHidden(upcoming []detect.Upcoming) {
	met := false
	for _, u := range upcoming {
		for _, key := range f.keys {
			if hidden := ledger.HideName(key, u.Path); f.names.wanted[hidden] != nil || f.names.past[hidden] != nil {
				f.shows(hidden, u.Path)
				met = true
			}
		}
	}
	if met {
		f.settle()
	}
}
