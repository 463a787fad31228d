package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// A tree is a module as the rules see it.
type tree struct {
	module string   // its import path
	shown  []string // names at the root that git does not ignore
	texts  []text   // every text file, in the order of its name
	source []source // every Go file that the go command would build or test
	fset   *token.FileSet
	broken []finding // Go files that do not parse
}

// A text is one text file; its name is the slash path from the root.
type text struct {
	name  string
	lines []string
}

// A source is one parsed Go file.
type source struct {
	name      string
	lines     int
	syntax    *ast.File
	test      bool // ends in _test.go
	generated bool // carries the "Code generated … DO NOT EDIT." line
}

// folder returns the package's folder, "." for the root.
func (s source) folder() string { return path.Dir(s.name) }

// line returns the line of pos in its file.
func (t *tree) line(pos token.Pos) int { return t.fset.Position(pos).Line }

var moduleLine = regexp.MustCompile(`(?m)^module\s+(\S+)`)

// load reads the module at root. It fails when there is no go.mod or a file
// cannot be read.
func load(root fs.FS) (*tree, error) {
	mod, err := fs.ReadFile(root, "go.mod")
	if err != nil {
		return nil, err
	}
	match := moduleLine.FindSubmatch(mod)
	if match == nil {
		return nil, fmt.Errorf("go.mod: no module line")
	}
	t := &tree{module: string(match[1]), fset: token.NewFileSet()}
	if err := t.readRoot(root); err != nil {
		return nil, err
	}
	err = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		return t.read(root, name)
	})
	return t, err
}

// readRoot lists the root, less what .gitignore names there: a program that
// was just built is not part of the tree.
func (t *tree) readRoot(root fs.FS) error {
	entries, err := fs.ReadDir(root, ".")
	if err != nil {
		return err
	}
	ignore, _ := fs.ReadFile(root, ".gitignore") // absent: nothing is ignored
	for _, e := range entries {
		if !ignored(string(ignore), e.Name()) {
			t.shown = append(t.shown, e.Name())
		}
	}
	return nil
}

// ignored reports whether a plain pattern of a .gitignore names a root entry.
func ignored(patterns, name string) bool {
	for pattern := range strings.Lines(patterns) {
		pattern = strings.Trim(strings.TrimSpace(pattern), "/")
		if ok, err := path.Match(pattern, name); ok && err == nil {
			return true
		}
	}
	return false
}

// read adds one file, unless it is not text.
func (t *tree) read(root fs.FS, name string) error {
	data, err := fs.ReadFile(root, name)
	if err != nil {
		return err
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	t.texts = append(t.texts, text{name, lines})
	if path.Ext(name) != ".go" || skippedByGo(name) {
		return nil
	}
	syntax, err := parser.ParseFile(t.fset, name, data, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.broken = append(t.broken, finding{file: name, rule: "parse", message: err.Error()})
		return nil
	}
	t.source = append(t.source, source{
		name:      name,
		lines:     len(lines),
		syntax:    syntax,
		test:      strings.HasSuffix(name, "_test.go"),
		generated: ast.IsGenerated(syntax),
	})
	return nil
}

// skippedByGo reports whether the go command ignores a file for its place.
func skippedByGo(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if part == "testdata" || part[0] == '.' || part[0] == '_' {
			return true
		}
	}
	return false
}
