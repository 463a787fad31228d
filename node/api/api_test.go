package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/internal/presence"
)

// raw makes a request by hand and returns the status and the body.
func (s *served) raw(t *testing.T, method, path, body string) (int, string) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DialContext: s.dial, DisableKeepAlives: true}, Timeout: patience}
	req, err := http.NewRequestWithContext(t.Context(), method, "http://parley"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(answer)
}

// told is what the node learnt about one refused request; the request has been answered already.
func (s *served) told(t *testing.T) string {
	t.Helper()
	select {
	case got := <-s.refused:
		return got
	default:
		return "nothing"
	}
}

func codeOf(t *testing.T, body string) string {
	t.Helper()
	var f struct {
		Error struct{ Code string }
	}
	if err := json.Unmarshal([]byte(body), &f); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	return f.Error.Code
}

func TestTheTableOfVerbsIsWhole(t *testing.T) {
	names, routes := map[string]bool{}, map[string]bool{}
	for _, v := range api.Verbs {
		route := v.Method + " " + v.Path
		switch {
		case names[v.Name]:
			t.Errorf("%s stands twice", v.Name)
		case v.Summary == "" || v.Who != api.Person && v.Who != api.Agent:
			t.Errorf("%s: incomplete", v.Name)
		case v.Where == api.Local && (v.Method != "" || v.Path != "" || v.Step):
			t.Errorf("%s: local, with a route", v.Name)
		case v.Where == api.Node && (v.Path == "" || routes[route]):
			t.Errorf("%s: no route of its own", v.Name)
		case v.Where == api.Node && v.Reads != (v.Method == http.MethodGet):
			t.Errorf("%s: only what reads is a GET", v.Name)
		case v.Who == api.Person && v.Reads:
			t.Errorf("%s: reading is for everybody", v.Name)
		}
		names[v.Name], routes[route] = true, true
	}
	(&api.Server{}).Handler() // panics where a verb has no answer
}

func TestWhatADocumentReservesForAPersonNeedsOne(t *testing.T) { // D-24
	for _, name := range []string{"init", "join", "invite", "invite confirm", "main on", "main off", "approve", "close", "assign", "kept restore", "op undo", "lane invite", "lane accept", "lane on", "lane off", "lane conflicts", "override", "email", "lane work on", "lane work off", "agents on", "agents off", "agents lines on", "agents lines off"} {
		if api.VerbNamed(name).Who != api.Person {
			t.Errorf("%s is open to agents", name)
		}
	}
}

func TestAPersonsVerbWithoutProofReachesNobody(t *testing.T) { // D-24
	s := serve(t)
	s.trusts = true // the server alone must hold
	s.cards = []api.Card{{Key: "C2/a1", Thread: "a1", Binds: "push"}}
	for _, v := range api.Verbs {
		if v.Who != api.Person || v.Where != api.Node {
			continue
		}
		path := strings.Replace(v.Path, "{id}", "i1", 1)
		for _, body := range []string{"", "{}", `{"card":"C2/a1"}`, `{"card":"C2/a1","proof":{}}`, `{"proof":{"kind":"passphrase"}}`, `{"proof":{"nonce":"00"}}`} {
			status, answer := s.raw(t, v.Method, path, body)
			if status != http.StatusUnauthorized || codeOf(t, answer) != "presence-needed" {
				t.Errorf("%s with %q: %d %s", v.Name, body, status, answer)
			}
			if got := s.told(t); got != v.Name+": presence-needed" {
				t.Errorf("the node was told %q", got)
			}
		}
		if status, answer := s.raw(t, v.Method, path, "not json"); status != http.StatusBadRequest {
			t.Errorf("%s with no JSON: %d %s", v.Name, status, answer)
		}
		if got := s.told(t); got != v.Name+": usage" {
			t.Errorf("the node was told %q", got)
		}
	}
	if len(s.did) > 0 {
		t.Errorf("the node did %v", s.did)
	}
}

