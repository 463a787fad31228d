package mesh

import (
	"crypto/ed25519"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"

	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/simnet/memnet"
)

// border is two fleets of two computers each, 0 and 1 of kim, 2 and 3 of maya, who paired. Everybody knows every
// address; what is said stands on their shelves, and grants follow from it.
type border struct {
	*town
	fleets  [2]ledger.TID
	rosters [2][]*ledger.Record
	said    []*ledger.Record // the lane's own ledger, as both ends know it
	heads   map[int]map[ledger.TID]ledger.Head
	claim   [2]ledger.ID
	reach   [2]Reach    // of each end's computers
	over    [2][]string // addresses by which each end's are reached beside their own, but for /p2p/ID
}

const laneRepo = 7

func newBorder(t *testing.T) *border {
	t.Helper()
	b := &border{town: &town{crew: &crew{t: t, ctx: t.Context()}, net: memnet.New(10 * time.Millisecond)}, heads: map[int]map[ledger.TID]ledger.Head{}}
	b.open()
	return b
}

// open starts everybody.
func (b *border) open() {
	t := b.t
	t.Helper()
	for i := range 4 {
		b.ids = append(b.ids, NewIdentity([32]byte{byte(i + 1)}))
		b.shelves = append(b.shelves, newShelf())
		b.meshes = append(b.meshes, nil)
		b.heads[i] = map[ledger.TID]ledger.Head{}
	}
	for e := range b.fleets {
		b.found(e)
	}
	for e := range b.fleets {
		bind := &ledger.LaneBind{Fleet: b.fleets[1-e], Invite: ledger.Invite{3}}
		copy(bind.Accept[:], ed25519.Sign(b.ids[2*(1-e)].Key(), ledger.LaneStatement(b.lane(), bind.Invite, b.ids[2*e].Device())))
		b.enrol(e, bind)
	}
	for i := range 4 {
		b.openAt(i)
	}
	t.Cleanup(func() {
		for i := range 4 {
			b.close(i)
		}
	})
	<-time.After(5 * time.Second)
}

// known are the others, as computer i knows them.
func (b *border) known(i int) []Peer {
	out := b.peers(i)
	for k := range out {
		j := slices.IndexFunc(b.ids, func(id Identity) bool { return id.Device() == out[k].Device })
		out[k].Addrs = append(out[k].Addrs, b.over[j/2]...)
	}
	return out
}

func (b *border) lane() ledger.TID { return ledger.LaneID(b.fleets[0], b.fleets[1]) }

// found makes a fleet of two computers, whose first is the main one.
func (b *border) found(e int) {
	first, second := b.ids[2*e], b.ids[2*e+1]
	genesis := &ledger.Genesis{Nonce: [16]byte{byte(e + 1)}}
	b.fleets[e] = ledger.FleetID(first.Device(), genesis.Nonce)
	add := &ledger.Add{Device: second.Device(), Invite: ledger.Invite{9}}
	copy(add.Accept[:], ed25519.Sign(second.Key(), ledger.JoinStatement(b.fleets[e], add.Invite, first.Device())))
	for _, content := range []ledger.Body{genesis, add, &ledger.MainClaim{Term: 1}} {
		b.enrol(e, content)
	}
	b.claim[e] = b.rosters[e][2].ID
}

// enrol lets a fleet's first computer write into its roster.
func (b *border) enrol(e int, content ledger.Body) {
	h := ledger.Header{Ledger: b.fleets[e]}
	if n := len(b.rosters[e]); n > 0 {
		h.Deps = []ledger.ID{b.rosters[e][n-1].ID}
	}
	b.rosters[e] = append(b.rosters[e], b.seal(2*e, h, content))
}

// seal is the next record of a computer's chain in a ledger.
func (b *border) seal(i int, h ledger.Header, content ledger.Body) *ledger.Record {
	b.t.Helper()
	head := b.heads[i][h.Ledger]
	h.Inc, h.Seq, h.Prev, h.Lam, h.At = ledger.Incarnation{byte(i + 1)}, head.Next, head.ID, head.Lam+1, 1764500000000
	r, err := ledger.Seal(b.ids[i].Key(), h, content)
	if err != nil {
		b.t.Fatal(err)
	}
	head.Chain = r.Chain()
	b.heads[i][h.Ledger] = head.After(r)
	return r
}

