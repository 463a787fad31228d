package page_test

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/internal/passkey"
	"github.com/parley-mesh/parley/node/internal/presence"
	"github.com/parley-mesh/parley/node/page"
)

const (
	passphrase = "correct horse battery"
	patience   = 90 * time.Second
)

// world is a node in memory, with real proofs and real passkeys. It remembers what it was made to do.
type world struct {
	api.Live // what no test asks for

	persons  *presence.Verifier
	book     *passkey.Book
	approval ed25519.PublicKey
	changed  api.Bell

	loop sync.Mutex // one act at a time, as on a node's loop

	mu         sync.Mutex
	status     api.Status
	threads    []api.ThreadLine
	thread     map[string]api.Thread
	cards      []api.Card
	previews   map[string]api.Preview
	otherwise  string // what previews are of in place of what the cards ask for
	lines      []api.LogLine
	kept       []api.KeptFile
	operations []api.Operation
	routes     []page.Route
	conflicts  []api.ConflictShown
	intents    []api.Intent
	sessions   []api.Session
	history    api.History
	settings   page.Settings
	ahead      time.Duration // of the clock of links and sessions
	content    []byte        // of the kept files
	messages   []api.Message
	did        []string
}

// change lets the node look otherwise, and says so.
func (w *world) change(do func()) {
	w.mu.Lock()
	do()
	w.status.Cards = len(w.cards)
	w.mu.Unlock()
	w.changed.Ring()
}

func (w *world) done() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.did)
}

func (w *world) now() time.Time {
	return locked(w, func() time.Time { return time.Now().Add(w.ahead) })
}

func locked[T any](w *world, read func() T) T {
	w.mu.Lock()
	defer w.mu.Unlock()
	return read()
}

func (w *world) Status() (api.Status, error) {
	return locked(w, func() api.Status { return w.status }), nil
}

func (w *world) Threads() ([]api.ThreadLine, error) {
	return locked(w, func() []api.ThreadLine { return slices.Clone(w.threads) }), nil
}

func (w *world) Thread(ref string) (api.Thread, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t, ok := w.thread[ref]
	if !ok {
		return t, fmt.Errorf("%q: %w", ref, api.ErrNoThread)
	}
	t.Records = slices.Clone(t.Records)
	return t, nil
}

func (w *world) Inbox() ([]api.Card, error) {
	return locked(w, func() []api.Card { return slices.Clone(w.cards) }), nil
}

func (w *world) Why(subject string) (api.Why, error) {
	return api.Why{Subject: subject, Facts: []api.Fact{{About: "waits", Text: "for a person"}}}, nil
}

func (w *world) Lanes() ([]api.Lane, error) {
	return locked(w, func() []api.Lane { return slices.Clone([]api.Lane(w.status.Lanes)) }), nil
}

func (w *world) Kept(context.Context) ([]api.KeptFile, error) { return w.kept, nil }

func (w *world) KeptContent(_ context.Context, id string) (api.KeptContent, error) {
	i := slices.IndexFunc(w.kept, func(k api.KeptFile) bool { return k.ID == id })
	if i < 0 {
		return api.KeptContent{}, fmt.Errorf("%s: %w", id, api.ErrNoKept)
	}
	return api.KeptContent{KeptFile: w.kept[i], Content: w.content}, nil
}

func (w *world) Operations(context.Context) ([]api.Operation, error) {
	return locked(w, func() []api.Operation { return slices.Clone(w.operations) }), nil
}

func (w *world) Ledger(string) (api.LedgerPart, error) { return api.LedgerPart{}, nil }

func (w *world) Log(_ uint64, most int) ([]api.LogLine, error) {
	return locked(w, func() []api.LogLine { return slices.Clone(w.lines[max(0, len(w.lines)-most):]) }), nil
}

func (w *world) Challenge(act presence.Act) (string, error) { return w.persons.Challenge(act) }

// act does what a node does: it checks the proof against what it would do at this moment.
func (w *world) act(act presence.Act, p presence.Proof, then func()) (api.Outcome, error) {
	if err := w.persons.Check(act, p); err != nil {
		return api.Outcome{}, err
	}
	what := string(p.Kind) + ": " + act.Verb + " " + act.Binds
	w.change(func() {
		w.did = append(w.did, what)
		if then != nil {
			then()
		}
	})
	return api.Outcome{Text: "it is done: " + act.Verb}, nil
}

func (w *world) Approve(_ context.Context, key string, p presence.Proof) (api.Outcome, error) {
	w.loop.Lock()
	defer w.loop.Unlock()
	cards, _ := w.Inbox()
	i := slices.IndexFunc(cards, func(c api.Card) bool { return c.Key == key })
	if i < 0 {
		return api.Outcome{}, fmt.Errorf("approve %s: %w", key, api.ErrNoCard)
	}
	return w.act(api.ApproveAct(cards[i]), p, func() {
		w.cards = slices.DeleteFunc(w.cards, func(c api.Card) bool { return c.Key == key })
	})
}

