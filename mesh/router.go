package mesh

import (
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	basichost "github.com/libp2p/go-libp2p/p2p/host/basic"
	ma "github.com/multiformats/go-multiaddr"
)

// routerLooks is when a router is looked for again that was not found: it may have been starting, or too busy.
var routerLooks = []time.Duration{20 * time.Second, 2 * time.Minute, 15 * time.Minute}

// router asks the router in front of this computer for ports. libp2p's own looks for one when a host is made and never
// again but for a router that refuses connections; a laptop that is carried elsewhere has another one there.
type router struct {
	net   network.Network
	moved chan struct{}
	done  chan struct{}
	work  sync.WaitGroup

	mu  sync.Mutex
	now basichost.NATManager
}

func newRouter(n network.Network) *router {
	r := &router{net: n, moved: make(chan struct{}, 1), done: make(chan struct{}), now: basichost.NewNATManager(n)}
	r.work.Go(r.keepLooking)
	return r
}

// anew lets the router be looked for that is there now.
func (r *router) anew() {
	select {
	case r.moved <- struct{}{}:
	default: // it is asked for already
	}
}

func (r *router) keepLooking() {
	timer := time.NewTimer(routerLooks[0])
	defer timer.Stop()
	for looks := 0; ; {
		select {
		case <-timer.C:
			if r.HasDiscoveredNAT() {
				continue
			}
			looks++
		case <-r.moved:
			looks = 0
		case <-r.done:
			return
		}
		r.replace()
		if looks < len(routerLooks) {
			timer.Reset(routerLooks[looks])
		}
	}
}

// replace begins a search. The old one is told beside it that its ports are wanted no more, as far as it can still be
// reached.
func (r *router) replace() {
	r.mu.Lock()
	old := r.now
	r.now = basichost.NewNATManager(r.net)
	r.mu.Unlock()
	r.work.Go(func() { _ = old.Close() }) // it may be far away
}

func (r *router) manager() basichost.NATManager {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

// GetMapping is the address in front for one behind, nil for none.
func (r *router) GetMapping(a ma.Multiaddr) ma.Multiaddr { return r.manager().GetMapping(a) }

// HasDiscoveredNAT reports whether there is a router that takes orders.
func (r *router) HasDiscoveredNAT() bool { return r.manager().HasDiscoveredNAT() }

// Close gives the ports back.
func (r *router) Close() error {
	close(r.done)
	r.work.Wait()
	return r.manager().Close()
}

// askRouterAnew does so if ports are asked for at all.
func (m *Mesh) askRouterAnew() {
	if m.hands.router != nil {
		m.hands.router.anew()
	}
}
