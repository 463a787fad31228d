// Package simnet is the simulator's logic tier: whole fleets of real cores, with real sealed records, in
// one goroutine and one seed. The network, the disks, the clocks, GitHub, git, the desks and the people
// are models that can fail in every way that the conversation must survive; after every event the
// promises S1 to S18 are checked, and L1 to L5 once the faults have stopped.
//
// Nothing here reads the machine's clock or chance: a seed is the whole story, and replays byte for byte.
// See DESIGN.md for what is modelled, what is not, and how long runs went.
package simnet
