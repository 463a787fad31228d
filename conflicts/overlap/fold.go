package overlap

import (
	"cmp"
	"maps"
	"slices"

	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/ledger"
)

// Place names a repository.
type Place struct {
	Host string
	Repo uint64 // GitHub's numeric id
}

// Repo is one repository of a fold.
type Repo struct {
	Place
	Slug  string        // owner/name
	Rules *detect.Rules // the policy in force; nil: the default
}

// Person is who a computer belongs to, as the rosters and lanes of this computer know it.
type Person struct {
	Fleet ledger.TID // whose computers are one developer's; zero: nobody knows
	Name  string     // how sentences call the developer
	Email string     // user:<email> of policies, lower case; "" when nobody confirmed one
	// Account is the developer's GitHub user id, by which pushed branches are theirs; 0: not known.
	Account uint64
	// Own says that this computer is of the same developer.
	Own bool
}

// Fold is the state of live work. Its answers depend on the set of records added, the people, the rules and the time
// alone, never on the order in which they came. It is not safe for concurrent use; what it hands out is not changed
// any more.
type Fold struct {
	repos    map[Place]*Repo
	people   map[ledger.Device]Person
	accounts map[uint64]Person // whose an account is, where it is one developer's
	fleets   map[ledger.TID]Person
	now      uint64

	chains map[chainKey]*chain
	shares map[ledger.ID]Share
	keys   []ledger.NamesKey // by which others hide names
	names  dictionary

	things map[ledger.ID]*thing
	of     map[ledger.ID][]*thing // the intents of a session, by their first record
	events map[ledger.ID][]item   // acts and findings of each conflict, in order
	words  []item                 // messages, in order
	lam    uint64

	dirty   map[ledger.ID]bool
	unnamed bool // there are things without a name
	all     bool // everything is to be computed anew
	rebuild bool // even what counts as said
	stale   bool // there is something new

	sides    map[ledger.ID]*side
	order    []*side // by id
	refs     map[ledger.ID]string
	unborn   map[ledger.ID]map[ledger.ID]bool // what was named before anything was known of it, by whom
	byRef    map[string]*side
	alone    map[ledger.ID]told
	pairs    map[[2]ledger.ID]told
	joint    told
	compared map[Place]*detect.Comparisons // what is known of pairs for joint
	number   map[ledger.ID]string          // of each conflict: its name
	index    *ground
	list     []Conflict
	byID     map[ledger.ID]int
	mine     map[ledger.ID][]int // the live conflicts of a side, by place in the list

	unmet    []*side            // sides that changed, and are to be held against the others
	met      int                // how many of the others the first of them was held against
	moved    map[ledger.ID]bool // all that changed with them
	apart    bool               // what concerns any number of sides is to be found anew
	unlisted bool               // the conflicts are to be listed anew

	numbers []numbered         // of all conflicts, in order
	changed map[ledger.ID]bool // conflicts about which something was found or said since they were listed
	revised map[ledger.ID]bool // sides that were computed anew since then
}

// item is one record that counts as said. Its place among all is its own, or that of the record at home that it
// stands for.
type item struct {
	*ledger.Record
	Lam    uint64
	ID     ledger.ID
	place  Place
	seen   uint64 // when this computer first had it, Unix milliseconds
	shared bool   // another developer wrote it for a lane
	names  ledger.NamesKey
}

// itemOf is a record at its own place.
func itemOf(r *ledger.Record, seen uint64) item {
	return item{Record: r, Lam: r.Lam, ID: r.ID, seen: seen}
}

// when is the time of a record in Unix milliseconds; a clock that runs ahead counts for nothing.
func (i item) when() uint64 { return min(i.At, i.seen) }

func (i item) compare(o item) int {
	if i.Lam != o.Lam {
		return cmp.Compare(i.Lam, o.Lam)
	}
	if c := slices.Compare(i.ID[:], o.ID[:]); c != 0 {
		return c
	}
	if i.Record == nil || o.Record == nil { // the beginning of a thing that has none
		return number(i.Record != nil) - number(o.Record != nil)
	}
	return slices.Compare(i.Record.ID[:], o.Record.ID[:]) // two say that they stand for one record
}

