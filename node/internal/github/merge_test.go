package github

import (
	"context"
	"strings"
	"testing"
	"time"

	standin "github.com/parley-mesh/parley/simnet/github"
)

func (w *world) wantMerge(n int, head string, want Outcome) MergeResult {
	w.t.Helper()
	r, err := w.merge(n, head)
	if err != nil || r.Outcome != want {
		w.t.Fatalf("%s %+v, %v, want %s", r.Outcome, r, err, want)
	}
	if (want == Merged || want == AlreadyMerged) && r.Commit != w.state(n).MergeOID {
		w.t.Errorf("commit %s, want %s", r.Commit, w.state(n).MergeOID)
	}
	return r
}

func TestMergeIsDoneOnce(t *testing.T) { // P15
	w := newWorld(t)
	n, head := w.open("clean")
	w.wantMerge(n, head, Merged)
	w.wantMerge(n, head, AlreadyMerged)
	if w.presses() != 1 {
		t.Errorf("pressed %d times", w.presses())
	}
}

func TestMergeByEachMethod(t *testing.T) {
	for method, kind := range map[string]standin.Method{"merge": standin.Merge, "squash": standin.Squash, "rebase": standin.Rebase} {
		w := newWorld(t)
		w.s.Allow(w.repo, kind)
		n, head := w.open("clean")
		if r, err := w.c.Merge(t.Context(), "alice", "app", n, head, method); err != nil || r.Outcome != Merged {
			t.Errorf("%s: %+v, %v", method, r, err)
		}
	}
}

func TestMergeOfAnotherHeadIsVoid(t *testing.T) { // P15
	w := newWorld(t)
	n, head := w.open("clean")
	other := strings.Repeat("1", 40)
	w.wantMerge(n, other, HeadMoved)
	if w.presses() != 0 {
		t.Error("the button was pressed for another head")
	}
	// The head moves between the look and the press.
	w.s.Fault(standin.Fault{
		Method: "PUT", Status: 409, Header: map[string]string{"Content-Type": jsonType},
		Body: `{"message":"Head branch was modified. Review and try the merge again."}`,
	})
	w.wantMerge(n, head, HeadMoved)
	w.wantMerge(n, head, Merged)
	w.wantMerge(n, other, HeadMoved)
}

func TestPressIsGuardedByTheHead(t *testing.T) { // P15
	w := newWorld(t)
	n, head := w.open("clean")
	m := merge{c: w.c, owner: "alice", name: "app", n: n, head: strings.Repeat("1", 40), method: "merge"}
	if r, err := m.press(t.Context()); err != nil || r == nil || r.Outcome != HeadMoved {
		t.Errorf("%+v, %v", r, err)
	}
	if w.state(n).Merged || w.state(n).HeadOID != head {
		t.Error("it was merged")
	}
}

func TestMergeSurvivesAMovedBase(t *testing.T) {
	w := newWorld(t)
	n, head := w.open("clean")
	w.s.Fault(standin.Fault{
		Method: "PUT", Status: 405, Header: map[string]string{"Content-Type": jsonType},
		Body: `{"message":"Base branch was modified. Review and try the merge again."}`, Times: 2,
	})
	w.wantMerge(n, head, Merged)
	if w.presses() != 3 {
		t.Errorf("pressed %d times", w.presses())
	}
}

func TestMergeThatLandedBehindAnOutageIsFound(t *testing.T) { // P15
	for _, f := range []standin.Fault{
		{Status: 502},
		{Status: 0},
		{Status: 405, Header: map[string]string{"Content-Type": jsonType}, Body: `{"message":"Pull Request is not mergeable"}`},
		{Status: 200, Header: map[string]string{"Content-Type": jsonType}, Body: `{}`},
	} {
		w := newWorld(t)
		n, head := w.open("clean")
		f.Method, f.After = "PUT", true
		w.s.Fault(f)
		w.wantMerge(n, head, Merged)
		if w.presses() != 1 {
			t.Errorf("status %d: pressed %d times", f.Status, w.presses())
		}
	}
}

func TestMergeThatDidNotLandIsTriedAgain(t *testing.T) {
	w := newWorld(t)
	n, head := w.open("clean")
	w.s.Fault(standin.Fault{Method: "PUT", Status: 502, Times: 2})
	w.wantMerge(n, head, Merged)
}

