package mesh

import (
	"bufio"
	"context"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/parley-mesh/parley/ledger"
)

const linesProtocol protocol.ID = "/parley/lines/1"

// linesTimeout is how long an exchange about lines may take, linesMax how many are answered here at a time, and
// linesMinute how many questions of one computer in a minute.
const (
	linesTimeout = 2 * time.Second
	linesMax     = 4
	linesMinute  = 60
)

// AskLines asks another computer of the fleet for the lines that a session there has changed. [ErrNotConnected]: it is away,
// and nothing was sent. What comes back is data of that computer, bounded as a frame is, and not what was asked for
// until somebody has compared it.
func (m *Mesh) AskLines(ctx context.Context, to ledger.Device, q ledger.Lines) (ledger.LinesReply, error) {
	ctx, cancel := context.WithTimeout(ctx, linesTimeout)
	defer cancel()
	r, err := m.askLines(ctx, to, &q)
	if err != nil {
		return ledger.LinesReply{}, fmt.Errorf("ask %s for lines: %w", to.Short(), err)
	}
	return *r, nil
}

func (m *Mesh) askLines(ctx context.Context, to ledger.Device, q *ledger.Lines) (*ledger.LinesReply, error) {
	id, err := peerOf(to)
	if err != nil {
		return nil, err
	}
	if !m.gate.member(id) || m.host.Network().Connectedness(id) != network.Connected {
		return nil, ErrNotConnected
	}
	s, err := m.host.NewStream(reachable(ctx), id, linesProtocol)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = s.Reset() }) // the caller does not wait any more
	defer stop()
	f, err := linesOn(s, q)
	if err != nil {
		_ = s.Reset() // nothing more comes of it
		return nil, err
	}
	_ = s.Close() // the answer is here
	return f, nil
}

func linesOn(s network.Stream, q *ledger.Lines) (*ledger.LinesReply, error) {
	if err := s.SetDeadline(time.Now().Add(linesTimeout)); err != nil {
		return nil, err
	}
	if err := ledger.WriteFrame(s, q); err != nil {
		return nil, err
	}
	f, err := ledger.ReadFrame(bufio.NewReader(s))
	if err != nil {
		return nil, err
	}
	r, ok := f.(*ledger.LinesReply)
	if !ok {
		return nil, fmt.Errorf("%w: want lines, got %T", errPeer, f)
	}
	return r, nil
}

// answerLines is the other side. Only members get here.
func (m *Mesh) answerLines(s network.Stream, from ledger.Device) {
	err := func() error {
		if err := s.SetDeadline(time.Now().Add(linesTimeout)); err != nil {
			return err
		}
		f, err := ledger.ReadFrame(bufio.NewReader(s))
		if err != nil {
			return err
		}
		q, ok := f.(*ledger.Lines)
		if !ok {
			return fmt.Errorf("%w: want a question for lines, got %T", errPeer, f)
		}
		r := m.linesFor(from, s.Conn().RemotePeer(), *q)
		return ledger.WriteFrame(s, &r)
	}()
	if err != nil {
		_ = s.Reset() // nothing more comes of it
		m.c.Logger.Debug("lines", "device", from.String(), "error", err)
		return
	}
	_ = s.Close() // the answer is on its way
}

// linesFor asks the node, unless it was asked too often or is busy with others.
func (m *Mesh) linesFor(from ledger.Device, id peer.ID, q ledger.Lines) ledger.LinesReply {
	if m.c.Lines == nil {
		return ledger.LinesReply{Code: ledger.LinesOff}
	}
	if q.Holder != (ledger.ID{}) && !m.linesBy.take(writer{ID: id}, linesMinute, time.Now()) {
		return ledger.LinesReply{Code: ledger.LinesBusy}
	}
	select {
	case m.showing <- struct{}{}:
		defer func() { <-m.showing }()
	default:
		return ledger.LinesReply{Code: ledger.LinesBusy}
	}
	ctx, cancel := context.WithTimeout(m.ctx, linesTimeout)
	defer cancel()
	return m.c.Lines(ctx, from, q)
}
