package thread

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
	"pgregory.net/rapid"
)

// guess draws facts of any kind, sensible or not: what a computer believes may be old, missing or wrong.
type guess struct {
	t *rapid.T
	w *world
	s *State
}

func (g guess) bool(label string) bool { return rapid.Bool().Draw(g.t, label) }

func (g guess) verdict(label string) Verdict {
	return rapid.SampledFrom([]Verdict{CannotTell, Yes, Yes, No}).Draw(g.t, label)
}

func (g guess) oid(label string) ledger.OID {
	return rapid.SampledFrom([]ledger.OID{"", blob("head"), blob("tip"), blob("result"), blob("a master"), blob("a pull")}).Draw(g.t, label)
}

// commit is an object id that is there: what a look names once it names anything.
func (g guess) commit(label string) ledger.OID {
	return rapid.SampledFrom([]ledger.OID{blob("head"), blob("tip"), blob("result")}).Draw(g.t, label)
}

func (g guess) id(label string) ledger.ID {
	ids := append([]ledger.ID{{}, g.s.Assign, g.s.Head()}, g.s.Spine...)
	for _, st := range g.s.Statements {
		ids = append(ids, st.ID)
	}
	if g.s.Ready != nil {
		ids = append(ids, g.s.Ready.ID)
	}
	return rapid.SampledFrom(ids).Draw(g.t, label)
}

func (g guess) time(label string) time.Time {
	hours := rapid.SampledFrom([]int{-100, -30, -23, -2, 0, 0, 1}).Draw(g.t, label)
	return g.w.now.Add(time.Duration(hours) * time.Hour)
}

func (g guess) look() Look {
	l := Look{
		At: g.w.now, For: g.s.Head(), Tip: g.commit("tip"), Open: g.verdict("open"), Author: g.bool("author"), OnBase: g.bool("on base"),
		Account: g.verdict("account"), HeadClean: g.verdict("clean"), HeadBase: g.commit("head base"), Ready: g.verdict("ready"), Final: g.verdict("final"),
		Pull: Pull{
			Known: g.bool("known"), Gone: rapid.IntRange(0, 9).Draw(g.t, "gone") == 0, Open: rapid.IntRange(0, 4).Draw(g.t, "open") > 0, Merged: rapid.IntRange(0, 4).Draw(g.t, "merged") == 0,
			Head: g.commit("head"), HeadRef: "refunds", Base: "master", MergeCommit: blob("merge"),
		},
	}
	if rapid.IntRange(0, 5).Draw(g.t, "old") == 0 {
		l.For = g.id("for")
	}
	if g.s.Ready != nil {
		l.ForReady = g.s.Ready.ID
	}
	for range rapid.SampledFrom([]int{2, 2, 2, 2, 0, 1, 3}).Draw(g.t, "files") {
		l.Files = append(l.Files, File{
			Class: ledger.Class(rapid.IntRange(0, 6).Draw(g.t, "class")), Here: g.oid("here"), Tip: g.oid("at tip"), Replaceable: g.bool("replaceable"),
		})
		l.HeadFiles = append(l.HeadFiles, g.oid("head file"))
	}
	if g.bool("published") {
		l.Published = l.HeadFiles
	}
	if rapid.IntRange(0, 5).Draw(g.t, "marked") == 0 {
		l.Marked = []int{rapid.IntRange(-1, 3).Draw(g.t, "mark")}
	}
	return l
}

// plain makes drawn facts those of an ordinary day: GitHub answers, the pull request is open and conflicts,
// turns are left, nobody presses anything.
func (g guess) plain(f *Facts) {
	l := &f.Look
	l.For, l.Open, l.OnBase, l.Account, l.Marked = g.s.Head(), Yes, true, Yes, nil
	l.Pull.Known, l.Pull.Gone, l.Pull.Open, l.Pull.Merged = true, false, true, false
	l.Pull.Base = g.w.open.Base
	f.Presses, f.Turns, f.TurnsToday, f.Waking = Presses{}, 1, 1, false
	if g.s.Phase < Final && l.HeadClean == CannotTell {
		l.HeadClean = No
	}
}

