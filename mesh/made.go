package mesh

import (
	"bufio"
	"bytes"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/parley-mesh/parley/ledger"
)

const madeProtocol protocol.ID = "/parley/made/1"

// madeTimeout is how long the others may take to answer.
const madeTimeout = 5 * time.Second

// AskMade asks every connected member whether its clone made the head of a pull request, and returns those
// that say yes, in order. Who is away cannot answer and counts as a no.
func (m *Mesh) AskMade(ctx context.Context, repo, pull uint64, head ledger.OID) []ledger.Device {
	ctx, cancel := context.WithTimeout(ctx, madeTimeout)
	defer cancel()
	var mu sync.Mutex
	var out []ledger.Device
	var all sync.WaitGroup
	for _, s := range m.Peers() {
		if !s.Connected || s.Lane != (ledger.TID{}) {
			continue
		}
		all.Go(func() {
			if m.askOne(ctx, s.Device, &ledger.Made{Repo: repo, Pull: pull, Head: head}) {
				mu.Lock()
				out = append(out, s.Device)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	slices.SortFunc(out, func(a, b ledger.Device) int { return bytes.Compare(a[:], b[:]) })
	return out
}

func (m *Mesh) askOne(ctx context.Context, d ledger.Device, question *ledger.Made) bool {
	id, err := peerOf(d)
	if err != nil {
		return false
	}
	s, err := m.host.NewStream(reachable(ctx), id, madeProtocol)
	if err != nil {
		return false
	}
	yes, err := exchangeOne(s, question)
	if err != nil {
		_ = s.Reset() // nothing more comes of it
		return false
	}
	_ = s.Close() // the answer is here
	return yes
}

func exchangeOne(s network.Stream, question *ledger.Made) (bool, error) {
	if err := s.SetDeadline(time.Now().Add(madeTimeout)); err != nil {
		return false, err
	}
	if err := ledger.WriteFrame(s, question); err != nil {
		return false, err
	}
	f, err := ledger.ReadFrame(bufio.NewReader(s))
	if err != nil {
		return false, err
	}
	r, ok := f.(*ledger.MadeReply)
	return ok && r.Yes, nil
}

func (m *Mesh) answerMade(s network.Stream, _ ledger.Device) {
	err := func() error {
		if err := s.SetDeadline(time.Now().Add(madeTimeout)); err != nil {
			return err
		}
		f, err := ledger.ReadFrame(bufio.NewReader(s))
		if err != nil {
			return err
		}
		q, ok := f.(*ledger.Made)
		if !ok {
			return errPeer
		}
		ctx, cancel := context.WithTimeout(m.ctx, madeTimeout)
		defer cancel()
		yes := m.c.Made != nil && m.c.Made(ctx, q.Repo, q.Pull, q.Head)
		return ledger.WriteFrame(s, &ledger.MadeReply{Yes: yes})
	}()
	if err != nil {
		_ = s.Reset() // nothing more comes of it
		return
	}
	_ = s.Close() // the answer is on its way
}
