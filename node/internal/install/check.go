package install

import (
	"errors"
	"fmt"
	"os"
)

// State is what was found out about one agent.
type State string

// The states. Only the first three are as they should be.
const (
	Whole     State = "ok"
	Absent    State = "absent"    // nothing of parley is there
	Other     State = "other"     // it asks another home, and not this one
	Stale     State = "stale"     // something is there, but not all or not as it should be
	Lost      State = "lost"      // a program that the settings name is not there
	Untrusted State = "untrusted" // the agent passes over the hooks until a person trusts them
	Spoiled   State = "spoiled"   // the settings cannot be read
)

// Finding is what was found out about one agent.
type Finding struct {
	Agent string `json:"agent"`
	State State  `json:"state"`
	Text  string `json:"text"`
	Mend  string `json:"mend,omitempty"` // what mends it
}

// OK reports whether there is nothing to mend.
func (f Finding) OK() bool { return f.State == Whole || f.State == Absent || f.State == Other }

// Check looks at the settings of one agent without changing them.
func (o Options) Check(agent string) Finding {
	f := Finding{Agent: agent, Mend: "run " + o.verb("install", agent)}
	o.Trust = false
	p := NewPlanner(o)
	changes, err := p.Install(agent)
	if err != nil {
		f.State, f.Text, f.Mend = Spoiled, err.Error(), "correct that file, then run "+o.verb("install", agent)
		return f
	}
	if others := o.Others(agent); len(others) > 0 {
		return o.besides(f, agent, others[0])
	}
	if !NewPlanner(o).present(agent, o.every()) {
		f.State, f.Text = Absent, "parley is not set up there"
		return f
	}
	for _, c := range changes {
		if !c.Same() {
			f.State, f.Text = Stale, c.What+" in "+c.Path+": not as it should be"
			return f
		}
	}
	for _, program := range []string{o.Hook, o.Parley} {
		if err := runnable(program); err != nil {
			f.State, f.Text, f.Mend = Lost, err.Error(), "install parley again, then run "+o.verb("install", agent)
			return f
		}
	}
	if agent == Codex {
		if missing := o.untrusted(p); missing > 0 {
			f.State = Untrusted
			f.Text = fmt.Sprintf("%d of %d hooks are not trusted: Codex passes over them without a word", missing, len(codexHooks))
			f.Mend = "start codex and trust them in /hooks, or run " + o.verb("install", agent) + " --trust"
			return f
		}
	}
	f.State, f.Text, f.Mend = Whole, "hooks, MCP server and skills are in place", ""
	return f
}

func (o Options) verb(verb, agent string) string {
	out := "parley agents " + verb + " " + agent
	if o.Project != "" {
		out += " --project " + shellWord(o.Project)
	}
	return out
}

func runnable(program string) error {
	info, err := os.Stat(program)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%s is not there", program)
	case err != nil:
		return err
	case info.IsDir() || info.Mode().Perm()&0o111 == 0 && os.PathSeparator == '/':
		return fmt.Errorf("%s cannot be run", program)
	}
	return nil
}

// untrusted counts the hooks that Codex passes over.
func (o Options) untrusted(p *Planner) int {
	dir := o.dir(Codex)
	text, _ := p.now(join(dir, "config.toml"))
	config, err := o.TOML([]byte(text))
	if err != nil {
		return len(codexHooks)
	}
	path := join(dir, "hooks.json")
	hooks, _ := p.now(path)
	all, err := o.codexTrust(hooks, path)
	if err != nil {
		return len(codexHooks)
	}
	missing := len(codexHooks) - len(all)
	for _, t := range all {
		if trustedHash(config, t.key) != t.hash {
			missing++
		}
	}
	return missing
}
