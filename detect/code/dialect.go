package code

import (
	"path"
	"strings"
)

// dialect is a grammar; language is what names carry. TSX is a dialect of TypeScript, JSX of JavaScript.
type dialect uint8

const (
	dialectNone dialect = iota
	dialectTS
	dialectTSX
	dialectJS
	dialectPy
	dialectGo
	dialectRust
	dialectJava
)

// dialects are the languages by the endings of file names. Grammars are chosen by the ending alone, never
// by content: two computers must choose alike.
var dialects = map[string]dialect{
	".ts": dialectTS, ".mts": dialectTS, ".cts": dialectTS,
	".tsx": dialectTSX,
	".js":  dialectJS, ".mjs": dialectJS, ".cjs": dialectJS, ".jsx": dialectJS,
	".py": dialectPy, ".pyi": dialectPy,
	".go": dialectGo,
	".rs": dialectRust, ".java": dialectJava,
}

var languages = map[dialect]string{
	dialectTS: "ts", dialectTSX: "ts", dialectJS: "js", dialectPy: "py",
	dialectGo: "go", dialectRust: "rs", dialectJava: "java",
}

// dialectOf is the grammar for a file, dialectNone if none is known.
func dialectOf(file string) dialect { return dialects[strings.ToLower(path.Ext(file))] }

// script reports whether a dialect is TypeScript or JavaScript.
func (d dialect) script() bool { return d == dialectTS || d == dialectTSX || d == dialectJS }
