package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/core"
	"github.com/parley-mesh/parley/node/internal/passkey"
	"github.com/parley-mesh/parley/node/internal/presence"
	"github.com/parley-mesh/parley/node/internal/worktree"
	"github.com/parley-mesh/parley/node/page"
)

// PageConfig is the web page on this computer.
type PageConfig struct {
	// Port is where the page is served, on loopback alone; 0 is any, the one of the last start if it is free.
	Port int `toml:"port" comment:"Where parley open finds the page, on this computer alone; 0 is any port."`
	// Off serves no page.
	Off bool `toml:"off,omitempty"`
}

// PasskeysPath is the file of the passkeys.
func (h Home) PasskeysPath() string { return h.path("passkeys.json") }

// PagePortPath is the file with the port that the page had last.
func (h Home) PagePortPath() string { return h.path("page-port") }

// diffBytesMax is how much of a diff a person is shown before a press.
const diffBytesMax = 256 << 10

// openPasskeys reads the passkeys to which the owner of the approval key agreed.
func (n *Node) openPasskeys() error {
	public, err := presence.Public(n.home.Dir)
	if err != nil && !errors.Is(err, presence.ErrNoKey) {
		return err
	}
	book, _, err := passkey.Open(n.home.PasskeysPath(), func(k passkey.Key) bool {
		p := presence.Proof{Kind: presence.Kind(k.Agreed.Kind), Nonce: k.Agreed.Nonce, Signature: k.Agreed.Signature}
		return presence.Signed(public, api.PasskeyAddAct(k.ID, k.Name, k.Public), p)
	})
	if err != nil {
		return err
	}
	n.passkeys = book
	return n.recallPasskeys()
}

// openPage takes the page's port. A page that cannot be served stops no node: everything is in the commands too.
func (n *Node) openPage(rc RunConfig) (*page.Server, error) {
	if rc.Listen != nil || n.cfg.Page.Off {
		return nil, nil
	}
	l, err := n.listenPage()
	if err != nil {
		n.log.add(core.Note{Level: "warn", Kind: "page", Who: n.cfg.Name, Text: "the page is not served: " + err.Error()})
		return nil, nil
	}
	n.passkeys.SetOrigin(l.Origin())
	if err := writePrivate(n.home.PagePortPath(), []byte(strconv.Itoa(l.Port)+"\n")); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	_, err = presence.Public(n.home.Dir)
	s := &page.Server{Listeners: l, Doors: rc.doors, Now: n.wall, Node: page.Node{
		Reader: reader{n}, Actor: actor{n}, Laner: laner{n}, Fleet: actor{n}, Live: n.live, Keys: keys{n}, Changed: &n.changed, Demo: n.cfg.Demo && errors.Is(err, presence.ErrNoKey),
		Unlock: func(passphrase string) (api.Prover, error) { return n.home.Unlock(passphrase) }, Routes: n.routes, SwitchRoute: n.switchRoute,
		Settings: n.pageSettings, SetNotices: n.setNotices,
	}}
	s.Pages = pages{n, s}
	return s, nil
}

// listenPage takes the port of the settings, or of the last start, or any.
func (n *Node) listenPage() (page.Listeners, error) {
	port := n.cfg.Page.Port
	if port == 0 {
		if text, err := os.ReadFile(n.home.PagePortPath()); err == nil {
			last, _ := strconv.Atoi(strings.TrimSpace(string(text)))
			if l, err := page.Listen(min(max(last, 0), 65535)); err == nil {
				return l, nil
			}
		}
	}
	return page.Listen(port)
}

// servePage serves the page until ctx ends.
func (n *Node) servePage(ctx context.Context, s *page.Server) {
	if s == nil {
		return
	}
	if err := s.Serve(ctx); err != nil {
		n.log.add(core.Note{Level: "warn", Kind: "page", Who: n.cfg.Name, Text: err.Error()})
	}
}

// pages is the running node as [api.Pages]. Without a server no page is served.
type pages struct {
	n *Node
	s *page.Server
}

var _ api.Pages = pages{}

// OpenPage makes a login link.
func (p pages) OpenPage(context.Context) (api.PageLink, error) {
	if p.s == nil {
		return api.PageLink{}, api.ErrNoPage
	}
	return p.s.Link(), nil
}

// RemovePasskey takes one out of the book.
func (p pages) RemovePasskey(ctx context.Context, id string, proof presence.Proof) (api.Outcome, error) {
	return p.n.change(ctx, func(n *Node) (api.Outcome, []core.Effect, error) {
		if err := n.persons.Check(api.PasskeyRemoveAct(id), proof); err != nil {
			return api.Outcome{}, nil, err
		}
		err := n.passkeys.Remove(id)
		if errors.Is(err, passkey.ErrNone) {
			err = fmt.Errorf("%s: %w", id, api.ErrNoPasskey)
		}
		if err == nil {
			n.notePasskey("say", "a person removed the passkey "+shortKey(id))
		}
		return api.Outcome{Text: "the passkey presses nothing from now on", Next: "parley passkey list"}, nil, err
	})
}

// keys is the running node as [page.Keys].
type keys struct{ n *Node }

var _ page.Keys = keys{}

// Creation asks for a new passkey.
func (k keys) Creation() ([]byte, error) { return k.n.passkeys.CreationOptions() }

