package api

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// TraceMax is how long a trace is recorded at most.
const TraceMax = 10 * time.Minute

// Network looks at how other computers are reached, and how long things take.
type Network interface {
	// TraceBegin begins to record what the node does, for at most [TraceMax]; what was recorded before is given up.
	TraceBegin(ctx context.Context) (Outcome, error)
	// TraceTake ends that and returns it; [ErrNoTrace] when nothing was begun.
	TraceTake(ctx context.Context) (Trace, error)
	// Ping is one round trip to the computer of a name, or of the start of its key; [ErrNoComputer],
	// [ErrAway].
	Ping(ctx context.Context, computer string) (Ping, error)
	// Netcheck finds out within seconds what works from here.
	Netcheck(ctx context.Context) (Netcheck, error)
}

// Trace is what the node did for a while: a JSON object as OpenTelemetry's protocol has it over HTTP
// (ExportTraceServiceRequest), which Jaeger and others read. It holds names of repositories and words of errors, no code.
type Trace json.RawMessage

// MarshalJSON writes it as it is.
func (t Trace) MarshalJSON() ([]byte, error) { return t, nil }

// UnmarshalJSON keeps it as it is.
func (t *Trace) UnmarshalJSON(text []byte) error {
	*t = bytes.Clone(text)
	return nil
}

// Ping is one round trip to another computer.
type Ping struct {
	Name      string  `json:"name"`
	Device    string  `json:"device"`
	MS        float64 `json:"ms"`   // there and back, in milliseconds
	Path      string  `json:"path"` // "lan", "direct" or "relayed"
	Transport string  `json:"transport"`
	Address   string  `json:"address"`
	Version   string  `json:"version"`
	ClockMS   float64 `json:"clock_ms"` // how far its clock is ahead of this one's
}

// Netcheck is what works from here. Verdicts are "yes", "no" and "unknown".
type Netcheck struct {
	IPv4        string       `json:"ipv4"`
	IPv6        string       `json:"ipv6"`
	UDP         string       `json:"udp"`
	TCP         string       `json:"tcp"`
	WebSocket   string       `json:"websocket"`
	Intercepted bool         `json:"intercepted"` // something else answers in a relay's place: a captive portal or proxy
	NAT         string       `json:"nat"`         // "none", "easy", "symmetric" or "unknown"
	HolePunch   string       `json:"hole_punch"`
	PortMap     string       `json:"port_map"`
	Mapped      List[string] `json:"mapped"`    // addresses that the router forwards
	Listen      List[string] `json:"listen"`    // where this computer listens
	Seen        List[string] `json:"seen"`      // its addresses as others see them
	Reachable   List[string] `json:"reachable"` // addresses that another computer reached from outside
	Relays      List[Relay]  `json:"relays"`
	ClockMS     float64      `json:"clock_ms"` // how far this computer's clock is behind the others'
	Clocks      int          `json:"clocks"`   // how many clocks were compared; 0: none could be
}

// Relay is one relay as this computer has it.
type Relay struct {
	ID        string `json:"id"`
	Address   string `json:"address"`
	Reserved  bool   `json:"reserved"` // this computer can be reached by it
	Transport string `json:"transport"`
	Trouble   string `json:"trouble,omitempty"`
}

// computerAnswers is what carries the verbs about other computers out; nil for another verb.
func (s *Server) computerAnswers(verb string) answer {
	switch verb {
	case "revoke":
		return s.person(s.revoke)
	case "computers rename":
		return s.person(s.rename)
	case "trace begin":
		return func(r *http.Request) (reply, error) { return s.Network.TraceBegin(r.Context()) }
	case "trace":
		return func(r *http.Request) (reply, error) { return s.Network.TraceTake(r.Context()) }
	case "netcheck":
		return func(r *http.Request) (reply, error) { return s.Network.Netcheck(r.Context()) }
	case "ping":
		return func(r *http.Request) (reply, error) {
			return s.Network.Ping(r.Context(), strings.TrimSpace(r.URL.Query().Get("computer")))
		}
	}
	return nil
}

// Ping implements [Network].
func (c *Client) Ping(ctx context.Context, computer string) (Ping, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	return call[Ping](ctx, c, request{verb: "ping", query: url.Values{"computer": {computer}}})
}

// Netcheck implements [Network].
func (c *Client) Netcheck(ctx context.Context) (Netcheck, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	return call[Netcheck](ctx, c, request{verb: "netcheck"})
}

// TraceBegin implements [Network].
func (c *Client) TraceBegin(ctx context.Context) (Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	return call[Outcome](ctx, c, request{verb: "trace begin"})
}

// TraceTake implements [Network].
func (c *Client) TraceTake(ctx context.Context) (Trace, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	return call[Trace](ctx, c, request{verb: "trace"})
}

func (Trace) reply()    {}
func (Ping) reply()     {}
func (Netcheck) reply() {}
