package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/parley-mesh/parley/node/api"
)

// screen is a desktop that writes down what it shows.
type screen struct {
	said []string
	err  error
}

func (s *screen) Show(_ context.Context, replaces uint32, title, _ string) (uint32, error) {
	s.said = append(s.said, fmt.Sprintf("%d %s", replaces, title))
	return 7, s.err
}

func (s *screen) Hide(_ context.Context, id uint32) error {
	s.said = append(s.said, fmt.Sprintf("hide %d", id))
	return s.err
}

func TestNoticesFollowTheInboxAndAreNotToldAgainAfterARestart(t *testing.T) {
	home := demoHome(t)
	s := &screen{}
	cards := []api.Card{{Key: "C2/a", Title: "Approve the push"}}
	warned := 0
	begin := func() *notifier {
		return newNotifier(notifier{
			home: home, inbox: func() ([]api.Card, error) { return cards, nil }, wall: time.Now,
			warn: func(string) { warned++ }, desktop: s,
		})
	}
	begin().look(t.Context())
	if len(s.said) > 0 {
		t.Fatalf("nobody asked for %q", s.said)
	}
	if err := home.SetNotices(Notices{On: true}); err != nil {
		t.Fatal(err)
	}
	begin().look(t.Context())
	begin().look(t.Context())
	cards[0].Binds = "push another commit"
	begin().look(t.Context())
	cards = nil
	begin().look(t.Context())
	begin().look(t.Context())
	if want := []string{"0 Approve the push", "7 Approve the push", "hide 7"}; !slices.Equal(s.said, want) {
		t.Errorf("the desktop showed %q, want %q", s.said, want)
	}
	s.err = errors.New("no desktop")
	n := begin()
	for _, key := range []string{"a", "b"} {
		cards = []api.Card{{Key: key, Title: key}}
		n.look(t.Context())
	}
	if warned != 1 {
		t.Errorf("the log was told %d times that there is no desktop", warned)
	}
}

func TestSpoiledWishesAboutNoticesAreRefused(t *testing.T) {
	home := demoHome(t)
	if err := home.SetNotices(Notices{Quiet: "late"}); !errors.Is(err, api.ErrUsage) {
		t.Errorf("quiet hours: %v", err)
	}
	if err := home.SetNotices(Notices{Digest: "late"}); !errors.Is(err, api.ErrUsage) {
		t.Errorf("digest: %v", err)
	}
	if n, err := home.Notices(); err != nil || n != (Notices{}) {
		t.Errorf("%+v, %v", n, err)
	}
}
