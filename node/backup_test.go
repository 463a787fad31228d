package node

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/internal/backup"
	"github.com/parley-mesh/parley/node/internal/presence"
)

func TestABackupHoldsTheLedgerAndNoApproval(t *testing.T) { // case 40, S4
	for _, prune := range []bool{false, true} {
		home := newHome(t)
		n, err := start(t.Context(), RunConfig{Home: home})
		if err != nil {
			t.Fatal(err)
		}
		roster, said := closedThread(t, n)
		n.holds(t, append(slices.Clone(roster), said...)...)
		other := &paired{t: t, claims: map[*pen]ledger.ID{}, fleets: map[*pen]ledger.TID{}}
		maya := newPen(2)
		shown := other.found(maya)
		if _, err := n.keepLoose(other.fleets[maya], shown); err != nil {
			t.Fatal(err)
		}
		if prune {
			n.retain(n.wall().AddDate(0, 0, keepClosedDays+1))
		}
		secret := []byte("core/c/" + said[0].Ledger.String())
		n.holdsValue(t, string(secret), "an approval")
		n.holdsValue(t, spentPrefix+"aa", "1")
		own, digest := n.inc, n.store.Digest()
		device := n.id.Device()
		if err := n.close(); err != nil {
			t.Fatal(err)
		}
		r, done, err := OpenReader(home)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "out.age")
		o := BackupOptions{Path: path, Passphrase: "correct horse battery", WithKey: true, Work: 2}
		if err := errors.Join(Backup(home, r, o), done()); err != nil {
			t.Fatal(err)
		}

		to := OpenHome(filepath.Join(t.TempDir(), "restored"))
		out, err := Restore(t.Context(), to, RestoreOptions{Path: path, Passphrase: o.Passphrase, Approval: "correct horse battery", Work: int(presence.WorkToy)})
		if err != nil || !out.Member {
			t.Fatalf("%+v, %v", out, err)
		}
		again, err := start(t.Context(), RunConfig{Home: to})
		if err != nil {
			t.Fatal(err)
		}
		value, err := again.store.Get(secret)
		spent, err2 := again.store.Get([]byte(spentPrefix + "aa"))
		if again.store.Digest() != digest || again.store.Pruned(said[0].Ledger) != prune || again.id.Device() != device || again.inc == own || value != nil || spent != nil {
			t.Errorf("pruned %v: the same ledger %v, the same incarnation %v, approval %q, %v", prune, again.store.Digest() == digest, again.inc == own, value, errors.Join(err, err2))
		}
		if got := again.loose(other.fleets[maya]); len(got) != len(shown) {
			t.Errorf("%d of %d records of another developer's roster are back: no lane could be reached", len(got), len(shown))
		}
		if err := again.close(); err != nil {
			t.Error(err)
		}
	}
}

func TestARestoreTakesNoForgedRecord(t *testing.T) {
	home := newHome(t)
	n, err := start(t.Context(), RunConfig{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	_, said := closedThread(t, n)
	defer func() {
		if err := n.close(); err != nil {
			t.Error(err)
		}
	}()
	forged := slices.Clone(said[0].Wire)
	forged[len(forged)-1] ^= 1
	for name, f := range map[string]ledger.Frame{
		"a signature":    &ledger.Records{Ledger: said[0].Ledger, Family: ledger.Conversation, Wires: [][]byte{forged}},
		"another ledger": &ledger.Records{Ledger: ledger.TID{1}, Family: ledger.Conversation, Wires: [][]byte{said[0].Wire}},
		"a tomb":         &ledger.Tomb{Ledger: said[0].Ledger, Open: forged, Spine: [][]byte{said[2].Wire}},
		"another frame":  &ledger.Buckets{Digests: make([]byte, 4096)},
	} {
		if _, err := restoreFrame(n.store, n.fleet, f); !errors.Is(err, backup.ErrNoBackup) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := (reader{n}).Ledger("nonsense"); !errors.Is(err, api.ErrUsage) {
		t.Errorf("a ledger that is none: %v", err)
	}
}

func TestLiveWorkIsInNoBackupAndAnOlderBackupsIsPassedOver(t *testing.T) { // D-2
	n := begun(t, newHome(t))
	scope := ledger.Scope{Host: "github.com", Repo: 7, Period: thisWeek()}
	seal := func(h ledger.Header, b ledger.Body) *ledger.Record {
		t.Helper()
		r, err := ledger.Seal(n.id.Key(), h, b)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := seal(ledger.Header{Ledger: scope.Ledger(), Scope: scope, Inc: ledger.Incarnation{77}, Lam: 1, At: 1764500000000}, &ledger.Session{State: ledger.SessionLive, Agent: "claude", Checkout: [16]byte{1}})
	n.holds(t, r)
	for after := ""; ; {
		part, err := reader{n}.Ledger(after)
		if err != nil {
			t.Fatal(err)
		}
		if part.Ledger == "" {
			break
		}
		if after = part.Ledger; after == r.Ledger.String() {
			t.Error("live work is in the backup")
		}
	}
	to := begun(t, newHome(t))
	frame := &ledger.Records{Ledger: r.Ledger, Family: ledger.Work, Wires: [][]byte{r.Wire}}
	if _, err := restoreFrame(to.store, to.fleet, frame); err != nil {
		t.Errorf("a backup that holds live work: %v", err)
	}
	if _, held := to.store.Family(r.Ledger); held {
		t.Error("live work came back")
	}
	forged := slices.Clone(r.Wire)
	forged[len(forged)-1] ^= 1
	frame.Wires = [][]byte{forged}
	if _, err := restoreFrame(to.store, to.fleet, frame); !errors.Is(err, backup.ErrNoBackup) {
		t.Errorf("a forged record of live work: %v", err)
	}
}
