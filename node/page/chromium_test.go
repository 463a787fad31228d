package page_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

var (
	screenshots = flag.String("screenshots", "", "write a picture of each view into this `folder`; looks at all of them in both themes and widths")
	everything  = flag.Bool("everything", false, "look at all views in both themes and widths")
)

// long says that time does not matter.
func long() bool { return *everything || *screenshots != "" }

// chromium is one browser for all tests of the package.
var chromium struct {
	once  sync.Once
	ctx   context.Context
	close func()
	err   error
}

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if chromium.close != nil {
		chromium.close()
	}
	os.Exit(code)
}

// start starts the browser, whose tabs are the tests'.
func start() {
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, chromium.err = exec.LookPath(name); chromium.err == nil {
			break
		}
	}
	if chromium.err != nil {
		return
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-background-timer-throttling", true), chromedp.Flag("disable-renderer-backgrounding", true))
	allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	chromium.ctx = ctx
	chromium.close = func() { cancel(); end() }
	chromium.err = chromedp.Do(ctx, chromedp.Navigate("about:blank"))
}

// window is a tab with cookies of its own.
type window struct {
	t   *testing.T
	s   *site
	ctx context.Context
}

// open logs in at the page in a window of its own.
func (s *site) open(t *testing.T) *window {
	t.Helper()
	w := s.blank(t)
	w.enter()
	return w
}

// enter logs a window in.
func (w *window) enter() {
	w.t.Helper()
	w.do(chromedp.Navigate(w.s.server.Link().URL))
	w.until(`location.pathname === "/" && document.readyState === "complete"`)
	w.live()
}

func (s *site) blank(t *testing.T) *window {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes its time")
	}
	chromium.once.Do(start)
	if chromium.err != nil {
		t.Skipf("no Chromium here: %v", chromium.err)
	}
	tab, cancel := chromedp.NewContext(chromium.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	if err := chromedp.Do(tab, chromedp.Navigate("about:blank")); err != nil { // the tab lasts as long as the context of its first step
		t.Fatal(err)
	}
	w := &window{t, s, tab}
	w.theme("light") // in which nothing moves: a click finds its button where it was looked for
	return w
}

func (w *window) do(steps ...chromedp.Action[chromedp.Void]) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		w.t.Fatal(err)
	}
}

// until waits for a condition in the window, over loads of pages. What it asks is no script of the page, so that the
// page's policy does not matter.
func (w *window) until(js string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+js+")")); err == nil && ok {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			w.t.Fatalf("waiting for %s: %v\n%s", js, ctx.Err(), w.value("document.body.innerText"))
		}
	}
}

func (w *window) value(js string) string {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[string](js, chromedp.EvalAwaitPromise))
	if err != nil {
		w.t.Fatalf("%s: %v", js, err)
	}
	return v
}

// click presses the element with this id.
func (w *window) click(id string) {
	w.t.Helper()
	w.do(chromedp.Click(chromedp.ID(id), chromedp.NodeVisible))
}

// middle is where the middle of the element with this id is, in pixels of the window.
func (w *window) middle(id string) (x, y float64) {
	w.t.Helper()
	at := w.value(`(() => {
		const e = document.getElementById("` + id + `");
		e.scrollIntoView({block: "center"});
		const box = e.getBoundingClientRect();
		return (box.x + box.width / 2) + " " + (box.y + box.height / 2);
	})()`)
	if _, err := fmt.Sscan(at, &x, &y); err != nil {
		w.t.Fatal(err)
	}
	return x, y
}

// visit opens a view and waits until it is live.
func (w *window) visit(path string) {
	w.t.Helper()
	w.do(chromedp.Navigate(w.s.origin + path))
	w.live()
}

// live waits until the stream has brought the view.
func (w *window) live() {
	w.t.Helper()
	w.until(`Number(document.getElementById("live").dataset.updates) > 0`)
}

// theme sets what the person's system prefers.
func (w *window) theme(name string) {
	w.t.Helper()
	_, err := chromedp.Call(w.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}, {Name: "prefers-reduced-motion", Value: "reduce"}},
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// picture writes what the window shows, if the command line wants it.
func (w *window) picture(name string) {
	w.t.Helper()
	if *screenshots == "" {
		return
	}
	take := chromedp.FullScreenshot(100)
	if w.value(`String(document.querySelector("dialog[open]") !== null)`) == "true" {
		take = chromedp.CaptureScreenshot() // a dialog is as high as the window
	}
	shot, err := chromedp.Run(w.ctx, take)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := os.MkdirAll(*screenshots, 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*screenshots, name+".png"), shot, 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// axe is the checker of pages for people with disabilities, as npm has it.
var axe = sync.OnceValues(func() (string, error) {
	packed, err := os.ReadFile("testdata/axe.min.js.gz")
	if err != nil {
		return "", err
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(r)
	return string(text), err
})

// accessible wants no violation of what the window shows.
func (w *window) accessible(what string) {
	w.t.Helper()
	script, err := axe()
	if err != nil {
		w.t.Fatal(err)
	}
	if w.value(`String("axe" in window)`) != "true" {
		w.do(chromedp.Evaluate[chromedp.Void](script))
	}
	const run = `axe.run(document, {resultTypes: ["violations"], runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]})
		.then(r => r.violations.map(v => v.id + ": " + v.nodes.map(n => n.html.slice(0, 160) + " (" + n.failureSummary + ")").join(" | ")).join("\n"))`
	found, err := chromedp.Run(w.ctx, chromedp.Evaluate[string](run, chromedp.EvalAwaitPromise))
	if err != nil {
		w.t.Fatal(err)
	}
	if strings.TrimSpace(found) != "" {
		w.t.Errorf("%s: %s", what, found)
	}
}
