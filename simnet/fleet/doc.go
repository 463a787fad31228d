// Package fleet runs the computers of one developer in a bubble of virtual time: whole nodes, each with its
// own home, ledger on disk, checkout and real git, over the network in memory of package memnet. A day passes
// in seconds.
//
// What waits for the outside world stands outside of the bubble: the GitHub stand-in and its sockets. A
// request to it, a git process or a file takes no virtual time, since the clock of a bubble stands while
// somebody in it waits for the system. Whatever would wait there for ever is replaced: a node answers its
// callers over pipes in place of a socket, and keeps no idle connection to GitHub.
//
// Invariants:
//  1. No channel is shared between the bubble and the outside.
//  2. Virtual time begins later than the real one, so that what a real process makes is never of the future,
//     and a deadline that it is given has not passed.
//  3. What GitHub and the checkouts hold is read with git and from the files, never asked of a node.
package fleet
