package detect

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

func mustGlob(t testing.TB, pattern string) Glob {
	t.Helper()
	g, err := ParseGlob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestAPatternMatchesWhatItSays(t *testing.T) { // C8
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"db/migrations/**", "db/migrations/0042_refunds.sql", true},
		{"db/migrations/**", "db/migrations/a/b.sql", true},
		{"db/migrations/**", "db/migrations", true},
		{"db/migrations/", "db/migrations/x", true},
		{"db/migrations/**", "db/migrations2/x", false},
		{"**/*.lock", "yarn.lock", true},
		{"**/*.lock", "a/b/yarn.lock", true},
		{"*.lock", "a/yarn.lock", false},
		{"src/**/refund.ts", "src/refund.ts", true},
		{"src/**/refund.ts", "src/a/b/refund.ts", true},
		{"src/{billing,api}/*.ts", "src/api/x.ts", true},
		{"src/{billing,api/v1}/*.ts", "src/api/v1/x.ts", true},
		{"src/{billing,api}/*.ts", "src/web/x.ts", false},
		{"app/[id]/page.tsx", "app/[id]/page.tsx", true},
		{"app/[id]/page.tsx", "app/i/page.tsx", true},
		{"app/[id]/page.tsx", "app/x/page.tsx", false},
		{"app/[id]/**", "app/[id]/page.tsx", true},
		{"app/[[...slug]]/page.tsx", "app/[[...slug]]/page.tsx", true},
		{"app/(group)/page.tsx", "app/(group)/page.tsx", true},
		{"app/{slug}/page.tsx", "app/{slug}/page.tsx", true},
		{`app/\[id\]/page.tsx`, "app/[id]/page.tsx", true},
		{`app/\[id\]/page.tsx`, "app/i/page.tsx", false},
		{"a/[!x-z]", "a/w", true},
		{"a/[!x-z]", "a/y", false},
		{"a?c", "aéc", true},
		{"a**c", "abbc", true},
		{"a**c", "ab/c", false},
		{"**", "a/b", true},
		{"*", ".hidden", true},
		{"a/*", "a//b", false},
	} {
		if got := mustGlob(t, c.pattern).Match(c.path); got != c.want {
			t.Errorf("%q matches %q: %t, want %t", c.pattern, c.path, got, c.want)
		}
	}
}

