package page_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestADialogTakesAPressAsSoonAsItStands presses in the very step in which the form comes: no person and no test may
// be so quick that a press is lost.
func TestADialogTakesAPressAsSoonAsItStands(t *testing.T) { // P15
	s := serve(t)
	w := s.open(t)
	w.do(chromedp.Evaluate[chromedp.Void](`new MutationObserver((_, o) => {
		const go = document.getElementById("go");
		if (!go) return;
		o.disconnect();
		document.getElementById("passphrase").value = "` + passphrase + `";
		go.click();
	}).observe(document.getElementById("dialog-box"), {childList: true})`))
	w.click(pushButton)
	w.says("Done")
	s.happened(t, "passphrase: approve "+pushBinds)
}

// countsViews counts the views that the stream has brought, shown or not.
const countsViews = `const Source = window.EventSource;
	window.told = 0;
	window.EventSource = class extends Source {
		constructor(...a) { super(...a); this.addEventListener("view", () => { window.told++; }); }
	};`

// counting counts the views in all pages of a window from now on.
func (w *window) counting() {
	w.t.Helper()
	_, err := chromedp.Call(w.ctx, cdpage.AddScriptToEvaluateOnNewDocument, cdpage.AddScriptToEvaluateOnNewDocumentParams{Source: countsViews})
	if err != nil {
		w.t.Fatal(err)
	}
}

// TestAButtonIsNotTakenAwayBetweenPressAndClick lets the whole view come anew while the mouse's button is down.
func TestAButtonIsNotTakenAwayBetweenPressAndClick(t *testing.T) { // P15
	s := serve(t)
	w := s.blank(t)
	w.counting()
	w.enter()
	x, y := w.middle(pushButton)
	w.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, x, y, chromedp.ButtonLeft, chromedp.ClickCount(1)))
	s.change(func() { s.cards[1].Title = "something else came" })
	w.until(`window.told > 0`)
	w.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, x, y, chromedp.ButtonLeft, chromedp.ClickCount(1)))
	w.until(dialogOpen)
	w.until(`document.getElementById("live").innerText.includes("something else came")`)
}

func TestTheFocusStaysOnALinkWhileTheViewComesAnew(t *testing.T) {
	s := serve(t)
	w := s.open(t)
	w.visit("/threads")
	w.do(chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("#live h2 a")[1].focus()`))
	s.change(func() { s.threads[0].Waiting = "waits for something else" })
	w.until(`document.getElementById("live").innerText.includes("waits for something else")`)
	if has := w.value(`document.activeElement.textContent`); has != s.threads[1].Ref {
		t.Errorf("%q has the focus", has)
	}
}

// TestADrawerOpensUnderNoKeyThatIsDown holds the key with which a conflict is opened until it repeats.
func TestADrawerOpensUnderNoKeyThatIsDown(t *testing.T) { // C11
	s := serve(t)
	s.change(s.busy)
	w := s.blank(t)
	w.counting()
	w.enter()
	w.visit("/conflicts")
	w.do(chromedp.Evaluate[chromedp.Void](`window.told = 0; document.getElementById("c-CF-9012345").focus()`))
	w.key(input.DispatchKeyEventTypeRawKeyDown)
	w.until(`location.search === "?open=CF-9012345" && window.told > 0`)
	w.key(input.DispatchKeyEventTypeRawKeyDown)
	w.key(input.DispatchKeyEventTypeChar)
	w.key(input.DispatchKeyEventTypeKeyUp)
	w.until(drawerOpen)
	w.do(chromedp.KeyEvent(kb.Escape))
	w.until(drawerClosed + ` && location.search === ""`)
}

// key is one part of a stroke of the Enter key.
func (w *window) key(part input.DispatchKeyEventType) {
	w.t.Helper()
	_, err := chromedp.Call(w.ctx, input.DispatchKeyEvent, input.DispatchKeyEventParams{
		Type: part, Key: "Enter", Code: "Enter", Text: "\r", WindowsVirtualKeyCode: 13, NativeVirtualKeyCode: 13,
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

var passwordForm = regexp.MustCompile(`(?s)<form([^>]*)>(?:.(?:<form)?)*?</form>`)

// TestNoPassphraseGoesIntoAnAddress looks at the forms as a browser sends them by itself, without the page's scripts.
func TestNoPassphraseGoesIntoAnAddress(t *testing.T) { // D-24
	b := serve(t).login(t)
	found := 0
	for _, path := range []string{"/setup", "/press?verb=main+off"} {
		_, body := b.get(t, path)
		for _, form := range passwordForm.FindAllStringSubmatch(body, -1) {
			if !strings.Contains(form[0], `type="password"`) {
				continue
			}
			if found++; !strings.Contains(form[1], `method="post"`) {
				t.Errorf("%s: %s", path, form[1])
			}
		}
	}
	if found != 2 {
		t.Errorf("%d forms", found)
	}
}

// TestAClosedDialogTakesTheFocusFromNobody goes on to the next field in the very step in which the dialog closes.
func TestAClosedDialogTakesTheFocusFromNobody(t *testing.T) {
	s := serve(t)
	w := s.open(t)
	w.visit("/setup")
	w.click("role")
	w.until(dialogOpen)
	w.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("dialog").close(); document.getElementById("passkey-name").focus()`))
	w.until(dialogClosed)
	if has := w.value(`document.activeElement.id`); has != "passkey-name" {
		t.Errorf("%q has the focus", has)
	}

	w.do(chromedp.KeyEvent("my lapp"), chromedp.KeyEvent(kb.ArrowLeft), chromedp.KeyEvent(kb.ArrowLeft))
	s.change(func() { s.status.Version = "v0.9.1" })
	w.until(`document.getElementById("live").innerText.includes("v0.9.1")`)
	w.do(chromedp.KeyEvent("X"))
	w.until(`document.getElementById("passkey-name").value === "my laXpp"`)
}
