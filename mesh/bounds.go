package mesh

import (
	"github.com/libp2p/go-libp2p"
	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	rcmgr "github.com/libp2p/go-libp2p/p2p/host/resource-manager"
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/proto"
)

// What connections and streams may take, as DESIGN.md tells with the reasons. A fleet has a few dozen
// computers; whoever wants more is broken or hostile.
const (
	connsMax        = 512 // in all, guests and relayed ones included
	connsPerPeer    = 8   // one to each address that was dialled at once, and one over each relay
	connsPerIP      = 64  // a household or a relay behind one address
	streamsMax      = 8192
	streamsPerPeer  = 256
	exchangesMax    = 8         // streams of one protocol of ours, by one peer
	circuitsMax     = 64        // circuits that one member may have here
	memoryMax       = 256 << 20 // of libp2p's own buffers
	memoryPerPeer   = 32 << 20
	strangersMax    = 64 // connections whose key is not proven yet
	strangersMemory = 16 << 20
)

// bounded is libp2p's resource manager with these limits. What it refuses is counted.
func bounded(r *Counters) (network.ResourceManager, error) {
	scaling := rcmgr.DefaultLimits
	libp2p.SetDefaultServiceLimits(&scaling)
	small := rcmgr.ResourceLimits{Streams: exchangesMax, StreamsInbound: exchangesMax, StreamsOutbound: exchangesMax}
	wide := rcmgr.ResourceLimits{Streams: circuitsMax * 2, StreamsInbound: circuitsMax, StreamsOutbound: circuitsMax}
	limits := rcmgr.PartialLimitConfig{
		System: rcmgr.ResourceLimits{
			Conns: connsMax, ConnsInbound: connsMax / 2, ConnsOutbound: connsMax, Streams: streamsMax, StreamsInbound: streamsMax / 2, StreamsOutbound: streamsMax,
			FD: connsMax, Memory: memoryMax,
		},
		Transient: rcmgr.ResourceLimits{
			Conns: strangersMax, ConnsInbound: strangersMax, ConnsOutbound: strangersMax, Streams: 4 * strangersMax, StreamsInbound: 4 * strangersMax,
			StreamsOutbound: 4 * strangersMax, FD: strangersMax, Memory: strangersMemory,
		},
		PeerDefault: rcmgr.ResourceLimits{
			Conns: connsPerPeer, ConnsInbound: connsPerPeer, ConnsOutbound: connsPerPeer, Streams: streamsPerPeer, StreamsInbound: streamsPerPeer,
			StreamsOutbound: streamsPerPeer, FD: connsPerPeer, Memory: memoryPerPeer,
		},
		ProtocolPeer: map[protocol.ID]rcmgr.ResourceLimits{
			syncProtocol: small, madeProtocol: small, pressProtocol: small, linesProtocol: small, whereProtocol: small, pairProtocol: small, pingProtocol: small, relayProtocol: small, passProtocol: small,
			proto.ProtoIDv2Hop: wide, proto.ProtoIDv2Stop: wide,
		},
	}
	perIP := []rcmgr.ConnLimitPerSubnet{{PrefixLength: 32, ConnCount: connsPerIP}}
	perSite := []rcmgr.ConnLimitPerSubnet{{PrefixLength: 56, ConnCount: connsPerIP}, {PrefixLength: 48, ConnCount: 2 * connsPerIP}}
	return rcmgr.NewResourceManager(rcmgr.NewFixedLimiter(limits.Build(scaling.AutoScale())), rcmgr.WithLimitPerSubnet(perIP, perSite),
		rcmgr.WithMetricsDisabled(), rcmgr.WithMetrics(blocking{r}))
}

// blocking counts what the resource manager refuses, and nothing of what it allows.
type blocking struct{ r *Counters }

var _ rcmgr.MetricsReporter = blocking{}

// BlockConn counts a connection too many.
func (b blocking) BlockConn(network.Direction, bool) { b.r.Count(RefusedResources) }

// BlockStream counts a stream too many.
func (b blocking) BlockStream(p peer.ID, _ network.Direction) { b.r.countBy(RefusedResources, p) }

// BlockPeer counts a peer with too many connections.
func (b blocking) BlockPeer(p peer.ID) { b.r.countBy(RefusedResources, p) }

// BlockProtocol counts a protocol with too many streams.
func (b blocking) BlockProtocol(protocol.ID) { b.r.Count(RefusedResources) }

// BlockProtocolPeer counts a peer with too many streams of one protocol.
func (b blocking) BlockProtocolPeer(_ protocol.ID, p peer.ID) { b.r.countBy(RefusedResources, p) }

// BlockService counts a service with too many streams.
func (b blocking) BlockService(string) { b.r.Count(RefusedResources) }

// BlockServicePeer counts a peer with too many streams of one service.
func (b blocking) BlockServicePeer(_ string, p peer.ID) { b.r.countBy(RefusedResources, p) }

// BlockMemory counts memory that was not given.
func (b blocking) BlockMemory(int) { b.r.Count(RefusedResources) }

// AllowConn is not counted.
func (blocking) AllowConn(network.Direction, bool) {}

// AllowStream is not counted.
func (blocking) AllowStream(peer.ID, network.Direction) {}

// AllowPeer is not counted.
func (blocking) AllowPeer(peer.ID) {}

// AllowProtocol is not counted.
func (blocking) AllowProtocol(protocol.ID) {}

// AllowService is not counted.
func (blocking) AllowService(string) {}

// AllowMemory is not counted.
func (blocking) AllowMemory(int) {}

// gossipCalm are gossip's options that count and bound what peers send.
func (m *Mesh) gossipCalm() []pubsub.Option {
	c := &calm{r: &m.refused, wall: m.c.Wall}
	return []pubsub.Option{pubsub.WithRawTracer(gossipEar{&m.refused}), pubsub.WithAppSpecificRpcInspector(c.inspect)}
}
