package core

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
)

// Every is how often things are looked at again without news.
type Every struct {
	Scan   time.Duration // between the starts of two runs over the pull requests (P6)
	Look   time.Duration // at the outside world, while this computer has something to do in a thread
	Idle   time.Duration // the same while it has not
	Master time.Duration // between two master syncs (P0)
	Retry  time.Duration // first wait after a passing failure; it doubles up to Idle
	Grace  time.Duration // after a start or a wake-up: peers are heard before deadlines are judged
}

// Ordinary is how often a real node looks.
func Ordinary() Every {
	return Every{
		Scan: 15 * time.Minute, Look: 2 * time.Minute, Idle: 15 * time.Minute,
		Master: 5 * time.Minute, Retry: time.Minute, Grace: 10 * time.Second,
	}
}

// Config is what a core is made for.
type Config struct {
	Device ledger.Device
	Fleet  ledger.TID
	Slugs  []string // configured repositories
	Desk   bool     // the conversation is routed to a desk here
	Timers thread.Timers
	Every  Every
}

// Core is the state of one computer. It is owned by one goroutine.
type Core struct {
	cfg     Config
	roster  lanes.Roster
	memory  lanes.Memory     // of all rosters
	repos   map[string]*repo // by slug
	threads map[ledger.TID]*Conversation
	forgot  map[ledger.TID]bool // closed threads that were pruned
	day     Day
	seen    map[ledger.Device]time.Time // since this start
	met     map[ledger.Device]time.Time // as last kept
	synced  time.Time                   // last completed catch-up with another computer
	quiet   time.Time                   // deadlines are not judged before
	started time.Time                   // or woken
	out     []Effect
	flight  map[string]bool
	retry   map[string]backoff
	now     time.Time                   // of the last input
	unsaved time.Duration               // seen to pass since it was last kept
	low     bool                        // the disk is almost full
	rest    Rest                        // of a person; zero when there is none
	twice   map[ledger.Device]time.Time // when two processes were last seen with one key
	skewed  map[ledger.Device]time.Time // when a clock was last seen to be off

	rosters   lanes.Rosters                   // of all fleets known here, this one first
	links     map[ledger.TID]*link            // by the other developer's fleet
	control   map[ledger.TID][]*ledger.Record // by lane ledger
	teammates bool                            // their pull requests start conversations too (P12)
	account   lanes.Account                   // that this computer's gh is signed in as
}

type backoff struct {
	until time.Time
	wait  time.Duration
}

// repo is one configured repository.
type repo struct {
	Repository
	verdicts   map[uint64]Verdict
	untold     map[uint64]string // by pull request: why the last run could not tell
	crowded    map[uint64]int    // by pull request: as many parties as no conversation can hold
	scanned    time.Time         // start of the last run
	master     time.Time         // start of the last master sync
	masterDue  bool
	bring      bool // a person asked for what stayed apart
	bringing   bool // the sync that runs was asked for it
	kept       Master
	last       MasterSynced // what the last master sync came to
	Missing    []Missing
	ScanErr    string
	scanWanted bool
}

// Conversation is one thread as this computer sees it.
type Conversation struct {
	State thread.State
	Local Local
	Look  thread.Look
	Say   string
	Waits []thread.Wait
	Cards []thread.Card
	Next  time.Time

	records  []*ledger.Record
	rivals   []thread.State // of other developers, see [Core.rivals]
	notices  []thread.Notice
	noticed  map[uint64]time.Time // by cause: since when
	told     []Spent              // turns that own records say were spent
	emitted  Spent                // what the record on its way says
	said     map[ledger.ID]Spent  // what own records of this process say
	known    map[ledger.ID]bool
	offers   []thread.Binds
	hold     []int
	emitting bool
	looked   time.Time
	dirty    bool
}

