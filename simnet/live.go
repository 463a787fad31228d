package simnet

import (
	"fmt"
	"slices"

	"github.com/parley-mesh/parley/conflicts/overlap"
	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/ledger"
)

// live is the live work on one computer: its agents' sessions, and the fold of what it heard of all.
type live struct {
	fold     *overlap.Fold
	fed      map[ledger.TID]int
	seen     map[ledger.ID]uint64 // when it first had a record, which its disk keeps
	sessions []agentSession
	told     map[ledger.ID]overlap.Told // what lanes were told, by the statement that shares it
}

// agentSession is one session of an agent on this computer, with its intent once it declared one.
type agentSession struct{ session, intent ledger.ID }

func (a agentSession) holder() ledger.ID {
	if a.intent != (ledger.ID{}) {
		return a.intent
	}
	return a.session
}

// workPaths are what agents work on, workPatterns what they claim.
var (
	workPaths    = []string{"db/a.sql", "db/b.sql", "src/a.ts", "src/b.ts", "src/c.ts", "lib/d.ts"}
	workPatterns = []string{"db/**", "db/a.sql", "src/*.ts", "src/a.ts", "lib/**"}
	workPlace    = overlap.Place{Host: host, Repo: repoID}
)

// workPolicy blocks where two agents work on one path, and holds lib for who comes first.
func workRules() *detect.Rules {
	p := detect.DefaultPolicy()
	p.Severity[detect.PathOverlap] = detect.Block
	p.ExclusiveByDefault = []string{"lib/**"}
	r, err := detect.NewRules(p)
	if err != nil {
		panic("simnet: the policy of live work: " + err.Error())
	}
	return r
}

func (w *World) newWorkFold() *overlap.Fold {
	f := overlap.New(overlap.Repo{Place: workPlace, Slug: slug, Rules: w.workRules})
	f.SetPeople(w.workers)
	return f
}

// settleIn says whose computers there are: two of them are one developer's.
func (w *World) settleIn() {
	w.workRules, w.workers = workRules(), map[ledger.Device]overlap.Person{}
	for i, c := range w.computers {
		fleet := ledger.TID{byte(1 + (i+1)/2)}
		if w.cfg.Teams > 0 {
			fleet = c.fleet
		}
		w.workers[c.dev] = overlap.Person{Fleet: fleet, Name: c.name}
	}
}

// reopen folds again what the disk holds.
func (c *computer) reopen() {
	if c.w.cfg.Agents == 0 {
		return
	}
	if c.live.seen == nil {
		c.live.seen = map[ledger.ID]uint64{}
	}
	c.live.fold, c.live.fed, c.live.told = c.w.newWorkFold(), map[ledger.TID]int{}, map[ledger.ID]overlap.Told{}
	for _, b := range c.books {
		if b.family == ledger.Work {
			c.hearWork(b)
		}
	}
	c.recall()
}

// recall lets the agents go on with what the disk still knows of: a session is said and remembered in one, so what a death
// took along begins anew.
func (c *computer) recall() {
	known := map[ledger.ID]bool{}
	for _, r := range c.workRecords() {
		known[r.ID] = true
		switch said := r.Content.(type) {
		case *ledger.Session:
			known[said.First] = true
		case *ledger.Intent:
			known[said.First] = true
		}
	}
	c.live.sessions = slices.DeleteFunc(c.live.sessions, func(a agentSession) bool {
		return !known[a.session] || a.intent != (ledger.ID{}) && !known[a.intent]
	})
}

func (c *computer) millis() uint64 { return uint64(c.wall().UnixMilli()) }

// hearWork takes in what is new in a ledger of live work.
func (c *computer) hearWork(b *book) {
	if c.live.fold == nil {
		return
	}
	records := b.records
	if c.w.is(lateWork) && c.number == 1 && len(records) > 0 {
		records = records[:len(records)-1]
	}
	for _, r := range records[min(c.live.fed[b.tid], len(records)):] {
		if _, ok := c.live.seen[r.ID]; !ok {
			c.live.seen[r.ID] = c.millis()
		}
		if r.For == (ledger.Place{}) || !c.mate(r.Device) {
			c.live.fold.Add(r, c.live.seen[r.ID])
		}
	}
	c.live.fold.SetShares(c.shares())
	c.live.fed[b.tid] = len(records)
	c.live.fold.Tick(c.millis())
	if !slices.Contains(c.w.step.Live, c) {
		c.w.step.Live = append(c.w.step.Live, c)
	}
}

