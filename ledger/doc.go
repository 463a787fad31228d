// Package ledger is what was said, by whom, and in which order everyone reads it.
//
// A record is one typed, signed CBOR message of at most [RecordBytesMax] octets. Records of one
// subject form a ledger (a conversation thread, a fleet's roster, a lane); inside it every process
// that ever wrote keeps one hash chain, so no record can be moved, replaced or replayed elsewhere.
// FORMAT.md freezes the bytes; testdata holds vectors that every later version must still read.
//
// Invariants:
//  1. An identifier covers the body alone. A second valid signature over one body is the same record.
//  2. Bytes are judged by one pass of [Canonical] before anything is decoded or allocated.
//  3. A record verifies only under the signature context of the ledger family it arrives in.
//  4. What cannot be understood is kept and passed on; what is malformed is refused. Nothing panics.
//
// The package is pure: no clock, no randomness, no disk. Package ledger/disk keeps records.
package ledger
