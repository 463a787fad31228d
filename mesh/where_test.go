package mesh

import (
	"bytes"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/record"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/simnet/virtual"
)

func TestComputersThatMetAThirdFindEachOther(t *testing.T) { // P24, L3
	virtual.Test(t, func(t *testing.T) {
		c := &town{knows: func(_, j int) bool { return j == 0 }}
		c.start(t, 4) // everybody knows the first, as after joining by its invitation, and nobody else
		<-time.After(time.Minute)
		c.close(0)

		c.say(3, newPen(c.ids[3], ledger.TID{7}), true)

		for i := 1; i < 4; i++ {
			c.heard(i, 1, time.Second)
		}
	})
}

func TestNobodyIsLedToAnAddressThatItsComputerDidNotSign(t *testing.T) { // case 1
	virtual.Test(t, func(t *testing.T) {
		c := newTown(t, 2)
		of := func(i int, signer Identity, addr string) []byte {
			id, err := peerOf(c.ids[i].Device())
			if err != nil {
				t.Fatal(err)
			}
			r := peer.PeerRecordFromAddrInfo(peer.AddrInfo{ID: id, Addrs: []ma.Multiaddr{ma.StringCast(addr)}})
			key, err := signer.libp2p()
			if err != nil {
				t.Fatal(err)
			}
			e, err := record.Seal(r, key)
			if err != nil {
				t.Fatal(err)
			}
			out, err := e.Marshal()
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		c.ids = append(c.ids, NewIdentity([32]byte{9}))
		c.meshes[0].SetMembers(c.devices())

		for name, signed := range map[string][]byte{
			"another member's word":  of(2, c.ids[1], "/ip4/10.6.6.6/tcp/1"),
			"one's own address":      of(0, c.ids[0], "/ip4/10.6.6.6/tcp/1"),
			"bytes that say nothing": []byte("nothing"),
		} {
			if c.meshes[0].takePlace(c.ids[1].Device(), signed) {
				t.Errorf("%s is believed", name)
			}
		}
		if !c.meshes[0].takePlace(c.ids[1].Device(), of(2, c.ids[2], "/ip4/10.0.0.3/tcp/4001")) {
			t.Error("its own word is not believed")
		}
		c.meshes[0].SetMembers(c.devices()[:2])
		if c.meshes[0].takePlace(c.ids[1].Device(), of(2, c.ids[2], "/ip4/10.0.0.3/tcp/4002")) {
			t.Error("a stranger's word is kept")
		}
		told, err := readPlaces(bytes.NewReader(c.meshes[0].placesFor(c.ids[1].Device())))
		if err != nil || len(told) != 1 || !bytes.Equal(told[0], c.meshes[0].ownPlace()) {
			t.Errorf("%d records are told beside those of members: %v", len(told), err)
		}
	})
}
