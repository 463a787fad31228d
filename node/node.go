package node

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/ledger/disk"
	"github.com/parley-mesh/parley/mesh"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/core"
	"github.com/parley-mesh/parley/node/internal/github"
	"github.com/parley-mesh/parley/node/internal/passkey"
	"github.com/parley-mesh/parley/node/internal/presence"
	"github.com/parley-mesh/parley/node/internal/trace"
	"github.com/parley-mesh/parley/node/page"
)

// inputsMax bounds what waits for the loop. Whoever sends when it is full waits; the loop itself never
// sends.
const inputsMax = 256

// workersMax bounds the long work that runs at once: git and GitHub do not get faster by more. turnsMax bounds
// the agent turns, which last up to half an hour: nothing else waits for them.
const (
	workersMax = 4
	turnsMax   = 4
)

// Node is one running computer.
type Node struct {
	home      Home
	cfg       Config
	route     routing
	id        mesh.Identity
	fleet     ledger.TID
	inc       ledger.Incarnation
	store     *disk.Store
	mesh      *mesh.Mesh
	core      *core.Core
	gh        *github.Client
	repos     []*workspace
	log       *journal
	slog      *slog.Logger
	wall      func() time.Time
	persons   *presence.Verifier
	passkeys  *passkey.Book
	changed   api.Bell // rung when something may look otherwise
	invites   invitations
	roster    members
	lanes     laneBook
	opens     openBook
	quotas    quotas
	workBook  workBook
	live      *live
	trace     trace.Recorder
	accountAt time.Time // when gh was last asked who is signed in
	inputs    chan core.Input
	calls     chan call
	heard     heardSet
	open      openThreads
	strangers strangers
	held      holding
	trying    func(pull uint64) // nil: nobody listens
	work      sync.WaitGroup
	slots     chan struct{}
	desks     chan struct{} // slots of agent turns
	cards     cardBox
	stopped   chan struct{} // closed when the loop has ended
	again     chan struct{} // holds one signal: end, and start with what is known by now
	lastTick  time.Time     // wall clock
	ticked    time.Time     // with the reading of a clock that nobody can set
	low       bool          // the disk is almost full
	running   atomic.Int32  // pieces of work beside the loop
	retained  time.Time     // when it was last looked for what is to be pruned
	unheard   []ledger.TID  // ledgers that could not be read
}

// start opens everything a node needs. Whatever it opened is closed again when it fails.
func start(ctx context.Context, rc RunConfig) (n *Node, err error) {
	cfg, err := rc.Home.Config()
	if err != nil {
		return nil, err
	}
	if cfg.Demo && !rc.Demo {
		return nil, fmt.Errorf("home %s: %w", rc.Home.Dir, api.ErrDemoHome)
	}
	n = &Node{
		home: rc.Home, cfg: cfg, trying: rc.Trying, inputs: make(chan core.Input, inputsMax), calls: make(chan call),
		slots: make(chan struct{}, workersMax), desks: make(chan struct{}, turnsMax), stopped: make(chan struct{}), again: make(chan struct{}, 1), wall: rc.Wall, slog: slog.New(slog.DiscardHandler),
	}
	n.heard.news = make(chan struct{}, 1)
	if n.wall == nil {
		n.wall = func() time.Time { return time.Now().Round(0) }
	}
	n.lastTick, n.ticked = n.wall(), time.Now()
	n.inc = newIncarnation()
	if err := n.reroute(); err != nil {
		return nil, err
	}
	if n.id, err = mesh.LoadOrCreate(rc.Home.IdentityPath()); err != nil {
		return nil, err
	}
	if n.store, err = disk.Open(disk.Options{Dir: rc.Home.LedgerDir(), Compactors: rc.compactors()}); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, n.close())
		}
	}()
	if n.log, err = openJournal(rc.Home.LogPath(), rc.Out, n.wall); err != nil {
		return nil, err
	}
	if salvaged := n.store.Salvaged(); salvaged != "" {
		n.log.add(core.Note{Level: "warn", Kind: "ledger", Text: "the ledger could not be read and was moved to " + salvaged + "; a new one fills from the other computers"})
	}
	if err := n.openPasskeys(); err != nil {
		return nil, err
	}
	verify := presence.VerifierOptions{Demo: rc.Demo, Now: n.wall, Passkey: n.passkeys.Check}
	if n.persons, err = presence.NewVerifier(rc.Home.Dir, verify); err != nil {
		return nil, err
	}
	return n, n.assemble(ctx, rc)
}

// newIncarnation is one that no process had before.
func newIncarnation() (inc ledger.Incarnation) {
	_, _ = rand.Read(inc[:]) // it cannot fail: the program would end
	return inc
}

// assemble founds or finds the fleet, restores the core and starts the mesh.
func (n *Node) assemble(ctx context.Context, rc RunConfig) error {
	var err error
	if n.fleet, err = n.findFleet(); err != nil {
		return err
	}
	at := n.cfg.GitHub.endpoint()
	at.NoKeepAlive = rc.HostOptions != nil // in a bubble an idle connection would hold virtual time
	if n.gh, err = github.New(at); err != nil {
		return err
	}
	for i := range n.cfg.Repositories {
		w, err := n.openWorkspace(ctx, &n.cfg.Repositories[i])
		if err != nil {
			return err
		}
		n.repos = append(n.repos, w)
	}
	n.newCore()
	if err := n.restore(); err != nil {
		return err
	}
	n.live = newLive(n)
	if err := n.live.load(); err != nil {
		return err
	}
	n.mesh, err = mesh.Start(ctx, mesh.Config{
		Identity: n.id, Fleet: n.fleet, Inc: n.inc, Listen: n.cfg.Listen,
		Book: book{n}, Peers: n.peers, Open: n.open.all, Made: n.made, Pressed: n.pressed, Lines: n.live.showLines, Wall: n.wall, Logger: n.slog, SyncEvery: n.cfg.Timers.SyncEvery.Duration,
		HostOptions: rc.HostOptions, Reach: n.cfg.reach(), Version: Version(),
	})
	if err != nil {
		return err
	}
	n.mesh.SetMembers(n.core.Roster().Devices())
	return n.mesh.SetLanes(n.lanes.grants())
}

