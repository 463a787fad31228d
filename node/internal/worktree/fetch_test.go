package worktree

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

func TestFetchReportsEveryPullOfItsOwn(t *testing.T) { // D-9
	h := newHub(t)
	base := h.commit("", tree{"a": "x\n"})
	one, two := h.commit(base, tree{"a": "1\n"}), h.commit(base, tree{"a": "2\n"})
	h.publish(map[string]OID{"refs/heads/master": base, "refs/pull/1/head": one, "refs/heads/x/refs/pull/7/head": two})
	m := h.mirror()
	f, err := m.Fetch(t.Context(), "master", []uint64{7, 1, 1, 99})
	if err != nil || f.Base != base || f.Heads[1] != one || len(f.Heads) != 1 || !slices.Equal(f.Missing, []uint64{7, 99}) || f.Forced {
		t.Fatalf("%+v %v", f, err)
	}
	// The head is rewritten: both heads stay known, and the old one stays in the mirror.
	h.publish(map[string]OID{"refs/pull/1/head": two})
	if f, err = m.Fetch(t.Context(), "master", []uint64{1}); err != nil || f.Heads[1] != two {
		t.Fatalf("%+v %v", f, err)
	}
	if err := m.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	heads, err := m.Heads(t.Context(), 1)
	if err != nil || len(heads) != 2 || !slices.Contains(heads, one) || !slices.Contains(heads, two) {
		t.Errorf("heads seen: %v %v", heads, err)
	}
	if ok, err := m.CommitExists(t.Context(), one); err != nil || !ok {
		t.Errorf("the old head is gone: %v", err)
	}
	if _, err := m.Fetch(t.Context(), "gone", nil); !errors.Is(err, ErrNoBranch) {
		t.Errorf("a branch that is not there: %v", err)
	}
	for _, bad := range []string{"", "-x", "a..b", "a b", "x.lock", "a/", "HEAD", "a:b", "*"} {
		if _, err := m.Fetch(t.Context(), bad, nil); !errors.Is(err, ErrRefused) {
			t.Errorf("branch %q: %v", bad, err)
		}
	}
}

func TestARewrittenBaseIsReportedOnce(t *testing.T) {
	h := newHub(t)
	base := h.commit("", tree{"a": "x\n"})
	one, other := h.commit(base, tree{"a": "1\n"}), h.commit(base, tree{"a": "2\n"})
	h.publish(map[string]OID{"refs/heads/master": base})
	m := h.mirror()
	for _, step := range []struct {
		tip    OID
		forced bool
	}{{base, false}, {one, false}, {one, false}, {other, true}, {other, false}, {base, true}, {one, false}} {
		h.publish(map[string]OID{"refs/heads/master": step.tip})
		if f, err := m.Fetch(t.Context(), "master", nil); err != nil || f.Base != step.tip || f.Forced != step.forced {
			t.Fatalf("%+v: %+v %v", step, f, err)
		}
	}
}

// The news of a rewritten base must not depend on who fetched first, nor end with the process that heard it.
func TestARewrittenBaseStandsUntilItIsBack(t *testing.T) {
	h := newHub(t)
	base := h.commit("", tree{"a": "x\n"})
	one := h.commit(base, tree{"a": "1\n"})
	other := h.commit(base, tree{"a": "2\n"})
	h.publish(map[string]OID{"refs/heads/master": base, "refs/heads/side/master": one})
	m := h.mirror()
	grown := h.commit(other, tree{"b": "b\n"})
	sorted := slices.Sorted(slices.Values([]OID{one, grown}))
	for i, step := range []struct {
		tip, was OID
		gone     []OID
	}{
		{one, "", nil},
		{other, one, []OID{one}},
		{other, "", []OID{one}},
		{grown, "", []OID{one}},
		{base, grown, sorted},
		{one, "", []OID{grown}},
		{grown, one, []OID{one}},
	} {
		h.publish(map[string]OID{"refs/heads/master": step.tip})
		f, err := m.Fetch(t.Context(), "master", nil)
		if err != nil || f.Was != step.was || f.Forced != (step.was != "") {
			t.Fatalf("step %d: %+v %v", i, f, err)
		}
		if m, err = OpenMirror(t.Context(), Git{}, m.dir, h.remote()); err != nil {
			t.Fatal(err)
		}
		if gone, err := m.Rewrites(t.Context(), "master"); err != nil || !slices.Equal(gone, step.gone) {
			t.Errorf("step %d: %v %v", i, gone, err)
		}
	}
	if gone, err := m.Rewrites(t.Context(), "side/master"); err != nil || gone != nil {
		t.Errorf("another branch: %v %v", gone, err)
	}
	if ok, err := m.CommitExists(t.Context(), other); err != nil || !ok {
		t.Error("the former history is gone from the mirror")
	}
}

