package detect

import (
	"math/bits"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// corpus is the words of all work, weighed by how rare they are. All of it is whole numbers: floating point is
// not the same on every computer.
type corpus struct {
	tasks []task // the words of the tasks
	about []task // with those of what is added
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

// taskMin is how many words a task has of which anything is known.
const taskMin = 3

var (
	// chore is a line about work on the work, which says nothing where another line does.
	chore = regexp.MustCompile(`^(?:build|chore|ci|docs|style|tests?)(?:\(.*\))?!?:`)
	// hollow is a line that a program wrote.
	hollow = regexp.MustCompile(`^Merged? |^(?:Update|Create|Delete|Rename) \S+$|^ci: apply automated fixes$`)
)

// commonWords say nothing about a task.
var commonWords = wordSet(`a about add adds after all allow allows also always an and any are as at back be because been before being both
	but by can cannot change changes chore code could did do docs does done each either enable feat feature few file files fix fixed fixes for from
	gets had has have having he her here him his how i if implement improve in instead into is it its just let lets like make makes
	may me merge might more most much must my need needed needs never new no nobody nor not now of off on once one only or other others
	our out over own per please pr pull properly refactor same she should since so some still such support supports test tests than that the
	their them then there these they this those through to too under until up update updates us use used uses using via wants was way we were
	what when where whether which while who whom whose why will with within without would you your`)

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(text) {
		set[w] = true
	}
	return set
}

func newCorpus(parties []*Party) corpus {
	return corpus{weigh(parties, func(p *Party) map[string]uint64 { return p.words }), weigh(parties, func(p *Party) map[string]uint64 { return p.about })}
}

// like says how alike the work of two parties is in words, in hundredths: of their tasks, and with what they add and without some
// names.
func (c corpus) like(i, j int) func(names []string) (all, rest int) {
	return func(names []string) (all, rest int) {
		all, rest = similar(c.tasks[i], c.tasks[j]), unknownFamily
		if min(len(c.about[i].words), len(c.about[j].words)) >= taskMin {
			rest = cosine(c.about[i].without(names), c.about[j].without(names))
		}
		return all, rest
	}
}

func weigh(parties []*Party, of func(*Party) map[string]uint64) (tasks []task) {
	seen := map[string]uint64{}
	for _, p := range parties {
		for w := range of(p) {
			seen[w]++
		}
	}
	for _, p := range parties {
		var t task
		for w, n := range of(p) {
			// A word of every task weighs 16; half as common is 16 more.
			rarity := 16 + log2x16(uint64(len(parties))/seen[w])
			t.words = append(t.words, weighed{w, rarity * (1 + log2x16(n)/16)})
		}
		slices.SortFunc(t.words, func(a, b weighed) int { return strings.Compare(a.word, b.word) })
		for _, w := range t.words {
			t.square += w.weight * w.weight
		}
		tasks = append(tasks, t)
	}
	return tasks
}

// without is a task but for the words that some names are made of.
func (t task) without(names []string) (rest task) {
	known := map[string]bool{}
	for _, name := range names {
		for w := range wordCounts(name) {
			known[w] = true
		}
	}
	for _, w := range t.words {
		if !known[w.word] {
			rest.words = append(rest.words, w)
			rest.square += w.weight * w.weight
		}
	}
	return rest
}

// similar is the cosine between two tasks, in hundredths. Of a task of fewer than three words nothing
// is known.
func similar(a, b task) int {
	if min(len(a.words), len(b.words)) < taskMin {
		return unknownFamily
	}
	return cosine(a, b)
}

func cosine(a, b task) int {
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

// taskWords counts the words of a task, without the lines of programs, and without those about chores where others are left.
func taskWords(text string) map[string]uint64 {
	var told, kept strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line) + "\n"
		if hollow.MatchString(strings.TrimSuffix(line, "\n")) {
			continue
		}
		told.WriteString(line)
		if !chore.MatchString(line) {
			kept.WriteString(line)
		}
	}
	if counts := wordCounts(kept.String()); len(counts) > 0 {
		return counts
	}
	return wordCounts(told.String())
}

// wordCounts splits a text into words, camelCase and snake_case too, in lower case and without common endings; synonyms count as one.
func wordCounts(text string) map[string]uint64 {
	counts := map[string]uint64{}
	var word []rune
	flush := func() {
		w := strings.ToLower(string(word))
		if len(w) > 1 && !commonWords[w] {
			counts[stem(w)]++
		}
		word = word[:0]
	}
	runes := []rune(text)
	for i, r := range runes {
		known := unicode.IsLetter(r) || unicode.IsDigit(r)
		if !known || i > 0 && beginsWord(runes[i-1], r, runes[i+1:]) {
			flush()
		}
		if known {
			word = append(word, r)
		}
	}
	flush()
	return counts
}

// beginsWord reports whether a rune begins a word of a name: N and P of parseNewPDFPage, and the last P.
func beginsWord(last, r rune, rest []rune) bool {
	return unicode.IsUpper(r) && (unicode.IsLower(last) || unicode.IsUpper(last) && len(rest) > 0 && unicode.IsLower(rest[0]))
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