func TestAnApprovalIsForWhatTheCardSaysAndOnce(t *testing.T) { // P15, D-24
	s := serve(t)
	seen := api.Card{Key: "C2/a1", Thread: "a1", Verb: "approve", Binds: "push 1..2"}
	s.cards = []api.Card{seen}

	out, err := s.client.Approve(t.Context(), seen, s.signer)
	if err != nil || out.Text != "approve push 1..2" {
		t.Fatalf("%+v %v", out, err)
	}

	// The card now asks for something else than the person saw.
	s.mu.Lock()
	s.cards = []api.Card{{Key: "C2/a1", Thread: "a1", Verb: "approve", Binds: "push 1..3"}}
	s.mu.Unlock()
	if _, err := s.client.Approve(t.Context(), seen, s.signer); api.Explain(err).Code != "presence-other-act" {
		t.Errorf("changed card: %v", err)
	}
	// A demo's proof, and one of another key.
	if _, err := s.client.Approve(t.Context(), s.cards[0], api.DemoProver()); api.Explain(err).Code != "presence-demo" {
		t.Errorf("demo: %v", err)
	}
	if _, err := s.client.Approve(t.Context(), s.cards[0], serve(t).signer); api.Explain(err).Code != "presence-signature" {
		t.Errorf("another key: %v", err)
	}
	if len(s.did) != 1 {
		t.Errorf("the node did %v", s.did)
	}
}

func TestAConversationIsEndedAndHandedOnByAPersonWhoNamedIt(t *testing.T) { // D-24
	s := serve(t)
	line := api.ThreadLine{ID: "a1", Ref: "acme/shop#42"}
	if _, err := s.client.End(t.Context(), line, s.signer); err != nil {
		t.Error(err)
	}
	if _, err := s.client.Assign(t.Context(), line, "laptop", s.signer); err != nil {
		t.Error(err)
	}
	if _, err := s.client.Restore(t.Context(), "k1", s.signer); err != nil {
		t.Error(err)
	}
	if _, err := s.client.Undo(t.Context(), "o1", s.signer); err != nil {
		t.Error(err)
	}
	if want := []string{"close", "assign laptop", "restore k1", "undo o1"}; !reflect.DeepEqual(s.did, want) {
		t.Errorf("the node did %v, want %v", s.did, want)
	}
	if out, err := s.client.Sync(t.Context(), "acme/shop", api.SyncPause); err != nil || out.Text != "pause acme/shop" {
		t.Errorf("%+v %v", out, err)
	}
	if out, err := s.client.Pause(t.Context(), 2*time.Hour); err != nil || out.Text != "paused 2h0m0s" {
		t.Errorf("%+v %v", out, err)
	}
	if out, err := s.client.Pause(t.Context(), 91*24*time.Hour); api.Explain(err).Code != "usage" {
		t.Errorf("%+v %v", out, err)
	}
	if out, err := s.client.Resume(t.Context()); err != nil || out.Text != "resumed" {
		t.Errorf("%+v %v", out, err)
	}
	if out, err := s.client.Reroute(t.Context()); err != nil || out.Text != "rerouted" {
		t.Errorf("%+v %v", out, err)
	}
}

func TestAProofThatWasSeenCannotBeSentAgain(t *testing.T) { // D-24
	s := serve(t)
	act := api.MainAct(true)
	nonce, err := s.Challenge(act)
	if err != nil {
		t.Fatal(err)
	}
	act.Nonce = nonce
	body, err := json.Marshal(struct {
		Proof presence.Proof `json:"proof"`
	}{s.signer.Prove(act)})
	if err != nil {
		t.Fatal(err)
	}

	if status, answer := s.raw(t, "POST", "/v1/main/on", string(body)); status != http.StatusOK {
		t.Fatalf("%d %s", status, answer)
	}
	if status, answer := s.raw(t, "POST", "/v1/main/on", string(body)); status != http.StatusUnauthorized || codeOf(t, answer) != "presence-replayed" {
		t.Errorf("again: %d %s", status, answer)
	}
	if status, answer := s.raw(t, "POST", "/v1/main/off", string(body)); status != http.StatusUnauthorized {
		t.Errorf("for the opposite: %d %s", status, answer)
	}
}

