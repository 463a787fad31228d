package code

import (
	"os"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/detect"
)

// TestAgreesWithGriffe holds the rules for Python against the cases of griffe's own test_diff.py, whose path
// PARLEY_GRIFFE names.
func TestAgreesWithGriffe(t *testing.T) { // C4
	path := os.Getenv("PARLEY_GRIFFE")
	if path == "" {
		t.Skip("PARLEY_GRIFFE does not name griffe's tests/test_diff.py")
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	parsed, why := parse(dialectPy, content)
	if parsed == nil {
		t.Fatal(why)
	}
	s := newScan(New(Project{}), parsed, dialectPy, detect.Unit{})
	agree, values := 0, 0
	for c := range s.within(0) {
		if !s.is(c, "tuple") || !s.is(s.item(c, 0), "string") || !s.is(s.item(c, 2), "list") {
			continue
		}
		unescape := strings.NewReplacer(`\n`, "\n", `\t`, "\t")
		old, now := unescape.Replace(s.pythonString(s.item(c, 0))), unescape.Replace(s.pythonString(s.item(c, 1)))
		wanted := s.plain(s.item(c, 2))
		d := compare(t, Project{}, map[string]string{"a.py": old}, map[string]string{"a.py": now})
		breaks := false
		for _, change := range d.Symbols {
			breaks = breaks || change.Verdict == detect.Breaking && change.Symbol.Exported
		}
		switch {
		case strings.Contains(wanted, "CHANGED_VALUE"), strings.Contains(wanted, "CHANGED_DEFAULT"):
			values++ // another value breaks nobody by itself; it is told as a change of the body
		case strings.Contains(old, "->"):
			values++ // griffe does not look at results yet
		case breaks != (wanted != "[]"):
			t.Errorf("%q => %q: breaks %t, griffe says %s", old, now, breaks, wanted)
		default:
			agree++
		}
	}
	t.Logf("%d cases agreed, %d are about values and results", agree, values)
	if agree == 0 {
		t.Error("no case was found")
	}
}
