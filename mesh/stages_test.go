package mesh

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p/core/network"

	"github.com/parley-mesh/parley/ledger"
)

// far is one direction of a connection on which everything takes a while.
type far struct {
	mu    sync.Mutex
	queue []parcel
	news  chan struct{}
	done  bool
	bytes int
	takes time.Duration
}

type parcel struct {
	at   time.Time
	data []byte
}

func (f *far) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.done {
		return 0, io.ErrClosedPipe
	}
	f.bytes += len(b)
	f.queue = append(f.queue, parcel{time.Now().Add(f.takes), append([]byte(nil), b...)})
	f.ring()
	return len(b), nil
}

func (f *far) ring() {
	select {
	case f.news <- struct{}{}:
	default:
	}
}

func (f *far) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done = true
	f.ring()
}

func (f *far) Read(b []byte) (int, error) {
	for {
		f.mu.Lock()
		if len(f.queue) > 0 {
			head := f.queue[0]
			if wait := time.Until(head.at); wait > 0 {
				f.mu.Unlock()
				<-time.After(wait)
				continue
			}
			n := copy(b, head.data)
			if f.queue[0].data = head.data[n:]; n == len(head.data) {
				f.queue = f.queue[1:]
			}
			f.mu.Unlock()
			return n, nil
		}
		done := f.done
		f.mu.Unlock()
		if done {
			return 0, io.EOF
		}
		<-f.news
	}
}

// path is one end of a connection as a stream.
type path struct {
	network.Stream
	in, out *far
}

func (p path) Read(b []byte) (int, error)     { return p.in.Read(b) }
func (p path) Write(b []byte) (int, error)    { return p.out.Write(b) }
func (path) SetReadDeadline(time.Time) error  { return nil }
func (path) SetWriteDeadline(time.Time) error { return nil }
func (p path) Close() error                   { p.out.end(); return nil }
func (p path) Reset() error                   { p.out.end(); p.in.end(); return nil }
func between(takes time.Duration) (a, b path) {
	to, from := &far{news: make(chan struct{}, 1), takes: takes}, &far{news: make(chan struct{}, 1), takes: takes}
	return path{in: from, out: to}, path{in: to, out: from}
}

// lag is how long everything takes in one direction.
const lag = 100 * time.Millisecond

// compared is one exchange between two computers.
type compared struct {
	bytes int           // that passed, both ways
	leads time.Duration // until the side that began held everything
	both  time.Duration // until both sides had read the last word
}

// compare runs one exchange in virtual time.
func compare(t *testing.T, leader, answerer *Mesh, want int) compared {
	t.Helper()
	a, b := between(lag)
	began := time.Now()
	var out compared
	var answered error
	var all sync.WaitGroup
	all.Go(func() {
		x := ofMember(answerer, b, leader.c.Identity.Device())
		answered = x.answer()
	})
	all.Go(func() {
		if s, ok := leader.c.Book.(*shelf); ok {
			s.wait(t, t.Context(), want)
		}
		out.leads = time.Since(began)
	})
	x := ofMember(leader, a, answerer.c.Identity.Device())
	err := led(x)
	all.Wait()
	if err != nil || answered != nil {
		t.Fatalf("the exchange ends with %v and %v", err, answered)
	}
	out.bytes, out.both = a.in.bytes+a.out.bytes, time.Since(began)
	return out
}

// led is the side that begins, of a mesh without a host.
func led(x *exchange) error {
	if err := x.write(x.hello()); err != nil {
		return err
	}
	same, err := x.greeted()
	if err != nil {
		return err
	}
	return x.goOn(same)
}

// twins are two computers that hold the same threads, each with a chain of the opener and one of another.
func twins(t *testing.T, threads, open int) (a, b *Mesh, pens []*pen) {
	t.Helper()
	a, b = alone(newShelf()), alone(newShelf())
	b.c.Identity = NewIdentity([32]byte{2})
	t.Cleanup(a.cancel)
	t.Cleanup(b.cancel)
	for i := range threads {
		tid := ledger.TID{}
		binary.BigEndian.PutUint32(tid[:], uint32(i)*uint32((1<<32-1)/threads)) // spread over all groups
		for _, m := range []*Mesh{a, b} {
			p := newPen(m.c.Identity, tid)
			r := p.nod(t)
			both(t, r, a, b)
			if m == a {
				pens = append(pens, p)
			}
		}
	}
	opens := func() (out []ledger.TID) {
		for i := range open {
			out = append(out, pens[i*len(pens)/open].tid)
		}
		return out
	}
	a.c.Open, b.c.Open = opens, opens
	return a, b, pens
}

