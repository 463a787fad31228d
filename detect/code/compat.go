package code

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// judge collects what a change means for those who use a thing.
type judge struct {
	language string
	same     func(from, to string) answer // whether a type can stand for another
	breaks   bool
	unsure   bool
	why      []string
}

func (j *judge) breaking(why string) { j.breaks, j.why = true, append(j.why, why) }
func (j *judge) open(why string)     { j.unsure, j.why = true, append(j.why, why) }
func (j *judge) fine(why string)     { j.why = append(j.why, why) }

func (j *judge) verdict() detect.Verdict {
	switch {
	case j.breaks:
		return detect.Breaking
	case j.unsure:
		return detect.CannotTell
	}
	return detect.Compatible
}

// by says what follows from whether a value of one type can stand for the other.
func (j *judge) by(a answer, why string) {
	switch a {
	case yes:
		j.fine(why)
	case no:
		j.breaking(why)
	default:
		j.open(why)
	}
}

// newJudge is a judge that knows types of a language by themselves.
func newJudge(language string) *judge {
	return &judge{language: language, same: func(from, to string) answer { return assignable(language, from, to) }}
}

// compatible says what two versions of a symbol mean for its users.
func (c *comparison) compatible(old, now *detect.Symbol) (detect.Verdict, []string) {
	j := newJudge(languageOf(now.ID))
	if j.language == "ts" {
		j.same = typing{j.language, func(name string) bool {
			return c.old.object(pathOf(old.ID), name) && c.now.object(pathOf(now.ID), name)
		}}.assignable
	}
	if j.language == "go" {
		j.same = c.sameGo(folder(pathOf(old.ID)), folder(pathOf(now.ID)))
		if c.aliases(j, old, now); j.why != nil {
			return j.verdict(), j.why
		}
		for _, other := range c.otherPackages(old, now) {
			j.open(other)
		}
	}
	if old.Exported && !now.Exported {
		j.breaking("no longer exported")
	}
	if !old.Exported && now.Exported {
		j.fine("now exported")
	}
	j.privates(now, c.privateTypes(old, now))
	if old.Kind != now.Kind {
		j.kinds(old, now)
		return j.verdict(), j.why
	}
	before, after := overloads(old), overloads(now)
	if len(before) == 1 && len(after) == 1 {
		j.signature(old.Kind, &old.Signature, &now.Signature)
		return j.verdict(), j.why
	}
	for _, was := range before {
		best := judge{breaks: true}
		for _, is := range after {
			try := judge{language: j.language, same: j.same}
			try.signature(old.Kind, was, is)
			if !try.breaks && (best.breaks || best.unsure && !try.unsure) {
				best = try
			}
		}
		switch {
		case best.breaks:
			j.breaking("overload removed or changed: " + was.Text)
		case best.unsure:
			j.open("overload changed: " + was.Text)
		}
	}
	if len(after) > len(before) {
		j.fine("overload added")
	}
	return j.verdict(), j.why
}

func overloads(s *detect.Symbol) []*detect.Signature {
	all := []*detect.Signature{&s.Signature}
	for i := range s.Signature.Overloads {
		all = append(all, &s.Signature.Overloads[i])
	}
	return all
}

func (j *judge) kinds(old, now *detect.Symbol) {
	pair := []detect.SymbolKind{old.Kind, now.Kind}
	slices.Sort(pair)
	switch {
	case j.language == "go" && (goComposite(old) || goComposite(now) || now.Kind == detect.Function):
		j.breaking("is another kind of thing")
	case slices.Equal(pair, []detect.SymbolKind{detect.Interface, detect.Type}),
		slices.Equal(pair, []detect.SymbolKind{detect.Class, detect.Enum}),
		slices.Equal(pair, []detect.SymbolKind{detect.Class, detect.Interface}),
		slices.Equal(pair, []detect.SymbolKind{detect.Function, detect.Variable}),
		(j.language == "ts" || j.language == "js") && slices.Contains(pair, detect.Field) && slices.Contains(pair, detect.Method):
		j.open("is declared in another way")
	default:
		j.breaking("is another kind of thing")
	}
}