// New makes a core that knows nothing yet.
func New(cfg Config) *Core {
	c := &Core{
		cfg: cfg, repos: map[string]*repo{}, threads: map[ledger.TID]*Conversation{},
		seen: map[ledger.Device]time.Time{}, met: map[ledger.Device]time.Time{}, flight: map[string]bool{}, retry: map[string]backoff{},
		roster: lanes.Fold(cfg.Fleet, nil), twice: map[ledger.Device]time.Time{}, skewed: map[ledger.Device]time.Time{},
		links: map[ledger.TID]*link{}, control: map[ledger.TID][]*ledger.Record{},
	}
	c.gather()
	for _, slug := range cfg.Slugs {
		c.repos[slug] = &repo{Repository: Repository{Slug: slug}, verdicts: map[uint64]Verdict{}, crowded: map[uint64]int{}}
	}
	return c
}

// Restore takes what was saved before this start: values by key, and records by ledger. It performs
// nothing; a turn that was running counts as interrupted.
func (c *Core) Restore(values map[string][]byte, heard []Heard, now time.Time) {
	c.now, c.started, c.quiet = now, now, now.Add(c.cfg.Every.Grace)
	for key, value := range values {
		c.restoreValue(key, value)
	}
	for _, f := range []ledger.Family{ledger.Roster, ledger.Lane, ledger.Conversation} {
		for _, h := range heard {
			if h.Family == f {
				c.hear(h)
			}
		}
	}
	for _, t := range c.threads {
		if r := t.Local.Running; r != nil {
			t.Local.end(thread.Turn{For: r.For, Round: r.Round, Head: r.Head, Tip: r.Tip, Interrupted: true})
		}
		t.Local.Push.expire()
		t.Local.Land.expire()
	}
	for _, slug := range c.cfg.Slugs {
		c.repos[slug].kept.endTry("it was interrupted")
	}
	c.out = nil
}

// restoreValue reads one saved value; one that does not decode is left out, since everything saved can
// be observed or asked for again.
func (c *Core) restoreValue(key string, value []byte) {
	switch {
	case key == dayKey:
		json.Unmarshal(value, &c.day)
	case key == restKey:
		json.Unmarshal(value, &c.rest)
	case key == teammatesKey:
		json.Unmarshal(value, &c.teammates)
	case strings.HasPrefix(key, localPrefix):
		var tid ledger.TID
		if tid.UnmarshalText([]byte(strings.TrimPrefix(key, localPrefix))) == nil {
			json.Unmarshal(value, &c.conversation(tid).Local)
		}
	case strings.HasPrefix(key, seenPrefix):
		var d ledger.Device
		var at time.Time
		if d.UnmarshalText([]byte(strings.TrimPrefix(key, seenPrefix))) == nil && json.Unmarshal(value, &at) == nil {
			c.met[d] = at
		}
	case strings.HasPrefix(key, masterPrefix):
		if r := c.repos[strings.TrimPrefix(key, masterPrefix)]; r != nil {
			json.Unmarshal(value, &r.kept)
		}
	case strings.HasPrefix(key, verdictPrefix):
		rest := strings.TrimPrefix(key, verdictPrefix)
		at := strings.LastIndexByte(rest, '/')
		if at < 0 || c.repos[rest[:at]] == nil {
			return
		}
		var pull uint64
		var v Verdict
		if json.Unmarshal([]byte(rest[at+1:]), &pull) == nil && json.Unmarshal(value, &v) == nil {
			c.repos[rest[:at]].verdicts[pull] = v
		}
	}
}

func (c *Core) conversation(tid ledger.TID) *Conversation {
	t := c.threads[tid]
	if t == nil {
		t = &Conversation{known: map[ledger.ID]bool{}, said: map[ledger.ID]Spent{}}
		t.State.Ledger = tid
		c.threads[tid] = t
	}
	return t
}

// Handle takes one input and returns what to do about it, in order.
func (c *Core) Handle(in Input, now time.Time) []Effect {
	c.take(in, now)
	return c.settled(now)
}

