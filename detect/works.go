package detect

import (
	"slices"
	"strings"
)

// work is what one side does to one symbol.
type work struct {
	id     string
	change *SymbolChange // nil for a claim
	how    Change        // Body and up; 0 for a claim
	sure   bool          // the parse was clean, or nothing hangs on it
}

// listWorks puts a party's work on symbols in order, the ignored paths left out. What only a clean parse can show
// is taken for less when the parse was not clean.
func (p *Party) listWorks() {
	for i := range p.Symbols {
		c := &p.Symbols[i]
		path := symbolPath(c.Symbol.ID)
		if p.Rules.ignores(path, p.Side.Folds) {
			continue
		}
		how, sure := c.Change, p.clean(c, path)
		if !sure && how == Removed {
			p.doubts = append(p.doubts, Doubt{SymbolOverlap, []string{p.Side.Ref}, "whether " + c.Symbol.ID + " was removed: its file does not parse"})
			continue
		}
		if !sure && how == SignatureChanged {
			how = Body
		}
		p.works = append(p.works, work{c.Symbol.ID, c, how, sure})
		if c.From != "" && c.From != c.Symbol.ID {
			p.works = append(p.works, work{c.From, c, how, sure})
		}
	}
	slices.SortStableFunc(p.works, func(a, b work) int { return strings.Compare(a.id, b.id) })
	p.at = map[string]int{}
	for i := len(p.works) - 1; i >= 0; i-- {
		p.at[p.works[i].id] = i
	}
	p.added = map[string][]int{}
	for i, w := range p.works {
		if w.how == Added && w.change.Symbol.Package != "" {
			p.added[w.change.Symbol.Package] = append(p.added[w.change.Symbol.Package], i)
		}
	}
}

// clean reports whether the file of a change was read from end to end in both versions. A move is also judged by
// the file that it came from.
func (p *Party) clean(c *SymbolChange, path string) bool {
	if !p.cleanFile(path) {
		return false
	}
	return c.From == "" || p.cleanFile(symbolPath(c.From))
}

func (p *Party) cleanFile(path string) bool {
	if f := p.files[path]; f != nil {
		return f.Quality == Clean
	}
	return slices.ContainsFunc(p.Files, func(f File) bool { return f.From == path && f.Quality == Clean })
}

// symbolPath is the file in a symbol's or schema's id, "" for other ids.
func symbolPath(id string) string {
	_, rest, _ := strings.Cut(id, ":")
	_, rest, ok := strings.Cut(rest, ":")
	path, _, named := strings.Cut(rest, "#")
	if !ok || !named {
		return ""
	}
	return path
}

// on is what the party does to a symbol: its changes and its claims.
func (p *Party) on(id string) []work {
	i, ok := p.at[id]
	if !ok {
		return nil
	}
	j := i
	for j < len(p.works) && p.works[j].id == id {
		j++
	}
	return p.works[i:j]
}

// hasClaim reports whether the party claims a symbol or a contract.
func (p *Party) hasClaim(kind ClaimKind, id string) bool {
	return slices.ContainsFunc(p.claims, func(c claim) bool {
		return c.Kind == kind && (c.Pattern == id || c.plain.Match(id))
	})
}

// verb says what is done to a symbol.
func (w work) verb() string {
	switch w.how {
	case Removed:
		return "removes"
	case SignatureChanged:
		return "changes the signature of"
	case Moved:
		return "moves"
	case Added:
		return "adds"
	case Body:
		return "modifies"
	}
	return "claims"
}

// test reports whether the symbol is one of a test.
func (w work) test() bool { return w.change != nil && w.change.Symbol.Test }

// container is the id of the symbol around, "" for claims.
func (w work) container() string {
	if w.change == nil {
		return ""
	}
	return w.change.Symbol.Container
}