// Request asks for an answer to a challenge.
func (k keys) Request(challenge []byte) ([]byte, error) {
	options, err := k.n.passkeys.RequestOptions(challenge)
	if errors.Is(err, passkey.ErrNone) {
		err = api.ErrNoPasskey
	}
	return options, err
}

// Add lets a new passkey in, signed with the approval key.
func (k keys) Add(ctx context.Context, answer []byte, name string, by api.Prover) (api.Outcome, error) {
	key, err := k.n.passkeys.Created(answer, name)
	if err != nil {
		return api.Outcome{}, fmt.Errorf("add a passkey: %w: %v", api.ErrNotNow, err)
	}
	act := api.PasskeyAddAct(key.ID, key.Name, key.Public)
	return k.n.change(ctx, func(n *Node) (api.Outcome, []core.Effect, error) {
		if act.Nonce, err = n.persons.Challenge(act); err != nil {
			return api.Outcome{}, nil, err
		}
		proof := by.Prove(act)
		if err := n.persons.Check(act, proof); err != nil {
			return api.Outcome{}, nil, err
		}
		key.Agreed = passkey.Agreed{Kind: string(proof.Kind), Nonce: proof.Nonce, Signature: proof.Signature}
		if err := n.passkeys.Add(key); err != nil {
			return api.Outcome{}, nil, err
		}
		n.notePasskey("say", fmt.Sprintf("a person let the passkey %s (%q) in", shortKey(key.ID), key.Name))
		return api.Outcome{Text: "the passkey " + key.Name + " presses buttons from now on", Next: "parley passkey list"}, nil, nil
	})
}

// routes are where conversations go here.
func (n *Node) routes() ([]page.Route, error) {
	r, err := n.home.Route()
	if err != nil {
		return nil, err
	}
	command := r.Argv
	if len(command) == 0 {
		command = n.cfg.Desk.Argv
	}
	return []page.Route{{Conversation: SyncConflicts, Command: command, On: !r.Off}}, nil
}

// switchRoute switches a conversation on or off here.
func (n *Node) switchRoute(ctx context.Context, conversation string, on bool) (api.Outcome, error) {
	if conversation != SyncConflicts {
		return api.Outcome{}, fmt.Errorf("route %q: %w", conversation, api.ErrUsage)
	}
	r, err := n.home.Route()
	if err != nil {
		return api.Outcome{}, err
	}
	r.Off = !on
	if err := n.home.SetRoute(r); err != nil {
		return api.Outcome{}, err
	}
	return actor{n}.Reroute(ctx)
}

// Preview is what a press on a card will change on GitHub.
func (p pages) Preview(ctx context.Context, key string) (api.Preview, error) {
	type asked struct {
		card  api.Card
		binds thread.Binds
		state *thread.State
		tip   worktree.OID
	}
	a, err := view(p.n, func(v viewer) (asked, error) {
		card, ok := v.core.Card(key)
		if !ok || card.Binds == nil {
			return asked{}, fmt.Errorf("preview %s: %w", key, api.ErrNoCard)
		}
		out := asked{card: v.card(card), binds: *card.Binds}
		if t, err := v.find(card.Thread.String()); err == nil {
			out.state = &t.State
		}
		for _, r := range v.core.Repos() {
			if r.ID == card.Binds.Repo {
				out.tip = hexOID(r.Master.Tip)
			}
		}
		return out, nil
	})
	if err != nil {
		return api.Preview{}, err
	}
	out := api.Preview{Key: key, Binds: a.card.Binds, Words: previewWords(a.binds)}
	if a.state == nil || a.binds.Action != "push" && a.binds.Action != "merge" {
		return out, nil
	}
	w, err := p.n.workspaceOf(a.state.Open.Host, a.binds.Repo)
	if err != nil {
		return out, err
	}
	from, to := hexOID(a.binds.Old), hexOID(a.binds.New)
	if a.binds.Action == "merge" {
		if from, err = p.n.mergedFrom(ctx, w, a.tip, a.state.Open.Head.String(), to); err != nil {
			return out, err
		}
	}
	d, err := w.mirror.Diff(ctx, from, to, diffBytesMax)
	if err != nil {
		return out, fmt.Errorf("preview %s: %w", a.card.Ref, err)
	}
	out.From, out.To, out.Diff, out.Cut = string(from), string(to), d.Text, d.Cut
	for _, f := range d.Files {
		out.Files = append(out.Files, api.PreviewFile{Path: f.Path, Added: f.Added, Removed: f.Removed})
	}
	return out, nil
}

// mergedFrom is the commit from which a merge adds to the base branch, as GitHub shows a pull request.
func (n *Node) mergedFrom(ctx context.Context, w *workspace, tip worktree.OID, head string, to worktree.OID) (worktree.OID, error) {
	if !tip.Valid() {
		return worktree.OID(head), nil // the base branch was not fetched yet
	}
	base, err := w.mirror.MergeBase(ctx, tip, to)
	if err == nil && base == "" {
		err = errors.New("the base branch and the pull request have nothing in common")
	}
	return base, err
}

func previewWords(b thread.Binds) string {
	switch b.Action {
	case "push":
		return fmt.Sprintf("The branch %s of pull request %d gets this, and only if it still stands where it stood when this was made.", b.Ref, b.Pull)
	case "merge":
		return fmt.Sprintf("Pull request %d is merged into %s, which gets this.", b.Pull, b.Ref)
	}
	return "Nothing changes on GitHub."
}
