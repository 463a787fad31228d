package ledger

// RecoveryNonce is the nonce of a genesis that names a recovery key. The fleet's id is derived from the nonce,
// so nobody can give a fleet another recovery key afterwards, its founder's key in hand or not.
func RecoveryNonce(recovery Device) [16]byte {
	h := hashed("parley-recovery/1\x00", recovery[:])
	return [16]byte(h[:16])
}
