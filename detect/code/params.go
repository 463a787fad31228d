package code

import (
	"slices"

	"github.com/parley-mesh/parley/detect"
)

// scriptParams compares parameters that callers pass by position and may leave out at the end.
func (j *judge) scriptParams(old, now []detect.Param) {
	for i, p := range now {
		if i >= len(old) {
			switch {
			case p.Kind == detect.Variadic:
				j.fine("rest parameter " + p.Name + " added")
			case p.Optional:
				j.fine("parameter " + p.Name + " added with a default")
			case len(old) > 0 && old[len(old)-1].Kind == detect.Variadic:
				j.open("parameter " + p.Name + " added in place of a rest parameter")
			default:
				j.breaking("parameter " + p.Name + " added without a default")
			}
			continue
		}
		j.scriptParam(i, old, now)
	}
	for _, p := range old[min(len(old), len(now)):] {
		j.breaking("parameter " + p.Name + " removed")
	}
}

func (j *judge) scriptParam(i int, old, now []detect.Param) {
	was, is := old[i], now[i]
	if was.Name != is.Name && paramAt(now, was.Name) >= 0 && paramAt(now, was.Name) != i {
		if paramAt(old, is.Name) < 0 && !is.Optional {
			j.breaking("parameter " + is.Name + " added without a default")
			return
		}
		j.breaking("parameter " + was.Name + " moved")
		return
	}
	if was.Kind != is.Kind {
		if is.Kind == detect.Variadic {
			j.open("parameter " + is.Name + " became a rest parameter")
		} else {
			j.breaking("rest parameter " + was.Name + " removed")
		}
		return
	}
	if was.Optional && !is.Optional {
		j.breaking("parameter " + is.Name + " became required")
	}
	if !was.Optional && is.Optional {
		j.fine("parameter " + is.Name + " became optional")
	}
	if was.Type != is.Type {
		j.by(j.same(was.Type, is.Type), "type of parameter "+is.Name+" changed from "+orNone(was.Type)+" to "+orNone(is.Type))
	}
}

func orNone(t string) string {
	if t == "" {
		return "none"
	}
	return t
}

func paramAt(params []detect.Param, name string) int {
	return slices.IndexFunc(params, func(p detect.Param) bool { return p.Name == name })
}

// permuted reports whether parameters have the same names in another order.
func permuted(old, now []detect.Param) bool {
	same := len(old) == len(now)
	for i := range old {
		if paramAt(now, old[i].Name) < 0 {
			return false
		}
		same = same && old[i].Name == now[i].Name
	}
	return !same && len(old) == len(now)
}

// exactParams compares parameters of languages whose functions have one exact type.
func (j *judge) exactParams(old, now []detect.Param) {
	if permuted(old, now) {
		j.open("parameters changed places")
	}
	for i, p := range now {
		switch {
		case i >= len(old) && p.Kind == detect.Variadic:
			j.breaking(detect.VariadicAdded)
		case i >= len(old):
			j.breaking("parameter " + orNone(p.Name) + " added")
		case old[i].Kind != p.Kind:
			j.breaking("parameter " + orNone(p.Name) + " became or was variadic")
		case old[i].Type != p.Type:
			j.by(j.same(old[i].Type, p.Type), "type of parameter "+orNone(p.Name)+" changed from "+old[i].Type+" to "+p.Type)
		}
	}
	for _, p := range old[min(len(old), len(now)):] {
		j.breaking("parameter " + orNone(p.Name) + " removed")
	}
}

// pythonParams compares parameters that callers pass by position, by name, or both.
func (j *judge) pythonParams(old, now []detect.Param) {
	star, kwargs := hasKind(now, detect.Variadic), hasKind(now, detect.KeywordVariadic)
	for i, was := range old {
		switch {
		case was.Kind == detect.Variadic:
			if !star {
				j.breaking("*" + was.Name + " removed")
			}
			continue
		case was.Kind == detect.KeywordVariadic:
			if !kwargs {
				j.breaking("**" + was.Name + " removed")
			}
			continue
		}
		at := paramAt(now, was.Name)
		if was.Kind == detect.PositionalOnly {
			if at = i; at >= len(now) || now[at].Kind > detect.PositionalOnly {
				at = -1
			}
		}
		if at < 0 || now[at].Kind == detect.Variadic || now[at].Kind == detect.KeywordVariadic {
			j.pythonGone(was, star, kwargs)
			continue
		}
		j.pythonParam(was, now[at], positionOf(old, i), positionOf(now, at))
	}
	for at, p := range now {
		if p.Kind == detect.Variadic || p.Kind == detect.KeywordVariadic || paramAt(old, p.Name) >= 0 ||
			p.Kind == detect.PositionalOnly && at < len(old) && old[at].Kind == detect.PositionalOnly {
			continue
		}
		if p.Optional {
			j.fine("parameter " + p.Name + " added with a default")
		} else {
			j.breaking("parameter " + p.Name + " added without a default")
		}
	}
}

// pythonGone judges a parameter that is no longer named: callers that pass it must be caught by * or **, whichever
// way they pass it.
func (j *judge) pythonGone(was detect.Param, star, kwargs bool) {
	takes := star && kwargs
	switch was.Kind {
	case detect.PositionalOnly:
		takes = star
	case detect.KeywordOnly:
		takes = kwargs
	}
	if takes {
		j.fine("parameter " + was.Name + " is among others now")
	} else {
		j.breaking("parameter " + was.Name + " removed")
	}
}

func (j *judge) pythonParam(was, is detect.Param, from, to int) {
	name := "parameter " + is.Name
	switch {
	case was.Kind == detect.Ordinary && is.Kind == detect.KeywordOnly:
		j.breaking(name + " became keyword-only")
	case was.Kind == detect.Ordinary && is.Kind == detect.PositionalOnly:
		j.breaking(name + " became positional-only")
	case was.Kind == detect.KeywordOnly && is.Kind == detect.PositionalOnly:
		j.breaking(name + " became positional-only")
	case was.Kind != detect.KeywordOnly && from != to:
		j.breaking(name + " moved")
	}
	if was.Optional && !is.Optional {
		j.breaking(name + " became required")
	}
	if !was.Optional && is.Optional {
		j.fine(name + " became optional")
	}
	if was.Type != is.Type {
		why := "annotation of " + name + " changed from " + orNone(was.Type) + " to " + orNone(is.Type)
		j.by(assignable("py", was.Type, is.Type), why)
	}
}

// positionOf is a parameter's place among those that can be passed by position.
func positionOf(params []detect.Param, at int) (place int) {
	for _, p := range params[:at] {
		if p.Kind == detect.Ordinary || p.Kind == detect.PositionalOnly {
			place++
		}
	}
	return place
}

func hasKind(params []detect.Param, kind detect.ParamKind) bool {
	return slices.ContainsFunc(params, func(p detect.Param) bool { return p.Kind == kind })
}
