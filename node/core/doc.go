// Package core composes the pure packages into one decision: what does this computer do about an input,
// now? [Core.Handle] takes inputs (a record was stored, the outside world was looked at, a turn ended, a
// person pressed a button, time passed) and returns effects in the order in which the shell performs
// them. An append is performed before anything that depends on it, and comes back as [Heard].
//
// Invariants:
//  1. What is not in a record or in a saved value does not survive a restart, and is asked for again.
//  2. Long work is keyed and remembered while it runs: it is never started twice at once.
//  3. A turn is reserved, and an approval consumed, in a saved value that precedes the work.
//  4. Nothing ordered comes from a map, and nothing here reads a clock.
package core