func TestThePassphraseDoesNotCrossTheSocket(t *testing.T) { // D-24
	act := api.MainAct(true)
	act.Nonce = "00"
	proof, err := json.Marshal(serve(t).signer.Prove(act))
	if err != nil || bytes.Contains(proof, []byte(passphrase)) {
		t.Errorf("%s %v", proof, err)
	}
}

func TestViewsCrossTheSocketUnchanged(t *testing.T) {
	s := serve(t)
	at := time.Unix(1700000000, 0).UTC()
	line := api.ThreadLine{Ref: "acme/shop#42", ID: "a1", Phase: "open", Since: at, Responsible: "studio", Waiting: "waits", Next: at}
	s.status = api.Status{
		Version: "v1", Running: true, Computer: api.Computer{Name: "studio", Device: "d1", Fleet: "f1"},
		Main:  api.MainComputer{State: "live", Name: "studio", Device: "d1", Me: true},
		Peers: []api.Peer{{Name: "laptop", Connected: true, Transport: "quic", LastSeen: at}}, ThreadsOpen: 1,
		Repositories: []api.Repository{{Slug: "acme/shop", Base: "main"}}, TimersShortened: true, Waiting: []string{"waits"},
		Lanes: []api.Lane{{ID: "f2", Party: "lane:f2", Name: "maya", Here: true, Repositories: []string{"acme/shop"}, Common: api.List[string]{}, Shares: api.List[string]{}, TheyShare: api.List[string]{}}}, Teammates: true,
		Refused: []api.Refused{{Why: "stranger", Times: 2, By: api.List[api.Blamed]{}}},
	}
	s.threads = []api.ThreadLine{line}
	s.thread = api.Thread{
		ThreadLine: line, Base: "main", Head: "00", Files: []api.ThreadFile{{Path: "<ü> a.go", Here: "master's copy"}},
		Parties: []api.ThreadParty{{Name: "studio", Responsible: true}}, Records: []api.ThreadRecord{{ID: "r1", At: at, Counted: true, Wire: "AA"}},
	}
	s.cards = []api.Card{{Key: "C2/a1", Code: "C2", Since: at, Binds: "push"}}
	s.lines = []api.LogLine{{Seq: 1, At: at, Text: "one"}, {Seq: 2, At: at, Text: "two"}}

	same(t, "status", s.status)(s.client.Status())
	s.lanes = s.status.Lanes
	same(t, "lanes", s.lanes)(s.client.Lanes())
	same(t, "lane", s.lanes[0])(s.client.Lane("MAYA"))
	same(t, "threads", s.threads)(s.client.Threads())
	same(t, "thread", s.thread)(s.client.Thread("acme/shop#42"))
	same(t, "inbox", s.cards)(s.client.Inbox())
	same(t, "why", api.Why{Subject: "acme/shop#42", Answer: "because", Facts: api.List[api.Fact]{{About: "a", Text: "b"}}})(s.client.Why("acme/shop#42"))
	s.kept = []api.KeptFile{{ID: "k1", Path: "a.go", At: at, Changed: true}}
	s.operations = []api.Operation{{ID: "o1", At: at, Kind: "sync", Paths: api.List[string]{"a.go"}, From: "00", To: "01"}}
	same(t, "kept", s.kept)(s.client.Kept(t.Context()))
	same(t, "operations", s.operations)(s.client.Operations(t.Context()))
	same(t, "content", api.KeptContent{KeptFile: s.kept[0], Content: []byte("\x00kept\n")})(s.client.KeptContent(t.Context(), "k1"))
	same(t, "log", s.lines[1:])(s.client.Log(0, 1))
	same(t, "log after", s.lines[1:])(s.client.Log(1, 5))
	if _, err := s.client.Thread("acme/shop#43"); api.Explain(err).Code != "no-such-thread" {
		t.Error(err)
	}
	if _, answer := s.raw(t, "GET", "/v1/thread?ref=acme%2Fshop%2342", ""); strings.Contains(answer, `"wire"`) {
		t.Errorf("signed bytes that nobody asked for: %s", answer)
	}
}

