package service

import (
	"context"
	"encoding/xml"
	"errors"
	"flag"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

var kinds = []Kind{Systemd, Launchd, Task}

// told is a system that writes down what it is asked for.
type told struct {
	commands []string
	says     map[string]string // by the command's start
	fails    string            // start of the command that fails
}

func (t *told) run(_ context.Context, name string, args ...string) (string, error) {
	line := strings.Join(append([]string{name}, args...), " ")
	t.commands = append(t.commands, line)
	if t.fails != "" && strings.HasPrefix(line, t.fails) {
		return "it does not want to\n", errors.New("exit status 1")
	}
	for start, says := range t.says {
		if strings.HasPrefix(line, start) {
			return says, nil
		}
	}
	return "", nil
}

func service(t *testing.T, k Kind, sys *told) *Service {
	return &Service{
		Spec: Spec{Name: "parley", Program: "/opt/my tools/parley", Home: "/home/ada/.local/share/parley"},
		Kind: k, Dir: filepath.Join(t.TempDir(), "a", "b"), UID: 501, User: "S-1-5-21-1-2-3-1001", Run: sys.run,
	}
}

func TestEachSystemGetsItsDefinitionAndItsCommands(t *testing.T) {
	for _, k := range kinds {
		t.Run(string(k), func(t *testing.T) {
			sys := &told{}
			s := service(t, k, sys)
			if err := s.Install(t.Context()); err != nil {
				t.Fatal(err)
			}
			written, err := os.ReadFile(s.File())
			if err != nil {
				t.Fatal(err)
			}
			sys.commands = append(sys.commands, "# removed")
			if err := s.Remove(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(s.File()); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the definition is still there: %v", err)
			}
			if above := filepath.Dir(s.Dir); there(above) || !there(filepath.Dir(above)) {
				t.Error("the folders that were made are still there, or another one is not")
			}

			got := narrow(string(written)) + "\n# " + filepath.Base(s.File()) + "\n" + strings.Join(sys.commands, "\n") + "\n"
			got = strings.ReplaceAll(got, s.Dir, "DIR")
			golden(t, filepath.Join("testdata", string(k)+".golden"), got)
		})
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test -update writes it):\n%s", file, got)
	}
}

func TestAnOddPathComesBackFromTheDefinition(t *testing.T) {
	for _, k := range kinds {
		for _, program := range []string{"/a b/par%ley", `/a"b/parley`, `/a\b/parley`, "/a&<b>/parley", "/ä/parley", "/$HOME/parley"} {
			s := service(t, k, &told{})
			s.Program = program
			if k == Task {
				s.Program = strings.ReplaceAll(program, `"`, "") // Windows has no such name
			}
			if err := s.Install(t.Context()); err != nil {
				t.Fatal(err)
			}
			state, err := s.State(t.Context())
			if err != nil || state.Program != s.Program {
				t.Errorf("%s: %q came back as %q, %v", k, s.Program, state.Program, err)
			}
		}
		s := service(t, k, &told{})
		s.Home = "/home/a\nb"
		if err := s.Install(t.Context()); !errors.Is(err, ErrPath) {
			t.Errorf("%s: a line break in a path: %v", k, err)
		}
		if _, err := os.Stat(s.File()); err == nil {
			t.Errorf("%s: a definition was written all the same", k)
		}
	}
}

func TestTheStateIsWhatTheSystemSays(t *testing.T) {
	for k, says := range map[Kind]map[string]string{
		Systemd: {"systemctl --user show --property=Act": "ActiveState=active\nUnitFileState=enabled\n"},
		Launchd: {"launchctl print gui/501/org.parley-mesh.parley": "org.parley-mesh.parley = {\n\tstate = running\n}"},
		Task:    {"schtasks /Query": `"\parley","N/A","Running"`},
	} {
		sys := &told{says: says}
		s := service(t, k, sys)
		if err := s.Install(t.Context()); err != nil {
			t.Fatal(err)
		}
		if state, err := s.State(t.Context()); err != nil || !state.Installed || !state.Running || !state.Enabled || state.Program != s.Program {
			t.Errorf("%s: %+v, %v", k, state, err)
		}
		sys.says, sys.fails = nil, map[Kind]string{Systemd: "systemctl", Launchd: "launchctl", Task: "schtasks"}[k]
		if state, err := s.State(t.Context()); err != nil || state.Running || state.Enabled {
			t.Errorf("%s, nobody answers: %+v, %v", k, state, err)
		}
	}
}

func TestWithoutAManagerNothingIsWritten(t *testing.T) {
	sys := &told{fails: "systemctl --user show"}
	s := service(t, Systemd, sys)
	err := s.Install(t.Context())
	if !errors.Is(err, ErrNoManager) || !strings.Contains(err.Error(), "it does not want to") {
		t.Errorf("install: %v", err)
	}
	if _, err := os.Stat(s.File()); err == nil {
		t.Error("a definition was written all the same")
	}
	s.Kind = ""
	if err := s.Install(t.Context()); !errors.Is(err, ErrNoManager) {
		t.Errorf("on an unknown system: %v", err)
	}
}

func TestWhatCannotBeStoppedIsSaid(t *testing.T) {
	sys := &told{}
	s := service(t, Systemd, sys)
	if err := s.Install(t.Context()); err != nil {
		t.Fatal(err)
	}
	sys.fails = "systemctl --user disable"
	if err := s.Remove(t.Context()); err == nil || !strings.Contains(err.Error(), "it does not want to") {
		t.Errorf("remove: %v", err)
	}
	if err := s.Remove(t.Context()); err != nil {
		t.Errorf("what is gone was removed again: %v", err)
	}
}

