package simnet

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/conflicts/overlap"
	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/ledger"
)

// workChecked is how seldom a changed fold is looked at.
const workChecked = 4

// looked walks the computers whose live work changed in a step, as often as it is looked at.
func (w *World) looked(s Step) (all []*computer) {
	for _, c := range s.Live {
		if c.running && c.live.fold != nil && oneIn(w.rng.check, workChecked) {
			all = append(all, c)
		}
	}
	return all
}

// conflictsOf is what a computer says of live work.
func (c *computer) conflictsOf() []overlap.Conflict {
	return c.tampered(slices.Clone(c.live.fold.Conflicts()))
}

// tampered is a list of conflicts as a mutant has it.
func (c *computer) tampered(list []overlap.Conflict) []overlap.Conflict {
	for i := range list {
		o := &list[i]
		blocked := o.Blocked
		switch {
		case c.w.is(inferredBlocks) && o.Class == detect.Inferred && o.Status.Live():
			o.Blocking = true
		case c.w.is(firstWaits) && o.Blocking && len(o.Sides) == 2:
			o.Blocked = o.Sides[0].ID
		case c.w.is(firstWaitsHere) && c.number == 0 && o.Blocking && len(o.Sides) == 2:
			o.Blocked = o.Sides[0].ID
			if o.Blocked == blocked {
				o.Blocked = o.Sides[1].ID
			}
		}
	}
	switch n := len(list); {
	case c.w.is(forgotten) && n > 0:
		list = list[1:]
	case c.w.is(renamed) && n > 0:
		again := list[0]
		again.ID[0]++
		list = append(list, again)
	}
	return list
}

// workBooks are a computer's ledgers of live work.
func (c *computer) workRecords() (all []*ledger.Record) {
	ledgers := 0 // one a week, and with lanes more
	for _, b := range c.books {
		if b.family == ledger.Work {
			ledgers++
		}
	}
	for _, b := range c.books {
		records := b.records
		if ledgers > 1 { // some were not looked at yet
			records = records[:min(c.live.fed[b.tid], len(records))]
		}
		for _, r := range records {
			if b.family == ledger.Work && c.counts(b, r) {
				all = append(all, r)
			}
		}
	}
	return all
}

// workTold is everything that a fold says.
func workTold(f *overlap.Fold) string {
	var b strings.Builder
	for _, c := range f.Conflicts() {
		fmt.Fprintln(&b, c.Name, c.Kind, c.Status, c.Severity, c.Blocking, c.Blocked.Short(), c.About, c.Muted, c.Since, c.Reopened, c.Sentence)
	}
	for _, s := range f.Sides() {
		fmt.Fprintln(&b, s.Ref, s.Phase, s.Last, s.Expires)
	}
	return b.String()
}

