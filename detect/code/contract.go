package code

import (
	"cmp"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// linked are the contracts of a state by id, routes with the prefixes of the routers that they hang on. A route keeps the name
// of a router that hangs nowhere.
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
			method, path := r.spelled(&units[i], contract.ID)
			r.handled(&units[i], &contract)
			r.modelled(&units[i], &contract)
			router := r.routerID(&units[i], contract.Router)
			for _, at := range places(mounts, router, linksMax) {
				if c, ok := r.hang(contract, at, router, path); ok {
					r.serve(all, c, method)
				}
			}
		}
	}
	return all
}

// spelled are the method and the path of a route, with what other files say of the path.
func (r *resolver) spelled(u *detect.Unit, id string) (method, path string) {
	method, path, _ = strings.Cut(strings.TrimPrefix(strings.TrimPrefix(id, "http:"), "url:"), " ")
	if strings.ContainsRune(method, markOpen) {
		method = strings.ToUpper(strings.ReplaceAll(r.unmarked(u, method), "{}", "*"))
	}
	return method, r.unmarked(u, path)
}

// hang is a route at one place of its router: its id is the path alone. It is not ok if nothing of it is known.
func (r *resolver) hang(c detect.Contract, at mounted, router, path string) (detect.Contract, bool) {
	whole := below(at.prefix, path)
	c.Tail = c.Tail && at.into == router || r.handedOn(at.into)
	if rest, open := strings.CutPrefix(whole, "{}"); open && (rest == "" || rest[0] == '/') {
		whole, c.Tail = rest, true
	}
	if c.Router = ""; at.into == router {
		c.Router = router
	}
	raw := strings.HasPrefix(c.ID, "url:")
	var names []string
	c.ID, names = routePath(whole)
	if extra := len(names) - strings.Count(path, "{}"); raw {
		c.Params = names
	} else if extra > 0 && extra <= len(names) {
		c.Params = append(slices.Clone(names[:extra]), c.Params...)
	}
	r.blame(&c, at.via)
	return c, !raw || strings.Trim(c.ID, "/{}") != ""
}

// blame puts a route of a file that did not change where it did: to a file that mounts its router, or that of its handler.
func (r *resolver) blame(c *detect.Contract, via []detect.Mount) {
	if r.same == nil || !r.same[c.Path] {
		return
	}
	for _, m := range via {
		if !r.same[m.Router] {
			c.Path, c.Line = m.Router, m.Line
			return
		}
	}
	if p := pathOf(c.Handler); r.symbols[c.Handler] != nil && !r.same[p] {
		c.Path, c.Line = p, r.symbols[c.Handler].Line
	}
}

// serve adds a route for each method that its handler serves.
func (r *resolver) serve(all map[string]detect.Contract, c detect.Contract, method string) {
	path := c.ID
	for m, handler := range r.methods(method, c.Handler) {
		c.ID = routeID(m, path)
		if c.Handler = handler; r.symbols[handler] != nil {
			c.Hash = r.symbols[handler].BodyHash
		}
		r.keep(all, c)
	}
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

// contracts compares the routes and schemas of two states.
func (c *comparison) contracts(before, after []detect.Unit) (changes []detect.ContractChange) {
	old, now := c.old.linked(before), c.now.linked(after)
	mounted := c.mountsKnown(before) && c.mountsKnown(after)
	defer func() {
		for i := range changes {
			changes[i].Contract.Router = ""
		}
	}()
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
		is := come[at]
		switch {
		case was.Router == "" && is.Router != "": // nobody in sight serves it any more
			left = append(left, was)
			continue
		case was.Router != "" && is.Router == "" && was.Tail && endsAlike(&was, &is): // where it was served before is not known
			continue
		}
		taken[is.ID] = true
		change := detect.ContractChange{
			Contract: is, From: was.ID, Change: detect.Moved, Verdict: detect.Breaking,
			Why: []string{"moved from " + strings.TrimPrefix(was.ID, "http:")},
		}
		if was.Router != "" && is.Router == "" && endsAlike(&was, &is) {
			change.Verdict, change.Why = detect.CannotTell, append(change.Why, "which nobody in sight served")
		}
		changes = append(changes, change)
	}
	for _, is := range come {
		if !taken[is.ID] {
			right = append(right, is)
		}
	}
	return left, right, changes
}

// endsAlike reports whether a route ends as another does, which hung nowhere.
func endsAlike(loose, is *detect.Contract) bool {
	method, path, _ := strings.Cut(loose.ID, " ")
	return strings.HasPrefix(is.ID, method+" ") && strings.HasSuffix(is.ID, strings.TrimSuffix(path, "/"))
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
	if j.language == "py" && way == given {
		was, is = unwrapped(was, is)
	}
	if !oneObject(was) || !oneObject(is) {
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
			if way == given {
				j.breaking(what + name + " removed")
			} else {
				j.sent(f.of, what+name+" removed")
			}
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
	if j.language == "py" && way == given {
		was, is = unwrapped(was, is)
	}
	switch {
	case oneObject(was) && oneObject(is):
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