func (w *world) SetMain(_ context.Context, on bool, p presence.Proof) (api.Outcome, error) {
	return w.act(api.MainAct(on), p, func() { w.status.Main.Me = on })
}

func (w *world) End(_ context.Context, ref string, p presence.Proof) (api.Outcome, error) {
	return w.act(api.CloseAct(ref), p, nil)
}

func (w *world) Assign(_ context.Context, ref, party string, p presence.Proof) (api.Outcome, error) {
	return w.act(api.AssignAct(ref, party), p, nil)
}

func (w *world) Restore(_ context.Context, id string, p presence.Proof) (api.Outcome, error) {
	return w.act(api.RestoreAct(id), p, nil)
}

func (w *world) Undo(_ context.Context, id string, p presence.Proof) (api.Outcome, error) {
	return w.act(api.UndoAct(id), p, func() {
		for i := range w.operations {
			w.operations[i].Undone = w.operations[i].Undone || w.operations[i].ID == id
		}
	})
}

func (w *world) note(text string) (api.Outcome, error) {
	w.change(func() { w.did = append(w.did, text) })
	return api.Outcome{Text: "it is done: " + text}, nil
}

func (w *world) Sync(_ context.Context, slug string, how api.SyncHow) (api.Outcome, error) {
	return w.note("sync " + string(how) + " " + slug)
}

func (w *world) Reroute(context.Context) (api.Outcome, error) { return w.note("reroute") }

func (w *world) Pause(_ context.Context, length time.Duration) (api.Outcome, error) {
	w.change(func() { w.status.Paused = &api.Pause{Since: w.status.Peers[0].LastSeen} })
	return w.note("pause " + length.String())
}

func (w *world) Resume(context.Context) (api.Outcome, error) {
	w.change(func() { w.status.Paused = nil })
	return w.note("resume")
}

func (w *world) Revoke(_ context.Context, name string, why api.RevokeWhy, p presence.Proof) (api.Outcome, error) {
	return w.act(api.RevokeAct(name, why), p, nil)
}

func (w *world) Rename(_ context.Context, old, name string, p presence.Proof) (api.Outcome, error) {
	return w.act(api.RenameAct(old, name), p, nil)
}

func (w *world) Scan(context.Context) (api.Outcome, error) { return w.note("scan") }

func (w *world) InviteLane(context.Context, string, presence.Proof) (api.Invitation, error) {
	return api.Invitation{}, api.ErrNotNow
}

func (w *world) AcceptLane(context.Context, string, string, presence.Proof) (api.Invitation, error) {
	return api.Invitation{}, api.ErrNotNow
}

func (w *world) SwitchLane(_ context.Context, lane string, repositories []string, on bool, p presence.Proof) (api.Outcome, error) {
	return w.act(api.LaneSwitchAct(lane, repositories, on), p, func() { w.status.Lanes[0].Here = on })
}

func (w *world) SetTeammates(_ context.Context, on bool, p presence.Proof) (api.Outcome, error) {
	return w.act(api.TeammatesAct(on), p, func() { w.status.Teammates = on })
}

func (w *world) OpenPage(context.Context) (api.PageLink, error) { return api.PageLink{}, api.ErrNoPage }

func (w *world) Preview(_ context.Context, key string) (api.Preview, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.IndexFunc(w.cards, func(c api.Card) bool { return c.Key == key })
	if i < 0 {
		return api.Preview{}, api.ErrNoCard
	}
	out := w.previews[key]
	out.Key, out.Binds = key, cmp.Or(w.otherwise, w.cards[i].Binds)
	return out, nil
}

func (w *world) Passkeys(context.Context) (out []api.Passkey, err error) {
	for _, k := range w.book.Keys() {
		out = append(out, api.Passkey{ID: k.ID, Name: k.Name, Added: k.Added})
	}
	return out, nil
}

func (w *world) RemovePasskey(_ context.Context, id string, p presence.Proof) (api.Outcome, error) {
	return w.act(api.PasskeyRemoveAct(id), p, func() { _ = w.book.Remove(id) })
}

func (w *world) Creation() ([]byte, error) { return w.book.CreationOptions() }

func (w *world) Request(challenge []byte) ([]byte, error) { return w.book.RequestOptions(challenge) }

