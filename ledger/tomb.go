package ledger

// TombDigest is the digest under which a closed thread is listed once its leaves were pruned somewhere: it
// follows from the closing alone, so computers that kept different leaves agree about it.
func TombDigest(closed ID) Digest {
	h := hashed("parley-tomb/1\x00", closed[:])
	return Digest(h[:16])
}

// Records parses a tomb's open and spine, in order. The signatures are not verified.
func (f *Tomb) Records() ([]*Record, error) {
	out := make([]*Record, 0, 1+len(f.Spine))
	for _, wire := range append([][]byte{f.Open}, f.Spine...) {
		r, err := Parse(wire)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}