// rank is the place of a record among all as one number. Of records with one logical time the id decides, as far as
// its first 23 bits differ.
func (i item) rank() uint64 {
	return i.Lam<<23 | uint64(i.ID[0])<<15 | uint64(i.ID[1])<<7 | uint64(i.ID[2])>>1
}

// insert keeps a list in order.
func insert(list []item, it item) []item {
	at, _ := slices.BinarySearchFunc(list, it, item.compare)
	return slices.Insert(list, at, it)
}

// New is a fold of no records.
func New(repos ...Repo) *Fold {
	f := &Fold{repos: map[Place]*Repo{}, people: map[ledger.Device]Person{}, chains: map[chainKey]*chain{}}
	f.clear()
	for _, r := range repos {
		f.SetRepo(r)
	}
	return f
}

// clear forgets what counts as said, and all that follows from it.
func (f *Fold) clear() {
	f.names, f.unborn = newDictionary(), map[ledger.ID]map[ledger.ID]bool{}
	f.things, f.of, f.events, f.words, f.lam = map[ledger.ID]*thing{}, map[ledger.ID][]*thing{}, map[ledger.ID][]item{}, nil, 0
	f.everything()
}

// everything is to be computed anew.
func (f *Fold) everything() {
	f.dirty, f.all, f.unnamed, f.stale = map[ledger.ID]bool{}, true, true, true
	f.changed, f.revised = map[ledger.ID]bool{}, map[ledger.ID]bool{}
	f.unmet, f.met, f.apart = nil, 0, false
}

// SetRepo makes a repository one of the fold's, or changes its name or rules.
func (f *Fold) SetRepo(r Repo) {
	if r.Rules == nil {
		r.Rules = defaultRules()
	}
	switch old := f.repos[r.Place]; {
	case old == nil:
		f.rebuild = true // what was said about it counts from now on
	case *old == r:
		return
	}
	f.repos[r.Place] = &r
	f.everything()
}

func defaultRules() *detect.Rules {
	r, err := detect.NewRules(detect.DefaultPolicy())
	if err != nil {
		panic("overlap: the default policy holds: " + err.Error())
	}
	return r
}

// SetPeople says whose computers there are. A computer that is not named is a developer of its own.
func (f *Fold) SetPeople(people map[ledger.Device]Person) {
	if maps.Equal(f.people, people) {
		return
	}
	f.rebuild = f.rebuild || len(f.shares) > 0 // what counts of a lane is of its developer's computers
	f.people, f.accounts, f.fleets = maps.Clone(people), map[uint64]Person{}, map[ledger.TID]Person{}
	two := map[uint64]bool{}
	for _, device := range slices.SortedFunc(maps.Keys(people), func(a, b ledger.Device) int { return slices.Compare(a[:], b[:]) }) {
		p := people[device]
		f.fleets[p.Fleet] = p
		if other, ok := f.accounts[p.Account]; ok && other.Fleet != p.Fleet {
			two[p.Account] = true
		} else if !ok && p.Account != 0 && p.Fleet != (ledger.TID{}) {
			f.accounts[p.Account] = p
		}
	}
	maps.DeleteFunc(f.accounts, func(account uint64, _ Person) bool { return two[account] })
	f.everything()
}

// Tick sets the time, in Unix milliseconds: it is what makes sides idle and lets them expire.
func (f *Fold) Tick(now uint64) {
	if now == f.now {
		return
	}
	if now < f.now { // a clock was set back: what expired may not have
		f.everything()
	}
	f.now = now
	for _, s := range f.order {
		if s.phaseAt(now) != s.phase || s.attemptEnds != 0 && s.attemptEnds <= now {
			f.dirty[s.id], f.stale = true, true
		}
	}
}

// Lam is the highest logical time of any record that counts; the next record has a greater one.
func (f *Fold) Lam() uint64 {
	f.again()
	return f.lam
}

// developer is whose a computer is.
func (f *Fold) developer(d ledger.Device) ledger.TID {
	if p, ok := f.people[d]; ok && p.Fleet != (ledger.TID{}) {
		return p.Fleet
	}
	return ledger.TID(d)
}
