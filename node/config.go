package node

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/core"
)

// Config is what a person sets on one computer, config.toml in its home. Limits and deadlines of a
// conversation are constants of the contract and stand nowhere here.
type Config struct {
	// Name is what people call this computer, 1 to 64 bytes. Other computers of the fleet see it.
	Name string `toml:"name" comment:"What people call this computer."`
	// Listen is where other computers can reach this one: /ip4/ADDRESS/udp/PORT/quic-v1 or
	// /ip4/ADDRESS/tcp/PORT, or ip6. Port 0 takes any free one, another one at each start.
	Listen []string `toml:"listen" comment:"Where your other computers can reach this one; port 0 is any."`
	// Demo marks a demo's own home: shortened timers, and proofs without a passphrase. A node that is run
	// for real refuses such a home (D-24, D-32).
	Demo bool `toml:"demo,omitempty"`
	// Network is how the other computers are found and reached beyond their addresses.
	Network NetworkConfig `toml:"network" comment:"How your other computers are found and reached."`
	// GitHub is where the repositories are.
	GitHub GitHubConfig `toml:"github"`
	// Desk is the agent that handles the conversations on this computer.
	Desk DeskConfig `toml:"desk" comment:"The agent that settles conflicts here, unless parley route says otherwise; empty: none is woken."`
	// MCP serves agents' tools over HTTP, on this computer alone.
	MCP MCPConfig `toml:"mcp,omitempty"`
	// Metrics serves numbers to Prometheus, on this computer alone.
	Metrics MetricsConfig `toml:"metrics,omitempty"`
	// KeepClosedDays is how long all of a closed conversation is kept, in days, at least 30; 0 is 400. Its end is
	// kept for ever.
	KeepClosedDays int `toml:"keep_closed_days,omitempty" comment:"How many days all of a closed conversation is kept; its end is kept for ever."`
	// Page is the web page that parley open opens.
	Page PageConfig `toml:"page" comment:"The page of parley open."`
	// Timers are accepted in a demo's home only.
	Timers Timers `toml:"timers,omitempty"`
	// Agents are coding agents that parley does not know, by name.
	Agents map[string]AgentConfig `toml:"agents,omitempty"`
	// Repositories are the checkouts that are looked after, one for each repository (D-10).
	Repositories []RepositoryConfig `toml:"repository,omitempty"`
}

// RepositoryConfig binds one checkout to one repository.
type RepositoryConfig struct {
	Slug     string `toml:"slug"`     // owner/name on GitHub
	Checkout string `toml:"checkout"` // absolute path of the working tree
	// Base is the branch that pull requests go into; "" is the repository's default branch.
	Base string `toml:"base,omitempty"`
	// Test is a command and its arguments that judges, in a copy, the combination of own work and GitHub's
	// before the master sync takes it into the checkout (P0); empty: nothing is tested.
	Test []string `toml:"test,omitempty"`
}

// GitHubConfig is the one place that says how GitHub is reached, for its API and for git alike (D-23).
type GitHubConfig struct {
	// Host is github.com or a GitHub Enterprise host. Plain http is spoken to a loopback host alone.
	Host string `toml:"host"`
	// Addr, "host:port", is dialled in place of Host; "" dials Host.
	Addr string `toml:"addr,omitempty"`
	// CAFile holds certificates in PEM that are trusted besides the system's.
	CAFile string `toml:"ca_file,omitempty"`
	// Proxy is the URL of an HTTP proxy; "" uses none.
	Proxy string `toml:"proxy,omitempty"`
	// TokenFile holds a token that is used in place of the sign-in of gh, for tests and demos.
	TokenFile string `toml:"token_file,omitempty"`
}

// DeskConfig is the command that wakes the desk (D-29). It is run as it stands, never through a shell.
type DeskConfig struct {
	// Argv is the command and its arguments; empty: no session is routed here.
	Argv []string `toml:"argv" comment:"Command and arguments; the file with the task follows as the last one."`
	// Timeout ends a turn, at most 30 minutes; 0 is 30 minutes.
	Timeout Duration `toml:"timeout,omitempty"`
	// Env is added to the command's environment, KEY=VALUE.
	Env []string `toml:"env,omitempty"`
}

// Timers are other lengths than the contract's, for a demo (D-32). Zero keeps the contract's.
type Timers struct {
	Interim  Duration `toml:"interim,omitempty"`
	Final    Duration `toml:"final,omitempty"`
	Away     Duration `toml:"away,omitempty"`
	Restate  Duration `toml:"restate,omitempty"`
	Cleared  Duration `toml:"cleared,omitempty"`
	Unproven Duration `toml:"unproven,omitempty"`

	Scan      Duration `toml:"scan,omitempty"`
	Look      Duration `toml:"look,omitempty"`
	Idle      Duration `toml:"idle,omitempty"`
	Master    Duration `toml:"master,omitempty"`
	Retry     Duration `toml:"retry,omitempty"`
	Grace     Duration `toml:"grace,omitempty"`
	SyncEvery Duration `toml:"sync_every,omitempty"` // mean time between two catch-ups with a peer
}

