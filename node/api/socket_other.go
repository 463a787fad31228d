//go:build !unix

package api

import (
	"os"
	"path/filepath"
)

func runtimeDir() string { return filepath.Join(os.TempDir(), "parley") }

// private leaves it to the system: a user's own directories are closed to others there.
func private(string) error { return nil }
