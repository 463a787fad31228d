package overlap

import (
	"slices"

	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/ledger"
)

// lane lets somebody write whatever they like for a lane, in the place of whatever they like.
func (m *turmoil) lane() {
	s, p := m.lanes[m.draw("lane", len(m.lanes))], m.pens[m.draw("computer", len(m.pens))]
	if own := slices.DeleteFunc(slices.Clone(m.pens), func(o *pen) bool { return m.w.people[o.device].Fleet != m.shares[s.on].Fleet }); len(own) > 0 && m.draw("honest", 4) > 0 {
		p = own[m.draw("own", len(own))] // else it counts for nothing as things stand
	}
	at := ledger.Place{Lam: uint64(1 + m.draw("lam", 12)), ID: m.id()}
	wires := len(s.wires)
	s.writes(p, at, m.w.now-min(m.w.now, uint64(m.draw("late", 3)))*minute, m.said())
	for _, wire := range s.wires[wires:] {
		r, err := ledger.Parse(wire)
		if err != nil {
			m.t.Fatal(err)
		}
		m.hears(r, m.w.now)
	}
}

// more lets somebody say at home what no story tells.
func (m *turmoil) more() {
	p, at := m.pens[m.draw("computer", len(m.pens))], shop
	if m.draw("web", 4) == 0 {
		at = web
	}
	p.say(at, m.said())
}

// some is one of the ids, or none.
func (m *turmoil) some() (none ledger.ID) {
	if m.draw("none", 2) == 0 {
		return none
	}
	return m.id()
}

func (m *turmoil) path() string { return turmoilPaths[m.draw("path", len(turmoilPaths))] }

func (m *turmoil) said() ledger.Body {
	switch m.draw("kind", 12) {
	case 0:
		return &ledger.Session{First: m.some(), State: uint64(1 + m.draw("state", 2)), Agent: "codex", Checkout: [16]byte{byte(m.draw("checkout", 2) + 1)}, Branch: []string{"", "b0", "feat/x"}[m.draw("branch", 3)]}
	case 1, 2:
		in := &ledger.Intent{First: m.some(), Session: m.some(), State: uint64(1 + m.draw("state", 3)), Task: "some task of somebody"}
		if m.draw("depends", 2) == 0 {
			in.Depends = []ledger.ID{m.id()}
		}
		return in
	case 3:
		return m.published()
	case 4, 5:
		return m.claimed()
	case 6, 7, 8:
		return m.edited()
	case 9:
		return &ledger.Attempt{Session: m.id(), Paths: []ledger.Trying{{Path: ledger.Path(m.path()), Op: ledger.EditModify}}}
	case 10:
		return &ledger.Message{From: m.some(), Text: "a word"}
	default:
		return m.noted()
	}
}

func (m *turmoil) published() *ledger.Branch {
	b := &ledger.Branch{Name: []string{"feat/x", "b0", "#7"}[m.draw("name", 3)], Base: testOID("base"), Head: testOID([]string{"h", "i"}[m.draw("head", 2)]), Gone: m.draw("gone", 4) == 0}
	b.Author = uint64(m.draw("author", 3))
	if b.Name == "#7" {
		b.Pull = 7
	}
	copy(b.Of[:], []string{"", "maya", "sam"}[m.draw("of", 3)])
	return b
}

func (m *turmoil) claimed() *ledger.Claim {
	var claims []detect.Claim
	for _, pattern := range []string{"db/a.sql", "src/*.ts"} {
		if n := m.draw("claim", 4); n < 3 {
			claims = append(claims, detect.Claim{Kind: detect.PathClaim, Pattern: pattern, Exclusive: n == 0, Covers: []int{-1, 1, 50}[m.draw("covers", 3)]})
		}
	}
	if m.draw("symbol", 3) == 0 {
		claims = append(claims, detect.Claim{Kind: detect.SymbolClaim, Pattern: "sym:ts:src/a.ts#refund", Covers: -1})
	}
	return ClaimOf(m.id(), claims)
}

// edited is a file with two versions of its content, at its base too, and of what the readers of code say.
func (m *turmoil) edited() *ledger.Edit {
	path := m.path()
	if m.draw("back", 4) == 0 {
		return BackOf(m.id(), path)
	}
	version := []string{"1", "2"}
	f := &detect.File{
		Path: path, Op: detect.Modify, BaseBlob: testOID("base" + path + version[m.draw("base", 2)]).String(), Blob: testOID("now" + version[m.draw("blob", 2)]).String(),
		BaseMode: 0o100644, Mode: 0o100644, Quality: detect.Clean, Hunks: []detect.Hunk{{OldStart: 3, OldLen: 1, NewLen: 1, Hash: uint64(1 + m.draw("hash", 2))}},
	}
	if m.draw("renamed", 5) == 0 {
		f.Op, f.From = detect.Rename, "old/"+path
	}
	var d detect.Delta
	id := "sym:ts:" + path + "#refund"
	if n := m.draw("symbol", 4); n > 0 {
		d.Symbols = []detect.SymbolChange{symbol(id, []detect.Change{detect.Body, detect.SignatureChanged, detect.Removed}[n-1], detect.Breaking)}
	}
	if m.draw("contract", 3) == 0 {
		d.Contracts = []detect.ContractChange{{Contract: detect.Contract{ID: id, Kind: detect.SymbolContract, Path: path}, Change: detect.SignatureChanged, Verdict: detect.Breaking}}
	}
	if m.draw("uses", 3) == 0 {
		d.References = []detect.Reference{{Kind: detect.Call, Path: path, Target: "sym:ts:" + m.path() + "#refund", Line: 3}}
	}
	return EditOf(m.id(), f, &d, nil, 7000)
}

// noted is something about a conflict of that moment.
func (m *turmoil) noted() ledger.Body {
	all := m.w.f.list // as it was listed last: nobody settles by being asked
	if len(all) == 0 {
		return &ledger.Message{Text: "nothing to note"}
	}
	c := all[m.draw("conflict", len(all))]
	if m.draw("found", 2) == 0 {
		body := &ledger.Found{Conflict: c.ID, Sort: string(c.Kind), State: uint64(1 + m.draw("state", 2)), Evidence: c.Evidence, Severity: uint64(1 + m.draw("severity", 3)), About: c.About}
		for _, s := range c.Sides {
			body.Sides = append(body.Sides, s.ID)
		}
		return body
	}
	action := ledger.Action(1 + m.draw("action", 12))
	act := &ledger.Act{Conflict: c.ID, Side: m.some(), Action: action, Evidence: c.Evidence, Person: action == ledger.ActOverride || m.draw("person", 3) == 0}
	act.Person = act.Person || act.Side == ledger.ID{}
	return act
}
