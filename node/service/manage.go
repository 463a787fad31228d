package service

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// ready says whether somebody is there to look after the service.
func (s Service) ready(ctx context.Context) error {
	switch s.Kind {
	case Systemd:
		if said, err := s.Run(ctx, "systemctl", "--user", "show", "--property=Version", "--value"); err != nil {
			return fmt.Errorf("%w: systemd has no manager for this user: %w", ErrNoManager, saying(said, err))
		}
	case "":
		return ErrNoManager
	}
	return nil
}

// domain is where launchd keeps the services of a person who is signed in at the screen.
func (s Service) domain() string { return "gui/" + strconv.Itoa(s.UID) }

// starts are the commands that take the definition in and start the service.
func (s Service) starts() [][]string {
	switch s.Kind {
	case Systemd:
		return [][]string{
			{"systemctl", "--user", "daemon-reload"},
			{"systemctl", "--user", "enable", s.Name + ".service"},
			s.forgetFailure(),
			{"systemctl", "--user", "restart", s.Name + ".service"},
		}
	case Launchd:
		return [][]string{
			{"/bin/sh", "-c", "launchctl bootout " + s.domain() + "/" + s.label() + " 2>/dev/null; exit 0"},
			{"launchctl", "enable", s.domain() + "/" + s.label()},
			{"launchctl", "bootstrap", s.domain(), s.File()},
		}
	}
	return [][]string{
		{"schtasks", "/Create", "/TN", s.Name, "/XML", s.File(), "/F"},
		{"schtasks", "/Run", "/TN", s.Name},
	}
}

// forgetFailure lets systemd forget that a unit failed: one that did too often would not be started, and one that is
// removed would still be listed.
func (s Service) forgetFailure() []string {
	return []string{"/bin/sh", "-c", "systemctl --user reset-failed " + s.Name + ".service 2>/dev/null; exit 0"}
}

// stops are the commands that end the service for good.
func (s Service) stops() [][]string {
	switch s.Kind {
	case Systemd:
		return [][]string{{"systemctl", "--user", "disable", "--now", s.Name + ".service"}}
	case Launchd:
		return [][]string{{"launchctl", "bootout", s.domain() + "/" + s.label()}}
	}
	return [][]string{
		{"schtasks", "/End", "/TN", s.Name},
		{"schtasks", "/Delete", "/TN", s.Name, "/F"},
	}
}

// ask fills in what the system knows. Who does not answer knows nothing.
func (s Service) ask(ctx context.Context, out *State) {
	switch s.Kind {
	case Systemd:
		said, err := s.Run(ctx, "systemctl", "--user", "show", "--property=ActiveState,SubState,UnitFileState,Result,ExecMainStatus", s.Name+".service")
		if err == nil {
			out.fromSystemd(said)
		}
	case Launchd:
		said, err := s.Run(ctx, "launchctl", "print", s.domain()+"/"+s.label())
		if err == nil {
			out.Running, out.Enabled = strings.Contains(said, "state = running"), true
		}
	case Task:
		said, err := s.Run(ctx, "schtasks", "/Query", "/TN", s.Name, "/FO", "CSV", "/NH")
		out.Installed = err == nil
		if err == nil {
			out.Enabled, out.Running = !strings.Contains(said, "Disabled"), strings.Contains(said, "Running")
		}
	}
}

// fromSystemd reads what systemctl show printed. A unit that waits for its next try is activating, too, and does not run.
func (out *State) fromSystemd(said string) {
	is := map[string]string{}
	for line := range strings.Lines(said) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		is[name] = value
	}
	again := is["SubState"] == "auto-restart"
	out.Running = is["ActiveState"] == "active" || is["ActiveState"] == "activating" && !again
	out.Enabled = is["UnitFileState"] == "enabled"
	if out.Running || is["ActiveState"] != "failed" && !again {
		return
	}
	switch out.Trouble = is["Result"]; out.Trouble {
	case "exit-code":
		out.Trouble = "it ended with exit status " + is["ExecMainStatus"]
	case "signal", "core-dump":
		out.Trouble = "it was killed by signal " + is["ExecMainStatus"]
	case "timeout":
		out.Trouble = "it was not ready in time"
	case "start-limit-hit":
		out.Trouble = "it ended too often"
	}
	if again {
		out.Trouble += ", and is tried again"
	} else {
		out.Trouble += ", and is not tried again"
	}
}

// Lingers says whether systemd keeps a person's services after they sign out; known is false where nobody
// can tell.
func Lingers(ctx context.Context, run Runner, user string) (on, known bool) {
	said, err := run(ctx, "loginctl", "show-user", user, "--property=Linger", "--value")
	switch said = strings.TrimSpace(said); {
	case err != nil || said != "yes" && said != "no":
		return false, false
	default:
		return said == "yes", true
	}
}
