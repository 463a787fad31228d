//go:build !linux && !darwin

package worktree

import (
	"fmt"
	"os"
	"os/exec"
)

func ownGroup(*exec.Cmd) {}

func lockFile(*os.File) error { return nil }

func unlockFile(*os.File) error { return nil }

func exchange(_ *os.File, _ string, _ *os.File, name string) error {
	return fmt.Errorf("exchange %s: %w", name, ErrUnsupported)
}

func moveNew(_ *os.File, _ string, _ *os.File, name string) error {
	return fmt.Errorf("move %s: %w", name, ErrUnsupported)
}
