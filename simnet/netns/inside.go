package netns

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/ledger/disk"
	"github.com/parley-mesh/parley/mesh"
)

// fleetID is the fleet of every computer here; topic is the ledger that they write.
var (
	fleetID = ledger.TID{0xf1}
	topic   = ledger.TID{7}
)

// Main lets the test's program be a computer if it was started as one. TestMain calls it first.
func Main() {
	text := os.Getenv(childEnv)
	if text == "" {
		return
	}
	var s Setup
	err := json.Unmarshal([]byte(text), &s)
	if err == nil {
		err = be(s)
	}
	if err != nil {
		tell(Fact{What: "trouble", Text: err.Error()})
		os.Exit(1)
	}
	os.Exit(0)
}

var telling sync.Mutex

func tell(f Fact) {
	telling.Lock()
	defer telling.Unlock()
	f.At = time.Now()
	_ = json.NewEncoder(os.Stdout).Encode(f) // nobody listens any more
}

// Seeded is the identity of a seed, and Device its public half.
func Seeded(seed byte) mesh.Identity { return mesh.NewIdentity([32]byte{seed}) }

// be is a computer until its input ends.
func be(s Setup) error {
	ctx := context.Background()
	var devices []ledger.Device
	for _, b := range s.Fleet {
		devices = append(devices, Seeded(b).Device())
	}
	if s.Portal {
		return portal()
	}
	if s.Code != "" {
		return join(ctx, s)
	}
	if s.Line != nil {
		return s.Line.carry()
	}
	if s.Relay {
		r, err := mesh.StartRelay(ctx, mesh.RelayConfig{Identity: Seeded(s.Seed), Listen: s.Listen, For: devices})
		if err != nil {
			return err
		}
		tell(Fact{What: "ready", Addrs: r.View().Addrs})
		_, _ = io.Copy(io.Discard, os.Stdin)
		return r.Close()
	}
	store, err := disk.Open(disk.Options{Dir: s.Dir})
	if err != nil {
		return err
	}
	b := &book{store: store}
	var inc ledger.Incarnation
	inc[0], inc[1] = s.Seed, 1
	b.m, err = mesh.Start(ctx, mesh.Config{
		Identity: Seeded(s.Seed), Fleet: fleetID, Inc: inc, Listen: s.Listen, Book: b, Reach: s.Reach, SyncEvery: s.SyncEvery,
		Peers: func() []mesh.Peer { return s.peers() },
	})
	if err != nil {
		return errors.Join(err, store.Close())
	}
	b.m.SetMembers(devices)
	tell(Fact{What: "ready", Addrs: b.m.Addrs()})
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() { watch(ctx, s, b) })
	err = obey(s, b, inc)
	cancel()
	work.Wait()
	err = errors.Join(err, b.m.Close())
	b.work.Wait()
	return errors.Join(err, store.Close())
}

// portal answers every connection with the web page of a café, until its input ends.
func portal() error {
	l, err := net.Listen("tcp", ":8080")
	if err != nil {
		return err
	}
	page := http.RedirectHandler("http://cafe.example/welcome", http.StatusFound)
	server := &http.Server{Handler: page, ReadHeaderTimeout: time.Second, ErrorLog: log.New(io.Discard, "", 0)}
	var work sync.WaitGroup
	work.Go(func() { err = server.Serve(l) })
	tell(Fact{What: "ready", Addrs: []string{l.Addr().String()}})
	_, _ = io.Copy(io.Discard, os.Stdin)
	closed := server.Close()
	work.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return errors.Join(err, closed)
}

// peers are the others with the addresses that were told.
func (s Setup) peers() []mesh.Peer {
	var out []mesh.Peer
	for _, b := range s.Fleet {
		if b != s.Seed {
			out = append(out, mesh.Peer{Device: Seeded(b).Device(), Addrs: s.Knows[b]})
		}
	}
	return out
}

