package node

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-mesh/parley/conflicts/overlap"
	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/mesh"
	"github.com/parley-mesh/parley/node/internal/hooks"
)

// guest is one of the hundred who work beside this computer. It writes straight into the node's memory.
type guest struct {
	c       *crewed
	id      mesh.Identity
	head    ledger.Head
	session ledger.ID
}

func (g *guest) say(tb testing.TB, body ledger.Body) *ledger.Record {
	tb.Helper()
	now := uint64(g.c.wall().UnixMilli())
	scope := ledger.Scope{Host: workHost, Repo: workRepo, Period: ledger.PeriodOf(now)}
	h := ledger.Header{Ledger: scope.Ledger(), Inc: ledger.Incarnation{7}, Seq: g.head.Next, Prev: g.head.ID, Lam: g.head.Lam + 1, At: now}
	if h.Seq == 0 {
		h.Scope = scope
	}
	r, err := ledger.Seal(g.id.Key(), h, body)
	if err != nil {
		tb.Fatal(err)
	}
	g.head = g.head.After(r)
	g.c.live.locked(func() { g.c.live.fold.Add(r, now) })
	return r
}

func (g *guest) edits(tb testing.TB, path, text string) {
	f := detect.File{Path: path, Op: detect.Modify, Blob: fmt.Sprintf("%040x", len(text)+1), BaseBlob: fmt.Sprintf("%040x", 1), Mode: 0o100644}
	g.say(tb, overlap.EditOf(g.session, &f, &detect.Delta{}, nil, editBytesMax))
}

// throng is a hundred computers of others with 10,000 open claims, a quarter of them exclusive, and 2,000 edited files.
func throng(tb testing.TB, c *crewed) (all []*guest) {
	for n := range 100 {
		g := &guest{c: c, id: mesh.NewIdentity([32]byte{200, byte(n)})}
		g.session = g.say(tb, &ledger.Session{State: ledger.SessionLive, Agent: "codex", Checkout: [16]byte{1, byte(n)}, Branch: fmt.Sprint("feat/", n)}).ID
		var claims []detect.Claim
		for i := range 100 {
			claims = append(claims, detect.Claim{Kind: detect.PathClaim, Pattern: fmt.Sprintf("pkg/mod%02d/part%02d/**", n, i), Exclusive: i%4 == 0, Covers: 3})
		}
		g.say(tb, overlap.ClaimOf(g.session, claims))
		for i := range 20 {
			g.edits(tb, fmt.Sprintf("pkg/mod%02d/part%02d/main.go", n, i), "")
		}
		all = append(all, g)
	}
	c.live.locked(c.live.fold.Settle)
	return all
}

// percentiles reports how long something took.
func percentiles(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e6, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds())/1e6, "p99-ms")
}

// BenchmarkDecision is from an agent's payload to the answer that its hook prints: without the socket and over it, while
// nothing else happens and while others' edits come in ten times a second.
func BenchmarkDecision(b *testing.B) {
	homes, dirs := newCrew(b, 1)
	c := runCrewed(b, homes[0], dirs[0])
	c.looked()
	guests := throng(b, c)
	c.at(c.dir, hooks.Start, "mine")
	payload := func(n int) []byte {
		e := hooks.Event{Kind: hooks.BeforeEdit, Session: "mine", Cwd: c.dir, Paths: []string{filepath.Join(c.dir, fmt.Sprintf("pkg/mod%02d/part%02d/main.go", n%100, 4*(n%25)))}}
		body, err := json.Marshal(e)
		if err != nil {
			b.Fatal(err)
		}
		return body
	}
	door := hooks.NewDoor(c.live)
	f := faraway(b, homes[0], dirs[0])
	for _, way := range []struct {
		name string
		ask  func([]byte) string
	}{
		{"in memory", func(p []byte) string { return door.Answer(b.Context(), hooks.Call{Agent: "probe", Payload: p}).Text }},
		{"over the socket", func(p []byte) string {
			answer, err := f.http.Post("http://parley/v1/hook/probe", "application/json", bytes.NewReader(p))
			if err != nil {
				b.Fatal(err)
			}
			defer answer.Body.Close() // it is read to its end
			text, err := io.ReadAll(answer.Body)
			if err != nil || answer.StatusCode != http.StatusOK {
				b.Fatal(answer.Status, err)
			}
			return string(text)
		}},
	} {
		for _, busy := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s, busy %v", way.name, busy), func(b *testing.B) {
				done := make(chan struct{})
				var others sync.WaitGroup
				if busy {
					others.Go(func() { chatter(b, c, guests, done) })
				}
				var took []time.Duration
				late := 0
				for n := 0; b.Loop(); n++ {
					p := payload(n / 20) // who is refused tries again, or goes elsewhere
					began := time.Now()
					text := way.ask(p)
					took = append(took, time.Since(began))
					var d hooks.Decision
					if err := json.Unmarshal([]byte(text), &d); err != nil {
						b.Fatalf("%s: %v", text, err)
					}
					if d.Verdict != hooks.VerdictBlock {
						late++ // than a hook waits; then the edit passes
					}
				}
				if late > len(took)/2 {
					b.Fatalf("%d of %d were not answered in time", late, len(took))
				}
				b.ReportMetric(float64(late), "late")
				close(done)
				others.Wait()
				percentiles(b, took)
			})
		}
	}
}

// chatter lets others' edits come in ten times a second.
func chatter(b *testing.B, c *crewed, guests []*guest, done <-chan struct{}) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-tick.C:
			guests[n%100].edits(b, fmt.Sprintf("pkg/mod%02d/part%02d/main.go", n%100, n%20), fmt.Sprint(n))
			ring(c.live.news)
		case <-done:
			return
		}
	}
}

// BenchmarkSavedCode is what a save of code by an agent writes down, its session's beginning left out: sixty are an hour of
// one that saves once a minute.
func BenchmarkSavedCode(b *testing.B) {
	homes, dirs := newCrew(b, 1)
	c := runCrewed(b, homes[0], dirs[0])
	c.looked()
	c.at(c.dir, hooks.Start, "mine")
	tid := ledger.Scope{Host: workHost, Repo: workRepo, Period: ledger.PeriodOf(uint64(c.wall().UnixMilli()))}.Ledger()
	save := func(n int) {
		before := c.workBook.has(tid, c.id.Device())
		c.at(c.dir, hooks.BeforeEdit, "mine", "billing/refund.go")
		write(b, filepath.Join(c.dir, "billing", "refund.go"), strings.Replace(refundGo, "return nil", fmt.Sprintf("return pay(order, %d)", n), 1))
		c.at(c.dir, hooks.AfterEdit, "mine", "billing/refund.go")
		eventually(b, "it is written down", func() bool { return c.workBook.has(tid, c.id.Device()).records > before.records })
	}
	save(0)
	before, n := c.workBook.has(tid, c.id.Device()), 0
	for b.Loop() {
		n++
		save(n)
	}
	after := c.workBook.has(tid, c.id.Device())
	b.ReportMetric(60*float64(after.records-before.records)/float64(n), "records/hour")
	b.ReportMetric(60*float64(after.bytes-before.bytes)/float64(n)/1000, "kB/hour")
}
