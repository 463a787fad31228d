package code

import (
	"context"
	"go/build"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	sitter "github.com/smacker/go-tree-sitter"
)

type slow struct{ *tree }

// slowly is flatten by the binding's own functions alone, some six calls into C for each node.
func slowly(g *grammar, parsed *sitter.Tree, src []byte) *tree {
	t := &slow{tree: &tree{grammar: g, src: src}}
	root := parsed.RootNode()
	t.broken = root.HasError()
	cursor := sitter.NewTreeCursor(root)
	defer cursor.Close()
	t.push(cursor, root, -1)
	for open := []int32{0}; ; {
		switch {
		case len(open) > depthMax:
			t.deep = true
			return t.tree
		case !t.leaf(open[len(open)-1]) && cursor.GoToFirstChild():
			open = append(open, t.push(cursor, cursor.CurrentNode(), open[len(open)-1]))
		case cursor.GoToNextSibling():
			open = t.next(cursor, open)
		default:
			for {
				t.nodes[open[len(open)-1]].next = int32(len(t.nodes))
				if open = open[:len(open)-1]; len(open) == 0 || !cursor.GoToParent() {
					return t.tree
				}
				if cursor.GoToNextSibling() {
					open = t.next(cursor, open)
					break
				}
			}
		}
	}
}

// leaf reports whether a node surely has nothing below it that matters.
func (t *slow) leaf(i int32) bool {
	k, leaves := t.nodes[i].kind, t.grammar.whole
	if t.broken {
		leaves = t.grammar.leaves
	}
	return int(k) < len(leaves) && leaves[k]
}

// next closes the innermost open node and opens its sibling.
func (t *slow) next(cursor *sitter.TreeCursor, open []int32) []int32 {
	last := len(open) - 1
	t.nodes[open[last]].next = int32(len(t.nodes))
	parent := int32(-1)
	if last > 0 {
		parent = open[last-1]
	}
	open[last] = t.push(cursor, cursor.CurrentNode(), parent)
	return open
}

// push appends a node. Offsets are held to the file, whatever a grammar's scanner says.
func (t *slow) push(cursor *sitter.TreeCursor, from *sitter.Node, parent int32) int32 {
	n := node{parent: parent, kind: uint16(from.Symbol())}
	start := min(int(from.StartByte()), len(t.src))
	end := t.literalEnd(int(n.kind), start)
	if end < 0 { // a name, or a token that is not written as it is called
		end = max(start, min(int(from.EndByte()), len(t.src)))
		if name := cursor.CurrentFieldName(); name != "" {
			n.field = t.grammar.fields[name]
		}
	}
	n.start, n.end = uint32(start), uint32(end)
	if n.kind == kindError {
		t.errors += int(n.end - n.start)
	} else if n.start == n.end && t.broken && from.IsMissing() {
		n.missing = true
		t.errors++
	}
	at := int32(len(t.nodes))
	n.next = at + 1
	t.nodes = append(t.nodes, n)
	return at
}

// alike holds both walks of a file against each other and reports whether it was broken.
func alike(t *testing.T, path string, src []byte) (broken, deep bool) {
	t.Helper()
	g := grammars[dialectOf(path)]()
	parser := sitter.NewParser()
	defer parser.Close()
	parser.SetLanguage(g.language)
	parser.SetOperationLimit(60_000_000)
	parsed, err := parser.ParseCtx(context.Background(), nil, src)
	if err != nil {
		t.Skip(path, err)
	}
	defer parsed.Close()
	fast, want := flatten(g, parsed, src), slowly(g, parsed, src)
	if fast.broken != want.broken || fast.deep != want.deep {
		t.Fatalf("%s: broken %v, too deep %v; want %v, %v", path, fast.broken, fast.deep, want.broken, want.deep)
	}
	if fast.deep {
		return fast.broken, true
	}
	if fast.errors != want.errors || len(fast.nodes) != len(want.nodes) {
		t.Fatalf("%s: %d octets of errors, %d nodes; want %d, %d", path, fast.errors, len(fast.nodes), want.errors, len(want.nodes))
	}
	for i := range want.nodes {
		if fast.nodes[i] != want.nodes[i] {
			t.Fatalf("%s: node %d is %+v, want %+v", path, i, fast.nodes[i], want.nodes[i])
		}
	}
	return fast.broken, false
}

