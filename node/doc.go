// Package node is one computer's agent: the only package that does I/O on purpose.
//
//	inputs ──▶ core.Handle ──▶ effects ──▶ perform ──▶ (later) inputs
//	   ▲                                                  │
//	   └── mesh, GitHub, git, desk, clock, persons ◀──────┘
//
// The loop takes an input, or the one timer, asks the core, and performs the effects in order. Nothing in
// it is slower than a synced append: long work runs beside it and comes back as an input. Records of
// others are stored by the goroutine that received them; the loop then folds what the store holds, so own
// and foreign records take one path.
//
// There is no clock interface. Deadlines are wall times that are looked at again every few seconds,
// because Go's timers stand still while a laptop sleeps.
package node