func TestAnOutageIsToldFromARefusal(t *testing.T) {
	h := newHub(t)
	base := h.commit("", tree{"a": "x\n"})
	h.publish(map[string]OID{"refs/heads/master": base})
	m := h.mirror()
	var status atomic.Int64 // the server reads it
	status.Store(http.StatusOK)
	h.answer(func(w http.ResponseWriter, _ *http.Request) bool {
		now := int(status.Load())
		if now != http.StatusOK {
			http.Error(w, "no", now)
		}
		return now != http.StatusOK
	})
	for _, c := range []struct {
		status int
		want   error
	}{{500, ErrTemporary}, {502, ErrTemporary}, {503, ErrTemporary}, {429, ErrTemporary}, {401, ErrDenied}, {403, ErrDenied}, {404, ErrDenied}} {
		status.Store(int64(c.status))
		_, err := m.Fetch(t.Context(), "master", nil)
		if !errors.Is(err, c.want) {
			t.Errorf("status %d: %v", c.status, err)
		}
	}
	status.Store(http.StatusOK)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Fetch(ctx, "master", nil); !errors.Is(err, ErrTemporary) || !errors.Is(err, context.Canceled) {
		t.Errorf("a stopped fetch: %v", err)
	}
	away, err := OpenMirror(t.Context(), Git{}, m.dir, Remote{URL: "http://127.0.0.1:1/repo.git"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := away.Fetch(t.Context(), "master", nil); !errors.Is(err, ErrTemporary) {
		t.Errorf("nobody answers: %v", err)
	}
}

func TestTheTokenGoesToItsOriginAndNowhereElse(t *testing.T) { // D-23
	h := newHub(t)
	h.require("secret-token-1")
	base := h.commit("", tree{"a": "x\n"})
	h.publish(map[string]OID{"refs/heads/master": base})
	m := h.mirror()
	c, err := h.remote().reach(t.Context(), call{args: []string{"fetch"}})
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]bool{strings.TrimSuffix(strings.TrimPrefix(h.url, "http://"), "/repo.git"): true, "127.0.0.1:1": false, "example.com": false} {
		ask := c
		ask.args, ask.stdin = []string{"credential", "fill"}, strings.NewReader("protocol=http\nhost="+host+"\n\n")
		if a, err := m.git.ask(t.Context(), ask); err != nil || strings.Contains(string(a.stdout), h.token) != want {
			t.Errorf("credentials for %s: %s %v", host, a.stdout, err)
		}
	}
	cmd := m.git.command(t.Context(), c)
	if strings.Contains(strings.Join(cmd.Args, " "), h.token) {
		t.Errorf("the token stands in the arguments: %v", cmd.Args)
	}
	err = filepath.WalkDir(m.dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.Contains(read(t, path), h.token) {
			t.Errorf("the token stands in %s", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	wrong := m.At(Remote{URL: h.url, Token: func(context.Context) (string, error) { return "wrong", nil }})
	if _, err := wrong.Fetch(t.Context(), "master", nil); !errors.Is(err, ErrDenied) {
		t.Errorf("a wrong token: %v", err)
	}
	if _, err := m.At(Remote{URL: h.url}).Fetch(t.Context(), "master", nil); !errors.Is(err, ErrDenied) {
		t.Errorf("no token: %v", err)
	}
	// A server that sends the client elsewhere gets nothing there.
	other := newHub(t)
	h.answer(func(w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, strings.TrimSuffix(other.url, "/repo.git")+r.URL.Path+"?"+r.URL.RawQuery, http.StatusMovedPermanently)
		return true
	})
	if _, err := m.Fetch(t.Context(), "master", nil); err == nil {
		t.Error("a redirect was followed")
	}
	if n := other.asked.Load(); n != 0 {
		t.Errorf("the other server was asked %d times", n)
	}
}

func TestOnlySafeTransportsAreSpoken(t *testing.T) { // D-23
	for url, ok := range map[string]bool{
		"https://github.com/o/r.git": true, "ssh://git@github.com/o/r.git": true, "http://127.0.0.1:80/r": true,
		"http://[::1]:80/r": true, "http://localhost/r": true, "http://github.localhost/r": true, "http://a.b.LOCALHOST./r": true,
		"http://github.com/o/r.git": false, "http://127.0.0.1.example.com/r": false, "http://localhost.example.com/r": false,
		"http://notlocalhost/r": false, "git://github.com/o/r": false, "file:///tmp/r": false, "/tmp/r": false, "ext::sh -c id": false,
		"https://user:pw@github.com/o/r": false, "https://token@github.com/o/r": false, "ssh://git:pw@h/r": false,
		"ssh://-oProxyCommand=id/r": false, "https:///r": false, "-u": false, "git@github.com:o/r.git": false, "": false,
	} {
		if _, err := (Remote{URL: url}).parse(); (err == nil) != ok || err != nil && !errors.Is(err, ErrRefused) {
			t.Errorf("%q: %v", url, err)
		}
		if _, err := (Remote{URL: url}).parse(); err != nil && strings.Contains(err.Error(), "pw") {
			t.Errorf("the refusal tells the password: %v", err)
		}
	}
}

func TestAMirrorSurvivesBeingKilled(t *testing.T) {
	h := newHub(t)
	base := h.commit("", tree{"a": "x\n"})
	next := h.commit(base, tree{"a": "y\n"})
	h.publish(map[string]OID{"refs/heads/master": base})
	dir := filepath.Join(t.TempDir(), "deep", "mirror.git")
	// Half a repository from a creation that was cut short.
	put(t, dir+".making", "HEAD", "junk")
	m, err := OpenMirror(t.Context(), Git{}, dir, h.remote())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Fetch(t.Context(), "master", nil); err != nil {
		t.Fatal(err)
	}
	for _, left := range []string{
		"packed-refs.lock", "refs/parley/base/master.lock", "config.lock", "HEAD.lock",
		"objects/info/commit-graphs/commit-graph-chain.lock", "objects/pack/tmp_pack_x", "quarantine-1/aa/bb", "shallow.lock",
	} {
		put(t, dir, left, "left")
	}
	h.publish(map[string]OID{"refs/heads/master": next, "refs/heads/tmp_x": base, "refs/heads/quarantine-x/tmp_y": base})
	for _, branch := range []string{"tmp_x", "quarantine-x/tmp_y"} {
		if err := os.Remove(filepath.Join(dir, "packed-refs.lock")); branch == "tmp_x" && err != nil {
			t.Fatal(err)
		}
		if _, err := m.Fetch(t.Context(), branch, nil); err != nil {
			t.Fatal(err)
		}
	}
	put(t, dir, "packed-refs.lock", "left")
	if m, err = OpenMirror(t.Context(), Git{}, dir, h.remote()); err != nil {
		t.Fatal(err)
	}
	if f, err := m.Fetch(t.Context(), "master", nil); err != nil || f.Base != next {
		t.Fatalf("after the leftovers: %+v %v", f, err)
	}
	for _, branch := range []string{"tmp_x", "quarantine-x/tmp_y"} {
		if refs, err := m.refs(t.Context(), refBase+branch); err != nil || refs[refBase+branch] != base {
			t.Errorf("branch %s was taken for a leftover: %v", branch, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "quarantine-*")); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	put(t, filepath.Dir(dir), "plain/file", "x")
	if _, err := OpenMirror(t.Context(), Git{}, filepath.Join(filepath.Dir(dir), "plain"), h.remote()); !errors.Is(err, ErrNotRepository) {
		t.Errorf("a directory that is no mirror: %v", err)
	}
	if _, err := OpenMirror(t.Context(), Git{}, dir, Remote{URL: "http://example.com/r"}); !errors.Is(err, ErrRefused) {
		t.Errorf("plain http abroad: %v", err)
	}
}
