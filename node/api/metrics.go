package api

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// WriteMetrics writes what a node says of itself as gauges and counters, in the text format of Prometheus. No name of a
// repository, a computer or a person is in it.
func WriteMetrics(to io.Writer, s Status, threads []ThreadLine) error {
	w := bufio.NewWriter(to)
	metric := func(name, kind, help string) {
		fmt.Fprintf(w, "# HELP parley_%s %s\n# TYPE parley_%s %s\n", name, help, name, kind)
	}
	metric("build_info", "gauge", "The version of the program.")
	fmt.Fprintf(w, "parley_build_info{version=%q} 1\n", s.Version)
	connected := 0
	for _, p := range s.Peers {
		if p.Connected {
			connected++
		}
	}
	main := 0
	if s.Main.Me && s.Main.State == "live" {
		main = 1
	}
	paused := 0
	if s.Paused != nil {
		paused = 1
	}
	for _, g := range []struct {
		name, help string
		n          int
	}{
		{"computers", "Computers of the fleet, this one included.", len(s.Peers) + 1},
		{"computers_connected", "Other computers of the fleet that are connected.", connected},
		{"lanes", "Links to other developers.", len(s.Lanes)},
		{"repositories", "Repositories that are looked after.", len(s.Repositories)},
		{"cards", "Cards in the inbox.", s.Cards},
		{"main", "1 on the main computer.", main},
		{"paused", "1 while this computer rests.", paused},
	} {
		metric(g.name, "gauge", g.help)
		fmt.Fprintf(w, "parley_%s %d\n", g.name, g.n)
	}
	phases := map[string]int{}
	for _, t := range threads {
		phases[t.Phase]++
	}
	metric("conversations", "gauge", "Conversations, by phase.")
	for _, phase := range []string{"open", "interim", "final", "closed"} {
		fmt.Fprintf(w, "parley_conversations{phase=%q} %d\n", phase, phases[phase])
	}
	metric("refused_total", "counter", "What the mesh refused since the node started, by reason.")
	for _, r := range s.Refused {
		fmt.Fprintf(w, "parley_refused_total{why=%q} %d\n", strings.ToValidUTF8(r.Why, "?"), r.Times)
	}
	return w.Flush()
}