// nod writes a small record, such as most are.
func (p *pen) nod(t testing.TB) *ledger.Record {
	t.Helper()
	r, err := ledger.Seal(p.key, ledger.Header{
		Ledger: p.tid, Inc: p.head.Inc, Seq: p.head.Next, Prev: p.head.ID, Open: ledger.ID{1}, Re: []ledger.ID{{1}}, Lam: p.head.Lam + 1, At: 1764500000000,
	}, &ledger.Ack{Classes: []ledger.Class{ledger.HasMaster}})
	if err != nil {
		t.Fatal(err)
	}
	p.head = p.head.After(r)
	return r
}

func both(t testing.TB, r *ledger.Record, to ...*Mesh) {
	t.Helper()
	for _, m := range to {
		if err := m.c.Book.Receive(context.Background(), r.Device, ledger.Conversation, []*ledger.Record{r}); err != nil {
			t.Fatal(err)
		}
	}
}

func same(a, b *Mesh) bool {
	all := func(m *Mesh) ledger.Digest { return ledger.DigestAll(m.c.Book.Visible(ledger.Device{})) }
	return all(a) == all(b)
}

func TestTenOpenThreadsChangedAmong5000CostTwoRoundTripsAnd20KB(t *testing.T) { // D-6, P24
	synctest.Test(t, func(t *testing.T) {
		a, b, pens := twins(t, 5000, 20)
		for i := range 10 {
			both(t, pens[i*2*len(pens)/20].nod(t), b)
		}

		got := compare(t, a, b, 10_010)

		t.Logf("%d bytes, %v, %v", got.bytes, got.leads, got.both)
		if !same(a, b) || got.bytes > 20_000 || got.leads > 4*lag {
			t.Errorf("same: %v, %d bytes, the news after %v", same(a, b), got.bytes, got.leads)
		}
	})
}

func TestTenThreadsChangedAnywhereAmong5000CostOneRoundTripMore(t *testing.T) { // D-6, P24
	synctest.Test(t, func(t *testing.T) {
		a, b, pens := twins(t, 5000, 20)
		records := 0
		for i := range 10 {
			r := pens[i*480+7].nod(t)
			records += len(r.Wire)
			both(t, r, []*Mesh{a, b}[i%2])
		}

		got := compare(t, a, b, 10_010)

		t.Logf("%d bytes, %d of records, %v, %v", got.bytes, records, got.leads, got.both)
		if !same(a, b) || got.bytes-records > 20_000 || got.leads > 6*lag {
			t.Errorf("same: %v, %d bytes, %d of them records, the news after %v", same(a, b), got.bytes, records, got.leads)
		}
	})
}

func TestTenThreadsChangedLatelyAmong5000CostTwoRoundTripsAnd20KB(t *testing.T) { // D-6, P24
	synctest.Test(t, func(t *testing.T) {
		a, b, pens := twins(t, 5000, 20)
		records := 0
		for i := range 10 {
			r := pens[i*480+7].nod(t)
			records += len(r.Wire)
			m := []*Mesh{a, b}[i%2]
			both(t, r, m)
			m.recent.touch(r.Ledger) // as what it publishes or hears
		}
		for i := range 2 * recentMax { // and much that is known to both
			a.recent.touch(pens[i*90+3].tid)
			b.recent.touch(pens[i*90+3].tid)
		}
		for i := range 10 {
			[]*Mesh{a, b}[i%2].recent.touch(pens[i*480+7].tid)
		}

		got := compare(t, a, b, 10_010)

		t.Logf("%d bytes, %d of records, %v, %v", got.bytes, records, got.leads, got.both)
		if !same(a, b) || got.bytes > 20_000 || got.leads > 4*lag {
			t.Errorf("same: %v, %d bytes, %d of them records, the news after %v", same(a, b), got.bytes, records, got.leads)
		}
	})
}

func TestWhatWasWrittenToLastIsRememberedUpToABound(t *testing.T) {
	var r recent
	for i := range byte(2 * recentMax) {
		r.touch(ledger.TID{i})
	}
	r.touch(ledger.TID{recentMax + 3})
	all := r.all()
	if len(all) != recentMax || all[recentMax-1] != (ledger.TID{recentMax + 3}) || all[0] != (ledger.TID{recentMax}) {
		t.Errorf("%d: %v", len(all), all)
	}
}

func TestEqualLedgersAmong5000Cost200Bytes(t *testing.T) { // D-6
	synctest.Test(t, func(t *testing.T) {
		a, b, _ := twins(t, 5000, 20)

		if got := compare(t, a, b, 10_000); got.bytes > 200 || got.both > 3*lag {
			t.Errorf("%d bytes, %v", got.bytes, got.both)
		}
	})
}

