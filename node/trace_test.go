package node

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/node/api"
)

func TestATraceHoldsRequestsAndWorkWithTheGitBelowIt(t *testing.T) {
	h, homes, dirs := newHub(t, 1, "")
	a := runCrewed(t, homes[0], dirs[0])
	client := api.NewClient(homes[0].SocketPath())
	defer client.Close()
	if _, err := client.TraceTake(t.Context()); err == nil {
		t.Error("a trace that nobody began is taken")
	}
	eventually(t, "the checkout is as on GitHub", func() bool { return strings.Contains(a.repository().State, "as on GitHub") })
	before := a.repository().State
	write(t, filepath.Join(h.outside, "more.txt"), "more\n")
	git(t, h.outside, "add", ".")
	git(t, h.outside, "commit", "-q", "-m", "more")
	h.push("HEAD:refs/heads/main")
	if _, err := client.TraceBegin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Status(); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Sync(t.Context(), workSlug, api.SyncNow); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the sync has ended", func() bool { return a.repository().State != before })
	out, err := client.TraceTake(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{`"name":"status"`, `"name":"sync ` + workSlug + `"`, `"name":"git fetch"`} {
		if !strings.Contains(string(out), name) {
			t.Errorf("%s is not in %s", name, out)
		}
	}
}
