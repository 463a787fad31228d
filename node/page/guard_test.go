package page_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/page"
)

func request(t testing.TB, method, to string, form url.Values) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, to, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return r
}

func answer(t testing.TB, c *http.Client, r *http.Request) (int, string, http.Header) {
	t.Helper()
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.Header.Get("Content-Type") == "text/event-stream" {
		return resp.StatusCode, "", resp.Header // it does not end
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body), resp.Header
}

// everywhere is every kind of place that the page has.
var everywhere = []string{"/", "/threads", "/computers", "/setup", "/audit", "/events?view=/", "/login?t=x", "/press?verb=main+on", "/static/app.js", "/nowhere"}

func TestAnotherNameForThisAddressIsRefused(t *testing.T) { // D-24: DNS rebinding
	s := serve(t)
	b := s.login(t)
	port := strings.TrimPrefix(s.origin, "http://localhost:")
	for _, host := range []string{"evil.example", "evil.example:" + port, "localhost", "localhost:1", "127.0.0.1:" + port, "[::1]:" + port, "LOCALHOST.:" + port, "localhost:" + port + ".evil.example"} {
		for _, path := range everywhere {
			r := request(t, http.MethodGet, s.origin+path, nil)
			r.Host = host
			if status, body := b.do(t, r); status != http.StatusForbidden || strings.Contains(body, "acme") {
				t.Errorf("%s as %s: %d", path, host, status)
			}
		}
	}
	if status, body := b.get(t, "/"); status != http.StatusOK || !strings.Contains(body, "acme/shop#42") {
		t.Errorf("the page itself: %d", status)
	}
}

func TestThePageListensOnLoopbackAlone(t *testing.T) { // D-24
	l, err := page.Listen(0)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if six, err := net.Listen("tcp", "[::1]:0"); err == nil {
		six.Close()
		if len(l.Addrs()) != 2 {
			t.Errorf("the page has %v, and not both loopback addresses", l.Addrs())
		}
	}
	for _, a := range l.Addrs() {
		if !a.IP.IsLoopback() || a.Port != l.Port {
			t.Errorf("listens at %v", a)
		}
	}
	if _, err := page.Listen(l.Port); err == nil {
		t.Error("a taken port was taken again")
	}
}

func TestAPortThatAnotherUserHasOnTheOtherAddressIsNotUsed(t *testing.T) { // D-24: browsers that ask ::1 first
	theirs, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip("no IPv6 here")
	}
	defer theirs.Close()
	l, err := page.Listen(theirs.Addr().(*net.TCPAddr).Port)
	if err == nil {
		l.Close()
	}
	if !errors.Is(err, api.ErrPortTaken) {
		t.Errorf("%v", err)
	}
}

