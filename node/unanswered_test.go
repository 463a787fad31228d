package node

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parley-mesh/parley/node/api"
)

// lookingAfter lets one computer look after another repository than the one that it knows by its id.
func lookingAfter(t *testing.T, home Home, slug string) {
	t.Helper()
	c, err := home.Config()
	if err != nil {
		t.Fatal(err)
	}
	c.Repositories[0].Slug = slug
	c.Timers.Retry = Duration{100 * time.Millisecond}
	if err := c.Write(home.ConfigPath()); err != nil {
		t.Fatal(err)
	}
}

func (c *crewed) repository() api.Repository {
	c.tb.Helper()
	client := api.NewClient(c.home.SocketPath())
	defer client.Close()
	s, err := client.Status()
	if err != nil || len(s.Repositories) != 1 {
		c.tb.Fatalf("%+v, %v", s, err)
	}
	return s.Repositories[0]
}

func TestARepositoryThatGitHubDoesNotKnowIsACardUntilItDoes(t *testing.T) { // P10
	h, homes, dirs := newHub(t, 1, "")
	lookingAfter(t, homes[0], "acme/shp")
	a := runCrewed(t, homes[0], dirs[0])
	const why = "GitHub knows no repository acme/shp, or does not show it to this account"
	eventually(t, "the status says it", func() bool { return a.repository().Unanswered == why })
	client := api.NewClient(homes[0].SocketPath())
	defer client.Close()
	cards, err := client.Inbox()
	if err != nil || len(cards) == 0 || cards[0].Code != "C1" || !strings.Contains(cards[0].What, why) {
		t.Errorf("the inbox holds %+v, %v", cards, err)
	}
	if _, err := h.server.AddRepo(h.server.AddOrg("acme"), "shp", filepath.Join(dirs[0], ".git"), "main"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is known when it is there", func() bool { r := a.repository(); return r.Unanswered == "" && r.Base == "main" })
}

func TestAGitHubThatCannotBeReachedIsSaid(t *testing.T) { // P10
	homes, dirs := newCrew(t, 1) // nobody listens where its GitHub is
	lookingAfter(t, homes[0], "acme/till")
	a := runCrewed(t, homes[0], dirs[0])
	eventually(t, "the status says it", func() bool { return strings.Contains(a.repository().Unanswered, "GitHub cannot tell now") })
	if r := a.repository(); !strings.Contains(r.State, r.Unanswered) {
		t.Errorf("it stands as %q", r.State)
	}
}