// goComposite reports whether a type is surely no interface.
func goComposite(s *detect.Symbol) bool {
	return s.Kind == detect.Type && (s.Signature.Result == "struct" || strings.ContainsAny(s.Signature.Result[:min(1, len(s.Signature.Result))], "[*") ||
		strings.HasPrefix(s.Signature.Result, "map[") || strings.HasPrefix(s.Signature.Result, "func("))
}

func (j *judge) signature(kind detect.SymbolKind, old, now *detect.Signature) {
	j.modifiers(old, now)
	if typedAs(old) || typedAs(now) {
		return // the type that is named says what it takes and gives
	}
	j.receiver(old.Receiver, now.Receiver)
	j.typeParams(kind, old.TypeParams, now.TypeParams)
	switch j.language {
	case "py":
		j.pythonParams(old.Params, now.Params)
	case "ts", "js":
		j.scriptParams(old.Params, now.Params)
	default:
		j.exactParams(old.Params, now.Params)
	}
	for _, b := range old.Bases {
		switch {
		case slices.Contains(now.Bases, b):
		case j.language == "go": // its methods may be there by themselves now
			j.open("no longer embeds " + b)
		case b == wordSpread: // its keys may be there by themselves now
			j.open("no longer takes in other keys")
		default:
			j.breaking("no longer extends " + b)
		}
	}
	for _, b := range now.Bases {
		if !slices.Contains(old.Bases, b) {
			if kind == detect.Interface {
				j.open("now extends " + b)
			} else if b == wordSpread {
				j.fine("takes in other keys")
			} else {
				j.fine("now extends " + b)
			}
		}
	}
	j.result(kind, old, now)
}

func (j *judge) result(kind detect.SymbolKind, old, now *detect.Signature) {
	if old.Result == now.Result {
		return
	}
	shown := func(s string) string { return cmp.Or(s, "nothing") }
	change := "from " + shown(old.Result) + " to " + shown(now.Result)
	written := j.language == "ts" || j.language == "js" || j.language == "py" || kind != detect.Function && kind != detect.Method
	switch {
	case !written && (old.Result == "" || now.Result == ""):
		j.breaking("result changed " + change)
		return
	case j.language == "go" && kind == detect.Type && goWidens(old.Result, now.Result):
		j.fine("type widened " + change)
		return
	}
	switch kind {
	case detect.Function, detect.Method:
		if added(old, now, "async") && j.same(now.Result, "Promise<"+old.Result+">") == yes {
			return // told already
		}
		j.by(j.same(now.Result, old.Result), "result changed "+change)
	case detect.Field:
		reads, writes := j.same(now.Result, old.Result), j.same(old.Result, now.Result)
		if reads == yes && (writes == yes || slices.Contains(now.Modifiers, "readonly")) {
			j.fine("type changed " + change)
		} else if reads == no || writes == no {
			j.breaking("type changed " + change)
		} else {
			j.open("type changed " + change)
		}
	case detect.Type:
		both := every([]string{"r", "w"}, func(side string) answer {
			if side == "r" {
				return j.same(now.Result, old.Result)
			}
			return j.same(old.Result, now.Result)
		})
		j.by(both, "type changed "+change)
	default:
		j.by(j.same(now.Result, old.Result), "type changed "+change)
	}
}

// wordTyped begins the word for a function of a script that is a constant of a type with a name.
const wordTyped = "typed as "

func typedAs(s *detect.Signature) bool {
	return slices.ContainsFunc(s.Modifiers, func(w string) bool { return strings.HasPrefix(w, wordTyped) })
}

// endless are the annotations of Python under which it does not matter whether a function yields or returns what others can go over.
var endless = regexp.MustCompile(`^(?:[\w.]+\.)?(?:Async)?(?:Iterator|Iterable|Generator)\b`)

func added(old, now *detect.Signature, word string) bool {
	return !slices.Contains(old.Modifiers, word) && slices.Contains(now.Modifiers, word)
}

