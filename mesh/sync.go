package mesh

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/parley-mesh/parley/ledger"
)

const syncProtocol protocol.ID = "/parley/sync/1"

// Bounds of one exchange.
const (
	ioTimeout    = 30 * time.Second // for one frame in either direction
	listingsMax  = 100_000          // ledgers that a peer may name
	positionsMax = 100_000          // chains that it may name
	askedAfter   = 2 * time.Second  // a gap stays open so long before others are asked

	// answersMax is how many exchanges one peer may have begun: the next one may come while the last
	// records of the one before are still being stored.
	answersMax = 2
)

var (
	errPeer = errors.New("the peer broke the protocol")
	errBusy = errors.New("the peer is busy with exchanges that this side began")
)

// SyncNow dials everybody and catches up with everybody: after a wake-up, or when the network changed.
func (m *Mesh) SyncNow() {
	m.dialNow()
	m.catchUpWithAll()
}

func (m *Mesh) catchUpWithAll() {
	for _, s := range m.Peers() {
		if s.Connected {
			m.run(func() { m.catchUp(s.Device) })
		}
	}
}

// Ask lets the peers be asked for what is missing in a ledger. Most gaps close by themselves within a
// moment; several askings are one.
func (m *Mesh) Ask(tid ledger.TID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ctx.Err() != nil {
		return
	}
	m.asked[tid] = true
	if m.askTimer == nil {
		m.askTimer = time.AfterFunc(askedAfter, m.askAll)
	}
}

func (m *Mesh) askAll() {
	m.mu.Lock()
	m.askTimer = nil
	clear(m.asked)
	m.mu.Unlock()
	m.catchUpWithAll()
}

// keepSyncing compares with one connected peer after another, at intervals that differ so that a fleet
// does not move in step.
func (m *Mesh) keepSyncing() {
	for {
		every := m.c.SyncEvery
		if m.pause(every-every/3+rand.N(2*every/3+1)) != nil {
			return
		}
		var there []ledger.Device
		for _, s := range m.Peers() {
			if s.Connected {
				there = append(there, s.Device)
			}
		}
		if len(there) > 0 {
			m.catchUp(there[rand.IntN(len(there))])
		}
	}
}

// catchUp runs an exchange with a peer. If one that this side began is on its way, another follows it: what
// is asked for may have come too late for the first.
func (m *Mesh) catchUp(d ledger.Device) {
	m.mu.Lock()
	s := m.sessions[d]
	if s != nil {
		s.again = true
		m.mu.Unlock()
		return
	}
	s = &session{again: true}
	m.sessions[d] = s
	for s.again && m.ctx.Err() == nil {
		s.again = false
		m.mu.Unlock()
		m.catchUpOnce(d)
		m.mu.Lock()
	}
	delete(m.sessions, d)
	m.mu.Unlock()
}

// session is a running catch-up that this side began.
type session struct{ again bool }

func (m *Mesh) catchUpOnce(d ledger.Device) {
	id, err := peerOf(d)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(reachable(m.ctx), ioTimeout)
	defer cancel()
	s, err := m.host.NewStream(ctx, id, syncProtocol)
	if err != nil {
		m.c.Logger.Debug("catch up", "device", d.String(), "error", err)
		return
	}
	x := newExchange(m, s, d)
	m.end(x, x.lead())
}

// answerSync answers a peer's exchange, unless it has begun too many: then it is told so at once.
func (m *Mesh) answerSync(s network.Stream, d ledger.Device) {
	if !m.comes(d) {
		m.refused.Count(RefusedBusy)
		err := errors.Join(s.SetDeadline(time.Now().Add(ioTimeout)), ledger.WriteFrame(s, &ledger.Bye{Code: ledger.ByeBusy}), s.Close())
		if err != nil {
			_ = s.Reset() // it is not listening
		}
		return
	}
	defer m.goes(d)
	x := newExchange(m, s, d)
	m.end(x, x.answer())
}

// comes counts an exchange that a peer began and reports whether it may run.
func (m *Mesh) comes(d ledger.Device) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.answers[d] >= answersMax {
		return false
	}
	m.answers[d]++
	return true
}

func (m *Mesh) goes(d ledger.Device) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.answers[d]--; m.answers[d] == 0 {
		delete(m.answers, d)
	}
}

// end closes an exchange's stream: at once and hard only after an error, since a reset loses what is on
// its way.
func (m *Mesh) end(x *exchange, err error) {
	if err != nil {
		_ = x.s.Reset()
		m.countFault(err)
		m.c.Logger.Debug("catch up", "device", x.with.String(), "error", err)
	} else {
		_ = x.s.Close() // everything was read
	}
	m.tell(Event{Kind: Synced, Device: x.with, Clean: err == nil, Received: x.received})
}

