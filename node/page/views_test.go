package page_test

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/help"
)

// places are the views, by the name of their picture.
var places = [][2]string{
	{"inbox", "/"},
	{"threads", "/threads"},
	{"thread", "/thread?ref=" + id("42")},
	{"computers", "/computers"},
	{"setup", "/setup"},
	{"operations", "/audit"},
	{"kept", "/audit?of=kept"},
	{"keptfile", "/kept?id=k-3"},
	{"log", "/audit?of=log"},
	{"conflicts", "/conflicts?status=all"},
	{"conflict", "/conflict?ref=CF-7000111"},
	{"intents", "/intents"},
	{"saved", "/saved"},
	{"decisions", "/audit?of=decisions"},
	{"help", "/help?page=format"},
	{"trouble", "/thread?ref=nowhere"},
}

// rich are the views that are looked at in a browser by default: between them they have every kind of part.
var rich = []string{"inbox", "thread", "computers", "setup", "conflicts", "saved"}

func TestEveryViewIsForEverybodyInBothThemesAndWidths(t *testing.T) { // C11, P10: pages for people
	s := serve(t)
	s.change(s.busy)
	w := s.open(t)
	for i, place := range places {
		if !long() && !slices.Contains(rich, place[0]) {
			continue
		}
		w.do(chromedp.Navigate(s.origin + place[1]))
		if place[0] != "trouble" {
			w.live()
		}
		for _, theme := range []string{"light", "dark"} {
			for _, width := range []int64{1600, 360} {
				if !long() && ((theme == "dark") != (width == 360) || (theme == "dark") != (i%2 == 0)) {
					continue
				}
				what := fmt.Sprintf("%s-%s-%d", place[0], theme, width)
				w.theme(theme)
				w.do(chromedp.EmulateViewport(width, 900))
				w.picture(what)
				w.accessible(what)
				if over := w.value(`String(document.documentElement.scrollWidth - innerWidth)`); over != "0" && !strings.HasPrefix(over, "-") {
					t.Errorf("%s is %s pixels too wide", what, over)
				}
			}
		}
	}
}

func TestAnEmptyPlaceTeaches(t *testing.T) {
	s := serve(t)
	s.change(func() {
		s.cards, s.threads, s.operations, s.kept, s.lines = nil, nil, nil, nil, nil
		s.status.Peers, s.status.Lanes, s.status.Repositories = nil, nil, nil
		s.routes[0].Command = nil
	})
	b := s.login(t)
	var w *window
	if long() {
		w = s.open(t)
	}
	for _, place := range []struct{ name, path, says string }{
		{"inbox", "/", "A card comes here when only a person can decide"},
		{"threads", "/threads", "When a pull request of yours conflicts"},
		{"computers", "/computers", "parley invite"},
		{"setup", "/setup", "parley init"},
		{"conflicts", "/conflicts", "Nothing overlaps"},
		{"intents", "/intents", "Nobody works right now"},
		{"saved", "/saved", "No conflict was caught"},
		{"decisions", "/audit?of=decisions", "Nothing was decided yet"},
		{"operations", "/audit", "Nothing was changed yet"},
		{"kept", "/audit?of=kept", "Nothing was replaced yet"},
		{"log", "/audit?of=log", "Nothing happened yet"},
	} {
		if status, body := b.get(t, place.path); status != http.StatusOK || !strings.Contains(body, place.says) {
			t.Errorf("%s: %d, and does not say %q", place.name, status, place.says)
		}
		if w != nil {
			w.visit(place.path)
			w.picture("empty-" + place.name)
			w.accessible("empty " + place.name)
		}
	}
}

var (
	quoted = regexp.MustCompile(`(?s)<pre.*?</pre>`)
	inline = regexp.MustCompile(`</?(?:span|a|code)\b[^>]*>|</dt>\s*<dd>`)
	apart  = regexp.MustCompile(`<[^>]*>`)
	gap    = regexp.MustCompile(`(?m)^\s*,|,\s*,|,\s*$|(?i)\bwaits for\s+waits for\b`)
)

func TestWhatIsNotKnownLeavesNoGapInASentence(t *testing.T) {
	s := serve(t)
	s.change(s.busy)
	s.change(func() {
		for i := range s.intents {
			s.intents[i].Developer, s.intents[i].Agent = "", ""
		}
		s.sessions[0].Developer, s.sessions[0].Agent, s.sessions[0].Branch = "", "", ""
		for i := range s.conflicts {
			s.conflicts[i].Sides[0].Developer, s.conflicts[i].Sides[1].Branch = "", ""
		}
	})
	b, named := s.login(t), 0
	for _, place := range places {
		_, body := b.get(t, place[1])
		_, body, _ = strings.Cut(body, `<div id="live">`)
		if strings.Contains(body, ">lane:") || strings.Contains(body, " lane:") {
			t.Errorf("%s names a developer as machines do", place[0])
		}
		if strings.Contains(body, "(another developer)") {
			named++
		}
		text := apart.ReplaceAllString(inline.ReplaceAllString(quoted.ReplaceAllString(body, ""), " "), "\n")
		if at := gap.FindStringIndex(text); at != nil {
			t.Errorf("%s: %q", place[0], text[max(0, at[0]-80):min(len(text), at[1]+80)])
		}
	}
	if named != 3 {
		t.Errorf("%d views name the developer of the lane: want the threads, one of them and the log", named)
	}
}

func TestThePagesOfHelpAreHereToo(t *testing.T) {
	b := serve(t).login(t)
	for _, topic := range help.Topics {
		first, _, _ := strings.Cut(topic.Text, "\n")
		if status, body := b.get(t, "/help?page="+topic.Name); status != http.StatusOK || !strings.Contains(body, html.EscapeString(first)) {
			t.Errorf("%s: %d, and not its text", topic.Name, status)
		}
	}
	if status, _ := b.get(t, "/help?page=nowhere"); status != http.StatusBadRequest {
		t.Errorf("a page that there is not: %d", status)
	}
}

func TestTheWordsOfTheDocumentStandWhereItSays(t *testing.T) { // P12: Dev Pipeline, Setup, Master sync
	s := serve(t)
	w := s.open(t)
	w.visit("/setup")
	for _, js := range []string{
		`document.querySelector('nav[aria-label="Dev Pipeline"] [aria-current]').innerText.trim() === "Setup"`,
		`document.querySelector("#master-sync").innerText === "Master sync"`,
		`document.querySelector("#teammates-name").closest("section").getAttribute("aria-labelledby") === "master-sync"`,
		`document.querySelector("#teammates-name").innerText === "Start conflicts for teammates' pull requests too"`,
		`document.querySelector("#teammates").getAttribute("aria-checked") === "false"`,
	} {
		w.until(js)
	}
}

var circle = regexp.MustCompile(`<circle cx="(\d+)" cy="(\d+)"`)

func TestNobodyOnTheMapStandsInThisComputersName(t *testing.T) {
	s := serve(t)
	b := s.login(t)
	for n := 1; n <= 12; n++ {
		s.change(func() {
			s.status.Lanes, s.status.Peers = nil, nil
			for i := range n {
				s.status.Peers = append(s.status.Peers, api.Peer{Name: fmt.Sprint("peer", i), Connected: true, Path: "lan"})
			}
		})
		_, body := b.get(t, "/computers")
		all := circle.FindAllStringSubmatch(body, -1)
		if len(all) != n+1 {
			t.Fatalf("%d of %d are on the map", len(all)-1, n)
		}
		for _, c := range all[:n] {
			if c[1] == "300" && c[2] > "130" {
				t.Errorf("one of %d stands straight below", n)
			}
		}
	}
}
