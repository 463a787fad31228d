package fleet

import (
	"os"
	"path/filepath"

	"github.com/parley-mesh/parley/node"
)

func (s *Scene) home(name string) node.Home { return node.OpenHome(filepath.Join(s.dir, name, "home")) }

func (s *Scene) checkout(name string) string { return filepath.Join(s.dir, name, "checkout") }

// config is what every computer's settings have in common.
func (s *Scene) config() node.Config {
	c := node.Default()
	c.Demo = true
	c.GitHub = node.GitHubConfig{Host: "github.localhost", Addr: s.addr, Proxy: "http://" + s.addr, TokenFile: filepath.Join(s.dir, "token")}
	program, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	c.Desk.Argv, c.Desk.Env = []string{program, "{task}"}, []string{deskVariable + "=1"}
	return c
}