// newCore makes a core that knows nothing yet.
func (n *Node) newCore() {
	var slugs []string
	for _, w := range n.repos {
		slugs = append(slugs, w.slug)
	}
	n.core = core.New(core.Config{
		Device: n.id.Device(), Fleet: n.fleet, Slugs: slugs, Desk: n.route.on(),
		Timers: n.cfg.Timers.contract(), Every: n.cfg.Timers.every(),
	})
}

// restore gives the core what was saved and what the ledger holds.
func (n *Node) restore() error {
	values := map[string][]byte{}
	for key, value := range n.store.Scan([]byte(corePrefix)) {
		values[strings.TrimPrefix(string(key), corePrefix)] = append([]byte(nil), value...)
	}
	entries, err := n.store.Ledgers()
	if err != nil {
		return err
	}
	var heard []core.Heard
	for _, e := range entries {
		if e.Pruned {
			n.core.Forget(e.Listing.Ledger)
			continue
		}
		if e.Family == ledger.Work { // no matter of the core's
			continue
		}
		records, err := n.store.Records(e.Listing.Ledger)
		if err != nil {
			return err
		}
		heard = append(heard, core.Heard{Ledger: e.Listing.Ledger, Family: e.Family, Records: records})
	}
	for _, fleet := range looseFleets(n.store) {
		heard = append(heard, core.Heard{Ledger: fleet, Family: ledger.Roster, Records: n.loose(fleet)})
	}
	n.core.Restore(values, heard, n.wall())
	for _, h := range heard {
		n.open.note(h.Ledger, n.core.IsOpen(h.Ledger))
	}
	n.roster.set(n.core.Roster())
	n.refoldLanes()
	return nil
}

// corePrefix is where the core's saved values stand among the node-local ones.
const corePrefix = "core/"

// close stops what runs and closes what is open, in the order in which they need each other.
func (n *Node) close() error {
	var errs []error
	if n.mesh != nil {
		errs = append(errs, n.mesh.Close())
	}
	n.work.Wait()
	if n.log != nil {
		errs = append(errs, n.log.close())
	}
	if n.store != nil {
		errs = append(errs, n.store.Close())
	}
	return errors.Join(errs...)
}

// findFleet is the fleet this computer belongs to. A computer that never joined one founds its own.
func (n *Node) findFleet() (ledger.TID, error) {
	fleet, err := n.home.Fleet()
	if err == nil || !errors.Is(err, os.ErrNotExist) {
		return fleet, err
	}
	genesis, err := n.home.newGenesis()
	if err != nil {
		return fleet, err
	}
	fleet = ledger.FleetID(n.id.Device(), genesis.Nonce)
	first, err := n.seal(core.Append{Ledger: fleet, Content: genesis})
	if err != nil {
		return fleet, err
	}
	if _, err := n.store.Apply(disk.Batch{Records: []*ledger.Record{first}}); err != nil {
		return fleet, err
	}
	name, err := n.seal(core.Append{Ledger: fleet, Content: &ledger.Name{Device: n.id.Device(), Name: n.cfg.Name}, Deps: []ledger.ID{first.ID}})
	if err != nil {
		return fleet, err
	}
	if _, err := n.store.Apply(disk.Batch{Records: []*ledger.Record{name}}); err != nil {
		return fleet, err
	}
	return fleet, n.home.SetFleet(fleet)
}

// members is the roster as goroutines beside the loop see it.
type members struct {
	mu     sync.RWMutex
	roster rosterView
}

// RunConfig is what a node is run with.
type RunConfig struct {
	Home Home
	// Demo admits what the demo alone may do: shortened timers, proofs without a passphrase.
	Demo bool
	// Out receives the timeline as it happens, for people; nil keeps it in the log alone.
	Out io.Writer
	// Wall is the wall clock; nil is the machine's. The simulator skews it.
	Wall func() time.Time
	// HostOptions replaces the mesh's transports; the simulator's seam.
	HostOptions mesh.HostOptions
	// Listen opens where callers are answered; nil is the home's socket. The simulator takes pipes, since a
	// socket that waits would hold its virtual time.
	Listen func() (net.Listener, error)
	// Ready is called once the node answers.
	Ready func()
	// Trying, if set, hears of each trial merge before it begins, and may delay it: the simulator counts them
	// and makes them slow.
	Trying func(pull uint64)

	doors *page.Doors // who is logged in at the page, over a node that starts over
}

func (rc RunConfig) listen() (net.Listener, error) {
	if rc.Listen != nil {
		return rc.Listen()
	}
	return api.Listen(rc.Home.SocketPath())
}

func (rc RunConfig) compactors() int {
	if rc.HostOptions != nil {
		return 0 // in a bubble of virtual time a compactor's ticker costs an hour of CPU a day
	}
	return 2
}
