package api_test

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/internal/presence"
)

const (
	passphrase = "correct horse battery"
	patience   = time.Minute
)

// memory is a node that keeps everything in memory: it hands out what it was given, checks proofs as a
// node does, and remembers what it was made to do.
type memory struct {
	tracing bool
	persons *presence.Verifier
	bell    api.Bell
	trusts  bool // acts without looking at the proof, as a node with a fault would

	mu         sync.Mutex
	status     api.Status
	threads    []api.ThreadLine
	thread     api.Thread
	cards      []api.Card
	lines      []api.LogLine
	kept       []api.KeptFile
	operations []api.Operation
	lanes      []api.Lane
	invite     api.InviteState
	did        []string
}

func (m *memory) Status() (api.Status, error) { return m.status, nil }

func (m *memory) Threads() ([]api.ThreadLine, error) { return m.threads, nil }

func (m *memory) Thread(ref string) (api.Thread, error) {
	if ref != m.thread.Ref {
		return api.Thread{}, fmt.Errorf("%q: %w", ref, api.ErrNoThread)
	}
	return m.thread, nil
}

func (m *memory) Inbox() ([]api.Card, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.cards), nil
}

func (m *memory) Log(after uint64, most int) ([]api.LogLine, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []api.LogLine
	for _, l := range m.lines {
		if l.Seq > after {
			out = append(out, l)
		}
	}
	if after == 0 {
		return out[max(0, len(out)-most):], nil
	}
	return out[:min(len(out), most)], nil
}

func (m *memory) say(text string) {
	m.mu.Lock()
	m.lines = append(m.lines, api.LogLine{Seq: uint64(len(m.lines)) + 1, At: time.Now().UTC(), Text: text})
	m.mu.Unlock()
	m.bell.Ring()
}

func (m *memory) Challenge(act presence.Act) (string, error) { return m.persons.Challenge(act) }