func (w *world) Add(_ context.Context, answer []byte, name string, by api.Prover) (api.Outcome, error) {
	k, err := w.book.Created(answer, name)
	if err != nil {
		return api.Outcome{}, err
	}
	act := api.PasskeyAddAct(k.ID, k.Name, k.Public)
	if act.Nonce, err = w.persons.Challenge(act); err != nil {
		return api.Outcome{}, err
	}
	p := by.Prove(act)
	k.Agreed = passkey.Agreed{Kind: string(p.Kind), Nonce: p.Nonce, Signature: p.Signature}
	if _, err := w.act(act, p, func() { err = w.book.Add(k) }); err != nil {
		return api.Outcome{}, err
	}
	return api.Outcome{Text: "the passkey " + name + " presses buttons from now on"}, err
}

func (w *world) agreed(k passkey.Key) bool {
	p := presence.Proof{Kind: presence.Kind(k.Agreed.Kind), Nonce: k.Agreed.Nonce, Signature: k.Agreed.Signature}
	return presence.Signed(w.approval, api.PasskeyAddAct(k.ID, k.Name, k.Public), p)
}

// site is a page that is served over real connections.
type site struct {
	*world
	server *page.Server
	origin string
}

// serve serves the page of a lived-in world.
func serve(t testing.TB) *site {
	t.Helper()
	dir := t.TempDir()
	if err := presence.Create(dir, passphrase, presence.WorkToy); err != nil {
		t.Fatal(err)
	}
	w := lived()
	var err error
	if w.approval, err = presence.Public(dir); err != nil {
		t.Fatal(err)
	}
	if w.book, _, err = passkey.Open(filepath.Join(dir, "passkeys.json"), w.agreed); err != nil {
		t.Fatal(err)
	}
	if w.persons, err = presence.NewVerifier(dir, presence.VerifierOptions{Passkey: w.book.Check}); err != nil {
		t.Fatal(err)
	}
	l, err := page.Listen(0)
	if err != nil {
		t.Fatal(err)
	}
	w.book.SetOrigin(l.Origin())
	s := &site{world: w, origin: l.Origin()}
	s.server = &page.Server{Listeners: l, Doors: page.NewDoors(w.now), Node: page.Node{
		Reader: w, Actor: w, Laner: w, Fleet: w, Pages: w, Live: w, Keys: w, Changed: &w.changed,
		Unlock: func(p string) (api.Prover, error) { return presence.Unlock(dir, p) },
		Routes: func() ([]page.Route, error) {
			return locked(w, func() []page.Route { return slices.Clone(w.routes) }), nil
		},
		SwitchRoute: func(_ context.Context, c string, on bool) (api.Outcome, error) {
			w.change(func() { w.routes[0].On = on })
			return w.note(fmt.Sprintf("route %s %v", c, on))
		},
		Settings: func(context.Context) (page.Settings, error) {
			return locked(w, func() page.Settings { return w.settings }), nil
		},
		SetNotices: func(_ context.Context, wish page.Notices) (api.Outcome, error) {
			w.change(func() { w.settings.Notices = wish })
			return w.note(fmt.Sprintf("notices %v %s", wish.On, wish.Quiet))
		},
	}}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.server.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s
}

// browser is a client with cookies that names the page rightly.
type browser struct {
	http.Client
	s    *site
	csrf string
}

var csrfForm = regexp.MustCompile(`data-csrf="([0-9a-f]{64})"`)

// login follows a fresh link.
func (s *site) login(t testing.TB) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{Client: http.Client{Jar: jar}, s: s}
	if status, _ := b.get(t, strings.TrimPrefix(s.server.Link().URL, s.origin)); status != http.StatusOK {
		t.Fatalf("login: %d", status)
	}
	_, body := b.get(t, "/")
	m := csrfForm.FindStringSubmatch(body)
	if m == nil {
		t.Fatalf("no csrf in %s", body)
	}
	b.csrf = m[1]
	return b
}

func (b *browser) get(t testing.TB, path string) (int, string) {
	t.Helper()
	return b.do(t, request(t, http.MethodGet, b.s.origin+path, nil))
}

// post is what the page's own scripts send.
func (b *browser) post(t testing.TB, path string, form url.Values) (int, string) {
	t.Helper()
	r := request(t, http.MethodPost, b.s.origin+path, form)
	r.Header.Set("X-Parley-Page", b.csrf)
	r.Header.Set("Origin", b.s.origin)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return b.do(t, r)
}

func (b *browser) do(t testing.TB, r *http.Request) (int, string) {
	t.Helper()
	status, body, _ := answer(t, &b.Client, r)
	return status, body
}

// ofAct is what the dialog of an approval sends.
func ofAct(c api.Card) url.Values {
	return url.Values{"verb": {"approve"}, "card": {c.Key}, "binds": {c.Binds}, "thread": {c.Thread}, "passphrase": {passphrase}}
}

// id is a thread's id as it might be.
func id(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
