package overlap

import (
	"encoding/json"
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

// turmoil is a story in which people, rules, names, leave to share and time change as well, and others write for lanes
// whatever they like.
type turmoil struct {
	*story
	lanes  []*shared
	shares map[ledger.ID]Share
	repos  map[Place]Repo
	heard  []heard
	ids    []ledger.ID // of sides, some of which are never begun
	past   uint64      // what was said before this period is forgotten
	done   int         // records of the world that were heard
	log    []string
}

// heard is a record with the moment at which it came.
type heard struct {
	*ledger.Record
	seen uint64
}

var turmoilPaths = []string{"db/a.sql", "src/a.ts", "src/b.ts", "lib/c.ts"}

func newTurmoil(t *rapid.T, tb testing.TB) *turmoil {
	m := &turmoil{story: newStory(t, tb), shares: map[ledger.ID]Share{}, repos: map[Place]Repo{}, ids: []ledger.ID{{1}, {2}, {3}}}
	for i := range 3 { // of which one hides names
		s := newShared(m.w, m.rules, "sam", ledger.NamesKey{})
		if s.on = (ledger.ID{9, byte(i)}); i == 2 {
			s.names = ledger.NamesKey{5}
		}
		s.f = m.w.f
		m.lanes = append(m.lanes, s)
	}
	m.repos[shop], m.repos[web] = Repo{shop, "acme/shop", m.rules}, Repo{web, "acme/web", m.rules}
	for _, name := range []string{"feat/x", "b0", "#7"} {
		m.ids = append(m.ids, ledger.BranchSide(shop.Host, shop.Repo, name))
	}
	m.share()
	return m
}

func (m *turmoil) draw(what string, n int) int { return rapid.IntRange(0, n-1).Draw(m.t, what) }

func (m *turmoil) id() ledger.ID {
	all := slices.Clone(m.ids)
	if m.draw("few", 2) == 0 {
		return all[m.draw("one of a few", len(all))]
	}
	for _, a := range m.sessions {
		all = append(append(all, a.session), a.intents...)
	}
	return all[m.draw("id", len(all))]
}

// happens lets one thing happen.
func (m *turmoil) happens() {
	what := m.draw("turmoil", 20)
	m.log = append(m.log, fmt.Sprint("· ", what))
	switch what {
	case 0:
		m.meet()
	case 1:
		m.share()
	case 2:
		m.rule()
	case 3:
		m.time()
	case 4:
		for range m.draw("steps", 4) {
			m.w.f.Step()
		}
	case 5:
		m.w.f.Decide(m.id(), about(turmoilPaths[m.draw("path", len(turmoilPaths))]))
	case 6:
		m.w.f.Settle()
	case 7, 8, 9, 10, 11:
		m.lane()
	case 12, 13, 14:
		m.more()
	default:
		m.story.step()
	}
	for ; m.done < len(m.w.records); m.done++ {
		r := m.w.records[m.done]
		m.hears(r, r.At)
	}
}

func (m *turmoil) hears(r *ledger.Record, seen uint64) {
	m.heard = append(m.heard, heard{r, seen})
	m.log = append(m.log, fmt.Sprintf("%s by %s for %d %s lam %d at %d seen %d: %s %+v", r.ID.Short(), r.Device.Short(), r.For.Lam, r.For.ID.Short(), r.Lam,
		r.At-start, seen-start, r.Kind, r.Content))
}

// meet lets a computer become somebody's, or its developer be called another way.
func (m *turmoil) meet() {
	people := maps.Clone(m.w.people)
	device := m.pens[m.draw("computer", len(m.pens))].device
	p := people[device]
	switch m.draw("person", 7) {
	case 0:
		delete(people, device)
	case 1, 2:
		name := []string{"jordan", "maya", "sam"}[m.draw("fleet", 3)]
		p.Fleet = ledger.TID{}
		copy(p.Fleet[:], name)
		people[device] = p
	case 3:
		p.Name += "'"
		people[device] = p
	case 4:
		p.Email = []string{"", "maya@acme.com", "sam@acme.com"}[m.draw("email", 3)]
		people[device] = p
	case 5:
		p.Account = uint64(m.draw("account", 3))
		people[device] = p
	case 6:
		p.Own = !p.Own
		people[device] = p
	}
	m.w.people = people
	m.w.f.SetPeople(people)
	m.log = append(m.log, fmt.Sprintf("people %+v", people))
}

// share switches one lane, or lets it begin to hide its names under a new key.
func (m *turmoil) share() {
	m.shares = maps.Clone(m.shares)
	s := m.lanes[m.draw("lane", len(m.lanes))]
	if _, on := m.shares[s.on]; on && m.draw("off", 3) == 0 {
		delete(m.shares, s.on)
	} else {
		var fleet ledger.TID
		copy(fleet[:], []string{"sam", "sam", "maya"}[m.draw("whose", 3)])
		m.shares[s.on] = Share{Fleet: fleet, Names: s.names}
	}
	m.w.f.SetShares(m.shares)
	m.log = append(m.log, fmt.Sprintf("shares %+v", m.shares))
}

// rule changes what a repository is called, or the policy that is in force there.
func (m *turmoil) rule() {
	r := m.repos[[]Place{shop, web}[m.draw("repository", 2)]]
	if m.draw("rule", 3) == 0 {
		r.Slug += "x"
	} else {
		p := detect.DefaultPolicy()
		p.Severity[detect.PathOverlap] = []detect.Severity{detect.Info, detect.Block}[m.draw("severity", 2)]
		p.ExclusiveByDefault = [][]string{nil, {"lib/**"}, {"src/**"}}[m.draw("default", 3)]
		p.IgnorePaths = [][]string{nil, {"src/a.ts"}}[m.draw("ignored", 2)]
		p.ProtectedPaths = []detect.Protected{{Path: "db/**", Owners: []string{[]string{"user:maya@acme.com", "user:sam@acme.com"}[m.draw("owner", 2)]}}}
		rules, err := detect.NewRules(p)
		if err != nil {
			m.t.Fatal(err)
		}
		r.Rules = rules
	}
	m.repos[r.Place] = r
	m.w.f.SetRepo(r)
	m.log = append(m.log, "rule")
}

// time goes on, or back, or a week is forgotten.
func (m *turmoil) time() {
	switch m.draw("time", 6) {
	case 0:
		m.w.now -= min(m.w.now-start, []uint64{minute, AttemptFor, IdleAfter}[m.draw("back", 3)])
		m.w.f.Tick(m.w.now)
	case 1:
		m.w.wait(ledger.WeekMS)
	case 2:
		m.past = max(m.past, ledger.PeriodOf(m.w.now))
		m.w.f.Forget(m.past)
	default:
		m.w.wait([]uint64{minute, AttemptFor, IdleAfter, ExpiresAfter}[m.draw("wait", 4)])
	}
	m.log = append(m.log, fmt.Sprintf("time %d, forgotten before %d", m.w.now-start, m.past))
}

// fresh is a fold that hears everything in another order, and is told of people, rules and lanes once.
func (m *turmoil) fresh(seed uint64) *Fold {
	f := New()
	rng := rand.New(rand.NewPCG(seed, 1))
	order := slices.Clone(m.heard)
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	if seed == 0 {
		order = slices.Clone(m.heard)
	}
	f.SetPeople(m.w.people)
	f.SetShares(m.shares)
	for _, p := range []Place{shop, web} {
		f.SetRepo(m.repos[p])
	}
	f.Tick(m.w.now)
	for _, h := range order {
		f.Add(h.Record, h.seen)
	}
	return f
}

// all is what a fold says once everybody has asked about every path.
func (m *turmoil) all(f *Fold) string {
	f.Forget(m.past)
	f.Settle()
	f.Decide(ledger.ID{}, about(turmoilPaths...))
	var b strings.Builder
	b.WriteString(everything(f))
	for _, p := range m.pens {
		for _, due := range f.Due(p.device) {
			fmt.Fprintf(&b, "\ndue %s %+v", p.device.Short(), due)
		}
		for _, one := range (Told{}).Begin(f, p.device, shop) {
			body, err := json.Marshal(one.Body)
			fmt.Fprintf(&b, "\ntold %s %d %s %d %s %v", p.device.Short(), one.For.Lam, one.For.ID.Short(), one.At, body, err)
		}
	}
	for _, c := range f.Conflicts() {
		for _, a := range c.Acts {
			fmt.Fprintf(&b, "\n%+v", a)
		}
		fmt.Fprintf(&b, "\n%s %+v %v %v", c.Name, c.From, f.DevelopersIn(c.ID), c.Place)
	}
	for _, s := range f.Sides() {
		digest, err := json.Marshal(f.Digest(s.ID))
		fmt.Fprintf(&b, "\n%s %s %v", s.Ref, digest, err)
	}
	minutes, conflicts := f.Saved()
	fmt.Fprintf(&b, "\nsaved %d by %d", minutes, conflicts)
	return b.String()
}

// What is kept up to date step by step is what a fold says that begins with all of it.
func TestWhateverChangesTheFoldSaysWhatAFreshOneSays(t *testing.T) { // C1, C9, C10, D-26, L5
	rapid.Check(t, func(rt *rapid.T) {
		m := newTurmoil(rt, t)
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			m.happens()
		}
		got := m.all(m.w.f)
		for seed := range uint64(2) {
			if want := m.all(m.fresh(seed)); got != want {
				rt.Fatalf("%s\nin steps and at once:%s", strings.Join(m.log, "\n"), differ(got, want))
			}
		}
	})
}

// differ is the first line that two texts do not share.
func differ(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return "\n" + x[i] + "\n" + y[i]
		}
	}
	return "their ends"
}
