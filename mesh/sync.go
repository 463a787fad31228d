package mesh

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
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
	askedAtOnce  = 2                // of whom
	askedPeers   = 8                // in all; what none of them has comes with a comparison
	askedMax     = 256              // what may be missing at once; beyond it nobody asks whether it is

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
	for _, d := range m.there() {
		m.run(func() { m.catchUp(d) })
	}
}

// Ask lets peers be asked, one after another, for as long as something is missing. Most gaps close by themselves
// within a moment, so that is when it is looked at first; several askings are one. missing is called from several
// goroutines, without a lock of the mesh's.
func (m *Mesh) Ask(missing func() bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ctx.Err() != nil {
		return
	}
	if len(m.asked) < askedMax {
		m.asked = append(m.asked, missing)
	}
	if m.askTimer == nil {
		m.askTimer = time.AfterFunc(askedAfter, m.askAround)
	}
}

// askAround catches up with a few peers at a time until nothing is missing. Were all asked at once, a fleet would
// answer one gap with as many exchanges as it has pairs.
func (m *Mesh) askAround() {
	m.mu.Lock()
	asked := m.asked
	m.asked, m.askTimer = nil, nil
	m.mu.Unlock()
	missing := func() bool {
		return len(asked) >= askedMax || slices.ContainsFunc(asked, func(missing func() bool) bool { return missing() })
	}
	connected := m.there()
	connected = connected[:min(len(connected), askedPeers)]
	there := make(chan ledger.Device, len(connected))
	for _, d := range connected {
		there <- d
	}
	close(there)
	for range askedAtOnce {
		m.run(func() {
			for d := range there {
				if m.ctx.Err() != nil || !missing() {
					return
				}
				m.catchUp(d)
			}
		})
	}
}

