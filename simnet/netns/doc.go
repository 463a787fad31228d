// Package netns builds small internets out of Linux network namespaces, for tests of what a network in memory
// cannot show: real routers that translate addresses, firewalls, multicast, interfaces that come and go. The
// computers in them are processes of their own that run real meshes.
//
// Invariants:
//  1. Nothing outside of the namespaces that a [World] made is touched: no interface, route or rule.
//  2. Every namespace of a World has a name that begins with its process; it is removed when the test ends,
//     however it ends, and what an earlier process left is removed by the next World.
//  3. Without root, ip or nft the test is skipped and says what is missing.
package netns
