package detect

import (
	"fmt"
	"iter"
	"slices"
	"strings"
)

// How sure it is that a side relies on a contract (C4).
const (
	sureUse          Confidence = 90
	likelyUse        Confidence = 70 // by name, or of the end of a route alone
	claimedUse       Confidence = 60
	throughClass     Confidence = 50 // the use names the class, the change is of a member
	changedBehaviour Confidence = 60
	cannotTellBreak  Confidence = 50
)

// promise is a change of something that others may rely on.
type promise struct {
	id      string // as its users know it: the old one where it moved
	to      string // where it moved, else ""
	aliases []string
	inside  string // the class around a member
	change  Change
	verdict Verdict
	private bool // used in its own file or package alone, and claimed as a symbol only
	route   bool
	tail    bool // only the end of its path is known
	path    string
	why     []string
	// It asks more of those who implement it. Whether others make such a thing is not known.
	extended bool
}

// contractBreaks finds what one side breaks and the other uses.
func (m *meeting) contractBreaks(changer, user *Party) {
	across := changer.Side.Repo != user.Side.Repo
	switch {
	case !user.Side.live(), len(user.References) == 0 && len(user.claims) == 0:
		return
	case changer.Side.State == Merged && changer.Side.Checkout != "" && changer.Side.Checkout == user.Side.Checkout:
		return // both see the merged work in the one working copy (C10)
	case changer.Side.State != Live && changer.Side.State != Merged:
		return
	case across && !m.rules.linked(changer.Side.Repo, user.Side.Repo):
		return
	}
	for _, p := range changer.promised {
		if uses := user.uses(p, across); uses.confidence > 0 && !user.adapts(p) {
			m.addBreak(changer, user, p, uses, across)
		}
	}
}

// promises lists a party's changes that can concern others, the gravest of each symbol, route and schema. What is not exported
// concerns who works in the same file, or package of Go: nobody else can refer to it.
func (p *Party) promises() (all []promise) {
	for _, w := range p.works {
		c := w.change
		if w.how == Added && c.Verdict == Breaking && c.Symbol.Exported && c.Symbol.Container != "" {
			all = append(all, demand(c))
			continue
		}
		if w.how < Moved || w.how == Moved && w.id != c.From {
			continue
		}
		out := promise{id: w.id, change: w.how, verdict: c.Verdict, path: symbolPath(w.id), why: c.Why}
		if c.Symbol.Exported {
			out.inside = c.Symbol.Container
		} else {
			out.private = true
		}
		if w.how == Moved {
			out.to = c.Symbol.ID
		}
		if c.Symbol.Package != "" {
			out.aliases = []string{c.Symbol.Package}
		}
		all = append(all, out)
	}
	for i := range p.Contracts {
		c := &p.Contracts[i]
		if !p.concerns(c) {
			continue
		}
		out := promise{
			id: c.Contract.ID, change: c.Change, verdict: c.Verdict,
			route: c.Contract.Kind == RouteContract, tail: c.Contract.Tail, path: c.Contract.Path, why: c.Why,
		}
		if c.Change == Moved && c.From != "" {
			out.id, out.to = c.From, c.Contract.ID
		}
		if out.change != Body && !p.cleanFile(c.Contract.Path) {
			out.verdict = CannotTell
		}
		all = append(all, out)
	}
	all = slices.DeleteFunc(all, func(p promise) bool { return p.verdict == Compatible && p.change != Body })
	slices.SortStableFunc(all, func(a, b promise) int {
		return firstOf(strings.Compare(a.id, b.id), int(b.change)-int(a.change), int(b.verdict)-int(a.verdict), strings.Compare(a.to, b.to))
	})
	return slices.CompactFunc(all, func(a, b promise) bool { return a.id == b.id })
}

// demand is what a member that comes new to an interface asks of those who have the interface.
func demand(c *SymbolChange) promise {
	out := promise{
		id: c.Symbol.Container, change: SignatureChanged, verdict: CannotTell, extended: true, path: symbolPath(c.Symbol.ID), why: c.Why,
	}
	if at := strings.LastIndexByte(c.Symbol.Package, '.'); at > strings.IndexByte(c.Symbol.Package, '#') {
		out.aliases = []string{c.Symbol.Package[:at]}
	}
	return out
}

