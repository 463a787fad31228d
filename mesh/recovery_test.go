package mesh

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestRecoveryWordsAreReadAsTheyWereWritten(t *testing.T) { // case 52
	if !slices.IsSorted(wordList) || len(wordList) != 2048 {
		t.Fatal("the list is out of order, or not of 2,048 words")
	}
	for n := range 200 {
		seed := [32]byte{byte(n), 31: byte(n * 7), 16: byte(n * 3)}
		words := SpellRecovery(seed)
		id, err := ReadRecovery("1. " + strings.ToUpper(strings.Join(words[:], "\n 2.  ")) + " ")
		if err != nil || id.Device() != NewIdentity(seed).Device() {
			t.Fatalf("%v: %v", words, err)
		}
	}
}

func TestTheFirstRecoveryWordsAreAlwaysTheSame(t *testing.T) {
	words := SpellRecovery([32]byte{0x00, 0x3f, 0xff})
	if got := strings.Join(words[:3], " "); got != wordList[1]+" "+wordList[2047]+" "+wordList[1536] {
		t.Errorf("the bits are read in another order: %s", got)
	}
}

func TestASlipInRecoveryWordsIsFound(t *testing.T) { // case 52
	words := SpellRecovery([32]byte{1, 2, 3})
	for name, change := range map[string]func(w []string) []string{
		"one missing":    func(w []string) []string { return w[:23] },
		"one more":       func(w []string) []string { return append(w, w[0]) },
		"no word":        func(w []string) []string { w[3] = "xyzzy"; return w },
		"two exchanged":  func(w []string) []string { w[0], w[23] = w[23], w[0]; return w },
		"another's word": func(w []string) []string { w[5] = wordList[77]; return w },
	} {
		if _, err := ReadRecovery(strings.Join(change(slices.Clone(words[:])), " ")); !errors.Is(err, ErrRecoveryWords) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