// settled is what to do once everything known now was weighed. While the disk is almost full nothing is asked
// for: a record or a saved value could not be kept, and nothing may go ahead of it.
func (c *Core) settled(now time.Time) []Effect {
	c.now = now
	c.restEnds(now)
	c.reconcile(now)
	out := c.out
	c.out = nil
	if c.low {
		out = slices.DeleteFunc(out, func(e Effect) bool { _, note := e.(Note); return !note })
	}
	return out
}

func (c *Core) take(in Input, now time.Time) {
	switch in := in.(type) {
	case Heard:
		c.hear(in)
	case NotAppended:
		c.notAppended(in, now)
	case Repository:
		if r := c.repos[in.Slug]; r != nil {
			r.Repository = in
			r.masterDue = true
		}
	case Looked:
		c.looked(in, now)
	case Replaced:
		c.replaced(in, now)
	case Turned:
		c.turned(in, now)
	case Written:
		c.written(in, now)
	case *Trial:
		c.tried(in, now)
	case Scanned:
		c.scanned(in, now)
	case MasterSynced:
		c.masterSynced(in, now)
	case Peer:
		c.meet(in.Device, now)
		if in.Synced && c.roster.Member(in.Device) {
			c.synced, c.quiet = now, time.Time{}
		}
	case Woke:
		// While this computer slept it could hear nobody: absence counts from now.
		c.started, c.quiet = now, now.Add(c.cfg.Every.Grace)
		c.retry = map[string]backoff{}
		c.dirtyAll()
	case Told:
		c.told(in, now)
	case Odd:
		c.odd(in, now)
	case Space:
		c.space(in)
	case Prepared:
		if r := c.repos[in.Slug]; r != nil {
			r.Missing = nil
		}
	case Routed:
		c.cfg.Desk = in.On
	case SignedIn:
		c.account = in.Account
	case Linked:
		c.link(in.Fleet).linked = in.On
	case Exceeded:
		c.link(in.Fleet).excess = in.Excess
	case Tick:
		c.ran(in.Ran)
	}
}

// seenEvery is how often it is kept when a computer was last heard of.
const seenEvery = 5 * time.Minute

// meet notes that a computer was heard of. For people it is kept over a restart; for deadlines only what was
// heard since counts.
func (c *Core) meet(d ledger.Device, now time.Time) {
	c.seen[d] = now
	if at := c.met[d]; now.Sub(at).Abs() >= seenEvery {
		c.met[d] = now
		c.effect(save(seenPrefix+d.String(), now))
	}
}

// odd remembers what is wrong with another computer. It is told again as long as it lasts.
func (c *Core) odd(in Odd, now time.Time) {
	if in.Clock {
		c.skewed[in.Device] = now
	} else {
		c.twice[in.Device] = now
	}
}

// space begins or ends the time in which this computer only reads. What was learnt meanwhile is kept at its
// end.
func (c *Core) space(in Space) {
	was := c.low
	c.low = in.Low
	if !was || in.Low {
		return
	}
	c.effect(save(dayKey, c.day))
	for _, tid := range c.order() {
		if t := c.threads[tid]; t.State.Phase != thread.None {
			c.keep(t)
			t.dirty = true
		}
	}
	c.effect(c.keepTeammates())
	c.effect(c.keepRest())
	for _, slug := range c.cfg.Slugs {
		r := c.repos[slug]
		c.keepMaster(r)
		for _, n := range pulls(r.verdicts) {
			c.effect(save(verdictKey(slug, n), r.verdicts[n]))
		}
	}
}

func (c *Core) dirtyAll() {
	for _, t := range c.threads {
		t.dirty = true
	}
	for _, r := range c.repos {
		r.masterDue = true
	}
}

func (c *Core) effect(e Effect) { c.out = append(c.out, e) }

func (c *Core) note(t *Conversation, level, who, kind, text string) {
	n := Note{Level: level, Who: who, Kind: kind, Text: text}
	if t != nil {
		n.Thread, n.Ref = t.State.Ledger, t.State.Ref()
	}
	c.effect(n)
}

