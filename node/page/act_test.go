package page_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/parley-mesh/parley/node/api"
)

var (
	pushButton  = "b-C2_" + id("42")[:8]
	mergeButton = "b-C3_" + id("41")[:8]
)

const (
	dialogOpen = `document.getElementById("dialog").open`
	// dialogClosed: the page has also cleared it and looked to the focus, which it does a moment after.
	dialogClosed = `!document.getElementById("dialog").open && !document.getElementById("dialog-box").hasChildNodes()`
)

// says waits until the dialog says something.
func (w *window) says(text string) {
	w.t.Helper()
	w.until(`document.getElementById("dialog-box").innerText.includes("` + text + `")`)
}

// shut closes the dialog that has said what it had to.
func (w *window) shut() {
	w.t.Helper()
	w.click("shut")
	w.until(dialogClosed)
}

// agree types the passphrase into the dialog and presses its button.
func (w *window) agree(text string) {
	w.t.Helper()
	w.until(dialogOpen + ` && document.activeElement.id === "passphrase"`)
	w.do(chromedp.SendKeys(chromedp.ID("passphrase"), text))
	w.click("go")
}

// happened waits for what the node was made to do.
func (s *site) happened(t *testing.T, want ...string) {
	t.Helper()
	deadline := time.After(patience)
	for {
		changed := s.changed.Changed()
		if slices.Equal(s.done(), want) {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("the node did %q, want %q", s.done(), want)
		}
	}
}

func TestAPersonApprovesWithThePassphraseAfterSeeingTheDiff(t *testing.T) { // P15, D-24
	s := serve(t)
	w := s.open(t)
	w.click(pushButton)
	w.says("refundable(order)")
	w.until(`document.getElementById("binds").innerText === "` + pushBinds + `"`)
	w.picture("dialog-push")
	w.accessible("the dialog")
	w.agree("wrong horse battery")
	w.says("wrong passphrase")
	w.picture("dialog-wrong")
	w.agree(passphrase)
	w.says("Done")
	s.happened(t, "passphrase: approve "+pushBinds)
	w.until(`!document.getElementById("` + pushButton + `")`)
	w.until(`document.getElementById("cards").innerText === "3"`)
	w.shut()
	if kept := w.value(`document.documentElement.outerHTML`); strings.Contains(kept, passphrase) {
		t.Error("the passphrase is still in the page")
	}
}

func TestTheKeyboardAloneIsEnough(t *testing.T) {
	s := serve(t)
	w := s.open(t)
	w.do(chromedp.KeyEvent(kb.Tab))
	w.until(`document.activeElement.getAttribute("href") === "#main"`)
	for range 40 {
		w.do(chromedp.KeyEvent(kb.Tab))
		if w.value(`document.activeElement.id`) == pushButton {
			break
		}
	}
	w.do(chromedp.KeyEvent(kb.Enter))
	w.until(dialogOpen + ` && document.activeElement.id === "passphrase"`)
	w.do(chromedp.KeyEvent(kb.Escape))
	w.until(dialogClosed + ` && document.activeElement.id === "` + pushButton + `"`)
	s.change(func() { s.cards = append(s.cards, api.Card{Key: "C6/x", Code: "C6", Title: "One more"}) })
	w.until(`document.getElementById("live").innerText.includes("One more") && document.activeElement.id === "` + pushButton + `"`)
	w.do(chromedp.KeyEvent(kb.Enter))
	w.until(dialogOpen + ` && document.activeElement.id === "passphrase"`)
	w.do(chromedp.SendKeys(chromedp.ID("passphrase"), passphrase), chromedp.KeyEvent(kb.Enter))
	s.happened(t, "passphrase: approve "+pushBinds)
}

func TestACardThatSettlesElsewhereCannotBePressedAnyMore(t *testing.T) { // P15: two pages open at once
	s := serve(t)
	one, other := s.open(t), s.open(t)
	for _, w := range []*window{one, other} {
		w.click(pushButton)
		w.until(dialogOpen)
	}
	one.agree(passphrase)
	one.says("Done")
	other.until(`document.getElementById("go").disabled && !document.getElementById("stale").classList.contains("hidden")`)
	other.picture("dialog-stale")
	if long() {
		other.accessible("a dialog whose card has gone")
	}
	other.until(`!document.getElementById("` + pushButton + `")`)
	other.do(chromedp.KeyEvent(kb.Escape))
	s.happened(t, "passphrase: approve "+pushBinds)

	other.click(mergeButton)
	other.says("Pull request 41 is merged into main")
	s.change(func() { s.cards[0].Binds = strings.ReplaceAll(mergeBinds, "3333", "5555") })
	other.until(`document.getElementById("go").disabled`)
	s.happened(t, "passphrase: approve "+pushBinds)
}