func (g guess) turn(label string) *Turn {
	if g.bool(label) {
		return nil
	}
	return &Turn{
		For: g.id("turn for"), Round: g.s.Round, Head: g.oid("turn head"), Commit: g.oid("turn commit"),
		Failed: g.bool("failed"), GaveUp: g.bool("gave up"), Interrupted: g.bool("interrupted"), Tests: 1,
	}
}

func (g guess) facts() Facts {
	f := Facts{
		Opened: g.time("opened"), Assigned: g.time("assigned"), InterimFired: g.bool("T1"), FinalFired: g.bool("T2"), Look: g.look(),
		Stated: g.time("stated"), Turns: rapid.IntRange(0, 4).Draw(g.t, "turns"), TurnsToday: rapid.SampledFrom([]int{0, 49, 50, 51}).Draw(g.t, "today"),
		Merge: g.turn("merge"), Decide: g.turn("decide"), Waking: g.bool("waking"), RespSeen: g.time("resp"), MainSeen: g.time("main"),
		ClearSince: g.time("clear"), Presses: Presses{Another: g.bool("another"), Keep: rapid.IntRange(0, 9).Draw(g.t, "keep") == 0},
	}
	f.Presses.Close = rapid.IntRange(0, 9).Draw(g.t, "close") == 0
	if rapid.IntRange(0, 4).Draw(g.t, "assign") == 0 {
		to := rapid.IntRange(-1, 6).Draw(g.t, "to")
		f.Presses.Assign = &to
	}
	return f
}

// approvals gives the facts approvals as a core would: for the very acts that were offered, or for others.
func (g guess) approvals(f *Facts, e Effects) {
	states := []ApprovalState{Offered, Approved, Approved, Consumed, Done, Void}
	for _, b := range e.Offers {
		if rapid.IntRange(0, 4).Draw(g.t, "another act") == 0 {
			b.New = g.oid("bound")
		}
		a := &Approval{Binds: b, State: rapid.SampledFrom(states).Draw(g.t, "state"), Denied: g.bool("denied")}
		if b.Action == "push" {
			f.PushAct = a
		} else {
			f.MergeAct = a
		}
	}
}

func (g guess) self(c *computer) Self {
	self := Self{Device: c.dev, Fleet: c.fleet.id, Party: -1, Claim: c.claim, Desk: g.bool("desk"), Names: g.w.names()}
	if i, ok := g.s.Party(c.dev, g.w.rosters()); ok && c.fleet.roster.Member(c.dev) {
		self.Party = i
	}
	for _, f := range g.w.fleets {
		if g.s.Open != nil && f.id == g.s.Open.Fleet {
			role, claim := f.roster.Main()
			self.Role = role
			term, _ := f.roster.Term(claim.ID, c.dev)
			self.Main = role == lanes.RoleMain && claim.Device == c.dev && term >= g.s.Term
			self.Claim = claim.ID
		}
	}
	return self
}

func TestWhateverAComputerBelievesItAsksForNothingForbidden(t *testing.T) { // P5, P15, P19, P25
	asked := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		w := anyThread(t, rt)
		if rapid.Bool().Draw(rt, "calm") {
			w = calmThread(t, rt)
		}
		s := w.state()
		g := guess{rt, w, &s}
		for range 20 {
			g.ask(asked)
		}
	})
	t.Log(asked)
	for _, want := range []string{"wake", "replace 0", "ack", "object", "reassign", "closed"} {
		if asked[want] == 0 {
			t.Errorf("no random belief led to %s: %v", want, asked)
		}
	}
}

