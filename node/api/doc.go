// Package api is what stands between a person (or an agent) and a node: ONE table of verbs ([Verbs]), the
// views that the reading ones return, and HTTP with JSON over a Unix socket in the node's home, server and
// client alike.
//
// Whoever may open the socket may read. What only a person may do is refused for every caller unless the
// request carries a presence proof for exactly that act (D-24): the server refuses a request without a
// proof before the node sees it, and the node checks the proof it is given.
//
// The JSON names of the views are stable: fields may be added, none changes its meaning. Every error has a
// stable code, and one table ([Explain]) gives its HTTP status, its hint and the exit status of the command.
package api
