package page

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// Limits of how many are connected. Whoever uses this computer can connect; only who has a session stays when it is full.
const (
	strangersConnected = 64
	connectedEach      = 32 // of one session
	connectedMax       = strangersConnected + sessionsMax*connectedEach
)

// shares are places that sessions take, so many each and so many together.
type shares struct {
	each, all int

	mu    sync.Mutex
	taken int
	by    map[string]int
}

// take takes one place until give is called; false: there is none for who.
func (s *shares) take(who string) (give func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken >= s.all || s.by[who] >= s.each {
		return nil, false
	}
	if s.by == nil {
		s.by = map[string]int{}
	}
	s.taken++
	s.by[who]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.taken--
		if s.by[who]--; s.by[who] == 0 {
			delete(s.by, who)
		}
	}, true
}

// crowd is who is connected to the page.
type crowd struct {
	mu    sync.Mutex
	count uint64
	all   map[net.Conn]*caller
}

// caller is one connection.
type caller struct {
	conn  net.Conn
	since uint64 // in the order of their coming
	whose string // session that asked over it last; "" none
}

type callerKey struct{}

// came counts a connection in. Of too many strangers the oldest is cut off, so that whoever holds many open keeps out
// nobody who comes to ask at once.
func (c *crowd) came(ctx context.Context, conn net.Conn) context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = map[net.Conn]*caller{}
	}
	c.count++
	me := &caller{conn: conn, since: c.count}
	c.all[conn] = me
	c.thin(strangersConnected, func(x *caller) bool { return x.whose == "" })
	c.thin(connectedMax, func(*caller) bool { return true }) // of sessions that have ended, too
	return context.WithValue(ctx, callerKey{}, me)
}

// thin cuts the oldest off where more than most are of a kind. The caller holds the lock.
func (c *crowd) thin(most int, of func(*caller) bool) {
	n, first := 0, (*caller)(nil)
	for _, x := range c.all {
		if !of(x) {
			continue
		}
		if n++; first == nil || x.since < first.since {
			first = x
		}
	}
	if n > most {
		delete(c.all, first.conn)
		_ = first.conn.Close() // it is given up
	}
}

// state is told of each connection's end.
func (c *crowd) state(conn net.Conn, s http.ConnState) {
	if s != http.StateClosed && s != http.StateHijacked {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.all, conn)
}

// belongs says whose the connection of a request is; false: whose has too many.
func (c *crowd) belongs(r *http.Request, whose string) bool {
	me, ok := r.Context().Value(callerKey{}).(*caller)
	if !ok {
		return true // not served by [Server.Serve]
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if me.whose == whose {
		return true
	}
	n := 0
	for _, x := range c.all {
		if x.whose == whose {
			n++
		}
	}
	if whose != "" && n >= connectedEach {
		return false
	}
	me.whose = whose
	return true
}
