// Package hooks speaks with coding agents at their hooks. Each agent tells of the same few moments (a session
// starts, a prompt, before and after an edit or a shell command, the end of a turn) in a dialect of its own;
// here they are one [Event], and what a [Judge] answers is one [Decision].
//
// The moment that a hook tells of waits for the answer, so nothing here may stand in an agent's way: what is
// not understood has no opinion, and the edit passes.
package hooks
