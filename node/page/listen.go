package page

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"syscall"

	"github.com/parley-mesh/parley/node/api"
)

// portTries bounds the search for a port that is free on both loopback addresses.
const portTries = 16

// Listeners are where the page is served: one port on both loopback addresses, as far as the system has both.
// Whoever else held [::1] at this port would be given the login links of people whose browser asks there first.
type Listeners struct {
	Port int
	all  []net.Listener
}

// Listen opens a port on loopback alone; 0 is any. [api.ErrPortTaken] when somebody else has a port that was named.
func Listen(port int) (Listeners, error) {
	for range portTries {
		l, err := listen(port)
		if err == nil || port != 0 {
			return l, err
		}
	}
	return Listeners{}, fmt.Errorf("listen for the page: no port is free on both loopback addresses: %w", api.ErrPortTaken)
}

func listen(port int) (Listeners, error) {
	four, err := on(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port)
	if err != nil {
		return Listeners{}, err
	}
	l := Listeners{Port: four.Addr().(*net.TCPAddr).Port, all: []net.Listener{four}}
	six, err := on(netip.IPv6Loopback(), l.Port)
	switch {
	case err == nil:
		l.all = append(l.all, six)
	case errors.Is(err, api.ErrPortTaken):
		return Listeners{}, errors.Join(err, l.Close())
	}
	return l, nil // without IPv6 nobody can be there
}

func on(a netip.Addr, port int) (net.Listener, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(a.String(), strconv.Itoa(port)))
	if errors.Is(err, syscall.EADDRINUSE) {
		err = fmt.Errorf("listen for the page at %s, port %d: %w", a, port, api.ErrPortTaken)
	}
	return l, err
}

// Close gives the port back.
func (l Listeners) Close() error {
	var errs []error
	for _, one := range l.all {
		errs = append(errs, one.Close())
	}
	return errors.Join(errs...)
}

// Host is how browsers must name the page: passkeys need a name, and one name is one origin.
func (l Listeners) Host() string { return net.JoinHostPort("localhost", strconv.Itoa(l.Port)) }

// Origin is the page's one origin.
func (l Listeners) Origin() string { return "http://" + l.Host() }

// Addrs are the addresses, for whoever checks that nobody else can reach them.
func (l Listeners) Addrs() (out []*net.TCPAddr) {
	for _, one := range l.all {
		out = append(out, one.Addr().(*net.TCPAddr))
	}
	return out
}