// hear refolds what a ledger now says.
func (c *Core) hear(h Heard) {
	switch h.Family {
	case ledger.Roster:
		c.hearRoster(h)
	case ledger.Lane:
		c.hearLane(h)
	case ledger.Conversation:
		if !c.forgot[h.Ledger] {
			c.hearThread(h)
		}
	case ledger.FamilyUnknown, ledger.Work:
	}
}

func (c *Core) hearThread(h Heard) {
	t := c.conversation(h.Ledger)
	t.records = h.Records
	c.refold(t)
	if slices.Contains(t.State.Forked, c.cfg.Device) && !t.Local.Renewed {
		t.Local.Renewed = true
		c.keep(t)
		c.effect(Renew{})
	}
	names := c.names(&t.State)
	fresh := make([]*ledger.Record, 0, 1)
	for _, r := range h.Records {
		if !t.known[r.ID] {
			t.known[r.ID] = true
			c.heardOwn(t, r)
			if r.Device == c.cfg.Device {
				c.succeeded(emitKey(h.Ledger))
			}
			fresh = append(fresh, r)
			if r.Device == c.cfg.Device {
				t.emitting = false // what was on its way is here
			}
		}
	}
	c.recall(t, h.Records)
	slices.SortStableFunc(fresh, func(a, b *ledger.Record) int { return int(int64(a.Lam) - int64(b.Lam)) })
	for _, r := range fresh {
		c.note(t, "say", c.who(r.Device), string(r.Kind), thread.Sentence(&t.State, r, names))
	}
}

// refold computes a thread's state from its records and everybody's roster.
func (c *Core) refold(t *Conversation) {
	before, tid := t.State.Phase, t.State.Ledger
	t.State = thread.Fold(t.records, c.rosters)
	t.State.Ledger = tid
	t.rivals = c.rivals(t)
	if t.State.Phase != before && t.State.Phase >= thread.Final {
		for _, r := range c.repos {
			r.masterDue = true
		}
	}
}

// names is what people call the parties of a thread.
func (c *Core) names(s *thread.State) []string {
	if s.Open == nil {
		return nil
	}
	var out []string
	for _, p := range s.Open.Parties {
		if d, ok := p.Device(); ok {
			out = append(out, c.roster.Name(d))
		} else {
			out = append(out, p.String())
		}
	}
	return out
}

// order is the threads in a fixed order.
func (c *Core) order() []ledger.TID { return ordered(c.threads) }

func ordered[V any](by map[ledger.TID]V) []ledger.TID {
	return slices.SortedFunc(maps.Keys(by), func(a, b ledger.TID) int { return bytes.Compare(a[:], b[:]) })
}

// acting is this computer's claim, if it may act as the main computer now: its claim is the only live
// one, and its roster is fresh. Freshness is no matter of safety, it keeps split brains short.
func (c *Core) acting(now time.Time) (ledger.ID, bool) {
	role, claim := c.roster.Main()
	if role != lanes.RoleMain || claim.Device != c.cfg.Device {
		return ledger.ID{}, false
	}
	const day = 24 * time.Hour
	heard := false
	for d, at := range c.seen {
		heard = heard || d != c.cfg.Device && c.roster.Member(d) && now.Sub(at) < day
	}
	return claim.ID, !heard || now.Sub(c.synced) < day
}

// Next is when Handle wants a [Tick] at the latest. What was due when it last ran is no reason for one: it
// has been begun, or waits for something else than time.
func (c *Core) Next(now time.Time) time.Time {
	next := now.Add(c.cfg.Every.Idle)
	sooner := func(at time.Time) {
		if at.After(c.now) && at.Before(next) {
			next = at
		}
	}
	for _, t := range c.threads {
		sooner(t.Next)
	}
	sooner(c.nextNote(now))
	for _, b := range c.retry {
		sooner(b.until)
	}
	_, main := c.acting(now)
	for _, r := range c.repos {
		if main {
			sooner(r.scanned.Add(c.cfg.Every.Scan))
		}
		sooner(r.master.Add(c.cfg.Every.Master))
	}
	sooner(c.quiet)
	sooner(c.rest.Until)
	return next
}
