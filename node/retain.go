package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/ledger/disk"
	"github.com/parley-mesh/parley/mesh"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/core"
)

// How long all of a closed conversation is kept where the settings do not say, how often it is looked for what is
// older, and how much of that goes at a time.
const (
	keepClosedDays = 400
	retainEvery    = time.Hour
	retainAtOnce   = 32
)

// retain prunes conversations that were closed long ago: the open and the spine stay.
func (n *Node) retain(now time.Time) (out []core.Effect) {
	if n.low || now.Sub(n.retained) < retainEvery {
		return nil
	}
	n.retained = now
	days := n.cfg.KeepClosedDays
	if days == 0 {
		days = keepClosedDays
	}
	before, pruned := now.AddDate(0, 0, -days), 0
	for _, t := range n.core.Conversations() {
		s := &t.State
		if s.Phase != thread.Closed || s.Opaque || len(s.Forked) > 0 || time.UnixMilli(int64(s.ClosedAt)).After(before) || pruned == retainAtOnce {
			continue
		}
		if err := n.prune(s); err != nil {
			n.log.add(core.Note{Level: "warn", Kind: "ledger", Who: n.cfg.Name, Text: "could not prune " + s.Ref() + ": " + err.Error()})
			continue
		}
		pruned++
		n.opens.forget(s.Ledger)
		out = append(out, n.core.Forget(s.Ledger)...)
		n.log.add(core.Note{Level: "info", Kind: "ledger", Who: n.cfg.Name, Text: fmt.Sprintf("%s was closed %d days ago or more: its end is kept, the rest is not", s.Ref(), days)})
	}
	return out
}

func (n *Node) prune(s *thread.State) error {
	tomb, err := tombOf(n.store, s)
	if err != nil {
		return err
	}
	_, err = n.store.Apply(disk.Batch{Bury: []disk.Grave{{Tomb: *tomb}}})
	return err
}

// tombOf is what stays of a closed thread.
func tombOf(store *disk.Store, s *thread.State) (*ledger.Tomb, error) {
	t := &ledger.Tomb{Ledger: s.Ledger, Digest: ledger.TombDigest(s.Head())}
	for i, id := range s.Spine {
		r, err := store.Record(id)
		if err != nil {
			return nil, err
		}
		if r == nil {
			return nil, fmt.Errorf("record %s is not there", id.Short())
		}
		if i == 0 {
			t.Open = r.Wire
		} else {
			t.Spine = append(t.Spine, r.Wire)
		}
	}
	_, err := ledger.EncodeFrame(t) // one that is too long for a frame is kept whole
	return t, err
}

var _ mesh.Graves = book{}

// Tomb is what is left of a closed thread.
func (b book) Tomb(tid ledger.TID) (*ledger.Tomb, bool, error) { return b.n.store.Tomb(tid) }

// Bury keeps a peer's tomb if it agrees with what is held here: beside the records where the thread is closed here
// too, in their place where it is not, since its end is known now.
func (b book) Bury(_ context.Context, _ ledger.Device, tomb *ledger.Tomb, records []*ledger.Record) error {
	n, rosters := b.n, b.n.rosters()
	if _, have, err := n.store.Tomb(tomb.Ledger); have || err != nil {
		return err
	}
	held, err := n.store.Records(tomb.Ledger)
	if err != nil {
		return err
	}
	if !thread.Buries(records, held, rosters) {
		n.mesh.Count(mesh.RefusedForgotten, 1)
		return nil
	}
	keep := len(held) > 0 && closedAlike(held, tomb, rosters)
	_, err = n.store.Apply(disk.Batch{Bury: []disk.Grave{{Tomb: *tomb, Keep: keep}}})
	if err == nil && !keep {
		n.heard.add(tomb.Ledger)
	}
	return err
}

// closedAlike reports whether records end in the closing that a tomb names.
func closedAlike(held []*ledger.Record, tomb *ledger.Tomb, rosters lanes.Rosters) bool {
	s := thread.Fold(held, rosters)
	return s.Phase == thread.Closed && ledger.TombDigest(s.Head()) == tomb.Digest
}

// forgotten shows what is left of a pruned conversation: how it began and how it ended. Of several of one name the one
// that was opened last is shown.
func (v viewer) forgotten(ref string) (out api.Thread, ok bool) {
	entries, err := v.graves.Ledgers()
	if err != nil {
		return out, false
	}
	for _, e := range entries {
		if !e.Pruned {
			continue
		}
		t, left, err := v.exhume(e.Listing.Ledger)
		if err != nil || t.State.Open == nil || ok && !out.Since.Before(time.UnixMilli(int64(t.State.Root.At))) {
			continue
		}
		named := strings.EqualFold(t.State.Ref(), ref) || len(ref) >= 4 && strings.HasPrefix(t.State.Ledger.String(), strings.ToLower(ref))
		if named {
			out, ok = v.whole(t, left), true
		}
	}
	return out, ok
}

// exhume reads a pruned conversation by its open and its spine.
func (v viewer) exhume(tid ledger.TID) (*core.Conversation, []*ledger.Record, error) {
	tomb, ok, err := v.graves.Tomb(tid)
	if err != nil || !ok {
		return nil, nil, errors.Join(err, fs.ErrNotExist)
	}
	var left []*ledger.Record
	for _, wire := range append([][]byte{tomb.Open}, tomb.Spine...) {
		r, err := ledger.Parse(wire)
		if err != nil {
			return nil, nil, err
		}
		left = append(left, r)
	}
	s := thread.FoldGrave(left, v.core.Rosters())
	say := thread.Sentence(&s, left[len(left)-1], nil) + "; what was said in between is kept no longer"
	return &core.Conversation{State: s, Say: say}, left, nil
}