// obey does what the test says, until it says no more.
func obey(s Setup, b *book, inc ledger.Incarnation) error {
	head := ledger.Head{Chain: ledger.Chain{Device: Seeded(s.Seed).Device(), Inc: inc}}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		switch lines.Text() {
		case "say":
			r, err := ledger.Seal(Seeded(s.Seed).Key(), ledger.Header{
				Ledger: topic, Inc: inc, Seq: head.Next, Prev: head.ID, Open: ledger.ID{1}, Re: []ledger.ID{{1}}, Lam: head.Lam + 1, At: uint64(time.Now().UnixMilli()),
			}, &ledger.Object{Why: ledger.ObjectUnpublished, Files: []ledger.OwnLines{{File: 0, Lines: 1}}})
			if err != nil {
				return err
			}
			head = head.After(r)
			if err := errors.Join(b.Receive(context.Background(), head.Device, ledger.Conversation, []*ledger.Record{r}), b.m.Publish(r)); err != nil {
				return err
			}
		case "check":
			c := b.m.Check(context.Background())
			tell(Fact{What: "check", Check: &c})
		case "wake":
			b.m.SyncNow()
		case "invite":
			if err := b.invite(); err != nil {
				return err
			}
		default:
			return fmt.Errorf("nobody taught it %q", lines.Text())
		}
	}
	return lines.Err()
}

// watch tells by which ways the others are reached whenever that changes.
func watch(ctx context.Context, s Setup, b *book) {
	seeds := map[ledger.Device]byte{}
	for _, x := range s.Fleet {
		seeds[Seeded(x).Device()] = x
	}
	last := map[byte]Way{}
	tick := time.NewTicker(cmp.Or(s.Look, 20*time.Millisecond))
	defer tick.Stop()
	for {
		for _, p := range b.m.Peers() {
			who, now := seeds[p.Device], Way{p.Connected, p.Path, p.Transport, p.Addr}
			if last[who] != now {
				last[who] = now
				tell(Fact{What: "way", Who: who, Way: now})
			}
		}
		select {
		case <-tick.C:
		case <-b.m.Events():
		case <-ctx.Done():
			return
		}
	}
}

// book is a real store behind a mesh.
type book struct {
	store *disk.Store
	m     *mesh.Mesh

	mu   sync.Mutex
	have int
	work sync.WaitGroup // invitations
}

// Receive stores records and tells how many there are.
func (b *book) Receive(_ context.Context, _ ledger.Device, _ ledger.Family, records []*ledger.Record) error {
	outcomes, err := b.store.Apply(disk.Batch{Records: records})
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, o := range outcomes {
		switch o {
		case disk.Stored, disk.Forked:
			b.have++
		case disk.Waiting:
			b.m.Ask(func() bool {
				held, err := b.store.Record(records[i].ID)
				return err == nil && held == nil
			})
		case disk.Known:
		}
	}
	tell(Fact{What: "have", N: b.have})
	return nil
}

// Visible lists every ledger.
func (b *book) Visible(ledger.Device) []ledger.Listing {
	entries, err := b.store.Ledgers()
	if err != nil {
		return nil
	}
	var out []ledger.Listing
	for _, e := range entries {
		out = append(out, e.Listing)
	}
	return out
}

// Heads is how far a ledger is held.
func (b *book) Heads(tid ledger.TID) ([]ledger.Head, error) { return b.store.Heads(tid) }

// Contended lists the chains that fork.
func (b *book) Contended(tid ledger.TID) ([]ledger.Chain, error) { return b.store.Contended(tid) }

// From is a piece of a chain.
func (b *book) From(tid ledger.TID, c ledger.Chain, next uint64, most int) ([][]byte, error) {
	return b.store.From(tid, c, next, most)
}

// Family is the family of a ledger.
func (b *book) Family(tid ledger.TID) (ledger.Family, bool) { return b.store.Family(tid) }

// PeerName is how multiaddresses call a computer.
func PeerName(seed byte) string { return mesh.PeerName(Seeded(seed).Device()) }

// Loose is nothing: no lane is on here.
func (b *book) Loose(ledger.TID) ([][]byte, bool) { return nil, false }

// Through is nothing: no lane is on here.
func (b *book) Through(lanes.Grant) mesh.Book { return &book{} }
