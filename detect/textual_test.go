package detect

import (
	"slices"
	"strings"
	"testing"
)

func hunk(start, gone, put uint32, hash uint64) Hunk { return Hunk{start, gone, put, hash} }

func TestHunksClashWhereTheyOverlapOrTouch(t *testing.T) { // C16
	for _, c := range []struct {
		name string
		a, b []Hunk
		want string
	}{
		{"apart", []Hunk{hunk(0, 2, 2, 1)}, []Hunk{hunk(3, 1, 1, 2)}, ""},
		{"touching", []Hunk{hunk(0, 2, 2, 1)}, []Hunk{hunk(2, 1, 1, 2)}, "lines 1 to 3"},
		{"overlapping", []Hunk{hunk(4, 3, 3, 1)}, []Hunk{hunk(5, 1, 1, 2)}, "lines 5 to 7"},
		{"the same change", []Hunk{hunk(4, 3, 3, 1)}, []Hunk{hunk(4, 3, 3, 1)}, ""},
		{"the same lines, other text", []Hunk{hunk(4, 1, 1, 1)}, []Hunk{hunk(4, 1, 1, 2)}, "line 5"},
		{"insertions at one place", []Hunk{hunk(7, 0, 1, 1)}, []Hunk{hunk(7, 0, 1, 2)}, "line 8"},
		{"insertions side by side", []Hunk{hunk(7, 0, 1, 1)}, []Hunk{hunk(8, 0, 1, 2)}, ""},
		{"an insertion at the end of a deletion", []Hunk{hunk(5, 2, 0, 1)}, []Hunk{hunk(7, 0, 1, 2)}, "lines 6 to 7"},
		{"the second hunk", []Hunk{hunk(0, 1, 1, 1), hunk(9, 1, 1, 1)}, []Hunk{hunk(4, 1, 1, 2), hunk(9, 1, 2, 2)}, "line 10"},
	} {
		for _, way := range [][2][]Hunk{{c.a, c.b}, {c.b, c.a}} {
			if got := hunksClash(way[0], way[1]); got != c.want {
				t.Errorf("%s: %q, want %q", c.name, got, c.want)
			}
		}
	}
}

func TestFilesClashAsGitSaysTheyDo(t *testing.T) { // C16
	at := func(start uint32, hash uint64) []Hunk { return []Hunk{hunk(start, 1, 1, hash)} }
	text := edited("a", "1", at(3, 1)...)
	renamed := File{Path: "b", From: "a", Op: Rename, BaseBlob: "old", Blob: "old", BaseMode: 0o100644, Mode: 0o100644}
	renamedTo := func(p string) File { f := renamed; f.Path = p; return f }
	binary := func(blob string) File { f := edited("a", blob); f.Binary = true; return f }
	mode := func(m uint32) File { f := edited("a", "old"); f.Mode = m; return f }
	added := func(p, blob string) File { return File{Path: p, Op: Add, Blob: blob, Mode: 0o100644} }
	gone := File{Path: "a", Op: Delete, BaseBlob: "old", BaseMode: 0o100644}
	link := File{Path: "a", Op: Modify, BaseBlob: "old", Blob: "l", BaseMode: 0o100644, Mode: 0o120000}
	for _, c := range []struct {
		name string
		a, b File
		want []string
	}{
		{"other lines", text, edited("a", "2", at(9, 2)...), nil},
		{"one line", text, edited("a", "2", at(3, 2)...), []string{"a"}},
		{"deleted and edited", gone, text, []string{"a"}},
		{"deleted twice", gone, gone, nil},
		{"renamed and edited", renamed, text, nil},
		{"renamed and deleted", renamed, gone, []string{"b"}},
		{"renamed to two names", renamed, renamedTo("c"), []string{"b"}},
		{"renamed to one name", renamed, renamed, nil},
		{"both add", added("n", "1"), added("n", "2"), []string{"n"}},
		{"both add the same", added("n", "1"), added("n", "1"), nil},
		{"renamed onto an addition", renamed, added("b", "2"), []string{"b"}},
		{"binary on both sides", binary("1"), binary("2"), []string{"a"}},
		{"binary on one side", binary("1"), mode(0o100755), nil},
		{"two modes", mode(0o100755), mode(0o100600), []string{"a"}},
		{"one mode, one text", mode(0o100755), text, nil},
		{"a link and a text", link, text, []string{"a"}},
		{"a file and a directory", added("d", "1"), added("d/x", "2"), []string{"d"}},
	} {
		for _, way := range [][2]File{{c.a, c.b}, {c.b, c.a}} {
			got := Textual([]File{way[0]}, []File{way[1]})
			if len(got) != len(c.want) || len(got) > 0 && !slices.Contains([]string{way[0].Path, way[1].Path}, got[0]) {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
			}
		}
	}
}

// textual is two sides with one file changed on the same line.
func textual() (a, b *Digest) {
	a, b = jordan(), maya()
	a.Files = []File{edited(refundTS, "1", hunk(9, 2, 2, 1))}
	b.Files = []File{edited(refundTS, "2", hunk(10, 1, 1, 2))}
	return a, b
}

