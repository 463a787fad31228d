package mesh

import (
	"bufio"
	"context"
	"testing"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/core/record"

	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/simnet/virtual"
)

func TestALanesComputerHearsNothingOfTheFleetsOwnTopic(t *testing.T) { // L1, S12
	virtual.Test(t, func(t *testing.T) {
		b := newBorder(t)
		b.on()
		hostile := b.meshes[2]
		topic, err := hostile.pubsub.Join(topicOf(b.fleets[0])) // it knows the fleet's id
		if err != nil {
			t.Fatal(err)
		}
		heard, err := topic.Subscribe()
		if err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute)

		for i := range 2 {
			b.put(i, newPen(b.ids[i], ledger.TID{7}).write(t), true)
			b.put(i, b.leaf(i, b.opens(uint64(9-i), false)), true)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()

		if msg, err := heard.Next(ctx); err == nil {
			t.Errorf("it heard %d bytes from %s", len(msg.Data), msg.ReceivedFrom)
		}
		for i := range 2 {
			for _, p := range b.meshes[i].pubsub.ListPeers(topicOf(b.fleets[0])) {
				if p == hostile.host.ID() {
					t.Errorf("computer %d counts it among the fleet's", i)
				}
			}
		}
	})
}

func TestAnEndThatHasNotSaidOnSeesNoConversation(t *testing.T) { // L1, D-13
	virtual.Test(t, func(t *testing.T) {
		b := newBorder(t)
		open := b.opens(1, true)
		b.put(0, open, true)
		b.say(0, true)
		here, there := b.said, b.folded(1)
		b.said = append(b.said, b.seal(2, ledger.Header{Ledger: b.lane()}, there.SwitchOn([]uint64{laneRepo}))) // nobody was told
		g := b.grant(1)
		for _, m := range b.meshes[2:] {
			if err := m.SetLanes([]lanes.Grant{g}); err != nil {
				t.Fatal(err)
			}
		}
		b.said = here
		<-time.After(time.Minute)
		if !b.linked() {
			t.Fatal("they do not meet")
		}

		b.put(0, b.leaf(0, open), true)
		_ = b.meshes[2].Send(g, b.leaf(2, open))
		if got := b.meshes[0].validateLane(b.fleets[1], b.meshes[0].laneOf(b.fleets[1]), b.meshes[2].host.ID(), message("", b.leaf(2, open).Wire)); got != pubsub.ValidationReject {
			t.Errorf("a conversation's record is judged %d", got)
		}
		<-time.After(10 * time.Minute)

		if n := b.shelves[2].count() + b.shelves[3].count(); n > 0 {
			t.Errorf("%d records of a conversation crossed", n)
		}
		if n := b.shelves[0].count(); n != 2 {
			t.Errorf("kim's end holds %d records, and should hold its own two", n)
		}
	})
}

