package node

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/node/api"
)

func TestToolsAreServedOnThisComputerAlone(t *testing.T) {
	for _, listen := range []string{"0.0.0.0:7337", "192.168.1.2:7337", "7337", "127.0.0.1", "localhost:7337", "example.org:80"} {
		c := Default()
		c.MCP.Listen = listen
		if err := c.Validate(); !errors.Is(err, api.ErrConfig) {
			t.Errorf("%s: %v", listen, err)
		}
	}
	for _, listen := range []string{"", "127.0.0.1:7337", "[::1]:0"} {
		c := Default()
		c.MCP.Listen = listen
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", listen, err)
		}
	}
}

func TestTheTokenOfTheToolsIsPrivateAndStays(t *testing.T) {
	home := demoHome(t)
	token, err := home.mcpToken()
	if err != nil || len(token) != 64 {
		t.Fatalf("%q %v", token, err)
	}
	if again, err := home.mcpToken(); err != nil || again != token {
		t.Errorf("%q, then %q, %v", token, again, err)
	}
	if err := os.Chmod(home.MCPTokenPath(), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := home.mcpToken(); !errors.Is(err, api.ErrHomeSpoiled) {
		t.Errorf("others can read it: %v", err)
	}
}

func TestARunningNodeServesToolsToWhoHasItsToken(t *testing.T) {
	home := demoHome(t)
	n, err := start(t.Context(), RunConfig{Home: home, Demo: true})
	if err != nil {
		t.Fatal(err)
	}
	defer n.close()
	n.cfg.MCP.Listen = "127.0.0.1:0"
	tools, err := n.serveTools(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	token, err := home.mcpToken()
	if err != nil {
		t.Fatal(err)
	}
	for given, want := range map[string]int{token: http.StatusOK, "": http.StatusUnauthorized, "x" + token: http.StatusUnauthorized} {
		if status, body := listTools(t.Context(), t, tools.addr.String(), given); status != want || want == http.StatusOK && !strings.Contains(body, "conflicts_list") {
			t.Errorf("with %q: %d %s", given, status, body)
		}
	}
	if err := tools.close(); err != nil {
		t.Error(err)
	}
}

func TestNumbersAreServedOnThisComputerAlone(t *testing.T) {
	for listen, good := range map[string]bool{"": true, "127.0.0.1:0": true, "[::1]:9467": true, "0.0.0.0:9467": false, "localhost:9467": false, "9467": false} {
		c := Default()
		c.Metrics.Listen = listen
		if err := c.Validate(); good != (err == nil) || !good && !errors.Is(err, api.ErrConfig) {
			t.Errorf("%q: %v", listen, err)
		}
	}
	home := demoHome(t)
	n, err := start(t.Context(), RunConfig{Home: home, Demo: true})
	if err != nil {
		t.Fatal(err)
	}
	defer n.close()
	if off, err := n.serveMetrics(t.Context()); off != nil || err != nil {
		t.Errorf("served without being asked: %v", err)
	}
	n.cfg.Metrics.Listen = "127.0.0.1:0"
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- n.run(ctx) }() // it is asked for what it knows
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	m, err := n.serveMetrics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]int{m.addr.String(): http.StatusOK, "evil.example": http.StatusForbidden} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+m.addr.String()+"/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != want || want == http.StatusOK != strings.Contains(string(body), "\nparley_computers 1\n") {
			t.Errorf("%s: %d %v\n%s", host, resp.StatusCode, err, body)
		}
		if name := n.cfg.Name; strings.Contains(string(body), name) {
			t.Errorf("the name %s is in it:\n%s", name, body)
		}
	}
	if err := m.close(); err != nil {
		t.Error(err)
	}
}

func listTools(ctx context.Context, t *testing.T, addr, token string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+addr+"/", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}
