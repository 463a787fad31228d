package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/node/api"
)

// withNode runs a node and lets do use it, beside its loop.
func withNode(t *testing.T, home Home, demo bool, do func(c *api.Client) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	err := Run(ctx, RunConfig{Home: home, Demo: demo, Ready: func() {
		go func() { // the loop begins when Ready returns
			defer cancel()
			c := api.NewClient(home.SocketPath())
			done <- errors.Join(do(c), c.Close())
		}()
	}})
	if err := errors.Join(err, <-done); err != nil {
		t.Fatal(err)
	}
}

// pageOf logs in at the page that a running node serves.
func pageOf(ctx context.Context, c *api.Client) (ask func(method, path string, form url.Values) (int, string, error), err error) {
	link, err := c.OpenPage(ctx)
	if err != nil {
		return nil, err
	}
	at, err := url.Parse(link.URL)
	if err != nil {
		return nil, err
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	csrf, browser := "", http.Client{Jar: jar}
	ask = func(method, path string, form url.Values) (int, string, error) {
		r, err := http.NewRequestWithContext(ctx, method, "http://"+at.Host+path, strings.NewReader(form.Encode()))
		if err != nil {
			return 0, "", err
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("X-Parley-Page", csrf)
		resp, err := browser.Do(r)
		if err != nil {
			return 0, "", err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		return resp.StatusCode, string(body), err
	}
	if status, body, err := ask(http.MethodGet, at.RequestURI(), nil); err != nil || status != http.StatusOK {
		return nil, fmt.Errorf("log in: %d %s %v", status, body, err)
	}
	_, body, err := ask(http.MethodGet, "/setup", nil)
	if m := regexp.MustCompile(`data-csrf="([0-9a-f]+)"`).FindStringSubmatch(body); m != nil {
		csrf = m[1]
	}
	return ask, err
}

func TestANodeServesItsPageAndTakesAPersonsPressThere(t *testing.T) { // P2, D-24
	home := OpenHome(t.TempDir() + "/home")
	c := Default()
	c.Name, c.Listen = "studio", []string{"/ip4/127.0.0.1/udp/0/quic-v1"}
	if err := home.Init(Setup{Config: c, Passphrase: "correct horse battery", Work: 2}); err != nil {
		t.Fatal(err)
	}
	withNode(t, home, false, func(c *api.Client) error {
		ask, err := pageOf(t.Context(), c)
		if err != nil {
			return err
		}
		for _, path := range []string{"/", "/threads", "/computers", "/setup", "/audit", "/audit?of=kept", "/audit?of=log"} {
			if status, body, err := ask(http.MethodGet, path, nil); err != nil || status != http.StatusOK || !strings.Contains(body, "studio") {
				t.Errorf("%s: %d %v", path, status, err)
			}
		}
		press := url.Values{"verb": {"main on"}, "binds": {""}, "thread": {""}, "passphrase": {"wrong horse battery"}}
		if status, body, _ := ask(http.MethodPost, "/press", press); status != http.StatusUnauthorized {
			t.Errorf("a wrong passphrase: %d %s", status, body)
		}
		if s, err := c.Status(); err != nil || s.Main.Me {
			t.Errorf("it became the main computer by a wrong passphrase: %v", err)
		}
		press.Set("passphrase", "correct horse battery")
		if status, body, _ := ask(http.MethodPost, "/press", press); status != http.StatusOK {
			t.Errorf("the press: %d %s", status, body)
		}
		if s, err := c.Status(); err != nil || !s.Main.Me {
			t.Errorf("it is not the main computer: %+v, %v", s.Main, err)
		}
		if status, body, _ := ask(http.MethodPost, "/do", url.Values{"verb": {"route off"}, "conversation": {SyncConflicts}}); status != http.StatusOK {
			t.Errorf("the route: %d %s", status, body)
		}
		return nil
	})
	if r, err := home.Route(); err != nil || !r.Off {
		t.Errorf("the route is %+v, %v", r, err)
	}
}

func TestAPageThatIsOffIsNotServed(t *testing.T) {
	home := demoHome(t)
	c, err := home.Config()
	if err != nil {
		t.Fatal(err)
	}
	c.Page.Off = true
	if err := c.Write(home.ConfigPath()); err != nil {
		t.Fatal(err)
	}
	withNode(t, home, true, func(c *api.Client) error {
		if _, err := c.OpenPage(t.Context()); api.Explain(err).Code != "no-page" {
			t.Errorf("open says %v", err)
		}
		return nil
	})
}
