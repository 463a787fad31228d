package code

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/detect"
)

// labelled is one file of apidiff's own tests: two states of a package, and what is incompatible and compatible.
type labelled struct {
	old, now, breaks, fine []byte
}

// split reads a file of apidiff's tests by the rules of its README.
func split(content []byte) (l labelled) {
	both := func(line string) { l.old, l.now = append(l.old, line...), append(l.now, line...) }
	write := both
	lines := bufio.NewScanner(bytes.NewReader(content))
	for lines.Scan() {
		line := lines.Text() + "\n"
		switch text := strings.TrimSpace(line); {
		case text == "// old":
			write = func(line string) { l.old = append(l.old, line...) }
		case text == "// new":
			write = func(line string) { l.now = append(l.now, line...) }
		case text == "// both":
			write = both
		case strings.HasPrefix(text, "// i "):
			l.breaks = append(l.breaks, text[5:]+"\n"...)
		case strings.HasPrefix(text, "// c "):
			l.fine = append(l.fine, text[5:]+"\n"...)
		default:
			write(line)
		}
	}
	return l
}

// labels are the names that messages are about: "(*R).P: removed" is about R.P.
func labels(messages []byte) (names []string) {
	for line := range strings.Lines(string(messages)) {
		name, _, _ := strings.Cut(line, ":")
		name = strings.NewReplacer("(*", "", "(", "", ")", "").Replace(strings.TrimSpace(name))
		name, _, _ = strings.Cut(name, ",")
		name, _, _ = strings.Cut(strings.ReplaceAll(name, "[R]", ""), "[")
		names = append(names, name)
	}
	return names
}

// judged are the verdicts on the names of a package, and which of them others can use.
func judged(t *testing.T, l labelled) (verdicts map[string]detect.Verdict, exported map[string]bool) {
	t.Helper()
	d := compare(t, Project{}, map[string]string{"p/a.go": string(l.old)}, map[string]string{"p/a.go": string(l.now)})
	verdicts, exported = map[string]detect.Verdict{}, map[string]bool{}
	for _, c := range d.Symbols {
		name := nameOf(c.Symbol.ID)
		if c.From != "" {
			name = nameOf(c.From)
		}
		if _, twice := verdicts[name]; (!twice || c.Verdict == detect.Breaking) && c.Change != detect.Body {
			verdicts[name], exported[name] = c.Verdict, c.Symbol.Exported
		}
	}
	return verdicts, exported
}

// wholeProgram are the labelled breaks that declarations by themselves do not show, with what one would have to
// know.
var wholeProgram = map[string]string{
	"aliases.go t1":                 "that the alias A shows the type t1 to others; the change of A itself is seen, and cannot be told",
	"basics.go u4.M":                "that the unexported u4 is shown by a variable whose type is another one now",
	"method_sets.go SM.A":           "fields of an embedded type belong to what embeds it; the change of Embedm.A is told",
	"method_sets.go RepeatEmbedm.A": "as SM.A",
	"splitting.go Vj":               "that two unexported types are shown, and were one; the change of j is told",
	"structs.go S3.E":               "as SM.A",
	"types.go A3":                   "the value of the constant in an array's length; the change of the constant is told",
	"types.go t3.M":                 "that the unexported t3 has methods that a variable showed; the change of the variable cannot be told",
	"whole.go WS1":                  "which types implement an interface by methods that are not exported",
	"whole.go WS2":                  "as WS1",
}

func TestAgreesWithApidiff(t *testing.T) { // C4
	var agree, open, missed int
	for _, file := range apidiffFiles(t) {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		l := split(content)
		if New(Project{}).Read("a.go", l.old).Quality != detect.Clean {
			t.Logf("%s is in a later version of the language", filepath.Base(file))
			continue
		}
		verdicts, exported := judged(t, l)
		wanted := labels(l.breaks)
		for _, name := range wanted {
			key := filepath.Base(file) + " " + name
			switch v, ok := verdicts[name]; {
			case ok && v == detect.Breaking:
				agree++
			case ok && v == detect.CannotTell:
				open++
				t.Logf("cannot tell: %s", key)
			case wholeProgram[key] != "":
				missed++
				t.Logf("missed: %s, needs %s", key, wholeProgram[key])
			default:
				t.Errorf("missed: %s", key)
			}
		}
		for name, v := range sorted(verdicts) {
			outer, _, _ := strings.Cut(name, ".")
			if v == detect.Breaking && exported[name] && !slices.Contains(wanted, name) && !slices.Contains(wanted, outer) {
				t.Errorf("%s: %s is said to break by us alone", filepath.Base(file), name)
			}
		}
	}
	t.Logf("%d breaks agreed, %d cannot tell, %d need the whole program", agree, open, missed)
	if agree < 80 {
		t.Error("fewer breaks are found than were")
	}
}

// apidiffFiles are the labelled files in the module cache, if there are any.
func apidiffFiles(t *testing.T) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Skip("no go command")
	}
	found, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "golang.org/x/exp@*/apidiff/testdata"))
	if err != nil || len(found) == 0 {
		t.Skip("golang.org/x/exp is not in the module cache")
	}
	files, err := filepath.Glob(filepath.Join(found[len(found)-1], "*.go"))
	if err != nil || len(files) == 0 {
		t.Skip("apidiff's tests are not in the module cache")
	}
	fmt.Fprintln(t.Output(), found[len(found)-1])
	return files
}
