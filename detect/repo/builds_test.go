//go:build cgo

package repo

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/detect"
)

var buildPairs = flag.Int("clashes", 220, "how many scripted pairs are built of -repo")

// verdict is what is known of a pair: whether git's merged tree builds, and what was found.
type verdict struct {
	clash
	broken bool
	found  detect.Severity // the loudest, 0 for none
	kinds  []string
}

// commitClashes writes both sides of every pair as branches a0, b0, a1, ... of main. A file without content is removed.
func (s *shop) commitClashes(all []clash) {
	s.Helper()
	var in strings.Builder
	base := s.git("rev-parse", "main")
	for i, c := range all {
		for side, files := range map[string]map[string]string{"a": c.a, "b": c.b} {
			fmt.Fprintf(&in, "commit refs/heads/%s%d\ncommitter Ann <ann@acme.com> %d +0000\ndata 4\nwork\nfrom %s\n", side, i, 1_700_000_000+i, base)
			for _, p := range slices.Sorted(maps.Keys(files)) {
				if files[p] == "" {
					fmt.Fprintf(&in, "D %s\n", p)
					continue
				}
				fmt.Fprintf(&in, "M 100644 inline %s\ndata %d\n%s\n", p, len(files[p]), files[p])
			}
		}
	}
	s.importHistory(in.String())
}

// export writes a tree into a folder; what is there already and the same stays.
func (s *shop) export(tree, dir string) {
	s.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		s.Fatal(err)
	}
	c := exec.CommandContext(s.Context(), "git", "--work-tree="+dir, "read-tree", "-u", "--reset", tree)
	c.Dir = s.dir
	c.Env = append(os.Environ(), "GIT_INDEX_FILE="+filepath.Join(s.dir, ".git", "index-"+filepath.Base(dir)))
	if out, err := c.CombinedOutput(); err != nil {
		s.Fatalf("git read-tree: %v\n%s", err, out)
	}
}

// judgeClashes says of each pair what is found, and the tree that git merges it to: "" where it conflicts as text.
func (s *shop) judgeClashes(all []clash) (verdicts []verdict, trees []string) {
	s.Helper()
	r := s.open()
	var names []string
	for i := range all {
		names = append(names, fmt.Sprint("a", i), fmt.Sprint("b", i))
	}
	rules, err := detect.NewRules(detect.DefaultPolicy())
	if err != nil {
		s.Fatal(err)
	}
	parties := map[string]*detect.Party{}
	var pairs [][2]string
	for _, d := range r.readSides(s, names) {
		parties[d.Side.Ref] = rules.Party(d)
	}
	for i := range all {
		a, b := parties[fmt.Sprint("a", i)], parties[fmt.Sprint("b", i)]
		pairs = append(pairs, [2]string{a.Head, b.Head})
		v := verdict{clash: all[i]}
		for _, f := range detect.Meet(a, b, detect.Meeting{Base: a.Base}).Findings {
			if f.Kind == detect.SymbolOverlap || f.Kind == detect.ContractBreak || f.Kind == detect.DependencyOrder {
				v.found = max(v.found, f.Severity)
				v.kinds = append(v.kinds, string(f.Kind)+": "+f.Sentence)
			}
		}
		verdicts = append(verdicts, v)
	}
	for _, m := range s.mergeTrees(pairs) {
		tree := m.tree
		if m.Outcome != detect.Merges {
			tree = ""
		}
		trees = append(trees, tree)
	}
	return verdicts, trees
}

// mergeTrees lets git merge pairs into the repository itself.
func (s *shop) mergeTrees(pairs [][2]string) []merged {
	s.Helper()
	var in strings.Builder
	for _, p := range pairs {
		fmt.Fprintf(&in, "%s %s\n", p[0], p[1])
	}
	c := exec.CommandContext(s.Context(), "git", "merge-tree", "--write-tree", "--stdin")
	c.Dir, c.Stdin = s.dir, strings.NewReader(in.String())
	out, err := c.Output()
	if err != nil {
		s.Fatalf("git merge-tree: %v", err)
	}
	all, err := parseMerges(string(out))
	if err != nil || len(all) != len(pairs) {
		s.Fatalf("%d answers for %d pairs: %v", len(all), len(pairs), err)
	}
	return all
}