// writes seals a record of live work, and gossips it and what lanes get of it.
func (c *computer) writes(body ledger.Body) ledger.ID {
	scope := ledger.Scope{Host: host, Repo: repoID, Period: ledger.PeriodOf(c.millis())}
	b := c.open(scope.Ledger(), ledger.Work)
	r := c.adds(b, ledger.Header{Scope: scope, At: c.millis()}, body)
	if r == nil {
		return ledger.ID{}
	}
	c.w.teams.noteEdit(c, r)
	c.live.seen[r.ID] = c.millis()
	c.hearWork(b)
	c.forOthers(r)
	return r.ID
}

// work lets an agent somewhere do one thing.
func (w *World) work() {
	r := w.rng.agents
	c := w.computers[r.IntN(len(w.computers))]
	if !c.up() || c.lane && w.cfg.Teams == 0 || c.live.fold == nil || c.fullUntil > w.now {
		return
	}
	if len(c.live.sessions) < w.cfg.Agents && (len(c.live.sessions) == 0 || oneIn(r, 10)) {
		checkout := [16]byte{byte(c.number + 1), byte(r.Uint32()), byte(r.Uint32())}
		c.live.sessions = append(c.live.sessions, agentSession{session: c.writes(&ledger.Session{State: ledger.SessionLive, Agent: "codex", Checkout: checkout, Base: workOID("base")})})
		return
	}
	at := r.IntN(len(c.live.sessions))
	c.agent(at, r.IntN(20))
	for _, body := range c.live.fold.Due(c.dev) {
		c.writes(body)
	}
}

// agent lets one session do what chance says.
func (c *computer) agent(at, what int) {
	r, s := c.w.rng.agents, &c.live.sessions[at]
	path := workPaths[r.IntN(len(workPaths))]
	switch {
	case what == 0:
		c.writes(&ledger.Session{First: s.session, State: ledger.SessionEnded, Checkout: [16]byte{1}})
		if s.intent != (ledger.ID{}) {
			c.writes(&ledger.Intent{First: s.intent, Session: s.session, State: uint64(2 + r.IntN(2)), Task: "a task of " + s.session.Short()})
		}
		c.live.sessions = slices.Delete(c.live.sessions, at, at+1)
	case what == 1 && s.intent == ledger.ID{}:
		s.intent = c.writes(&ledger.Intent{Session: s.session, State: ledger.IntentLive, Task: "a task of " + s.session.Short()})
	case what < 4:
		c.writes(overlap.BackOf(s.holder(), path))
	case what < 7:
		c.claim(s)
	case what == 7:
		c.speak(s)
	default:
		c.editWork(s, path)
	}
}

// editWork asks before it edits, as every agent does, and waits when it is blocked.
func (c *computer) editWork(s *agentSession, path string) {
	r := c.w.rng.agents
	c.live.fold.Settle()
	if d := c.live.fold.Decide(s.session, []detect.Upcoming{{Path: path, Op: detect.Modify}}); d.Verdict == overlap.Block && !oneIn(r, 4) {
		c.writes(&ledger.Attempt{Session: s.session, Paths: []ledger.Trying{{Path: ledger.Path(path), Op: ledger.EditModify}}})
		return
	}
	start := uint32(r.IntN(20))
	c.writes(overlap.EditOf(s.holder(), &detect.File{
		Path: path, Op: detect.Modify, BaseBlob: workOID("base" + path).String(), Blob: workOID(fmt.Sprint(path, r.Uint64())).String(),
		BaseMode: 0o100644, Mode: 0o100644, Quality: detect.Clean, Hunks: []detect.Hunk{{OldStart: start, OldLen: 3, NewLen: 3, Hash: r.Uint64()}},
	}, &detect.Delta{}, nil, 7000))
}

func (c *computer) claim(s *agentSession) {
	r := c.w.rng.agents
	var claims []detect.Claim
	for _, p := range workPatterns {
		if n := r.IntN(8); n < 2 {
			claims = append(claims, detect.Claim{Kind: detect.PathClaim, Pattern: p, Exclusive: n == 0, Covers: 2})
		}
	}
	c.writes(overlap.ClaimOf(s.holder(), claims))
}

// speak acts on a conflict of one's own.
func (c *computer) speak(s *agentSession) {
	r := c.w.rng.agents
	all := c.live.fold.Conflicts()
	if len(all) == 0 {
		return
	}
	conflict := all[r.IntN(len(all))]
	act := &ledger.Act{Conflict: conflict.ID, Side: s.session, Action: ledger.Action(1 + r.IntN(8)), Evidence: conflict.Evidence}
	if oneIn(r, 4) {
		act.Action, act.Person = ledger.ActOverride, true
	}
	if c.live.fold.Check(act, c.dev) == nil {
		c.writes(act)
	}
}

func workOID(name string) ledger.OID {
	id := ledger.ConflictID(host, repoID, name, nil, nil)
	return ledger.OID(id[:20])
}
