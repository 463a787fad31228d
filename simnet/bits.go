package simnet

// bits is a set of small numbers.
type bits []uint64

func (b bits) has(n int) bool {
	w := n >> 6
	return w < len(b) && b[w]&(1<<(n&63)) != 0
}

func (b *bits) set(n int) {
	b.grow(n>>6 + 1)
	(*b)[n>>6] |= 1 << (n & 63)
}

func (b *bits) grow(words int) {
	for len(*b) < words {
		*b = append(*b, 0)
	}
}

// join adds every member of other.
func (b *bits) join(other bits) {
	b.grow(len(other))
	for i, w := range other {
		(*b)[i] |= w
	}
}

// lastShared is the highest number in both sets, 0 if there is none.
func lastShared(a, b bits) int {
	for i := min(len(a), len(b)) - 1; i >= 0; i-- {
		if w := a[i] & b[i]; w != 0 {
			n := i << 6
			for w > 1 {
				w >>= 1
				n++
			}
			return n
		}
	}
	return 0
}

// each calls f with every member in ascending order.
func (b bits) each(f func(n int)) {
	for i, w := range b {
		for k := 0; w != 0; k++ {
			if w&1 != 0 {
				f(i<<6 + k)
			}
			w >>= 1
		}
	}
}
