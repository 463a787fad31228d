package overlap

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/ledger"
)

// start is when every story begins, in the middle of a period.
const start = 2917*ledger.WeekMS + ledger.WeekMS/2

const minute = 60 * 1000

var (
	shop = Place{"github.com", 7}
	web  = Place{"github.com", 8}
)

// pen writes the records of one computer, one chain for each ledger.
type pen struct {
	t      testing.TB
	w      *world
	key    ed25519.PrivateKey
	device ledger.Device
	heads  map[ledger.TID]ledger.Head
}

// world is a fold, the computers that write to it, and one clock.
type world struct {
	t       testing.TB
	f       *Fold
	now     uint64
	lam     uint64
	people  map[ledger.Device]Person
	records []*ledger.Record
}

func newWorld(t testing.TB, policy ...*detect.Policy) *world {
	t.Helper()
	p := detect.DefaultPolicy()
	if len(policy) > 0 {
		p = policy[0]
	}
	rules, err := detect.NewRules(p)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, now: start, people: map[ledger.Device]Person{}}
	w.f = New(Repo{shop, "acme/shop", rules}, Repo{web, "acme/web", rules})
	w.f.Tick(w.now)
	return w
}

// computer is a new one of a developer.
func (w *world) computer(developer string, n byte) *pen {
	seed := make([]byte, 32)
	seed[0], seed[1] = n, byte(len(developer))
	copy(seed[2:], developer)
	key := ed25519.NewKeyFromSeed(seed)
	p := &pen{t: w.t, w: w, key: key, device: ledger.Device(key.Public().(ed25519.PublicKey)), heads: map[ledger.TID]ledger.Head{}}
	var fleet ledger.TID
	copy(fleet[:], developer)
	w.people[p.device] = Person{Fleet: fleet, Name: developer, Email: developer + "@acme.com", Account: uint64(developer[0])}
	w.f.SetPeople(w.people)
	return p
}

// sealed is the next record of a computer's chain, which nobody has yet.
func (p *pen) sealed(place Place, body ledger.Body) *ledger.Record {
	p.t.Helper()
	scope := ledger.Scope{Host: place.Host, Repo: place.Repo, Period: ledger.PeriodOf(p.w.now)}
	tid := scope.Ledger()
	head, ok := p.heads[tid]
	p.w.lam = max(p.w.lam, head.Lam) + 1
	h := ledger.Header{Ledger: tid, Inc: ledger.Incarnation{1}, Lam: p.w.lam, At: p.w.now, Seq: head.Next, Prev: head.ID}
	if !ok {
		h.Scope = scope
	}
	r, err := ledger.Seal(p.key, h, body)
	if err != nil {
		p.t.Fatal(err)
	}
	head.Chain = r.Chain()
	p.heads[tid] = head.After(r)
	return r
}

// say writes a record, and gives it to the fold.
func (p *pen) say(place Place, body ledger.Body) ledger.ID {
	p.t.Helper()
	r := p.sealed(place, body)
	p.w.records = append(p.w.records, r)
	p.w.f.Add(r, p.w.now)
	return r.ID
}

func (p *pen) session(agent, branch string) ledger.ID {
	return p.say(shop, &ledger.Session{
		State: ledger.SessionLive, Agent: agent, Branch: branch, Checkout: [16]byte{p.device[0], byte(len(branch))}, Base: testOID("base"), Grammars: "g",
	})
}

func (p *pen) intent(session ledger.ID, task string) ledger.ID {
	return p.say(shop, &ledger.Intent{Session: session, State: ledger.IntentLive, Task: task})
}

// depends declares an intent that waits for others.
func (p *pen) depends(session ledger.ID, task string, on ...ledger.ID) ledger.ID {
	slices.SortFunc(on, func(a, b ledger.ID) int { return slices.Compare(a[:], b[:]) })
	return p.say(shop, &ledger.Intent{Session: session, State: ledger.IntentLive, Task: task, Depends: on})
}

// changes edits one file with what the readers of code say about it.
func (p *pen) changes(place Place, holder ledger.ID, file string, delta detect.Delta, hunks ...detect.Hunk) {
	p.say(place, EditOf(holder, &detect.File{
		Path: file, Op: detect.Modify, BaseBlob: testOID("base" + file).String(), Blob: testOID(file + holder.String() + fmt.Sprint(p.w.lam)).String(),
		BaseMode: 0o100644, Mode: 0o100644, Quality: detect.Clean, Hunks: hunks,
	}, &delta, nil, 7000))
}

// symbol is a change of one symbol.
func symbol(id string, change detect.Change, verdict detect.Verdict) detect.SymbolChange {
	return detect.SymbolChange{
		Symbol: detect.Symbol{ID: id, Kind: detect.Function, Exported: true, SignatureHash: uint64(change), BodyHash: uint64(len(id)) + 100*uint64(change)},
		Change: change, Verdict: verdict,
	}
}