// there lists the connected peers in any order.
func (m *Mesh) there() (out []ledger.Device) {
	for _, s := range m.Peers() {
		if s.Connected {
			out = append(out, s.Device)
		}
	}
	rand.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// keepSyncing compares with one connected peer after another, at intervals that differ so that a fleet
// does not move in step.
func (m *Mesh) keepSyncing() {
	for {
		every := m.c.SyncEvery
		if m.pause(every-every/3+rand.N(2*every/3+1)) != nil {
			return
		}
		if there := m.there(); len(there) > 0 {
			m.catchUp(there[0])
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
	x := m.exchangeWith(s, d)
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
	x := m.exchangeWith(s, d)
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
	book     Book       // what the peer may see and bring
	fleet    ledger.TID // the peer's
	r        *bufio.Reader
	with     ledger.Device
	mine     []ledger.Listing             // ascending
	sum      ledger.Digest                // over mine
	stages   bool                         // the peer compares by stages too
	tombs    bool                         // the peer takes tombs
	buried   map[ledger.TID]bool          // tombs that were sent; the writing half's
	said     map[ledger.TID][]ledger.Head // how far this side said that it holds; the writing half's
	received int
}

// exchangeWith is an exchange with a peer over what it may see and bring.
func (m *Mesh) exchangeWith(s network.Stream, d ledger.Device) *exchange {
	book, fleet := m.bookFor(d)
	return newExchange(m, s, d, book, fleet)
}

func newExchange(m *Mesh, s network.Stream, d ledger.Device, book Book, fleet ledger.TID) *exchange {
	mine := book.Visible(d)
	return &exchange{m: m, s: s, book: book, fleet: fleet, r: bufio.NewReaderSize(s, 32<<10), with: d, mine: mine, sum: ledger.DigestAll(mine), said: map[ledger.TID][]ledger.Head{}, buried: map[ledger.TID]bool{}}
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
	return &ledger.Hello{
		Version: 1, Inc: x.m.c.Inc, Now: uint64(x.m.c.Wall().UnixMilli()), Digest: x.sum, Features: ledger.FeatureStages | ledger.FeatureTombs,
	}
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
	x.stages, x.tombs = h.Features&ledger.FeatureStages != 0, h.Features&ledger.FeatureTombs != 0
	return h.Digest == x.sum, nil
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
	return x.goOn(same)
}

// goOn is what the side that began does after the greetings.
func (x *exchange) goOn(same bool) error {
	switch {
	case same:
		return x.write(&ledger.Bye{})
	case x.stages:
		return x.leadStages()
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
	switch {
	case same:
		_, err = x.read()
		return err
	case x.stages:
		return x.answerStages()
	}
	return x.trade()
}

func (x *exchange) sendHave(tid ledger.TID) error {
	if buried, err := x.sendTomb(tid); buried || err != nil {
		return err
	}
	heads, err := x.book.Heads(tid)
	if err != nil {
		return err
	}
	x.said[tid] = heads
	for {
		n := min(len(heads), ledger.HaveMax)
		h := &ledger.Have{Ledger: tid, More: n < len(heads)}
		for _, head := range heads[:n] {
			h.Positions = append(h.Positions, ledger.Position{Device: head.Device, Inc: head.Inc, Next: head.Next})
		}
		if !h.More {
			h.Digest = ledger.DigestOf(x.said[tid])
		}
		if err := x.write(h); err != nil {
			return err
		}
		if heads = heads[n:]; len(heads) == 0 {
			return nil
		}
	}
}

// haveList is how far the peer holds what differs, as it names it.
type haveList struct {
	all       []*ledger.Have
	named     map[ledger.TID]bool
	positions int
}

// add takes one frame. A ledger in several parts is put together; one that is named again is refused, since
// each naming is answered with records.
func (l *haveList) add(f *ledger.Have) error {
	if l.positions += len(f.Positions); l.positions > positionsMax {
		return fmt.Errorf("%w: it names more than %d chains", errPeer, positionsMax)
	}
	if f.More && len(f.Positions) == 0 {
		return fmt.Errorf("%w: a part without a chain", errPeer)
	}
	if n := len(l.all); n > 0 && l.all[n-1].More && l.all[n-1].Ledger == f.Ledger {
		l.all[n-1].Positions = append(l.all[n-1].Positions, f.Positions...)
		l.all[n-1].More, l.all[n-1].Digest = f.More, f.Digest
		return nil
	}
	if err := l.name(f.Ledger); err != nil {
		return err
	}
	l.all = append(l.all, f)
	return nil
}

// name takes the naming of one ledger.
func (l *haveList) name(tid ledger.TID) error {
	if len(l.named) >= listingsMax || l.named[tid] {
		return fmt.Errorf("%w: it asks about more than %d ledgers, or about one twice", errPeer, listingsMax)
	}
	if l.named == nil {
		l.named = map[ledger.TID]bool{}
	}
	l.named[tid] = true
	return nil
}

// readHaves reads how far the peer holds what differs, up to its mark, and returns what was added.
func (x *exchange) readHaves(l *haveList) ([]*ledger.Have, error) {
	for from := len(l.all); ; {
		f, err := x.read()
		if err != nil {
			return nil, err
		}
		switch f := f.(type) {
		case *ledger.Have:
			if err := l.add(f); err != nil {
				return nil, err
			}
		case *ledger.Tomb:
			if err := x.buryOnce(l, f); err != nil {
				return nil, err
			}
		case *ledger.Bye:
			return l.all[from:], nil
		default:
			return nil, fmt.Errorf("%w: want how far, got %T", errPeer, f)
		}
	}
}

// beside runs the reading and the writing half of an exchange beside each other, so that neither side can
// wait for one that waits for it. The writing half is told when the reading one has failed.
func (x *exchange) beside(read func() error, write func(failed <-chan struct{}) error) error {
	failed := make(chan struct{})
	var sent error
	var writer sync.WaitGroup
	writer.Go(func() {
		if sent = write(failed); sent != nil {
			_ = x.s.Reset() // wakes the reader
		}
	})
	err := read()
	if err != nil {
		close(failed)
		_ = x.s.Reset() // wakes the writer
	}
	writer.Wait()
	return errors.Join(err, sent)
}

// known waits for what the reading half learns, and reports whether it did.
func known(learnt, failed <-chan struct{}) bool {
	select {
	case <-learnt:
		return true
	case <-failed:
		return false
	}
}