// met is what one pair finds, with what is known beyond the digests.
func met(t *testing.T, a, b *Digest, with Meeting) Report {
	t.Helper()
	a.Normalize()
	b.Normalize()
	r := mustRules(t, DefaultPolicy())
	return Meet(r.Party(a), r.Party(b), with)
}

func TestWhatGitSaysCountsMoreThanWhatLinesSuggest(t *testing.T) { // C16
	a, b := textual()
	f := the(t, met(t, a, b, Meeting{Base: "b1"}), TextualMerge)
	is(t, f, Warn, 90, Inferred, "")
	if !strings.HasSuffix(f.Sentence, "src/billing/refund.ts (lines 10 to 11).") {
		t.Error(f.Sentence)
	}
	none(t, met(t, a, b, Meeting{Base: "b1", Git: &Merge{Outcome: Merges}}), TextualMerge)
	says := &Merge{Outcome: Conflicts, Conflicts: []GitConflict{{"x.ts", "contents"}}}
	f = the(t, met(t, a, b, Meeting{Base: "b1", Git: says}), TextualMerge)
	is(t, f, Warn, 100, Observed, "")
	if !strings.HasSuffix(f.Sentence, "1 file(s) conflict: x.ts (contents).") {
		t.Error(f.Sentence)
	}
	r := met(t, a, b, Meeting{Base: "b1", Git: &Merge{Why: "an object is missing"}})
	the(t, r, TextualMerge)
	if len(r.Doubts) != 1 || r.Doubts[0].Why != "an object is missing" {
		t.Errorf("%+v", r.Doubts)
	}
}

func TestChangesSinceDifferentCommitsAreNotCompared(t *testing.T) {
	a, b := textual()
	b.Base = "b2"
	r := met(t, a, b, Meeting{})
	none(t, r, TextualMerge)
	if len(r.Doubts) != 1 || r.Doubts[0].Kind != TextualMerge {
		t.Errorf("%+v", r.Doubts)
	}
	the(t, met(t, a, b, Meeting{Base: "b0", FilesA: a.Files, FilesB: b.Files}), TextualMerge)
	// The files go with their sides when the pair is given the other way round.
	f := the(t, met(t, b, a, Meeting{Base: "b0", FilesA: b.Files, FilesB: a.Files}), TextualMerge)
	if f.From[0] != (Source{"INT-12", "b1", refundTS, "old", "1"}) {
		t.Errorf("%+v", f.From)
	}
}

func TestLockFilesAreMadeAgainNotMerged(t *testing.T) {
	a, b := textual()
	for _, d := range []*Digest{a, b} {
		d.Files[0].Path, d.Files[0].Made = "pnpm-lock.yaml", LockFile
	}
	f := the(t, met(t, a, b, Meeting{Base: "b1"}), TextualMerge)
	if f.Severity != Info || !f.Regenerate || !strings.Contains(f.Suggestion, "regenerate pnpm-lock.yaml") {
		t.Errorf("%+v", f)
	}
}

func TestACleanMergeThatDoublesOrLosesIsFound(t *testing.T) { // C16
	a, b := textual()
	merge := &Merge{Outcome: Merges, Declared: []Declarations{{
		Path: refundTS, Base: []string{"f", "g"}, A: []string{"f", "g", "key"}, B: []string{"f", "g", "key"}, Whole: []string{"f", "key", "key~2"},
	}}}
	r := met(t, a, b, Meeting{Base: "b1", Git: merge})
	var said []string
	for _, f := range r.Findings {
		if f.Kind == TextualMerge {
			said = append(said, f.Sentence[strings.Index(f.Sentence, "the result"):])
			is(t, f, Warn, 100, Observed, "")
		}
	}
	if !slices.Equal(said, []string{"the result loses 1 symbol(s): g.", "the result doubles 1 symbol(s): key."}) {
		t.Errorf("%q", said)
	}
	merge.Declared[0] = Declarations{Path: refundTS, Base: []string{"f"}, A: []string{"f"}, B: nil, Whole: nil}
	none(t, met(t, a, b, Meeting{Base: "b1", Git: merge}), TextualMerge)
}

func TestAnEditThatLandsInARenamedFileIsSaid(t *testing.T) { // C16
	a, b := jordan(), maya()
	a.Files = []File{{Path: "new.ts", From: "old.ts", Op: Rename, BaseBlob: "old", Blob: "old", BaseMode: 0o100644, Mode: 0o100644}}
	b.Files = []File{edited("old.ts", "2", hunk(1, 1, 1, 1))}
	f := the(t, met(t, a, b, Meeting{Base: "b1", Git: &Merge{Outcome: Merges}}), TextualMerge)
	is(t, f, Info, 80, Inferred, "")
	if !strings.Contains(f.Sentence, "renames old.ts to new.ts; what INT-14") {
		t.Error(f.Sentence)
	}
}
