//go:build !windows

package agents

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// group is the process of a turn with everything that it started.
type group struct{ cmd *exec.Cmd }

func newGroup(cmd *exec.Cmd) group {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return group{cmd}
}

func (g group) started() {}

// interrupt asks the group to stop, as Ctrl-C does.
func (g group) interrupt() error {
	err := syscall.Kill(-g.cmd.Process.Pid, syscall.SIGINT)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// kill ends what is left of the group. The group's number stays taken while it has a member.
func (g group) kill() { _ = syscall.Kill(-g.cmd.Process.Pid, syscall.SIGKILL) }
