package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger/disk"
	"github.com/parley-mesh/parley/mesh"
	"github.com/parley-mesh/parley/node/api"
)

// errFleetHere says that a computer that belongs to a fleet cannot join another one.
var errFleetHere = errors.New("this computer belongs to a fleet with other computers already")

// Join makes this computer one of the fleet of the one that invited. The node must not run: what it
// belongs to is settled before it starts. A fleet of this computer alone is left for the new one; its
// ledger stays on disk.
func Join(ctx context.Context, home Home, code, name string, show func(words [4]string, inviter string)) error {
	lock, err := home.Lock(ctx)
	if err != nil {
		return err
	}
	return errors.Join(joinLocked(ctx, home, code, name, show), lock.Release())
}

func joinLocked(ctx context.Context, home Home, code, name string, show func(words [4]string, inviter string)) error {
	cfg, err := home.Config()
	if err != nil {
		return err
	}
	if name == "" {
		name = cfg.Name
	}
	id, err := mesh.LoadOrCreate(home.IdentityPath())
	if err != nil {
		return err
	}
	store, err := disk.Open(disk.Options{Dir: home.LedgerDir()})
	if err != nil {
		return err
	}
	err = join(ctx, home, store, mesh.JoinOptions{Identity: id, Code: code, Name: name, Listen: cfg.Listen, Show: show})
	return errors.Join(err, store.Close())
}

func join(ctx context.Context, home Home, store *disk.Store, o mesh.JoinOptions) error {
	if err := alone(home, store); err != nil {
		return err
	}
	joined, err := mesh.Join(ctx, o)
	if err != nil {
		return fmt.Errorf("join: %w", err)
	}
	roster := lanes.Fold(joined.Fleet, joined.Roster)
	if !roster.Member(o.Identity.Device()) || !roster.Member(joined.Inviter) {
		return fmt.Errorf("join: the roster that %s sent does not hold this computer", joined.InviterName)
	}
	batch := disk.Batch{Records: joined.Roster}
	if value, err := json.Marshal(joined.Addrs); err == nil {
		batch.Put = append(batch.Put, disk.Pair{Key: []byte(addressPrefix + joined.Inviter.String()), Value: value})
	}
	if _, err := store.Apply(batch); err != nil {
		return err
	}
	return home.SetFleet(joined.Fleet)
}

// alone refuses to leave a fleet that has other computers.
func alone(home Home, store *disk.Store) error {
	fleet, err := home.Fleet()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	records, err := store.Records(fleet)
	if err != nil {
		return err
	}
	if r := lanes.Fold(fleet, records); len(r.Devices()) > 1 {
		return api.WithHint(fmt.Errorf("join: %w", errFleetHere), "run parley init with another --home, and join from there")
	}
	return nil
}
