package service

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// ofHome is a service of a home that is there, beside others.
func ofHome(t *testing.T, k Kind, sys *told, dir, home string) *Service {
	t.Helper()
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	s := service(t, k, sys)
	s.Dir, s.Home = dir, home
	return s
}

func TestAServiceOfAnotherHomeIsNeitherReplacedNorRemoved(t *testing.T) {
	for _, k := range []Kind{Systemd, Launchd} { // a task's definition lies in its home
		t.Run(string(k), func(t *testing.T) {
			sys := &told{}
			dir, base := t.TempDir(), t.TempDir()
			theirs := ofHome(t, k, sys, dir, filepath.Join(base, "theirs"))
			if err := theirs.Install(t.Context()); err != nil {
				t.Fatal(err)
			}
			before, err := os.ReadFile(theirs.File())
			if err != nil {
				t.Fatal(err)
			}
			ours := ofHome(t, k, sys, dir, filepath.Join(base, "ours")) // as after XDG_DATA_HOME has changed
			if err := ours.Install(t.Context()); !errors.Is(err, ErrOther) || !strings.Contains(err.Error(), theirs.Home) {
				t.Errorf("install: %v", err)
			}
			sys.commands = nil
			if state, err := ours.State(t.Context()); err != nil || state.Installed || state.Running || state.Other != theirs.Home {
				t.Errorf("state %+v, %v", state, err)
			}
			if err := ours.Remove(t.Context()); err != nil || len(sys.commands) > 0 {
				t.Errorf("remove: %v, ran %q", err, sys.commands)
			}
			if now, err := os.ReadFile(theirs.File()); string(now) != string(before) {
				t.Errorf("the definition is %q now, %v", now, err)
			}
			if got := Find(k, dir, theirs.Home, ours.Home); got != "parley" {
				t.Errorf("the service of the home that is a person's own no more is %s", got)
			}
			if err := os.Remove(theirs.Home); err != nil {
				t.Fatal(err)
			}
			if err := ours.Install(t.Context()); err != nil {
				t.Errorf("in place of one whose home is gone: %v", err)
			}
		})
	}
}

func TestAnOddHomeComesBackFromTheDefinition(t *testing.T) {
	for _, k := range kinds {
		for _, home := range []string{"/a b/h%me", `/a"b/h`, `/a\b/h`, "/a&<b>/h", "/ä/h", "/$HOME/h", "/h up --service", "/ --home x"} {
			s := service(t, k, &told{})
			s.Home = home
			if k == Task {
				s.Home = strings.ReplaceAll(home, `"`, "") // Windows has no such name
			}
			text, err := s.Definition()
			if err != nil {
				t.Fatal(err)
			}
			if got := homeOf(k, string(text)); got != s.Home {
				t.Errorf("%s: %q came back as %q", k, s.Home, got)
			}
			if got := Find(k, t.TempDir(), s.Home, s.Home); got != NameFor(k, s.Home, s.Home) {
				t.Errorf("%s: without a definition: %s", k, got)
			}
		}
	}
}

func TestWhatSystemdSaysOfAUnitIsToldTruly(t *testing.T) {
	for said, want := range map[string]State{
		"ActiveState=active\nSubState=running\nUnitFileState=enabled\nResult=success\n":                               {Running: true, Enabled: true},
		"ActiveState=activating\nSubState=start\nUnitFileState=disabled\nResult=success\n":                            {Running: true},
		"ActiveState=activating\nSubState=auto-restart\nUnitFileState=enabled\nResult=exit-code\nExecMainStatus=1\n":  {Enabled: true, Trouble: "it ended with exit status 1, and is tried again"},
		"ActiveState=failed\nSubState=failed\nUnitFileState=enabled\nResult=exit-code\nExecMainStatus=2\n":            {Enabled: true, Trouble: "it ended with exit status 2, and is not tried again"},
		"ActiveState=failed\nSubState=failed\nUnitFileState=enabled\nResult=start-limit-hit\nExecMainStatus=1\n":      {Enabled: true, Trouble: "it ended too often, and is not tried again"},
		"ActiveState=inactive\nSubState=dead\nUnitFileState=enabled\nResult=success\nExecMainStatus=0\n":              {Enabled: true},
		"ActiveState=activating\nSubState=auto-restart\nUnitFileState=enabled\nResult=signal\nExecMainStatus=9\n":     {Enabled: true, Trouble: "it was killed by signal 9, and is tried again"},
		"ActiveState=failed\nSubState=failed\nUnitFileState=enabled-runtime\nResult=start-limit-hit\nExecMainStatus=": {Trouble: "it ended too often, and is not tried again"},
	} {
		var got State
		got.fromSystemd(said)
		if got != want {
			t.Errorf("%q: %+v, want %+v", said, got, want)
		}
	}
}

func TestAMaskedServiceIsNotWrittenOver(t *testing.T) {
	s := service(t, Systemd, &told{})
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(os.DevNull, s.File()); err != nil {
		t.Skip(err)
	}
	if err := s.Install(t.Context()); !errors.Is(err, ErrMasked) {
		t.Errorf("install: %v", err)
	}
	if state, err := s.State(t.Context()); err != nil || !state.Masked || state.Installed {
		t.Errorf("state %+v, %v", state, err)
	}
	if err := s.Remove(t.Context()); err != nil || !s.masked() {
		t.Errorf("remove: %v, masked %v", err, s.masked())
	}
}

// plutil is macOS's; Python reads the same lists.
func TestAPropertyListReaderReadsTheAgent(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	s := service(t, Launchd, &told{})
	s.Home, s.Program = `/home/a&<b>"é`, "/opt/my tools/par'ley"
	text, err := s.Definition()
	if err != nil {
		t.Fatal(err)
	}
	read := exec.CommandContext(t.Context(), python, "-c", "import json, plistlib, sys; json.dump(plistlib.loads(sys.stdin.buffer.read()), sys.stdout)")
	read.Stdin = strings.NewReader(string(text))
	out, err := read.Output()
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Label            string
		ProgramArguments []string
		RunAtLoad        bool
		KeepAlive        map[string]bool
		ExitTimeOut      int
	}
	if err := json.Unmarshal(out, &list); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if strings.Join(list.ProgramArguments, "|") != strings.Join([]string{s.Program, "--home", s.Home, "up", "--service"}, "|") ||
		list.Label != s.label() || !list.RunAtLoad || list.KeepAlive["SuccessfulExit"] || list.ExitTimeOut != 60 {
		t.Errorf("%+v", list)
	}
}
