package agents

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func template(t *testing.T, act string, args ...string) Template {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Template{Argv: append([]string{self}, args...), Timeout: time.Minute, Env: []string{actVariable + "=" + act}, Grace: 50 * time.Millisecond}
}

func someTask(t *testing.T, kind Kind) Task {
	return Task{
		Kind: kind, Repository: Repository{Host: "github.com", Slug: "shop/api", ID: 7}, Thread: "th1", Pull: 42, Base: "master",
		Files: []File{NewFile("a b.go", "100644", "01", "02", "03"), NewFile("caf\xe9.txt", "100755", "", "04", "05")},
		Turn:  1, Turns: 3, Deadline: time.Now().Add(time.Minute), Head: "aa", Tip: "bb", Scratch: t.TempDir(),
	}
}

func TestRunHandsOverTheTask(t *testing.T) { // D-29
	for _, name := range []string{
		"CLAUDECODE", "CLAUDE_CODE_X", "CODEX_HOME", "GEMINI_KEY", "GH_TOKEN", "GITHUB_TOKEN",
		"GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "GIT_DIR",
	} {
		t.Setenv(name, "secret")
	}
	t.Setenv("SSH_AUTH_SOCK", "kept")
	dir, out := t.TempDir(), filepath.Join(t.TempDir(), "seen")
	task := someTask(t, Decide)
	tpl := template(t, "look:"+out, "--thread={thread}", "{scratch}", "{result}", "{other}")
	tpl.Env = append(tpl.Env, "GEMINI_KEY=on purpose")
	if _, err := Run(t.Context(), tpl, task, dir); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var s seen
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	result := filepath.Join(dir, resultName)
	if want := []string{"--thread=th1", task.Scratch, result, "{other}", filepath.Join(dir, taskName)}; !slices.Equal(s.Args, want) {
		t.Errorf("arguments %q, want %q", s.Args, want)
	}
	if real, _ := filepath.EvalSymlinks(task.Scratch); s.Dir != task.Scratch && s.Dir != real || s.Stdin != "" {
		t.Errorf("ran in %q with input %q", s.Dir, s.Stdin)
	}
	if joined := strings.Join(s.Env, "\n"); strings.Contains(joined, "=secret") || !strings.Contains(joined, "SSH_AUTH_SOCK=kept") ||
		!strings.Contains(joined, "GEMINI_KEY=on purpose") || !strings.Contains(joined, "PWD="+task.Scratch) {
		t.Errorf("environment\n%s", joined)
	}
	if f := s.Task; f.Version != 1 || f.Kind != Decide || f.Repository != task.Repository || f.Result != result || f.Turns != 3 || f.Deadline.IsZero() {
		t.Errorf("task %+v", f)
	}
	if want := (File{Path: "caf\uFFFD.txt", PathBase64: "Y2Fm6S50eHQ=", Mode: "100755", Master: "04", Pull: "05"}); s.Task.Files[1] != want {
		t.Errorf("file %+v", s.Task.Files[1])
	}
}

func TestTaskPathReplacesItsPlaceholder(t *testing.T) { // D-29
	tpl := Template{Argv: []string{"desk", "--task={task}", "-v"}}
	if got := tpl.command(Task{}, "/t.json"); !slices.Equal(got, []string{"desk", "--task=/t.json", "-v"}) {
		t.Errorf("command %q", got)
	}
}

