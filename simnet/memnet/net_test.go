package memnet

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/parley-mesh/parley/simnet/virtual"
)

const latency = 10 * time.Millisecond

var (
	hostA = netip.MustParseAddr("10.0.0.1")
	hostB = netip.MustParseAddr("10.0.0.2")
	port  = netip.AddrPortFrom(hostB, 4001)
)

// connect makes a connection from one host to another's listener.
func connect(t *testing.T, n *Net) (here, there net.Conn) {
	t.Helper()
	l, err := n.listen(port)
	if err != nil {
		t.Fatal(err)
	}
	here, err = n.dial(t.Context(), hostA, port)
	if err != nil {
		t.Fatal(err)
	}
	if there, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return here, there
}

func send(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
}

// receive reads exactly as much as is expected.
func receive(t *testing.T, c net.Conn, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(c, got); err != nil || string(got) != want {
		t.Fatalf("got %q, %v; want %q", got, err, want)
	}
}

func TestBytesArriveInOrderAfterTheLatency(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		n := New(latency)
		here, there := connect(t, n)
		start := time.Now()

		send(t, here, "one ")
		send(t, here, "two")
		if err := here.Close(); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(there)

		if err != nil || string(got) != "one two" {
			t.Errorf("got %q, %v", got, err)
		}
		if took := time.Since(start); took != latency {
			t.Errorf("it took %v", took)
		}
		if _, err := here.Write([]byte("more")); !errors.Is(err, net.ErrClosed) {
			t.Errorf("writing after the end: %v", err)
		}
		if n.Carried() != 7 || len(n.conns) > 1 {
			t.Errorf("%d bytes were carried, %d connections are left", n.Carried(), len(n.conns))
		}
	})
}

func TestAnUnpluggedHostHearsLaterWhatWaited(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		n := New(latency)
		here, there := connect(t, n)

		n.Unplug(hostB)
		send(t, here, "patience")
		time.AfterFunc(patience/2, func() { n.Plug(hostB) })
		start := time.Now()
		receive(t, there, "patience")

		if took := time.Since(start); took != patience/2 {
			t.Errorf("it came after %v", took)
		}
		<-time.After(2 * patience) // nobody gives up once the path is whole
		send(t, there, "still here")
		receive(t, here, "still here")
	})
}

func TestACutPathEndsTheSideThatWaitsAndThenTheOther(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		n := New(latency)
		here, there := connect(t, n)

		n.Part(hostA, hostB)
		send(t, here, "lost")
		start := time.Now()
		_, err := here.Read(make([]byte, 1))

		if !errors.Is(err, syscall.ETIMEDOUT) || time.Since(start) != patience {
			t.Errorf("reading ends with %v after %v", err, time.Since(start))
		}
		n.Heal(hostA, hostB)
		if err := there.SetReadDeadline(time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		if _, err := there.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the silent side was told: %v", err)
		}
		if _, err := there.Write([]byte("?")); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("writing to who gave up: %v", err)
		}
		if len(n.conns) > 0 {
			t.Errorf("%d connections are left", len(n.conns))
		}
	})
}

func TestAWriterWaitsForRoomUntilItsDeadline(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		n := New(latency)
		here, there := connect(t, n)
		full := bytes.Repeat([]byte{1}, windowMax)
		if _, err := here.Write(full); err != nil {
			t.Fatal(err)
		}

		if err := here.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := here.Write([]byte{2}); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("writing without room: %v", err)
		}
		if err := here.SetDeadline(time.Time{}); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { // ends with its write
			_, err := here.Write([]byte{3})
			done <- err
		}()
		receive(t, there, string(full))
		if err := <-done; err != nil {
			t.Errorf("writing with room: %v", err)
		}
	})
}

// dialWithin dials with a bound on its time.
func dialWithin(t *testing.T, n *Net, d time.Duration) (*conn, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	return n.dial(ctx, hostA, port)
}

func TestNobodyIsReachedWhereNobodyListensOrThePathIsCut(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		n := New(latency)
		if _, err := n.dial(t.Context(), hostA, port); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("dialling nobody: %v", err)
		}
		l, err := n.listen(port)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.listen(port); !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("listening twice: %v", err)
		}
		free, err := n.listen(netip.AddrPortFrom(hostB, 0))
		if err != nil || free.at.Port() == 0 {
			t.Errorf("any port: %v, %v", free, err)
		}
		n.Unplug(hostA)
		c, err := dialWithin(t, n, time.Minute)
		if !errors.Is(err, syscall.ETIMEDOUT) {
			t.Errorf("dialling by a cut path: %v, %v", c, err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("accepting after the end: %v", err)
		}
	})
}

// newHosts are two libp2p hosts that listen on the network.
func newHosts(t *testing.T, n *Net) (a, b host.Host) {
	t.Helper()
	var out []host.Host
	for _, at := range []netip.Addr{hostA, hostB} {
		h, err := libp2p.New(append(n.Host(at), libp2p.ListenAddrStrings("/ip4/"+at.String()+"/tcp/4001"), libp2p.DisableRelay(), libp2p.DisableMetrics())...)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, h)
	}
	return out[0], out[1]
}

func TestRealHostsTalkThroughADayAlone(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		n := New(latency)
		a, b := newHosts(t, n)
		b.SetStreamHandler("/echo/1", func(s network.Stream) {
			_, err := io.Copy(s, s)
			if err = errors.Join(err, s.Close()); err != nil {
				t.Error(err)
			}
		})
		if err := a.Connect(t.Context(), peer.AddrInfo{ID: b.ID(), Addrs: b.Addrs()}); err != nil {
			t.Fatal(err)
		}

		<-time.After(24 * time.Hour)
		s, err := a.NewStream(t.Context(), b.ID(), "/echo/1")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(s, "good morning"); err != nil {
			t.Fatal(err)
		}
		if err := s.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(s)

		if err != nil || string(got) != "good morning" {
			t.Errorf("got %q, %v", got, err)
		}
		if err := errors.Join(a.Close(), b.Close()); err != nil {
			t.Error(err)
		}
	})
}
