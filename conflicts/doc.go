// Package conflicts holds the two meanings of the word: a conflict of live work (overlap) and the
// conversation that settles a conflicting pull request (thread).
package conflicts
