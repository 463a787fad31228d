package overlap

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/ledger"
)

// naive is a second reading of what the records of one repository say: no state is kept, every question is asked of all
// records anew. Slow, and meant to be.
type naive struct {
	said   []*ledger.Record // what counts, by logical time, then id
	seen   func(*ledger.Record) uint64
	people map[ledger.Device]Person
	rules  *detect.Rules
	now    uint64
}

func newNaive(w *world, all []*ledger.Record, rules *detect.Rules) *naive {
	byLedger := map[ledger.TID][]*ledger.Record{}
	for _, r := range all {
		byLedger[r.Ledger] = append(byLedger[r.Ledger], r)
	}
	n := &naive{people: w.people, rules: rules, now: w.now, seen: func(r *ledger.Record) uint64 { return r.At }}
	for _, list := range byLedger {
		followed, _ := ledger.Follow(list)
		n.said = append(n.said, followed...)
	}
	slices.SortFunc(n.said, func(a, b *ledger.Record) int {
		if a.Lam != b.Lam {
			return int(a.Lam) - int(b.Lam)
		}
		return strings.Compare(a.ID.String(), b.ID.String())
	})
	return n
}

func (n *naive) who(d ledger.Device) ledger.TID {
	if p := n.people[d]; p.Fleet != (ledger.TID{}) {
		return p.Fleet
	}
	return ledger.TID(d)
}

// first is the record that a session or an intent begins with.
func (n *naive) first(id ledger.ID) *ledger.Record {
	for _, r := range n.said {
		if r.ID == id && (r.Kind == ledger.KindSession || r.Kind == ledger.KindIntent) {
			return r
		}
	}
	return nil
}

// mine are the records of a holder's own developer about it that fit.
func (n *naive) mine(id ledger.ID, fits func(r *ledger.Record) bool) (all []*ledger.Record) {
	first := n.first(id)
	for _, r := range n.said {
		if first != nil && n.who(r.Device) == n.who(first.Device) && fits(r) {
			all = append(all, r)
		}
	}
	return all
}

// intentsOf are a session's intents in order.
func (n *naive) intentsOf(session ledger.ID) (ids []ledger.ID) {
	for _, r := range n.mine(session, func(r *ledger.Record) bool {
		c, ok := r.Content.(*ledger.Intent)
		return ok && c.First == ledger.ID{} && c.Session == session
	}) {
		ids = append(ids, r.ID)
	}
	return ids
}

// saysOf are the records of a session or an intent itself.
func (n *naive) saysOf(id ledger.ID) []*ledger.Record {
	return n.mine(id, func(r *ledger.Record) bool {
		switch c := r.Content.(type) {
		case *ledger.Session:
			return r.ID == id || c.First == id
		case *ledger.Intent:
			return r.ID == id || c.First == id
		}
		return false
	})
}

// closedFrom is the place in the order from which on an intent is not live, beyond the end if it is.
func (n *naive) closedFrom(id ledger.ID) int {
	for i := len(n.said) - 1; i >= 0; i-- {
		closes := len(n.said)
		last := uint64(0)
		for _, r := range n.saysOf(id) {
			if n.place(r) > i {
				break
			}
			last = r.Content.(*ledger.Intent).State
		}
		if last == ledger.IntentLive || last == 0 {
			if i+1 < len(n.said) {
				closes = i + 1
			}
			return closes
		}
	}
	return 0
}

func (n *naive) place(r *ledger.Record) int { return slices.Index(n.said, r) }

// belongs is the holder that a record of a holder counts for.
func (n *naive) belongs(r *ledger.Record, holder ledger.ID) ledger.ID {
	if first := n.first(holder); first == nil || first.Kind != ledger.KindSession {
		return holder
	}
	for _, in := range n.intentsOf(holder) {
		if n.place(r) < n.closedFrom(in) {
			return in
		}
	}
	return holder
}

// held are the claims and edits that count for a side.
func (n *naive) held(id ledger.ID) (all []*ledger.Record) {
	for _, r := range n.said {
		var holder ledger.ID
		switch c := r.Content.(type) {
		case *ledger.Edit:
			holder = c.Holder
		case *ledger.Claim:
			holder = c.Holder
		default:
			continue
		}
		first := n.first(holder)
		if first != nil && n.who(first.Device) == n.who(r.Device) && n.belongs(r, holder) == id {
			all = append(all, r)
		}
	}
	return all
}

