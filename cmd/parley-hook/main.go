// Command parley-hook is what a coding agent runs at its hooks: it asks this computer's node and prints the
// answer. It is started for every edit, so it is small and imports little.
//
//	parley-hook AGENT HOME <payload
//
// It never stands in the agent's way. Without an answer in 300 ms it prints what means "no opinion" to the agent,
// leaves a line in HOME/hook-missed for parley doctor, and ends well: its exit status is 0 always.
package main

import (
	"io"
	"os"
	"sync"
	"time"
)

const (
	budget          = 300 * time.Millisecond
	payloadBytesMax = 2 << 20 // what the node reads
	answerBytesMax  = 256 << 10
)

// miss is why there was no answer, as it stands in the note.
type miss string

const (
	none    miss = ""
	down    miss = "down"    // nobody listens
	slow    miss = "slow"    // no answer in time
	rubbish miss = "rubbish" // an answer that is none
	refused miss = "refused" // the node is too busy, or knows no hooks
	big     miss = "big"     // a payload that is not asked about
)

// silence is what having no opinion looks like to an agent.
func silence(agent string) string {
	switch agent {
	case "claude", "codex":
		return ""
	case "gemini", "opencode", "cursor":
		return "{}"
	}
	return `{"verdict":"allow"}`
}

func main() {
	if len(os.Args) != 3 {
		io.WriteString(os.Stderr, "usage: parley-hook AGENT HOME; coding agents run it, see parley agents install --help\n")
		return
	}
	agent, home := os.Args[1], os.Args[2]
	var once sync.Once
	end := func(answer string, seen func(), why miss) {
		once.Do(func() {
			if _, err := io.WriteString(os.Stdout, answer); err == nil && seen != nil {
				seen()
			}
			note(home, agent, why)
			os.Exit(0)
		})
		select {} // the other end of the race has it
	}
	// Whatever stands still, the payload included, the agent goes on.
	time.AfterFunc(budget, func() { end(silence(agent), nil, slow) })
	payload, err := io.ReadAll(io.LimitReader(os.Stdin, payloadBytesMax+1))
	if err != nil {
		end(silence(agent), nil, none)
	}
	if len(payload) > payloadBytesMax {
		io.Copy(io.Discard, os.Stdin) // an agent may take a pipe that breaks for a fault
		end(silence(agent), nil, big)
	}
	answer, seen, why := ask(home, agent, payload)
	if why != none {
		answer = silence(agent)
	}
	end(answer, seen, why)
}
