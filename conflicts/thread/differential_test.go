package thread

import (
	"testing"

	"github.com/parley-mesh/parley/ledger"
	"pgregory.net/rapid"
)

// scribe writes arbitrary records that a signer could write: every kind, by every computer, under every
// claim, answering anything that exists.
type scribe struct {
	w     *world
	t     *rapid.T
	opens []*ledger.Record
}

// anyThread is a random set of records of one thread, with the rosters that they are judged by.
func anyThread(t *testing.T, rt *rapid.T) *world {
	w := newWorldOf(t, 3, 2)
	sc := &scribe{w: w, t: rt, opens: w.records[:1:1]}
	for range rapid.IntRange(0, 40).Draw(rt, "records") {
		sc.write(w.people[rapid.IntRange(0, len(w.people)-1).Draw(rt, "who")])
	}
	return w
}

func (sc *scribe) write(c *computer) {
	switch rapid.IntRange(0, 19).Draw(sc.t, "what") {
	case 0:
		sc.role(c)
	case 1:
		sc.open(c)
	case 2, 3:
		sc.twice(c)
	case 4, 5, 6, 7, 8, 9, 10:
		sc.spine(c)
	case 11:
		c.inc[5]++
		delete(c.heads, sc.w.open.Key().Thread())
	default:
		sc.leaf(c)
	}
}

// role takes the main-computer role, beside another or over it, or removes a computer.
func (sc *scribe) role(c *computer) {
	w := sc.w
	if !c.fleet.roster.Member(c.dev) {
		return
	}
	claim := c.fleet.roster.Claiming()
	switch rapid.IntRange(0, 3).Draw(sc.t, "role") {
	case 0:
		claim.Over = nil
		claim.Term = 1
	case 1:
		gone := rapid.SampledFrom(w.people).Draw(sc.t, "gone")
		if gone.fleet == c.fleet && gone != c {
			w.removes(c, gone)
		}
		return
	}
	c.claim = w.roster(c, nil, claim).ID
}

func (sc *scribe) open(c *computer) {
	w := sc.w
	open := *w.open
	if rapid.Bool().Draw(sc.t, "own fleet") {
		open.Fleet = c.fleet.id
		open.Parties = nil
		for _, d := range c.fleet.roster.Devices() {
			open.Parties = append(open.Parties, ledger.DeviceParty(d))
		}
		open.Auth = nil
	}
	if len(open.Parties) == 0 {
		return
	}
	open.Resp = rapid.Uint64Range(0, uint64(len(open.Parties)-1)).Draw(sc.t, "resp")
	claim := c.claim
	if claim == (ledger.ID{}) {
		claim = ledger.ID{9}
	}
	sc.opens = append(sc.opens, w.say(c, ledger.Header{Ledger: open.Key().Thread(), Claim: claim}, &open))
}

func (sc *scribe) any() *ledger.Record {
	return rapid.SampledFrom(sc.w.records).Draw(sc.t, "record")
}

// near is mostly the present end of the spine, so that random spines grow.
func (sc *scribe) near() ledger.ID {
	if s := sc.w.state(); s.Open != nil && rapid.IntRange(0, 3).Draw(sc.t, "near") > 0 {
		return s.Head()
	}
	return sc.any().ID
}

func (sc *scribe) root() ledger.ID {
	if s := sc.w.state(); s.Open != nil && rapid.IntRange(0, 5).Draw(sc.t, "root") > 0 {
		return s.Root.ID
	}
	return rapid.SampledFrom(sc.opens).Draw(sc.t, "open").ID
}

func (sc *scribe) spine(c *computer) {
	t, s := sc.t, sc.w.state()
	if rapid.IntRange(0, 2).Draw(t, "main") > 0 {
		c = sc.w.main
	}
	claim := c.claim
	if claim == (ledger.ID{}) {
		claim = rapid.SampledFrom(sc.w.people).Draw(t, "whose claim").claim
	}
	if claim == (ledger.ID{}) {
		claim = ledger.ID{9}
	}
	h := ledger.Header{Ledger: sc.w.open.Key().Thread(), Open: sc.root(), Spine: sc.near(), Claim: claim}
	var content ledger.Body
	switch rapid.IntRange(0, 6).Draw(t, "spine") {
	case 0, 1:
		in := &ledger.Interim{Why: rapid.Uint64Range(1, 3).Draw(t, "why")}
		if in.Why == 3 && rapid.Bool().Draw(t, "picks") {
			in.Pick = []uint64{rapid.Uint64Range(0, 2).Draw(t, "pick")}
		}
		content = in
	case 2, 3, 4:
		content = &ledger.Reassign{
			To: rapid.Uint64Range(0, 4).Draw(t, "to"), Why: rapid.Uint64Range(1, 5).Draw(t, "why"),
			Round: s.Round + rapid.Uint64Range(0, 1).Draw(t, "round"),
		}
	case 5:
		h.Re = []ledger.ID{sc.any().ID}
		content = &ledger.Final{Via: 1, Commit: blob("c"), Base: "master", Head: blob("h"), Files: sc.versions()}
	default:
		h.Re = []ledger.ID{sc.any().ID}
		content = &ledger.Closed{Why: rapid.Uint64Range(1, 6).Draw(t, "why")}
	}
	sc.w.say(c, h, content)
}