// exchange is one run of the catch-up protocol.
type exchange struct {
	m        *Mesh
	s        network.Stream
	r        *bufio.Reader
	with     ledger.Device
	mine     []ledger.Listing
	received int
}

func newExchange(m *Mesh, s network.Stream, d ledger.Device) *exchange {
	return &exchange{m: m, s: s, r: bufio.NewReaderSize(s, 32<<10), with: d, mine: m.c.Book.Visible(d)}
}

func (x *exchange) write(f ledger.Frame) error {
	if err := x.s.SetWriteDeadline(time.Now().Add(ioTimeout)); err != nil {
		return err
	}
	return ledger.WriteFrame(x.s, f)
}

func (x *exchange) read() (ledger.Frame, error) {
	if err := x.s.SetReadDeadline(time.Now().Add(ioTimeout)); err != nil {
		return nil, err
	}
	return ledger.ReadFrame(x.r)
}

func (x *exchange) hello() *ledger.Hello {
	return &ledger.Hello{Version: 1, Inc: x.m.c.Inc, Now: uint64(x.m.c.Wall().UnixMilli()), Digest: ledger.DigestAll(x.mine)}
}

// greeted reads the peer's greeting and reports whether both hold the same.
func (x *exchange) greeted() (same bool, err error) {
	f, err := x.read()
	if err != nil {
		return false, err
	}
	if bye, ok := f.(*ledger.Bye); ok && bye.Code == ledger.ByeBusy {
		return false, errBusy
	}
	h, ok := f.(*ledger.Hello)
	if !ok || h.Version != 1 {
		return false, fmt.Errorf("%w: no greeting of version 1", errPeer)
	}
	x.m.heard(x.with, h.Inc)
	if off := x.m.c.Wall().Sub(time.UnixMilli(int64(h.Now))); off > clockOffMax || off < -clockOffMax {
		x.m.tell(Event{Kind: ClockOff, Device: x.with})
	}
	return h.Digest == ledger.DigestAll(x.mine), nil
}

// lead runs the exchange as the side that began it.
func (x *exchange) lead() error {
	began := time.Now()
	if err := x.write(x.hello()); err != nil {
		return err
	}
	same, err := x.greeted()
	if err != nil {
		return err
	}
	x.m.took(x.with, time.Since(began))
	x.m.tellUp(x.with)
	if same {
		return x.write(&ledger.Bye{})
	}
	return x.trade()
}

// answer runs it as the other side.
func (x *exchange) answer() error {
	same, err := x.greeted()
	if err != nil {
		return err
	}
	if err := x.write(x.hello()); err != nil {
		return err
	}
	if same {
		_, err = x.read()
		return err
	}
	return x.trade()
}

// trade is the same for both sides: tell what is held, compare, tell how far, and send what the other
// lacks. Reading and writing run beside each other, so neither side can wait for one that waits for it.
func (x *exchange) trade() error {
	var theirs []ledger.Listing
	var haves []*ledger.Have
	listed, asked := make(chan struct{}), make(chan struct{})
	failed := make(chan struct{})
	var sent error
	var writer sync.WaitGroup
	writer.Go(func() {
		sent = x.send(&theirs, &haves, listed, asked, failed)
		if sent != nil {
			_ = x.s.Reset() // wakes the reader
		}
	})
	err := func() error {
		var err error
		if theirs, err = x.readLists(); err != nil {
			return err
		}
		close(listed)
		if haves, err = x.readHaves(); err != nil {
			return err
		}
		close(asked)
		return x.readRecords()
	}()
	if err != nil {
		close(failed)
		_ = x.s.Reset() // wakes the writer
	}
	writer.Wait()
	return errors.Join(err, sent)
}

// send is the writing half. It waits for what the reading half learns.
func (x *exchange) send(theirs *[]ledger.Listing, haves *[]*ledger.Have, listed, asked, failed <-chan struct{}) error {
	if err := x.sendLists(); err != nil {
		return err
	}
	select {
	case <-listed:
	case <-failed:
		return nil
	}
	if err := x.sendHaves(*theirs); err != nil {
		return err
	}
	select {
	case <-asked:
	case <-failed:
		return nil
	}
	for _, h := range x.fleetFirst(*haves) {
		if err := x.sendRecords(h); err != nil {
			return err
		}
	}
	return x.write(&ledger.Bye{})
}

func (x *exchange) sendLists() error {
	digest := ledger.DigestAll(x.mine)
	if err := x.write(&ledger.Detail{Fleet: x.m.c.Fleet, Roster: x.digestOf(x.m.c.Fleet), Open: digest, Root: digest}); err != nil {
		return err
	}
	rest := x.mine
	for {
		n := min(len(rest), ledger.ListingsMax)
		l := &ledger.List{Scope: ledger.ListAll, Entries: rest[:n], More: n < len(rest)}
		if err := x.write(l); err != nil {
			return err
		}
		if rest = rest[n:]; len(rest) == 0 {
			return nil
		}
	}
}

