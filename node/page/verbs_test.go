package page_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/node/api"
)

// shownAt are the verbs that read, each with the view that shows the same.
var shownAt = map[string]string{
	"status": "/", "inbox": "/", "preview": "/press?verb=approve&card=" + url.QueryEscape("C2/"+id("42")[:8]),
	"threads": "/threads", "thread show": "/thread?ref=" + id("42"), "why": "/thread?ref=" + id("42"),
	"conflicts": "/conflicts", "show": "/conflict?ref=CF-7000111", "explain": "/conflict?ref=CF-7000111", "watch": "/conflicts",
	"sessions": "/intents", "intents": "/intents", "messages": "/intents",
	"computers": "/computers", "ping": "/computers", "lane list": "/computers", "lane show": "/computers",
	"agents lines": "/setup", "agents check": "/setup", "passkey list": "/setup", "version": "/setup", "route": "/setup",
	"kept list": "/audit?of=kept", "kept show": "/kept?id=k-3", "op log": "/audit", "audit": "/audit?of=decisions", "log": "/audit?of=log", "saved": "/saved",
}

// onlyCommands are the verbs that the page does not offer, each with the reason.
var onlyCommands = map[string]string{
	"init": "there is no page before it", "up": "it serves the page", "open": "it leads to the page", "relay": "it runs in a terminal until it is ended", "mcp": "an agent starts it",
	"invite": "its code and four words are compared in two terminals", "join": "there is no page before it", "lane invite": "as invite", "lane accept": "as invite",
	"fleet recover": "it runs while no node does", "fsck": "it runs while no node does", "restore": "there is no page before it",
	"backup":           "a browser's downloads are no place for what opens this computer",
	"computers remove": "it is revoke with the reason retired",
	"intent declare":   "a session says it of itself", "intent update": "a session says it of itself", "claims check": "a session asks before it edits", "briefing": "it is written for a session",
	"agents install": "it changes other programs' settings, which takes a look at what changes", "agents remove": "as agents install",
	"trace":    "its file is for a program that draws it",
	"netcheck": "it asks your other computers and relays, which takes its time", "doctor": "it also looks at what is wrong when no page is served",
}

var buttonForm = regexp.MustCompile(`verb=([a-z+]+)|&#34;verb&#34;:&#34;([a-z ]+)&#34;|name="verb" value="([a-z ]+)"`)

// buttons are the verbs that the views' buttons ask for, in a busy world and in one where all is the other way round.
func buttons(t *testing.T) map[string]bool {
	found := map[string]bool{}
	for _, round := range []bool{false, true} {
		s := serve(t)
		s.change(s.busy)
		if round {
			s.change(func() {
				s.status.Main.Me, s.status.Lanes[0].Here, s.settings.Agents, s.status.Paused = false, true, false, &api.Pause{}
				s.settings.AgentsIn[0].Lines, s.settings.AgentsIn[0].On = true, false
				s.cards = append(s.cards, api.Card{Key: "C23/" + id("phone"), Code: "C23", Verb: "passkey remove", Button: "I have seen it"})
			})
		}
		b := s.login(t)
		for _, place := range places {
			_, body := b.get(t, place[1])
			for _, m := range buttonForm.FindAllStringSubmatch(body, -1) {
				verb, err := url.QueryUnescape(html.UnescapeString(m[1] + m[2] + m[3]))
				if err != nil {
					t.Fatal(err)
				}
				found[verb] = true
			}
		}
	}
	return found
}

// TestEveryVerbIsOnThePageOrHasAReason makes whoever adds a verb decide where a person finds it.
func TestEveryVerbIsOnThePageOrHasAReason(t *testing.T) { // same facts and actions in the commands and on the page
	found := buttons(t)
	b, _ := pageOf(t, "/")
	for _, v := range api.Verbs {
		place, shown := shownAt[v.Name]
		why := onlyCommands[v.Name]
		ways := slices.DeleteFunc([]bool{shown, found[v.Name], why != ""}, func(way bool) bool { return !way })
		switch {
		case v.Step && len(ways) > 0:
			t.Errorf("%s is a step of another verb", v.Name)
		case v.Step:
		case len(ways) != 1:
			t.Errorf("%s: want a view that shows it, a button, or the reason why it has neither; has %d of them", v.Name, len(ways))
		case shown:
			if status, _ := b.get(t, place); status != http.StatusOK {
				t.Errorf("%s at %s: %d", v.Name, place, status)
			}
		}
	}
	known := func(verb string) bool {
		return slices.ContainsFunc(api.Verbs, func(v api.Verb) bool { return v.Name == verb }) ||
			strings.HasPrefix(verb, "route ") || strings.HasPrefix(verb, "notices ") // commands of this computer alone
	}
	for verb := range found {
		if !known(verb) {
			t.Errorf("the page asks for %q, which no command does", verb)
		}
	}
	for _, all := range []map[string]string{shownAt, onlyCommands} {
		for verb := range all {
			if !known(verb) {
				t.Errorf("there is no verb %q", verb)
			}
		}
	}
}