func (b *border) openAt(i int) {
	b.t.Helper()
	e := i / 2
	m, err := Start(b.ctx, Config{
		Identity: b.ids[i], Fleet: b.fleets[e], Inc: ledger.Incarnation{byte(i + 1)}, Listen: []string{fmt.Sprintf("/ip4/%s/tcp/4001", b.host(i))},
		Book: b.shelves[i], Peers: func() []Peer { return b.known(i) }, SyncEvery: b.syncEvery, Reach: b.reach[e],
		HostOptions: func() []libp2p.Option { return b.net.Host(b.host(i)) },
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.meshes[i], b.shelves[i].ask = m, m.Ask
	m.SetMembers([]ledger.Device{b.ids[2*e].Device(), b.ids[2*e+1].Device()})
}

// folded is the lane as one end sees it.
func (b *border) folded(e int) lanes.Lane {
	own := lanes.Fold(b.fleets[e], b.rosters[e])
	shown := lanes.VisibleRoster(b.fleets[1-e], b.rosters[1-e])
	return lanes.FoldLane(own, lanes.FoldVisible(b.fleets[1-e], shown), b.said)
}

func (b *border) grant(e int) lanes.Grant {
	g, _ := b.folded(e).Grant()
	return g
}

// say lets a person of one end switch the lane, and both ends know. Only the own end's meshes are told: the other
// one's person has done nothing.
func (b *border) say(e int, on bool) {
	b.t.Helper()
	var content ledger.Body = &ledger.LaneOff{}
	if on {
		content = b.folded(e).SwitchOn([]uint64{laneRepo})
	}
	b.said = append(b.said, b.seal(2*e, ledger.Header{Ledger: b.lane()}, content))
	b.regrant()
}

// regrant gives every mesh the grants that its end has now.
func (b *border) regrant() {
	b.t.Helper()
	for i, m := range b.meshes {
		if m == nil {
			continue
		}
		var grants []lanes.Grant
		if g, ok := b.folded(i / 2).Grant(); ok {
			grants = append(grants, g)
		}
		if err := m.SetLanes(grants); err != nil {
			b.t.Fatal(err)
		}
	}
}

// opens is a conversation that kim's main computer opens, with maya's lane as a party or without.
func (b *border) opens(pull uint64, withLane bool) *ledger.Record {
	b.t.Helper()
	key := ledger.ConflictKey{Host: "github.com", Repo: laneRepo, Pull: pull}
	o := &ledger.Open{
		Host: key.Host, Repo: key.Repo, Slug: "acme/shop", Pull: pull, Base: "master", Algorithm: ledger.SHA1,
		Head: gitID(1), BaseHead: gitID(2), MergeBase: gitID(3), Author: 77, Fleet: b.fleets[0],
		Files: []ledger.File{{Path: "a.go", Base: gitID(4), Master: gitID(5), Pull: gitID(6), Mode: ledger.ModePlain}},
	}
	for i := range 2 {
		o.Parties = append(o.Parties, ledger.DeviceParty(b.ids[i].Device()))
	}
	if withLane {
		o.Parties = append(o.Parties, ledger.LaneParty(b.fleets[1]))
	}
	slices.SortFunc(o.Parties, func(a, b ledger.Party) int { return slices.Compare(a[:], b[:]) })
	return b.seal(0, ledger.Header{Ledger: key.Thread(), Claim: b.claim[0]}, o)
}

func gitID(n byte) ledger.OID { return ledger.OID(slices.Repeat([]byte{n}, 20)) }

// leaf is an answer to an open.
func (b *border) leaf(i int, open *ledger.Record) *ledger.Record {
	b.t.Helper()
	return b.seal(i, ledger.Header{Ledger: open.Ledger, Open: open.ID, Re: []ledger.ID{open.ID}}, &ledger.Ack{Classes: []ledger.Class{ledger.HasMaster}})
}

// put stores a record on a computer's shelf, and tells the others by the ways there are, if aloud.
func (b *border) put(i int, r *ledger.Record, aloud bool) {
	b.t.Helper()
	f := r.Family()
	if err := b.shelves[i].Receive(b.ctx, b.ids[i].Device(), f, []*ledger.Record{r}); err != nil {
		b.t.Fatal(err)
	}
	if !aloud {
		return
	}
	if err := b.meshes[i].Publish(r); err != nil {
		b.t.Fatal(err)
	}
	_ = b.meshes[i].Send(b.grant(i/2), r) // refused where the lane does not grant it
}

// crossed is what went over the border so far, from one end to the other.
func (b *border) crossed(from int) (out memnet.Traffic) {
	for i := range 2 {
		for j := range 2 {
			t := b.net.From(b.host(2*from+i), b.host(2*(1-from)+j))
			out.Dials, out.Bytes = out.Dials+t.Dials, out.Bytes+t.Bytes
		}
	}
	return out
}

func (b *border) host(i int) netip.Addr { return b.town.host(i) }

// linked reports whether any two computers of the two fleets are connected.
func (b *border) linked() bool {
	for i := range 2 {
		for _, s := range b.meshes[i].Peers() {
			if s.Connected && s.Lane == b.fleets[1] {
				return true
			}
		}
	}
	return false
}
