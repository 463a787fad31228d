package detect

import "strings"

// endings are taken off a word, at most two of them, as long as so many letters are left.
var endings = []struct {
	end, instead string
	least        int
}{
	{"ies", "y", 3},
	{"ied", "y", 2},
	{"ization", "iz", 3},
	{"isation", "iz", 3},
	{"ations", "", 4},
	{"ation", "", 4},
	{"ating", "", 4},
	{"ated", "", 4},
	{"ates", "", 4},
	{"ate", "", 5},
	{"ise", "iz", 4},
	{"izing", "iz", 3},
	{"ising", "iz", 3},
	{"ments", "", 4},
	{"ment", "", 4},
	{"ness", "", 4},
	{"ables", "", 4},
	{"able", "", 4},
	{"ible", "", 4},
	{"ings", "", 4},
	{"ing", "", 3},
	{"ers", "", 5},
	{"er", "", 5},
	{"ed", "", 3},
	{"es", "", 4},
	{"ss", "ss", 1},
	{"us", "us", 1},
	{"is", "is", 1},
	{"s", "", 3},
	{"ly", "", 5},
	{"ily", "y", 4},
}

// stem takes the endings off that the same word has in another sentence, and says it as its synonyms do.
func stem(w string) string {
	w = stemOf(w)
	if same, ok := synonyms[w]; ok {
		return same
	}
	return w
}

func stemOf(w string) string {
	for range 2 {
		shorter := w
		for _, e := range endings {
			if s, ok := strings.CutSuffix(w, e.end); ok && len(s) >= e.least {
				if shorter = s + e.instead; e.instead == "" {
					shorter = undouble(s)
				}
				break
			}
		}
		if shorter == w {
			break
		}
		w = shorter
	}
	if s := strings.TrimSuffix(w, "e"); len(s) >= 2 {
		w = s
	}
	return w
}

// undouble takes back the consonant that an ending doubled: "dropp" of "dropped".
func undouble(w string) string {
	n := len(w)
	if n >= 4 && w[n-1] == w[n-2] && strings.IndexByte("bdgmnprt", w[n-1]) >= 0 {
		return w[:n-1]
	}
	return w
}

// synonymGroups are words and abbreviations of programs that say much the same of a task.
const synonymGroups = `
delete remove erase purge drop destroy
fetch load read get retrieve download pull
save store persist write
send deliver notify dispatch emit publish
show display render draw print
mail email
picture image photo
page paginate pagination paging
crash panic abort
error err failure fail exception throw raise fault
reject refuse deny disallow forbid prevent block
check validate verify validation verification assert ensure
invalid malformed broken bad incorrect wrong
cache memoize keep
limit throttle cap restrict bound
login signin logon auth authenticate authentication oauth
slow speed fast faster performance perf optimize quick
parallel concurrent concurrently simultaneous
config configuration configure settings preference
environment env
variable var
message msg
request req
response resp res
context ctx
parameter param arg argument option
function func
database db
directory dir folder
temporary temp tmp
maximum max
minimum min
number num count
button btn
document doc
chart graph plot diagram
chunk batch
retry again reattempt
duplicate dup twice repeat dedup
cycle circular loop
translate translation i18n locale localization language
color colour
silence mute snooze quiet
idle inactive unused stale
create make build generate new
copy clone
start begin launch startup boot
stop halt end finish quit
timeout deadline expire expiry ttl
leading prefix
trailing suffix tail
empty blank missing
null nil none undefined
hash checksum digest sha256 sha
encode escape encoding
decode unescape decoding
compress gzip deflate
lazy lazily demand
convert transform
websocket socket ws
excel xlsx spreadsheet
spell typo misspell
`

// synonyms are the stems of a group's words, each with the first of them.
var synonyms = readSynonyms()

func readSynonyms() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(synonymGroups) {
		first := ""
		for w := range strings.FieldsSeq(line) {
			s := stemOf(w)
			if first == "" {
				first = s
			}
			all[s] = first
		}
	}
	return all
}
