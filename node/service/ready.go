package service

import (
	"fmt"
	"net"
	"strings"
)

// ReadySocket is the name of the variable in which systemd says where it listens.
const ReadySocket = "NOTIFY_SOCKET"

// Ready tells systemd, which listens at a socket, that the service answers; without a socket nobody listens.
func Ready(socket string) error {
	if socket == "" {
		return nil
	}
	if rest, abstract := strings.CutPrefix(socket, "@"); abstract {
		socket = "\x00" + rest
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		return fmt.Errorf("tell systemd: %w", err)
	}
	defer c.Close()
	_, err = c.Write([]byte("READY=1"))
	return err
}