// active is when something was last heard of a side.
func (n *naive) active(id ledger.ID, session ledger.ID, closed bool) (last uint64) {
	about := func(r *ledger.Record, id ledger.ID) bool {
		switch c := r.Content.(type) {
		case *ledger.Session:
			return r.ID == id || c.First == id
		case *ledger.Intent:
			return r.ID == id || c.First == id
		case *ledger.Edit:
			return c.Holder == id
		case *ledger.Claim:
			return c.Holder == id
		case *ledger.Attempt:
			return c.Session == id
		case *ledger.Act:
			return c.Side == id
		case *ledger.Message:
			return c.From == id
		}
		return false
	}
	for _, r := range n.mine(id, func(r *ledger.Record) bool {
		return about(r, id) || !closed && session != ledger.ID{} && about(r, session)
	}) {
		last = max(last, n.seen(r))
	}
	return last
}

// digest is a side as detectors see it, and whether it is live.
func (n *naive) digest(id ledger.ID) (*detect.Digest, bool) {
	first, says := n.first(id), n.saysOf(id)
	session := id
	d := &detect.Digest{Side: detect.Side{Kind: detect.Session, Ref: "S-" + ledger.NameOf(id)[:7], Repo: "acme/shop"}}
	over, closed := false, false
	switch c := says[len(says)-1].Content.(type) {
	case *ledger.Session:
		over = c.State == ledger.SessionEnded
		for _, in := range n.intentsOf(id) {
			over = over || n.closedFrom(in) >= len(n.said)
		}
	case *ledger.Intent:
		if session = first.Content.(*ledger.Intent).Session; n.first(session) == nil || n.who(n.first(session).Device) != n.who(first.Device) {
			session = ledger.ID{}
		}
		d.Side.Kind, d.Side.Ref, d.Side.Task = detect.Intent, "INT-"+ledger.NameOf(id)[:7], c.Task
		for _, on := range c.Depends {
			d.DependsOn = append(d.DependsOn, "INT-"+ledger.NameOf(on)[:7])
		}
		over, closed = c.State == ledger.IntentAbandoned, c.State != ledger.IntentLive
		if c.State == ledger.IntentMerged {
			d.Side.State = detect.Merged
		}
	}
	if over {
		d.Side.State = detect.Abandoned
	}
	n.fill(d, id, session)
	last, lasts := n.active(id, session, closed), uint64(ExpiresAfter)
	if left := n.saysOf(session); session != id && len(left) > 0 && left[len(left)-1].Content.(*ledger.Session).State == ledger.SessionEnded {
		lasts = IdleAfter
		for i := range d.Claims {
			d.Claims[i].Exclusive = false
		}
	}
	if d.Side.State == detect.Live && (n.now >= last+lasts || n.now >= n.seen(first)+LivesAtMost) {
		d.Side.State = detect.Expired
	}
	if d.Side.State == detect.Live {
		n.waits(d, id, session)
	}
	d.Normalize()
	return d, d.Side.State == detect.Live
}

// fill is what the side's session says and what the side holds.
func (n *naive) fill(d *detect.Digest, id, session ledger.ID) {
	c := &ledger.Session{}
	if says := n.saysOf(session); len(says) > 0 {
		c = says[len(says)-1].Content.(*ledger.Session)
	}
	p := n.people[n.first(id).Device]
	d.Side.Name, d.Side.User, d.Side.Agent, d.Side.Branch, d.Side.Folds = p.Name, p.Email, c.Agent, c.Branch, c.Folds
	d.Base, d.Grammars = c.Base.String(), c.Grammars
	if c.Checkout != [16]byte{} {
		d.Side.Checkout = n.first(id).Device.Short() + fmt.Sprintf("%x", c.Checkout)
	}
	held := n.held(id)
	for _, r := range held {
		if rank := itemOf(r, 0).rank(); d.Side.Arrived == 0 || rank < d.Side.Arrived {
			d.Side.Arrived = rank
		}
	}
	done := map[ledger.Path]bool{}
	for i := len(held) - 1; i >= 0; i-- {
		e, ok := held[i].Content.(*ledger.Edit)
		if !ok || done[e.Path] {
			continue
		}
		done[e.Path] = true
		if e.Op == ledger.EditBack {
			continue
		}
		since := held[i]
		for j := i - 1; j >= 0; j-- {
			if o, ok := held[j].Content.(*ledger.Edit); ok && o.Path == e.Path {
				if o.Op == ledger.EditBack {
					break
				}
				since = held[j]
			}
		}
		fileOf(d, e, itemOf(since, 0).rank())
	}
	n.claims(d, held)
}

