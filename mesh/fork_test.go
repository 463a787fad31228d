package mesh

import (
	"context"
	"fmt"
	"testing"

	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/ledger/disk"
)

// shelved is a store in memory as a book that says when something came.
type shelved struct {
	stored
	news chan struct{}
}

func (s *shelved) Receive(_ context.Context, _ ledger.Device, _ ledger.Family, records []*ledger.Record) error {
	_, err := s.Apply(disk.Batch{Records: records})
	select {
	case s.news <- struct{}{}:
	default:
	}
	return err
}

// branch is records after a head that another pen may continue too.
func branch(t *testing.T, id Identity, after ledger.Head, at uint64, n int) []*ledger.Record {
	t.Helper()
	var out []*ledger.Record
	for range n {
		open := ledger.ID{1}
		r, err := ledger.Seal(id.Key(), ledger.Header{
			Ledger: ledger.TID{1}, Inc: after.Inc, Seq: after.Next, Prev: after.ID, Open: open, Re: []ledger.ID{open},
			Lam: after.Lam + 1, At: at,
		}, &ledger.Ack{Classes: []ledger.Class{ledger.HasMaster}})
		if err != nil {
			t.Fatal(err)
		}
		out, after = append(out, r), after.After(r)
	}
	return out
}

func TestCopiesThatHoldDifferentBranchesOfAForkAgreeInTheEnd(t *testing.T) { // case 12
	for _, c := range []struct {
		followed, other int // lengths of the branches
		start           int
	}{{1, 1, 3}, {2, 5, 3}, {5, 2, 3}, {2, 2, 0}, {400, 3, 300}} {
		t.Run(fmt.Sprintf("%d and %d after %d", c.followed, c.other, c.start), func(t *testing.T) {
			crew := newCrew(t, 2, loopback["tcp"])
			head := newPen(crew.ids[0], ledger.TID{1}).head
			start := branch(t, crew.ids[0], head, 1, c.start)
			if c.start > 0 {
				head = head.After(start[c.start-1])
			}
			followed, other := branch(t, crew.ids[0], head, 2, c.followed), branch(t, crew.ids[0], head, 3, c.other)
			news := make(chan struct{}, 1)
			var books [2]*shelved
			for i, own := range [][]*ledger.Record{followed, other} {
				s, err := disk.Open(disk.Options{InMemory: true})
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range [][]*ledger.Record{start, own} {
					if _, err := s.Apply(disk.Batch{Records: r}); err != nil {
						t.Fatal(err)
					}
				}
				books[i] = &shelved{stored: stored{Store: s}, news: news}
				crew.meshes[i].c.Book = books[i]
			}
			crew.join()

			for books[0].Digest() != books[1].Digest() {
				select {
				case <-news:
				case <-crew.ctx.Done():
					t.Fatalf("they differ still: %v and %v", heads(t, books[0]), heads(t, books[1]))
				}
			}

			for _, m := range crew.meshes {
				if err := m.Close(); err != nil {
					t.Error(err)
				}
			}
			for _, b := range books {
				if err := b.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func heads(t *testing.T, b *shelved) []ledger.Head {
	t.Helper()
	h, err := b.Heads(ledger.TID{1})
	if err != nil {
		t.Fatal(err)
	}
	return h
}
