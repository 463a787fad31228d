package agents

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// group is the process of a turn with everything that it started: a job object, which a process cannot leave.
type group struct {
	cmd *exec.Cmd
	job windows.Handle
}

func newGroup(cmd *exec.Cmd) *group {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
	return &group{cmd: cmd}
}

// started puts the new process into a job.
func (g *group) started() {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return
	}
	g.job = job
	p, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(g.cmd.Process.Pid))
	if err != nil {
		return
	}
	defer windows.CloseHandle(p)
	_ = windows.AssignProcessToJobObject(g.job, p)
}

// interrupt asks the group to stop. A program without a console cannot be asked and is ended at once.
func (g *group) interrupt() error {
	if windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(g.cmd.Process.Pid)) == nil {
		return nil
	}
	return g.cmd.Process.Kill()
}

// kill ends what is left of the job.
func (g *group) kill() {
	if g.job == 0 {
		return
	}
	_ = windows.TerminateJobObject(g.job, 1)
	_ = windows.CloseHandle(g.job)
	g.job = 0
}