// stream opens a stream from one computer to another, as hostile software does.
func (b *border) stream(from, to int, p protocol.ID) network.Stream {
	b.t.Helper()
	s, err := b.meshes[from].host.NewStream(reachable(b.ctx), b.meshes[to].host.ID(), p)
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

// met is which of kim's and maya's computers are connected.
func (b *border) met() (kim, maya int) {
	b.t.Helper()
	for i := range 2 {
		for j := 2; j < 4; j++ {
			if b.meshes[i].host.Network().Connectedness(b.meshes[j].host.ID()) == network.Connected {
				return i, j
			}
		}
	}
	b.t.Fatal("nobody met")
	return 0, 0
}

func TestALanesComputerIsPolitelyRefusedWhatIsTheFleetsOwn(t *testing.T) { // L1
	virtual.Test(t, func(t *testing.T) {
		b := newBorder(t)
		pressed, shown := false, false
		b.on()
		kim, maya := b.met()
		b.meshes[kim].c.Lines = func(context.Context, ledger.Device, ledger.Lines) ledger.LinesReply {
			shown = true
			return ledger.LinesReply{}
		}
		b.meshes[kim].c.Pressed = func(context.Context, ledger.Device, ledger.Press) error {
			pressed = true
			return nil
		}
		b.meshes[kim].c.Made = func(context.Context, uint64, uint64, ledger.OID) bool { return true }
		for p, f := range map[protocol.ID]ledger.Frame{
			linesProtocol: &ledger.Lines{Holder: ledger.ID{1}, Files: []ledger.LinesOf{{Path: "a"}}},
			pressProtocol: &ledger.Press{Ledger: ledger.TID{1}, Action: ledger.PressClose, At: 1},
			madeProtocol:  &ledger.Made{Repo: laneRepo, Pull: 1, Head: gitID(1)},
		} {
			s := b.stream(maya, kim, p)
			_ = ledger.WriteFrame(s, f) // it may be refused before it has spoken
			got, err := ledger.ReadFrame(bufio.NewReader(s))
			if bye, ok := got.(*ledger.Bye); err != nil || !ok || bye.Code != ledger.ByeNotAllowed {
				t.Errorf("%s: %+v, %v", p, got, err)
			}
			_ = s.Reset()
		}
		if pressed || shown {
			t.Errorf("the press was taken: %v, lines were shown: %v", pressed, shown)
		}
		if r, err := b.meshes[kim].AskLines(t.Context(), b.ids[maya].Device(), ledger.Lines{Holder: ledger.ID{1}, Files: []ledger.LinesOf{{Path: "a"}}}); err == nil {
			t.Errorf("another developer's computer is asked for lines: %+v", r)
		}
		if n := b.meshes[kim].refused.n[RefusedLane].Load(); n != 3 {
			t.Errorf("%d refusals are counted", n)
		}
		if got := b.meshes[kim].AskMade(t.Context(), laneRepo, 1, gitID(1)); len(got) > 0 {
			t.Errorf("another developer's computers are asked: %v", got)
		}
		if n := b.meshes[maya].refused.n[RefusedLane].Load(); n > 0 {
			t.Errorf("another developer's computer was asked who made a commit, %d times", n)
		}
	})
}

func TestALanesComputerLearnsAndTellsOnlyWhereTheTwoFleetsAre(t *testing.T) { // L1
	virtual.Test(t, func(t *testing.T) {
		b := newBorder(t)
		b.on()
		kim, maya := b.met()
		third := NewIdentity([32]byte{50})
		key, err := third.libp2p()
		if err != nil {
			t.Fatal(err)
		}
		id, err := peerOf(third.Device())
		if err != nil {
			t.Fatal(err)
		}
		sealed, err := record.Seal(&peer.PeerRecord{PeerID: id, Seq: 1, Addrs: b.meshes[kim].host.Addrs()}, key)
		if err != nil {
			t.Fatal(err)
		}
		signed, err := sealed.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		gate := b.meshes[kim].gate
		gate.mu.Lock()
		gate.lanes[id] = ledger.TID{99} // of another lane
		gate.mu.Unlock()
		b.meshes[kim].mu.Lock()
		b.meshes[kim].places[third.Device()] = place{seq: 1, signed: signed}
		b.meshes[kim].mu.Unlock()

		if told := b.meshes[kim].placesFor(b.ids[maya].Device()); len(told) == 0 || containsBytes(told, signed) {
			t.Errorf("%d bytes of places, another lane's among them", len(told))
		}
		b.meshes[kim].mu.Lock()
		clear(b.meshes[kim].places)
		b.meshes[kim].mu.Unlock()
		if b.meshes[kim].takePlace(b.ids[maya].Device(), signed) {
			t.Error("a lane's word about another lane is taken")
		}
		if !b.meshes[kim].takePlace(b.ids[1-kim].Device(), signed) {
			t.Error("a member's word about a lane is not taken")
		}
	})
}

func message(topic string, data []byte) *pubsub.Message {
	return &pubsub.Message{Message: &pb.Message{Data: data, Topic: &topic}}
}

func containsBytes(in, what []byte) bool {
	for i := 0; i+len(what) <= len(in); i++ {
		if string(in[i:i+len(what)]) == string(what) {
			return true
		}
	}
	return false
}

func TestAFloodThroughALaneIsBoundedCountedAndLosesNothing(t *testing.T) { // L9
	virtual.Test(t, func(t *testing.T) {
		b := newBorder(t)
		b.on()
		open := b.opens(1, true)
		b.put(0, open, true)
		b.heard(2, 1, 5*time.Second)
		const flood = lanes.GossipPerMinuteMax + 40
		_, maya := b.met()
		for range flood {
			b.put(maya, b.leaf(maya, open), true)
		}
		<-time.After(100 * time.Millisecond) // the chance of a catch-up, which would bring the rest, is small

		for i := range 2 {
			if n := b.shelves[i].count(); n > 1+lanes.GossipPerMinuteMax {
				t.Errorf("computer %d took %d records at once", i, n)
			}
		}
		counted := b.meshes[0].refused.n[RefusedRate].Load() + b.meshes[1].refused.n[RefusedRate].Load()
		if counted == 0 {
			t.Error("nothing is counted")
		}
		if b.events(0, LaneExcess)+b.events(1, LaneExcess) == 0 {
			t.Error("nobody is told")
		}
		b.heard(0, 1+flood, 5*time.Minute) // a catch-up brings the rest
	})
}

func TestForgedAndForeignRecordsOfALaneAreRefusedAndCounted(t *testing.T) { // L5, L6
	virtual.Test(t, func(t *testing.T) {
		b := newBorder(t)
		b.on()
		open := b.opens(1, true)
		b.put(0, open, true)
		b.heard(2, 1, 5*time.Second)
		kim, maya := b.met()
		l := b.meshes[maya].laneOf(b.fleets[0])
		forged := b.leaf(maya, open)
		forged = &ledger.Record{Wire: append([]byte(nil), forged.Wire...)}
		forged.Wire[len(forged.Wire)-1] ^= 1
		for name, c := range map[string]struct {
			wire []byte
			why  Refusal
		}{
			"malformed":          {[]byte("no record"), RefusedMalformed},
			"a forged signature": {forged.Wire, RefusedSignature},
			"a roster":           {b.rosters[1][0].Wire, RefusedFamily},
			"another lane's on":  {b.seal(maya, ledger.Header{Ledger: ledger.TID{8}}, &ledger.LaneOff{}).Wire, RefusedFamily},
			"a stranger's leaf":  {newPen(NewIdentity([32]byte{44}), open.Ledger).write(t).Wire, RefusedUnknown},
		} {
			before := b.meshes[kim].refused.n[c.why].Load()
			got := b.meshes[kim].validateLane(b.fleets[1], b.meshes[kim].laneOf(b.fleets[1]), b.meshes[maya].host.ID(), message(l.name, c.wire))
			if got == 0 || b.meshes[kim].refused.n[c.why].Load() == before {
				t.Errorf("%s: verdict %d, and it is not counted", name, got)
			}
		}
		b.put(kim, b.leaf(kim, open), false)
		held := b.shelves[kim].count()
		<-time.After(3 * time.Minute)
		if n := b.shelves[kim].count(); n != held {
			t.Errorf("%d records came in", n-held)
		}
	})
}
