package mesh

import (
	_ "embed"
	"strings"
)

//go:embed words.txt
var wordText string

// wordList is the 2,048 words by which two persons compare two screens. Its order is part of the format.
var wordList = strings.Fields(wordText)

func wordsOf(bits [4]uint16) [4]string {
	var out [4]string
	for i, b := range bits {
		out[i] = wordList[b]
	}
	return out
}
