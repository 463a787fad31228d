package detect

import (
	"testing"

	"pgregory.net/rapid"
)

func TestWhatIsApartByItsBeginningNeverMatches(t *testing.T) { // C2
	parts := rapid.SampledFrom([]string{"a", "A", "b", "ab", "é", "e\u0301", "*", "**", "?", "a*", "[ab]", "{a,b}", "{a/b,c}", `\*`, "a?"})
	names := rapid.SampledFrom([]string{"a", "A", "b", "ab", "é", "e\u0301", "c", "*", "[ab]", "{a,b}"})
	join := func(list []string) (s string) {
		for i, p := range list {
			if i > 0 {
				s += "/"
			}
			s += p
		}
		return s
	}
	rapid.Check(t, func(t *rapid.T) {
		one, err := newPattern(join(rapid.SliceOfN(parts, 1, 4).Draw(t, "one")) + rapid.SampledFrom([]string{"", "/"}).Draw(t, "slash"))
		other, fault := newPattern(join(rapid.SliceOfN(parts, 1, 4).Draw(t, "other")))
		if err != nil || fault != nil {
			t.Skip("no patterns")
		}
		path := join(rapid.SliceOfN(names, 1, 4).Draw(t, "path"))
		if one.plain.Match(path) && apart(one.plainHead, path) || one.folded.Match(Fold(path)) && apart(one.foldedHead, Fold(path)) {
			t.Fatalf("%s matches %s, and is taken for apart", one.plain, path)
		}
		if Overlaps(one.plain, other.plain) && apart(one.plainHead, other.plainHead) || Overlaps(one.folded, other.folded) && apart(one.foldedHead, other.foldedHead) {
			t.Fatalf("%s and %s overlap, and are taken for apart", one.plain, other.plain)
		}
	})
}
