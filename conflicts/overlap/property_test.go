package overlap

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/ledger"
)

// story is a random history of agents on a few computers.
type story struct {
	t        *rapid.T
	w        *world
	pens     []*pen
	sessions []*agent
	rules    *detect.Rules
	own      bool // as nodes do it: each computer writes of its own sessions alone, sessions edit, and intents claim
}

// agent is one session with its intents.
type agent struct {
	pen     *pen
	session ledger.ID
	intents []ledger.ID
}

func (s *story) pick(n int, what string) int { return rapid.IntRange(0, n-1).Draw(s.t, what) }

var storyPaths = []string{"db/a.sql", "src/a.ts", "src/b.ts", "lib/c.ts"}

var storyPatterns = []string{"db/**", "db/a.sql", "src/*.ts", "src/a.ts", "**"}

// newStory has four computers of three developers.
func newStory(t *rapid.T, tb testing.TB) *story {
	p := detect.DefaultPolicy()
	p.ExclusiveByDefault = []string{"lib/**"}
	p.Severity[detect.PathOverlap] = rapid.SampledFrom([]detect.Severity{detect.Info, detect.Block}).Draw(t, "severity")
	p.ProtectedPaths = []detect.Protected{{Path: "db/**", Owners: []string{"user:maya@acme.com"}}}
	w := newWorld(tb, p)
	rules, err := detect.NewRules(p)
	if err != nil {
		t.Fatal(err)
	}
	s := &story{t: t, w: w, rules: rules}
	for i, name := range []string{"jordan", "jordan", "maya", "sam"} {
		s.pens = append(s.pens, w.computer(name, byte(i)))
	}
	for range 3 {
		s.begin()
	}
	return s
}

func (s *story) begin() {
	p := s.pens[s.pick(len(s.pens), "computer")]
	s.sessions = append(s.sessions, &agent{pen: p, session: p.session("codex", fmt.Sprint("b", len(s.sessions)))})
}

// step lets one thing happen.
func (s *story) step() {
	a := s.sessions[s.pick(len(s.sessions), "session")]
	p := a.pen
	if !s.own && s.pick(8, "elsewhere") == 0 {
		p = s.pens[s.pick(len(s.pens), "computer")] // who may not be its developer
	}
	holder := a.session
	if len(a.intents) > 0 && s.pick(2, "holder") == 0 {
		holder = a.intents[s.pick(len(a.intents), "intent")]
	}
	edits := holder
	if s.own {
		edits = a.session
	}
	if s.pick(4, "at once") == 0 {
		s.w.lam -= min(s.w.lam, uint64(s.pick(3, "lam")))
		for _, h := range p.heads {
			s.w.lam = max(s.w.lam, h.Lam)
		}
	}
	switch s.pick(12, "what") {
	case 0:
		s.begin()
	case 1:
		a.intents = append(a.intents, p.intent(a.session, "some task of "+a.session.Short()))
	case 2:
		if len(a.intents) > 0 {
			in := a.intents[s.pick(len(a.intents), "intent")]
			if side, _ := s.w.f.Side(in); s.own && (side.Phase == Ended || side.Phase == MergedIn) {
				return // what was closed before others listened is not opened again
			}
			p.say(shop, &ledger.Intent{First: in, Session: a.session, State: uint64(1 + s.pick(3, "state")), Task: "some task"})
		}
	case 3, 4, 5:
		p.edits(edits, storyPaths[s.pick(len(storyPaths), "path")])
	case 6:
		p.undoes(edits, storyPaths[s.pick(len(storyPaths), "path")])
	case 7, 8:
		if !s.own || holder != a.session {
			s.claim(p, holder)
		}
	case 9:
		p.say(shop, &ledger.Attempt{Session: a.session, Paths: []ledger.Trying{{Path: ledger.Path(storyPaths[s.pick(len(storyPaths), "path")]), Op: 1}}})
	case 10:
		s.w.wait(rapid.SampledFrom([]uint64{minute, AttemptFor, IdleAfter, ExpiresAfter}).Draw(s.t, "wait"))
	case 11:
		s.talk(a, p)
	}
}

func (s *story) claim(p *pen, holder ledger.ID) {
	var claims []detect.Claim
	for _, pattern := range storyPatterns {
		if n := s.pick(6, "claim"); n < 2 {
			claims = append(claims, detect.Claim{Kind: detect.PathClaim, Pattern: pattern, Exclusive: n == 0, Covers: 1})
		}
	}
	p.claims(holder, claims...)
}