func TestMergeInALongOutageSaysNothing(t *testing.T) { // P15
	w := newWorld(t)
	n, head := w.open("clean")
	w.s.Fault(standin.Fault{Method: "PUT", Status: 502, Times: 10})
	_, err := w.merge(n, head)
	wantErr(t, "merge", err, ErrTemporary)
	if w.presses() != pressesMax {
		t.Errorf("pressed %d times", w.presses())
	}
	w.s.Fault(standin.Fault{Method: "GET", Status: 502, Times: 10})
	_, err = w.merge(n, head)
	wantErr(t, "look", err, ErrTemporary)
}

func TestMergeThatIsCancelledSaysNothing(t *testing.T) {
	w := newWorld(t)
	n, head := w.open("clean")
	w.c.pause = time.Hour
	w.s.Fault(standin.Fault{Method: "PUT", Status: 502})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	_, err := w.c.Merge(ctx, "alice", "app", n, head, "merge")
	wantErr(t, "merge", err, ErrTemporary)
}

func TestConflictIsTold(t *testing.T) {
	w := newWorld(t)
	n, head := w.open("rival")
	w.wantMerge(n, head, Conflicts)
	if w.state(n).Merged {
		t.Error("it was merged")
	}
}

func TestRefusalWithoutAVerdictIsNoConflict(t *testing.T) { // P7
	w := newWorld(t)
	w.s.MergeDelay = time.Hour
	n, head := w.open("clean")
	w.s.Fault(standin.Fault{
		Method: "PUT", Status: 405, Header: map[string]string{"Content-Type": jsonType},
		Body: `{"message":"Pull Request is not mergeable"}`, Times: 10,
	})
	_, err := w.merge(n, head)
	wantErr(t, "merge", err, ErrTemporary)
}

func TestRefusalIsToldInGitHubsWords(t *testing.T) {
	for _, c := range []struct {
		name, reason string
		set          func(w *world) int
	}{
		{"draft", "Pull Request is still a draft", func(w *world) int {
			return must(w.s.OpenPull(w.alice, w.repo, "master", w.repo, "clean", "Draft", true))(w.t).Number
		}},
		{"reviews", "At least 1 approving review is required by reviewers with write access.", func(w *world) int {
			w.s.Protect(w.repo, "master", standin.Rule{Reviews: 1})
			n, _ := w.open("clean")
			return n
		}},
		{"queue", "Changes must be made through the merge queue", func(w *world) int {
			w.s.Protect(w.repo, "master", standin.Rule{MergeQueue: true})
			n, _ := w.open("clean")
			return n
		}},
		{"method", "Merge commits are not allowed on this repository.", func(w *world) int {
			w.s.Allow(w.repo, standin.Squash)
			n, _ := w.open("clean")
			return n
		}},
		{"closed", "the pull request is closed", func(w *world) int {
			n, _ := w.open("clean")
			w.s.ClosePull(w.pulls[n])
			return n
		}},
		{"rights", "Resource not accessible by personal access token", func(w *world) int {
			n, _ := w.open("clean")
			w.signIn("bob-token")
			return n
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			n := c.set(w)
			r := w.wantMerge(n, w.state(n).HeadOID, Blocked)
			if r.Reason != c.reason || w.presses() > 1 {
				t.Errorf("reason %q after %d presses", r.Reason, w.presses())
			}
		})
	}
}

func TestOddMergeIsRefused(t *testing.T) {
	w := newWorld(t)
	n, head := w.open("clean")
	for _, c := range [][2]string{{head, "octopus"}, {head, ""}, {"", "merge"}, {head[:7], "merge"}} {
		if _, err := w.c.Merge(t.Context(), "alice", "app", n, c[0], c[1]); err == nil {
			t.Errorf("%q passed", c)
		}
	}
	if len(w.s.Log()) != 0 {
		t.Error("GitHub was asked")
	}
}

func TestOutcomesHaveNames(t *testing.T) {
	if Blocked.String() != "blocked" || Outcome(0).String() != "unknown" || Outcome(9).String() != "unknown" {
		t.Error(Blocked, Outcome(0), Outcome(9))
	}
}
