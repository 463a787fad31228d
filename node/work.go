package node

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parley-mesh/parley/conflicts/overlap"
	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/ledger/disk"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/core"
)

// How often live work is looked at without news.
const (
	workTick   = 5 * time.Second
	retainWeek = time.Hour
)

// live looks after work that is not finished yet: the sessions here, what they change, and what conflicts with
// whom. Everything is in memory behind one lock, so that a hook is answered at once; whatever takes time, git and the disk
// above all, is done beside it. The conversation's core knows nothing of it.
type live struct {
	n        *Node
	ctx      context.Context // of everything that runs here
	out      chan struct{}   // holds one signal: something waits to be stored
	news     chan struct{}   // holds one signal: something came
	switched api.Bell        // rung when it may have been switched on or off
	press    sync.Mutex      // one switch at a time; taken before mu
	fetched  chan struct{}   // holds one signal: a default branch was fetched
	bell     api.Bell        // rung whenever something happened that people or agents may want to see

	mu       sync.Mutex
	switches switches // of this computer (D-27)
	fold     *overlap.Fold
	repos    []*liveRepo
	heads    map[ledger.TID]ledger.Head // of this process's chains
	outbox   []*ledger.Record           // sealed, not stored yet
	unsaved  []disk.Pair                // values of this computer, to be stored with them
	heardOf  map[ledger.TID]bool        // ledgers that something came into
	taken    map[chainPlace]uint64      // how far each chain was taken from the store
	spots    map[string]*spot           // by top directory
	located  map[string]located         // by directory
	sessions map[sessionKey]*session
	events   []api.LiveEvent                            // the last ones
	seq      uint64                                     // of the last one
	fresh    []*ledger.Record                           // folded, and not told to those who watch
	stood    map[ledger.ID]stood                        // live conflicts as they were told last
	before   map[ledger.ID]map[ledger.Path]*ledger.Edit // what earlier processes here said of their sessions' paths
	turns    map[ledger.ID][]turn                       // by conflict, in order
	full     time.Time                                  // when it was told that nothing more can be written
	inc      ledger.Incarnation                         // of chains that begin now
	shares   map[shareKey]*sharing                      // what lanes get of what is written here
	loaded   bool                                       // what is stored was folded
	lines    lines
}

// chainPlace names one chain of one ledger.
type chainPlace struct {
	tid ledger.TID
	ledger.Chain
}

// liveRepo is one configured repository.
type liveRepo struct {
	overlap.Place
	slug   string
	w      *workspace
	common string // what all working trees of the configured checkout share
	policy policyInForce
}

func newLive(n *Node) *live {
	l := &live{
		n: n, inc: n.inc, out: make(chan struct{}, 1), news: make(chan struct{}, 1), fold: overlap.New(), heads: map[ledger.TID]ledger.Head{},
		heardOf: map[ledger.TID]bool{}, taken: map[chainPlace]uint64{}, spots: map[string]*spot{}, located: map[string]located{},
		sessions: map[sessionKey]*session{}, fetched: make(chan struct{}, 1), stood: map[ledger.ID]stood{},
		before: map[ledger.ID]map[ledger.Path]*ledger.Edit{}, turns: map[ledger.ID][]turn{}, lines: newLines(),
	}
	return l
}

// Keys of what this computer keeps about live work beside the records.
const (
	agentsKey     = "live/agents"   // its switches
	sessionPrefix = "live/session/" // + agent and name: keptSession
)

// load takes what is stored. It runs before anything else does.
func (l *live) load() error {
	if value, err := l.n.store.Get([]byte(agentsKey)); err != nil {
		return err
	} else {
		l.switches = readSwitches(value)
	}
	if value, err := l.n.store.Get([]byte(linesKey)); err != nil {
		return err
	} else {
		l.lines.on = readLines(value)
	}
	l.setRepos()
	l.setPeople()
	now := uint64(l.n.wall().UnixMilli())
	var own []*ledger.Record
	err := l.n.readWorkBook(func(_ workScope, records []*ledger.Record) {
		for _, r := range records {
			if !l.heardThere(r) {
				continue
			}
			l.fold.Add(r, min(r.At, now)) // when it first came is not kept
			l.noteTurn(r)
			l.taken[chainPlace{r.Ledger, r.Chain()}] = r.Seq + 1
			if r.Device == l.n.id.Device() {
				own = append(own, r)
			}
		}
	})
	if err != nil {
		return err
	}
	l.fold.Tick(now)
	l.recall(own)
	l.mu.Lock()
	l.loaded = true
	l.setShares()
	l.mu.Unlock()
	return l.loadSessions()
}

