package detect

import "slices"

const (
	gram   = 5 // tokens in a shingle
	window = 4 // shingles of which one is kept
	// PrintsMax bounds the fingerprints of one digest: the smallest ones are kept, which is a fair sample.
	PrintsMax = 512
)

// Winnow picks fingerprints from a sequence of token hashes so that any run of eight tokens that two sequences
// share leaves one in both. The result ascends and has no duplicates.
func Winnow(tokens []uint64) (prints []uint64) {
	if len(tokens) < gram {
		return nil
	}
	shingles := make([]uint64, 0, len(tokens)-gram+1)
	for i := range len(tokens) - gram + 1 {
		h := uint64(14695981039346656037)
		for _, t := range tokens[i : i+gram] {
			h = mix(h ^ t)
		}
		shingles = append(shingles, h)
	}
	last := -1
	for i := 0; i == 0 || i+window <= len(shingles); i++ {
		end := min(i+window, len(shingles))
		least := i
		for j := i; j < end; j++ {
			if shingles[j] <= shingles[least] {
				least = j
			}
		}
		if least != last {
			prints = append(prints, shingles[least])
			last = least
		}
	}
	slices.Sort(prints)
	return slices.Compact(prints)
}

// Prints joins fingerprints of several files, and keeps at most [PrintsMax].
func Prints(prints []uint64) []uint64 {
	slices.Sort(prints)
	prints = slices.Compact(prints)
	return prints[:min(len(prints), PrintsMax)]
}

// NewPrints is the fingerprints that only the newer version has.
func NewPrints(before, after []uint64) (added []uint64) {
	for _, p := range after {
		if _, old := slices.BinarySearch(before, p); !old {
			added = append(added, p)
		}
	}
	return added
}

// mix spreads the bits of a hash.
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