func TestAPatternThatMeansNothingIsRefused(t *testing.T) {
	for _, p := range []string{"", "/src", "a//b", "../x", "a/./b", "a/[x", "a/{b,c", `a\`, "[z-a]", strings.Repeat("{a,b}", 12), strings.Repeat("a", 1025)} {
		if _, err := ParseGlob(p); err == nil {
			t.Errorf("%.20q was taken", p)
		}
	}
}

func TestPathsFoldAsTheParticipantsDisksDo(t *testing.T) {
	g, err := ParseFoldedGlob("Src/Caf\u00e9/[A-C]*.ts")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"src/cafe\u0301/b.ts", "SRC/CAF\u00c9/ax.TS", "src/CAFE\u0301/C.ts"} {
		if !g.Match(Fold(p)) {
			t.Errorf("no match for %q", p)
		}
	}
	if g.Match(Fold("src/cafe/b.ts")) {
		t.Error("an accent was lost")
	}
}

func TestOverlapsOfPatterns(t *testing.T) { // C2
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"src/**", "**/*.ts", true},
		{"src/*.ts", "src/*.go", false},
		{"src/a*", "src/*b", true},
		{"a/**/c", "a/b/**", true},
		{"a/*/c", "a/b", false},
		{"app/[id]/page.tsx", "app/*/page.tsx", true},
		{"app/[id]/page.tsx", "app/[[]id]/page.tsx", true},
		{"app/[ab]", "app/[!ab]", false},
		{"{a,b}/x", "{c,b}/x", true},
		{"**/test/**", "src/*", true},
		{"**/test/**", "src", false},
	} {
		if got := Overlaps(mustGlob(t, c.a), mustGlob(t, c.b)); got != c.want {
			t.Errorf("%q and %q overlap: %t, want %t", c.a, c.b, got, c.want)
		}
	}
}

// somePatterns draws from few runes, so that overlaps are likely and paths can be tried one by one.
func somePatterns() *rapid.Generator[string] {
	piece := rapid.SampledFrom([]string{"a", "b", "A", "*", "?", "[ab]", "[!a]", "[a-b]", "[!A]"})
	part := rapid.OneOf(
		rapid.Just("**"),
		rapid.Map(rapid.SliceOfN(piece, 1, 3), func(p []string) string { return strings.Join(p, "") }),
		rapid.Map(rapid.SliceOfN(piece, 2, 2), func(p []string) string { return "{" + strings.Join(p, ",") + "}" }),
		rapid.Just("[a]"),
	)
	return rapid.Map(rapid.SliceOfN(part, 1, 3), func(p []string) string { return strings.Join(p, "/") })
}

// allPaths is every path of up to three segments of up to two runes, and longer words where patterns spell
// themselves.
var allPaths = func() (paths []string) {
	parts := []string{"[ab]", "[a]", "[!a]", "[a-b]"}
	for _, x := range "abA" {
		parts = append(parts, string(x))
		for _, y := range "abA" {
			parts = append(parts, string(x)+string(y))
		}
	}
	for _, p := range parts {
		paths = append(paths, p)
		for _, q := range parts {
			paths = append(paths, p+"/"+q)
			for _, r := range parts {
				paths = append(paths, p+"/"+q+"/"+r)
			}
		}
	}
	return paths
}()

// naive decides by trying everything, straight from the meaning of the patterns.
func naive(pattern, path string) bool {
	if pattern == path {
		return true
	}
	if i := strings.IndexByte(pattern, '{'); i >= 0 {
		j := i + strings.IndexByte(pattern[i:], '}')
		return slices.ContainsFunc(strings.Split(pattern[i+1:j], ","), func(c string) bool {
			return naive(pattern[:i]+c+pattern[j+1:], path)
		})
	}
	return naiveParts(strings.Split(pattern, "/"), strings.Split(path, "/"))
}

func naiveParts(pattern, path []string) bool {
	switch {
	case len(pattern) == 0:
		return len(path) == 0
	case pattern[0] == "**":
		return naiveParts(pattern[1:], path) || len(path) > 0 && naiveParts(pattern, path[1:])
	}
	return len(path) > 0 && (pattern[0] == path[0] || naiveRunes(pattern[0], path[0])) && naiveParts(pattern[1:], path[1:])
}

func naiveRunes(p, s string) bool {
	switch {
	case p == "":
		return s == ""
	case p[0] == '*':
		return naiveRunes(p[1:], s) || s != "" && naiveRunes(p, s[1:])
	case s == "":
		return false
	case p[0] == '?':
		return naiveRunes(p[1:], s[1:])
	case p[0] == '[':
		end := strings.IndexByte(p, ']')
		set, not := strings.CutPrefix(p[1:end], "!")
		if set == "a-b" {
			set = "ab"
		}
		return strings.Contains(set, s[:1]) != not && naiveRunes(p[end+1:], s[1:])
	}
	return p[0] == s[0] && naiveRunes(p[1:], s[1:])
}

func TestMatchingIsWhatTryingEverythingFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := somePatterns().Draw(t, "pattern")
		g, err := ParseGlob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for range 50 {
			path := rapid.SampledFrom(allPaths).Draw(t, "path")
			if got, want := g.Match(path), naive(pattern, path); got != want {
				t.Fatalf("%q matches %q: %t, want %t", pattern, path, got, want)
			}
		}
	})
}

func TestNoOverlapIsEverMissed(t *testing.T) { // C2: the answer no is a proof
	rapid.Check(t, func(t *rapid.T) {
		a, b := somePatterns().Draw(t, "a"), somePatterns().Draw(t, "b")
		ga, errA := ParseGlob(a)
		gb, errB := ParseGlob(b)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		got := Overlaps(ga, gb)
		if got != Overlaps(gb, ga) {
			t.Fatalf("%q and %q overlap one way only", a, b)
		}
		both := func(p string) bool { return naive(a, p) && naive(b, p) }
		if i := slices.IndexFunc(allPaths, both); i >= 0 && !got {
			t.Fatalf("%q and %q both match %q", a, b, allPaths[i])
		}
	})
}

// Without classes of runes outside the alphabet a short path shows every overlap, so that yes is proved too.
func TestOverlapsAreExact(t *testing.T) {
	piece := rapid.SampledFrom([]string{"a", "b", "*", "?", "[ab]"})
	part := rapid.OneOf(rapid.Just("**"), rapid.Map(rapid.SliceOfN(piece, 1, 2), func(p []string) string { return strings.Join(p, "") }))
	patterns := rapid.Map(rapid.SliceOfN(part, 1, 2), func(p []string) string { return strings.Join(p, "/") })
	rapid.Check(t, func(t *rapid.T) {
		a, b := patterns.Draw(t, "a"), patterns.Draw(t, "b")
		ga, _ := ParseGlob(a)
		gb, _ := ParseGlob(b)
		shown := slices.ContainsFunc(allPaths, func(p string) bool { return naive(a, p) && naive(b, p) })
		if got := Overlaps(ga, gb); got != shown {
			t.Fatalf("%q and %q overlap: %t, want %t", a, b, got, shown)
		}
	})
}

func TestFoldingMissesNothing(t *testing.T) {
	forms := func(p string) []string { return []string{p, strings.ToUpper(p), strings.ToLower(p), swapCase(p)} }
	rapid.Check(t, func(t *rapid.T) {
		pattern := somePatterns().Draw(t, "pattern")
		g, err := ParseFoldedGlob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		path := rapid.SampledFrom(allPaths).Draw(t, "path")
		for _, form := range forms(path) {
			if naive(pattern, form) && !g.Match(Fold(path)) {
				t.Fatalf("%q matches %q and not the folded %q", pattern, form, Fold(path))
			}
		}
	})
}

func swapCase(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, s)
}

func TestWhatIsWithinIsMatched(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := somePatterns().Draw(t, "a"), somePatterns().Draw(t, "b")
		ga, _ := ParseGlob(a)
		gb, _ := ParseGlob(b)
		path := rapid.SampledFrom(allPaths).Draw(t, "path")
		if Within(ga, gb) && gb.Match(path) && !ga.Match(path) {
			t.Fatalf("%q is not within %q: %q", b, a, path)
		}
	})
	if !Within(mustGlob(t, "src/**"), mustGlob(t, "src/billing/*.ts")) {
		t.Error("a narrower pattern was not seen")
	}
}

func FuzzParseGlob(f *testing.F) {
	for _, s := range []string{"a/**/b", "[[...slug]]", "{a,{b,c}}", `\`, "[!]", "[]]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, parse := range []func(string) (Glob, error){ParseGlob, ParseFoldedGlob} {
			g, err := parse(s)
			if err != nil {
				continue
			}
			if !Overlaps(g, g) {
				t.Errorf("%q does not overlap with itself", s)
			}
			_ = fmt.Sprint(g.Match(s), g.Match(Fold(s)))
		}
	})
}

func TestBracesThatStandForNothingEnd(t *testing.T) { // a policy of strangers is read, too
	for _, pattern := range []string{strings.Repeat("{,}", patternMax/3), strings.Repeat("{}", patternMax/2)} {
		if _, err := ParseGlob(pattern); !errors.Is(err, errBraces) {
			t.Errorf("%q: %v", pattern, err)
		}
	}
}