func same[T any](t *testing.T, name string, want T) func(got T, err error) {
	return func(got T, err error) {
		t.Helper()
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v, %v", name, got, want, err)
		}
	}
}

func TestNothingIsAnEmptyListAndNotNull(t *testing.T) {
	s := serve(t)
	for _, path := range []string{"/v1/status", "/v1/inbox", "/v1/threads", "/v1/thread?ref=", "/v1/log"} {
		status, answer := s.raw(t, "GET", path, "")
		if status != http.StatusOK || strings.Contains(answer, "null") {
			t.Errorf("%s: %d %s", path, status, answer)
		}
	}
}

func TestALogIsFollowedAsItGrows(t *testing.T) {
	s := serve(t)
	s.say("one")
	type followed struct {
		lines []api.LogLine
		err   error
	}
	news := make(chan followed, 1)
	go func() {
		lines, err := s.client.Follow(t.Context(), 1)
		news <- followed{lines, err}
	}()
	s.say("two") // before or after the question arrives: it is answered either way
	select {
	case got := <-news:
		if got.err != nil || len(got.lines) != 1 || got.lines[0].Text != "two" {
			t.Errorf("%+v", got)
		}
	case <-time.After(patience):
		t.Fatal("no news")
	}
}

func TestThoseWhoWaitHoldNoServerUp(t *testing.T) {
	s := serve(t)
	const waiters = 5
	var asked sync.WaitGroup
	answers := make(chan error, waiters)
	for range waiters {
		asked.Go(func() {
			_, err := s.client.Follow(t.Context(), 0)
			answers <- err
		})
	}
	began := time.Now()
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	asked.Wait()
	if took := time.Since(began); took > patience {
		t.Errorf("took %v", took)
	}
	for range waiters {
		if err := <-answers; err != nil && api.Explain(err).Exit != api.ExitUnreachable {
			t.Error(err)
		}
	}
}

func TestAnInterruptedCallerIsToldSo(t *testing.T) {
	s := serve(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.client.Follow(ctx, 0); api.Explain(err).Exit != api.ExitInterrupted {
		t.Error(err)
	}
}

func TestTooManyAtOnceAreTurnedAway(t *testing.T) {
	s := serve(t)
	ctx, cancel := context.WithCancel(t.Context())
	var asked sync.WaitGroup
	defer asked.Wait()
	defer cancel()
	busy := make(chan error, 100)
	for range cap(busy) {
		asked.Go(func() {
			if _, err := s.client.Follow(ctx, 0); api.Explain(orNone(err)).Code == "busy" {
				busy <- err
			}
		})
	}
	select {
	case <-busy:
	case <-time.After(patience):
		t.Fatal("nobody was turned away")
	}
	if _, err := s.client.SetMain(t.Context(), true, s.signer); api.Explain(orNone(err)).Code == "busy" {
		t.Errorf("a person is turned away for what agents wait for: %v", err)
	}
}

func orNone(err error) error {
	if err == nil {
		return errors.New("none")
	}
	return err
}

func TestARequestThatIsNotUnderstoodIsAnswered(t *testing.T) {
	s := serve(t)
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/v1/nothing", ""},
		{"GET", "/", ""},
		{"DELETE", "/v1/status", ""},
		{"POST", "/v1/challenge", ""},
		{"POST", "/v1/challenge", "[]"},
		{"POST", "/v1/challenge", `{"verb":"main on","more":1}`},
		{"POST", "/v1/challenge", `{"verb":"main on"} {}`},
		{"POST", "/v1/challenge", `{"verb":"` + strings.Repeat("x", 1<<20) + `"}`},
		{"GET", "/v1/log?after=-1", ""},
		{"GET", "/v1/log?max=many", ""},
		{"GET", "/v1/log?wait=soon", ""},
	} {
		status, answer := s.raw(t, c.method, c.path, c.body)
		if status != http.StatusBadRequest || codeOf(t, answer) != "usage" {
			t.Errorf("%s %s %.40s: %d %.200s", c.method, c.path, c.body, status, answer)
		}
	}
}

