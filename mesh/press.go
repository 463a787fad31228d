package mesh

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/parley-mesh/parley/ledger"
)

const pressProtocol protocol.ID = "/parley/press/1"

// pressTimeout is how long the other computer may take to answer, and pressesMax how many presses are
// looked at here at a time.
const (
	pressTimeout = 15 * time.Second
	pressesMax   = 8
)

// Errors of [Mesh.Press] that callers tell apart.
var (
	// ErrNotConnected means that nothing was sent: the other computer is away.
	ErrNotConnected = errors.New("the other computer is not connected")
	// ErrPressRefused means that the other computer did not take the press; its words follow.
	ErrPressRefused = errors.New("the other computer refused")
)

// Press passes on what a person pressed here to another computer of the fleet, the main one. nil means
// that it took the press. After an error that is neither [ErrNotConnected] nor [ErrPressRefused] it is
// unknown whether it did; its records tell.
func (m *Mesh) Press(ctx context.Context, to ledger.Device, p ledger.Press) error {
	ctx, cancel := context.WithTimeout(ctx, pressTimeout)
	defer cancel()
	id, err := peerOf(to)
	if err != nil {
		return fmt.Errorf("press %s: %w", p.Action, err)
	}
	if !m.gate.member(id) || m.host.Network().Connectedness(id) != network.Connected {
		return fmt.Errorf("press %s: %w", p.Action, ErrNotConnected)
	}
	s, err := m.host.NewStream(reachable(ctx), id, pressProtocol)
	if err != nil {
		return fmt.Errorf("press %s: %w", p.Action, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = s.Reset() }) // the caller does not wait any more
	defer stop()
	reply, err := pressOn(s, &p)
	if err != nil {
		_ = s.Reset() // nothing more comes of it
		return fmt.Errorf("press %s: %w", p.Action, errors.Join(err, ctx.Err()))
	}
	_ = s.Close() // the answer is here
	if !reply.OK {
		return fmt.Errorf("press %s: %w: %s", p.Action, ErrPressRefused, reply.Why)
	}
	return nil
}

func pressOn(s network.Stream, p *ledger.Press) (*ledger.PressReply, error) {
	if err := s.SetDeadline(time.Now().Add(pressTimeout)); err != nil {
		return nil, err
	}
	if err := ledger.WriteFrame(s, p); err != nil {
		return nil, err
	}
	f, err := ledger.ReadFrame(bufio.NewReader(s))
	if err != nil {
		return nil, err
	}
	reply, ok := f.(*ledger.PressReply)
	if !ok {
		return nil, fmt.Errorf("%w: want an answer, got %T", errPeer, f)
	}
	return reply, nil
}

// answerPress is the main computer's side. Only members get here.
func (m *Mesh) answerPress(s network.Stream, from ledger.Device) {
	err := func() error {
		if err := s.SetDeadline(time.Now().Add(pressTimeout)); err != nil {
			return err
		}
		f, err := ledger.ReadFrame(bufio.NewReader(s))
		if err != nil {
			return err
		}
		p, ok := f.(*ledger.Press)
		if !ok {
			return fmt.Errorf("%w: want a press, got %T", errPeer, f)
		}
		return ledger.WriteFrame(s, answerTo(m.pressed(from, *p)))
	}()
	if err != nil {
		_ = s.Reset() // nothing more comes of it
		m.c.Logger.Debug("press", "device", from.String(), "error", err)
		return
	}
	_ = s.Close() // the answer is on its way
}

// pressed asks the node, unless it looks at many presses already.
func (m *Mesh) pressed(from ledger.Device, p ledger.Press) error {
	if m.c.Pressed == nil {
		return errors.New("this computer takes no presses from others")
	}
	select {
	case m.presses <- struct{}{}:
		defer func() { <-m.presses }()
	default:
		return errors.New("this computer is busy with other presses, try again")
	}
	ctx, cancel := context.WithTimeout(m.ctx, pressTimeout)
	defer cancel()
	return m.c.Pressed(ctx, from, p)
}

// answerTo puts a refusal's words into what a frame holds.
func answerTo(err error) *ledger.PressReply {
	if err == nil {
		return &ledger.PressReply{OK: true}
	}
	why := strings.ToValidUTF8(err.Error(), "?")
	if len(why) > ledger.PressTextMax {
		why = strings.ToValidUTF8(why[:ledger.PressTextMax], "") // not half a character
	}
	return &ledger.PressReply{Why: why}
}
