package github

import (
	"bufio"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A server killed between git's move of a branch and its own file must know of the move when it comes back.
func TestRestartTakesInWhatReachedGitBeforeTheKill(t *testing.T) {
	w := newWorld(t)
	p, q := w.open("clean"), w.open("second")
	before := readFile(t, filepath.Join(w.s.dir, stateFile))
	dir := w.clone("alice-token", "alice/app")
	runGit(t, dir, "checkout", "-q", "second")
	write(t, dir, "more.txt", "more\n")
	commitAll(t, dir, "more")
	runGit(t, dir, "push", "-q", "origin", "second")
	w.call("alice-token", "PUT", "/repos/alice/app/pulls/1/merge", "").want(t, 200, "")
	want, wantP, wantQ := w.s.Writes(), w.state(p), w.state(q)

	write(t, w.s.dir, stateFile, before)
	for range 2 {
		again := must(New(w.s.dir))(t)
		repo := again.Repo("alice", "app")
		gotP, _ := again.PullState(repo, p.Number)
		gotQ, _ := again.PullState(repo, q.Number)
		if !gotP.Merged || gotP.MergeOID != wantP.MergeOID || gotP.MergedBy != "alice" {
			t.Errorf("the merge was forgotten: %+v", gotP)
		}
		if gotQ.HeadOID != wantQ.HeadOID {
			t.Errorf("the push was forgotten: %+v", gotQ)
		}
		got := again.Writes()
		if len(got) != 2 || got[0].New != want[0].New || got[1].New != want[1].New || got[1].Pull != p.Number {
			t.Fatalf("writes after the restart are %+v, want %+v", got, want)
		}
	}
}

// Git may be killed along with the server, after it moved a branch and before its hook could note that.
func TestRestartSettlesAMoveGitCouldNotNote(t *testing.T) {
	w := newWorld(t)
	p := w.open("clean")
	before := readFile(t, filepath.Join(w.s.dir, stateFile))
	w.call("alice-token", "PUT", "/repos/alice/app/pulls/1/merge", "").want(t, 200, "")
	want := w.s.Writes()
	notes := strings.SplitAfter(readFile(t, filepath.Join(w.repo.Dir, notesFile)), "\n")
	if len(notes) != 3 || !strings.HasPrefix(notes[0], "prepared") || !strings.HasPrefix(notes[1], "committed") {
		t.Fatalf("git noted %q", notes)
	}

	write(t, w.s.dir, stateFile, before)
	write(t, w.repo.Dir, notesFile, notes[0])
	again := must(New(w.s.dir))(t)
	if state, _ := again.PullState(again.Repo("alice", "app"), p.Number); !state.Merged || state.MergedBy != "alice" {
		t.Errorf("the merge was forgotten: %+v", state)
	}
	// The git of then was not killed after all and says so now.
	write(t, w.repo.Dir, notesFile, notes[0]+notes[1])
	if got := again.Writes(); len(got) != 1 || got[0] != want[0] {
		t.Errorf("writes are %+v, want %+v", got, want)
	}

	write(t, w.s.dir, stateFile, before)
	write(t, w.repo.Dir, notesFile, notes[0])
	runGit(t, w.repo.Dir, "-c", "core.hooksPath=/dev/null", "update-ref", "refs/heads/master", want[0].Old)
	if got := must(New(w.s.dir))(t).Writes(); len(got) != 0 {
		t.Errorf("a move that was only announced counts: %+v", got)
	}
	runGit(t, w.repo.Dir, "-c", "core.hooksPath=/dev/null", "update-ref", "refs/heads/master", want[0].New)
	write(t, w.repo.Dir, notesFile, notes[0]+notes[1])
	if got := must(New(w.s.dir))(t).Writes(); len(got) != 1 || got[0] != want[0] {
		t.Errorf("a move announced before one restart and made before the next left the writes %+v", got)
	}
}

func TestKilledServerGoesOnFromItsFolder(t *testing.T) {
	w := newWorld(t)
	w.open("clean")
	w.open("second")
	folder := w.s.dir
	url, kill := startProcess(t, folder)
	dir := filepath.Join(t.TempDir(), "clone")
	runGit(t, "", "clone", "-q", strings.Replace(url, "://", "://x:alice-token@", 1)+"/alice/app.git", dir)
	runGit(t, dir, "push", "-q", "origin", "master:kept")
	req := must(http.NewRequestWithContext(t.Context(), "PUT", url+"/api/v3/repos/alice/app/pulls/1/merge", nil))(t)
	req.Header.Set("Authorization", "token alice-token")
	res := must(http.DefaultClient.Do(req))(t)
	res.Body.Close()
	kill()

	again := must(New(folder))(t)
	repo := again.Repo("alice", "app")
	if repo == nil || repo.ID != w.repo.ID || again.User("bob").ID != w.bob.ID {
		t.Fatalf("the repository or a user is not the same: %+v", repo)
	}
	first, _ := again.PullState(repo, 1)
	second, _ := again.PullState(repo, 2)
	if !first.Merged || second.Closed || again.Repo("bob", "app").parent != repo {
		t.Errorf("after the restart: %+v and %+v", first, second)
	}
	got := again.Writes()
	if len(got) != 2 || got[0].Kind != KindPush || got[0].Ref != "refs/heads/kept" || got[1].Kind != KindMerge || got[1].Pull != 1 {
		t.Errorf("writes after the restart are %+v", got)
	}
	if more := must(again.AddRepo(again.User("bob"), "more", "", ""))(t); more.ID <= repo.pull(2).ID {
		t.Errorf("the id %d was given before", more.ID)
	}
}

// startProcess serves a folder from a process of its own; kill ends it as kill -9 does.
func startProcess(t *testing.T, folder string) (url string, kill func()) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestServeForTheKill$")
	cmd.Env = append(os.Environ(), "STANDIN_FOLDER="+folder)
	out := must(cmd.StdoutPipe())(t)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the process did not start: %v", err)
	}
	return strings.TrimSpace(line), func() {
		cmd.Process.Kill()
		cmd.Wait()
	}
}

// TestServeForTheKill is the process of startProcess and no test by itself.
func TestServeForTheKill(t *testing.T) {
	folder := os.Getenv("STANDIN_FOLDER")
	if folder == "" {
		t.Skip("STANDIN_FOLDER is not set: this is the other process of TestKilledServerGoesOnFromItsFolder")
	}
	s := must(New(folder))(t)
	l := must(net.Listen("tcp", "127.0.0.1:0"))(t)
	os.Stdout.WriteString("http://" + l.Addr().String() + "\n")
	http.Serve(l, s)
}
