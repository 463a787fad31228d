package demo

import (
	"os/exec"
	"syscall"
)

// dieWithParent ends a program when the demo itself is killed.
func dieWithParent(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
