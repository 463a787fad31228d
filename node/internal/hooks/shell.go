package hooks

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// shellPaths are the files that a command of a shell names as what it writes, moves or deletes: where output goes, and the
// operands of well known programs. What is only known once it runs (variables, patterns, scripts) is left out: git
// sees it afterwards. A text that is no shell's names none.
func shellPaths(command string) []string {
	s := &shellScan{}
	s.read(head(command, textBytesMax), scriptsMax)
	return s.paths
}

// scriptsMax is how many scripts one within the other are read: sh -c "…".
const scriptsMax = 3

type shellScan struct {
	dir   string // to which names are relative; "" at the beginning
	lost  bool   // the directory is not known any more
	paths []string
}

func (s *shellScan) read(script string, left int) {
	if left == 0 {
		return
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), "")
	if err != nil {
		return
	}
	s.statements(file.Stmts, left)
}

// statements are read in order, each in the directory in which the one before it left off.
func (s *shellScan) statements(list []*syntax.Stmt, left int) {
	for _, stmt := range list {
		s.statement(stmt, left)
	}
}

func (s *shellScan) statement(stmt *syntax.Stmt, left int) {
	for _, r := range stmt.Redirs {
		switch r.Op {
		case syntax.RdrOut, syntax.AppOut, syntax.RdrInOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
			s.name(r.Word)
		}
	}
	switch c := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		s.call(c.Args, left)
	case *syntax.BinaryCmd:
		if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
			s.apart(left, c.X, c.Y)
			return
		}
		s.statement(c.X, left)
		s.statement(c.Y, left)
	case *syntax.Block:
		s.statements(c.Stmts, left)
	case *syntax.Subshell:
		s.apart(left, c.Stmts...)
	case *syntax.IfClause:
		for at := c; at != nil; at = at.Else {
			s.apart(left, at.Cond...)
			s.apart(left, at.Then...)
		}
	case *syntax.WhileClause:
		s.apart(left, c.Cond...)
		s.apart(left, c.Do...)
	case *syntax.ForClause:
		s.apart(left, c.Do...)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			s.statement(c.Stmt, left)
		}
	}
}

// apart reads statements that leave the others where they are, or may not run.
func (s *shellScan) apart(left int, list ...*syntax.Stmt) {
	dir, lost := s.dir, s.lost
	s.statements(list, left)
	s.dir, s.lost = dir, lost
}

// name adds a word that is a file's name as it stands.
func (s *shellScan) name(w *syntax.Word) {
	if text, ok := literal(w); ok {
		s.file(text)
	}
}

func (s *shellScan) file(name string) {
	if name == "" || name == "-" || strings.HasPrefix(name, "/dev/") || len(s.paths) > pathsMax {
		return
	}
	if !strings.HasPrefix(name, "/") {
		if s.lost {
			return
		}
		name = path.Join(s.dir, name)
	}
	if !slices.Contains(s.paths, name) {
		s.paths = append(s.paths, name)
	}
}