// Duration is written as in "90s" or "24h".
type Duration struct{ time.Duration }

// MarshalText writes the form that UnmarshalText reads.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads "90s" or "24h".
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	if err == nil && v < 0 {
		err = fmt.Errorf("duration %s is negative", v)
	}
	d.Duration = v
	return err
}

// Default is a computer without repositories that listens on any port.
func Default() Config {
	name, err := os.Hostname()
	if err != nil || name == "" {
		name = "computer"
	}
	return Config{
		Name:    name[:min(len(name), nameBytesMax)],
		Listen:  []string{"/ip4/0.0.0.0/udp/0/quic-v1", "/ip4/0.0.0.0/tcp/0", "/ip6/::/udp/0/quic-v1", "/ip6/::/tcp/0"},
		Network: NetworkConfig{LAN: true, PortMap: true},
		GitHub:  GitHubConfig{Host: "github.com"},
		Desk:    DeskConfig{Timeout: Duration{turnMax}},
	}
}

const (
	nameBytesMax   = 64
	turnMax        = 30 * time.Minute // a turn's time (conversation rules)
	configBytesMax = 1 << 20
)

// ConfigError says where the settings are wrong. It is an [api.ErrConfig].
type ConfigError struct {
	File string
	Line int    // 0: not known
	Key  string // as written in the file, "" for none
	Why  string
}

// Error is file, line, key and cause.
func (e *ConfigError) Error() string {
	text := e.File
	if e.Line > 0 {
		text += ":" + strconv.Itoa(e.Line)
	}
	if e.Key != "" {
		text += ": " + e.Key
	}
	return text + ": " + e.Why
}

// Unwrap is [api.ErrConfig].
func (e *ConfigError) Unwrap() error { return api.ErrConfig }

// LoadConfig reads settings and validates them. An unknown key is refused, so that a misspelt setting is
// never silently without effect.
func LoadConfig(file string) (Config, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return Config{}, err
	}
	return parseConfig(file, text)
}

// parseConfig reads settings; file names where they are from.
func parseConfig(file string, text []byte) (Config, error) {
	if len(text) > configBytesMax {
		return Config{}, &ConfigError{File: file, Why: fmt.Sprintf("it has %d bytes, and settings have at most %d", len(text), configBytesMax)}
	}
	c := Default()
	c.Listen = nil // what the file lists replaces the default
	d := toml.NewDecoder(bytes.NewReader(text))
	if err := d.DisallowUnknownFields().Decode(&c); err != nil {
		return Config{}, decodeError(file, err)
	}
	if c.Listen == nil {
		c.Listen = Default().Listen
	}
	if err := c.Validate(); err != nil {
		if e, ok := errors.AsType[*ConfigError](err); ok {
			e.File = file
		}
		return Config{}, err
	}
	return c, nil
}

func decodeError(file string, err error) error {
	e := &ConfigError{File: file, Why: err.Error()}
	if unknown, ok := errors.AsType[*toml.StrictMissingError](err); ok && len(unknown.Errors) > 0 {
		first := &unknown.Errors[0]
		e.Line, _ = first.Position()
		e.Key, e.Why = strings.Join(first.Key(), "."), "unknown key"
	} else if wrong, ok := errors.AsType[*toml.DecodeError](err); ok {
		e.Line, _ = wrong.Position()
		e.Key, e.Why = strings.Join(wrong.Key(), "."), strings.TrimPrefix(wrong.Error(), "toml: ")
	}
	return e
}

// Write puts the settings into a file, whole or not at all, for their owner alone.
func (c Config) Write(file string) error {
	if err := c.Validate(); err != nil {
		return err
	}
	text, err := toml.Marshal(c)
	if err != nil {
		return err
	}
	return writePrivate(file, text)
}

var (
	slugForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+$`)
	hostForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.-]*$`)
)

