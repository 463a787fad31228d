package page_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// cookie is what the browser sends to be known.
func (b *browser) cookie(t *testing.T) *http.Cookie {
	t.Helper()
	u, err := url.Parse(b.s.origin)
	if err != nil {
		t.Fatal(err)
	}
	all := b.Jar.Cookies(u)
	if len(all) != 1 {
		t.Fatalf("%d cookies", len(all))
	}
	return all[0]
}

func TestACookieOfASessionThatHasEndedOpensNothing(t *testing.T) { // D-24: a cookie that was copied before
	s := serve(t)
	b := s.login(t)
	kept := b.cookie(t)
	if status, _ := b.post(t, "/logout", url.Values{}); status != http.StatusNoContent {
		t.Fatalf("logout: %d", status)
	}
	r := request(t, http.MethodGet, s.origin+"/", nil)
	r.AddCookie(kept)
	if status, _, _ := answer(t, &http.Client{}, r); status != http.StatusUnauthorized {
		t.Errorf("afterwards: %d", status)
	}
}

func TestAStreamEndsWithItsSession(t *testing.T) { // D-24
	s := serve(t)
	b := s.login(t)
	resp, err := b.Do(request(t, http.MethodGet, s.origin+"/events?view=/", nil))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	news := bufio.NewReader(resp.Body)
	event(t, news, "")
	b.post(t, "/logout", url.Values{})
	s.change(func() { s.cards[0].Title = "only for those who are logged in" })

	rest, err := io.ReadAll(news)

	if err != nil || strings.Contains(string(rest), "only for those") {
		t.Errorf("%v: the stream went on: %s", err, rest)
	}
}

func TestAFormThatIsTooLargeIsRefused(t *testing.T) {
	s := serve(t)
	b := s.login(t)
	for _, path := range []string{"/do", "/press"} {
		form := url.Values{"verb": {"scan"}, "typed": {strings.Repeat("x", 80<<10)}}
		if status, body := b.post(t, path, form); status != http.StatusBadRequest || !strings.Contains(body, "too large") {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	if did := s.done(); len(did) > 0 {
		t.Errorf("the node did %v", did)
	}
}

// TestOnePageCannotTakeTheNodeForItself holds as many streams, and then as many requests, as there may be at once.
func TestOnePageCannotTakeTheNodeForItself(t *testing.T) {
	const streams, requests = 24, 32
	s := serve(t)
	b := s.login(t)
	for range streams {
		resp, err := b.Do(request(t, http.MethodGet, s.origin+"/events?view=/", nil))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		event(t, bufio.NewReader(resp.Body), "")
	}
	if status, body, _ := answer(t, &b.Client, request(t, http.MethodGet, s.origin+"/events?view=/", nil)); status != http.StatusServiceUnavailable || !strings.Contains(body, "open pages") {
		t.Errorf("one more stream: %d %s", status, body)
	}
	if status, _ := b.get(t, "/"); status != http.StatusOK {
		t.Errorf("a view beside the streams: %d", status)
	}
	host := strings.TrimPrefix(s.origin, "http://")
	for range requests { // forms that do not end
		c, err := net.Dial("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "POST /do HTTP/1.1\r\nHost: %s\r\nCookie: %s\r\nX-Parley-Page: %s\r\nExpect: 100-continue\r\n"+
			"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 9\r\n\r\n", host, b.cookie(t), b.csrf)
		if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
			t.Fatalf("%q, %v", line, err) // the server reads the form from here on
		}
	}
	if status, body := b.get(t, "/"); status != http.StatusServiceUnavailable || !strings.Contains(body, "at once") {
		t.Errorf("one more request: %d", status)
	}
}
