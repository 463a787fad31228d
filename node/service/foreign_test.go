package service

import (
	"errors"
	"os"
	"testing"
)

func TestAServiceThatSomebodyElseMadeIsLeftAlone(t *testing.T) {
	theirs := map[Kind]string{
		Systemd: "[Service]\nExecStart=/usr/bin/parley-voice --home /srv\n",
		Launchd: "<plist><dict><key>ProgramArguments</key><array><string>/usr/bin/parley-voice</string></array></dict></plist>\n",
	}
	for k, text := range theirs {
		t.Run(string(k), func(t *testing.T) {
			sys := &told{}
			s := service(t, k, sys)
			if err := os.MkdirAll(s.Dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(s.File(), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := s.Install(t.Context()); !errors.Is(err, ErrForeign) {
				t.Errorf("install: %v", err)
			}
			if state, err := s.State(t.Context()); err != nil || state.Installed {
				t.Errorf("state %+v, %v", state, err)
			}
			sys.commands = nil
			if err := s.Remove(t.Context()); err != nil || len(sys.commands) > 0 {
				t.Errorf("remove: %v, ran %q", err, sys.commands)
			}
			if now, err := os.ReadFile(s.File()); string(now) != text {
				t.Errorf("the definition is %q now, %v", now, err)
			}
		})
	}
}
