package disk

import "github.com/parley-mesh/parley/ledger"

// forged reports whether a stored record's signature is not its author's: a byte of it has changed since
// it came in. A record of a kind unknown here cannot be judged.
func forged(r *ledger.Record) bool {
	f := r.Family()
	return f != ledger.FamilyUnknown && r.Verify(f) != nil
}
