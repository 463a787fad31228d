package repo

import (
	"maps"
	"testing"
)

func TestAliasesAreReadAsPeopleWriteThem(t *testing.T) { // C4
	l := &Layout{Aliases: map[string]string{}}
	l.aliases([]byte("{ // \"ours\"\n \"compilerOptions\": { /* b, */ \"baseUrl\": \"web\", \"paths\": { \"@//x/*\": [\"src/*\",\n], }, }, }"))
	if want := map[string]string{"@//x/": "web/src/"}; !maps.Equal(l.Aliases, want) {
		t.Errorf("%v, want %v", l.Aliases, want)
	}
}

func FuzzPlainJSON(f *testing.F) {
	f.Add([]byte("{ \"a\": [1, /* x */], // y\n }"))
	f.Fuzz(func(t *testing.T, content []byte) {
		if out := plainJSON(content); len(out) > len(content) {
			t.Fatal("it grew")
		}
	})
}
