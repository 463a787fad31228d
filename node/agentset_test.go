package node

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/parley-mesh/parley/node/api"
)

func TestAnAgentOfTheSettingsNeedsACommand(t *testing.T) {
	for _, c := range []struct {
		name  string
		agent AgentConfig
		key   string // "" is well
	}{
		{"other", AgentConfig{Install: []string{"other", "hook", "{hook}"}}, ""},
		{"other", AgentConfig{Install: []string{"/bin/other"}, Check: []string{"test"}}, ""},
		{"other", AgentConfig{}, "agents.other"},
		{"other", AgentConfig{Install: []string{"./other"}}, "agents.other"},
		{"other", AgentConfig{Install: []string{"x"}, Remove: []string{""}}, "agents.other"},
		{"claude", AgentConfig{Install: []string{"x"}}, "agents.claude"},
		{"Other", AgentConfig{Install: []string{"x"}}, "agents.Other"},
		{"a/b", AgentConfig{Install: []string{"x"}}, "agents.a/b"},
	} {
		config := Default()
		config.Agents = map[string]AgentConfig{c.name: c.agent}
		err := config.Validate()
		if c.key == "" && err == nil {
			continue
		}
		if wrong, ok := err.(*ConfigError); !ok || wrong.Key != c.key {
			t.Errorf("%s %+v: %v", c.name, c.agent, err)
		}
	}
}

func TestACommandOfTheSettingsIsFilledIn(t *testing.T) {
	s := AgentSet{own: map[string]AgentConfig{"other": {Install: []string{"{hook}", "--run={hook} {agent} {home}", "{parley}", "{x}"}}}}
	s.o.Hook, s.o.Node, s.o.Parley = "/bin/h", "/home/n", "/bin/p"
	got := s.Command("other", "install")
	want := []string{"{hook}", "--run=/bin/h other /home/n", "/bin/p", "{x}"}
	if len(got) != len(want) {
		t.Fatalf("%q", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%q, want %q", got[i], want[i])
		}
	}
}

func TestTheNoteOfMissedHooksIsReadThroughWhatIsSpoiled(t *testing.T) {
	h := OpenHome(t.TempDir())
	if m, err := h.Missed(time.Time{}); err != nil || m != (Missed{}) {
		t.Errorf("%+v %v", m, err)
	}
	note := "1000 claude down\nspoiled\n\x00\xff\n3000 codex slow\n2000 gemini rubbish\nx y z\n4000 claude do"
	if err := os.WriteFile(filepath.Join(h.Dir, "hook-missed"), []byte(note), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := h.Missed(time.Unix(1500, 0))
	if err != nil || m != (Missed{Count: 2, Last: time.Unix(3000, 0), Agent: "codex", Why: "slow"}) {
		t.Errorf("%+v %v", m, err)
	}
}

func TestAgentsNeedAHome(t *testing.T) {
	if _, err := OpenHome(t.TempDir()).Agents(AgentOptions{}); api.Explain(err).Code != "no-home" {
		t.Error(err)
	}
}