func (m *memory) act(what string, act presence.Act, p presence.Proof) (api.Outcome, error) {
	if err := m.persons.Check(act, p); err != nil && !m.trusts {
		return api.Outcome{}, fmt.Errorf("%s: %w", what, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.did = append(m.did, what)
	return api.Outcome{Text: what}, nil
}

func (m *memory) Approve(_ context.Context, key string, p presence.Proof) (api.Outcome, error) {
	cards, _ := m.Inbox()
	i := slices.IndexFunc(cards, func(c api.Card) bool { return c.Key == key })
	if i < 0 {
		return api.Outcome{}, fmt.Errorf("approve %s: %w", key, api.ErrNoCard)
	}
	return m.act("approve "+cards[i].Binds, api.ApproveAct(cards[i]), p)
}

func (m *memory) SetMain(_ context.Context, on bool, p presence.Proof) (api.Outcome, error) {
	return m.act(api.MainAct(on).Verb, api.MainAct(on), p)
}

func (m *memory) Revoke(_ context.Context, name string, why api.RevokeWhy, p presence.Proof) (api.Outcome, error) {
	return m.act("revoke "+name+" "+string(why), api.RevokeAct(name, why), p)
}

func (m *memory) Rename(_ context.Context, old, name string, p presence.Proof) (api.Outcome, error) {
	return m.act("rename "+old+" "+name, api.RenameAct(old, name), p)
}

func (m *memory) Ledger(after string) (api.LedgerPart, error) {
	if after != "" {
		return api.LedgerPart{}, nil
	}
	return api.LedgerPart{Ledger: "aa", Frames: []byte{1, 2}}, nil
}

func (m *memory) Why(subject string) (api.Why, error) {
	if subject == "" {
		return api.Why{}, api.ErrNoThread
	}
	return api.Why{Subject: subject, Answer: "because", Facts: api.List[api.Fact]{{About: "a", Text: "b"}}}, nil
}

func (m *memory) End(_ context.Context, ref string, p presence.Proof) (api.Outcome, error) {
	return m.act("close", api.CloseAct(ref), p)
}

func (m *memory) Assign(_ context.Context, ref, party string, p presence.Proof) (api.Outcome, error) {
	return m.act("assign "+party, api.AssignAct(ref, party), p)
}

func (m *memory) Kept(context.Context) ([]api.KeptFile, error) { return m.kept, nil }

func (m *memory) KeptContent(_ context.Context, id string) (api.KeptContent, error) {
	for _, k := range m.kept {
		if k.ID == id {
			return api.KeptContent{KeptFile: k, Content: []byte("\x00kept\n")}, nil
		}
	}
	return api.KeptContent{}, fmt.Errorf("%s: %w", id, api.ErrNoKept)
}

func (m *memory) Operations(context.Context) ([]api.Operation, error) { return m.operations, nil }

func (m *memory) Restore(_ context.Context, id string, p presence.Proof) (api.Outcome, error) {
	return m.act("restore "+id, api.RestoreAct(id), p)
}

func (m *memory) Undo(_ context.Context, id string, p presence.Proof) (api.Outcome, error) {
	return m.act("undo "+id, api.UndoAct(id), p)
}

func (m *memory) Sync(_ context.Context, slug string, how api.SyncHow) (api.Outcome, error) {
	return api.Outcome{Text: string(how) + " " + slug}, nil
}

func (m *memory) Pause(_ context.Context, length time.Duration) (api.Outcome, error) {
	return api.Outcome{Text: "paused " + length.String()}, nil
}

func (m *memory) Resume(context.Context) (api.Outcome, error) {
	return api.Outcome{Text: "resumed"}, nil
}

func (m *memory) Reroute(context.Context) (api.Outcome, error) {
	return api.Outcome{Text: "rerouted"}, nil
}

func (m *memory) Scan(context.Context) (api.Outcome, error) {
	return api.Outcome{}, fmt.Errorf("scan: %w", api.ErrNotMain)
}

func (m *memory) Invite(_ context.Context, p presence.Proof) (api.Invitation, error) {
	if _, err := m.act("invite", api.InviteAct(), p); err != nil {
		return api.Invitation{}, err
	}
	m.setInvite(api.InviteState{State: api.InviteWaiting})
	return api.Invitation{ID: "i1", Code: "1code", Expires: time.Unix(1700000000, 0).UTC()}, nil
}

func (m *memory) setInvite(s api.InviteState) {
	m.mu.Lock()
	m.invite = s
	m.mu.Unlock()
	m.bell.Ring()
}

func (m *memory) AwaitInvite(ctx context.Context, id, last string) (api.InviteState, error) {
	if id != "i1" {
		return api.InviteState{}, api.ErrNoInvite
	}
	for {
		changed := m.bell.Changed()
		m.mu.Lock()
		s := m.invite
		m.mu.Unlock()
		if s.State != last || ctx.Err() != nil {
			return s, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

func (m *memory) ConfirmInvite(_ context.Context, id string, p presence.Proof) (api.Outcome, error) {
	m.mu.Lock()
	s := m.invite
	m.mu.Unlock()
	return m.act("invite confirm "+s.Name, api.ConfirmAct(id, s), p)
}

func (m *memory) InviteLane(_ context.Context, as string, p presence.Proof) (api.Invitation, error) {
	_, err := m.act("lane invite "+as, api.LaneInviteAct(as), p)
	m.setInvite(api.InviteState{State: api.InviteWaiting, Lane: true})
	return api.Invitation{ID: "i1", Code: "2code"}, err
}

func (m *memory) AcceptLane(_ context.Context, code, as string, p presence.Proof) (api.Invitation, error) {
	_, err := m.act("lane accept "+code+" "+as, api.LaneAcceptAct(code, as), p)
	return api.Invitation{ID: "i1"}, err
}

func (m *memory) SwitchLane(_ context.Context, lane string, repositories []string, on bool, p presence.Proof) (api.Outcome, error) {
	return m.act(fmt.Sprintf("lane %s %v %v", lane, repositories, on), api.LaneSwitchAct(lane, repositories, on), p)
}

func (m *memory) SetTeammates(_ context.Context, on bool, p presence.Proof) (api.Outcome, error) {
	return m.act(fmt.Sprintf("lane conflicts %v", on), api.TeammatesAct(on), p)
}

func (m *memory) Lanes() ([]api.Lane, error) { return m.lanes, nil }

func (m *memory) CancelInvite(context.Context, string) (api.Outcome, error) {
	m.setInvite(api.InviteState{State: api.InviteFailed, Text: "cancelled"})
	return api.Outcome{Text: "cancelled"}, nil
}

// served is a memory that answers on a real socket.
type served struct {
	*memory
	workshop *workshop
	client   *api.Client
	socket   string
	signer   presence.Signer
	refused  chan string
	stop     func() error // ends the server and waits for it
}

func serve(t *testing.T) *served {
	t.Helper()
	dir := t.TempDir()
	if err := presence.Create(dir, passphrase, presence.WorkToy); err != nil {
		t.Fatal(err)
	}
	signer, err := presence.Unlock(dir, passphrase)
	if err != nil {
		t.Fatal(err)
	}
	persons, err := presence.NewVerifier(dir, presence.VerifierOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := &served{memory: &memory{persons: persons}, workshop: &workshop{persons: persons}, socket: filepath.Join(private(t), "s"), signer: signer, refused: make(chan string, 100)}
	listener, err := api.Listen(s.socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &api.Server{Reader: s, Actor: s, Inviter: s, Laner: s, Fleet: s, Network: s, Live: s.workshop, Judge: s, Logged: &s.bell, Refused: func(verb string, err error) {
		s.refused <- verb + ": " + api.Explain(err).Code
	}}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, listener) }()
	s.stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	s.client = api.NewClient(s.socket)
	t.Cleanup(func() {
		if err := errorsOf(s.stop(), s.client.Close()); err != nil {
			t.Error(err)
		}
	})
	return s
}

func errorsOf(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

// dial opens a bare connection, for requests that the client does not make.
func (s *served) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "unix", s.socket)
}