// concerns reports whether others can rely on what changed. What a test serves nobody calls, and a route of which no
// part is known is like every other.
func (p *Party) concerns(c *ContractChange) bool {
	route := c.Contract.Kind == RouteContract
	switch {
	case c.Change == Added, c.Change == Body && !route:
		return false
	case route && (testPath(c.Contract.Path) || !identifies(c.Contract.ID)):
		return false
	}
	return !p.Rules.ignores(c.Contract.Path, p.Side.Folds)
}

// identifies reports whether a route has a part that is known.
func identifies(id string) bool {
	_, path, _ := strings.Cut(id, " ")
	return slices.ContainsFunc(strings.Split(path, "/"), func(s string) bool { return s != "" && s != "{}" && s != "*" })
}

// testPath reports whether a file belongs to tests, by the names that test tools look for.
func testPath(path string) bool {
	folder, name := "", path
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		folder, name = "/"+path[:i+1], path[i+1:]
	}
	has := func(s string, parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(s, p) })
	}
	return has(folder, "/test/", "/tests/", "/__tests__/", "/testdata/", "/e2e/", "/spec/") ||
		has(name, ".test.", ".spec.", "_test.") || strings.HasPrefix(name, "test_") || name == "conftest.py"
}

// uses is how a party relies on a promise.
type uses struct {
	count      int
	paths      []string
	confidence Confidence
	claimed    bool
	extends    bool // it has what is promised as a base of its own
	from       []Source
}

func (p *Party) uses(of promise, across bool) (u uses) {
	for ref := range p.candidates(of) {
		c := of.usedBy(ref, across)
		if c == 0 {
			continue
		}
		u.count++
		u.extends = u.extends || ref.Kind == Extend
		u.paths = append(u.paths, ref.Path)
		u.confidence = max(u.confidence, c)
		if f := p.files[ref.Path]; f != nil {
			u.from = append(u.from, p.source(f))
		}
	}
	u.paths = distinct(u.paths)
	if u.count == 0 && !across && !of.private && (p.hasClaim(ContractClaim, of.id) || p.hasClaim(SymbolClaim, of.id)) {
		u.claimed, u.confidence = true, claimedUse
	}
	return u
}

// candidates walks the references that can be ones to a promise, in order.
func (p *Party) candidates(of promise) iter.Seq[*Reference] {
	return func(yield func(*Reference) bool) {
		if of.route {
			for _, ref := range p.requests {
				if !yield(ref) {
					return
				}
			}
			return
		}
		for _, id := range append([]string{of.id, of.inside}, of.aliases...) {
			for _, ref := range p.targets[id] {
				if !yield(ref) {
					return
				}
			}
		}
	}
}

// listReferences indexes a party's references, the ignored paths left out.
func (p *Party) listReferences() {
	p.targets = map[string][]*Reference{}
	for i := range p.References {
		ref := &p.References[i]
		if p.Rules.ignores(ref.Path, p.Side.Folds) {
			continue
		}
		if ref.Kind == Request {
			p.requests = append(p.requests, ref)
		} else if ref.Target != "" {
			p.targets[ref.Target] = append(p.targets[ref.Target], ref)
		}
	}
}

// usedBy is how surely a reference is one to the promise, 0 when it is not. Repositories know each other's
// symbols by package alone.
func (p promise) usedBy(ref *Reference, across bool) Confidence {
	if ref.Kind == Call && p.inside == "" && slices.Equal(p.why, []string{VariadicAdded}) {
		return 0
	}
	sure := likelyUse
	if ref.Sure || ref.Kind == Import && !across {
		sure = sureUse // the other side shows that what is imported is declared there
	}
	switch {
	case p.route:
		ends := p.tail && identifies(p.id) && sameRoute(ref.Target, p.id, true)
		if ref.Kind != Request || !identifies(ref.Target) || !ends && !sameRoute(p.id, ref.Target, ref.Tail) {
			return 0
		}
		if ref.Tail || p.tail {
			return likelyUse
		}
		return sure
	case slices.Contains(p.aliases, ref.Target):
		return sure
	case across:
		return 0
	case ref.Target == p.id:
		return sure
	case p.inside != "" && ref.Target == p.inside && ref.Path != p.path:
		return throughClass
	}
	return 0
}

