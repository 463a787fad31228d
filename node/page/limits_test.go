package page_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"
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

// watch opens a stream, and tells how it begins.
func (b *browser) watch(t *testing.T) string {
	t.Helper()
	resp, err := b.Do(request(t, http.MethodGet, b.s.origin+"/events?view=/", nil))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	first, err := bufio.NewReader(resp.Body).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(first)
}

// halfAsked leaves a form unfinished, which holds a request.
func (b *browser) halfAsked(t *testing.T) {
	t.Helper()
	host := strings.TrimPrefix(b.s.origin, "http://")
	c, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	fmt.Fprintf(c, "POST /do HTTP/1.1\r\nHost: %s\r\nCookie: %s\r\nX-Parley-Page: %s\r\nExpect: 100-continue\r\n"+
		"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 9\r\n\r\n", host, b.cookie(t), b.csrf)
	if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("%q, %v", line, err) // the server reads the form from here on
	}
}

const told, full = "event: view", "event: full"

func TestOneSessionCannotTakeThePageForItself(t *testing.T) { // D-24: a flood of windows
	s := serve(t)
	greedy, other := s.login(t), s.login(t)
	for i := range 8 {
		if got := greedy.watch(t); got != told {
			t.Fatalf("stream %d: %s", i+1, got)
		}
	}
	if got := greedy.watch(t); got != full {
		t.Errorf("one more stream: %s", got)
	}
	if status, _ := greedy.get(t, "/"); status != http.StatusOK {
		t.Errorf("a view beside the streams: %d", status)
	}
	for range 16 {
		greedy.halfAsked(t)
	}
	if status, body := greedy.get(t, "/"); status != http.StatusServiceUnavailable || !strings.Contains(body, "at once") {
		t.Errorf("one more request: %d", status)
	}
	if status, _ := other.get(t, "/"); status != http.StatusOK || other.watch(t) != told {
		t.Errorf("another session beside it: %d", status)
	}
}

func TestAllSessionsTogetherCannotTakeTheNodeForThemselves(t *testing.T) { // D-24
	s := serve(t)
	for range 3 {
		b := s.login(t)
		for range 8 {
			b.watch(t)
		}
	}
	late := s.login(t)
	if got := late.watch(t); got != full {
		t.Errorf("one more stream: %s", got)
	}
	if status, _ := late.get(t, "/"); status != http.StatusOK {
		t.Errorf("a view beside the streams: %d", status)
	}
}

func TestAStreamThatEndsMakesRoomForAnother(t *testing.T) {
	s := serve(t)
	b := s.login(t)
	for range 7 {
		b.watch(t)
	}
	resp, err := b.Do(request(t, http.MethodGet, s.origin+"/events?view=/", nil))
	if err != nil {
		t.Fatal(err)
	}
	event(t, bufio.NewReader(resp.Body), "")
	if got := b.watch(t); got != full {
		t.Fatalf("the ninth: %s", got)
	}
	resp.Body.Close()
	deadline := time.After(patience)
	for b.watch(t) != told {
		select {
		case <-deadline:
			t.Fatal("a stream that has ended still counts")
		default:
		}
	}
}

// TestConnectionsWithoutASessionKeepNobodyOut holds many connections, as any user of the computer can.
func TestConnectionsWithoutASessionKeepNobodyOut(t *testing.T) { // D-24: other local users
	s := serve(t)
	b := s.login(t)
	resp, err := b.Do(request(t, http.MethodGet, s.origin+"/events?view=/", nil))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	news := bufio.NewReader(resp.Body)
	event(t, news, "")
	host := strings.TrimPrefix(s.origin, "http://")
	var all []net.Conn
	for range 200 {
		c, err := net.Dial("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "HEAD / HTTP/1.1\r\nHost: %s\r\n\r\n", host)
		if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.Contains(line, "401") {
			t.Fatalf("%q, %v", line, err)
		}
		all = append(all, c)
	}
	if status, _ := s.login(t).get(t, "/"); status != http.StatusOK {
		t.Errorf("a session beside them: %d", status)
	}
	s.change(func() { s.cards[0].Title = "still told" })
	event(t, news, "still told")
	for i, c := range all[:100] { // sooner than the server ends a connection that is not used
		if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("connection %d of 200 was left open", i+1)
		}
	}
}

func TestConnectionsThatHaveEndedDoNotCount(t *testing.T) {
	s := serve(t)
	b := s.login(t)
	b.Transport = &http.Transport{DisableKeepAlives: true}
	for range 100 {
		if status, body := b.get(t, "/nowhere"); status != http.StatusNotFound {
			t.Fatalf("%d %s", status, body)
		}
	}
}

func TestOneSessionHoldsSoManyConnections(t *testing.T) { // D-24
	s := serve(t)
	b := s.login(t)
	host := strings.TrimPrefix(s.origin, "http://")
	for i := range 40 {
		c, err := net.Dial("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "GET /nowhere HTTP/1.1\r\nHost: %s\r\nCookie: %s\r\n\r\n", host, b.cookie(t))
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode == http.StatusServiceUnavailable {
			if i < 30 || !resp.Close {
				t.Errorf("connection %d: %s, closed %v", i+1, resp.Status, resp.Close)
			}
			return
		}
	}
	t.Error("a session held 40 connections")
}

func TestStrangersDoNotTakeTheRequestsOfSessions(t *testing.T) { // D-24: other local users
	s := serve(t)
	b := s.login(t)
	host := strings.TrimPrefix(s.origin, "http://")
	for range 20 {
		c, err := net.Dial("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.(*net.TCPConn).SetReadBuffer(4096); err != nil {
			t.Fatal(err)
		}
		ask := fmt.Sprintf("GET /static/htmx.min.js HTTP/1.1\r\nHost: %s\r\n\r\n", host)
		fmt.Fprint(c, strings.Repeat(ask, 400)) // and nobody reads the answers
	}
	deadline := time.After(patience)
	for status := 0; status != http.StatusServiceUnavailable; {
		select {
		case <-deadline:
			t.Fatal("strangers may ask as much as they like at once")
		default:
			status, _, _ = answer(t, &http.Client{}, request(t, http.MethodGet, s.origin+"/login?t=x", nil))
		}
		if own, _ := b.get(t, "/"); own != http.StatusOK {
			t.Fatalf("a session beside them: %d", own)
		}
	}
}
