package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"time"
)

// inboxTime is how long a live session may take to take a message.
const inboxTime = 2 * time.Second

// ErrNoInbox: the session cannot be spoken to so.
var ErrNoInbox = errors.New("the session has no inbox that is spoken to here")

// inboxLine is one message as a live session of Claude Code reads it.
type inboxLine struct {
	Type    string       `json:"type"`
	Message inboxMessage `json:"message"`
}

type inboxMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Tell puts a message into the inbox of a live session, by its Unix socket. That it was written does not mean that it was
// read: the session may hold or refuse it.
func Tell(ctx context.Context, socket, text string) error {
	if !filepath.IsAbs(socket) {
		return ErrNoInbox
	}
	line, err := json.Marshal(inboxLine{Type: "user", Message: inboxMessage{Role: "user", Content: text}})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, inboxTime)
	defer cancel()
	c, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err != nil {
		return fmt.Errorf("tell a session: %w", err)
	}
	deadline, _ := ctx.Deadline()
	err = c.SetDeadline(deadline)
	if err == nil {
		_, err = c.Write(append(line, '\n'))
	}
	if err = errors.Join(err, c.Close()); err != nil {
		return fmt.Errorf("tell a session: %w", err)
	}
	return nil
}
