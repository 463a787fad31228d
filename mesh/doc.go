// Package mesh connects the computers of one fleet: libp2p hosts over QUIC and TCP, gossip for freshness,
// a catch-up protocol for the truth, and the pairing of new computers.
//
// Invariants:
//  1. Only members are talked to. Strangers are refused while connections are made, by their keys; while
//     an invitation is open, one may come in and speak the pairing protocol alone.
//  2. What arrives is parsed and its signature verified here, before anybody else sees it. Bytes of a peer
//     can be refused; they end an exchange at worst, never the program.
//  3. Gossip may lose anything. Catch-up compares digests of what both sides hold on disk, often enough
//     that nothing is missed for long, and stores as it goes, so that an interrupted one resumes.
//  4. Every goroutine ends with Close, and no queue grows without bound.
//
// No type of libp2p crosses the package's interface, but for [HostOptions], the simulator's seam.
package mesh