// talk acts on a conflict, ends the session, or writes what is due.
func (s *story) talk(a *agent, p *pen) {
	all := s.w.f.Conflicts()
	switch s.pick(4, "talk") {
	case 0:
		p.say(shop, &ledger.Session{First: a.session, State: uint64(1 + s.pick(2, "state")), Checkout: [16]byte{1}})
	case 1:
		for _, body := range s.w.f.Due(p.device) {
			p.say(shop, body)
		}
	default:
		if len(all) > 0 {
			c := all[s.pick(len(all), "conflict")]
			action := ledger.Action(1 + s.pick(12, "action"))
			act := &ledger.Act{Conflict: c.ID, Side: a.session, Action: action, Evidence: c.Evidence, Person: action == ledger.ActOverride}
			p.say(shop, act)
		}
	}
}

// fork says something a second time at a place that is taken, as a copied disk does.
func (s *story) fork() {
	p := s.pens[s.pick(len(s.pens), "fork")]
	heads := map[ledger.TID]ledger.Head{}
	maps.Copy(heads, p.heads)
	a := s.sessions[0]
	for range 1 + s.pick(2, "length") {
		s.w.records = append(s.w.records, p.sealed(shop, BackOf(a.session, storyPaths[s.pick(len(storyPaths), "path")])))
	}
	if s.pick(2, "back") == 0 {
		p.heads = heads
	}
}

// String is what was said, a line for each record.
func (s *story) String() string {
	var b strings.Builder
	for _, r := range s.w.records {
		fmt.Fprintf(&b, "%s by %s lam %d at %d: %s %+v\n", r.ID.Short(), r.Device.Short(), r.Lam, (r.At-start)/minute, r.Kind, r.Content)
	}
	return b.String()
}

// everything is all that a fold says, with its time.
func everything(f *Fold) string {
	var b strings.Builder
	for _, c := range f.Conflicts() {
		fmt.Fprintf(&b, "%s %x %s %s %s %v %s %v %v %d %d %v %v %s %s %d\n", c.Name, c.ID, c.Kind, c.Status, c.Severity, c.Blocking, c.Blocked.Short(), c.About,
			c.Muted, c.Since, c.Reopened, c.Present, len(c.Acts), c.Sentence, c.Doubtful, c.Minutes)
	}
	for _, s := range f.Sides() {
		fmt.Fprintf(&b, "%+v %v\n", s, f.Briefing(s.ID))
		d := f.Decide(s.ID, about("db/a.sql", "src/a.ts"))
		fmt.Fprintf(&b, "%s %s\n", d.Verdict, d.Words)
	}
	fmt.Fprint(&b, f.Doubts(), f.Messages(), f.Lam())
	return b.String()
}

// elsewhere is a fold that gets the records in another order, some of them twice, and is asked in between.
func (s *story) elsewhere(seed uint64) *Fold {
	w := newWorld(s.w.t)
	w.f = New(Repo{shop, "acme/shop", s.rules}, Repo{web, "acme/web", s.rules})
	w.f.SetPeople(s.w.people)
	w.f.Tick(start)
	rng := rand.New(rand.NewPCG(seed, 1))
	order := slices.Clone(s.w.records)
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	for i, r := range order {
		w.f.Add(r, r.At)
		if rng.IntN(4) == 0 {
			w.f.Add(order[rng.IntN(i+1)], r.At)
		}
		if rng.IntN(5) == 0 {
			w.f.Conflicts()
		}
		if rng.IntN(10) == 0 {
			w.f.Tick(start + rng.Uint64N(s.w.now-start+1))
		}
	}
	w.f.Tick(s.w.now)
	return w.f
}

func TestTheOrderOfArrivalNeverMatters(t *testing.T) { // C1, C10
	rapid.Check(t, func(rt *rapid.T) {
		s := newStory(rt, t)
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			s.step()
			if s.pick(12, "fork") == 0 {
				s.fork()
			}
		}
		want := everything(s.elsewhere(1))
		for seed := range uint64(3) {
			if got := everything(s.elsewhere(seed + 2)); got != want {
				rt.Fatalf("%s\none order\n%s\nanother\n%s", s, want, got)
			}
		}
	})
}

func TestTheFoldSaysWhatASecondReadingSays(t *testing.T) { // C1, C2, C7 to C10
	rapid.Check(t, func(rt *rapid.T) {
		s := newStory(rt, t)
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			s.step()
		}
		want := newNaive(s.w, s.w.records, s.rules).standing()
		var got []string
		for _, c := range s.w.f.Conflicts() {
			if !c.Present {
				continue
			}
			blocked := ledger.ID{}
			if c.Blocking {
				blocked = c.Blocked
			}
			line := fmt.Sprint(c.ID.Short(), " ", c.Kind, " ", c.Severity, " ", c.About, " ", blocked.Short())
			if !c.Status.Live() { // nobody waits for what is closed
				i := slices.IndexFunc(want, func(s string) bool { return strings.HasPrefix(s, c.ID.Short()) })
				if i >= 0 && strings.HasPrefix(want[i], strings.TrimSuffix(line, "00000000")) {
					line = want[i]
				}
			}
			got = append(got, line)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			rt.Fatalf("%s\nthe fold\n%s\nthe second reading\n%s", s, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}