func (sc *scribe) versions() (out []ledger.FileVersion) {
	for i := range rapid.SampledFrom([]int{2, 2, 2, 1, 3}).Draw(sc.t, "files") {
		out = append(out, ledger.FileVersion{File: uint64(i), Blob: blob("v")})
	}
	return out
}

func (sc *scribe) leaf(c *computer) {
	t, s := sc.t, sc.w.state()
	h := ledger.Header{Ledger: sc.w.open.Key().Thread(), Open: sc.root(), Re: []ledger.ID{sc.near()}}
	n := rapid.SampledFrom([]int{2, 2, 2, 1}).Draw(t, "n")
	var content ledger.Body
	switch rapid.IntRange(0, 3).Draw(t, "leaf") {
	case 0:
		if s.Root != nil && rapid.IntRange(0, 4).Draw(t, "to root") > 0 {
			h.Re[0] = s.Root.ID
		}
		ack := &ledger.Ack{}
		for range n {
			ack.Classes = append(ack.Classes, ledger.Class(rapid.IntRange(1, 6).Draw(t, "class")))
		}
		content = ack
	case 1:
		object := &ledger.Object{Why: rapid.Uint64Range(1, 3).Draw(t, "why")}
		if object.Why == 1 {
			object.Files = []ledger.OwnLines{{File: rapid.Uint64Range(0, 2).Draw(t, "file"), Lines: 1}}
		}
		content = object
	case 2:
		if s.Open != nil && rapid.Bool().Draw(t, "assigned") {
			h.Re[0] = s.Assign
		}
		content = &ledger.FinalReady{Head: blob("h"), BaseHead: blob("b"), Files: sc.versions(), Tests: 1}
	default:
		if s.Final != nil && rapid.Bool().Draw(t, "names it") {
			h.Re[0] = s.Final.ID
		}
		adopted := &ledger.Adopted{Tip: blob("t")}
		for range n {
			adopted.Results = append(adopted.Results, ledger.HadIt)
		}
		content = adopted
	}
	sc.w.say(c, h, content)
}

// twice signs another record at a place that is taken.
func (sc *scribe) twice(c *computer) {
	w, tid := sc.w, sc.w.open.Key().Thread()
	head := c.heads[tid]
	if head.Next == 0 {
		return
	}
	for _, r := range w.records {
		if r.ID == head.ID && r.Kind != ledger.KindOpen {
			h := r.Header
			h.At++
			again, err := ledger.Seal(c.key, h, r.Content)
			if err != nil {
				sc.t.Fatal(err)
			}
			w.records = append(w.records, again)
			if rapid.Bool().Draw(sc.t, "follow the second") {
				c.heads[tid] = ledger.Head{Chain: head.Chain, Next: head.Next, ID: again.ID, Lam: again.Lam}
			}
			return
		}
	}
}

func TestTwoReadingsOfTheSameRecordsAgree(t *testing.T) { // case 7
	phases := map[Phase]int{}
	rapid.Check(t, func(rt *rapid.T) {
		w := anyThread(t, rt)
		if rapid.Bool().Draw(rt, "calm") {
			w = calmThread(t, rt)
		}
		records := rapid.Permutation(w.records).Draw(rt, "order")
		records = records[:rapid.IntRange(max(0, len(records)-3), len(records)).Draw(rt, "how many")]
		s := Fold(records, w.rosters())
		want := naive{all: records, rosters: w.rosters()}.told()
		if got := told(&s); got != want {
			rt.Fatalf("fold  %s\nnaive %s", got, want)
		}
		again := Fold(rapid.Permutation(records).Draw(rt, "another order"), w.rosters())
		if s.Hash() != again.Hash() {
			rt.Fatal("another order of the same records has another hash")
		}
		if !ledger.Canonical(s.canonical()) {
			rt.Fatal("the state is not encoded in the records' subset")
		}
		phases[s.Phase]++
	})
	for _, phase := range []Phase{Opened, Interim, Closed} {
		if phases[phase] == 0 && !testing.Short() { // then rapid tries a fifth as often
			t.Errorf("no random thread came to phase %v: %v", phase, phases)
		}
	}
	t.Log(phases)
}
