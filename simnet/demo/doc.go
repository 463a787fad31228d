// Package demo plays parley's main job with real parts on one machine: a GitHub stand-in over a real bare
// repository, and three computers of one developer, each a process of its own with its own home, ledger
// and checkout. A pull request conflicts; the computers settle it; a person approves twice; and at the end
// the package checks, with git alone and without asking any node, that everything is as promised.
//
// It also plays a day of six scripted agents (parley demo agents): three computers of two developers who share their
// live work. The agents speak the hooks of four kinds to the real parley-hook and obey its answers; each kind of
// conflict arises, is told, and goes with its overlap. Only what the agents type follows a script.
//
// Nothing in it is canned: every record, merge and file comes from the program that it starts. Every step
// looks at what is there first, so a demo whose processes were killed goes on where it was.
package demo
