package page_test

import (
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/node/api"
)

var (
	pressForm  = regexp.MustCompile(`hx-get="(/press\?[^"]+)"`)
	doForm     = regexp.MustCompile(`hx-post="/do" hx-vals="([^"]+)"`)
	hiddenForm = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)"`)
)

// TestEveryButtonLeadsToItsAct follows every button of every view, as htmx does: each asks for exactly one act, takes
// the passphrase where it is a person's, and does what the node's commands do.
func TestEveryButtonLeadsToItsAct(t *testing.T) { // P2, P12, P15, C11, D-24
	asked := map[string]bool{}
	for _, place := range places {
		_, body := pageOf(t, place[1])
		for _, m := range pressForm.FindAllStringSubmatch(body, -1) {
			asked[html.UnescapeString(m[1])] = true
			pressed(t, place[1], html.UnescapeString(m[1]))
		}
		for _, m := range doForm.FindAllStringSubmatch(body, -1) {
			done(t, html.UnescapeString(m[1]))
		}
	}
	for _, verb := range []string{"approve", "main off", "lane conflicts", "close", "assign", "op undo", "kept restore", "respond", "override", "agents off", "lane work off"} {
		found := false
		for ask := range asked {
			found = found || strings.Contains(ask, "verb="+url.QueryEscape(verb))
		}
		if !found {
			t.Errorf("no button asks for %s", verb)
		}
	}
}

// pageOf is a view of a fresh world.
func pageOf(t *testing.T, path string) (*browser, string) {
	t.Helper()
	s := serve(t)
	s.change(s.busy)
	b := s.login(t)
	_, body := b.get(t, path)
	return b, body
}

// pressed follows one button to its end in a world of its own.
func pressed(t *testing.T, at, ask string) {
	t.Helper()
	b, _ := pageOf(t, at)
	status, body := b.get(t, ask)
	if status != http.StatusOK {
		t.Errorf("%s: %d", ask, status)
		return
	}
	form := url.Values{}
	for _, m := range hiddenForm.FindAllStringSubmatch(body, -1) {
		form.Add(m[1], html.UnescapeString(m[2]))
	}
	if strings.Contains(body, `name="typed"`) {
		form.Set("typed", "hot fix first")
	}
	if status, _ := b.post(t, "/press", form); status != http.StatusUnauthorized || len(b.s.done()) > 0 {
		t.Errorf("%s without a passphrase: %d, did %q", ask, status, b.s.done())
	}
	form.Set("passphrase", passphrase)
	status, body = b.post(t, "/press", form)
	verb := form.Get("verb")
	if did := b.s.done(); status != http.StatusOK || len(did) != 1 || !strings.HasPrefix(did[0], "passphrase: "+verb+" ") {
		t.Errorf("%s: %d %s, did %q", ask, status, body, did)
	}
	if api.VerbNamed(verb).Who != api.Person && verb != "respond" {
		t.Errorf("%s asks a person for what anybody may do", ask)
	}
}

// done follows a button that asks nobody.
func done(t *testing.T, values string) {
	t.Helper()
	b, _ := pageOf(t, "/")
	var pairs map[string]string
	if err := json.Unmarshal([]byte(values), &pairs); err != nil {
		t.Fatal(err)
	}
	form := url.Values{}
	for k, v := range pairs {
		form.Set(k, v)
	}
	if status, body := b.post(t, "/do", form); status != http.StatusOK || len(b.s.done()) != 1 {
		t.Errorf("%v: %d %s, did %q", form, status, body, b.s.done())
	}
	if verb := form.Get("verb"); !strings.HasPrefix(verb, "route ") && !strings.HasPrefix(verb, "notices ") && api.VerbNamed(verb).Who != api.Agent {
		t.Errorf("%s is a person's", verb)
	}
}
