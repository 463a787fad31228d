package demo

import (
	"io"
	"os"
	"testing"
)

func TestTheSecondPullRequestIsOpenedOnceWhateverWasInterrupted(t *testing.T) {
	d := &show{o: Options{Out: io.Discard}, s: &stage{Dir: t.TempDir(), Slug: "kim/shop", Base: "master", Head: "refunds"}}
	origin, err := d.s.paint(t.Context(), d.o)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := d.s.openGitHub(origin); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(d.s.path("colleague"), 0o700); err != nil { // as a stop in the clone leaves it
		t.Fatal(err)
	}
	for _, what := range []string{"after a clone that was interrupted", "once more"} {
		if err := d.another(t.Context()); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		server, repo, _, err := d.s.openGitHub("")
		if err != nil {
			t.Fatal(err)
		}
		_, first := server.PullState(repo, 1)
		if _, second := server.PullState(repo, 2); !first || second {
			t.Errorf("%s: there is one: %v, and another one: %v", what, first, second)
		}
	}
}