// tally holds what was found against what the compiler says.
func tally(t *testing.T, all []verdict) (right, missed, wrong int) {
	t.Helper()
	var quiet, fine int
	kinds := map[string][3]int{}
	for _, v := range all {
		k := kinds[v.what]
		k[0]++
		switch warned := v.found >= detect.Warn; {
		case v.broken && warned:
			right++
		case v.broken:
			missed++
			if v.found > 0 {
				quiet++
			}
			k[1]++
			t.Logf("missed: %s: %q; %v", v.what, v.kinds, slices.Sorted(maps.Keys(v.b)))
		case warned:
			wrong++
			k[2]++
			t.Logf("made up: %s: %q", v.what, v.kinds)
		default:
			fine++
		}
		kinds[v.what] = k
	}
	for _, what := range slices.Sorted(maps.Keys(kinds)) {
		t.Logf("%-50s %3d pairs, %d missed, %d made up", what, kinds[what][0], kinds[what][1], kinds[what][2])
	}
	t.Logf("%d pairs: %d broken and told, %d broken and not told (of which %d as information), %d build and are warned of, %d build and are let be",
		len(all), right, missed, quiet, wrong, fine)
	t.Logf("precision %.3f, recall %.3f", float64(right)/float64(max(1, right+wrong)), float64(right)/float64(max(1, right+missed)))
	return right, missed, wrong
}

// town is a small program of three packages.
var builtShop = map[string]string{
	"go.mod": "module example.com/shop\n\ngo 1.26\n",
	"price/price.go": `// Package price counts money.
package price

import "errors"

// Amount is money in cents.
type Amount struct {
	Cents    int
	Currency string
}

// Rates are what one unit of a currency is worth.
type Rates struct {
	Base  string
	Worth map[string]int
	Stale bool
}

// Known reports whether there is a rate of a currency.
func (r *Rates) Known(currency string) bool { return r.Worth[currency] > 0 }

// Euro reports whether money is in euros.
func (a Amount) Euro() bool { return a.Currency == "EUR" }

// Add sums two amounts.
func Add(a, b Amount) Amount { return Amount{a.Cents + b.Cents, a.Currency} }

// Parse reads an amount.
func Parse(text string) (Amount, error) {
	n := digits(text)
	if n < 0 {
		return Amount{}, errors.New("no amount")
	}
	return Amount{Cents: n}, nil
}

// Convert changes the currency.
func Convert(a Amount, r *Rates) Amount {
	return Amount{a.Cents * worth(r, a.Currency), r.Base}
}

// Zero is no money at all.
func Zero() Amount { return Amount{} }

func digits(text string) int {
	n := 0
	for _, c := range text {
		n = 10*n + int(c-'0')
	}
	return n
}

func worth(r *Rates, currency string) int { return r.Worth[currency] }
`,
	"price/round.go": `package price

// Round rounds to whole units.
func Round(a Amount) Amount { return Amount{a.Cents / unit() * unit(), a.Currency} }

// Halve is half of it.
func Halve(a Amount) Amount { return Amount{a.Cents / 2, a.Currency} }

func unit() int { return 100 }

func odd(n int) bool { return n%2 == 1 }
`,
	"order/order.go": `// Package order keeps what was bought.
package order

import "example.com/shop/price"

// Line is one thing that was bought.
type Line struct {
	Name  string
	Count int
	Each  price.Amount
}

// Total is what lines cost together.
func Total(lines []Line) price.Amount {
	sum := price.Zero()
	for _, l := range lines {
		for range l.Count {
			sum = price.Add(sum, l.Each)
		}
	}
	return sum
}

// Empty reports whether nothing was bought.
func Empty(lines []Line) bool { return len(lines) == 0 }

// Find is the line of a name.
func Find(lines []Line, name string) *Line {
	for i := range lines {
		if lines[i].Name == name {
			return &lines[i]
		}
	}
	return nil
}

func clean(name string) string { return name }

func longest(names []string) int { return len(names) }
`,
}

