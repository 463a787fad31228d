package mesh

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// RecoveryWords is how many words a recovery key is written in: 256 bits and 8 bits to catch a slip.
const RecoveryWords = 24

// ErrRecoveryWords means words that are not those of any recovery key; its text says which is wrong.
var ErrRecoveryWords = errors.New("these are no recovery words")

// SpellRecovery writes the seed of a recovery key in words of words.txt, eleven bits each, the first word
// first: the seed's 256 bits and the first 8 of its SHA-256.
func SpellRecovery(seed [32]byte) [RecoveryWords]string {
	sum := sha256.Sum256(seed[:])
	bits := append(seed[:], sum[0])
	var out [RecoveryWords]string
	for i := range out {
		word := 0
		for b := range 11 {
			at := 11*i + b
			word = word<<1 | int(bits[at/8]>>(7-at%8))&1
		}
		out[i] = wordList[word]
	}
	return out
}

// ReadRecovery is the key of words as a person types them: spaces, case, and the numbers and dots before
// them do not matter. Errors are [ErrRecoveryWords].
func ReadRecovery(text string) (Identity, error) {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r < 'a' || r > 'z' })
	if len(words) != RecoveryWords {
		return Identity{}, fmt.Errorf("%w: %d words, want %d", ErrRecoveryWords, len(words), RecoveryWords)
	}
	var bits [33]byte
	for i, word := range words {
		n, found := slices.BinarySearch(wordList, word)
		if !found {
			return Identity{}, fmt.Errorf("%w: word %d, %q, is not in the list", ErrRecoveryWords, i+1, word)
		}
		for b := range 11 {
			at := 11*i + b
			bits[at/8] |= byte(n>>(10-b)&1) << (7 - at%8)
		}
	}
	seed := [32]byte(bits[:32])
	if sum := sha256.Sum256(seed[:]); sum[0] != bits[32] {
		return Identity{}, fmt.Errorf("%w: each is in the list, but one is another or two are exchanged", ErrRecoveryWords)
	}
	return NewIdentity(seed), nil
}
