package page_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/parley-mesh/parley/node/api"
)

const (
	drawerOpen   = `document.getElementById("drawer").open`
	drawerClosed = `!document.getElementById("drawer").open && !document.getElementById("drawer-box").hasChildNodes()`
)

// TestAConflictOpensBesideTheList presses through one conflict in the drawer, with the keyboard where that matters.
func TestAConflictOpensBesideTheList(t *testing.T) { // C11, C14
	s := serve(t)
	s.change(func() {
		s.crowd(30, 0)
		s.conflicts[10].Status = "resolved"
	})
	ref := s.conflicts[25].Ref
	w := s.open(t)
	w.visit("/conflicts?severity=warn")
	w.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("c-` + ref + `").scrollIntoView({block: "center"})`))
	scrolled := w.value(`String(scrollY)`)
	w.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("c-` + ref + `").focus({preventScroll: true})`))
	w.do(chromedp.KeyEvent(kb.Enter))
	w.until(drawerOpen + ` && document.getElementById("drawer-title").innerText === "` + ref + `"`)
	w.until(`document.activeElement.id === "drawer-close"`)
	w.until(`location.search === "?open=` + ref + `&severity=warn"`)
	w.picture("drawer")
	w.do(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll("#drawer a, #drawer button")].at(-1).focus()`))
	for range 3 { // the focus stays inside, or with the browser's own bars
		w.do(chromedp.KeyEvent(kb.Tab))
		if w.value(`String(document.activeElement === document.body || document.getElementById("drawer").contains(document.activeElement))`) != "true" {
			t.Fatalf("the focus left the drawer for %s", w.value(`document.activeElement.outerHTML`))
		}
	}

	w.click("r-acknowledge") // the dialog lies on the drawer
	w.until(dialogOpen + ` && document.activeElement.id === "typed"`)
	w.do(chromedp.KeyEvent(kb.Escape))
	w.until(dialogClosed + " && " + drawerOpen + ` && document.activeElement.id === "r-acknowledge"`)
	w.click("override")
	w.until(dialogOpen + ` && document.activeElement.id === "typed"`)
	w.do(chromedp.SendKeys(chromedp.ID("typed"), "hot fix first"), chromedp.SendKeys(chromedp.ID("passphrase"), passphrase))
	w.click("go")
	w.says("Done")
	w.shut()
	w.until(drawerOpen + ` && document.getElementById("drawer").innerText.includes("overridden")`)
	if did := s.done(); len(did) != 1 || !strings.HasPrefix(did[0], "passphrase: override ") {
		t.Errorf("the node did %q", did)
	}

	s.change(func() { s.conflicts[20].Sentence = "something else changed" })
	w.until(`document.getElementById("live").innerText.includes("something else changed")`)
	w.do(chromedp.KeyEvent(kb.Escape))
	w.until(drawerClosed + ` && location.search === "?severity=warn"`)
	if now := w.value(`String(scrollY)`); now != scrolled {
		t.Errorf("the list stood at %s, and now at %s", scrolled, now)
	}
	w.until(`document.activeElement.id === "c-` + s.conflicts[24].Ref + `" || document.activeElement.id === "main"`) // the overridden one has gone from the list
}

func TestADrawerHasAnAddressOfItsOwn(t *testing.T) {
	s := serve(t)
	s.change(s.busy)
	w := s.open(t)
	w.do(chromedp.EmulateViewport(360, 740))
	w.visit("/conflicts?status=all&open=CF-7000111")
	w.until(drawerOpen + ` && document.getElementById("drawer").innerText.includes("override requested")`)
	w.until(`document.getElementById("drawer").getBoundingClientRect().width === innerWidth`)
	w.picture("drawer-360")
	w.accessible("the drawer")
	w.do(chromedp.KeyEvent(kb.Escape))
	w.until(drawerClosed + ` && location.search === "?status=all" && document.activeElement.id === "c-CF-7000111"`)
	w.do(chromedp.KeyEvent(kb.Enter))
	w.until(drawerOpen)
	w.do(chromedp.Evaluate[chromedp.Void](`history.back()`))
	w.until(drawerClosed + ` && location.search === "?status=all"`)
	w.do(chromedp.Evaluate[chromedp.Void](`history.forward()`))
	w.until(drawerOpen + ` && document.getElementById("drawer-title").innerText === "CF-7000111"`)
	w.click("drawer-close")
	w.until(drawerClosed + ` && location.search === "?status=all"`)
	w.visit("/conflicts?open=CF-0000000")
	w.until(drawerOpen + ` && document.getElementById("drawer").innerText.includes("no such conflict")`)
}

func TestTheSwitchesOfSetupReachTheNode(t *testing.T) { // P2, P12, D-26, D-27
	s := serve(t)
	b := s.login(t)
	ask := func(form url.Values, did string) {
		t.Helper()
		status, body := b.get(t, "/press?"+form.Encode())
		for _, m := range hiddenForm.FindAllStringSubmatch(body, -1) {
			if m[1] == "binds" {
				form.Set("binds", strings.ReplaceAll(m[2], "&#39;", "'"))
			}
		}
		form.Set("thread", "")
		form.Set("passphrase", passphrase)
		if status != http.StatusOK {
			t.Fatalf("%v: %d %s", form, status, body)
		}
		if status, body := b.post(t, "/press", form); status != http.StatusOK {
			t.Fatalf("%v: %d %s", form, status, body)
		}
		if all := s.done(); all[len(all)-1] != "passphrase: "+did {
			t.Errorf("the node did %q, want %q", all, did)
		}
	}
	ask(url.Values{"verb": {"agents off"}}, "agents off "+api.AgentsAcross)
	ask(url.Values{"verb": {"lane work on"}, "lane": {id("maya")}, "repository": {"acme/shop", "acme/web"}}, "lane work on "+id("maya")+"\nacme/shop\nacme/web")
	ask(url.Values{"verb": {"lane work on"}, "lane": {id("maya")}, "repository": {"acme/shop"}, "hide": {"names"}}, "lane work on "+id("maya")+"\nacme/shop\nnames hidden")
	ask(url.Values{"verb": {"lane work off"}, "lane": {id("maya")}}, "lane work off "+id("maya"))
	if status, _ := b.get(t, "/press?verb=lane+work+on&lane="+id("maya")); status != http.StatusBadRequest {
		t.Errorf("sharing nothing: %d", status)
	}
	for _, c := range []struct {
		form url.Values
		did  string
	}{
		{url.Values{"verb": {"notices quiet"}, "from": {"21:30"}, "to": {"06:00"}}, "notices true 21:30-06:00"},
		{url.Values{"verb": {"notices off"}}, "notices false 21:30-06:00"},
		{url.Values{"verb": {"notices on"}}, "notices true 21:30-06:00"},
		{url.Values{"verb": {"notices quiet"}}, "notices true "},
	} {
		if status, body := b.post(t, "/do", c.form); status != http.StatusOK {
			t.Fatalf("%v: %d %s", c.form, status, body)
		}
		if all := s.done(); all[len(all)-1] != c.did {
			t.Errorf("the node did %q, want %q", all, c.did)
		}
	}
}

func TestChartsNameTheirAxesAndSayTheSameInTables(t *testing.T) { // C15: conflicts over time, time to settle, turns spent
	s := serve(t)
	s.change(s.busy)
	_, body := s.login(t).get(t, "/saved")
	body = strings.Join(strings.Fields(strings.ReplaceAll(body, "><", "> <")), " ")
	for _, want := range []string{
		"Conflicts over time", "Time to settle", "Agent turns spent",
		`class="chart-axis">Conflicts<`, `class="chart-axis" text-anchor="middle">Day (` + time.Now().Format("MST") + `)<`,
		`class="chart-axis">How many<`, `text-anchor="middle">Time it took<`, `class="chart-axis">Turns<`, `text-anchor="middle">Conversation<`,
		`<th scope="row">acme/shop#42</th> <td>4</td>`, `<th scope="row">less than a day</th> <td>0</td> <td>1</td>`,
		`<th scope="row">a day and more</th> <td>2</td> <td>0</td>`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("%q is not on the page", want)
		}
	}
}
