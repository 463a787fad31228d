package node

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/parley-mesh/parley/conflicts/overlap"
	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/ledger/disk"
	"github.com/parley-mesh/parley/node/core"
	"github.com/parley-mesh/parley/node/internal/hooks"
)

// Bounds of what sessions say: one record for a path in so long, of so many paths; a sign of life where there is
// nothing else to say; and for how long what an agent does to files counts as its own.
const (
	editEvery     = 2 * time.Second
	editsMax      = 1000 // of one checkout
	editBytesMax  = 7400 // of the body of one record
	agentBytesMax = 32   // of an agent's name in a record
	signEvery     = 10 * time.Minute
	shellAfter    = 3 * time.Second
	sessionsMax   = 200
	sessionsFor   = 8 * 24 * time.Hour // that one is remembered for, to be resumed
	silentFor     = 8 * time.Hour      // after which it may be given up for another
	fullAgain     = time.Hour          // after which it is told again that nothing can be written
)

// sessionKey is how an agent names its session. The person's own work in a checkout has no agent, and the checkout as
// name; an agent's work outside its session's checkout has the other checkout after its own name.
type sessionKey struct{ agent, name string }

// session is one run of one agent here, or the person's work in one checkout. The lock of [live] guards it.
type session struct {
	key    sessionKey
	spot   *spot
	repo   *liveRepo
	top    string
	id     ledger.ID      // of its first record; zero until there is something to say
	said   ledger.Session // last
	wrote  time.Time      // when it last wrote anything
	seen   time.Time      // when something of it was last heard
	began  time.Time
	ended  bool
	told   told
	unsure map[string]*receipt // of what was told, what may not have come to the agent
	fresh  []string            // what the answer in the making tells
	shell  int                 // commands that run
	ran    time.Time           // when one last ended
	wake   hooks.Wake
	intent ledger.ID // that it declared last
	trying []ledger.Trying
	tried  time.Time
	parent *session          // of work in another checkout
	waits  map[string]*waits // by fact
}

// heldEdit is what was last said of a path for one session.
type heldEdit struct {
	edit *ledger.Edit
	at   time.Time
}

// keptSession is what is kept of a session over a restart.
type keptSession struct {
	Agent, Name string
	Repo        uint64
	Top         string
	ID          ledger.ID
	Intent      ledger.ID
	Seen        time.Time
	Began       time.Time
	Ended       bool
	Told        told
	Said        keptSaid
}

// keptSaid is what a session's record said last, so that the one that ends it says it too.
type keptSaid struct {
	Checkout           []byte
	Branch, Base, Head string
	Grammars           string
	Folds              bool
}

func keptOf(s *ledger.Session) keptSaid {
	return keptSaid{s.Checkout[:], s.Branch, s.Base.String(), s.Head.String(), s.Grammars, s.Folds}
}

// session is the record's content again. An object id that cannot be read is left out.
func (k keptSaid) session(first ledger.ID, agent string) ledger.Session {
	out := ledger.Session{First: first, State: ledger.SessionLive, Agent: clipText(agent, agentBytesMax), Branch: k.Branch, Grammars: k.Grammars, Folds: k.Folds}
	copy(out.Checkout[:], k.Checkout)
	out.Base, _ = ledger.ParseOID(k.Base)
	out.Head, _ = ledger.ParseOID(k.Head)
	return out
}

// loadSessions reads what is kept of the sessions that may go on.
func (l *live) loadSessions() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.n.wall()
	var old [][]byte
	for key, value := range l.n.store.Scan([]byte(sessionPrefix)) {
		var k keptSession
		if json.Unmarshal(value, &k) != nil || now.Sub(k.Seen) > sessionsFor || l.repoOf(k.Repo) == nil {
			if now.Sub(k.Seen) > sessionsFor {
				old = append(old, slices.Clone(key))
			}
			continue
		}
		s := &session{key: sessionKey{k.Agent, k.Name}, repo: l.repoOf(k.Repo), top: k.Top, id: k.ID, intent: k.Intent, seen: k.Seen, began: k.Began, ended: k.Ended, told: k.Told, said: k.Said.session(k.ID, k.Agent)}
		l.sessions[s.key] = s
	}
	if len(old) == 0 {
		return nil
	}
	_, err := l.n.store.Apply(disk.Batch{Delete: old})
	return err
}

