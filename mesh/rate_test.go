package mesh

import (
	"testing"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"

	"github.com/parley-mesh/parley/ledger"
)

func TestABucketFillsWithTimeAndNotBeyondItsRim(t *testing.T) { // D-5
	var r rates
	now := time.Unix(1764500000, 0)
	drain := func() (n int) {
		for r.take(writer{ID: "a"}, rateMinute, now) {
			n++
		}
		return n
	}
	if n := drain(); n != rateBurst {
		t.Errorf("%d at once", n)
	}
	now = now.Add(time.Minute)
	if n := drain(); n != rateMinute {
		t.Errorf("%d after a minute", n)
	}
	now = now.Add(24 * time.Hour)
	if n := drain(); n != rateBurst {
		t.Errorf("%d after a day", n)
	}
	if !r.take(writer{ID: "b"}, rateMinute, now) {
		t.Error("one's flood silences another")
	}
}

func TestAFloodOfGossipIsHeldBackAndComesByCatchUp(t *testing.T) { // D-5
	c := newCrew(t, 2, loopback["tcp"])
	c.meshes[0].c.GossipRate = 1 // however slow the machine is
	c.join()
	from, err := peerOf(c.ids[1].Device())
	if err != nil {
		t.Fatal(err)
	}
	p := newPen(c.ids[1], ledger.TID{7})
	const over = 5
	var flood []*ledger.Record
	for range rateBurst + over {
		flood = append(flood, p.nod(t))
	}
	judged := map[pubsub.ValidationResult]int{}
	for _, r := range flood {
		judged[c.meshes[0].validate(c.ctx, from, &pubsub.Message{Message: &pb.Message{Data: r.Wire}})]++
	}
	if n := judged[pubsub.ValidationIgnore]; n != over || times(c.meshes[0], RefusedRate) != uint64(n) || judged[pubsub.ValidationReject] > 0 {
		t.Errorf("judged %v, counted %d", judged, times(c.meshes[0], RefusedRate))
	}

	both(t, flood[0], c.meshes[1])
	for _, r := range flood[1:] {
		both(t, r, c.meshes[1])
	}
	c.meshes[0].SyncNow()
	c.shelves[0].wait(t, c.ctx, len(flood))
}
