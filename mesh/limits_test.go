package mesh

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/network"

	"github.com/parley-mesh/parley/ledger"
)

func TestAnExchangeThatCouldGoOnForEverIsEnded(t *testing.T) {
	hello := &ledger.Hello{Version: 1, Inc: ledger.Incarnation{9}, Now: 1, Digest: ledger.Digest{9}}
	detail := &ledger.Detail{Fleet: fleet}
	list := &ledger.List{Scope: ledger.ListAll}
	have := &ledger.Have{Ledger: ledger.TID{1}}
	for name, frames := range map[string][]ledger.Frame{
		"details again and again":      {hello, detail, detail},
		"pages without an entry":       {hello, detail, &ledger.List{Scope: ledger.ListAll, More: true}},
		"another scope":                {hello, detail, &ledger.List{Scope: ledger.ListOpen}},
		"one ledger again and again":   {hello, detail, list, have, have},
		"again, after another":         {hello, detail, list, have, &ledger.Have{Ledger: ledger.TID{2}}, have},
		"parts without a chain":        {hello, detail, list, &ledger.Have{Ledger: ledger.TID{1}, More: true}},
		"a greeting in place of a bye": {hello, detail, list, hello},
	} {
		t.Run(name, func(t *testing.T) {
			m := alone(newShelf())
			defer m.cancel()

			_, err := answered(m, said(t, frames...))

			if !errors.Is(err, errPeer) {
				t.Errorf("it waited for more: %v", err)
			}
		})
	}
}

func TestALedgerIsOfOneFamily(t *testing.T) {
	b := newShelf()
	b.family[fleet] = ledger.Roster
	m := alone(b)
	defer m.cancel()
	r := newPen(NewIdentity([32]byte{2}), fleet).write(t)

	_, err := answered(m, said(t, &ledger.Hello{Version: 1, Now: 1, Digest: ledger.Digest{9}}, &ledger.List{Scope: ledger.ListAll}, &ledger.Bye{},
		&ledger.Records{Ledger: fleet, Family: ledger.Conversation, Wires: [][]byte{r.Wire}}, &ledger.Bye{}))

	if !errors.Is(err, errPeer) || b.count() > 0 {
		t.Errorf("a conversation's record came into the roster: %v", err)
	}
}

func TestALedgerOfAnUnknownFamilyTakesTheFirstThatIsKnown(t *testing.T) {
	b := newShelf()
	b.family[ledger.TID{7}] = ledger.FamilyUnknown
	m := alone(b)
	defer m.cancel()
	r := newPen(NewIdentity([32]byte{2}), ledger.TID{7}).write(t)

	_, err := answered(m, said(t, &ledger.Hello{Version: 1, Now: 1, Digest: ledger.Digest{9}}, &ledger.List{Scope: ledger.ListAll}, &ledger.Bye{},
		&ledger.Records{Ledger: r.Ledger, Family: ledger.Conversation, Wires: [][]byte{r.Wire}}, &ledger.Bye{}))

	if err != nil || b.count() != 1 {
		t.Errorf("%d records were taken: %v", b.count(), err)
	}
}

// line is a stream over a pipe.
type line struct {
	network.Stream
	end net.Conn
}

func (l line) Write(b []byte) (int, error)   { return l.end.Write(b) }
func (l line) SetDeadline(t time.Time) error { return l.end.SetDeadline(t) }
func (l line) Close() error                  { return l.end.Close() }
func (l line) Reset() error                  { return l.end.Close() }

func TestAPeerThatBeginsTooManyExchangesIsToldSo(t *testing.T) {
	m := alone(newShelf())
	defer m.cancel()
	d := NewIdentity([32]byte{2}).Device()
	m.answers[d] = answersMax
	here, there := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.answerSync(line{end: there}, d)
	}()

	all, err := io.ReadAll(here)
	<-done

	f, bad := ledger.ReadFrame(bufio.NewReader(bytes.NewReader(all)))
	if bye, ok := f.(*ledger.Bye); !ok || bye.Code != ledger.ByeBusy {
		t.Errorf("told %v, %v, %v", f, err, bad)
	}
	if m.answers[d] != answersMax {
		t.Errorf("%d exchanges are counted", m.answers[d])
	}
	x := ofMember(m, &script{in: bytes.NewReader(all)}, d)
	if err := x.lead(); !errors.Is(err, errBusy) {
		t.Errorf("who is told so takes it for %v", err)
	}
}

func TestGossipKeepsALedgersFamily(t *testing.T) {
	c := newCrew(t, 2, loopback["tcp"])
	c.join()
	from, err := peerOf(c.ids[1].Device())
	if err != nil {
		t.Fatal(err)
	}
	r := newPen(c.ids[1], ledger.TID{7}).write(t)
	judge := func() pubsub.ValidationResult {
		return c.meshes[0].validate(c.ctx, from, &pubsub.Message{Message: &pb.Message{Data: r.Wire}})
	}
	if judge() != pubsub.ValidationAccept {
		t.Fatal("a good record is refused")
	}

	c.shelves[0].mu.Lock()
	c.shelves[0].family[r.Ledger] = ledger.Roster
	c.shelves[0].mu.Unlock()

	if judge() != pubsub.ValidationReject {
		t.Error("a conversation's record is let into a roster")
	}
}

func TestWhoIsRemovedWhileItConnectsIsCutOff(t *testing.T) { // case 51
	c := newCrew(t, 2, loopback["tcp"])
	c.join()
	id, err := peerOf(c.ids[1].Device())
	if err != nil {
		t.Fatal(err)
	}
	conn := c.meshes[0].host.Network().ConnsToPeer(id)[0]

	c.meshes[0].gate.set(nil) // before the connection was known, so that nobody closes it
	c.meshes[0].connected(conn)

	c.await(c.meshes[1], PeerDown)
}
