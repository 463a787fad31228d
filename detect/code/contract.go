package code

import (
	"cmp"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// linked are the contracts of a state by id, routes with the prefixes of the routers that they hang on.
func (r *resolver) linked(units []detect.Unit) map[string]detect.Contract {
	all := map[string]detect.Contract{}
	mounts := r.mounts(units)
	for i := range units {
		for _, contract := range units[i].Contracts {
			if contract.Kind != detect.RouteContract {
				r.schema(&units[i], &contract)
				r.keep(all, contract)
				continue
			}
			method, path, _ := strings.Cut(strings.TrimPrefix(contract.ID, "http:"), " ")
			r.handled(&units[i], &contract)
			router := r.routerID(&units[i], contract.Router)
			contract.Router = ""
			for _, at := range places(mounts, router, linksMax) {
				c := contract
				c.Tail = c.Tail && at.into == router || r.handedOn(at.into)
				whole, names := routePath(joinPath(at.prefix, path))
				if extra := len(names) - strings.Count(path, "{}"); extra > 0 && extra <= len(names) {
					c.Params = append(slices.Clone(names[:extra]), c.Params...)
				}
				for m, handler := range r.methods(method, c.Handler) {
					c.ID = routeID(m, whole)
					if c.Handler = handler; r.symbols[handler] != nil {
						c.Hash = r.symbols[handler].BodyHash
					}
					r.keep(all, c)
				}
			}
		}
	}
	return all
}

// keep adds a contract; of two with one id the first file's stays, so that the order of units does not matter.
func (r *resolver) keep(all map[string]detect.Contract, c detect.Contract) {
	if have, ok := all[c.ID]; !ok || c.Path < have.Path {
		all[c.ID] = c
	}
}

// handled finds the symbol that serves a route, whose body is then what the route does.
func (r *resolver) handled(u *detect.Unit, c *detect.Contract) {
	if c.Handler == "" {
		return
	}
	id, _ := r.resolve(u, c.Handler)
	c.Handler = id
	if sym := r.symbols[id]; sym != nil {
		c.Hash = sym.BodyHash
	}
}

// schema puts in the fields of schemas of other files, as far as they are at hand.
func (r *resolver) schema(u *detect.Unit, c *detect.Contract) {
	for range linksMax {
		at := strings.Index(c.Inputs, "@mod:")
		if at < 0 || strings.IndexByte(c.Inputs[at:], '#') < 0 {
			return // or a text of the schema looks so
		}
		end := at + strings.IndexByte(c.Inputs[at:], '#') + 1
		for end < len(c.Inputs) && wordy(c.Inputs[end]) {
			end++
		}
		id, _ := r.resolve(u, c.Inputs[at+1:end])
		text := id
		if other := r.units[pathOf(id)]; other != nil {
			for _, o := range other.Contracts {
				if o.Kind == detect.SchemaContract && nameOf(o.ID) == nameOf(id) && !strings.Contains(o.Inputs, "@mod:") {
					text = o.Inputs
				}
			}
		}
		c.Inputs = c.Inputs[:at] + text + c.Inputs[end:]
		if at == 0 {
			c.Inputs = zodApply(c.Inputs)
		}
	}
}

// routerID names a router across files.
func (r *resolver) routerID(u *detect.Unit, name string) string {
	switch {
	case name == "":
		return u.Path + "#"
	case strings.HasPrefix(name, "mod:"):
		id, _ := r.resolve(u, name)
		return pathOf(id) + "#" + nameOf(id)
	}
	for _, e := range u.Exports {
		if e.Local == name && e.Module == "" {
			return u.Path + "#" + e.Name
		}
	}
	return u.Path + "#" + name
}

// ownPrefix stands for the router that a mount is into where it only says what a router's prefix is as long as
// nobody gives it another.
const ownPrefix = "="

// placesMax bounds at how many places one router is said to hang.
const placesMax = 64

type mounted struct{ prefix, into string }

// mounts are the places of every router.
func (r *resolver) mounts(units []detect.Unit) map[string][]mounted {
	all, own := map[string][]mounted{}, map[string]string{}
	for i := range units {
		for _, m := range units[i].Mounts {
			if m.Into == ownPrefix {
				own[r.routerID(&units[i], m.Router)] = m.Prefix
				continue
			}
			router, into := r.routerID(&units[i], m.Router), r.routerID(&units[i], m.Into)
			if router != into {
				all[router] = append(all[router], mounted{m.Prefix, into})
			}
		}
	}
	for router, prefix := range own {
		for i := range all[router] {
			all[router][i].prefix = cmp.Or(all[router][i].prefix, prefix)
		}
		if len(all[router]) == 0 {
			all[router] = []mounted{{prefix: prefix, into: router + "="}}
		}
	}
	for router, list := range all {
		slices.SortFunc(list, byPlace)
		all[router] = slices.Compact(list)
	}
	return all
}

// places are where the routes of a router are served in the end: below a prefix of a router that hangs nowhere.
// Routers that hang on each other in a circle are followed for a while.
func places(mounts map[string][]mounted, router string, left int) (all []mounted) {
	if left == 0 || len(mounts[router]) == 0 {
		return []mounted{{into: router}}
	}
	for _, m := range mounts[router] {
		for _, outer := range places(mounts, m.into, left/2) {
			if all = append(all, mounted{joinPath(outer.prefix, m.prefix), outer.into}); len(all) == placesMax {
				return all
			}
		}
	}
	slices.SortFunc(all, byPlace)
	return slices.Compact(all)
}

func byPlace(a, b mounted) int {
	return cmp.Or(cmp.Compare(a.prefix, b.prefix), cmp.Compare(a.into, b.into))
}

// handedOn reports whether a router is a function of Go or Rust, which gives the router that it makes or is given to
// somebody who was not seen.
func (r *resolver) handedOn(router string) bool {
	s := r.symbols["sym:go:"+router]
	if s == nil {
		s = r.symbols["sym:rs:"+router]
	}
	return s != nil && (s.Kind == detect.Function || s.Kind == detect.Method)
}

// contracts compares the routes and schemas of two states.
func (c *comparison) contracts(before, after []detect.Unit) (changes []detect.ContractChange) {
	old, now := c.old.linked(before), c.now.linked(after)
	mounted := c.mountsKnown(before) && c.mountsKnown(after)
	var gone, come []detect.Contract
	for id, was := range sorted(old) {
		is, ok := now[id]
		switch {
		case !ok && was.Kind == detect.RouteContract && !mounted:
		case !ok && c.clean(was.Path):
			gone = append(gone, was)
		case ok && c.clean(was.Path, is.Path):
			if change, differs := contractChange(&was, &is); differs {
				changes = append(changes, change)
			}
		}
	}
	for id, is := range sorted(now) {
		if _, ok := old[id]; !ok && c.read(is.Path) {
			come = append(come, is)
		}
	}
	gone, come, changes = movedRoutes(gone, come, changes)
	for _, was := range gone {
		changes = append(changes, detect.ContractChange{Contract: was, Change: detect.Removed, Verdict: detect.Breaking, Why: []string{"removed"}})
	}
	for _, is := range come {
		changes = append(changes, detect.ContractChange{Contract: is, Change: detect.Added, Verdict: detect.Compatible})
	}
	slices.SortStableFunc(changes, func(a, b detect.ContractChange) int { return cmp.Compare(a.Contract.ID, b.Contract.ID) })
	return changes
}

// mountsKnown reports whether each file that mounts routers was read without an error in both states: without its
// mounts the routes of other files seem to be served elsewhere.
func (c *comparison) mountsKnown(units []detect.Unit) bool {
	return !slices.ContainsFunc(units, func(u detect.Unit) bool { return len(u.Mounts) > 0 && !c.clean(u.Path) })
}

// movedRoutes pairs routes that went with those that came, where one handler alone says that they are one.
func movedRoutes(gone, come []detect.Contract, changes []detect.ContractChange) (left, right []detect.Contract, all []detect.ContractChange) {
	key := func(c detect.Contract) string {
		if c.Kind != detect.RouteContract {
			return ""
		}
		if c.Handler != "" {
			return c.Handler
		}
		return string(binaryHash(c.Hash))
	}
	count := func(list []detect.Contract) map[string]int {
		n := map[string]int{}
		for _, c := range list {
			n[key(c)]++
		}
		return n
	}
	were, are := count(gone), count(come)
	taken := map[string]bool{}
	for _, was := range gone {
		k := key(was)
		at := slices.IndexFunc(come, func(is detect.Contract) bool { return key(is) == k })
		if k == "" || were[k] != 1 || are[k] != 1 || at < 0 {
			left = append(left, was)
			continue
		}
		taken[come[at].ID] = true
		changes = append(changes, detect.ContractChange{
			Contract: come[at], From: was.ID, Change: detect.Moved, Verdict: detect.Breaking,
			Why: []string{"moved from " + strings.TrimPrefix(was.ID, "http:")},
		})
	}
	for _, is := range come {
		if !taken[is.ID] {
			right = append(right, is)
		}
	}
	return left, right, changes
}

func binaryHash(h uint64) []byte {
	return []byte{byte(h), byte(h >> 8), byte(h >> 16), byte(h >> 24), byte(h >> 32), byte(h >> 40), byte(h >> 48), byte(h >> 56)}
}

// contractChange compares two versions of a route or a schema.
func contractChange(was, is *detect.Contract) (change detect.ContractChange, differs bool) {
	change = detect.ContractChange{Contract: *is, Change: detect.SignatureChanged}
	j := newJudge(languages[dialectOf(is.Path)])
	if was.Inputs != is.Inputs {
		if was.Kind == detect.SchemaContract {
			j.schemas(was.Inputs, is.Inputs, "field ", shared)
		} else {
			j.parts(was.Inputs, is.Inputs, asked)
		}
	}
	if was.Outputs != is.Outputs {
		j.parts(was.Outputs, is.Outputs, given)
	}
	change.Verdict, change.Why = j.verdict(), j.why
	switch {
	case was.Inputs != is.Inputs || was.Outputs != is.Outputs:
		return change, true
	case was.Hash != is.Hash:
		change.Change, change.Verdict = detect.Body, detect.Compatible
		if is.Kind == detect.SchemaContract {
			change.Verdict, change.Why = detect.CannotTell, []string{"what the schema checks beyond its fields changed"}
		}
		return change, true
	}
	return change, false
}

// direction is which way values of a type go: into what serves it, out of it, or, with a schema that others import, both.
type direction uint8

const (
	asked direction = 1 << iota
	given
	shared = asked | given
)

// parts compares what a route says of its body, query and so on.
func (j *judge) parts(was, is string, way direction) {
	old, now := objectFields("{"+was+"}"), objectFields("{"+is+"}")
	if j.language == "py" { // a signature that takes nothing says so
		for _, side := range []map[string]objectField{old, now} {
			if _, ok := side["params"]; !ok && way == asked {
				side["params"] = objectField{of: "{}"}
			}
		}
	}
	for where, f := range sorted(old) {
		g, ok := now[where]
		switch {
		case !ok:
			j.open(where + " is no longer described")
		case f.of != g.of:
			j.schemas(f.of, g.of, where+" field ", way)
		}
	}
	for where := range sorted(now) {
		if _, ok := old[where]; !ok {
			j.open(where + " is now described")
		}
	}
}

// schemas compares two types that are asked for, or given.
func (j *judge) schemas(was, is, what string, way direction) {
	if !strings.HasPrefix(was, "{") || !strings.HasPrefix(is, "{") {
		a, b := j.same(was, is), j.same(is, was)
		if way == given {
			a = b
		} else if b == no {
			a = b // whoever reads it sees other values
		}
		j.by(a, strings.TrimSuffix(what, "field ")+"changed from "+was+" to "+is)
		return
	}
	old, now := objectFields(was), objectFields(is)
	for name, f := range sorted(old) {
		g, ok := now[name]
		if !ok {
			j.sent(f.of, what+name+" removed")
			continue
		}
		if f.of != g.of {
			j.retyped(f.of, g.of, what+name, way)
		}
		switch {
		case f.optional && !g.optional && way&asked != 0:
			j.breaking(what + name + " became required")
		case !f.optional && g.optional && way&given != 0:
			j.breaking(what + name + " may now be missing")
		}
	}
	for name, g := range sorted(now) {
		if _, ok := old[name]; !ok && !g.optional && way&asked != 0 {
			j.sent(g.of, "required "+what+name+" added")
		} else if !ok {
			j.fine(what + name + " added")
		}
	}
}

// sent notes what breaks those who send a field of a type. A parameter of Python may be no part of a request at all: what
// a type of another file stands for is not known, it may well be a dependency that the server itself gives.
func (j *judge) sent(of, why string) {
	if j.language == "py" && !urlType(of) {
		j.open(why + ", which callers may not send")
		return
	}
	j.breaking(why)
}

// urlTypes are types of Python whose values stand in URLs and headers; "?" is that of a parameter without a type.
var urlTypes = []string{"?", "None", "str", "int", "float", "bool", "bytes", "UUID", "date", "datetime", "time", "timedelta", "Decimal"}

// urlType reports whether a parameter of a type is one of the request's.
func urlType(of string) bool {
	for part := range strings.SplitSeq(of, " | ") {
		for _, sort := range []string{"Query(", "Header(", "Path(", "Cookie(", "Body(", "Form(", "File("} {
			if strings.Contains(part, sort) {
				return true
			}
		}
		if !slices.Contains(urlTypes, part[strings.LastIndexByte(part, '.')+1:]) {
			return false
		}
	}
	return true
}

// retyped compares two types of one field. What is only asked for may be widened, what is only given narrowed.
func (j *judge) retyped(was, is, what string, way direction) {
	switch {
	case strings.HasPrefix(was, "{") && strings.HasPrefix(is, "{"):
		j.schemas(was, is, what+".", way)
		return
	case j.language == "py" && way == asked && is == "str" && slices.Contains([]string{"int", "float", "bool"}, was):
		j.fine(what + " takes any text") // what stands in a URL is text
		return
	}
	into, out := yes, yes
	if way&asked != 0 {
		into = j.same(was, is)
	}
	if way&given != 0 {
		out = j.same(is, was)
	}
	both := min(into, out) // not known, unless one is a no
	if into == no || out == no {
		both = no
	}
	j.by(both, what+" changed from "+was+" to "+is)
}
