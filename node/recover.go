package node

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/ledger/disk"
	"github.com/parley-mesh/parley/mesh"
	"github.com/parley-mesh/parley/node/api"
)

// Recovery is a recovery key that was just made. Its words are shown to the person once and kept nowhere.
type Recovery struct {
	Words  []string
	device ledger.Device
}

// NewRecovery draws a recovery key.
func NewRecovery() (Recovery, error) {
	var seed [32]byte
	if _, err := rand.Read(seed[:]); err != nil {
		return Recovery{}, fmt.Errorf("draw a recovery key: %v", err)
	}
	words := mesh.SpellRecovery(seed)
	return Recovery{Words: words[:], device: mesh.NewIdentity(seed).Device()}, nil
}

// recoveryPath holds the public half until the fleet is founded.
func (h Home) recoveryPath() string { return h.path("recovery.pub") }

// newGenesis is the genesis of a fleet that this home founds. Its nonce commits the fleet to the recovery
// key, if there is one.
func (h Home) newGenesis() (*ledger.Genesis, error) {
	g := &ledger.Genesis{}
	text, err := os.ReadFile(h.recoveryPath())
	switch {
	case errors.Is(err, os.ErrNotExist): // a demo's
		_, err = rand.Read(g.Nonce[:])
	case err == nil:
		if err = g.Recovery.UnmarshalText([]byte(strings.TrimSpace(string(text)))); err == nil {
			g.Nonce = ledger.RecoveryNonce(g.Recovery)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("found a fleet: %w", err)
	}
	return g, nil
}

// Recovered is what recovery words did.
type Recovered struct {
	Removed []string // names
	Added   string   // this computer's name, if it was let in
}

// Recover lets this computer into its fleet and removes the named ones, by the fleet's recovery words: when
// nobody is left, or when whoever stole a computer removed the others. What the removed ones had done to the
// others is undone. The node must not run. A computer that was rightly removed before comes back under a new
// key, since a removal is for ever.
func Recover(ctx context.Context, home Home, words string, stolen []string) (Recovered, error) {
	key, err := mesh.ReadRecovery(words)
	if err != nil {
		return Recovered{}, fmt.Errorf("recover: %w", err)
	}
	lock, err := home.Lock(ctx)
	if err != nil {
		return Recovered{}, err
	}
	out, err := recoverLocked(home, key, stolen)
	return out, errors.Join(err, lock.Release())
}

func recoverLocked(home Home, key mesh.Identity, stolen []string) (out Recovered, err error) {
	cfg, err := home.Config()
	if err != nil {
		return out, err
	}
	fleet, err := home.Fleet()
	if errors.Is(err, os.ErrNotExist) {
		err = api.WithHint(errors.New("recover: this computer knows of no fleet"), "run parley restore with a backup of one of the computers first")
	}
	if err != nil {
		return out, err
	}
	store, err := disk.Open(disk.Options{Dir: home.LedgerDir()})
	if err != nil {
		return out, err
	}
	r := recovering{home: home, cfg: cfg, fleet: fleet, store: store, key: key}
	out, err = r.run(stolen)
	return out, errors.Join(err, store.Close())
}

// recovering writes what the recovery key says, in a chain of its own.
type recovering struct {
	home    Home
	cfg     Config
	fleet   ledger.TID
	store   *disk.Store
	key     mesh.Identity
	roster  lanes.Roster
	records []*ledger.Record
	head    ledger.Head
	fresh   []*ledger.Record
}

func (r *recovering) run(names []string) (out Recovered, err error) {
	if r.records, err = r.store.Records(r.fleet); err != nil {
		return out, err
	}
	r.roster = lanes.Fold(r.fleet, r.records)
	switch {
	case r.roster.Recovery == (ledger.Device{}):
		return out, errors.New("recover: this fleet was founded without recovery words")
	case r.roster.Recovery != r.key.Device():
		return out, fmt.Errorf("recover: these are the words of another fleet: those count that %s printed", r.roster.Name(r.roster.Founder))
	}
	r.head = ledger.Head{Chain: ledger.Chain{Device: r.key.Device()}, Lam: r.roster.Lam}
	if _, err := rand.Read(r.head.Inc[:]); err != nil {
		return out, fmt.Errorf("draw an incarnation: %v", err)
	}
	id, err := mesh.LoadOrCreate(r.home.IdentityPath())
	if err != nil {
		return out, err
	}
	if out.Removed, err = r.remove(names, id.Device()); err != nil {
		return out, err
	}
	if !r.roster.Member(id.Device()) {
		if err := r.admit(id); err != nil {
			return out, err
		}
		out.Added = r.cfg.Name
	}
	_, err = r.store.Apply(disk.Batch{Records: r.fresh})
	return out, err
}

// remove writes the removals, each after the one before, the first beside what the removed ones did to others.
func (r *recovering) remove(names []string, own ledger.Device) (removed []string, err error) {
	var stolen []ledger.Device
	for _, name := range names {
		m, err := memberNamed(r.roster, name)
		if err != nil {
			return nil, fmt.Errorf("recover: %w", err)
		}
		if m.Device == own {
			return nil, fmt.Errorf("recover: %s is this computer", name)
		}
		stolen, removed = append(stolen, m.Device), append(removed, m.Name)
	}
	deps := lanes.RecoveryDeps(r.fleet, r.records, stolen)
	for _, d := range stolen {
		cut, err := cutOf(r.store, d, nil)
		if err != nil {
			return nil, err
		}
		if err := r.write(&ledger.Revoke{Device: d, Reason: 3, Cut: cut}, deps); err != nil {
			return nil, err
		}
		deps = []ledger.ID{r.head.ID}
	}
	return removed, nil
}

// admit lets this computer in; under another key if its own was removed for good.
func (r *recovering) admit(id mesh.Identity) error {
	if r.roster.Ever(id.Device()) {
		if err := os.Rename(r.home.IdentityPath(), r.home.IdentityPath()+"."+id.Device().Short()); err != nil {
			return err
		}
		var err error
		if id, err = mesh.LoadOrCreate(r.home.IdentityPath()); err != nil {
			return err
		}
	}
	add := &ledger.Add{Device: id.Device()}
	if _, err := rand.Read(add.Invite[:]); err != nil {
		return fmt.Errorf("recover: %v", err)
	}
	copy(add.Accept[:], ed25519.Sign(id.Key(), ledger.JoinStatement(r.fleet, add.Invite, r.key.Device())))
	if err := r.write(add, r.roster.Deps(r.roster.Founder)); err != nil {
		return err
	}
	return r.write(&ledger.Name{Device: id.Device(), Name: r.cfg.Name}, []ledger.ID{r.head.ID})
}

func (r *recovering) write(b ledger.Body, deps []ledger.ID) error {
	rec, err := ledger.Seal(r.key.Key(), ledger.Header{
		Ledger: r.fleet, Inc: r.head.Inc, Seq: r.head.Next, Prev: r.head.ID, Lam: r.head.Lam + 1,
		At: uint64(time.Now().UnixMilli()), Deps: deps,
	}, b)
	if err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	r.head, r.fresh = r.head.After(rec), append(r.fresh, rec)
	r.roster = lanes.Fold(r.fleet, append(slices.Clone(r.records), r.fresh...))
	return nil
}