func TestOneExchangeMakesAnyTwoComputersEqual(t *testing.T) { // P24
	for seed := range uint64(40) {
		synctest.Test(t, func(t *testing.T) {
			chance := rand.New(rand.NewPCG(seed, 1))
			a, b, pens := twins(t, []int{1, 3, wholeMax, wholeMax + 1, 300}[seed%5], 1)
			fresh := func(n int) *pen {
				p := newPen(a.c.Identity, ledger.TID{byte(chance.UintN(256)), 0xff, byte(n)})
				pens = append(pens, p)
				return p
			}
			for i := range 1 + chance.IntN(12) {
				p := pens[chance.IntN(len(pens))]
				if chance.IntN(3) == 0 {
					p = fresh(i)
				}
				m := []*Mesh{a, b}[p.tid[0]&1]
				both(t, p.nod(t), m) // who lacks a record cannot take the next
				if chance.IntN(2) == 0 {
					m.recent.touch(p.tid)
				}
			}
			want := ledger.DigestAll(union(t, a, b))

			compare(t, a, b, 0)

			if !same(a, b) || ledger.DigestAll(a.c.Book.Visible(ledger.Device{})) != want {
				t.Errorf("seed %d: they differ still", seed)
			}
		})
	}
}

// union is what two computers hold together: of each ledger's chains the longest.
func union(t *testing.T, a, b *Mesh) []ledger.Listing {
	t.Helper()
	all := newShelf()
	for _, m := range []*Mesh{a, b} {
		s := m.c.Book.(*shelf)
		for _, chains := range s.chains {
			for _, records := range chains {
				if err := all.Receive(t.Context(), ledger.Device{}, ledger.Conversation, records); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := all.Receive(t.Context(), ledger.Device{}, ledger.Conversation, s.early); err != nil {
			t.Fatal(err)
		}
	}
	return all.Visible(ledger.Device{})
}

func TestAQuestionThatCouldGoOnForEverIsEnded(t *testing.T) {
	hello := &ledger.Hello{Version: 1, Now: 1, Digest: ledger.Digest{9}, Features: ledger.FeatureStages}
	at := func(b ...byte) []ledger.Listing {
		var out []ledger.Listing
		for _, n := range b {
			out = append(out, ledger.Listing{Ledger: ledger.TID{7, n}})
		}
		return out
	}
	have := &ledger.Have{Ledger: ledger.TID{1}}
	for name, frames := range map[string][]ledger.Frame{
		"a group again":            {&ledger.Bucket{Index: 7}, &ledger.Bucket{Index: 8}, &ledger.Bucket{Index: 7}},
		"a group again at once":    {&ledger.Bucket{Index: 7}, &ledger.Bucket{Index: 7}},
		"a group without an end":   {&ledger.Bucket{Index: 7, More: true}},
		"out of order":             {&ledger.Bucket{Index: 7, Entries: at(2, 1)}},
		"a ledger of another":      {&ledger.Bucket{Index: 8, Entries: at(1)}},
		"a ledger again":           {have, have},
		"a ledger again, later":    {have, &ledger.Bye{}, have},
		"a list in place of one":   {&ledger.List{Scope: ledger.ListAll}},
		"records in place of one":  {&ledger.Records{Ledger: ledger.TID{1}, Family: ledger.Conversation, Wires: [][]byte{{1}}}},
		"records before the marks": {&ledger.Bye{}, &ledger.Records{Ledger: ledger.TID{1}, Family: ledger.Conversation, Wires: [][]byte{{1}}}},
	} {
		t.Run(name, func(t *testing.T) {
			m := alone(newShelf())
			defer m.cancel()

			_, err := answered(m, said(t, append([]ledger.Frame{hello}, frames...)...))

			if !errors.Is(err, errPeer) {
				t.Errorf("it waited for more: %v", err)
			}
		})
	}
}

func TestAnOverviewThatCouldGoOnForEverIsEnded(t *testing.T) {
	hello := &ledger.Hello{Version: 1, Now: 1, Digest: ledger.Digest{9}, Features: ledger.FeatureStages}
	detail := &ledger.Detail{Fleet: fleet}
	one := []ledger.Listing{{Ledger: ledger.TID{7}}}
	for name, frames := range map[string][]ledger.Frame{
		"no details":             {&ledger.List{Scope: ledger.ListAll}},
		"another fleet's":        {&ledger.Detail{}},
		"details again":          {detail, detail},
		"pages without an entry": {detail, &ledger.List{Scope: ledger.ListOpen, More: true}},
		"the same page again":    {detail, &ledger.List{Scope: ledger.ListOpen, Entries: one, More: true}, &ledger.List{Scope: ledger.ListOpen, Entries: one, More: true}},
		"two scopes":             {detail, &ledger.List{Scope: ledger.ListOpen, Entries: one}, &ledger.List{Scope: ledger.ListAll, Entries: []ledger.Listing{{Ledger: ledger.TID{8}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			m := alone(newShelf())
			defer m.cancel()
			x := ofMember(m, &script{in: bytes.NewReader(said(t, append([]ledger.Frame{hello}, frames...)...))}, NewIdentity([32]byte{2}).Device())

			if err := led(x); !errors.Is(err, errPeer) {
				t.Errorf("it waited for more: %v", err)
			}
		})
	}
}