var packageLine = regexp.MustCompile(`(?m)^(m\d+)/(\S+?):\d+`)

// TestABuildThatBreaksIsForetold merges scripted work on a small program and builds every merged tree in one run of the real
// compiler.
func TestABuildThatBreaksIsForetold(t *testing.T) { // C3, C4
	s := newShop(t)
	var changes []string
	for _, p := range slices.Sorted(maps.Keys(builtShop)) {
		changes = append(changes, p, builtShop[p])
	}
	s.branch("main", "", changes...)
	files := maps.Clone(builtShop)
	delete(files, "go.mod")
	all := scripted(newGoTown(files, "example.com/shop", 4), 2*len(goScripts))
	s.commitClashes(all)
	verdicts, trees := s.judgeClashes(all)
	dir := t.TempDir()
	wanted := map[string]string{"m90000": s.union(all, false), "m90001": s.union(all, true)}
	for i, tree := range trees {
		if tree != "" {
			wanted[fmt.Sprint("m", i)] = tree
		}
	}
	for name, tree := range wanted {
		s.export(tree, filepath.Join(dir, name))
		s.resettle(filepath.Join(dir, name), "example.com/all/"+name)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/all\n\ngo 1.26\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	broken := map[string][]string{}
	for _, m := range packageLine.FindAllStringSubmatch(goBuild(t, dir, "./..."), -1) {
		broken[m[1]] = append(broken[m[1]], m[2])
	}
	var kept []verdict
	for i, v := range verdicts {
		if trees[i] != "" && v.label(broken[fmt.Sprint("m", i)], slices.Concat(broken["m90000"], broken["m90001"])) {
			kept = append(kept, v)
		}
	}
	if told, missed, wrong := tally(t, kept); missed > 0 || wrong > 0 || told < 12 || len(kept) < 30 {
		t.Errorf("%d of %d pairs are kept", len(kept), len(all))
	}
}

// label tells from the files with errors whether the merge broke the build. It answers no if that cannot be told: a side does
// not build by itself.
func (v *verdict) label(errors, alone []string) bool {
	for p := range v.b {
		if slices.Contains(alone, p) {
			return false
		}
	}
	for _, p := range errors {
		_, a := v.a[p]
		if _, b := v.b[p]; !b && (!a || !strings.Contains(p, "zz_new")) {
			return false
		}
		v.broken = true
	}
	return true
}

// union is a tree with the other sides' work together, beside what they use or in packages of its own: new files, which have
// to build as long as nobody else works.
func (s *shop) union(all []clash, beside bool) string {
	s.Helper()
	s.git("checkout", "-q", "-f", "-B", "union", "main")
	for _, c := range all {
		for p, content := range c.b {
			if strings.Contains(p, "zz_new") == beside {
				s.write(p, content)
			}
		}
	}
	s.git("add", "-A")
	return s.git("write-tree")
}

// resettle moves a module to another path.
func (s *shop) resettle(dir, module string) {
	s.Helper()
	if err := os.Remove(filepath.Join(dir, "go.mod")); err != nil {
		s.Fatal(err)
	}
	err := filepath.WalkDir(dir, func(p string, e os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(p, ".go") {
			return err
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		return os.WriteFile(p, []byte(strings.ReplaceAll(string(text), "example.com/shop/", module+"/")), 0o644)
	})
	if err != nil {
		s.Fatal(err)
	}
}

func goBuild(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), "go", append([]string{"build"}, args...)...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil && len(out) == 0 {
		t.Fatalf("go build: %v", err)
	}
	return string(out)
}
