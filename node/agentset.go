package node

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/internal/install"
)

// AgentConfig is a coding agent that parley does not know, by the commands that set it up. {hook} stands for the
// program that its hooks must start, {agent} and {home} for that program's two arguments, {parley} for this one.
// The hook speaks JSON: an event in, a decision out. No command is run through a shell.
type AgentConfig struct {
	Install []string `toml:"install"`          // puts the hook into the agent's settings
	Remove  []string `toml:"remove,omitempty"` // takes it out
	Check   []string `toml:"check,omitempty"`  // ends well while it is there
}

var agentForm = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)

func validateAgents(all map[string]AgentConfig, bad badFunc) error {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		key := "agents." + name
		switch a := all[name]; {
		case !agentForm.MatchString(name):
			return bad(key, "want a name of at most 32 lower-case letters, digits and dashes")
		case slices.Contains(install.Names, name):
			return bad(key, "parley knows this agent: it needs no commands")
		case len(a.Install) == 0:
			return bad(key, "want the command that installs the hook")
		default:
			for _, argv := range [][]string{a.Install, a.Remove, a.Check} {
				if len(argv) > 0 && (argv[0] == "" || strings.ContainsAny(argv[0], `/\`) && !filepath.IsAbs(argv[0])) {
					return bad(key, "%q: want a program's name or its absolute path", argv[0])
				}
			}
		}
	}
	return nil
}

// AgentChange is what becomes of one file of an agent's settings.
type AgentChange = install.Change

// AgentFinding is what was found out about one agent's settings.
type AgentFinding = install.Finding

// AgentOptions say which settings are meant. The zero value: the person's own, with the hook beside this program.
type AgentOptions struct {
	Project string // settings of the project in this directory
	Hook    string // the program that hooks start
	Trust   bool   // trust parley's hooks for Codex, in a person's place
	Gone    bool   // the home need not be set up (any more): to take out what belongs to it
}

// AgentSet sets coding agents up to ask this home's node.
type AgentSet struct {
	o       install.Options
	planner *install.Planner
	own     map[string]AgentConfig
}

// Agents opens the settings of the coding agents on this computer.
func (h Home) Agents(o AgentOptions) (*AgentSet, error) {
	config, err := h.Config()
	if err != nil && !o.Gone {
		return nil, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	parley, hook, err := programs()
	if err != nil {
		return nil, err
	}
	if o.Hook != "" {
		if hook, err = filepath.Abs(o.Hook); err != nil {
			return nil, err
		}
	}
	s := &AgentSet{own: config.Agents, o: install.Options{
		Home: home, Node: h.Dir, Own: DefaultHome().Dir, Hook: hook, Parley: parley, Server: []string{"mcp"}, Env: os.Getenv, TOML: readTOML, Trust: o.Trust,
	}}
	if h.Dir != DefaultHome().Dir {
		s.o.Server = []string{"--home", h.Dir, "mcp"}
	}
	if o.Project != "" {
		if s.o.Project, err = projectDir(o.Project); err != nil {
			return nil, err
		}
	}
	s.planner = install.NewPlanner(s.o)
	return s, nil
}

func projectDir(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = errors.New("is no directory")
	}
	if err != nil {
		return "", fmt.Errorf("project %s: %w: %v", dir, api.ErrUsage, err)
	}
	return dir, nil
}

func readTOML(text []byte) (map[string]any, error) {
	var m map[string]any
	err := toml.Unmarshal(text, &m)
	return m, err
}

// programs are this program and the hook beside it, by names that outlive an update where there are such: the
// name in PATH before the file that it leads to.
func programs() (parley, hook string, err error) {
	if parley, err = os.Executable(); err != nil {
		return "", "", err
	}
	if named, err := exec.LookPath("parley"); err == nil && filepath.IsAbs(named) && sameFile(named, parley) {
		parley = named
	}
	name := "parley-hook"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	hook = filepath.Join(filepath.Dir(parley), name)
	if real, err := filepath.EvalSymlinks(parley); err == nil {
		if _, err := os.Stat(hook); err != nil {
			hook = filepath.Join(filepath.Dir(real), name)
		}
	}
	return parley, hook, nil
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// Names are the agents that are meant when none is named: those whose settings are on this computer, and those of
// the settings.
func (s *AgentSet) Names() []string {
	var out []string
	for _, name := range install.Names {
		if s.o.Found(name) {
			out = append(out, name)
		}
	}
	return append(out, slices.Sorted(maps.Keys(s.own))...)
}

// All are the agents that parley knows, and those of the settings.
func (s *AgentSet) All() []string {
	return append(slices.Clone(install.Names), slices.Sorted(maps.Keys(s.own))...)
}

// Known reports whether a name is one of [AgentSet.All].
func (s *AgentSet) Known(name string) bool { return slices.Contains(s.All(), name) }

// HookPath is the program that hooks start; an error when it is not there.
func (s *AgentSet) HookPath() (string, error) {
	if _, err := os.Stat(s.o.Hook); err != nil {
		err := fmt.Errorf("the program that hooks start: %w", err)
		return "", api.WithHint(err, "put parley-hook beside parley, or name it with --hook")
	}
	return s.o.Hook, nil
}

// Install plans to set an agent up; nothing is written before [AgentChange.Apply]. What was planned before counts
// as done. An agent of the settings has no files: its command is run by [AgentSet.Run].
func (s *AgentSet) Install(name string) ([]AgentChange, error) {
	return s.plan(name, s.planner.Install)
}

// Others are the homes on this computer besides this one that an agent asks.
func (s *AgentSet) Others(name string) []string { return s.o.Others(name) }

// Remove plans to take what belongs to this home out of an agent's settings.
func (s *AgentSet) Remove(name string) ([]AgentChange, error) { return s.plan(name, s.planner.Remove) }

func (s *AgentSet) plan(name string, how func(string) ([]AgentChange, error)) ([]AgentChange, error) {
	if _, own := s.own[name]; own {
		return nil, nil
	}
	return how(name)
}

// Command is what an agent of the settings is set up ("install"), freed ("remove") or checked ("check") with;
// empty for every other agent.
func (s *AgentSet) Command(name, what string) []string {
	c := s.own[name]
	argv := map[string][]string{"install": c.Install, "remove": c.Remove, "check": c.Check}[what]
	fill := strings.NewReplacer("{hook}", s.o.Hook, "{agent}", name, "{home}", s.o.Node, "{parley}", s.o.Parley)
	out := slices.Clone(argv)
	for i := range out {
		if i > 0 {
			out[i] = fill.Replace(out[i])
		}
	}
	return out
}

// agentCommandTime is how long a command of the settings may take.
const agentCommandTime = time.Minute

// Run carries out such a command.
func (s *AgentSet) Run(ctx context.Context, name, what string) error {
	argv := s.Command(name, what)
	if len(argv) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, agentCommandTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		return fmt.Errorf("%s %s: %s: %w: %.200s", what, name, argv[0], err, line)
	}
	return nil
}

// Check looks at one agent's settings.
func (s *AgentSet) Check(ctx context.Context, name string) AgentFinding {
	c, own := s.own[name]
	if !own {
		return s.o.Check(name)
	}
	f := AgentFinding{Agent: name, State: install.Whole, Text: "its own check ended well"}
	if len(c.Check) == 0 {
		f.Text = "its settings name no check"
	} else if err := s.Run(ctx, name, "check"); err != nil {
		f.State, f.Text, f.Mend = install.Stale, err.Error(), "run parley agents install "+name
	}
	return f
}
