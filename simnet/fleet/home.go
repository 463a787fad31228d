package fleet

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/parley-mesh/parley/node"
)

func (s *Scene) home(name string) node.Home { return node.OpenHome(filepath.Join(s.dir, name, "home")) }

func (s *Scene) checkout(name string) string { return filepath.Join(s.dir, name, "checkout") }

// config is a computer's settings, but for its address and timers.
func (s *Scene) config(name string) node.Config {
	addr := s.ways[name].addr
	c := node.Default()
	c.Name, c.Demo = name, true
	c.GitHub = node.GitHubConfig{Host: "github.localhost", Addr: addr, Proxy: "http://" + addr, TokenFile: filepath.Join(s.dir, "token")}
	c.Desk.Argv, c.Desk.Env = []string{s.program, "{task}"}, []string{deskVariable + "=" + s.gaveUp()}
	c.Repositories = []node.RepositoryConfig{{Slug: slug, Checkout: s.checkout(name)}}
	return c
}

// wayOut is one computer's way to GitHub, for its API and for git. It can be cut.
type wayOut struct {
	addr string
	cut  atomic.Bool
}

func newWayOut(t *testing.T, to http.Handler) *wayOut {
	w := &wayOut{}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		if w.cut.Load() {
			panic(http.ErrAbortHandler) // the connection ends without an answer
		}
		to.ServeHTTP(rw, req)
	}))
	t.Cleanup(server.Close)
	w.addr = server.Listener.Addr().String()
	return w
}
