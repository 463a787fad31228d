package page_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// demoMost is how long the demo may take until its page is there, on a machine that does much else.
const demoMost = 10 * time.Minute

// liveDemo plays parley demo in a directory, and returns the passphrase that it says and the link that it prints.
func liveDemo(t *testing.T, dir string) (passphrase, link string) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "parley")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "github.com/parley-mesh/parley/cmd/parley").CombinedOutput(); err != nil {
		t.Fatalf("build parley: %v\n%s", err, out)
	}
	c := exec.Command(program, "demo", "--yes", "--page", "--dir", dir)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	said, ended := make(chan [2]string, 1), make(chan struct{})
	go func() {
		defer close(ended)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if _, p, ok := strings.Cut(lines.Text(), "The passphrase of this demo is: "); ok {
				passphrase = p
			}
			if strings.HasPrefix(lines.Text(), "http://localhost:") {
				said <- [2]string{passphrase, lines.Text()}
				break
			}
		}
		_, _ = io.Copy(io.Discard, out) // what it tells afterwards
	}()
	t.Cleanup(func() {
		_ = c.Process.Signal(os.Interrupt)
		<-ended
		if err := c.Wait(); err != nil {
			t.Errorf("the demo: %v", err)
		}
	})
	select {
	case s := <-said:
		return s[0], s[1]
	case <-ended:
		t.Fatal("the demo ended before it showed its page")
	case <-time.After(demoMost):
		t.Fatal("the demo shows no page")
	}
	return "", ""
}

var originForm = regexp.MustCompile(`^http://localhost:\d+`)

// TestAPersonPressesThroughAConflictOfTheDemo settles a real conflict from the page of a real node: the push by the
// passphrase, the merge by a passkey, and one conflict of live work in the drawer.
func TestAPersonPressesThroughAConflictOfTheDemo(t *testing.T) { // P15, C11, D-24
	if !long() {
		t.Skip("with -everything: it plays the whole demo first")
	}
	dir := t.TempDir()
	secret, link := liveDemo(t, dir)
	w := (&site{origin: originForm.FindString(link)}).blank(t)
	w.do(chromedp.EmulateViewport(1280, 900), chromedp.Navigate(link))
	w.until(`location.pathname === "/" && document.readyState === "complete"`)
	w.live()
	w.authenticator()
	w.visit("/setup")
	w.do(chromedp.SendKeys(chromedp.ID("passkey-name"), "my laptop"), chromedp.SendKeys(chromedp.ID("passkey-passphrase"), secret))
	w.do(chromedp.Click(chromedp.CSS("#new-passkey button")))
	w.says("presses buttons from now on")
	w.shut()
	w.picture("demo-setup")

	w.visit("/")
	w.until(`document.querySelector("button[id^=b-C2]")`)
	w.picture("demo-inbox")
	w.do(chromedp.Click(chromedp.CSS("button[id^=b-C2]")))
	w.says("gift cards")
	w.picture("demo-push")
	w.agree(secret)
	w.says("Done")
	w.shut()
	w.until(`document.querySelector("button[id^=b-C3]")`)
	w.do(chromedp.Click(chromedp.CSS("button[id^=b-C3]")))
	w.until(dialogOpen)
	w.picture("demo-merge")
	w.click("passkey")
	w.says("Done")
	w.shut()

	w.visit("/conflicts")
	w.until(`document.querySelector("a[data-drawer]")`)
	w.do(chromedp.Click(chromedp.CSS("a[data-drawer]")))
	w.until(drawerOpen)
	w.picture("demo-drawer")
	w.click("r-acknowledge")
	w.until(dialogOpen + ` && document.activeElement.id === "typed"`)
	w.do(chromedp.SendKeys(chromedp.ID("passphrase"), secret))
	w.click("go")
	w.says("is acknowledged")
	w.shut()
	w.visit("/threads")
	w.until(`[...document.querySelectorAll("#live .badge")].filter((b) => b.textContent === "closed").length === 2`)
	for place, path := range map[string]string{"threads": "/threads", "computers": "/computers", "intents": "/intents", "saved": "/saved", "log": "/audit?of=log"} {
		w.visit(path)
		w.picture("demo-" + place)
	}

	bare, err := filepath.Glob(filepath.Join(dir, "github", "repositories", "*.git"))
	if err != nil || len(bare) != 1 {
		t.Fatal(bare, err)
	}
	text, err := exec.CommandContext(t.Context(), "git", "--git-dir", bare[0], "show", "master:README.md").Output()
	if err != nil || !strings.Contains(string(text), "gift cards") || !strings.Contains(string(text), "kettles") {
		t.Errorf("GitHub has %q (%v)", text, err)
	}
}
