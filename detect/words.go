package detect

import (
	"math/bits"
	"slices"
	"strings"
	"unicode"
)

// corpus is the words of all tasks, weighed by how rare they are. All of it is whole numbers: floating point is
// not the same on every computer.
type corpus struct {
	tasks []task
}

// task is one side's words with their weights, by word, and the sum of the squares.
type task struct {
	words  []weighed
	square uint64
}

type weighed struct {
	word   string
	weight uint64
}

// commonWords say nothing about a task.
var commonWords = []string{
	"a", "add", "adds", "all", "also", "an", "and", "are", "as", "at", "be", "by", "change", "chore", "code", "docs", "feat",
	"feature", "file", "files", "fix", "fixes", "for", "from", "if", "implement", "in", "into", "is", "it", "its",
	"make", "merge", "more", "new", "not", "of", "on", "one", "or", "refactor", "remove", "should", "so", "some", "support", "test",
	"tests", "than", "that", "the", "this", "to", "update", "use", "when", "with",
}

func newCorpus(parties []*Party) corpus {
	var c corpus
	seen := map[string]uint64{}
	for _, p := range parties {
		for w := range p.words {
			seen[w]++
		}
	}
	for _, p := range parties {
		var t task
		for w, n := range p.words {
			// A word of every task weighs 16; half as common is 16 more.
			rarity := 16 + log2x16(uint64(len(parties))/seen[w])
			t.words = append(t.words, weighed{w, rarity * (1 + log2x16(n)/16)})
		}
		slices.SortFunc(t.words, func(a, b weighed) int { return strings.Compare(a.word, b.word) })
		for _, w := range t.words {
			t.square += w.weight * w.weight
		}
		c.tasks = append(c.tasks, t)
	}
	return c
}

// similar is the cosine between two tasks, in hundredths. Of a task of fewer than three words nothing
// is known.
func (c corpus) similar(i, j int) int {
	a, b := c.tasks[i], c.tasks[j]
	if len(a.words) < 3 || len(b.words) < 3 {
		return unknownFamily
	}
	var dot uint64
	for x, y := 0, 0; x < len(a.words) && y < len(b.words); {
		switch strings.Compare(a.words[x].word, b.words[y].word) {
		case -1:
			x++
		case 1:
			y++
		default:
			dot += a.words[x].weight * b.words[y].weight
			x, y = x+1, y+1
		}
	}
	return int(min(100, 100*dot/max(1, root(a.square)*root(b.square))))
}

// wordCounts splits a text into words, camelCase and snake_case too, in lower case and without common endings.
func wordCounts(text string) map[string]uint64 {
	counts := map[string]uint64{}
	var word []rune
	flush := func() {
		w := stem(strings.ToLower(string(word)))
		if len(w) > 1 && !slices.Contains(commonWords, w) {
			counts[w]++
		}
		word = word[:0]
	}
	lower := false
	for _, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) || lower && unicode.IsUpper(r) {
			flush()
		}
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			word = append(word, r)
		}
		lower = unicode.IsLower(r)
	}
	flush()
	return counts
}

// stem takes the endings off that the same word has in another sentence.
func stem(w string) string {
	if s, ok := strings.CutSuffix(w, "ies"); ok && len(s) >= 3 {
		return s + "y"
	}
	for _, end := range []string{"ing", "ed", "es", "s"} {
		if s, ok := strings.CutSuffix(w, end); ok && len(s) >= 4 {
			return strings.TrimSuffix(s, "e")
		}
	}
	return strings.TrimSuffix(w, "e")
}

// log2x16 is sixteen times the binary logarithm, rounded down on each half power.
func log2x16(n uint64) uint64 {
	if n == 0 {
		return 0
	}
	whole := uint64(bits.Len64(n)) - 1
	rest := n << 4 >> whole // between 16 and 31
	return 16*whole + rest - 16
}

// root is the integer square root.
func root(n uint64) uint64 {
	if n == 0 {
		return 0
	}
	x := uint64(1) << ((bits.Len64(n) + 1) / 2)
	for {
		y := (x + n/x) / 2
		if y >= x {
			return x
		}
		x = y
	}
}
