package page_test

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/parley-mesh/parley/node/api"
)

func TestAPressIsOneActForWhatWasSeen(t *testing.T) { // P15, D-24: replay, second press, stale card
	s := serve(t)
	b := s.login(t)
	card := s.cards[0]
	if status, body := b.get(t, "/press?verb=approve&card="+url.QueryEscape(card.Key)); status != http.StatusOK || !strings.Contains(body, card.Binds) || !strings.Contains(body, "&lt;b&gt;not bold") {
		t.Fatalf("the dialog: %d %s", status, body)
	}

	for name, change := range map[string]func(url.Values){
		"without a passphrase": func(f url.Values) { f.Del("passphrase") },
		"a wrong passphrase":   func(f url.Values) { f.Set("passphrase", "wrong horse battery") },
		"seen otherwise":       func(f url.Values) { f.Set("binds", "push something else") },
		"of another thread":    func(f url.Values) { f.Set("thread", id("41")) },
		"a made-up answer":     func(f url.Values) { f.Set("answer", `{"id":"x"}`); f.Set("nonce", strings.Repeat("0", 32)) },
		"another verb":         func(f url.Values) { f.Set("verb", "main on") },
		"no such card":         func(f url.Values) { f.Set("card", "C2/none") },
		"a card to look at":    func(f url.Values) { f.Set("card", "C4/acme/web/9") },
	} {
		form := ofAct(card)
		change(form)
		if status, _ := b.post(t, "/press", form); status < 400 {
			t.Errorf("%s: %d", name, status)
		}
	}
	if did := s.done(); len(did) > 0 {
		t.Fatalf("the node did %v", did)
	}

	if status, body := b.post(t, "/press", ofAct(card)); status != http.StatusOK {
		t.Fatalf("the press: %d %s", status, body)
	}
	if status, _ := b.post(t, "/press", ofAct(card)); status != http.StatusNotFound {
		t.Errorf("the second press: %d", status)
	}
	if did := s.done(); len(did) != 1 || did[0] != "passphrase: approve "+pushBinds {
		t.Errorf("the node did %v", did)
	}
}

func TestACardThatChangedUnderThePressIsRefused(t *testing.T) { // P15, D-24
	s := serve(t)
	b := s.login(t)
	seen := s.cards[0]
	s.change(func() { s.cards[0].Binds = strings.Replace(pushBinds, "2222", "4444", 1) })

	status, body := b.post(t, "/press", ofAct(seen))

	if status != http.StatusConflict || !strings.Contains(body, "by now") || len(s.done()) > 0 {
		t.Errorf("%d %s, did %v", status, body, s.done())
	}
}

func TestADiffOfSomethingElseIsNotShown(t *testing.T) { // P15, D-24: the card changes while the dialog is made
	s := serve(t)
	b := s.login(t)
	s.change(func() { s.otherwise = strings.Replace(pushBinds, "2222", "4444", 1) })

	status, body := b.get(t, "/press?verb=approve&card="+url.QueryEscape(s.cards[0].Key))

	if status != http.StatusConflict || strings.Contains(body, "not bold") || strings.Contains(body, "passphrase") {
		t.Errorf("%d %s", status, body)
	}
}

func TestTwoPressesAtOnceAreOneAct(t *testing.T) { // D-24
	s := serve(t)
	a, b := s.login(t), s.login(t)
	card := s.cards[0]
	var all sync.WaitGroup
	for _, one := range []*browser{a, b, a, b} {
		all.Go(func() { one.post(t, "/press", ofAct(card)) })
	}
	all.Wait()
	if did := s.done(); len(did) != 1 {
		t.Errorf("the node did %v", did)
	}
}

func TestGuessingThePassphraseIsSlowed(t *testing.T) { // D-24
	s := serve(t)
	b := s.login(t)
	form := ofAct(s.cards[0])
	form.Set("passphrase", "wrong horse battery")
	last := 0
	for range 20 {
		if last, _ = b.post(t, "/press", form); last == http.StatusTooManyRequests {
			break
		}
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("the last guess was answered %d", last)
	}
	if status, _ := b.post(t, "/press", ofAct(s.cards[0])); status != http.StatusTooManyRequests || len(s.done()) > 0 {
		t.Errorf("the right one afterwards: %d", status)
	}
}

func TestWhatNeedsNoPersonIsDoneAtOnce(t *testing.T) {
	s := serve(t)
	b := s.login(t)
	for _, form := range []url.Values{
		{"verb": {"scan"}},
		{"verb": {"sync now"}, "repository": {"acme/shop"}},
		{"verb": {"sync pause"}, "repository": {"acme/shop"}},
		{"verb": {"route off"}, "conversation": {"sync-conflicts"}},
	} {
		if status, body := b.post(t, "/do", form); status != http.StatusOK {
			t.Errorf("%v: %d %s", form, status, body)
		}
	}
	for _, verb := range []string{"approve", "main on", "close", "op undo", "lane on", "lane conflicts", "passkey remove", ""} {
		if status, _ := b.post(t, "/do", url.Values{"verb": {verb}, "card": {s.cards[0].Key}}); status != http.StatusBadRequest {
			t.Errorf("%q went through without a person: %d", verb, status)
		}
	}
	if did := s.done(); len(did) != 4 {
		t.Errorf("the node did %v", did)
	}
}

func TestACardAboutAPasskeyLeadsToTakingItOffTheList(t *testing.T) { // D-24
	s := serve(t)
	s.change(func() {
		s.cards = append(s.cards, api.Card{Key: "C23/" + id("phone"), Code: "C23", Title: "A removed passkey was put back", Verb: "passkey remove", Button: "I have seen it"})
	})
	b := s.login(t)
	if _, body := b.get(t, "/"); !strings.Contains(body, "verb=passkey+remove") || !strings.Contains(body, "I have seen it") {
		t.Fatal("the card has no button")
	}
	form := url.Values{"verb": {"passkey remove"}, "id": {id("phone")}, "binds": {id("phone")}, "thread": {""}, "passphrase": {passphrase}}
	if status, body := b.post(t, "/press", form); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
	s.happened(t, "passphrase: passkey remove "+id("phone"))
}
