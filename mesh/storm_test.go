package mesh

import (
	"context"
	"encoding/binary"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	ma "github.com/multiformats/go-multiaddr"
	"google.golang.org/protobuf/proto"

	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/simnet/virtual"
)

// turncoat is a member's key in the hands of somebody who keeps to no rule.
type turncoat struct {
	t    *testing.T
	host host.Host
	to   peer.ID // whom it torments
}

// betray takes the last computer of a town over, and connects to the first.
func (c *town) betray(t *testing.T) *turncoat {
	t.Helper()
	last := len(c.ids) - 1
	c.close(last)
	key, err := c.ids[last].libp2p()
	if err != nil {
		t.Fatal(err)
	}
	h, err := libp2p.New(append([]libp2p.Option{
		libp2p.Identity(key), libp2p.ListenAddrStrings(fmt.Sprintf("/ip4/%s/tcp/4002", c.host(last))), libp2p.DisableRelay(), libp2p.DisableMetrics(),
	}, c.net.Host(c.host(last))...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	at := peer.AddrInfo{ID: c.meshes[0].host.ID(), Addrs: []ma.Multiaddr{ma.StringCast(fmt.Sprintf("/ip4/%s/tcp/4001", c.host(0)))}}
	if err := h.Connect(t.Context(), at); err != nil {
		t.Fatal(err)
	}
	return &turncoat{t, h, at.ID}
}

func (x *turncoat) open(p string) network.Stream {
	x.t.Helper()
	s, err := x.host.NewStream(x.t.Context(), x.to, protocol.ID(p))
	if err != nil {
		x.t.Fatal(err)
	}
	return s
}

// gossip sends messages of gossip's own as they stand. The stream may be closed on it in the middle.
func (x *turncoat) gossip(rpcs ...*pb.RPC) {
	x.t.Helper()
	s := x.open(string(pubsub.GossipSubID_v11))
	for _, rpc := range rpcs {
		text, err := proto.Marshal(rpc)
		if err != nil {
			x.t.Fatal(err)
		}
		if _, err := s.Write(append(binary.AppendUvarint(nil, uint64(len(text))), text...)); err != nil {
			return
		}
	}
}

// blamed is how often the first computer refused something to the last.
func (c *town) blamed(why Refusal) uint64 {
	for _, b := range c.meshes[0].RefusedTo() {
		if b.Why == why.String() && b.Device == c.ids[len(c.ids)-1].Device() {
			return b.Times
		}
	}
	return 0
}

// honest checks that a record of the second computer reaches the first within a moment, whatever else happens.
func (c *town) honest(t *testing.T) {
	t.Helper()
	held := c.shelves[0].count()
	c.say(1, newPen(c.ids[1], ledger.TID{byte(held + 100)}), true)
	c.heard(0, held+1, 2*time.Second)
}

func TestAFloodOfRubbishIsCountedAndForgotten(t *testing.T) { // S18
	virtual.Test(t, func(t *testing.T) {
		c := newTown(t, 3)
		x := c.betray(t)
		topic := topicOf(fleet)
		before := heap()
		forged := newPen(c.ids[2], ledger.TID{9}).write(t).Wire
		var flood []*pb.RPC
		for k := range 20_000 {
			data := append(binary.BigEndian.AppendUint64(nil, uint64(k)), make([]byte, 400)...)
			if k%2 == 0 {
				data = append([]byte(nil), forged...)
				binary.BigEndian.PutUint32(data[len(data)-4:], uint32(k))
			}
			flood = append(flood, &pb.RPC{Publish: []*pb.Message{{Data: data, Topic: &topic}}})
		}
		x.gossip(flood...)
		c.honest(t)
		<-time.After(time.Minute)

		if n := c.blamed(RefusedMalformed) + c.blamed(RefusedSignature) + c.blamed(RefusedFlood); n < 19_000 {
			t.Errorf("%d of 20,000 were counted: %+v", n, c.meshes[0].RefusedTo())
		}
		if n := c.shelves[0].count(); n != 1 {
			t.Errorf("%d records are held", n)
		}
		<-time.After(5 * time.Minute) // what gossip has seen is forgotten
		flood = nil
		if grown := int64(heap()) - int64(before); grown > 32<<20 {
			t.Errorf("%d MB are still held", grown>>20)
		}
	})
}

func TestAReplayedRecordIsPassedOnByNobody(t *testing.T) { // S18
	virtual.Test(t, func(t *testing.T) {
		c := newTown(t, 3)
		p := newPen(c.ids[0], ledger.TID{7})
		c.say(0, p, true)
		c.heard(1, 1, time.Second)
		x := c.betray(t)
		records, err := c.shelves[0].From(ledger.TID{7}, p.head.Chain, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		topic := topicOf(fleet)
		<-time.After(5 * time.Minute) // gossip has forgotten it
		before := c.net.Carried()
		again := &pb.RPC{Publish: []*pb.Message{{Data: records[0], Topic: &topic}}}
		x.gossip(again)
		<-time.After(time.Second)

		if n := c.blamed(RefusedReplay); n != 1 {
			t.Errorf("counted %d times", n)
		}
		if n := c.net.Carried() - before; n > 4000 {
			t.Errorf("it cost %d bytes, more than its own way", n)
		}
		c.honest(t)
	})
}

func TestGraftsAndPrunesWithoutEndAreNotListenedTo(t *testing.T) { // S18
	virtual.Test(t, func(t *testing.T) {
		c := newTown(t, 3)
		x := c.betray(t)
		topic := topicOf(fleet)
		graft := &pb.RPC{Control: &pb.ControlMessage{Graft: []*pb.ControlGraft{{TopicID: &topic}}}}
		prune := &pb.RPC{Control: &pb.ControlMessage{Prune: []*pb.ControlPrune{{TopicID: &topic}}}}
		var storm []*pb.RPC
		for range 5000 {
			storm = append(storm, graft, prune)
		}
		before := c.net.Carried()
		x.gossip(storm...)
		c.honest(t)
		<-time.After(10 * time.Second)

		if n := c.blamed(RefusedGrafts); n < 9000 {
			t.Errorf("%d of 10,000 were counted", n)
		}
		if n := c.net.Carried() - before; n > 10_000*200 {
			t.Errorf("they were answered: %d bytes", n)
		}
	})
}

func TestAGiantFrameEndsItsExchange(t *testing.T) { // S18
	virtual.Test(t, func(t *testing.T) {
		c := newTown(t, 3)
		x := c.betray(t)
		before := heap()
		for range 20 {
			s := x.open(string(syncProtocol))
			_, _ = s.Write(append(binary.AppendUvarint(nil, 1<<40), make([]byte, 1<<16)...)) // it may be closed on it
			<-time.After(time.Second)
		}
		c.honest(t)

		if n := c.blamed(RefusedProtocol); n < 15 {
			t.Errorf("counted %d times: %+v", n, c.meshes[0].RefusedTo())
		}
		if grown := int64(heap()) - int64(before); grown > 32<<20 {
			t.Errorf("%d MB are held", grown>>20)
		}
	})
}

func TestWhoReadsNothingIsNotWaitedForLong(t *testing.T) { // S18
	virtual.Test(t, func(t *testing.T) {
		c := newTown(t, 3)
		x := c.betray(t)
		for range 5 {
			s := x.open(string(syncProtocol))
			if err := ledger.WriteFrame(s, &ledger.Hello{Version: 1, Inc: ledger.Incarnation{9}, Now: uint64(time.Now().UnixMilli()), Digest: ledger.Digest{9}}); err != nil {
				t.Fatal(err)
			}
		}
		c.honest(t)
		<-time.After(2 * ioTimeout)

		if n := c.blamed(RefusedSlow); n == 0 {
			t.Errorf("nothing was counted: %+v", c.meshes[0].RefusedTo())
		}
		c.meshes[0].mu.Lock()
		defer c.meshes[0].mu.Unlock()
		if n := len(c.meshes[0].answers); n > 0 {
			t.Errorf("%d are still waited for", n)
		}
	})
}

func TestStreamsWithoutEndAreRefused(t *testing.T) { // S18
	c := newCrew(t, 2, loopback["quic"])
	c.join()
	id, err := peerOf(c.ids[0].Device())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(c.ctx, patience)
	defer cancel()
	opened := 0
	for range 4 * exchangesMax {
		s, err := c.meshes[1].host.NewStream(ctx, id, pingProtocol)
		if err != nil {
			continue
		}
		defer s.Reset()
		var b [pingBytes]byte
		if _, err := s.Write(b[:]); err != nil {
			continue
		}
		if _, err := s.Read(b[:]); err == nil {
			opened++
		}
	}
	if opened > exchangesMax {
		t.Errorf("%d streams of one protocol are open, want at most %d", opened, exchangesMax)
	}
	if opened == 0 {
		t.Error("an honest stream was refused")
	}
}

// heap is how much memory is in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}
