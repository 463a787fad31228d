package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/core"
	"github.com/parley-mesh/parley/node/internal/notices"
)

// Notices are when a person wants to be told on the desktop of what comes into the inbox. They stand in
// notices.toml, which the program writes; without it nobody is told.
type Notices struct {
	On bool `toml:"on" json:"on"`
	// Quiet are the hours of each day without notices, such as "22:00-07:00"; "" are none.
	Quiet string `toml:"quiet,omitempty" json:"quiet"`
	// Digest is the time of day at which all notices come as one, such as "09:00"; "" is as they come.
	Digest string `toml:"digest,omitempty" json:"digest"`
	// Snoozed is until when there are none.
	Snoozed time.Time `toml:"snoozed,omitempty" json:"snoozed,omitzero"`
}

// settings reads the times of day; [api.ErrUsage].
func (n Notices) settings() (notices.Settings, error) {
	out := notices.Settings{On: n.On, Digest: -1, Snoozed: n.Snoozed}
	if n.Quiet != "" {
		span, err := notices.ParseSpan(n.Quiet)
		if err != nil {
			return out, fmt.Errorf("quiet %w: %w", err, api.ErrUsage)
		}
		out.Quiet = &span
	}
	if n.Digest != "" {
		at, err := notices.ParseClock(n.Digest)
		if err != nil {
			return out, fmt.Errorf("digest %w: %w", err, api.ErrUsage)
		}
		out.Digest = at
	}
	return out, nil
}

// NoticesPath is the file of the person's wishes about notices.
func (h Home) NoticesPath() string { return h.path("notices.toml") }

// Notices reads them.
func (h Home) Notices() (Notices, error) {
	var n Notices
	text, err := os.ReadFile(h.NoticesPath())
	if errors.Is(err, fs.ErrNotExist) {
		return n, nil
	}
	if err != nil {
		return n, err
	}
	if err := toml.Unmarshal(text, &n); err != nil {
		return n, fmt.Errorf("%s: %w: %v", h.NoticesPath(), api.ErrConfig, err)
	}
	_, err = n.settings()
	return n, err
}

// SetNotices keeps them; a running node follows within seconds. [api.ErrUsage].
func (h Home) SetNotices(n Notices) error {
	if _, err := n.settings(); err != nil {
		return err
	}
	text, err := toml.Marshal(n)
	if err != nil {
		return err
	}
	return writePrivate(h.NoticesPath(), text)
}

// ShowNotice shows one notice, to try whether this desktop does.
func ShowNotice(ctx context.Context, title, body string) error {
	_, err := notices.Here().Show(ctx, 0, title, body)
	return err
}

// Times of the notifier: how often the clock and the settings are looked at, and how long a desktop may take.
const (
	noticesEvery   = 15 * time.Second
	desktopTimeout = 10 * time.Second
)

// notifier tells the person what comes into the inbox.
type notifier struct {
	home    Home
	inbox   func() ([]api.Card, error)
	wall    func() time.Time
	warn    func(text string)
	desktop notices.Desktop
	path    string // of the book
	book    notices.Book
	mute    bool // the desktop does not show notices; said once
}

func (n *Node) notifier() *notifier {
	warn := func(text string) {
		n.log.add(core.Note{Level: "warn", Kind: "notices", Who: n.cfg.Name, Text: text})
	}
	return newNotifier(notifier{home: n.home, inbox: reader{n}.Inbox, wall: n.wall, warn: warn, desktop: notices.Here()})
}

func newNotifier(t notifier) *notifier {
	out := &t
	out.path = t.home.path("notices.json")
	if text, err := os.ReadFile(out.path); err == nil {
		_ = json.Unmarshal(text, &out.book) // a spoiled one is begun anew
	}
	return out
}

// run looks whenever something may have changed, until ctx ends.
func (t *notifier) run(ctx context.Context, news *api.Bell) {
	tick := time.NewTicker(noticesEvery)
	defer tick.Stop()
	for {
		changed := news.Changed()
		t.look(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-changed:
		}
	}
}

func (t *notifier) look(ctx context.Context) {
	wish, err := t.home.Notices()
	if err != nil || !wish.On && len(t.book.Shown) == 0 {
		return
	}
	settings, err := wish.settings()
	if err != nil {
		return
	}
	cards, err := t.inbox()
	if err != nil {
		return // the node is stopping
	}
	var matters []notices.Matter
	for _, c := range cards {
		matters = append(matters, notices.Matter{Key: c.Key, Title: c.Title, What: c.What + "\n" + c.Binds})
	}
	steps := t.book.Next(matters, settings, t.wall().Local())
	for _, s := range steps {
		t.carry(ctx, s)
	}
	if len(steps) > 0 {
		t.keep()
	}
}

// carry does one step. What a desktop does not show is in the inbox all the same.
func (t *notifier) carry(ctx context.Context, s notices.Step) {
	ctx, cancel := context.WithTimeout(ctx, desktopTimeout)
	defer cancel()
	var id uint32
	var err error
	if s.Hide {
		err = t.desktop.Hide(ctx, t.book.ID(s.Key))
	} else {
		id, err = t.desktop.Show(ctx, t.book.ID(s.Key), s.Title, s.Body)
	}
	t.book.Done(s.Key, id)
	if err != nil && !t.mute {
		t.mute = true
		t.warn("could not show a notice: " + err.Error())
	}
}

func (t *notifier) keep() {
	if text, err := json.Marshal(t.book); err == nil {
		_ = writePrivate(t.path, text) // told twice is better than not at all
	}
}