// ask lets one computer with random beliefs ask once, and takes back what it wrote.
func (g guess) ask(asked map[string]int) {
	w, s, rt, n := g.w, g.s, g.t, len(g.w.records)
	c := w.people[rapid.IntRange(0, len(w.people)-1).Draw(rt, "who asks")]
	f := g.facts()
	if rapid.Bool().Draw(rt, "an ordinary day") {
		g.plain(&f)
	}
	self := g.self(c)
	g.approvals(&f, Step(s, self, f, Contract(), w.now))
	if rapid.Bool().Draw(rt, "has looked") {
		f.Presses.Fork = forkedOf(s, self)
	}

	e := Step(s, self, f, Contract(), w.now)

	if again := Step(s, self, f, Contract(), w.now); !reflect.DeepEqual(e, again) {
		rt.Fatalf("first %+v\nthen %+v", e, again)
	}
	g.permitted(c, self, e)
	w.records = w.records[:n]
	for _, a := range e.Do {
		asked[a.Key()]++
		g.allowed(self, &f, a)
	}
	if e.Emit != nil {
		asked[string(e.Emit.Content.Kind())]++
	}
	if e.Say == "" {
		rt.Fatal("nothing is said")
	}
}

// calmThread is a thread without rivals and removals, in any phase.
func calmThread(t *testing.T, rt *rapid.T) *world {
	w := newWorldOf(t, 3, 2)
	sc := &scribe{w: w, t: rt, opens: w.records[:1:1]}
	for range rapid.IntRange(0, 12).Draw(rt, "records") {
		if c := w.people[rapid.IntRange(0, len(w.people)-1).Draw(rt, "who")]; c == w.main {
			sc.spine(c)
		} else {
			sc.leaf(c)
		}
	}
	return w
}

func forkedOf(s *State, self Self) string {
	p := stepping{s: s, self: self}
	if s.Open == nil {
		return ""
	}
	return p.forked()
}

// permitted holds the record that is asked for against the fold: it counts at once.
func (g guess) permitted(c *computer, self Self, e Effects) {
	if e.Emit == nil {
		return
	}
	if e.Emit.Content.Kind().Spine() && !self.Main {
		g.t.Fatalf("who is not the main computer says %s", e.Emit.Content.Kind())
	}
	tid := g.w.open.Key().Thread()
	delete(c.heads, tid)
	c.inc = ledger.Incarnation{200, 1}
	if !c.fleet.roster.Member(c.dev) {
		g.t.Fatal("a removed computer says something")
	}
	r := g.w.say(c, ledger.Header{Ledger: tid, Open: g.s.Root.ID, Spine: e.Emit.Spine, Claim: e.Emit.Claim, Re: e.Emit.Re}, e.Emit.Content)
	after := g.w.state()
	for _, refused := range after.Refused {
		if refused.Record.ID == r.ID {
			g.t.Fatalf("asks for a %s that is refused: %s", r.Kind, refused.Rule)
		}
	}
	if after.Phase < g.s.Phase {
		g.t.Fatalf("a %s led from %v back to %v", r.Kind, g.s.Phase, after.Phase)
	}
}