func TestSystemdIsToldWhenTheNodeIsReady(t *testing.T) {
	file := filepath.Join(t.TempDir(), "notify")
	l, err := net.ListenPacket("unixgram", file)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := Ready(file); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, 64)
	if n, _, err := l.ReadFrom(said); err != nil || string(said[:n]) != "READY=1" {
		t.Errorf("systemd was told %q, %v", said[:n], err)
	}
	if err := Ready(""); err != nil {
		t.Errorf("without systemd: %v", err)
	}
}

func TestHomesDoNotShareAService(t *testing.T) {
	const own = "/home/ada/.local/share/parley"
	plain, other := NameFor(Systemd, own, own), NameFor(Systemd, "/srv/h", own)
	if plain != "parley" || other == plain || other == NameFor(Systemd, "/srv/i", own) {
		t.Errorf("%s and %s", plain, other)
	}
	ada, kim := `C:\Users\ada\AppData\Local\parley`, `C:\Users\kim\AppData\Local\parley`
	if a, k := NameFor(Task, ada, ada), NameFor(Task, kim, kim); a == k || a == "parley" {
		t.Errorf("two people of one Windows have the tasks %s and %s", a, k)
	}
}

func TestSystemdAcceptsTheUnit(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"bin 100%$x/parley": "#!/bin/sh\n", "h o%me$/.keep": ""} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s := Service{Spec: Spec{Name: "parley", Program: filepath.Join(dir, "bin 100%$x", "parley"), Home: filepath.Join(dir, "h o%me$")}, Kind: Systemd, Dir: dir}
	text, err := s.Definition()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.File(), text, 0o644); err != nil {
		t.Fatal(err)
	}
	verify := exec.CommandContext(t.Context(), analyze, "verify", "--user", "--man=no", s.File())
	verify.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir)
	if out, err := verify.CombinedOutput(); err != nil || strings.Contains(string(out), "parley") {
		t.Errorf("systemd-analyze verify: %v\n%s\n%s", err, out, text)
	}
}

// launchd and Windows cannot be asked here. Their definitions are read as what they are: a property list, whose
// dictionary alternates between keys and values.
func TestTheOtherSystemsDefinitionsAreWellFormed(t *testing.T) {
	s := service(t, Launchd, &told{})
	s.Home = `/home/a&<b>"é`
	text, err := s.Definition()
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		XMLName xml.Name `xml:"plist"`
		Version string   `xml:"version,attr"`
		Dict    struct {
			Entries []struct {
				XMLName xml.Name
				Text    string   `xml:",chardata"`
				Strings []string `xml:"string"`
			} `xml:",any"`
		} `xml:"dict"`
	}
	if err := xml.Unmarshal(text, &list); err != nil || list.Version != "1.0" {
		t.Fatalf("version %q, %v", list.Version, err)
	}
	values := map[string]string{}
	for i, e := range list.Dict.Entries {
		if (i%2 == 0) != (e.XMLName.Local == "key") {
			t.Fatalf("entry %d of the property list is a %s", i, e.XMLName.Local)
		}
		if i%2 == 1 {
			values[list.Dict.Entries[i-1].Text] = e.XMLName.Local + " " + strings.TrimSpace(e.Text) + strings.Join(e.Strings, "|")
		}
	}
	for key, want := range map[string]string{
		"Label": "string org.parley-mesh.parley", "ProgramArguments": "array " + strings.Join([]string{s.Program, "--home", s.Home, "up", "--service"}, "|"),
		"RunAtLoad": "true ", "KeepAlive": "dict ", "Umask": "integer 63", "StandardErrorPath": "string " + s.Home + "/service.err",
	} {
		if values[key] != want {
			t.Errorf("%s is %q, want %q", key, values[key], want)
		}
	}
}

func TestTheTaskOfWindowsIsOfItsPersonAlone(t *testing.T) {
	s := service(t, Task, &told{})
	s.Home = `C:\Users\a&b`
	text, err := s.Definition()
	if err != nil {
		t.Fatal(err)
	}
	body, ok := strings.CutPrefix(narrow(string(text)), `<?xml version="1.0" encoding="UTF-16"?>`) // Go reads UTF-8 alone
	var task struct {
		XMLName   xml.Name `xml:"http://schemas.microsoft.com/windows/2004/02/mit/task Task"`
		Version   string   `xml:"version,attr"`
		Trigger   string   `xml:"Triggers>LogonTrigger>UserId"`
		Principal struct {
			ID    string `xml:"id,attr"`
			User  string `xml:"UserId"`
			Level string `xml:"RunLevel"`
		} `xml:"Principals>Principal"`
		Limit     string `xml:"Settings>ExecutionTimeLimit"`
		Command   string `xml:"Actions>Exec>Command"`
		Arguments string `xml:"Actions>Exec>Arguments"`
	}
	if err := xml.Unmarshal([]byte(body), &task); err != nil || !ok {
		t.Fatalf("%v, declared %v", err, ok)
	}
	if task.Trigger != s.User || task.Principal.User != s.User || task.Principal.ID != "Author" || task.Principal.Level != "LeastPrivilege" || task.Limit != "PT0S" {
		t.Errorf("%+v", task)
	}
	if task.Command != `"`+s.Program+`"` || task.Arguments != `--home "C:\Users\a&b" up --service` {
		t.Errorf("it runs %s %s", task.Command, task.Arguments)
	}
}