func (j *judge) modifiers(old, now *detect.Signature) {
	for _, w := range now.Modifiers {
		if !slices.Contains(old.Modifiers, w) {
			j.modifier(w, true, old, now)
		}
	}
	for _, w := range old.Modifiers {
		if !slices.Contains(now.Modifiers, w) {
			j.modifier(w, false, old, now)
		}
	}
}

// modifier judges one word that came or went.
func (j *judge) modifier(w string, came bool, old, now *detect.Signature) {
	say := map[bool]string{true: "became ", false: "is no longer "}[came] + w
	switch w {
	case "async":
		if j.language != "py" && old.Result != "" && old.Result == now.Result {
			j.fine(say)
			return
		}
		j.breaking(say)
	case "generator":
		if j.language == "py" && old.Result == now.Result && endless.MatchString(old.Result) {
			j.fine(say)
			return
		}
		j.breaking(say)
	case "static", "optional", "@staticmethod", "@classmethod", "unsafe":
		if w == "unsafe" && !came {
			j.fine(say)
			return
		}
		j.breaking(say)
	case "private", "protected", "abstract", "final", "sealed":
		if came && !(w == "protected" && slices.Contains(old.Modifiers, "private")) {
			j.breaking(say)
		} else {
			j.fine(say)
		}
	case "get", "set", "pub", "public", "open", "const":
		if w == "const" && j.language != "rs" {
			j.fine(say)
			return
		}
		if came {
			j.fine(say)
		} else {
			j.breaking(say)
		}
	case "readonly", "default":
		if came == (w == "default") {
			j.fine(say)
		} else {
			j.open(say)
		}
	default:
		if strings.HasPrefix(w, wordBuild) && !came {
			j.fine(say)
			return
		}
		if !strings.HasPrefix(w, "throws ") {
			j.open(say)
		} else if came {
			j.breaking(say)
		}
	}
}

func (j *judge) receiver(old, now string) {
	if j.language == "py" || old == now {
		return
	}
	say := "receiver changed from " + cmp.Or(old, "none") + " to " + cmp.Or(now, "none")
	if strings.HasPrefix(old, "*") && old[1:] == now || old == "&mut self" && now == "&self" {
		j.fine(say)
		return
	}
	j.breaking(say)
}

func (j *judge) typeParams(kind detect.SymbolKind, old, now []detect.Param) {
	inferred := j.language == "ts" && (kind == detect.Function || kind == detect.Method)
	for i, p := range now {
		switch {
		case i >= len(old) && (p.Optional || inferred && len(old) == 0):
			j.fine("type parameter " + p.Name + " added")
		case i >= len(old):
			j.breaking("type parameter " + p.Name + " added")
		case p.Type != old[i].Type && p.Type == "":
			j.fine("constraint of " + p.Name + " removed")
		case p.Type != old[i].Type && j.language != "ts" && j.language != "py":
			j.constraint(p.Name, old[i].Type, p.Type)
		case p.Type != old[i].Type && old[i].Type == "":
			j.breaking("constraint of " + p.Name + " added")
		case p.Type != old[i].Type:
			j.by(j.same(old[i].Type, p.Type), "constraint of "+p.Name+" changed")
		case old[i].Optional && !p.Optional:
			j.breaking("type parameter " + p.Name + " lost its default")
		}
	}
	for _, p := range old[min(len(old), len(now)):] {
		j.breaking("type parameter " + p.Name + " removed")
	}
}

// constraint judges the union of a constraint of Go: more members let more types in.
func (j *judge) constraint(name, old, now string) {
	members := splitTop(now, '|')
	lost := slices.ContainsFunc(splitTop(old, '|'), func(m string) bool { return !slices.Contains(members, m) })
	switch {
	case now == "any":
		j.fine("constraint of " + name + " removed")
	case lost || old == "any":
		j.breaking("constraint of " + name + " changed")
	default:
		j.fine("constraint of " + name + " widened")
	}
}
