package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/parley-mesh/parley/node/api"
)

// MetricsConfig is where Prometheus finds numbers about this node. Every user of this computer can read them there, so
// it is off until it is set.
type MetricsConfig struct {
	// Listen is a loopback address such as 127.0.0.1:9467, with port 0 for any; "" serves nothing.
	Listen string `toml:"listen,omitempty"`
}

func (c MetricsConfig) validate(bad badFunc) error {
	if c.Listen != "" && !onLoopback(c.Listen) {
		return bad("metrics.listen", "%q: want a loopback address and a port, such as 127.0.0.1:9467", c.Listen)
	}
	return nil
}

// onLoopback says whether an address with a port is one that nobody reaches from elsewhere.
func onLoopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	ip := net.ParseIP(host)
	return err == nil && ip != nil && ip.IsLoopback()
}

// metricsPatience is how long one scrape may take.
const metricsPatience = 10 * time.Second

// serveMetrics begins to serve numbers, where the settings ask for it; else nil. The answer is the one of parley metrics.
func (n *Node) serveMetrics(ctx context.Context) (*toolServer, error) {
	listen := n.cfg.Metrics.Listen
	if listen == "" {
		return nil, nil
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if err != nil {
		return nil, fmt.Errorf("serve metrics: %w: %v", api.ErrPortTaken, err)
	}
	m := &toolServer{addr: listener.Addr(), ended: make(chan error, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		if !slices.Contains(hostsOf(m.addr), r.Host) { // a page of somebody else, by a name that leads here
			http.Error(w, "another host is meant", http.StatusForbidden)
			return
		}
		n.answerMetrics(w)
	})
	m.server = &http.Server{Handler: mux, ReadTimeout: metricsPatience, WriteTimeout: metricsPatience, IdleTimeout: time.Minute}
	go func() { m.ended <- m.server.Serve(listener) }()
	return m, nil
}

func (n *Node) answerMetrics(w http.ResponseWriter) {
	status, err := reader{n}.Status()
	threads, also := reader{n}.Threads()
	if err := errors.Join(err, also); err != nil {
		http.Error(w, api.Explain(err).Code, http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_ = api.WriteMetrics(w, status, threads) // who no longer reads wants nothing
}