// about is what an agent is about to edit.
func about(paths ...string) (all []detect.Upcoming) {
	for _, p := range paths {
		all = append(all, detect.Upcoming{Path: p, Op: detect.Modify})
	}
	return all
}

// decides settles, and holds the verdict against what it should be.
func (w *world) decides(session ledger.ID, want Verdict, paths ...string) Decision {
	w.t.Helper()
	w.f.Settle()
	d := w.f.Decide(session, about(paths...))
	if d.Verdict != want {
		w.t.Fatalf("%s before an edit of %v, want %s: %s", d.Verdict, paths, want, d.Words)
	}
	return d
}

func (p *pen) closes(intent ledger.ID, task string, state uint64) {
	p.say(shop, &ledger.Intent{First: intent, State: state, Task: task})
}

// edits changes files; the content is new each time.
func (p *pen) edits(holder ledger.ID, paths ...string) {
	for _, path := range paths {
		p.w.lam++
		p.say(shop, EditOf(holder, &detect.File{
			Path: path, Op: detect.Modify, BaseBlob: testOID("base" + path).String(), Blob: testOID(path + string(rune(p.w.lam)) + holder.String()).String(),
			BaseMode: 0o100644, Mode: 0o100644, Quality: detect.Clean,
		}, &detect.Delta{}, nil, 7000))
	}
}

func (p *pen) undoes(holder ledger.ID, path string) { p.say(shop, BackOf(holder, path)) }

func (p *pen) claims(holder ledger.ID, claims ...detect.Claim) { p.say(shop, ClaimOf(holder, claims)) }

// acts says something about a conflict for a side.
func (p *pen) acts(c Conflict, side ledger.ID, action ledger.Action, note string) {
	p.t.Helper()
	p.try(&ledger.Act{Conflict: c.ID, Side: side, Action: action, Note: note, Evidence: c.Evidence})
}

// person says something about a conflict as its developer.
func (p *pen) person(c Conflict, action ledger.Action) {
	p.t.Helper()
	p.try(&ledger.Act{Conflict: c.ID, Action: action, Person: true, Evidence: c.Evidence})
}

func (p *pen) try(a *ledger.Act) {
	p.t.Helper()
	if err := p.w.f.Check(a, p.device); err != nil {
		p.t.Fatalf("%s: %v", WordOf(a.Action), err)
	}
	p.say(shop, a)
}

func testOID(name string) ledger.OID {
	sum := sha256.Sum256([]byte(name))
	return ledger.OID(sum[:20])
}

func path(pattern string) detect.Claim {
	return detect.Claim{Kind: detect.PathClaim, Pattern: pattern, Covers: 1}
}

func exclusive(pattern string, covers int) detect.Claim {
	return detect.Claim{Kind: detect.PathClaim, Pattern: pattern, Exclusive: true, Covers: covers}
}

// wait lets time pass.
func (w *world) wait(ms uint64) {
	w.now += ms
	w.f.Tick(w.now)
}

// settles lets every computer write what it has to write.
func (w *world) settles(pens ...*pen) {
	w.t.Helper()
	for _, p := range pens {
		for _, body := range w.f.Due(p.device) {
			p.say(shop, body)
		}
	}
	for _, p := range pens {
		if due := w.f.Due(p.device); len(due) > 0 {
			w.t.Fatalf("there is more to write: %+v", due[0])
		}
	}
}

// only is the one conflict of a kind.
func (w *world) only(kind detect.Kind) Conflict {
	w.t.Helper()
	var all []Conflict
	for _, c := range w.f.Conflicts() {
		if c.Kind == kind {
			all = append(all, c)
		}
	}
	if len(all) != 1 {
		w.t.Fatalf("%d conflicts of kind %s: %s", len(all), kind, w.listing())
	}
	return all[0]
}

func (w *world) none() {
	w.t.Helper()
	for _, c := range w.f.Conflicts() {
		if c.Status.Live() {
			w.t.Fatalf("a live conflict: %s", w.listing())
		}
	}
}

// listing is every conflict on a line.
func (w *world) listing() string {
	var b strings.Builder
	for _, c := range w.f.Conflicts() {
		b.WriteString("\n" + c.Name + " " + string(c.Kind) + " " + string(c.Status) + " " + c.Severity.String() + ": " + c.Sentence)
	}
	return b.String()
}

func (w *world) is(kind detect.Kind, status Status) Conflict {
	w.t.Helper()
	c := w.only(kind)
	if c.Status != status {
		w.t.Fatalf("%s is %s, want %s: %s", c.Name, c.Status, status, w.listing())
	}
	return c
}

// two is a pair of sessions of two developers.
func two(t testing.TB, policy ...*detect.Policy) (w *world, a, b *pen, x, y ledger.ID) {
	w = newWorld(t, policy...)
	a, b = w.computer("jordan", 1), w.computer("maya", 1)
	return w, a, b, a.session("claude_code", "feat/partial-refunds"), b.session("codex", "feat/refunds")
}
