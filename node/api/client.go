package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/parley-mesh/parley/node/internal/presence"
)

const (
	answerBytesMax = 64 << 20
	readTimeout    = 15 * time.Second
	actTimeout     = 60 * time.Second
)

// Client asks a running node. Every call may answer [ErrUnreachable], and every error of the table that
// the node answers comes back so that [Explain] knows it.
type Client struct {
	socket string
	http   *http.Client
}

var _ Reader = (*Client)(nil)

// NewClient talks to the node whose socket this is. Nothing is sent yet.
func NewClient(socket string) *Client {
	return NewClientOver(socket, func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	})
}

// NewClientOver talks to a node over connections of another kind; name stands in errors for the socket.
func NewClientOver(name string, dial func(context.Context) (net.Conn, error)) *Client {
	t := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }}
	return &Client{socket: name, http: &http.Client{Transport: t}}
}

// Close gives the connections back.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// Status implements [Reader].
func (c *Client) Status() (Status, error) { return get[Status](c, "status", nil) }

// Threads implements [Reader].
func (c *Client) Threads() ([]ThreadLine, error) { return get[[]ThreadLine](c, "threads", nil) }

// Thread implements [Reader].
func (c *Client) Thread(ref string) (Thread, error) {
	return get[Thread](c, "thread show", url.Values{"ref": {ref}, "raw": {"1"}})
}

// Inbox implements [Reader].
func (c *Client) Inbox() ([]Card, error) { return get[[]Card](c, "inbox", nil) }

// Ledger implements [Reader].
func (c *Client) Ledger(after string) (LedgerPart, error) {
	return get[LedgerPart](c, "backup part", url.Values{"after": {after}})
}

// Log implements [Reader].
func (c *Client) Log(after uint64, max int) ([]LogLine, error) {
	return get[[]LogLine](c, "log", url.Values{"after": {number64(after)}, "max": {strconv.Itoa(max)}})
}

// Why implements [Reader].
func (c *Client) Why(subject string) (Why, error) {
	return get[Why](c, "why", url.Values{"about": {subject}})
}

// Follow is [Client.Log], but waits up to 25 seconds for a line; none came when it returns no line.
func (c *Client) Follow(ctx context.Context, after uint64) ([]LogLine, error) {
	ctx, cancel := context.WithTimeout(ctx, waitMax+readTimeout)
	defer cancel()
	return call[[]LogLine](ctx, c, request{verb: "log", query: url.Values{"after": {number64(after)}, "wait": {waitMax.String()}}})
}

// Prover agrees to acts for a person.
type Prover interface {
	Prove(presence.Act) presence.Proof
}

// Approve approves what a card asks for.
func (c *Client) Approve(ctx context.Context, card Card, by Prover) (Outcome, error) {
	return act[Outcome](ctx, c, request{verb: "approve", person: personRequest{Card: card.Key}}, ApproveAct(card), by)
}

// SetMain switches the main computer's role.
func (c *Client) SetMain(ctx context.Context, on bool, by Prover) (Outcome, error) {
	a := MainAct(on)
	return act[Outcome](ctx, c, request{verb: a.Verb}, a, by)
}

// Revoke removes a computer for ever.
func (c *Client) Revoke(ctx context.Context, name string, why RevokeWhy, by Prover) (Outcome, error) {
	a := RevokeAct(name, why)
	return act[Outcome](ctx, c, request{verb: a.Verb, person: personRequest{Name: name, Why: why}}, a, by)
}

// Rename gives a computer another name.
func (c *Client) Rename(ctx context.Context, old, name string, by Prover) (Outcome, error) {
	a := RenameAct(old, name)
	return act[Outcome](ctx, c, request{verb: a.Verb, person: personRequest{ID: old, Name: name}}, a, by)
}

// End ends a conversation.
func (c *Client) End(ctx context.Context, t ThreadLine, by Prover) (Outcome, error) {
	return act[Outcome](ctx, c, request{verb: "close", person: personRequest{Ref: t.ID}}, CloseAct(t.ID), by)
}

// Assign lets a named computer build the final.
func (c *Client) Assign(ctx context.Context, t ThreadLine, party string, by Prover) (Outcome, error) {
	return act[Outcome](ctx, c, request{verb: "assign", person: personRequest{Ref: t.ID, Party: party}}, AssignAct(t.ID, party), by)
}

// Kept implements [Reader].
func (c *Client) Kept(ctx context.Context) ([]KeptFile, error) {
	return call[[]KeptFile](ctx, c, request{verb: "kept list"})
}

// KeptContent implements [Reader].
func (c *Client) KeptContent(ctx context.Context, id string) (KeptContent, error) {
	return call[KeptContent](ctx, c, request{verb: "kept show", id: id})
}