// claims adds what stands at the end, each since the last moment at which it did not stand.
func (n *naive) claims(d *detect.Digest, held []*ledger.Record) {
	standsAfter := func(i int, want ledger.Held) *ledger.Held {
		last := map[ledger.ID]*ledger.Claim{}
		for _, r := range held[:i+1] {
			if c, ok := r.Content.(*ledger.Claim); ok {
				last[c.Holder] = c
			}
		}
		for _, c := range last {
			for k := range c.Claims {
				if h := &c.Claims[k]; h.Kind == want.Kind && h.Pattern == want.Pattern && h.Exclusive == want.Exclusive {
					return h
				}
			}
		}
		return nil
	}
	known := map[claimKey]bool{}
	for _, r := range held {
		c, ok := r.Content.(*ledger.Claim)
		for k := 0; ok && k < len(c.Claims); k++ {
			h := c.Claims[k]
			key := claimKey{h.Kind, h.Pattern, h.Exclusive}
			if known[key] || standsAfter(len(held)-1, h) == nil {
				continue
			}
			known[key] = true
			since := len(held) - 1
			for i := since; i >= 0 && standsAfter(i, h) != nil; i-- {
				if _, is := held[i].Content.(*ledger.Claim); is {
					since = i
				}
			}
			d.Claims = append(d.Claims, detect.Claim{
				Kind: detect.ClaimKind(h.Kind), Pattern: h.Pattern, Exclusive: h.Exclusive, Since: itemOf(held[since], 0).rank(), Covers: 1,
			})
		}
	}
}

// waits adds the edits that wait.
func (n *naive) waits(d *detect.Digest, id, session ledger.ID) {
	all := n.mine(session, func(r *ledger.Record) bool {
		a, ok := r.Content.(*ledger.Attempt)
		return ok && a.Session == session
	})
	if len(all) == 0 {
		return
	}
	r := all[len(all)-1]
	if n.now >= n.seen(r)+AttemptFor || n.belongs(r, session) != id {
		return
	}
	for _, p := range r.Content.(*ledger.Attempt).Paths {
		d.Upcoming = append(d.Upcoming, detect.Upcoming{Path: string(p.Path), Op: detect.Op(p.Op)})
	}
	if len(d.Upcoming) > 0 && d.Side.Arrived == 0 {
		d.Side.Arrived = itemOf(r, 0).rank()
	}
}

// standing lists what stands, a line for each conflict: id, kind, severity, who waits.
func (n *naive) standing() []string {
	var parties, live []*detect.Party
	ids, roots, sessions := map[string]ledger.ID{}, map[string]ledger.ID{}, map[string]ledger.ID{}
	for _, r := range n.said {
		if n.first(r.ID) == nil || r.Kind == ledger.KindSession && r.Content.(*ledger.Session).First != (ledger.ID{}) ||
			r.Kind == ledger.KindIntent && r.Content.(*ledger.Intent).First != (ledger.ID{}) {
			continue
		}
		d, lives := n.digest(r.ID)
		p := n.rules.Party(d)
		parties = append(parties, p)
		ref := d.Side.Ref
		ids[ref], roots[ref], sessions[ref] = r.ID, r.ID, r.ID
		if c, ok := r.Content.(*ledger.Intent); ok {
			sessions[ref] = c.Session
			if of := n.intentsOf(c.Session); len(of) > 0 && of[0] == r.ID {
				roots[ref] = c.Session
			}
		}
		if lives || d.Side.Kind == detect.Intent {
			live = append(live, p)
		}
	}
	report := detect.Together(live)
	for i, p := range parties {
		report.Add(detect.Alone(p))
		for _, q := range parties[:i] {
			report.Add(detect.Meet(p, q, sameLines(p.Digest, q.Digest)))
		}
	}
	lines := map[ledger.ID]string{}
	for _, one := range report.Findings {
		if len(one.Sides) == 2 && sessions[one.Sides[0]] == sessions[one.Sides[1]] && one.Kind != detect.DependencyOrder {
			continue
		}
		var of []ledger.ID
		for _, ref := range one.Sides {
			of = append(of, roots[ref])
		}
		id := conflictID(shop, &one, of)
		blocked := ledger.ID{}
		if one.Blocking {
			blocked = ids[one.Blocked]
		}
		lines[id] = fmt.Sprint(id.Short(), " ", one.Kind, " ", one.Severity, " ", one.About, " ", blocked.Short())
	}
	out := make([]string, 0, len(lines))
	for _, line := range lines {
		out = append(out, line)
	}
	slices.Sort(out)
	return out
}
