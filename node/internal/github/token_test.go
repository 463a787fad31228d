//go:build !windows

package github

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// fakeGH makes a shell script the gh of this test.
func fakeGH(t *testing.T, script string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gh")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GH_PATH", path)
}

func ghClient(t *testing.T) *Client {
	t.Helper()
	return must(New(Endpoint{Host: "github.localhost"}))(t)
}

func TestTokenComesFromTheSignInAlone(t *testing.T) { // D-23
	for _, name := range steering {
		t.Setenv(name, "loud")
	}
	fakeGH(t, `test -z "$GH_TOKEN$GITHUB_TOKEN$GH_ENTERPRISE_TOKEN$GITHUB_ENTERPRISE_TOKEN$GH_HOST$GH_DEBUG" || exit 9
test "$*" = "auth token --hostname github.localhost" && echo gho_quiet`)
	if token, err := ghClient(t).Token(t.Context()); token != "gho_quiet" || err != nil {
		t.Errorf("token %q, %v", token, err)
	}
}

func TestGHIsNotRunForEveryRequest(t *testing.T) {
	count := filepath.Join(t.TempDir(), "count")
	fakeGH(t, `echo x >> `+count+`; echo gho_x`)
	c := ghClient(t)
	runs := func() int {
		b, err := os.ReadFile(count)
		if err != nil {
			t.Fatal(err)
		}
		return len(b) / 2
	}
	for range 3 {
		must(c.Token(t.Context()))(t)
	}
	if runs() != 1 {
		t.Errorf("gh ran %d times", runs())
	}
	c.forget()
	must(c.Token(t.Context()))(t)
	if runs() != 2 {
		t.Errorf("gh ran %d times after a refused token", runs())
	}
}

func TestGHSaysWhatIsMissing(t *testing.T) { // P10
	for _, c := range []struct {
		name, script string
		want         error
	}{
		{"signed out", `echo "no oauth token" >&2; exit 1`, ErrNotSignedIn},
		{"newer words", `echo "no oauth token found for github.localhost" >&2; exit 1`, ErrNotSignedIn},
		{"empty", `echo`, ErrNotSignedIn},
		{"two lines", `echo a; echo b`, ErrNotSignedIn},
		{"broken settings", `echo "yaml: line 3" >&2; exit 1`, ErrTemporary},
		{"killed", `kill -9 $$`, ErrTemporary},
	} {
		t.Run(c.name, func(t *testing.T) {
			fakeGH(t, c.script)
			_, err := ghClient(t).Whoami(t.Context())
			wantErr(t, "who", err, c.want)
		})
	}
	t.Run("not installed", func(t *testing.T) {
		t.Setenv("GH_PATH", "")
		t.Setenv("PATH", t.TempDir())
		_, err := ghClient(t).Whoami(t.Context())
		wantErr(t, "who", err, ErrNoCLI)
		t.Setenv("GH_PATH", filepath.Join(t.TempDir(), "gone"))
		_, err = ghClient(t).Whoami(t.Context())
		wantErr(t, "who", err, ErrNoCLI)
	})
}

func TestHangingGHIsLeft(t *testing.T) {
	fakeGH(t, `exec sleep 600`)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := ghClient(t).Token(ctx)
	wantErr(t, "token", err, ErrTemporary)
}

func TestRealGHIsAsked(t *testing.T) { // D-23
	path, err := exec.LookPath("gh")
	if err != nil {
		t.Skip("gh is not installed")
	}
	t.Setenv("GH_PATH", path)
	t.Setenv("GH_TOKEN", "loud")
	dir := t.TempDir()
	t.Setenv("GH_CONFIG_DIR", dir)
	_, err = ghClient(t).Whoami(t.Context())
	wantErr(t, "signed out", err, ErrNotSignedIn)

	w := newWorld(t)
	e := w.endpoint()
	e.Token = nil
	c := must(New(e))(t)
	t.Cleanup(c.Close)
	hosts := func(token string) {
		if err := os.WriteFile(filepath.Join(dir, "hosts.yml"), []byte("github.localhost:\n    user: alice\n    oauth_token: "+token+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	hosts("alice-token")
	if me := must(c.Whoami(t.Context()))(t); me.ID != w.alice.ID {
		t.Errorf("account %+v", me)
	}
	hosts("bob-token")
	c.forget()
	if me := must(c.Whoami(t.Context()))(t); me.ID != w.bob.ID {
		t.Errorf("account %+v after gh auth switch", me)
	}
}
