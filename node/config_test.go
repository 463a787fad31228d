package node

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/core"
)

const goodConfig = `name = "studio"
listen = ["/ip4/127.0.0.1/udp/0/quic-v1", "/ip6/::1/tcp/4001"]

[github]
host = "github.com"

[desk]
argv = ["desk", "--task"]
timeout = "10m"
env = ["LANG=C"]

[[repository]]
slug = "acme/shop"
checkout = "/home/kim/shop"
base = "main"
`

func load(t *testing.T, text string) (Config, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), ConfigFile)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return LoadConfig(file)
}

func TestSettingsSurviveWritingAndReading(t *testing.T) {
	first, err := load(t, goodConfig)
	if err != nil {
		t.Fatal(err)
	}
	if r := first.Repositories[0]; r.Slug != "acme/shop" || r.Base != "main" || first.Desk.Timeout.Duration != 10*time.Minute {
		t.Errorf("read %+v", first)
	}
	first.Demo, first.Timers.Interim = true, Duration{5 * time.Second}

	file := filepath.Join(t.TempDir(), ConfigFile)
	if err := first.Write(file); err != nil {
		t.Fatal(err)
	}
	second, err := LoadConfig(file)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(first, second) {
		t.Errorf("wrote %+v\nread  %+v", first, second)
	}
	if info, _ := os.Stat(file); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, want 0600", info.Mode())
	}
}

func TestDefaultSettingsAreValid(t *testing.T) {
	if err := Default().Validate(); err != nil {
		t.Error(err)
	}
	empty, err := load(t, "")
	if err != nil || !reflect.DeepEqual(empty, Default()) {
		t.Errorf("an empty file: %+v, %v", empty, err)
	}
}

func TestASpoiledSettingIsNamedWithItsPlace(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"unknown key", `timeout = "10m"`, `tiemout = "10m"`, `config.toml:9: desk.tiemout: unknown key`},
		{"unknown table", `[desk]`, `[dsek]`, `config.toml:7: dsek: unknown key`},
		{"syntax", `name = "studio"`, `name = studio`, `config.toml:1: `},
		{"wrong type", `name = "studio"`, `name = 7`, `config.toml:1: name: `},
		{"wrong duration", `"10m"`, `"ten minutes"`, `config.toml:9: desk.timeout: `},
		{"negative duration", `"10m"`, `"-1s"`, `is negative`},
		{"long turn", `"10m"`, `"31m"`, `config.toml: desk: `},
		{"no name", `"studio"`, `""`, `config.toml: name: `},
		{"control in name", `"studio"`, `"stu\u0007dio"`, `config.toml: name: `},
		{"listen form", `/tcp/4001`, `/sctp/4001`, `config.toml: listen: "/ip6/::1/sctp/4001"`},
		{"listen family", `/ip6/::1/`, `/ip6/127.0.0.1/`, `config.toml: listen: `},
		{"listen port", `4001`, `70000`, `config.toml: listen: `},
		{"udp without quic", `udp/0/quic-v1`, `udp/0`, `config.toml: listen: `},
		{"nowhere to listen", `listen = ["/ip4/127.0.0.1/udp/0/quic-v1", "/ip6/::1/tcp/4001"]`, `listen = []`, `config.toml: listen: want at least one`},
		{"host", `"github.com"`, `"https://github.com/"`, `config.toml: github.host: `},
		{"addr", `host = "github.com"`, `addr = "localhost"`, `config.toml: github.addr: `},
		{"proxy", `host = "github.com"`, `proxy = "proxy:3128"`, `config.toml: github.proxy: `},
		{"ca file", `host = "github.com"`, `ca_file = "ca.pem"`, `config.toml: github.ca_file: `},
		{"env", `"LANG=C"`, `"LANG"`, `config.toml: desk.env: `},
		{"slug", `"acme/shop"`, `"shop"`, `config.toml: repository 1: slug: "shop"`},
		{"slug climbs", `"acme/shop"`, `"acme/.."`, `config.toml: repository 1: slug: `},
		{"checkout", `"/home/kim/shop"`, `"shop"`, `config.toml: repository 1: checkout: `},
		{"base", `"main"`, `"--upload-pack=x"`, `config.toml: repository 1: base: `},
		{"twice", `base = "main"`, "\n[[repository]]\nslug = \"Acme/Shop\"\ncheckout = \"/other\"", `config.toml: repository 2: slug: `},
		{"one checkout", `base = "main"`, "\n[[repository]]\nslug = \"acme/till\"\ncheckout = \"/home/kim/shop/\"", `config.toml: repository 2: checkout: `},
		{"relay", `[desk]`, "[network]\nrelays = [\"/ip4/203.0.113.5/tcp/1\"]\n\n[desk]", `config.toml: network.relays: `},
		{"timers", `[desk]`, "[timers]\ninterim = \"5s\"\n\n[desk]", `config.toml: timers: `}, // D-32
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(goodConfig, c.old, c.new, 1)
			if text == goodConfig {
				t.Fatal("the fault was not put in")
			}
			_, err := load(t, text)
			if err == nil || !strings.Contains(err.Error(), c.want) || !errors.Is(err, api.ErrConfig) {
				t.Errorf("%v, want %s", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %v", err)
			}
		})
	}
}

func TestOnlyADemoHomeShortensTimers(t *testing.T) { // D-32
	c, err := load(t, "demo = true\n[timers]\ninterim = \"5s\"\nscan = \"2s\"\n")
	if err != nil {
		t.Fatal(err)
	}
	if !c.Timers.shortened() || c.Timers.contract().Interim != 5*time.Second || c.Timers.every().Scan != 2*time.Second {
		t.Errorf("%+v", c.Timers)
	}
	if c.Timers.contract().Final != thread.Contract().Final || c.Timers.every().Look != core.Ordinary().Look {
		t.Error("a length that is not set differs from the contract's")
	}
	if none := (Timers{}); none.shortened() || none.contract() != thread.Contract() || none.every() != core.Ordinary() {
		t.Error("no timers are not the contract's")
	}
}

func TestATakenPortIsFoundBeforeItIsNeeded(t *testing.T) {
	udp, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	_, port, _ := net.SplitHostPort(udp.LocalAddr().String())
	c := Default()
	if err := c.CheckPorts(); err != nil {
		t.Errorf("any port: %v", err)
	}
	c.Listen = []string{"/ip4/127.0.0.1/udp/" + port + "/quic-v1"}
	if err := c.CheckPorts(); !errors.Is(err, api.ErrPortTaken) || !strings.Contains(err.Error(), port) {
		t.Errorf("%v, want ErrPortTaken with the port", err)
	}
}

func TestSettingsThatAreTooLongAreRefusedWhole(t *testing.T) {
	long := goodConfig + strings.Repeat("# a note\n", configBytesMax/9)
	if _, err := load(t, long+"base = \"other\"\n"); !errors.Is(err, api.ErrConfig) || !strings.Contains(err.Error(), "at most 1048576") {
		t.Errorf("%v", err)
	}
	if _, err := load(t, long[:configBytesMax]); err != nil {
		t.Errorf("the longest: %v", err)
	}
}