// keepSession saves what a restart has to know. The caller holds the lock.
func (l *live) keepSession(s *session) {
	l.keep(sessionPrefix+s.key.agent+"/"+s.key.name, keptSession{
		Agent: s.key.agent, Name: s.key.name, Repo: s.repo.Repo, Top: s.top, ID: s.id, Intent: s.intent, Seen: s.seen, Began: s.began, Ended: s.ended, Told: s.sure(), Said: keptOf(&s.said),
	})
}

// session is that of a key in a spot, new if need be; nil where there are too many. The caller holds the lock.
func (l *live) session(key sessionKey, at *spot) *session {
	now := l.n.wall()
	s := l.sessions[key]
	if s != nil && (s.repo != at.repo || s.top != at.at.Top) {
		l.endSession(s) // an agent that goes on elsewhere is another session
		s = nil
	}
	if s == nil {
		if len(l.sessions) >= sessionsMax && !l.forgetSession() {
			return nil
		}
		s = &session{key: key, repo: at.repo, top: at.at.Top, began: now}
		l.sessions[key] = s
	}
	if s.spot == nil && s.id != (ledger.ID{}) {
		at.takeUp(s) // it had ended before this process began
	}
	s.spot, s.seen = at, now
	return s
}

// forgetSession lets go of the longest silent session that is over, else of one that was silent for long: an agent that
// was killed never says that it ends.
func (l *live) forgetSession() bool {
	var oldest *session
	now := l.n.wall()
	for _, key := range l.sessionKeys() {
		s := l.sessions[key]
		if !s.ended && (now.Sub(s.seen) < silentFor || key.agent == "") {
			continue
		}
		if oldest == nil || s.ended && !oldest.ended || s.ended == oldest.ended && s.seen.Before(oldest.seen) {
			oldest = s
		}
	}
	if oldest == nil {
		return false
	}
	l.endSession(oldest)
	delete(l.sessions, oldest.key)
	return true
}

// sign writes the session's record when it says something new, or nothing was said for long while it is at work.
func (l *live) sign(s *session) {
	now := l.n.wall()
	next := ledger.Session{First: s.id, State: ledger.SessionLive, Agent: clipText(s.key.agent, agentBytesMax), Checkout: s.spot.name, Branch: clipText(s.spot.branch, branchBytesMax), Folds: s.spot.folds}
	if base, err := ledger.ParseOID(s.spot.base); err == nil {
		next.Base = base
	}
	if head, err := ledger.ParseOID(s.spot.head); err == nil {
		next.Head = head
	}
	if next.Base != "" {
		next.Grammars = clipText(s.spot.grammar, 100)
	}
	if next == s.said && now.Sub(s.wrote) < signEvery && !s.ended {
		return
	}
	r, err := l.write(s.repo, &next)
	if err != nil {
		l.failed("session", err)
		return
	}
	if s.id == (ledger.ID{}) {
		s.id = r.ID
		next.First = r.ID
	}
	fresh := s.wrote.IsZero()
	again := s.ended || next.Branch != s.said.Branch || next.Checkout != s.said.Checkout
	s.said, s.wrote, s.ended = next, now, false
	if fresh || again {
		l.keepSession(s)
	}
}

