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
		names = append(names, name)
	}
	return names
}

// judged are the verdicts on the names of a package. What a member is for its type is so for the type.
func judged(t *testing.T, l labelled) map[string]detect.Verdict {
	t.Helper()
	d := compare(t, Project{}, map[string]string{"p/a.go": string(l.old)}, map[string]string{"p/a.go": string(l.now)})
	verdicts := map[string]detect.Verdict{}
	for _, c := range d.Symbols {
		name := nameOf(c.Symbol.ID)
		if c.From != "" {
			name = nameOf(c.From)
		}
		verdicts[name] = c.Verdict
		if c.Change == detect.Body || !c.Symbol.Exported && c.Change == detect.Removed {
			delete(verdicts, name)
		}
	}
	return verdicts
}

func TestAgreesWithApidiff(t *testing.T) { // C4
	files := apidiffFiles(t)
	var agree, open int
	var missed, alone []string
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		l := split(content)
		verdicts := judged(t, l)
		wanted := labels(l.breaks)
		for _, name := range wanted {
			key := filepath.Base(file) + " " + name
			switch v, ok := verdicts[name]; {
			case ok && v == detect.Breaking:
				agree++
			case ok && v == detect.CannotTell:
				open++
				t.Logf("cannot tell: %s", key)
			default:
				missed = append(missed, key)
			}
		}
		for name, v := range sorted(verdicts) {
			outer, _, _ := strings.Cut(name, ".")
			if v == detect.Breaking && !slices.Contains(wanted, name) && !slices.Contains(wanted, outer) {
				alone = append(alone, filepath.Base(file)+" "+name)
			}
		}
	}
	t.Logf("%d breaks agreed, %d cannot tell, %d missed, %d said by us alone", agree, open, len(missed), len(alone))
	for _, m := range missed {
		t.Logf("missed: %s", m)
	}
	for _, m := range alone {
		t.Logf("alone: %s", m)
	}
	if agree < 60 {
		t.Errorf("only %d of apidiff's breaks are found", agree)
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
