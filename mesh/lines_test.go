package mesh

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/parley-mesh/parley/ledger"
)

var askedLines = ledger.Lines{Holder: ledger.ID{1}, Files: []ledger.LinesOf{{Path: "src/a.go", Near: 4}}}

func shownLines() ledger.LinesReply {
	return ledger.LinesReply{Files: []ledger.LinesFile{{Path: "src/a.go", Blob: ledger.OID(make([]byte, 20)), Parts: []ledger.LinesPart{{Start: 5, Texts: []string{"+secret"}}}}}}
}

// showing lets the first computer show lines, and says who asked.
func showing(c *crew) chan ledger.Device {
	got := make(chan ledger.Device, 1000)
	c.meshes[0].c.Lines = func(_ context.Context, from ledger.Device, q ledger.Lines) ledger.LinesReply {
		got <- from
		if q.Holder != askedLines.Holder || !reflect.DeepEqual(q.Files, askedLines.Files) {
			return ledger.LinesReply{Code: ledger.LinesOff}
		}
		return shownLines()
	}
	return got
}

// lines asks until a busy machine has answered in time.
func (c *crew) lines(from, to int) (r ledger.LinesReply, err error) {
	for range 30 {
		if r, err = c.meshes[from].AskLines(c.ctx, c.ids[to].Device(), askedLines); err == nil {
			break
		}
	}
	return r, err
}

func TestLinesComeFromAnotherComputerOfTheFleet(t *testing.T) { // C1
	c := newCrew(t, 2, loopback["tcp"])
	got := showing(c)
	if _, err := c.meshes[1].AskLines(c.ctx, c.ids[0].Device(), askedLines); !errors.Is(err, ErrNotConnected) {
		t.Errorf("before they met: %v", err)
	}
	c.join()

	r, err := c.lines(1, 0)

	want := shownLines()
	want.Type = ledger.FrameLinesReply
	if err != nil || !reflect.DeepEqual(r, want) {
		t.Errorf("it is answered %+v, %v", r, err)
	}
	if from := <-got; from != c.ids[1].Device() {
		t.Errorf("%s asked", from)
	}
	if r, err := c.lines(0, 1); err != nil || r.Code != ledger.LinesOff {
		t.Errorf("who shows nothing answers %+v, %v", r, err)
	}
	if _, err := c.meshes[1].AskLines(c.ctx, NewIdentity([32]byte{9}).Device(), askedLines); !errors.Is(err, ErrNotConnected) {
		t.Errorf("a stranger is asked: %v", err)
	}
}

func TestWhoAsksForLinesTooOftenIsToldSo(t *testing.T) {
	c := newCrew(t, 2, loopback["tcp"])
	got := showing(c)
	busy := 0
	for range 2 * linesMinute { // without the network, which could be slow enough
		if r := c.meshes[0].linesFor(c.ids[1].Device(), c.meshes[1].host.ID(), askedLines); r.Code == ledger.LinesBusy {
			busy++
		}
	}
	if busy == 0 || len(got) < linesMinute {
		t.Errorf("%d of %d questions were put off, %d were answered", busy, 2*linesMinute, len(got))
	}
}

func TestOnlyMembersAreShownLines(t *testing.T) { // case 51
	c := newCrew(t, 2, loopback["tcp"])
	got := showing(c)
	c.join()
	if _, err := c.meshes[0].Invite(InviteOptions{Name: "desktop"}); err != nil {
		t.Fatal(err)
	}
	all := newGate()
	all.all = true
	guest, err := newHost(NewIdentity([32]byte{99}), nil, all, nil) // comes in by the invitation
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = guest.Close() })
	if err := guest.Connect(c.ctx, peer.AddrInfo{ID: c.meshes[0].host.ID(), Addrs: c.meshes[0].host.Addrs()}); err != nil {
		t.Fatal(err)
	}
	s, err := guest.NewStream(network.WithNoDial(c.ctx, "test"), c.meshes[0].host.ID(), linesProtocol)
	if err == nil {
		_ = ledger.WriteFrame(s, &askedLines) // it may be refused by now
		var f ledger.Frame
		if f, err = ledger.ReadFrame(bufio.NewReader(s)); err == nil {
			t.Errorf("a stranger is answered %+v", f)
		}
	}
	if len(got) > 0 {
		t.Error("a stranger's question came to the node")
	}
}

func TestAnAnswerThatIsNoneEndsTheQuestion(t *testing.T) { // case 53
	c := newCrew(t, 2, loopback["tcp"])
	c.join()
	huge := binary.AppendUvarint(nil, 1<<30)
	wrong, err := ledger.EncodeFrame(&ledger.Bye{})
	if err != nil {
		t.Fatal(err)
	}
	good := shownLines()
	lines, err := ledger.EncodeFrame(&good)
	if err != nil {
		t.Fatal(err)
	}
	bell := []byte(strings.Replace(string(lines), "+secret", "+secre\a", 1))
	torn := []byte(strings.Replace(string(lines), "+secret", "+secre\xff", 1))
	framed := func(b []byte) []byte { return append(binary.AppendUvarint(nil, uint64(len(b))), b...) }
	for name, answer := range map[string][]byte{
		"nothing": {}, "an endless frame": huge, "another frame": framed(wrong), "a control character": framed(bell), "no UTF-8": framed(torn),
		"a frame that is cut off": framed(lines)[:20],
	} {
		c.meshes[0].host.SetStreamHandler(linesProtocol, func(s network.Stream) {
			_, _ = s.Write(answer)
			_ = s.CloseWrite() // the other end has what it gets
		})
		if r, err := c.meshes[1].AskLines(c.ctx, c.ids[0].Device(), askedLines); err == nil {
			t.Errorf("%s is taken for %+v", name, r)
		}
	}
	stalled := make(chan struct{})
	defer close(stalled)
	c.meshes[0].host.SetStreamHandler(linesProtocol, func(s network.Stream) {
		<-stalled
		_ = s.Reset()
	})
	if r, err := c.meshes[1].AskLines(c.ctx, c.ids[0].Device(), askedLines); err == nil {
		t.Errorf("silence is taken for %+v", r)
	}
	c.meshes[0].host.RemoveStreamHandler(linesProtocol)
	if _, err := c.meshes[1].AskLines(c.ctx, c.ids[0].Device(), askedLines); err == nil {
		t.Error("an older computer answered")
	}
}
