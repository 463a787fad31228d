package api

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
)

// socketBytesMax is what a socket's path may have: systems allow from 104 bytes on, the last one a NUL.
const socketBytesMax = 100

// SocketFile is the socket's name in a home.
const SocketFile = "parley.sock"

// SocketPath is where the node of a home listens: in the home, or for a home with a long name in a short
// directory of this user (D-31). It follows from the home's absolute path alone, so that every client
// finds it, whatever its environment.
func SocketPath(home string) string {
	path := filepath.Join(home, SocketFile)
	if len(path) <= socketBytesMax {
		return path
	}
	sum := sha256.Sum256([]byte(filepath.Clean(home)))
	return filepath.Join(runtimeDir(), hex.EncodeToString(sum[:8])+".sock")
}

// Listen opens the socket for its owner alone. A socket that a killed node left there is replaced, so the
// caller must hold the home's lock.
func Listen(path string) (net.Listener, error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("listen %s: %w", path, err)
	}
	if err := private(dir); err != nil {
		return nil, fmt.Errorf("listen %s: %w", path, err)
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("listen %s: %w", path, err)
	case info.Mode().Type() != os.ModeSocket:
		return nil, fmt.Errorf("listen %s: a file that is no socket is in the way", path)
	default:
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("listen %s: %w", path, err)
		}
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	// Nobody else could have come in before: the directory is private.
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("listen %s: %w", path, err), l.Close())
	}
	return l, nil
}
