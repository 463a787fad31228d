package node

import (
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"strings"
	"time"

	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/ledger/disk"
	"github.com/parley-mesh/parley/mesh"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/core"
)

// OpenReader opens a home without a running node, for the verbs that only read. Nothing in the home is
// changed. The inbox is the one that was last shown.
func OpenReader(home Home) (api.Reader, func() error, error) {
	cfg, err := home.Config()
	if err != nil {
		return nil, nil, err
	}
	id, err := mesh.Load(home.IdentityPath())
	if err != nil {
		return nil, nil, err
	}
	fleet, err := home.Fleet()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	store, err := disk.OpenReadOnly(home.LedgerDir())
	if err != nil {
		return nil, nil, err
	}
	s := &still{cfg: cfg, store: store, log: home.LogPath()}
	if err := s.restore(id.Device(), fleet); err != nil {
		return nil, nil, errors.Join(err, store.Close())
	}
	return s, store.Close, nil
}

// still is a home without a node.
type still struct {
	cfg   Config
	store *disk.Store
	view  viewer
	log   string
}

var _ api.Reader = (*still)(nil)

func (s *still) restore(device ledger.Device, fleet ledger.TID) error {
	var slugs []string
	for _, r := range s.cfg.Repositories {
		slugs = append(slugs, r.Slug)
	}
	now := time.Now()
	c := core.New(core.Config{Device: device, Fleet: fleet, Slugs: slugs, Timers: s.cfg.Timers.contract(), Every: s.cfg.Timers.every()})
	n := Node{store: s.store, core: c, slog: slog.New(slog.DiscardHandler), wall: func() time.Time { return now }}
	if err := n.restore(); err != nil {
		return err
	}
	for _, in := range s.known() {
		c.Handle(in, now) // what it asks for is not done
	}
	c.Handle(core.Tick{}, now)
	s.view = viewer{core: c, cfg: s.cfg, device: device, fleet: fleet, now: now, records: s.store.Records, graves: s.store, folded: n.lanes.get()}
	return nil
}

// known is what GitHub last said about the repositories.
func (s *still) known() []core.Repository {
	var out []core.Repository
	for _, r := range s.cfg.Repositories {
		w := workspace{slug: r.Slug, base: r.Base}
		if value, err := s.store.Get([]byte(repoPrefix + r.Slug)); err == nil && value != nil && json.Unmarshal(value, &w.known) == nil {
			out = append(out, core.Repository{Slug: r.Slug, Host: s.cfg.GitHub.Host, ID: uint64(w.known.ID), Base: w.baseBranch()})
		}
	}
	return out
}

// Status is what the home was left with.
func (s *still) Status() (api.Status, error) {
	out := s.view.status(nil)
	cards, err := s.Inbox()
	out.Cards = len(cards)
	return out, err
}

// Threads lists the conversations.
func (s *still) Threads() ([]api.ThreadLine, error) { return s.view.threads(), nil }

// Thread shows one conversation.
func (s *still) Thread(ref string) (api.Thread, error) { return s.view.thread(strings.TrimSpace(ref)) }

// Why answers why something is as it is.
func (s *still) Why(subject string) (api.Why, error) { return s.view.why(subject) }

// Inbox lists the cards as they were last shown.
func (s *still) Inbox() ([]api.Card, error) {
	value, err := s.store.Get([]byte(cardsKey))
	if err != nil || value == nil {
		return nil, err
	}
	var out []api.Card
	return out, json.Unmarshal(value, &out)
}

// Log lists what happened.
func (s *still) Log(after uint64, most int) ([]api.LogLine, error) {
	lines, _, err := readJournal(s.log)
	return linesSince(lines, after, most), err
}