// Validate returns the first thing that is wrong, as a [ConfigError].
func (c Config) Validate() error {
	bad := func(key, format string, args ...string) error {
		quoted := make([]any, len(args))
		for i, a := range args {
			quoted[i] = a
		}
		return &ConfigError{File: ConfigFile, Key: key, Why: fmt.Sprintf(format, quoted...)}
	}
	if n := len(c.Name); n == 0 || n > nameBytesMax || strings.ContainsFunc(c.Name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return bad("name", "want 1 to 64 bytes that can be printed")
	}
	if len(c.Listen) == 0 {
		return bad("listen", "want at least one address")
	}
	for _, l := range c.Listen {
		if _, err := parseListen(l); err != nil {
			return bad("listen", "%q: %s", l, err.Error())
		}
	}
	if c.KeepClosedDays != 0 && c.KeepClosedDays < 30 {
		return bad("keep_closed_days", "want 30 or more, or 0 for 400")
	}
	if c.Timers != (Timers{}) && !c.Demo {
		return bad("timers", "deadlines are fixed by the contract; only a demo's home may set them")
	}
	if d := c.Desk; len(d.Argv) > 0 && d.Argv[0] == "" || d.Timeout.Duration > turnMax {
		return bad("desk", "want a command, and a timeout of at most %s", turnMax.String())
	}
	if c.Page.Port < 0 || c.Page.Port > 65535 {
		return bad("page.port", "want 0 to 65535")
	}
	for _, e := range c.Desk.Env {
		if key, _, ok := strings.Cut(e, "="); !ok || key == "" {
			return bad("desk.env", "%q: want KEY=VALUE", e)
		}
	}
	if err := validateAgents(c.Agents, bad); err != nil {
		return err
	}
	if err := c.Network.validate(bad); err != nil {
		return err
	}
	if err := c.GitHub.validate(bad); err != nil {
		return err
	}
	if err := errors.Join(c.MCP.validate(bad), c.Metrics.validate(bad)); err != nil {
		return err
	}
	return c.validateRepositories(bad)
}

type badFunc func(key, format string, args ...string) error

func (g GitHubConfig) validate(bad badFunc) error {
	if !hostForm.MatchString(g.Host) {
		return bad("github.host", "%q: want a host such as github.com", g.Host)
	}
	if _, _, err := net.SplitHostPort(g.Addr); g.Addr != "" && err != nil {
		return bad("github.addr", "%q: want host:port", g.Addr)
	}
	if u, err := url.Parse(g.Proxy); g.Proxy != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
		return bad("github.proxy", "%q: want http://host:port", g.Proxy)
	}
	for _, f := range []struct{ key, file string }{{"github.ca_file", g.CAFile}, {"github.token_file", g.TokenFile}} {
		if f.file != "" && !filepath.IsAbs(f.file) {
			return bad(f.key, "%q: want an absolute path", f.file)
		}
	}
	return nil
}

func (c Config) validateRepositories(bad badFunc) error {
	var slugs, checkouts []string
	for i, r := range c.Repositories {
		key := "repository " + strconv.Itoa(i+1)
		slug := strings.ToLower(r.Slug)
		switch {
		case !slugForm.MatchString(r.Slug) || strings.HasSuffix(r.Slug, "/.") || strings.HasSuffix(r.Slug, "/.."):
			return bad(key+": slug", "%q: want owner/name", r.Slug)
		case slices.Contains(slugs, slug):
			return bad(key+": slug", "%q: one checkout is bound to a repository, and this is the second", r.Slug)
		case !filepath.IsAbs(r.Checkout):
			return bad(key+": checkout", "%q: want an absolute path", r.Checkout)
		case slices.Contains(checkouts, filepath.Clean(r.Checkout)):
			return bad(key+": checkout", "%q: is bound to another repository already", r.Checkout)
		case strings.HasPrefix(r.Base, "-") || strings.ContainsAny(r.Base, " ~^:?*[\\\x7f"):
			return bad(key+": base", "%q: want a branch name", r.Base)
		case len(r.Test) > 0 && r.Test[0] == "":
			return bad(key+": test", "want a command")
		}
		slugs, checkouts = append(slugs, slug), append(checkouts, filepath.Clean(r.Checkout))
	}
	return nil
}

// shortened reports whether deadlines are other than the contract's, which the program must say (D-32).
func (t Timers) shortened() bool { return t != Timers{} }

// contract is the conversation's lengths with the demo's in their place.
func (t Timers) contract() thread.Timers {
	c := thread.Contract()
	for _, l := range []struct {
		to *time.Duration
		by Duration
	}{
		{&c.Interim, t.Interim},
		{&c.Final, t.Final},
		{&c.Away, t.Away},
		{&c.Restate, t.Restate},
		{&c.Cleared, t.Cleared},
		{&c.Unproven, t.Unproven},
	} {
		if l.by.Duration > 0 {
			*l.to = l.by.Duration
		}
	}
	return c
}

// every is how often things are looked at, with the demo's lengths in their place.
func (t Timers) every() core.Every {
	e := core.Ordinary()
	for _, l := range []struct {
		to *time.Duration
		by Duration
	}{
		{&e.Scan, t.Scan},
		{&e.Look, t.Look},
		{&e.Idle, t.Idle},
		{&e.Master, t.Master},
		{&e.Retry, t.Retry},
		{&e.Grace, t.Grace},
	} {
		if l.by.Duration > 0 {
			*l.to = l.by.Duration
		}
	}
	return e
}
