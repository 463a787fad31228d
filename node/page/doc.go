// Package page is the node's web page: what waits for a person, what happens and with whom, live, and the buttons
// that only a person may press. It is served on loopback alone, to whoever followed a link that `parley open` made
// a moment ago.
//
// The page shows and does what the commands show and do, by the same [api.Reader] and [api.Actor]. A session of the
// page may no more than the socket may: each act of a person takes the passphrase or a passkey, bound to exactly
// what was shown (D-24).
package page