func TestRunReadsTheResult(t *testing.T) { // D-29
	commit := strings.Repeat("ab", 20)
	for _, c := range []struct {
		name string
		kind Kind
		act  string
		want Result
		err  error
	}{
		{"merge", Merge, `answer:{"commit":"` + commit + `","tests":"passed","words":"fine","extra":1}`, Result{Commit: commit, Tests: TestsPassed, Words: "fine"}, nil},
		{"tests left out", Merge, `answer:{"commit":"` + commit + `"}`, Result{Commit: commit, Tests: TestsNone}, nil},
		{"pick", Decide, `answer:{"pick":[0,1],"words":"a\u001b[31mb"}`, Result{Pick: []int{0, 1}, Tests: TestsNone, Words: "a [31mb"}, nil},
		{"gives up", Merge, `giveup:{"words":"too hard"}`, Result{Words: "too hard"}, ErrGaveUp},
		{"gives up without a word", Merge, `giveup:`, Result{}, ErrGaveUp},
		{"no result", Merge, `answer:`, Result{}, ErrFailed},
		{"no JSON", Merge, `answer:done!`, Result{}, ErrFailed},
		{"no commit", Merge, `answer:{"tests":"passed"}`, Result{}, ErrFailed},
		{"short commit", Merge, `answer:{"commit":"abc123"}`, Result{}, ErrFailed},
		{"revision for a commit", Merge, `answer:{"commit":"--upload-pack=x"}`, Result{}, ErrFailed},
		{"odd tests", Merge, `answer:{"commit":"` + commit + `","tests":"maybe"}`, Result{}, ErrFailed},
		{"pick out of range", Decide, `answer:{"pick":[2]}`, Result{}, ErrFailed},
		{"negative pick", Decide, `answer:{"pick":[-1]}`, Result{}, ErrFailed},
		{"pick twice", Decide, `answer:{"pick":[0,0]}`, Result{}, ErrFailed},
		{"other status with a result", Merge, `fail:{"commit":"` + commit + `"}`, Result{}, ErrFailed},
		{"too long", Decide, `answer:{"words":"` + strings.Repeat("x", resultMax) + `"}`, Result{}, ErrFailed},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Run(t.Context(), template(t, c.act), someTask(t, c.kind), t.TempDir())
			if !errors.Is(err, c.err) {
				t.Fatalf("error %v, want %v", err, c.err)
			}
			if !slices.Equal(got.Pick, c.want.Pick) || got.Commit != c.want.Commit || got.Tests != c.want.Tests || got.Words != c.want.Words {
				t.Errorf("result %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestOldResultIsNeverTaken(t *testing.T) { // D-29
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, resultName), []byte(`{"commit":"`+strings.Repeat("ab", 20)+`"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), template(t, "answer:"), someTask(t, Merge), dir); !errors.Is(err, ErrFailed) {
		t.Errorf("error %v", err)
	}
}

func TestLongWordsAreCut(t *testing.T) {
	r, err := Run(t.Context(), template(t, `answer:{"words":"`+strings.Repeat("é", 3000)+`"}`), someTask(t, Decide), t.TempDir())
	if err != nil || len([]rune(r.Words)) != wordsMax {
		t.Errorf("%d characters, %v", len([]rune(r.Words)), err)
	}
}

func TestOutputIsBounded(t *testing.T) {
	dir := t.TempDir()
	if _, err := Run(t.Context(), template(t, "talk"), someTask(t, Decide), dir); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, outputName))
	if err != nil || info.Size() < outputMax || info.Size() > outputMax+100 {
		t.Errorf("output %v, %v", info, err)
	}
}

func TestProgramMustNotComeFromTheScratch(t *testing.T) { // D-29
	for _, argv := range [][]string{nil, {""}, {"./desk"}, {"tools/desk"}, {"desk\x00"}} {
		if err := (Template{Argv: argv}).Validate(); err == nil {
			t.Errorf("%q passed", argv)
		}
	}
	for _, tpl := range []Template{{Argv: []string{"d"}, Timeout: time.Hour}, {Argv: []string{"d"}, Env: []string{"=x"}}, {Argv: []string{"d"}, Grace: -1}} {
		if err := tpl.Validate(); err == nil {
			t.Errorf("%+v passed", tpl)
		}
	}
}

func TestMissingProgramFails(t *testing.T) {
	tpl := Template{Argv: []string{filepath.Join(t.TempDir(), "nobody")}}
	if _, err := Run(t.Context(), tpl, someTask(t, Decide), t.TempDir()); !errors.Is(err, ErrFailed) {
		t.Errorf("error %v", err)
	}
}

func TestPastDeadlineIsATimeout(t *testing.T) {
	task := someTask(t, Decide)
	task.Deadline = time.Now().Add(-time.Second)
	if _, err := Run(t.Context(), template(t, "answer:{}"), task, t.TempDir()); !errors.Is(err, ErrTimedOut) || errors.Is(err, ErrFailed) {
		t.Errorf("error %v", err)
	}
}

func TestCancelledTurnIsNoVerdict(t *testing.T) { // D-29
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Run(ctx, template(t, "answer:{}"), someTask(t, Decide), t.TempDir())
	if !errors.Is(err, context.Canceled) || errors.Is(err, ErrFailed) || errors.Is(err, ErrTimedOut) {
		t.Errorf("error %v", err)
	}
}