// differs is the first line in which two texts differ.
func differs(one, other string) string {
	a, b := strings.Split(one, "\n"), strings.Split(other, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("%q, and anew %q", a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines, and anew %d", len(a), len(b))
}

// sameWorkSameConflicts: a set of records means the same wherever and in whatever order it came, and the fold that
// took them one by one says what one says that begins anew.
func sameWorkSameConflicts(w *World, s Step) error {
	for _, c := range w.looked(s) {
		if c.hearing {
			continue // what is stored and not folded yet is heard, and looked at, within a millisecond
		}
		records := c.workRecords()
		var set, last uint64
		for _, r := range records {
			set ^= idSum(r.ID)
			last = max(last, r.At)
		}
		again, neutral := w.newWorkFold(), w.newWorkFold()
		c.live.fold.SetShares(c.shares())
		again.SetShares(c.shares())
		neutral.SetShares(c.shares())
		for _, r := range slices.Backward(records) {
			again.Add(r, c.live.seen[r.ID])
			neutral.Add(r, r.At)
		}
		again.Tick(c.millis())
		c.live.fold.Tick(c.millis())
		if one, other := workTold(c.live.fold), workTold(again); one != other {
			return fmt.Errorf("%s says %s", c, differs(one, other))
		}
		neutral.Tick(last)
		h := fnv.New64a()
		h.Write([]byte(workTold(neutral)))
		key := said{workScope, set, uint64(len(records))}
		if old, ok := w.ledgerOf.states[key]; ok && old != h.Sum64() {
			return fmt.Errorf("%s makes other conflicts of the same %d records", c, len(records))
		}
		w.ledgerOf.states[key] = h.Sum64()
	}
	return nil
}

// workScope stands for all ledgers of live work.
var workScope = ledger.Scope{Host: host, Repo: repoID}.Ledger()

// nothingInferredBlocks: who is blocked is so by what was declared or observed, surely enough (C9).
func nothingInferredBlocks(w *World, s Step) error {
	for _, c := range w.looked(s) {
		for _, o := range c.conflictsOf() {
			if o.Blocking && (o.Class == detect.Inferred || o.Confidence < 85 || o.Severity != detect.Block || !o.Status.Live()) {
				return fmt.Errorf("at %s %s blocks: %s, %s, %s, %s", c, o.Name, o.Class, o.Confidence, o.Severity, o.Status)
			}
		}
		for _, a := range c.live.sessions {
			for _, path := range workPaths {
				d := c.live.fold.Decide(a.session, []detect.Upcoming{{Path: path, Op: detect.Modify}})
				if d.Verdict == overlap.Block && !slices.ContainsFunc(d.Conflicts, func(o overlap.Conflict) bool {
					return o.Blocking && o.Class != detect.Inferred && (o.Blocked == a.session || o.Blocked == a.intent)
				}) {
					return fmt.Errorf("at %s an edit of %s is blocked by nothing", c, path)
				}
			}
		}
	}
	return nil
}

// since is the place of the first edit or claim of a side, its session's included, as one can compare it: of a session that
// is not known here, since it came back from a backup ahead of it, nobody can say what it did.
func (c *computer) since(o overlap.Side) (first *ledger.Record) {
	all := c.workRecords()
	known := slices.ContainsFunc(all, func(r *ledger.Record) bool {
		said, is := r.Content.(*ledger.Session)
		return is && (r.Place().ID == o.Session || said.First == o.Session)
	})
	for _, r := range all {
		var holder ledger.ID
		switch body := r.Content.(type) {
		case *ledger.Edit:
			holder = body.Holder
		case *ledger.Claim:
			holder = body.Holder
		}
		if holder != (ledger.ID{}) && (holder == o.ID || holder == o.Session && known) && (first == nil || earlier(r, first)) {
			first = r
		}
	}
	return first
}

// earlier reports whether one record stands before another.
func earlier(a, b *ledger.Record) bool {
	x, y := a.Place(), b.Place()
	return x.Lam < y.Lam || x.Lam == y.Lam && x.ID.Less(y.ID)
}

// onlyTheNewcomerWaits: of two sides that work on one path the one that came first goes on, and where one holds it the
// two never wait for each other (C9).
func onlyTheNewcomerWaits(w *World, s Step) error {
	for _, c := range w.looked(s) {
		waits := map[string]ledger.ID{}
		for _, o := range c.conflictsOf() {
			if !o.Blocking || o.Kind != detect.PathOverlap || len(o.Sides) != 2 {
				continue
			}
			blocked, other := o.Sides[0], o.Sides[1]
			if o.Blocked == other.ID {
				blocked, other = other, blocked
			}
			if !strings.Contains(o.Sentence, "exclusive claim") {
				x, y := c.since(blocked), c.since(other)
				if x != nil && y != nil && earlier(x, y) {
					return fmt.Errorf("at %s %s came before %s and waits", c, blocked.Ref, other.Ref)
				}
				continue
			}
			for _, about := range o.About {
				key := pairName(o.Sides) + about
				if who, ok := waits[key]; ok && who != o.Blocked && slices.Contains(workPaths, about) {
					return fmt.Errorf("at %s %s and %s wait for each other on %s", c, blocked.Ref, other.Ref, about)
				}
				waits[key] = o.Blocked
			}
		}
	}
	return nil
}

func pairName(sides []overlap.Side) string {
	var refs []string
	for _, s := range sides {
		refs = append(refs, s.Root.String())
	}
	slices.Sort(refs)
	return strings.Join(refs, " ")
}

// noOverlapForgotten: two live sides that changed one path differently have a conflict, on every computer that knows of
// both (C1).
func noOverlapForgotten(w *World, s Step) error {
	for _, c := range w.looked(s) {
		blobs := c.changed()
		conflicts := c.conflictsOf()
		var sides []overlap.Side
		for _, o := range c.live.fold.Sides() {
			if o.Phase == overlap.Working || o.Phase == overlap.Idle {
				sides = append(sides, o)
			}
		}
		for i, a := range sides {
			for _, b := range sides[:i] {
				for _, path := range workPaths {
					x, y := blobs[a.ID][path], blobs[b.ID][path]
					if x == "" || y == "" || x == y || a.Session == b.Session {
						continue
					}
					if !slices.ContainsFunc(conflicts, func(o overlap.Conflict) bool {
						return o.Kind == detect.PathOverlap && o.Present && slices.Contains(o.About, path) && len(o.Sides) == 2 && pairName(o.Sides) == pairName([]overlap.Side{a, b})
					}) {
						return fmt.Errorf("%s forgets that %s and %s changed %s", c, a.Ref, b.Ref, path)
					}
				}
			}
		}
	}
	return nil
}

// changed is what each side made of each path, by the last word alone; what a session did is its intent's too.
func (c *computer) changed() map[ledger.ID]map[string]ledger.OID {
	last := map[ledger.ID]map[string]*ledger.Record{}
	of := map[ledger.ID]ledger.ID{}
	records := c.workRecords()
	begun := map[ledger.ID]bool{} // sessions and intents; of others nobody can say whose edits are
	for _, r := range records {
		switch said := r.Content.(type) {
		case *ledger.Session:
			begun[r.Place().ID], begun[said.First] = true, true
		case *ledger.Intent:
			if begun[r.Place().ID], begun[said.First] = true, true; said.First == (ledger.ID{}) {
				of[said.Session] = r.Place().ID
			}
		}
	}
	for _, r := range records {
		e, ok := r.Content.(*ledger.Edit)
		if !ok || !begun[e.Holder] {
			continue
		}
		holder := e.Holder
		if in, ok := of[holder]; ok {
			holder = in
		}
		if last[holder] == nil {
			last[holder] = map[string]*ledger.Record{}
		}
		if old := last[holder][string(e.Path)]; old == nil || earlier(old, r) {
			last[holder][string(e.Path)] = r
		}
	}
	out := map[ledger.ID]map[string]ledger.OID{}
	for holder, paths := range last {
		out[holder] = map[string]ledger.OID{}
		for path, r := range paths {
			if e := r.Content.(*ledger.Edit); e.Op != ledger.EditBack {
				out[holder][path] = e.Blob
			}
		}
	}
	return out
}

// oneOpenConflict: one overlap of one pair has one conflict that is open, and each conflict a name of its own (C10).
func oneOpenConflict(w *World, s Step) error {
	for _, c := range w.looked(s) {
		names, overlaps := map[string]bool{}, map[string]string{}
		for _, o := range c.conflictsOf() {
			if names[o.Name] {
				return fmt.Errorf("at %s two conflicts are called %s", c, o.Name)
			}
			names[o.Name] = true
			if !o.Status.Live() || o.Kind == detect.ContractBreak || o.Kind == detect.ProtectedPath {
				continue
			}
			key := string(o.Kind) + " " + pairName(o.Sides)
			if strings.Contains(o.Sentence, "exclusive claim") {
				key += strings.Join(o.About, " ")
			}
			if overlaps[key] != "" {
				return fmt.Errorf("at %s %s and %s are one overlap", c, overlaps[key], o.Name)
			}
			overlaps[key] = o.Name
		}
	}
	return nil
}
