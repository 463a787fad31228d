package page_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/parley-mesh/parley/node/api"
)

// crowd makes a world large: so many conflicts and cards, and a thread of so many records.
func (w *world) crowd(conflicts, records int) {
	w.busy()
	now := time.Now()
	first := w.conflicts[0]
	for i := range conflicts {
		c := first
		c.Ref, c.Since = fmt.Sprintf("CF-%07d", 1000000+i), now.Add(-time.Duration(i)*time.Minute)
		w.conflicts = append(w.conflicts, c)
		w.cards = append(w.cards, api.Card{Key: fmt.Sprintf("C4/%d", i), Code: "C4", Title: fmt.Sprintf("acme/web#%d needs a person to settle it", i), What: "it conflicts in more than 25 files", Since: now})
	}
	t := w.thread[id("42")]
	for i := range records {
		r := t.Records[i%5]
		r.ID = id(fmt.Sprint(i))
		r.Short = r.ID[:8]
		t.Records = append(t.Records, r)
	}
	w.thread[id("42")] = t
}

// large are the views that have much to show.
var large = []struct{ name, path string }{
	{"conflicts", "/conflicts"},
	{"inbox", "/"},
	{"thread", "/thread?ref=" + id("42")},
}

// BenchmarkView is what a browser waits for: a whole view over a connection, with 1,000 conflicts and cards and a
// thread of 10,000 records, and the same of a small world.
func BenchmarkView(b *testing.B) {
	for _, size := range []struct{ conflicts, records int }{{0, 0}, {1000, 10000}} {
		s := serve(b)
		s.change(func() { s.crowd(size.conflicts, size.records) })
		browser := s.login(b)
		for _, v := range large {
			b.Run(fmt.Sprintf("%s/%d", v.name, size.conflicts), func(b *testing.B) {
				bytes := 0
				for b.Loop() {
					status, body := browser.get(b, v.path)
					if status != http.StatusOK {
						b.Fatal(status)
					}
					bytes = len(body)
				}
				b.ReportMetric(float64(bytes), "bytes")
			})
		}
	}
}

// BenchmarkUpdate is the time from a change in the node to the whole new view at the browser's end.
func BenchmarkUpdate(b *testing.B) {
	for _, size := range []struct{ conflicts, records int }{{0, 0}, {1000, 10000}} {
		s := serve(b)
		s.change(func() { s.crowd(size.conflicts, size.records) })
		browser := s.login(b)
		b.Run(fmt.Sprint(size.conflicts), func(b *testing.B) {
			resp, err := browser.Do(request(b, http.MethodGet, s.origin+"/events?view=/conflicts", nil))
			if err != nil {
				b.Fatal(err)
			}
			defer resp.Body.Close()
			events := bufio.NewReader(resp.Body)
			event(b, events, "")
			for i := 0; b.Loop(); i++ {
				mark := fmt.Sprintf("change-%d.", i)
				s.change(func() { s.conflicts[0].Sentence = mark })
				event(b, events, mark)
			}
		})
	}
}

// event reads up to the end of the first event that says something.
func event(t testing.TB, r *bufio.Reader, mark string) {
	t.Helper()
	said := mark == ""
	for {
		line, err := r.ReadString('\n')
		if err == io.EOF || err != nil {
			t.Fatal(err)
		}
		said = said || strings.Contains(line, mark)
		if said && line == "\n" {
			return
		}
	}
}

func TestALargeWorldIsShownInPages(t *testing.T) {
	s := serve(t)
	s.change(func() { s.crowd(1000, 10000) })
	b := s.login(t)
	for _, v := range large {
		if _, body := b.get(t, v.path); len(body) > 150<<10 || !strings.Contains(body, "page 1 of") {
			t.Errorf("%s: %d bytes", v.name, len(body))
		}
	}
	if _, body := b.get(t, large[2].path+"&page=201"); !strings.Contains(body, "page 201 of 201") || !strings.Contains(body, "opens the conflict") {
		t.Error("the first record of the thread is not on its last page")
	}
	if _, body := b.get(t, "/conflicts?page=99999"); !strings.Contains(body, "page 41 of 41") {
		t.Error("a page beyond the last one")
	}
}

// TestPagesOfAListAreTurnedWithTheKeyboard goes through a filtered list of conflicts, and opens one of its second page.
func TestPagesOfAListAreTurnedWithTheKeyboard(t *testing.T) { // C11: the filters stay
	s := serve(t)
	s.change(func() {
		s.crowd(200, 0)
		for i := range s.conflicts {
			s.conflicts[i].Severity = []string{"warn", "info"}[i%2]
		}
	})
	w := s.open(t)
	w.visit("/conflicts?severity=info")
	to := func(id string) {
		t.Helper()
		for range 60 {
			w.do(chromedp.KeyEvent(kb.Tab))
			if w.value(`document.activeElement.id`) == id {
				w.do(chromedp.KeyEvent(kb.Enter))
				return
			}
		}
		t.Fatalf("%s is not reached with the keyboard", id)
	}
	to("above-next")
	w.until(`location.search === "?page=2&severity=info" && document.readyState === "complete"`)
	w.live()
	if has := w.value(`String(document.querySelectorAll("#live li h2").length)`); has != "25" {
		t.Errorf("%s conflicts on a page", has)
	}
	second := s.conflicts[53].Ref
	to("c-" + second)
	w.until(drawerOpen + ` && document.getElementById("drawer-title").innerText === "` + second + `"`)
	w.do(chromedp.KeyEvent(kb.Escape))
	w.until(drawerClosed + ` && location.search === "?page=2&severity=info"`)
	to("below-first")
	w.until(`location.search === "?page=1&severity=info"`)
}

// TestALargeWorldPaintsSoon logs what a real browser takes, which is not only the page's doing.
func TestALargeWorldPaintsSoon(t *testing.T) {
	if !long() {
		t.Skip("with -everything")
	}
	s := serve(t)
	s.change(func() { s.crowd(1000, 10000) })
	w := s.open(t)
	for _, v := range large {
		w.visit(v.path)
		w.until(`performance.getEntriesByName("first-contentful-paint").length > 0`)
		paint := w.value(`performance.getEntriesByName("first-contentful-paint")[0].startTime.toFixed(0)`)
		t.Logf("%s: first paint after %s ms", v.name, paint)
	}
	w.visit("/conflicts")
	for i := range 5 {
		mark := fmt.Sprintf("now it is otherwise, %d", i)
		w.do(chromedp.Evaluate[chromedp.Void](`(() => {
			window.seenAt = 0;
			const o = new MutationObserver(() => { if (document.querySelector("#live li p").textContent.includes("` + mark + `")) { window.seenAt = performance.timeOrigin + performance.now(); o.disconnect(); } });
			o.observe(document.getElementById("live"), {childList: true, subtree: true});
		})()`))
		at := time.Now()
		s.change(func() { s.conflicts[0].Sentence = mark })
		w.until(`window.seenAt > 0`)
		t.Logf("update after %s ms", w.value(fmt.Sprintf("(window.seenAt - %d / 1000).toFixed(1)", at.UnixMicro())))
	}
}
