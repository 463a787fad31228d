package mesh

import (
	"context"
	"crypto/ed25519"
	"slices"
	"testing"
	"time"

	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/ledger/disk"
)

// stored is a disk store as a book.
type stored struct {
	*disk.Store
	got  int
	want int
	done chan struct{}
}

// Visible is everything.
func (s *stored) Visible(ledger.Device) []ledger.Listing {
	entries, _ := s.Ledgers() // from memory: it cannot fail
	var out []ledger.Listing
	for _, e := range entries {
		out = append(out, e.Listing)
	}
	return out
}

// Receive stores durably, as a node does.
func (s *stored) Receive(_ context.Context, _ ledger.Device, _ ledger.Family, records []*ledger.Record) error {
	_, err := s.Apply(disk.Batch{Records: records})
	if s.got += len(records); s.got >= s.want {
		close(s.done)
		s.want = 1 << 60
	}
	return err
}

// BenchmarkCatchUp10000 brings 10,000 records of about 500 bytes in ten ledgers from one computer's disk
// to another's, over QUIC on loopback, signatures verified and stored durably.
func BenchmarkCatchUp10000(b *testing.B) {
	const n = 10_000
	for b.Loop() {
		b.StopTimer()
		c := newCrew(b, 2, loopback["quic"])
		books := []*stored{{done: make(chan struct{}), want: 1 << 60}, {done: make(chan struct{}), want: n}}
		for i := range books {
			s, err := disk.Open(disk.Options{Dir: b.TempDir(), Compactors: 2, MinFree: 1})
			if err != nil {
				b.Fatal(err)
			}
			books[i].Store = s
			c.meshes[i].c.Book = books[i]
		}
		for l := range 10 {
			p := newPen(c.ids[0], ledger.TID{byte(l + 1)})
			var all []*ledger.Record
			for range n / 10 {
				all = append(all, p.write(b))
			}
			for batch := range slices.Chunk(all, 500) {
				if _, err := books[0].Apply(disk.Batch{Records: batch}); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.StartTimer()
		began := time.Now()
		c.join()
		<-books[1].done
		b.ReportMetric(n/time.Since(began).Seconds(), "records/s")
		b.StopTimer()
		for i := range books {
			if err := c.meshes[i].Close(); err != nil {
				b.Fatal(err)
			}
			if err := books[i].Close(); err != nil {
				b.Fatal(err)
			}
		}
		b.StartTimer()
	}
}

// BenchmarkVerify10000 is the baseline: the signatures of as many records alone, on one core.
func BenchmarkVerify10000(b *testing.B) {
	p := newPen(NewIdentity([32]byte{1}), ledger.TID{1})
	r := p.write(b)
	for b.Loop() {
		for range 10_000 {
			if r.Verify(ledger.Conversation) != nil {
				b.Fatal(ed25519.PublicKey(r.Device[:]))
			}
		}
	}
}

// BenchmarkPublishToDelivery is the time from Publish to the other side's book, one record after another.
func BenchmarkPublishToDelivery(b *testing.B) {
	c := newCrew(b, 3, loopback["quic"])
	for _, m := range c.meshes {
		m.c.GossipRate = -1
	}
	c.join()
	p := newPen(c.ids[0], ledger.TID{7})
	var took []time.Duration
	for b.Loop() {
		r := p.write(b)
		if err := c.shelves[0].Receive(c.ctx, c.ids[0].Device(), ledger.Conversation, []*ledger.Record{r}); err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		if err := c.meshes[0].Publish(r); err != nil {
			b.Fatal(err)
		}
		c.shelves[1].wait(b, c.ctx, int(r.Seq)+1)
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}
