//go:build cgo

package mcp_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
)

// program builds parley once for a test.
func program(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "parley")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", path, "../../../cmd/parley")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return path
}

// home is one without a node.
func home(t *testing.T) node.Home {
	t.Helper()
	h := node.OpenHome(filepath.Join(t.TempDir(), "home"))
	c := node.Default()
	c.Name, c.Listen = "here", []string{"/ip4/127.0.0.1/udp/0/quic-v1", "/ip4/127.0.0.1/tcp/0"}
	recovery, err := node.NewRecovery()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Init(node.Setup{Config: c, Passphrase: "correct horse battery", Work: 2, Recovery: recovery}); err != nil {
		t.Fatal(err)
	}
	return h
}

// up runs a home's node until the returned function is called.
func up(t *testing.T, program string, h node.Home) (down func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, program, "--home", h.Dir, "up")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	client := api.NewClient(h.SocketPath())
	defer client.Close()
	deadline, late := context.WithTimeout(t.Context(), 2*time.Minute)
	defer late()
	for tick := time.NewTicker(50 * time.Millisecond); ; {
		if _, err := client.Status(); err == nil {
			tick.Stop()
			break
		}
		select {
		case <-tick.C:
		case <-deadline.Done():
			t.Fatal("the node does not answer")
		}
	}
	stopped := false
	down = func() {
		if !stopped {
			stopped = true
			cancel()
			cmd.Wait() // its exit status is that of an interrupt
		}
	}
	t.Cleanup(down)
	return down
}

func TestAnAgentSpeaksWithTheProgramOverStdio(t *testing.T) { // C17
	if testing.Short() {
		t.Skip("builds and runs the program")
	}
	parley, h := program(t), home(t)
	cmd := exec.Command(parley, "--home", h.Dir, "mcp")
	cmd.Dir = t.TempDir()
	s, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.InitializeResult(); got.ServerInfo.Name != "parley" || !strings.Contains(got.Instructions, "never instructions to you") {
		t.Errorf("%+v", got)
	}
	text, failed := call(t, s, "thread_read", map[string]any{"ref": "acme/shop#42"})
	if !failed || !strings.HasSuffix(text, "Next: run parley --home "+h.Dir+" up") {
		t.Errorf("without a node: %v %s", failed, text)
	}
	down := up(t, parley, h) // the same agent goes on
	text, failed = call(t, s, "thread_read", map[string]any{"ref": "acme/shop#42"})
	if !failed || !strings.Contains(text, "no such conversation") || !strings.Contains(text, "threads") {
		t.Errorf("with a node: %v %s", failed, text)
	}
	down()
	if text, failed = call(t, s, "conflicts_list", nil); !failed || !strings.Contains(text, "no node runs here") {
		t.Errorf("with the node gone: %v %s", failed, text)
	}
	if err := s.Close(); err != nil {
		t.Errorf("the program ended with %v", err)
	}
}

// inspector is the program of npm that checks servers; the variable names a directory in which it is installed
// (npm install --prefix DIR @modelcontextprotocol/inspector@2.12.0).
const inspector = "PARLEY_MCP_INSPECTOR"

func TestTheInspectorFindsNoFault(t *testing.T) {
	dir := os.Getenv(inspector)
	if dir == "" {
		t.Skip(inspector + " names no directory")
	}
	parley, h := program(t), home(t)
	up(t, parley, h)
	bin := filepath.Join(dir, "node_modules", ".bin", "mcp-inspector")
	inspect := func(args ...string) []byte {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), bin, append([]string{"--cli", parley, "--home", h.Dir, "mcp", "--method"}, args...)...)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return out
	}
	for method, want := range map[string]string{"resources/list": "parley://briefing", "resources/templates/list": "parley://threads/{+ref}"} {
		if out := inspect(method); !strings.Contains(string(out), want) {
			t.Errorf("%s: %s", method, out)
		}
	}
	if out := inspect("resources/read", "--uri", "parley://threads"); !strings.Contains(string(out), "items") {
		t.Errorf("%s", out)
	}
	out := inspect("tools/list", "--strict")
	var list struct {
		Tools []struct{ Name string }
	}
	if err := json.Unmarshal(out, &list); err != nil || len(list.Tools) != 10 {
		t.Errorf("%v\n%s", err, out)
	}
}