// sameRoute reports whether a request can reach a route. A {} stands for any one part of the path.
func sameRoute(route, request string, tail bool) bool {
	methodA, pathA, okA := strings.Cut(strings.TrimPrefix(route, "http:"), " ")
	methodB, pathB, okB := strings.Cut(strings.TrimPrefix(request, "http:"), " ")
	if !okA || !okB || methodA != methodB && methodA != "*" && methodB != "*" {
		return false
	}
	as, bs := strings.Split(strings.Trim(pathA, "/"), "/"), strings.Split(strings.Trim(pathB, "/"), "/")
	if tail && len(as) > len(bs) {
		as = as[len(as)-len(bs):]
	}
	return slices.EqualFunc(as, bs, func(a, b string) bool { return a == b || a == "{}" || b == "{}" })
}

// adapts reports whether the user makes the very same change itself, so that its references are to the new form.
func (p *Party) adapts(to promise) bool {
	return slices.ContainsFunc(p.promised, func(own promise) bool {
		return own.id == to.id && own.to == to.to && own.change == to.change && own.change != SignatureChanged && own.change != Body
	})
}

func (m *meeting) addBreak(changer, user *Party, p promise, u uses, across bool) {
	criticality := m.rules.criticalityOf(p.id)
	meaning, confidence, evidence := "breaking", u.confidence, Observed
	start := m.rules.severity(ContractBreak)
	if slices.Contains(m.rules.policy.BlockContractBreakWhenCriticality, criticality) {
		start = Block
	}
	switch {
	case p.change == Body:
		meaning, confidence, start = "behavior/response changed", min(confidence, changedBehaviour), min(start, Warn)
	case u.confidence == throughClass:
		evidence, start = Inferred, Info // which members are used is not known
	case p.verdict == CannotTell && !(p.extended && u.extends):
		meaning, confidence, evidence, start = "cannot tell whether breaking", min(confidence, cannotTellBreak), Inferred, Info
	}
	if u.claimed {
		evidence = Declared
	}
	sentence := fmt.Sprintf("%s %s (%s, criticality %s); %s %s.",
		changer.Side.Label(), p.act(), meaning, criticality, user.Side.Label(), u.act())
	if across {
		start = min(start, Warn)
		sentence = fmt.Sprintf("Cross-repo: the contract is in %s, the code that uses it in %s. %s", changer.Side.Repo, user.Side.Repo, sentence)
	}
	from := u.from
	if f := changer.files[p.path]; f != nil {
		from = append(from, changer.source(f))
	}
	_, newcomer := earlier(changer.Digest, user.Digest)
	m.add(m.rules.judge(Finding{
		Kind: ContractBreak, Confidence: confidence, Evidence: evidence,
		Sides: []string{changer.Side.Ref, user.Side.Ref}, About: []string{p.id}, From: distinctSources(from),
		Sentence: sentence, Suggestion: p.suggestion(changer, user),
	}, start, newcomer.Side.Ref))
}

// act says what the changer does.
func (p promise) act() string {
	switch {
	case p.change == Removed:
		return "removes " + p.id
	case p.change == Moved:
		return "moves " + p.id + " to " + p.to
	case p.change == Body:
		return "changes the handler of " + p.id
	}
	return "changes the signature of " + p.id
}

func (u uses) act() string {
	if u.claimed {
		return "claims it"
	}
	return fmt.Sprintf("adds %d reference(s) to it in %s", u.count, list(u.paths))
}

func (p promise) suggestion(changer, user *Party) string {
	against := "build against the new signature"
	switch p.change {
	case Removed:
		against = "build without it"
	case Moved:
		against = "build against its new place"
	case Body:
		against = "check what it relies on against the new behavior"
	}
	return fmt.Sprintf("%s can %s and declare the dependency (intent_update depends_on_add %s), "+
		"or ask %s to keep a compatible shim until it merges (message_send).",
		user.Side.Ref, against, changer.Side.Ref, changer.Side.person())
}