func TestAPersonRenamesAndRemovesComputersFromThePage(t *testing.T) { // D-24
	for ask, did := range map[string]string{
		"verb=computers+rename&name=laptop": "passphrase: computers rename laptop\nmba kim",
		"verb=revoke&name=laptop&why=lost":  "passphrase: revoke laptop\nlost",
		"verb=email":                        "passphrase: email \nmba kim",
		"verb=email&lane=" + id("maya"):     "passphrase: email " + id("maya") + "\nmba kim",
	} {
		b, _ := pageOf(t, "/")
		_, body := b.get(t, "/press?"+ask)
		form := url.Values{"typed": {" mba kim "}, "passphrase": {passphrase}}
		for _, m := range hiddenForm.FindAllStringSubmatch(body, -1) {
			form.Add(m[1], html.UnescapeString(m[2]))
		}
		if status, body := b.post(t, "/press", form); status != http.StatusOK {
			t.Errorf("%s: %d %s", ask, status, body)
		}
		b.s.happened(t, did)
	}
	b, _ := pageOf(t, "/")
	if status, _ := b.get(t, "/press?verb=revoke&name=laptop&why=whim"); status != http.StatusBadRequest {
		t.Errorf("a removal without a reason: %d", status)
	}
}

func TestAMessageOfAPersonIsSentToWhoIsChosen(t *testing.T) {
	b, _ := pageOf(t, "/")
	for _, c := range []struct{ to, text, did string }{
		{"acme/shop", "stop", "message send acme/shop: stop"},
		{"INT-1200123", "go on", "message send INT-1200123: go on"},
	} {
		if status, body := b.post(t, "/do", url.Values{"verb": {"message send"}, "to": {c.to}, "text": {c.text}}); status != http.StatusOK {
			t.Errorf("%v: %d %s", c, status, body)
		}
		if all := b.s.done(); all[len(all)-1] != c.did {
			t.Errorf("the node did %q", all)
		}
	}
	if status, _ := b.post(t, "/do", url.Values{"verb": {"message send"}, "to": {"acme/shop"}, "text": {"  "}}); status != http.StatusBadRequest {
		t.Errorf("nothing was sent: %d", status)
	}
}

func TestAComputerThatRestsSaysSoEverywhere(t *testing.T) {
	b, body := pageOf(t, "/setup")
	if !strings.Contains(body, "For two hours") {
		t.Error("no button to let it rest")
	}
	for _, length := range []string{"2h", ""} {
		if status, body := b.post(t, "/do", url.Values{"verb": {"pause"}, "for": {length}}); status != http.StatusOK {
			t.Fatalf("%q: %d %s", length, status, body)
		}
	}
	for _, place := range places {
		if _, body := b.get(t, place[1]); place[0] != "trouble" && (!strings.Contains(body, "This computer rests") || !strings.Contains(body, "Let it go on")) {
			t.Errorf("%s does not say it", place[0])
		}
	}
	b.post(t, "/do", url.Values{"verb": {"resume"}})
	b.s.happened(t, "pause 2h0m0s", "pause 0s", "resume")
}

func TestAKeptFileIsShownAsWhatItIs(t *testing.T) {
	for _, c := range []struct{ content, says string }{
		{"<script>alert(1)</script>\n", "&lt;script&gt;alert(1)"},
		{"\x00\x01", "It is not text"},
		{"", "It was empty"},
		{strings.Repeat("é", 100<<10), "It goes on"},
	} {
		b, _ := pageOf(t, "/")
		b.s.content = []byte(c.content)
		if status, body := b.get(t, "/kept?id=k-3"); status != http.StatusOK || !strings.Contains(body, c.says) {
			t.Errorf("%d, and does not say %q", status, c.says)
		}
	}
}
