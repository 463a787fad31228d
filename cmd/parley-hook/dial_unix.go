//go:build unix

package main

import (
	"strconv"
	"syscall"
)

// runtimeDir is where the socket of a home with a long name lies.
func runtimeDir() string { return "/tmp/parley-" + strconv.Itoa(syscall.Getuid()) }

// conn is a socket without the machinery of package net, which would make the start twice as long where it is
// linked with the system's C library. A call that stands still is ended with the process, when time is up.
type conn int

func dial(path string) (conn, error) {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return -1, err
	}
	c := conn(fd)
	for {
		err = syscall.Connect(fd, &syscall.SockaddrUnix{Name: path})
		if err != syscall.EINTR {
			return c, err
		}
	}
}

// Read returns 0 and no error at the end.
func (c conn) Read(b []byte) (int, error) {
	for {
		n, err := syscall.Read(int(c), b)
		if err != syscall.EINTR {
			return max(n, 0), err
		}
	}
}

// Write writes all of b.
func (c conn) Write(b []byte) error {
	for len(b) > 0 {
		n, err := syscall.Write(int(c), b)
		if err != nil && err != syscall.EINTR {
			return err
		}
		b = b[max(n, 0):]
	}
	return nil
}