// literal is what a word says before anything runs, false for one that a shell fills in.
func literal(w *syntax.Word) (text string, ok bool) {
	if w == nil {
		return "", false
	}
	var b strings.Builder
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, `*?[{\`) || b.Len() == 0 && strings.HasPrefix(p.Value, "~") {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				l, plain := inner.(*syntax.Lit)
				if !plain || strings.Contains(l.Value, `\`) {
					return "", false
				}
				b.WriteString(l.Value)
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}

// prefixes are programs that run the one that is named behind them.
var prefixes = []string{"command", "builtin", "exec", "nohup", "nice", "time", "sudo", "env"}

// call reads one command by the name of its program.
func (s *shellScan) call(args []*syntax.Word, left int) {
	for len(args) > 0 {
		name, ok := literal(args[0])
		if !ok {
			return
		}
		args = args[1:]
		switch name = path.Base(name); {
		case slices.Contains(prefixes, name):
			for len(args) > 0 && skipped(args[0]) {
				args = args[1:]
			}
			continue
		case name == "sh" || name == "bash" || name == "zsh" || name == "dash":
			s.inner(args, left)
		case name == "cd" || name == "pushd":
			s.change(args)
		case name == "popd":
			s.lost = true
		case name == "git":
			s.git(args)
		default:
			if writes, known := writers[name]; known {
				writes(s, operandsOf(args))
			}
		}
		return
	}
}

// skipped reports whether a word before a program's name is an option or sets a variable.
func skipped(w *syntax.Word) bool {
	text, ok := literal(w)
	return !ok || strings.HasPrefix(text, "-") || strings.Contains(text, "=")
}

// inner reads the script of sh -c, which goes nowhere else.
func (s *shellScan) inner(args []*syntax.Word, left int) {
	for i, w := range args {
		option, ok := literal(w)
		if !ok || !strings.HasPrefix(option, "-") {
			return
		}
		if !strings.HasPrefix(option, "--") && strings.HasSuffix(option, "c") && i+1 < len(args) {
			if script, ok := literal(args[i+1]); ok {
				dir, lost := s.dir, s.lost
				s.read(script, left-1)
				s.dir, s.lost = dir, lost
			}
			return
		}
	}
}

func (s *shellScan) change(args []*syntax.Word) {
	to, ok := "", false
	if len(args) == 1 {
		to, ok = literal(args[0])
	}
	switch {
	case !ok || to == "" || strings.HasPrefix(to, "-"):
		s.lost = true
	case strings.HasPrefix(to, "/"):
		s.dir, s.lost = path.Clean(to), false
	default:
		s.dir = path.Join(s.dir, to)
	}
}

// operand is an argument of a program: a word, or false where only the shell knows it.
type operand struct {
	text  string
	known bool
}

// operands are a program's options and the others, in order.
type operands struct {
	options []string
	others  []operand
}

func operandsOf(args []*syntax.Word) (o operands) {
	over := false
	for _, w := range args {
		text, ok := literal(w)
		switch {
		case ok && !over && text == "--":
			over = true
		case ok && !over && len(text) > 1 && text[0] == '-':
			o.options = append(o.options, text)
		default:
			o.others = append(o.others, operand{text, ok})
		}
	}
	return o
}

// has reports whether there is an option: a letter, also among others behind one dash, or a long one.
func (o operands) has(letter byte, long ...string) bool {
	return slices.ContainsFunc(o.options, func(text string) bool {
		if strings.HasPrefix(text, "--") {
			name, _, _ := strings.Cut(text[2:], "=")
			return slices.Contains(long, name)
		}
		return letter != 0 && strings.IndexByte(text[1:], letter) >= 0
	})
}

func (s *shellScan) all(list []operand) {
	for _, o := range list {
		if o.known {
			s.file(o.text)
		}
	}
}

// into is what files come to be called that are moved or copied: the last one, or each one in the folder that it is.
func (s *shellScan) into(list []operand) {
	last := list[len(list)-1]
	if !last.known {
		return
	}
	if len(list) == 2 && !strings.HasSuffix(last.text, "/") {
		s.file(last.text)
		return
	}
	for _, o := range list[:len(list)-1] {
		if o.known {
			s.file(path.Join(last.text, path.Base(o.text)))
		}
	}
}

// writers are what programs do to the files that they name.
var writers = map[string]func(*shellScan, operands){
	"tee":   func(s *shellScan, o operands) { s.all(o.others) },
	"touch": func(s *shellScan, o operands) { s.all(o.others) },
	"rm":    func(s *shellScan, o operands) { s.all(o.others) },
	"mv": func(s *shellScan, o operands) {
		if n := len(o.others); n > 1 && !o.has('t', "target-directory") {
			s.all(o.others[:n-1])
			s.into(o.others)
		}
	},
	"cp":      copies,
	"install": copies,
	"ln":      copies,
	"sed": func(s *shellScan, o operands) {
		if o.has(0, "in-place") || slices.ContainsFunc(o.options, func(text string) bool {
			return strings.HasPrefix(text, "-i") || text == "-Ei" || text == "-ri" || text == "-ni"
		}) {
			s.behindScript(o)
		}
	},
	"perl": func(s *shellScan, o operands) {
		if slices.ContainsFunc(o.options, func(text string) bool {
			return strings.HasPrefix(text, "-i") || text == "-pi" || text == "-ni" || text == "-pie"
		}) {
			s.behindScript(o)
		}
	},
	"prettier":  writesWith(0, "write"),
	"eslint":    writesWith(0, "fix"),
	"gofmt":     writesWith('w'),
	"gofumpt":   writesWith('w'),
	"goimports": writesWith('w'),
	"rustfmt":   func(s *shellScan, o operands) { s.all(o.others) },
	"black":     func(s *shellScan, o operands) { s.all(o.others) },
}

func copies(s *shellScan, o operands) {
	if len(o.others) > 1 && !o.has('t', "target-directory") {
		s.into(o.others)
	}
}

// writesWith are programs that write only with an option. Options that take a word are taken for ones that do not: a name
// too many is no file.
func writesWith(letter byte, long ...string) func(*shellScan, operands) {
	return func(s *shellScan, o operands) {
		if o.has(letter, long...) {
			s.all(o.others)
		}
	}
}

// behindScript adds the files behind the script of sed and perl, which is the first word unless options give it.
func (s *shellScan) behindScript(o operands) {
	if len(o.others) > 1 {
		s.all(o.others[1:])
	}
}

// git reads what git does to files that it is told of. Who takes back an edit with restore or checkout shall never be kept from it.
func (s *shellScan) git(args []*syntax.Word) {
	if len(args) == 0 {
		return
	}
	verb, _ := literal(args[0])
	o := operandsOf(args[1:])
	switch verb {
	case "mv":
		if n := len(o.others); n > 1 {
			s.all(o.others[:n-1])
			s.into(o.others)
		}
	case "rm":
		if !o.has(0, "cached") {
			s.all(o.others)
		}
	}
}