func TestAnInvitationGoesThroughItsStates(t *testing.T) {
	s := serve(t)
	given, err := s.client.Invite(t.Context(), s.signer)
	if err != nil || given.Code != "1code" {
		t.Fatalf("%+v %v", given, err)
	}
	asks := api.InviteState{State: api.InviteAsking, Name: "mba kim", Words: [4]string{"otter", "lantern", "marble", "comet"}}
	s.setInvite(asks)
	seen, err := s.client.AwaitInvite(t.Context(), given.ID, api.InviteWaiting)
	if err != nil || seen != asks {
		t.Fatalf("%+v %v", seen, err)
	}

	// Another computer asks in its place while the person compares the words.
	s.setInvite(api.InviteState{State: api.InviteAsking, Name: "mba kim", Words: [4]string{"otter", "lantern", "marble", "stone"}})
	if _, err := s.client.ConfirmInvite(t.Context(), given.ID, seen, s.signer); api.Explain(err).Code != "presence-other-act" {
		t.Errorf("other words: %v", err)
	}
	s.setInvite(asks)
	if _, err := s.client.ConfirmInvite(t.Context(), given.ID, seen, s.signer); err != nil {
		t.Error(err)
	}
	if _, err := s.client.CancelInvite(t.Context(), given.ID); err != nil {
		t.Error(err)
	}
	if _, err := s.client.AwaitInvite(t.Context(), "i2", ""); api.Explain(err).Code != "no-such-invite" {
		t.Error(err)
	}
}

func TestEveryErrorHasACodeOfItsOwn(t *testing.T) {
	seen := map[string]error{}
	for _, err := range []error{
		api.ErrUsage, api.ErrUnreachable, api.ErrBusy, api.ErrNoThread, api.ErrNoCard, api.ErrNoInvite, api.ErrNoLane, api.ErrCode, api.ErrNotMain,
		api.ErrContested, api.ErrClosed, api.ErrNoParty, api.ErrNoRepository, api.ErrNoKept, api.ErrNotNow, api.ErrDiskLow, api.ErrSignIn, api.ErrNoGh, api.ErrNoGit, api.ErrOldGit, api.ErrNoHome, api.ErrHomeExists, api.ErrHomeTaken,
		api.ErrHomeInUse, api.ErrHomeSpoiled, api.ErrConfig, api.ErrDemoHome, api.ErrNotRepository, api.ErrPortTaken,
		api.ErrNoTerminal, api.ErrNeedsPerson, api.ErrNothingToDo, api.ErrNoConflict, api.ErrAmbiguous, api.ErrManySessions, api.ErrConflictClosed, api.ErrNotParticipant, api.ErrNotAllowed,
		api.ErrNoSession, api.ErrNoIntent, api.ErrNoSide, api.ErrAgentsOff, presence.ErrNeeded, presence.ErrDemo, presence.ErrUnknown,
		presence.ErrStale, presence.ErrReplayed, presence.ErrOtherAct, presence.ErrSignature, presence.ErrBusy,
		presence.ErrWrongPassphrase, presence.ErrWeakPassphrase, presence.ErrNoKey, presence.ErrKeyExists,
		context.Canceled, context.DeadlineExceeded, os.ErrNotExist,
	} {
		f := api.Explain(err)
		if other, ok := seen[f.Code]; ok {
			t.Errorf("%v and %v are both %s", err, other, f.Code)
		}
		seen[f.Code] = err
		if f.Hint == "" && !errors.Is(err, context.Canceled) || f.Exit == 0 || f.Status < 400 {
			t.Errorf("%v: %+v", err, f)
		}
	}
	if _, ok := seen["internal"]; !ok {
		t.Error("an error of no kind is not internal")
	}
}

func TestAnErrorKeepsItsMeaningOverTheSocket(t *testing.T) {
	s := serve(t)
	_, err := s.client.Scan(t.Context())
	got, want := api.Explain(err), api.Explain(api.ErrNotMain)
	want.Text = "scan: " + want.Text
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	mended := api.WithHint(api.ErrNotMain, "run parley somewhere")
	if f := api.Explain(mended); f.Hint != "run parley somewhere" || f.Code != "not-main" {
		t.Errorf("%+v", f)
	}
}
