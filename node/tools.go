package node

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/api/mcp"
)

// MCPConfig is where agents on this computer find the tools over HTTP, beside parley mcp.
type MCPConfig struct {
	// Listen is a loopback address such as 127.0.0.1:7337, with port 0 for any; "" serves nothing.
	Listen string `toml:"listen,omitempty"`
}

// on reports whether anything is served.
func (c MCPConfig) on() bool { return c.Listen != "" }

func (c MCPConfig) validate(bad badFunc) error {
	if c.on() && !onLoopback(c.Listen) {
		return bad("mcp.listen", "%q: want a loopback address and a port, such as 127.0.0.1:7337", c.Listen)
	}
	return nil
}

// MCPTokenPath is the file of the token that opens the tools over HTTP. The first node that serves them makes it.
func (h Home) MCPTokenPath() string { return h.path("mcp.token") }

// mcpToken reads the token, or makes it.
func (h Home) mcpToken() (string, error) {
	file := h.MCPTokenPath()
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		fresh := make([]byte, 32)
		rand.Read(fresh) // never fails
		text = []byte(hex.EncodeToString(fresh) + "\n")
		err = writePrivate(file, text)
	}
	if err == nil {
		err = h.closed(file)
	}
	token := strings.TrimSpace(string(text))
	if err == nil && len(token) < 32 {
		err = fmt.Errorf("%s: %w: the token is shorter than 32 characters; remove the file for a new one", file, api.ErrHomeSpoiled)
	}
	return token, err
}

// toolsPatience is how long a call over HTTP may take: as long as the node's own answer.
const toolsPatience = time.Minute

// toolServer serves agents' tools over HTTP, or numbers.
type toolServer struct {
	addr   net.Addr
	client *api.Client // of the tools; nil for numbers
	server *http.Server
	ended  chan error
}

// serveTools begins to serve, where the settings ask for it; else nil.
func (n *Node) serveTools(ctx context.Context, home Home) (*toolServer, error) {
	if !n.cfg.MCP.on() {
		return nil, nil
	}
	token, err := home.mcpToken()
	if err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", n.cfg.MCP.Listen)
	if err != nil {
		return nil, fmt.Errorf("serve tools: %w: %v", api.ErrPortTaken, err)
	}
	t := &toolServer{addr: listener.Addr(), client: api.NewClient(home.SocketPath()), ended: make(chan error, 1)}
	t.server = &http.Server{
		Handler:           mcp.New(mcp.Options{Client: t.client, Version: Version()}).Handler(token, hostsOf(t.addr)),
		ReadHeaderTimeout: toolsPatience, ReadTimeout: toolsPatience, WriteTimeout: toolsPatience, IdleTimeout: toolsPatience,
	}
	go func() { t.ended <- t.server.Serve(listener) }()
	return t, nil
}

// close ends the calls that run.
func (t *toolServer) close() error {
	if t == nil {
		return nil
	}
	err := t.server.Close()
	if served := <-t.ended; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	if t.client != nil {
		err = errors.Join(err, t.client.Close())
	}
	return err
}

// hostsOf are the names that a request from this computer gives the server.
func hostsOf(a net.Addr) []string {
	hosts := []string{a.String()}
	if _, port, err := net.SplitHostPort(a.String()); err == nil {
		hosts = append(hosts, net.JoinHostPort("localhost", port))
	}
	return hosts
}