// corpus is a folder of source code to walk besides: PARLEY_CORPUS=DIR go test ./detect/code -run BothWalks.
func corpus(t *testing.T, yield func(path string, src []byte)) {
	t.Helper()
	for _, root := range []string{"testdata", os.Getenv("PARLEY_CORPUS")} {
		if root == "" {
			continue
		}
		err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() || dialectOf(path) == dialectNone {
				return err
			}
			src, err := os.ReadFile(path)
			if err == nil && len(src) <= sourceMax {
				yield(path, src)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestBothWalksGiveTheSameTree(t *testing.T) { // C5
	files, broken, deep := 0, 0, 0
	hold := func(path string, src []byte) {
		b, d := alike(t, path, src)
		files++
		if b {
			broken++
		}
		if d {
			deep++
		}
	}
	both := func(path string, src []byte) {
		hold(path, src)
		hold(path, src[:len(src)*2/3])
		hold(path, slices.Concat(src[:len(src)/3], []byte(" ({ \xff = "), src[len(src)/3:]))
	}
	for _, set := range []map[string]string{seeds, samples} {
		for path, text := range sorted(set) {
			both(path, []byte(text))
			both(path, []byte("\ufeff"+strings.ReplaceAll(text, "\n", "\r\n")))
		}
	}
	for text := range sorted(loops) {
		both("a.py", []byte(text))
	}
	corpus(t, both)
	for _, n := range []int{depthMax / 2, depthMax - 10, depthMax, 3 * depthMax} {
		hold("a.js", []byte(strings.Repeat("[", n)+strings.Repeat("]", n)))
	}
	hold("a.py", nil)
	if broken < 20 || deep == 0 || broken == files {
		t.Errorf("%d files, %d broken, %d too deep: all kinds must be among them", files, broken, deep)
	}
	t.Logf("%d files, %d broken, %d too deep", files, broken, deep)
}

// prototypes and types of C, one a line without the spaces that mean nothing.
func declarations(text string) []string {
	text = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*`).ReplaceAllString(text, " ")
	text = strings.Join(strings.Fields(text), " ")
	text = regexp.MustCompile(` ?([(){};,*]) ?`).ReplaceAllString(text, "$1")
	text = regexp.MustCompile(`\b(?:self|node)([,)])`).ReplaceAllString(text, "$1")
	text = strings.NewReplacer("TSNode )", "TSNode)", "TSSymbol ", "uint16_t ", "TSFieldId ", "uint16_t ", "const TSTree*", "const void*").Replace(text)
	text = regexp.MustCompile(`typedef struct \w+\{`).ReplaceAllString(text, "typedef struct{")
	return regexp.MustCompile(`typedef struct\{[^}]*\}\w+;|\w+ ts_\w+\([^)]*\);`).FindAllString(strings.ReplaceAll(text, " )", ")"), -1)
}

func TestTheBindingIsWhatTheWalkTakesItFor(t *testing.T) { // C5
	pkg, err := build.Import("github.com/smacker/go-tree-sitter", ".", build.FindOnly)
	if err != nil {
		t.Skip(err)
	}
	header, err := os.ReadFile(filepath.Join(pkg.Dir, "api.h"))
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("walk.go")
	if err != nil {
		t.Fatal(err)
	}
	theirs, used := declarations(string(header)), 0
	_, preamble, _ := strings.Cut(string(source), "/*")
	preamble, _, _ = strings.Cut(preamble, "*/")
	for _, d := range declarations(preamble) {
		if strings.HasSuffix(d, "}sitter;") || strings.HasSuffix(d, "}flat;") {
			continue
		}
		if used++; !slices.Contains(theirs, d) {
			t.Errorf("the binding does not declare %s", d)
		}
	}
	if used != 14 {
		t.Errorf("%d declarations of tree-sitter's", used)
	}
	of := reflect.TypeFor[sitter.Node]().Field(0)
	var fields []string
	for field := range of.Type.Fields() {
		fields = append(fields, field.Name)
	}
	if of.Offset != 0 || of.Name != "c" || of.Type.Name() != "_Ctype_struct_TSNode" || !slices.Equal(fields, []string{"context", "id", "tree"}) {
		t.Errorf("a node begins with %v of %v", of, fields)
	}
	for dialect, of := range grammars {
		if names := of().names; len(names) > 256 {
			t.Errorf("%v has %d fields, more than an octet tells apart", dialect, len(names))
		}
	}
}
