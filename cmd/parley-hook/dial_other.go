//go:build !unix

package main

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
)

// runtimeDir is where the socket of a home with a long name lies.
func runtimeDir() string { return filepath.Join(os.TempDir(), "parley") }

type conn struct{ net.Conn }

func dial(path string) (conn, error) {
	c, err := net.Dial("unix", path)
	return conn{c}, err
}

// Read returns 0 and no error at the end.
func (c conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// Write writes all of b.
func (c conn) Write(b []byte) error {
	_, err := c.Conn.Write(b)
	return err
}