// authenticator is a device that says yes to whatever this window asks.
func (w *window) authenticator() {
	w.t.Helper()
	if _, err := chromedp.Call(w.ctx, webauthn.Enable, webauthn.EnableParams{}); err != nil {
		w.t.Fatal(err)
	}
	_, err := chromedp.Call(w.ctx, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
		Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
		HasResidentKey: true, HasUserVerification: true, AutomaticPresenceSimulation: true, IsUserVerified: true,
	}})
	if err != nil {
		w.t.Fatal(err)
	}
}

func TestAPasskeyApprovesExactlyWhatIsSeenAndOnce(t *testing.T) { // P15, D-24
	s := serve(t)
	w := s.open(t)
	w.authenticator()
	w.visit("/setup")
	w.do(chromedp.SendKeys(chromedp.ID("passkey-name"), "my laptop"), chromedp.SendKeys(chromedp.ID("passkey-passphrase"), "wrong horse battery"))
	w.do(chromedp.Click(chromedp.CSS("#new-passkey button")))
	w.says("was not added")
	w.shut()
	if n := len(s.book.Keys()); n != 0 {
		t.Fatalf("%d passkeys without the passphrase", n)
	}
	w.do(chromedp.SendKeys(chromedp.ID("passkey-name"), "my laptop"), chromedp.SendKeys(chromedp.ID("passkey-passphrase"), passphrase))
	w.do(chromedp.Click(chromedp.CSS("#new-passkey button")))
	w.says("presses buttons from now on")
	w.shut()
	w.until(`document.getElementById("passkeys").parentElement.innerText.includes("my laptop")`)
	w.picture("setup-passkey")
	added := s.done()

	w.visit("/")
	w.click(pushButton)
	w.until(dialogOpen)
	w.picture("dialog-passkey")
	// What was asked for is looked at again when the answer comes.
	w.do(chromedp.Evaluate[chromedp.Void](`(() => {
		const trigger = htmx.trigger;
		htmx.trigger = (form, name) => { window.sent = new URLSearchParams(new FormData(form)).toString(); htmx.trigger = trigger; trigger(form, name); };
	})()`))
	w.click("passkey")
	w.says("Done")
	s.happened(t, append(added, "passkey: approve "+pushBinds)...)

	sent := w.value(`window.sent`)
	again := func(replace, by string) string {
		return w.value(`fetch("/press", {method: "POST", body: new URLSearchParams(` + quote(strings.ReplaceAll(sent, replace, by)) + `), headers: {"X-Parley-Page": document.body.dataset.csrf}}).then(r => String(r.status))`)
	}
	s.change(func() {
		s.cards = append(s.cards, api.Card{Key: "C2/" + id("42")[:8], Code: "C2", Title: "again", Thread: id("42"), Button: "Approve the push", Verb: "approve", Binds: pushBinds})
	})
	if status := again("", ""); status != "401" {
		t.Errorf("the same answer once more: %s", status)
	}
	if status := again("verb=approve&card=C2%2F"+id("42")[:8], "verb=main+off"); status == "200" {
		t.Errorf("the answer for another act: %s", status)
	}
	s.happened(t, append(added, "passkey: approve "+pushBinds)...)
}

func quote(s string) string { return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"` }

func TestEveryActionOfThePageReachesTheNode(t *testing.T) { // P2, P12, P15
	if !long() {
		t.Skip("with -everything: the same buttons are followed without a browser too")
	}
	s := serve(t)
	w := s.open(t)
	var want []string
	person := func(path, button, did string) {
		t.Helper()
		w.visit(path)
		w.click(button)
		w.agree(passphrase)
		w.says("Done")
		want = append(want, "passphrase: "+did)
		s.happened(t, want...)
	}
	anybody := func(path, button string, did ...string) {
		t.Helper()
		w.visit(path)
		w.click(button)
		w.until(`document.getElementById("toast").innerText.includes("it is done")`)
		want = append(want, did...)
		s.happened(t, want...)
	}
	t42 := id("42")
	person("/", mergeButton, "approve "+mergeBinds)
	person("/setup", "role", "main off ")
	person("/setup", "role", "main on ")
	person("/setup", "teammates", "lane conflicts "+api.Teammates+": on")
	w.visit("/computers")
	w.click("on-" + id("maya") + "-acme_shop")
	w.do(chromedp.Click(chromedp.CSS("#on-" + id("maya") + " button")))
	w.agree(passphrase)
	w.says("Done")
	want = append(want, "passphrase: lane on "+id("maya")+"\nacme/shop")
	s.happened(t, want...)
	person("/computers", "off-"+id("maya"), "lane off "+id("maya"))
	anybody("/setup", "now-acme_shop", "sync now acme/shop")
	anybody("/setup", "pause-acme_shop", "sync pause acme/shop")
	anybody("/setup", "pause-acme_web", "sync resume acme/web")
	anybody("/setup", "scan", "scan")
	anybody("/setup", "route", "route sync-conflicts false")
	person("/thread?ref="+t42, "assign-studio", "assign the final shall be built by studio")
	person("/thread?ref="+t42, "close", "close end the conversation")
	person("/audit", "undo-op-7", "op undo op-7")
	person("/audit?of=kept", "restore-k-3", "kept restore k-3")
}