func (x *exchange) digestOf(tid ledger.TID) ledger.Digest {
	for _, l := range x.mine {
		if l.Ledger == tid {
			return l.Digest
		}
	}
	return ledger.Digest{}
}

// readLists reads the peer's details and what it holds. Every frame but the last brings something new, so
// that the peer cannot list for ever.
func (x *exchange) readLists() ([]ledger.Listing, error) {
	var out []ledger.Listing
	for first := true; ; first = false {
		f, err := x.read()
		if err != nil {
			return nil, err
		}
		switch f := f.(type) {
		case *ledger.Detail:
			if !first || f.Fleet != x.m.c.Fleet {
				return nil, fmt.Errorf("%w: details again, or of another fleet", errPeer)
			}
		case *ledger.List:
			if f.Scope != ledger.ListAll || f.More && len(f.Entries) == 0 {
				return nil, fmt.Errorf("%w: a list of scope %d with %d entries", errPeer, f.Scope, len(f.Entries))
			}
			if out = append(out, f.Entries...); len(out) > listingsMax {
				return nil, fmt.Errorf("%w: it names more than %d ledgers", errPeer, listingsMax)
			}
			if !f.More {
				return out, nil
			}
		default:
			return nil, fmt.Errorf("%w: want a list, got %T", errPeer, f)
		}
	}
}

// sendHaves says how far this side holds each ledger that the two hold differently.
func (x *exchange) sendHaves(theirs []ledger.Listing) error {
	there := make(map[ledger.TID]ledger.Digest, len(theirs))
	for _, l := range theirs {
		there[l.Ledger] = l.Digest
	}
	here := make(map[ledger.TID]bool, len(x.mine))
	for _, l := range x.mine {
		here[l.Ledger] = true
		if d, ok := there[l.Ledger]; ok && d != l.Digest {
			if err := x.sendHave(l.Ledger); err != nil {
				return err
			}
		}
	}
	for _, l := range theirs {
		if !here[l.Ledger] {
			if err := x.sendHave(l.Ledger); err != nil {
				return err
			}
		}
	}
	return x.write(&ledger.Bye{})
}

func (x *exchange) sendHave(tid ledger.TID) error {
	heads, err := x.m.c.Book.Heads(tid)
	if err != nil {
		return err
	}
	for {
		n := min(len(heads), ledger.HaveMax)
		h := &ledger.Have{Ledger: tid, More: n < len(heads)}
		for _, head := range heads[:n] {
			h.Positions = append(h.Positions, ledger.Position{Device: head.Device, Inc: head.Inc, Next: head.Next})
		}
		if err := x.write(h); err != nil {
			return err
		}
		if heads = heads[n:]; len(heads) == 0 {
			return nil
		}
	}
}

// readHaves reads how far the peer holds what differs, up to its mark. A ledger in several parts is put
// together; one that is named again is refused, since each naming is answered with records.
func (x *exchange) readHaves() ([]*ledger.Have, error) {
	var out []*ledger.Have
	named := map[ledger.TID]bool{}
	positions := 0
	for {
		f, err := x.read()
		if err != nil {
			return nil, err
		}
		switch f := f.(type) {
		case *ledger.Have:
			if positions += len(f.Positions); positions > positionsMax {
				return nil, fmt.Errorf("%w: it names more than %d chains", errPeer, positionsMax)
			}
			if f.More && len(f.Positions) == 0 {
				return nil, fmt.Errorf("%w: a part without a chain", errPeer)
			}
			if n := len(out); n > 0 && out[n-1].More && out[n-1].Ledger == f.Ledger {
				out[n-1].Positions = append(out[n-1].Positions, f.Positions...)
				out[n-1].More = f.More
				continue
			}
			if out = append(out, f); len(out) > listingsMax || named[f.Ledger] {
				return nil, fmt.Errorf("%w: it asks about more than %d ledgers, or about one twice", errPeer, listingsMax)
			}
			named[f.Ledger] = true
		case *ledger.Bye:
			return out, nil
		default:
			return nil, fmt.Errorf("%w: want how far, got %T", errPeer, f)
		}
	}
}

// fleetFirst moves the roster to the front: it says whose records may be stored.
func (x *exchange) fleetFirst(haves []*ledger.Have) []*ledger.Have {
	out := make([]*ledger.Have, 0, len(haves))
	for _, h := range haves {
		if h.Ledger == x.m.c.Fleet {
			out = append([]*ledger.Have{h}, out...)
		} else {
			out = append(out, h)
		}
	}
	return out
}
