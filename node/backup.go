package node

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/ledger/disk"
	"github.com/parley-mesh/parley/mesh"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/internal/backup"
)

// Ledger is the next ledger after one, as frames.
func (r reader) Ledger(after string) (api.LedgerPart, error) { return ledgerPart(r.n.store, after) }

// Ledger is the next ledger after one, as frames.
func (s *still) Ledger(after string) (api.LedgerPart, error) { return ledgerPart(s.store, after) }

func ledgerPart(store *disk.Store, after string) (out api.LedgerPart, err error) {
	var from ledger.TID
	if after != "" {
		if err := from.UnmarshalText([]byte(after)); err != nil {
			return out, fmt.Errorf("ledger after %q: %w", after, api.ErrUsage)
		}
	}
	entries, err := backedUp(store)
	if err != nil {
		return out, err
	}
	i := slices.IndexFunc(entries, func(e disk.Entry) bool { return after == "" || from.Less(e.Listing.Ledger) })
	if i < 0 {
		return out, nil
	}
	out.Ledger = entries[i].Listing.Ledger.String()
	var b bytes.Buffer
	err = writeLedger(&b, store, entries[i])
	out.Frames = b.Bytes()
	return out, err
}

// backedUp is every ledger but those of live work, which are over within weeks and say nothing that has to be kept
// (D-2), ascending, and what other developers show of their rosters, without which a restored computer could reach no lane.
func backedUp(store *disk.Store) ([]disk.Entry, error) {
	out, err := store.Ledgers()
	out = slices.DeleteFunc(out, func(e disk.Entry) bool { return e.Family == ledger.Work })
	for _, fleet := range looseFleets(store) {
		out = append(out, disk.Entry{Listing: ledger.Listing{Ledger: fleet}, Family: ledger.Roster})
	}
	slices.SortFunc(out, func(a, b disk.Entry) int { return slices.Compare(a.Listing.Ledger[:], b.Listing.Ledger[:]) })
	return out, err
}

// framePayload is how many bytes of records go into one frame.
const framePayload = ledger.FrameBytesMax - 1024

// writeLedger writes every record of a ledger, each chain in order. A ledger whose family nobody knows yet
// could not be verified again; the other computers have it.
func writeLedger(w io.Writer, store *disk.Store, e disk.Entry) error {
	if e.Pruned {
		tomb, _, err := store.Tomb(e.Listing.Ledger)
		if err != nil {
			return err
		}
		return ledger.WriteFrame(w, tomb)
	}
	records, err := store.Records(e.Listing.Ledger)
	if _, held := store.Family(e.Listing.Ledger); !held {
		records = looseIn(store, e.Listing.Ledger)
	}
	if err != nil || e.Family == ledger.FamilyUnknown {
		return err
	}
	f := ledger.Records{Ledger: e.Listing.Ledger, Family: e.Family}
	size := 0
	for i, r := range records {
		f.Wires, size = append(f.Wires, r.Wire), size+len(r.Wire)+3
		if i == len(records)-1 || size+len(records[i+1].Wire)+3 > framePayload {
			if err := ledger.WriteFrame(w, &f); err != nil {
				return err
			}
			f.Wires, size = nil, 0
		}
	}
	return nil
}

// BackupOptions say what goes into a backup, and for whom it is closed.
type BackupOptions struct {
	Path       string
	Passphrase string
	Recipient  string // of age, in place of the passphrase
	WithKey    bool   // with this computer's own key: the restored one is this computer
	Work       int    // binary logarithm of what one guess at the passphrase costs; 0 is about a second
}

// Backup writes what a home's ledgers hold, and its settings, into one file. r is the running node, or the home
// without one. Left out is whatever would be wrong to have twice: the incarnation, approvals, reserved turns,
// cards and invitations.
func Backup(home Home, r api.Reader, o BackupOptions) error {
	config, err := os.ReadFile(home.ConfigPath())
	if err != nil {
		return err
	}
	id, err := mesh.Load(home.IdentityPath())
	if err != nil {
		return err
	}
	fleet, err := home.Fleet()
	if err != nil {
		return err
	}
	status, err := r.Status()
	if err != nil {
		return err
	}
	h := backup.Header{At: time.Now().UTC(), Name: status.Computer.Name, Device: id.Device(), Fleet: fleet, Config: string(config), Addrs: map[string][]string{}}
	for _, p := range status.Peers {
		if p.Address != "" {
			h.Addrs[p.Device] = []string{p.Address}
		}
	}
	if o.WithKey {
		key, err := os.ReadFile(home.IdentityPath())
		if err != nil {
			return err
		}
		h.Key = string(key)
	}
	seal := backup.Seal{Passphrase: o.Passphrase, Recipient: o.Recipient, Work: o.Work}
	err = backup.Create(o.Path, seal, h, func(w io.Writer) error { return copyLedgers(w, r) })
	return backupFault("backup", o.Path, err)
}

// backupFault is one line about a backup's file, and what to do.
func backupFault(verb, path string, err error) error {
	if err == nil {
		return nil
	}
	hints := []struct {
		is   error
		hint string
	}{
		{backup.ErrExists, "choose a name that is free"},
		{backup.ErrWrongKey, "run the command again"},
		{backup.ErrRecipient, "give what age-keygen prints as the public key"},
		{backup.ErrNoBackup, "take another copy of the file"},
	}
	err = fmt.Errorf("%s %s: %w", verb, path, err)
	for _, h := range hints {
		if errors.Is(err, h.is) {
			return api.WithHint(err, h.hint)
		}
	}
	return err
}

