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
