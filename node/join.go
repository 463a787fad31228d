package node

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/ledger/disk"
	"github.com/parley-mesh/parley/mesh"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/core"
)

// errFleetHere says that a computer that belongs to a fleet cannot join another one.
var errFleetHere = errors.New("this computer belongs to a fleet with other computers already")

// Join makes this computer one of the fleet of the one that invited. The node must not run: what it
// belongs to is settled before it starts. A fleet of this computer alone is left for the new one; its
// ledger stays on disk.
func Join(ctx context.Context, home Home, code, name string, show func(words [4]string, inviter string)) error {
	return JoinOver(ctx, nil, home, code, name, show)
}

// JoinOver is [Join] over other transports than the mesh's own; the simulator's seam.
func JoinOver(ctx context.Context, over mesh.HostOptions, home Home, code, name string, show func(words [4]string, inviter string)) error {
	lock, err := home.Lock(ctx)
	if err != nil {
		return err
	}
	o := mesh.JoinOptions{Code: code, Name: name, HostOptions: over, Show: show}
	return errors.Join(joinLocked(ctx, home, o), lock.Release())
}

func joinLocked(ctx context.Context, home Home, o mesh.JoinOptions) error {
	cfg, err := home.Config()
	if err != nil {
		return err
	}
	o.Name, o.Listen = cmp.Or(o.Name, cfg.Name), cfg.Listen
	if o.Identity, err = mesh.LoadOrCreate(home.IdentityPath()); err != nil {
		return err
	}
	store, err := disk.Open(disk.Options{Dir: home.LedgerDir()})
	if err != nil {
		return err
	}
	return errors.Join(join(ctx, home, store, o), store.Close())
}

func join(ctx context.Context, home Home, store *disk.Store, o mesh.JoinOptions) error {
	if err := alone(home, store, o.Identity.Device()); err != nil {
		return err
	}
	joined, err := mesh.Join(ctx, o)
	if err != nil {
		return joinFault(err)
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
	if err := home.SetFleet(joined.Fleet); err != nil {
		return err
	}
	return noteJoined(home, o.Name, joined.InviterName)
}

// noteJoined puts the pairing into the log that the node goes on with.
func noteJoined(home Home, me, inviter string) error {
	j, err := openJournal(home.LogPath(), nil, time.Now)
	if err != nil {
		return err
	}
	j.add(core.Note{Level: "do", Kind: "act", Who: me, Text: "joined the computers of " + inviter + ", after its words were compared"})
	return j.close()
}

// joinFaults says what to do about each way of not joining.
var joinFaults = []struct {
	is   error
	hint string
}{
	{ledger.ErrNoCode, "type the line that parley invite printed, from P1- to its end"},
	{ledger.ErrCodeDamaged, "type the line that parley invite printed once more, from P1- to its end"},
	{ledger.ErrCodeVersion, "update parley on both computers"},
	{mesh.ErrOtherKind, "enter parley invite on the other computer for another code; a lane's code is for parley lane accept"},
	{mesh.ErrWrongCode, "enter parley invite on the other computer for another code"},
	{mesh.ErrSpentCode, "enter parley invite on the other computer for another code; if it was not you, see parley status there"},
	{mesh.ErrExpired, "enter parley invite on the other computer for another code"},
	{mesh.ErrRefused, "enter parley invite on the other computer for another code, and say yes there"},
	{mesh.ErrUnreachable, "enter parley up there, on the same network or with a relay, while the invitation waits"},
}

// joinFault is one line about why this computer did not join. How each address could not be dialled is left
// out: it helps nobody who holds a code.
func joinFault(err error) error {
	for _, f := range joinFaults {
		if !errors.Is(err, f.is) {
			continue
		}
		if f.is == mesh.ErrUnreachable {
			err = f.is
		}
		return api.WithHint(fmt.Errorf("join: %w", err), f.hint)
	}
	return fmt.Errorf("join: %w", err)
}

// alone refuses to leave a fleet that has other computers. One that this computer was removed from, or never let
// into, is none.
func alone(home Home, store *disk.Store, own ledger.Device) error {
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
	if r := lanes.Fold(fleet, records); r.Member(own) && len(r.Devices()) > 1 {
		return api.WithHint(fmt.Errorf("join: %w", errFleetHere), "enter parley init with another --home, and join from there")
	}
	return nil
}