func TestNothingIsShownOrDoneWithoutALogin(t *testing.T) { // D-24: an agent's curl, another user
	s := serve(t)
	var plain http.Client
	for _, path := range everywhere[:8] {
		status, body, _ := answer(t, &plain, request(t, http.MethodGet, s.origin+path, nil))
		if status != http.StatusUnauthorized || strings.Contains(body, "acme") || strings.Contains(body, "data-csrf") {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	for _, path := range []string{"/press", "/press/challenge", "/passkey/new", "/do", "/logout"} {
		for name, cookie := range map[string]string{"none": "", "made up": strings.Repeat("0", 64)} {
			r := request(t, http.MethodPost, s.origin+path, ofAct(s.cards[0]))
			r.Header.Set("X-Parley-Page", strings.Repeat("0", 64))
			r.AddCookie(&http.Cookie{Name: "parley-" + strings.TrimPrefix(s.origin, "http://localhost:"), Value: cookie})
			if status, _, _ := answer(t, &plain, r); status != http.StatusUnauthorized {
				t.Errorf("%s, cookie %s: %d", path, name, status)
			}
		}
	}
	if did := s.done(); len(did) > 0 {
		t.Errorf("the node did %v", did)
	}
}

func TestAnotherSiteAndAnotherPortDoNothingWithTheCookie(t *testing.T) { // D-24: cross-site requests
	s := serve(t)
	b := s.login(t)
	form := ofAct(s.cards[0])
	for name, head := range map[string]map[string]string{
		"cross-site":               {"Sec-Fetch-Site": "cross-site", "X-Parley-Page": b.csrf},
		"another port":             {"Sec-Fetch-Site": "same-site", "X-Parley-Page": b.csrf},
		"an old browser elsewhere": {"Origin": "http://evil.example", "X-Parley-Page": b.csrf},
		"an old browser, port":     {"Origin": "http://localhost:1", "X-Parley-Page": b.csrf},
		"without the header":       {"Sec-Fetch-Site": "same-origin", "Origin": s.origin},
		"with another header":      {"Sec-Fetch-Site": "same-origin", "X-Parley-Page": strings.Repeat("0", 64)},
	} {
		for _, path := range []string{"/press", "/press/challenge", "/do", "/passkey/new", "/logout"} {
			r := request(t, http.MethodPost, s.origin+path, form)
			for k, v := range head {
				r.Header.Set(k, v)
			}
			if status, _ := b.do(t, r); status != http.StatusForbidden {
				t.Errorf("%s to %s: %d", name, path, status)
			}
		}
	}
	for name, head := range map[string][3]string{
		"an image":             {"cross-site", "no-cors", "image"},
		"a frame":              {"cross-site", "navigate", "iframe"},
		"a script, other port": {"same-site", "no-cors", "script"},
		"a fetch, other port":  {"same-site", "cors", "empty"},
		"a fetch in disguise":  {"cross-site", "cors", "document"},
	} {
		r := request(t, http.MethodGet, s.origin+"/", nil)
		r.Header.Set("Sec-Fetch-Site", head[0])
		r.Header.Set("Sec-Fetch-Mode", head[1])
		r.Header.Set("Sec-Fetch-Dest", head[2])
		if status, _ := b.do(t, r); status != http.StatusForbidden {
			t.Errorf("%s: %d", name, status)
		}
	}
	for _, site := range []string{"cross-site", "same-site"} { // a form there, sent in a window of its own
		r := request(t, http.MethodPost, s.origin+"/do", url.Values{"verb": {"scan"}})
		for k, v := range map[string]string{"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document", "X-Parley-Page": b.csrf} {
			r.Header.Set(k, v)
		}
		if status, _ := b.do(t, r); status != http.StatusForbidden {
			t.Errorf("a form of a %s place: %d", site, status)
		}
	}
	if did := s.done(); len(did) > 0 {
		t.Errorf("the node did %v", did)
	}
	if status, _ := b.post(t, "/press", form); status != http.StatusOK || len(s.done()) != 1 {
		t.Errorf("the page itself: %d, did %v", status, s.done())
	}
}

func TestALinkElsewhereMayLeadHere(t *testing.T) {
	s := serve(t)
	b := s.login(t)
	for _, site := range []string{"cross-site", "same-site", "same-origin", "none"} {
		r := request(t, http.MethodGet, s.origin+"/", nil)
		r.Header.Set("Sec-Fetch-Site", site)
		r.Header.Set("Sec-Fetch-Mode", "navigate")
		r.Header.Set("Sec-Fetch-Dest", "document")
		if status, _ := b.do(t, r); status != http.StatusOK {
			t.Errorf("%s: %d", site, status)
		}
	}
}

func TestThePageIsFramedByNobodyAndHasNothingInline(t *testing.T) { // D-24: framing, injected markup
	s := serve(t)
	b := s.login(t)
	for _, path := range everywhere {
		if strings.HasPrefix(path, "/events") {
			continue
		}
		_, body, head := answer(t, &b.Client, request(t, http.MethodGet, s.origin+path, nil))
		for name, want := range map[string]string{
			"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			if head.Get(name) != want {
				t.Errorf("%s: %s is %q", path, name, head.Get(name))
			}
		}
		if keep := head.Get("Cache-Control"); keep != "no-store" {
			t.Errorf("%s may be kept: %q", path, keep)
		}
		csp := head.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "form-action 'none'", "script-src 'self';", "style-src 'self';", "frame-ancestors 'none'", "base-uri 'none'"} {
			if !strings.Contains(csp, want) {
				t.Errorf("%s: the policy %q lacks %q", path, csp, want)
			}
		}
		for _, bad := range []string{"<script>", "<style", " style=", " onclick=", "javascript:"} {
			if !strings.HasPrefix(path, "/static/") && strings.Contains(body, bad) {
				t.Errorf("%s has %q", path, bad)
			}
		}
	}
}

