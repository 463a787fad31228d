package simnet

import "math/rand/v2"

// chances are the world's sources of chance, one for each kind of thing, all from the one seed: leaving one
// kind of fault out changes as little as possible of the rest.
type chances struct {
	id, net, fault, hub, people, desk, work, check, agents *rand.Rand
}

func newChances(seed uint64) chances {
	of := func(n uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, n)) }
	return chances{id: of(1), net: of(2), fault: of(3), hub: of(4), people: of(5), desk: of(6), work: of(7), check: of(8), agents: of(9)}
}

// oneIn is true once in n times.
func oneIn(r *rand.Rand, n int) bool { return r.IntN(n) == 0 }