// Operations implements [Reader].
func (c *Client) Operations(ctx context.Context) ([]Operation, error) {
	return call[[]Operation](ctx, c, request{verb: "op log"})
}

// Restore puts a kept file back.
func (c *Client) Restore(ctx context.Context, id string, by Prover) (Outcome, error) {
	return act[Outcome](ctx, c, request{verb: "kept restore", person: personRequest{ID: id}}, RestoreAct(id), by)
}

// Undo takes an operation back.
func (c *Client) Undo(ctx context.Context, id string, by Prover) (Outcome, error) {
	return act[Outcome](ctx, c, request{verb: "op undo", person: personRequest{ID: id}}, UndoAct(id), by)
}

// Sync pauses a master sync, lets it go on, or runs it.
func (c *Client) Sync(ctx context.Context, slug string, how SyncHow) (Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	return call[Outcome](ctx, c, request{verb: "sync " + string(how), query: url.Values{"repository": {slug}}})
}

// Reroute tells the node that the route was changed.
func (c *Client) Reroute(ctx context.Context) (Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	return call[Outcome](ctx, c, request{verb: "reroute"})
}

// Scan starts a run over the pull requests.
func (c *Client) Scan(ctx context.Context) (Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, actTimeout)
	defer cancel()
	return call[Outcome](ctx, c, request{verb: "scan"})
}

// Invite makes an invitation.
func (c *Client) Invite(ctx context.Context, by Prover) (Invitation, error) {
	return act[Invitation](ctx, c, request{verb: "invite"}, InviteAct(), by)
}

// AwaitInvite waits up to 25 seconds for another state than last.
func (c *Client) AwaitInvite(ctx context.Context, id, last string) (InviteState, error) {
	ctx, cancel := context.WithTimeout(ctx, waitMax+readTimeout)
	defer cancel()
	query := url.Values{"last": {last}, "wait": {waitMax.String()}}
	return call[InviteState](ctx, c, request{verb: "invite await", id: id, query: query})
}

// ConfirmInvite lets the computer in that asks, as the person saw it.
func (c *Client) ConfirmInvite(ctx context.Context, id string, seen InviteState, by Prover) (Outcome, error) {
	return act[Outcome](ctx, c, request{verb: "invite confirm", id: id}, ConfirmAct(id, seen), by)
}

// CancelInvite burns an invitation.
func (c *Client) CancelInvite(ctx context.Context, id string) (Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	return call[Outcome](ctx, c, request{verb: "invite cancel", id: id})
}

// request is one call in the making.
type request struct {
	verb   string
	id     string
	query  url.Values
	body   []byte
	person personRequest
}

func get[T any](c *Client, verb string, query url.Values) (T, error) {
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	return call[T](ctx, c, request{verb: verb, query: query})
}

// act asks the node for a nonce, has the act signed here, and sends the proof: the passphrase does not
// cross the socket.
func act[T any](ctx context.Context, c *Client, r request, a presence.Act, by Prover) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, actTimeout)
	defer cancel()
	var none T
	body, err := json.Marshal(a)
	if err != nil {
		return none, err
	}
	given, err := call[nonceReply](ctx, c, request{verb: "challenge", body: body})
	if err != nil {
		return none, err
	}
	a.Nonce = given.Nonce
	r.person.Proof = by.Prove(a)
	if r.body, err = json.Marshal(r.person); err != nil {
		return none, err
	}
	return call[T](ctx, c, r)
}

func call[T any](ctx context.Context, c *Client, r request) (T, error) {
	var out T
	v := VerbNamed(r.verb)
	to := url.URL{Scheme: "http", Host: "parley", Path: strings.Replace(v.Path, "{id}", r.id, 1), RawQuery: r.query.Encode()}
	req, err := http.NewRequestWithContext(ctx, v.Method, to.String(), bytes.NewReader(r.body))
	if err != nil {
		return out, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return out, c.unreached(ctx, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, answerBytesMax))
	if err != nil {
		return out, c.unreached(ctx, err)
	}
	if resp.StatusCode != http.StatusOK {
		var f faultReply
		if json.Unmarshal(body, &f) == nil && f.Error != nil {
			return out, f.Error
		}
		return out, fmt.Errorf("ask %s: status %d without a reason", c.socket, resp.StatusCode)
	}
	if err := json.Unmarshal(body, &out); err != nil {
		return out, fmt.Errorf("read answer to %s: %w", r.verb, err)
	}
	return out, nil
}

// unreached tells a caller that gave up from a node that is not there.
func (c *Client) unreached(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if cause, ok := errors.AsType[*url.Error](err); ok {
		err = cause.Err
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("ask %s: %w", c.socket, ErrUnreachable) // nobody listens: the system's words add nothing
	}
	return fmt.Errorf("ask %s: %w: %v", c.socket, ErrUnreachable, err)
}

func number64(n uint64) string { return strconv.FormatUint(n, 10) }
