package api_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/parley-mesh/parley/node/internal/install"
)

// realAgents names the variable with the directory in which npm has installed the real programs. They are not
// part of the ordinary run: they are hundreds of megabytes.
const realAgents = "PARLEY_REAL_AGENTS"

// realTime is for one turn of a real program; opencode installs things at its first start.
const realTime = 8 * time.Minute

// real is one agent, set up by parley in a home of its own.
type real struct {
	home, repo string
	model      *model
	program    string
	env        []string
	failed     atomic.Bool // parley was told of an edit that failed
}

// agentAt installs parley for a real program whose model wants to write a file of this name.
func agentAt(t *testing.T, name, file string) *real {
	t.Helper()
	dir := os.Getenv(realAgents)
	if dir == "" {
		t.Skip("set " + realAgents + " to a directory where npm has installed the agents")
	}
	program := filepath.Join(dir, "node_modules", ".bin", name)
	if _, err := os.Stat(program); err != nil {
		t.Skip(err)
	}
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &real{home: home, repo: filepath.Join(home, "repo"), program: program}
	r.model = newModel(t, filepath.Join(r.repo, file))
	r.env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "NO_PROXY=127.0.0.1"}
	if err := os.MkdirAll(r.repo, 0o700); err != nil {
		t.Fatal(err)
	}
	if name == install.Gemini { // with a model elsewhere it wants to be told how to sign in
		settings := filepath.Join(home, ".gemini", "settings.json")
		if err := os.Mkdir(filepath.Dir(settings), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(settings, []byte(`{"security": {"auth": {"selectedType": "gemini-api-key"}}}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", r.repo).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	o := install.Options{
		Home: home, Node: judging(t, opinions{&r.failed}), Hook: hookProgram(t), Parley: "/bin/false", Server: []string{}, Trust: true,
		Env: func(string) string { return "" },
		TOML: func(text []byte) (m map[string]any, err error) {
			return m, toml.Unmarshal(text, &m)
		},
	}
	changes, err := install.NewPlanner(o).Install(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		if err := c.Apply(); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// turn lets the program work once.
func (r *real) turn(t *testing.T, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), realTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, r.program, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = r.repo, r.env, time.Second
	out, err := cmd.CombinedOutput()
	t.Logf("%v\n%.4000s", err, out)
}

func (r *real) made(file string) bool {
	_, err := os.Stat(filepath.Join(r.repo, file))
	return err == nil
}

// holds proves for one program that a block keeps the file away and reaches the model, and that a warning does
// neither keep it away nor get lost.
func holds(t *testing.T, name string, turn func(r *real)) {
	r := agentAt(t, name, "blocked")
	turn(r)
	if r.made("blocked") || !r.model.saw("maya holds ") {
		t.Errorf("a block: made %v, told %v", r.made("blocked"), r.model.saw("maya holds "))
	}
	r = agentAt(t, name, "near")
	turn(r)
	if !r.made("near") || !r.model.saw("maya edits beside ") {
		t.Errorf("a warning: made %v, told %v", r.made("near"), r.model.saw("maya edits beside "))
	}
}

// failing proves for one program that parley is told of an edit that failed. Nothing but the writing itself may fail, since
// what a program finds wrong beforehand is no edit to it; and root may write anywhere but where nobody may.
func failing(t *testing.T, name string, turn func(r *real)) {
	r := agentAt(t, name, filepath.Join("locked", "file"))
	dir := filepath.Join(r.repo, "locked")
	if err := os.Mkdir(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		if out, err := exec.CommandContext(t.Context(), "chattr", "+i", dir).CombinedOutput(); err != nil {
			t.Logf("no folder can be locked against root here: %v %s", err, out)
			return
		}
		t.Cleanup(func() {
			if out, err := exec.CommandContext(context.Background(), "chattr", "-i", dir).CombinedOutput(); err != nil {
				t.Errorf("unlock %s: %v %s", dir, err, out)
			}
		})
	}
	if turn(r); !r.failed.Load() {
		t.Errorf("parley is not told of an edit that failed\n%s", r.model.outcome())
	}
}

func TestTheRealClaudeCodeAsksParley(t *testing.T) {
	turn := func(r *real) {
		r.env = append(r.env, "ANTHROPIC_BASE_URL="+r.model.URL, "ANTHROPIC_API_KEY=stand-in", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1")
		r.turn(t, "-p", "write the file", "--output-format", "json", "--permission-mode", "acceptEdits", "--max-turns", "5")
	}
	holds(t, "claude", turn)
	failing(t, "claude", turn)
}

func TestTheRealCodexAsksParley(t *testing.T) {
	holds(t, "codex", func(r *real) {
		r.env = append(r.env, "STAND_IN=stand-in")
		r.turn(t, "exec", "--model", "gpt-5.5", "--skip-git-repo-check", "--sandbox", "danger-full-access", "-c", `approval_policy="never"`,
			"-c", `model_provider="stand"`, "-c", `model_providers.stand={name="stand",base_url="`+r.model.URL+`/v1",env_key="STAND_IN",wire_api="responses"}`,
			"write the file")
	})
}

func TestTheRealGeminiAsksParley(t *testing.T) {
	turn := func(r *real) {
		r.env = append(r.env, "GEMINI_API_KEY=stand-in", "GOOGLE_GEMINI_BASE_URL="+r.model.URL, "GEMINI_CLI_TRUST_WORKSPACE=true")
		r.turn(t, "-p", "write the file", "-o", "json", "--model", "gemini-2.5-flash", "--approval-mode", "auto_edit", "--skip-trust")
	}
	holds(t, "gemini", turn)
	failing(t, "gemini", turn)
}

func TestTheRealOpenCodeAsksParley(t *testing.T) {
	turn := func(r *real) {
		r.env = append(r.env, `OPENCODE_CONFIG_CONTENT={"provider":{"stand":{"npm":"@ai-sdk/anthropic","options":{"baseURL":"`+r.model.URL+
			`/v1","apiKey":"stand-in"},"models":{"m1":{"tool_call":true}}}},"model":"stand/m1","small_model":"stand/m1","permission":{"edit":"allow"},"autoupdate":false}`)
		r.turn(t, "run", "--format", "json", "write the file")
	}
	holds(t, "opencode", turn)
	failing(t, "opencode", turn)
}