func copyLedgers(w io.Writer, r api.Reader) error {
	for after := ""; ; {
		part, err := r.Ledger(after)
		if err != nil || part.Ledger == "" {
			return err
		}
		if _, err := w.Write(part.Frames); err != nil {
			return err
		}
		after = part.Ledger
	}
}

// RestoreOptions say what is restored, and how it is opened.
type RestoreOptions struct {
	Path         string
	Passphrase   string // of the backup
	IdentityFile string // of age, in place of the passphrase
	Approval     string // the passphrase for approvals from now on
	Name         string // "" keeps the backup's
	Work         int    // of the approval key; 0 is about a second
}

// Restored is what a backup brought.
type Restored struct {
	Name    string
	Records int
	At      time.Time // when it was made
	Member  bool      // this computer belongs to the fleet
}

// Restore sets a home up from a backup. Each record is verified as if it came from another computer. Nobody's
// approval comes back, a new incarnation begins at the next start, and what this computer said since the
// backup was made comes back from the others. A home that is set up stays as it is, and so does a folder of other
// things: [api.ErrHomeExists], [api.ErrHomeTaken].
func Restore(ctx context.Context, home Home, o RestoreOptions) (out Restored, err error) {
	if err := home.Free(); err != nil {
		return out, fmt.Errorf("restore: %w", err)
	}
	b, err := backup.Open(o.Path, backup.Key{Passphrase: o.Passphrase, IdentityFile: o.IdentityFile})
	if err != nil {
		return out, backupFault("restore", o.Path, err)
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	cfg, err := parseConfig(o.Path, []byte(b.Header.Config))
	if err != nil {
		return out, fmt.Errorf("restore %s: %w", o.Path, err)
	}
	if o.Name != "" {
		cfg.Name = o.Name
	}
	if err := os.MkdirAll(home.Dir, 0o700); err != nil {
		return out, err
	}
	out = Restored{Name: cfg.Name, At: b.Header.At}
	id, err := restoreKey(home, b.Header.Key)
	if err != nil {
		return out, err
	}
	if err := restoreLedgers(ctx, home, b, id, &out); err != nil {
		return out, backupFault("restore", o.Path, err)
	}
	if err := home.SetFleet(b.Header.Fleet); err != nil {
		return out, err
	}
	return out, home.Init(Setup{Config: cfg, Passphrase: o.Approval, Work: o.Work}) // the settings come last
}

// restoreKey puts the backup's key in place, or makes a new one.
func restoreKey(home Home, key string) (mesh.Identity, error) {
	if key != "" {
		if have, err := os.ReadFile(home.IdentityPath()); err == nil && string(have) != key {
			return mesh.Identity{}, fmt.Errorf("restore: another key is in %s: move it away first", home.IdentityPath())
		}
		if err := writePrivate(home.IdentityPath(), []byte(key)); err != nil {
			return mesh.Identity{}, err
		}
	}
	return mesh.LoadOrCreate(home.IdentityPath())
}

func restoreLedgers(ctx context.Context, home Home, b *backup.Reader, id mesh.Identity, out *Restored) error {
	store, err := disk.Open(disk.Options{Dir: home.LedgerDir()})
	if err != nil {
		return err
	}
	return errors.Join(fillStore(ctx, store, b, id, out), store.Close())
}

func fillStore(ctx context.Context, store *disk.Store, b *backup.Reader, id mesh.Identity, out *Restored) error {
	for {
		f, err := b.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		n, err := restoreFrame(store, b.Header.Fleet, f)
		if err != nil {
			return err
		}
		out.Records += n
	}
	roster, err := store.Records(b.Header.Fleet)
	if err != nil {
		return err
	}
	out.Member = lanes.Fold(b.Header.Fleet, roster).Member(id.Device())
	var batch disk.Batch
	for device, addrs := range b.Header.Addrs {
		if value, err := json.Marshal(addrs); err == nil && !strings.ContainsRune(device, '/') {
			batch.Put = append(batch.Put, disk.Pair{Key: []byte(addressPrefix + device), Value: value})
		}
	}
	_, err = store.Apply(batch)
	return err
}

// restoreFrame stores one frame's records, each verified: those of another fleet's roster beside the ledgers.
func restoreFrame(store *disk.Store, own ledger.TID, f ledger.Frame) (int, error) {
	var batch disk.Batch
	var err error
	switch f := f.(type) {
	case *ledger.Records:
		batch.Records, err = verifiedAll(f.Ledger, f.Family, f.Wires)
		if err == nil && f.Family == ledger.Work {
			return 0, nil // older backups hold live work
		}
		if err == nil && f.Family == ledger.Roster && f.Ledger != own {
			_, err = keepLooseIn(store, f.Ledger, batch.Records)
			return len(batch.Records), err
		}
	case *ledger.Tomb:
		_, err = verifiedAll(f.Ledger, ledger.Conversation, append([][]byte{f.Open}, f.Spine...))
		batch.Bury = []disk.Grave{{Tomb: *f}}
	default:
		err = fmt.Errorf("%w: a frame of another kind is in it", backup.ErrNoBackup)
	}
	if err != nil {
		return 0, err
	}
	_, err = store.Apply(batch)
	return len(batch.Records), err
}

func verifiedAll(tid ledger.TID, f ledger.Family, wires [][]byte) (out []*ledger.Record, err error) {
	for _, wire := range wires {
		r, err := ledger.Parse(wire)
		if err == nil {
			err = r.Verify(f)
		}
		if err == nil && r.Ledger != tid {
			err = errors.New("a record of another ledger")
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", backup.ErrNoBackup, err)
		}
		out = append(out, r)
	}
	return out, nil
}