// endSession says that a session is over. The caller holds the lock.
func (l *live) endSession(s *session) {
	if s.ended {
		return
	}
	s.ended = true
	if s.id == (ledger.ID{}) {
		delete(l.sessions, s.key)
		return
	}
	end := s.said
	end.First, end.State = s.id, ledger.SessionEnded
	if _, err := l.write(s.repo, &end); err != nil {
		l.failed("session", err)
	}
	for _, other := range l.sessions {
		if other.parent == s {
			l.endSession(other)
		}
	}
	l.keepSession(s)
}

// failed notes that something could not be written, once an hour. The agent goes on.
func (l *live) failed(what string, err error) {
	if now := l.n.wall(); l.full.IsZero() || now.Sub(l.full).Abs() >= fullAgain {
		l.full = now
		l.n.log.add(core.Note{Level: "warn", Kind: "live", Who: l.n.cfg.Name, Text: "could not write a " + what + ": " + err.Error()})
	}
}

// clipText is a text of at most so many bytes; one that is cut ends with "…".
func clipText(s string, most int) string {
	s = strings.ToValidUTF8(s, "�")
	if len(s) <= most {
		return s
	}
	cut := most - len("…")
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// worksIn reports whether some session of an agent goes on in a spot. The caller holds the lock.
func (l *live) worksIn(s *spot) bool {
	for _, o := range l.sessions {
		if o.spot == s && !o.ended && o.key.agent != "" {
			return true
		}
	}
	return false
}

// leave ends the sessions of a checkout that is not looked at any more. The caller holds the lock.
func (l *live) leave(at *spot) {
	for _, key := range l.sessionKeys() {
		if s := l.sessions[key]; s.spot == at {
			l.endSession(s)
		}
	}
}

// sessionKeys are the keys of all sessions in order.
func (l *live) sessionKeys() (out []sessionKey) {
	for key := range l.sessions {
		out = append(out, key)
	}
	slices.SortFunc(out, func(a, b sessionKey) int {
		return cmp.Or(strings.Compare(a.agent, b.agent), strings.Compare(a.name, b.name))
	})
	return out
}

// observed says what changed in a checkout since it was said last. The caller holds the lock.
func (s *spot) observed(d *detect.Digest) {
	now := s.l.n.wall()
	s.digest, s.again = d, time.Time{}
	for _, key := range s.l.sessionKeys() {
		if o := s.l.sessions[key]; o.spot == s && o.id != (ledger.ID{}) && !o.ended && o.differs() {
			s.l.sign(o) // edits are counted from the base that it says
		}
	}
	changed := map[string]bool{}
	files := d.Files
	told := s.over
	if s.over = len(files) > editsMax; s.over {
		files = files[:editsMax]
		if !told {
			s.l.n.log.add(core.Note{Level: "warn", Kind: "live", Who: s.l.n.cfg.Name, Text: s.at.Top + " differs in more files than are told to others"})
		}
	}
	s.spread(d)
	for i := range files {
		f := &files[i]
		if at, ok := s.trunk[f.Path]; ok && at.blob == f.Blob && (f.Blob == "" || at.mode == f.Mode) {
			continue // it has landed
		}
		if ledger.Path(f.Path).Validate() != nil {
			continue
		}
		changed[f.Path] = true
		s.edited(f, d, now)
	}
	for _, path := range sortedKeys(s.held) {
		if !changed[path] && !slices.Contains(d.Unreadable, path) {
			s.back(path)
		}
	}
}

// spread gives every fingerprint that is new to the path that changed, so that each stands in one record.
func (s *spot) spread(d *detect.Digest) {
	there := make(map[uint64]string, len(d.Prints))
	var at string
	for i := range d.Files {
		if held := s.held[d.Files[i].Path]; !saysBlob(held, d.Files[i].Blob) {
			at = d.Files[i].Path
			break
		}
	}
	for _, p := range d.Prints {
		if path, known := s.prints[p]; known {
			there[p] = path
		} else if at != "" {
			there[p] = at
		}
	}
	s.prints = there
}

func saysBlob(held map[*session]*heldEdit, blob string) bool {
	for _, h := range held {
		if h.edit.Blob.String() == blob {
			return true
		}
	}
	return false
}

// edited says what a path is now, for whoever changed it.
func (s *spot) edited(f *detect.File, d *detect.Digest, now time.Time) {
	var prints []uint64
	for p, path := range s.prints {
		if path == f.Path {
			prints = append(prints, p)
		}
	}
	edit := overlap.EditOf(ledger.ID{}, f, &d.Delta, prints, editBytesMax)
	holder := s.holderOf(f.Path, edit, now)
	if holder == nil {
		return
	}
	s.l.sign(holder)
	if holder.id == (ledger.ID{}) {
		return
	}
	edit.Holder = holder.id
	held := s.held[f.Path]
	if held == nil {
		held = map[*session]*heldEdit{}
		s.held[f.Path] = held
	}
	was := held[holder]
	if was != nil && reflect.DeepEqual(was.edit, edit) {
		return
	}
	if was != nil && now.Sub(was.at) < editEvery {
		s.later(was.at.Add(editEvery))
		return
	}
	if _, err := s.l.write(s.repo, edit); err != nil {
		s.l.failed("edit", err)
		return
	}
	held[holder] = &heldEdit{edit, now}
	holder.wrote = now
}

// later puts something off.
func (s *spot) later(at time.Time) {
	if s.again.IsZero() || at.Before(s.again) {
		s.again = at
	}
}

// due says what was put off. The goroutine of the spot calls it without the lock.
func (s *spot) due() {
	s.l.mu.Lock()
	defer s.l.mu.Unlock()
	if s.digest != nil && !s.again.IsZero() && !s.l.n.wall().Before(s.again) {
		s.observed(s.digest)
	}
}

// back says that a path is as at the base again, for all who held it.
func (s *spot) back(path string) {
	for _, key := range s.l.sessionKeys() {
		holder := s.l.sessions[key]
		if s.held[path][holder] == nil {
			continue
		}
		if _, err := s.l.write(s.repo, overlap.BackOf(holder.id, path)); err != nil {
			s.l.failed("edit", err)
			return
		}
		holder.wrote = s.l.n.wall()
	}
	delete(s.held, path)
	delete(s.touched, path)
}

// said is a session that has said just this of a path; nil where none that goes on has.
func (s *spot) said(path string, edit *ledger.Edit) *session {
	for o, h := range s.held[path] {
		same := *h.edit
		same.Holder = ledger.ID{}
		if reflect.DeepEqual(&same, edit) && !o.ended {
			return o
		}
	}
	return nil
}

// holderOf is whose change of a path this is: of the session whose hook named it, of the one that runs a command now or
// just did, of whoever changed it before, or the person's.
func (s *spot) holderOf(path string, edit *ledger.Edit, now time.Time) *session {
	said := s.said(path, edit)
	if t := s.editor(path, said == nil, now); t != nil {
		return t
	}
	if said != nil {
		return said // nothing changed
	}
	var runs, before *session
	for _, key := range s.l.sessionKeys() {
		o := s.l.sessions[key]
		switch {
		case o.spot != s || o.ended:
			continue
		case o.key.agent != "" && (o.shell > 0 || now.Sub(o.ran) < shellAfter) && (runs == nil || o.seen.After(runs.seen)):
			runs = o
		}
		if h := s.held[path][o]; h != nil && (before == nil || h.at.After(s.held[path][before].at)) {
			before = o
		}
	}
	switch {
	case runs != nil:
		return runs
	case before != nil:
		return before
	}
	if s.worker == nil || s.worker.ended {
		s.worker = s.l.session(sessionKey{"", s.at.Top}, s)
	}
	return s.worker
}

// differs reports whether a session's record would say something else now.
func (s *session) differs() bool {
	return s.said.Base.String() != s.spot.base || s.said.Head.String() != s.spot.head || s.said.Branch != clipText(s.spot.branch, branchBytesMax)
}
