package api_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/parley-mesh/parley/node/api"
)

// Ping knows one computer, and another that is away.
func (m *memory) Ping(_ context.Context, computer string) (api.Ping, error) {
	switch computer {
	case "laptop":
		return api.Ping{Name: "laptop", MS: 1.5, Path: "relayed", Transport: "quic"}, nil
	case "tower":
		return api.Ping{}, fmt.Errorf("ping tower: %w", api.ErrAway)
	}
	return api.Ping{}, fmt.Errorf("ping %s: %w", computer, api.ErrNoComputer)
}

// Netcheck has found that UDP is blocked.
func (m *memory) Netcheck(context.Context) (api.Netcheck, error) {
	return api.Netcheck{UDP: "no", NAT: "symmetric"}, nil
}

// TraceBegin remembers nothing: the trace is always the same, once.
func (m *memory) TraceBegin(context.Context) (api.Outcome, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tracing = true
	return api.Outcome{Text: "recording"}, nil
}

// TraceTake gives it.
func (m *memory) TraceTake(context.Context) (api.Trace, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.tracing {
		return nil, api.ErrNoTrace
	}
	m.tracing = false
	return api.Trace(`{"resourceSpans":[]}`), nil
}

func TestATraceCrossesTheSocketAsItIs(t *testing.T) {
	s := serve(t)
	if _, err := s.client.TraceTake(t.Context()); api.Explain(err).Code != "no-trace" {
		t.Errorf("before it was begun: %v", err)
	}
	_, begun := s.client.TraceBegin(t.Context())
	out, err := s.client.TraceTake(t.Context())
	if err := errors.Join(begun, err); err != nil || string(out) != `{"resourceSpans":[]}` {
		t.Errorf("%s, %v", out, err)
	}
}

func TestARoundTripComesBackWithItsPath(t *testing.T) {
	s := serve(t)
	p, err := s.client.Ping(t.Context(), " laptop ")
	if err != nil || p.MS != 1.5 || p.Path != "relayed" {
		t.Errorf("%+v, %v", p, err)
	}
	for name, code := range map[string]string{"tower": "away", "nobody": "no-such-computer", "": "no-such-computer"} {
		if _, err := s.client.Ping(t.Context(), name); api.Explain(err).Code != code || api.Explain(err).Exit != api.ExitError {
			t.Errorf("%q: %v", name, err)
		}
	}
	n, err := s.client.Netcheck(t.Context())
	if err != nil || n.UDP != "no" || n.NAT != "symmetric" {
		t.Errorf("%+v, %v", n, err)
	}
}