// run looks after everything until ctx ends. While the switch and all lanes that share live work are off, it only
// sleeps.
func (l *live) run(ctx context.Context) {
	l.mu.Lock()
	l.ctx = ctx
	l.mu.Unlock()
	l.n.work.Go(func() { l.store(ctx) })
	l.n.work.Go(func() { l.policies(ctx) })
	l.n.work.Go(func() { l.branches(ctx) })
	if err := l.n.retainWork(l.n.wall()); err != nil {
		l.n.slog.Debug("drop old live work", "error", err)
	}
	for l.awaitActive(ctx) {
		l.watchOwn(ctx)
		l.attend(ctx)
		l.mu.Lock()
		if !l.activeNow() {
			l.stopSpots()
		}
		l.mu.Unlock()
	}
}

// awaitActive waits until live work is looked after; false once ctx ends. What comes meanwhile is folded then.
func (l *live) awaitActive(ctx context.Context) bool {
	for {
		changed := l.switched.Changed()
		if l.active() {
			return ctx.Err() == nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// attend looks after live work until it is switched off.
func (l *live) attend(ctx context.Context) {
	tick := time.NewTicker(workTick)
	defer tick.Stop()
	retained := l.n.wall()
	for l.active() {
		select {
		case <-ctx.Done():
			return
		case <-l.news:
			l.hearNews()
		case <-tick.C:
			l.hearNews() // what could not be read before
		}
		now := l.n.wall()
		if now.Sub(retained) >= retainWeek {
			retained = now
			if err := l.n.retainWork(now); err != nil {
				l.n.log.add(core.Note{Level: "warn", Kind: "live", Who: l.n.cfg.Name, Text: "could not drop old live work: " + err.Error()})
			}
		}
		l.settle(ctx, now)
	}
}

// hear says that something came into a ledger of live work.
func (l *live) hear(tid ledger.TID, forked bool) {
	l.mu.Lock()
	l.heardOf[tid] = true
	if forked { // a chain has another beginning: all of the ledger is read again
		for p := range l.taken {
			if p.tid == tid {
				delete(l.taken, p)
			}
		}
	}
	l.mu.Unlock()
	ring(l.news)
}

// hearNews folds what came.
func (l *live) hearNews() {
	l.mu.Lock()
	var some []ledger.TID
	for tid := range l.heardOf {
		some = append(some, tid)
	}
	clear(l.heardOf)
	l.mu.Unlock()
	slices.SortFunc(some, func(a, b ledger.TID) int { return slices.Compare(a[:], b[:]) })
	for _, tid := range some {
		if err := l.hearLedger(tid); err != nil {
			l.n.log.add(core.Note{Level: "warn", Kind: "live", Who: l.n.cfg.Name, Text: "could not read " + tid.Short() + ", and reads it again in a moment: " + err.Error()})
			l.mu.Lock()
			l.heardOf[tid] = true
			l.mu.Unlock()
		}
	}
}

// readAtOnce is how many records are read from disk at once.
const readAtOnce = 256

// hearLedger folds what is stored of a ledger and was not folded yet. This process's own chain was folded when it was
// written.
func (l *live) hearLedger(tid ledger.TID) error {
	heads, err := l.n.store.Heads(tid)
	if err != nil {
		return err
	}
	for _, h := range heads {
		if l.writes(tid, h.Chain) {
			continue
		}
		for more := true; more; {
			if more, err = l.hearChain(tid, h); err != nil {
				return err
			}
		}
	}
	return nil
}

// writes reports whether this process goes on with a chain.
func (l *live) writes(tid ledger.TID, c ledger.Chain) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.heads[tid].Next > 0 && l.heads[tid].Chain == c
}

// hearChain folds the next records of one chain, and reports whether there are more.
func (l *live) hearChain(tid ledger.TID, h ledger.Head) (more bool, err error) {
	l.mu.Lock()
	next := l.taken[chainPlace{tid, h.Chain}]
	l.mu.Unlock()
	if next >= h.Next {
		return false, nil
	}
	wires, err := l.n.store.From(tid, h.Chain, next, readAtOnce)
	if err != nil || len(wires) == 0 {
		return false, err
	}
	records := make([]*ledger.Record, 0, len(wires))
	for _, w := range wires {
		r, err := ledger.Parse(w)
		if err != nil {
			return false, err
		}
		records = append(records, r)
	}
	now := uint64(l.n.wall().UnixMilli())
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range records {
		if l.heardThere(r) {
			l.fold.Add(r, now)
			l.noteRecord(r)
		}
	}
	l.taken[chainPlace{tid, h.Chain}] = records[len(records)-1].Seq + 1
	return true, nil
}

// take folds an own record at once. The caller holds the lock.
func (l *live) take(r *ledger.Record) {
	l.fold.Add(r, r.At)
	l.noteRecord(r)
	ring(l.news)
}

// forget lets go of a ledger whose week is over.
func (l *live) forget(period uint64, tid ledger.TID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fold.Forget(period + 1)
	if l.heads[tid].Next > 0 {
		l.inc = newIncarnation() // a clock that is set back would begin that chain a second time
	}
	delete(l.heads, tid)
	for p := range l.taken {
		if p.tid == tid {
			delete(l.taken, p)
		}
	}
}

// keep saves a value of this computer beside the records; nil values are saved as empty. The caller holds the lock.
func (l *live) keep(key string, v any) {
	value, err := json.Marshal(v)
	if err != nil {
		panic("node: saving " + key + ": " + err.Error()) // every caller's type encodes
	}
	l.unsaved = append(l.unsaved, disk.Pair{Key: []byte(key), Value: value})
	ring(l.out)
}

// setRepos tells the fold of the repositories that GitHub has named, and reports whether there is a new one.
func (l *live) setRepos() (fresh bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.n.repos {
		id := uint64(w.repository().ID)
		if id == 0 {
			continue
		}
		r := l.repoOf(id)
		if r == nil {
			r = &liveRepo{Place: overlap.Place{Host: l.n.cfg.GitHub.Host, Repo: id}, slug: w.slug, w: w}
			l.repos = append(l.repos, r)
			l.fold.SetRepo(overlap.Repo{Place: r.Place, Slug: r.slug, Rules: r.policy.rules})
			fresh = true
		}
	}
	if fresh {
		l.setShares()
	}
	return fresh
}

// repoOf is a configured repository by its id; nil for another. The caller holds the lock.
func (l *live) repoOf(id uint64) *liveRepo {
	for _, r := range l.repos {
		if r.Repo == id {
			return r
		}
	}
	return nil
}

// setPeople tells the fold whose computers there are.
func (l *live) setPeople() {
	own := l.n.roster.get()
	people := map[ledger.Device]overlap.Person{}
	for _, m := range own.Members {
		people[m.Device] = overlap.Person{Fleet: own.Fleet, Email: own.Email(own.Fleet), Name: nameOfEmail(own.Email(own.Fleet)), Own: true}
	}
	for _, peer := range l.n.lanes.rosters() {
		for _, m := range peer.Members {
			people[m.Device] = overlap.Person{Fleet: peer.Fleet, Email: own.Email(peer.Fleet), Name: laneName(own, peer.Fleet)}
		}
	}
	l.mu.Lock()
	l.fold.SetPeople(people)
	l.setShares()
	l.mu.Unlock()
	l.switched.Ring() // a lane may have come or gone
}

// grant is a leave to send something through a lane.
type grant = lanes.Grant

// nameOfEmail is what a developer is called by an address: what stands before the @.
func nameOfEmail(email string) string {
	name, _, _ := strings.Cut(email, "@")
	return name
}

// recall learns what earlier processes of this computer said of paths.
func (l *live) recall(own []*ledger.Record) {
	slices.SortFunc(own, func(a, b *ledger.Record) int {
		return cmp.Or(cmp.Compare(a.Lam, b.Lam), slices.Compare(a.ID[:], b.ID[:]))
	})
	for _, r := range own {
		if c, ok := r.Content.(*ledger.Edit); ok {
			if l.before[c.Holder] == nil {
				l.before[c.Holder] = map[ledger.Path]*ledger.Edit{}
			}
			l.before[c.Holder][c.Path] = c
		}
	}
}