func TestALoginLinkServesOnceAndForAMinute(t *testing.T) { // D-24: replay of a link
	s := serve(t)
	link := strings.TrimPrefix(s.server.Link().URL, s.origin)
	follow := func(path string) (int, http.Header) {
		var plain http.Client
		status, _, head := answer(t, &plain, request(t, http.MethodGet, s.origin+path, nil))
		return status, head
	}
	status, head := follow(link)
	cookie := head.Get("Set-Cookie")
	if status != http.StatusOK {
		t.Fatalf("the first time: %d", status)
	}
	for _, want := range []string{"HttpOnly", "SameSite=Strict", "Max-Age=604800", "Path=/"} {
		if !slices.Contains(strings.Split(cookie, "; "), want) {
			t.Errorf("the cookie %q is not %s", cookie, want)
		}
	}
	if status, head := follow(link); status != http.StatusUnauthorized || head.Get("Set-Cookie") != "" {
		t.Errorf("the second time: %d", status)
	}
	late := strings.TrimPrefix(s.server.Link().URL, s.origin)
	s.change(func() { s.ahead += time.Minute })
	if status, head := follow(late); status != http.StatusUnauthorized || head.Get("Set-Cookie") != "" {
		t.Errorf("after a minute: %d", status)
	}
	for range 20 {
		if status, _ = follow("/login?t=" + strings.Repeat("f", 64)); status == http.StatusTooManyRequests {
			break
		}
	}
	if status != http.StatusTooManyRequests {
		t.Errorf("guessing was never slowed: %d", status)
	}
	if status, _ := follow(strings.TrimPrefix(s.server.Link().URL, s.origin)); status != http.StatusOK {
		t.Errorf("somebody's guesses keep the person out: %d", status)
	}
}

func TestOfManyLinksTheOldestEnd(t *testing.T) { // D-24: nobody fills the memory with links
	s := serve(t)
	var links []string
	for range 9 {
		s.change(func() { s.ahead += time.Second })
		links = append(links, s.server.Link().URL)
	}
	for i, link := range links {
		status, _, _ := answer(t, &http.Client{}, request(t, http.MethodGet, link, nil))
		if want := map[bool]int{true: http.StatusUnauthorized, false: http.StatusOK}[i == 0]; status != want {
			t.Errorf("link %d of 9: %d", i+1, status)
		}
	}
}

func TestOfManySessionsTheOneThatWasUsedLongestAgoEnds(t *testing.T) { // D-24
	s := serve(t)
	var all []*browser
	for range 16 {
		s.change(func() { s.ahead += time.Second })
		all = append(all, s.login(t))
	}
	s.change(func() { s.ahead += time.Second })
	all[0].get(t, "/")
	all = append(all, s.login(t))
	for i, b := range all {
		status, _ := b.get(t, "/")
		if want := map[bool]int{true: http.StatusUnauthorized, false: http.StatusOK}[i == 1]; status != want {
			t.Errorf("session %d of 17: %d", i+1, status)
		}
	}
}

func TestASessionEndsByItself(t *testing.T) { // D-24
	s := serve(t)
	b, used := s.login(t), s.login(t)
	for range 20 {
		s.change(func() { s.ahead += 11 * time.Hour })
		if status, _ := used.get(t, "/"); status != http.StatusOK {
			break
		}
	}
	if now := s.ahead; now <= 150*time.Hour || now > 7*24*time.Hour+11*time.Hour {
		t.Errorf("one that is used ended after %s", now)
	}
	if status, _ := b.get(t, "/"); status != http.StatusUnauthorized {
		t.Errorf("one that is not used: %d", status)
	}
	fresh := s.login(t)
	s.change(func() { s.ahead += 12 * time.Hour })
	if status, _ := fresh.get(t, "/"); status != http.StatusUnauthorized {
		t.Errorf("after twelve hours without use: %d", status)
	}
}

func TestLoggingOutEndsTheSession(t *testing.T) {
	s := serve(t)
	b, other := s.login(t), s.login(t)
	r := request(t, http.MethodPost, s.origin+"/logout", url.Values{})
	r.Header.Set("X-Parley-Page", b.csrf)
	status, _, head := answer(t, &b.Client, r)
	if cookie := head.Get("Set-Cookie"); status != http.StatusNoContent || !strings.Contains(cookie, "; Max-Age=0;") {
		t.Errorf("logout: %d, %q", status, cookie)
	}
	if status, _ := b.get(t, "/"); status != http.StatusUnauthorized {
		t.Errorf("afterwards: %d", status)
	}
	if status, _ := other.get(t, "/"); status != http.StatusOK {
		t.Errorf("the other one: %d", status)
	}
}