// allowed holds one action against the invariants of the files and of GitHub.
func (g guess) allowed(self Self, f *Facts, a Action) {
	switch a := a.(type) {
	case Replace:
		file := f.Look.Files[a.File]
		picked := slices.Contains(g.s.Pick, uint64(a.File)) && g.s.Open.Fleet == self.Fleet && g.s.Final == nil && a.Want == g.s.Open.Files[a.File].Pull
		switch {
		case !file.Replaceable || !f.Look.OnBase:
			g.t.Fatal("a file that is not published, or not on the base branch, is replaced")
		case a.Want != file.Tip && !picked:
			g.t.Fatalf("%v is placed, which is neither at the tip nor picked here", a.Want)
		case f.Look.Author && g.s.Final == nil:
			g.t.Fatal("the author's copy is replaced before the final")
		case g.s.Phase >= Final && f.Look.Final != Yes:
			g.t.Fatal("an unverified final is taken")
		}
	case Write:
		have := f.PushAct
		if a.Binds.Action == "merge" {
			have = f.MergeAct
		}
		if have == nil || have.Binds != a.Binds || have.State != Approved && have.State != Consumed {
			g.t.Fatalf("a write without an approval of it: %+v", a.Binds)
		}
		if self.Role != lanes.RoleMain || len(g.s.Forked) > 0 && f.Presses.Fork == "" {
			g.t.Fatal("a write while the approval has to rest")
		}
		if a.Binds.Action == "merge" && (!self.Main || f.Look.Ready != Yes) {
			g.t.Fatal("a merge by another computer, or of an unverified result")
		}
	case Wake:
		if f.Turns >= g.s.Allowance(self.Party) || f.TurnsToday >= TurnsPerDay || f.Waking {
			g.t.Fatal("a turn that is not left is spent")
		}
		if !a.Decide && g.s.Open.Fleet != self.Fleet && f.Look.Account != Yes {
			g.t.Fatal("a lane works for another developer")
		}
	case Tell:
		if self.Main || g.s.Open.Fleet != self.Fleet {
			g.t.Fatal("the main computer tells itself, or a press crosses the lane")
		}
	}
}

func TestNoHistoryOfSuccessorsSpendsMoreThanTwentyFourTurns(t *testing.T) { // P21, D-20, case 60
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, ledger.PartiesMax).Draw(rt, "parties")
		index := rapid.IntRange(0, n-1)
		s := State{Open: &ledger.Open{Resp: uint64(index.Draw(rt, "resp"))}, Root: &ledger.Record{}}
		for i := range n {
			s.Open.Parties = append(s.Open.Parties, ledger.DeviceParty(ledger.Device{byte(i + 1)}))
		}
		if opener := index.Draw(rt, "opener"); rapid.Bool().Draw(rt, "opener is a party") {
			s.Root.Device = ledger.Device{byte(opener + 1)}
		}
		spent := make([]int, n)
		for range rapid.IntRange(1, 8).Draw(rt, "hand-overs") {
			all := 0
			for i := range spent {
				spent[i] = max(spent[i], s.Allowance(i))
				all += spent[i]
				if s.Allowance(i) > TurnsPerComputer {
					rt.Fatalf("party %d has %d turns", i, s.Allowance(i))
				}
			}
			if all > TurnsInAll {
				rt.Fatalf("%d parties may spend %d turns: %v", n, all, spent)
			}
			if to := index.Draw(rt, "to"); uint64(to) != s.Open.Resp && !slices.Contains(s.Successors, to) {
				s.Successors = append(s.Successors, to)
			}
		}
	})
}

func TestPhasesAndTermsNeverGoBackAlongASpine(t *testing.T) { // S6
	rapid.Check(t, func(rt *rapid.T) {
		w := anyThread(t, rt)
		s := w.state()
		if s.Open == nil {
			return
		}
		at := State{Phase: Opened, Open: s.Open, Root: s.Root, Spine: s.Spine[:1], Responsible: int(s.Open.Resp), Term: 1}
		for _, id := range s.Spine[1:] {
			i := slices.IndexFunc(w.records, func(r *ledger.Record) bool { return r.ID == id })
			r := w.records[i]
			before := at
			fleet, _ := w.rosters().Of(r.Device)
			term, ok := fleet.Term(r.Claim, r.Device)
			if rule := at.spineRule(r); rule != "" || !ok {
				rt.Fatalf("%s is on the spine although %s", r.Kind, rule)
			}
			at.apply(r, term)
			if at.Phase < before.Phase || at.Term < before.Term || at.Round < before.Round {
				rt.Fatalf("from phase %v term %d round %d to %v %d %d", before.Phase, before.Term, before.Round, at.Phase, at.Term, at.Round)
			}
		}
		if at.Phase != s.Phase || at.Round != s.Round {
			rt.Fatalf("the spine leads to %v, the fold to %v", at.Phase, s.Phase)
		}
	})
}
