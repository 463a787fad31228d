package memnet

import (
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"

	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

// windowMax is how many bytes may be on their way in one direction before a writer waits.
const windowMax = 1 << 20

// chunk is what one write put on the way; an empty one is the end of the stream.
type chunk struct {
	due   time.Time
	bytes []byte
}

// pipe is one direction of a connection. The network's mutex guards it.
type pipe struct {
	n       *Net
	from    *conn
	queue   []chunk
	size    int
	ended   bool          // its reader has read the end
	stalled *time.Timer   // runs while something waits on a cut path
	changed chan struct{} // closed and replaced at every change
}

func (p *pipe) signal() {
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *pipe) cut() bool { return p.n.cut(p.from.local.Addr(), p.from.remote.Addr()) }

// look starts or stops the writer's patience, and wakes whoever waits.
func (p *pipe) look() {
	waits := p.cut() && len(p.queue) > 0
	if waits && p.stalled == nil {
		p.stalled = time.AfterFunc(patience, p.giveUp)
	}
	if !waits && p.stalled != nil {
		p.stalled.Stop()
		p.stalled = nil
	}
	p.signal()
}

// giveUp ends the writer's side. The reader's knows nothing of it: no packet gets there.
func (p *pipe) giveUp() {
	p.n.mu.Lock()
	defer p.n.mu.Unlock()
	if p.stalled != nil && p.cut() {
		p.from.abort(syscall.ETIMEDOUT)
	}
}

// put sends bytes, or the end of the stream.
func (p *pipe) put(b []byte) {
	due := time.Now().Add(p.n.latency)
	if p.n.share > 0 && p.n.luck.Float64() < p.n.share {
		due = due.Add(p.n.again)
	}
	p.queue = append(p.queue, chunk{due, append([]byte(nil), b...)})
	p.size += len(b)
	p.n.carried += int64(len(b))
	p.n.count(p.from.local.Addr(), p.from.remote.Addr(), Traffic{Bytes: int64(len(b))})
	p.look()
}

// take reads what has arrived. If nothing has, it says how long the next takes; negative is unknown.
func (p *pipe) take(b []byte) (got int, wait time.Duration, err error) {
	if p.ended {
		return 0, 0, io.EOF
	}
	if len(p.queue) == 0 || p.cut() {
		return 0, -1, nil
	}
	first := &p.queue[0]
	if wait = time.Until(first.due); wait > 0 {
		return 0, wait, nil
	}
	if len(first.bytes) == 0 {
		p.ended, p.queue = true, nil
		delete(p.n.conns, p.from)
		return 0, 0, io.EOF
	}
	got = copy(b, first.bytes)
	if first.bytes = first.bytes[got:]; len(first.bytes) == 0 {
		p.queue = p.queue[1:]
	}
	p.size -= got
	p.signal()
	return got, 0, nil
}

// conn is one end of a connection.
type conn struct {
	n             *Net
	local, remote netip.AddrPort
	in, out       *pipe
	peer          *conn

	// What follows is guarded by the network's mutex.
	err          error // why it is over here
	readUntil    time.Time
	writtenUntil time.Time
}

var _ manet.Conn = (*conn)(nil)

// abort ends this side with what waits to leave it. The mutex is held.
func (c *conn) abort(why error) {
	if c.err == nil {
		c.err = why
	}
	delete(c.n.conns, c)
	c.out.queue, c.out.size = nil, 0
	c.out.look()
	c.in.signal()
}

// Read waits for bytes, the end, an error or the deadline.
func (c *conn) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	for {
		c.n.mu.Lock()
		if c.err != nil {
			defer c.n.mu.Unlock()
			return 0, c.err
		}
		got, wait, err := c.in.take(b)
		changed, until := c.in.changed, c.readUntil
		c.n.mu.Unlock()
		if got > 0 || err != nil {
			return got, err
		}
		if err := await(changed, wait, until); err != nil {
			return 0, err
		}
	}
}

// Write waits for room, and leaves the rest to the network.
func (c *conn) Write(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	for {
		c.n.mu.Lock()
		switch {
		case c.err != nil:
			defer c.n.mu.Unlock()
			return 0, c.err
		case c.peer.err != nil && !c.out.cut():
			c.abort(syscall.ECONNRESET)
			c.n.mu.Unlock()
			return 0, syscall.ECONNRESET
		case !c.writtenUntil.IsZero() && !time.Now().Before(c.writtenUntil):
			c.n.mu.Unlock()
			return 0, os.ErrDeadlineExceeded
		case c.out.size < windowMax:
			c.out.put(b)
			c.n.mu.Unlock()
			return len(b), nil
		}
		changed, until := c.out.changed, c.writtenUntil
		c.n.mu.Unlock()
		if err := await(changed, -1, until); err != nil {
			return 0, err
		}
	}
}

// await waits for a change, at most wait if that is not negative, and fails at the deadline.
func await(changed <-chan struct{}, wait time.Duration, until time.Time) error {
	last := false
	if !until.IsZero() {
		left := time.Until(until)
		if left <= 0 {
			return os.ErrDeadlineExceeded
		}
		if wait < 0 || left < wait {
			wait, last = left, true
		}
	}
	if wait < 0 {
		<-changed
		return nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-changed:
		return nil
	case <-timer.C:
	}
	if last {
		return os.ErrDeadlineExceeded
	}
	return nil
}

// Close ends this side; the other reads what is on its way, and then the end.
func (c *conn) Close() error {
	c.n.mu.Lock()
	defer c.n.mu.Unlock()
	if c.err != nil {
		return nil
	}
	if c.peer.err != nil { // nobody reads the end
		c.abort(net.ErrClosed)
		c.peer.abort(net.ErrClosed)
		return nil
	}
	c.err = net.ErrClosed
	c.out.put(nil) // stays with the network until it has arrived
	c.in.signal()
	return nil
}

// SetDeadline sets both deadlines.
func (c *conn) SetDeadline(t time.Time) error {
	c.n.mu.Lock()
	defer c.n.mu.Unlock()
	c.readUntil, c.writtenUntil = t, t
	c.in.signal()
	c.out.signal()
	return nil
}

// SetReadDeadline sets when reading fails.
func (c *conn) SetReadDeadline(t time.Time) error {
	c.n.mu.Lock()
	defer c.n.mu.Unlock()
	c.readUntil = t
	c.in.signal()
	return nil
}

// SetWriteDeadline sets when writing fails.
func (c *conn) SetWriteDeadline(t time.Time) error {
	c.n.mu.Lock()
	defer c.n.mu.Unlock()
	c.writtenUntil = t
	c.out.signal()
	return nil
}

// LocalAddr is this end.
func (c *conn) LocalAddr() net.Addr { return net.TCPAddrFromAddrPort(c.local) }

// RemoteAddr is the other end.
func (c *conn) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(c.remote) }

// LocalMultiaddr is this end.
func (c *conn) LocalMultiaddr() ma.Multiaddr { return multiaddr(c.local) }

// RemoteMultiaddr is the other end.
func (c *conn) RemoteMultiaddr() ma.Multiaddr { return multiaddr(c.remote) }
