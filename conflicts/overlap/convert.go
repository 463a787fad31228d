package overlap

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/ledger"
)

// EditOf is the record body that says what a side made of one file, from what the observer knows: the file, what the
// readers of code say about it (the parts of delta with its path), and fingerprints of its added code. size is how many
// bytes the body may have; what is more is left out, and the body says so.
func EditOf(holder ledger.ID, f *detect.File, delta *detect.Delta, prints []uint64, size int) *ledger.Edit {
	e := &ledger.Edit{
		Holder: holder, Path: ledger.Path(f.Path), Op: uint64(f.Op), BaseBlob: oid(f.BaseBlob), Blob: oid(f.Blob),
		BaseMode: uint64(f.BaseMode), Mode: uint64(f.Mode), Binary: f.Binary, Made: uint64(f.Made), Quality: uint64(f.Quality),
	}
	if f.Op == detect.Rename {
		e.From, e.Emptied = ledger.Path(f.From), uint64(f.Emptied)
	}
	for _, h := range f.Hunks {
		e.Hunks = append(e.Hunks, ledger.Hunk{OldStart: h.OldStart, OldLen: h.OldLen, NewLen: h.NewLen, Hash: h.Hash})
	}
	w := wording{path: f.Path}
	for i := range delta.Symbols {
		if c := &delta.Symbols[i]; symbolPath(c.Symbol.ID) == f.Path {
			e.Symbols = append(e.Symbols, w.symbol(c))
		}
	}
	for i := range delta.Contracts {
		if c := &delta.Contracts[i]; c.Contract.Path == f.Path {
			e.Contracts = append(e.Contracts, w.contract(c))
		}
	}
	for i := range delta.References {
		if r := &delta.References[i]; r.Path == f.Path {
			e.References = append(e.References, w.reference(r))
		}
	}
	e.Prints = slices.Compact(slices.Sorted(slices.Values(prints)))
	e.Cut = w.cut
	fit(e, size)
	return e
}

// BackOf is the body that says that a path is as at the base again.
func BackOf(holder ledger.ID, path string) *ledger.Edit {
	return &ledger.Edit{Holder: holder, Path: ledger.Path(path), Op: ledger.EditBack}
}

// oid is a git id written in hexadecimal; what is none is absent.
func oid(hex string) ledger.OID {
	id, err := ledger.ParseOID(hex)
	if err != nil {
		return ""
	}
	return id
}

// wording writes ids without the edit's own path, and leaves out what no text can hold.
type wording struct {
	path string
	cut  bool
}

func (w *wording) text(s string, most int) string {
	if utf8.ValidString(s) && len(s) <= most {
		return s
	}
	w.cut = true
	return ""
}

// id shortens an id that names the edit's own path.
func (w *wording) id(id string) string {
	if scheme, rest, ok := strings.Cut(id, ":"); ok {
		if lang, rest, ok := strings.Cut(rest, ":"); ok {
			if name, ok := strings.CutPrefix(rest, w.path+"#"); ok {
				id = scheme + ":" + lang + ":#" + name
			}
		}
	}
	return w.text(id, 1200)
}

// long is the inverse of id.
func (w *wording) long(id string) string {
	if scheme, rest, ok := strings.Cut(id, ":"); ok {
		if lang, rest, ok := strings.Cut(rest, ":"); ok && strings.HasPrefix(rest, "#") {
			return scheme + ":" + lang + ":" + w.path + rest
		}
	}
	return id
}

// symbolPath is the file in a symbol's id, "" for other ids.
func symbolPath(id string) string {
	_, rest, _ := strings.Cut(id, ":")
	_, rest, _ = strings.Cut(rest, ":")
	path, _, named := strings.Cut(rest, "#")
	if !named {
		return ""
	}
	return path
}

// why are reasons as a record holds them. Where there are more, the last one says how many.
func (w *wording) why(why []string) (out []string) {
	for _, s := range why {
		if s = clip(s, 200); s != "" && utf8.ValidString(s) {
			out = append(out, s)
		}
	}
	if n := len(out) - ledger.WhyMax; n > 0 {
		out = append(out[:ledger.WhyMax-1], fmt.Sprintf("and %d more", n+1))
	}
	return out
}

// clip shortens a text to at most that many bytes; one that is cut ends with "…".
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	most -= len("…")
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}

func (w *wording) symbol(c *detect.SymbolChange) ledger.SymbolEdit {
	s := &c.Symbol
	return ledger.SymbolEdit{
		Symbol: w.id(s.ID), From: w.id(c.From), Change: uint64(c.Change), Verdict: uint64(c.Verdict), Why: w.why(c.Why),
		Container: w.id(s.Container), Package: w.text(s.Package, 1200), Exported: s.Exported, Test: s.Test,
		Signature: s.SignatureHash, Body: s.BodyHash, Sort: uint64(s.Kind),
	}
}

func (w *wording) contract(c *detect.ContractChange) ledger.ContractEdit {
	return ledger.ContractEdit{
		Contract: w.id(c.Contract.ID), Sort: uint64(c.Contract.Kind), From: w.id(c.From), Change: uint64(c.Change),
		Verdict: uint64(c.Verdict), Why: w.why(c.Why), Tail: c.Contract.Tail,
	}
}

func (w *wording) reference(r *detect.Reference) ledger.ReferenceEdit {
	return ledger.ReferenceEdit{Target: w.id(r.Target), Sort: uint64(r.Kind), Line: uint64(r.Line), Sure: r.Sure, Tail: r.Tail}
}

// fit leaves out of an edit what its lists and the size do not hold: fingerprints first, which only tell what is
// likely, then the ends of the other lists. Entries without an id, which no text could hold, go first of all.
func fit(e *ledger.Edit, size int) {
	e.Symbols = slices.DeleteFunc(e.Symbols, func(s ledger.SymbolEdit) bool { return s.Symbol == "" })
	e.Contracts = slices.DeleteFunc(e.Contracts, func(c ledger.ContractEdit) bool { return c.Contract == "" })
	e.References = slices.DeleteFunc(e.References, func(r ledger.ReferenceEdit) bool { return r.Target == "" })
	e.Symbols = keep(e, e.Symbols, ledger.SymbolsMax)
	e.Contracts = keep(e, e.Contracts, ledger.ContractsMax)
	e.References = keep(e, e.References, ledger.ReferencesMax)
	e.Hunks = keep(e, e.Hunks, ledger.HunksMax)
	if len(e.Prints) > ledger.PrintsMax {
		e.Prints = e.Prints[:ledger.PrintsMax] // the least are a fair sample
	}
	for sizeOf(e) > size {
		switch {
		case len(e.Prints) > 0:
			e.Prints = half(e.Prints)
		case len(e.References) > max(len(e.Symbols), len(e.Hunks)/4):
			e.References, e.Cut = half(e.References), true
		case len(e.Hunks) > 4*len(e.Symbols):
			e.Hunks, e.Cut = half(e.Hunks), true
		case len(e.Symbols) > 0:
			e.Symbols, e.Cut = half(e.Symbols), true
		case len(e.Contracts) > 0:
			e.Contracts, e.Cut = half(e.Contracts), true
		case len(e.References) > 0:
			e.References, e.Cut = nil, true
		case len(e.Hunks) > 0:
			e.Hunks, e.Cut = nil, true
		default:
			return
		}
	}
	e.Prints = none(e.Prints)
}

func keep[T any](e *ledger.Edit, list []T, most int) []T {
	if len(list) > most {
		list, e.Cut = list[:most], true
	}
	return none(list)
}

func half[T any](list []T) []T { return none(list[:len(list)/2]) }

// none is nil for an empty list, which is never written out.
func none[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

// sizeOf is at least how many bytes an edit takes.
func sizeOf(e *ledger.Edit) int {
	n := 240 + len(e.Path) + len(e.From) + 26*len(e.Hunks) + 9*len(e.Prints)
	for _, s := range e.Symbols {
		n += 40 + len(s.Symbol) + len(s.From) + len(s.Container) + len(s.Package) + textSize(s.Why)
	}
	for _, c := range e.Contracts {
		n += 20 + len(c.Contract) + len(c.From) + textSize(c.Why)
	}
	for _, r := range e.References {
		n += 16 + len(r.Target)
	}
	return n
}

func textSize(list []string) (n int) {
	for _, s := range list {
		n += 3 + len(s)
	}
	return n
}

// fileOf puts an edit into a digest.
func fileOf(d *detect.Digest, e *ledger.Edit, since uint64) {
	path := string(e.Path)
	f := detect.File{
		Path: path, From: string(e.From), Op: detect.Op(e.Op), BaseBlob: e.BaseBlob.String(), Blob: e.Blob.String(),
		BaseMode: uint32(e.BaseMode), Mode: uint32(e.Mode), Binary: e.Binary, Made: detect.Made(e.Made), Quality: detect.Quality(e.Quality), Since: since,
		Emptied: int(e.Emptied),
	}
	for _, h := range e.Hunks {
		f.Hunks = append(f.Hunks, detect.Hunk{OldStart: h.OldStart, OldLen: h.OldLen, NewLen: h.NewLen, Hash: h.Hash})
	}
	d.Files = append(d.Files, f)
	w := wording{path: path}
	for i := range e.Symbols {
		s := &e.Symbols[i]
		d.Symbols = append(d.Symbols, detect.SymbolChange{
			Symbol: detect.Symbol{
				ID: w.long(s.Symbol), Kind: detect.SymbolKind(s.Sort), Container: w.long(s.Container), Exported: s.Exported, Test: s.Test,
				Package: s.Package, SignatureHash: s.Signature, BodyHash: s.Body,
			},
			From: w.long(s.From), Change: detect.Change(s.Change), Verdict: detect.Verdict(s.Verdict), Why: s.Why,
		})
	}
	for _, c := range e.Contracts {
		d.Contracts = append(d.Contracts, detect.ContractChange{
			Contract: detect.Contract{ID: w.long(c.Contract), Kind: detect.ContractKind(c.Sort), Path: path, Tail: c.Tail},
			From:     w.long(c.From), Change: detect.Change(c.Change), Verdict: detect.Verdict(c.Verdict), Why: c.Why,
		})
	}
	for _, r := range e.References {
		d.References = append(d.References, detect.Reference{
			Kind: detect.ReferenceKind(r.Sort), Target: w.long(r.Target), Path: path, Line: uint32(r.Line), Sure: r.Sure, Tail: r.Tail,
		})
	}
	d.Prints = append(d.Prints, e.Prints...)
	if e.Cut {
		d.Unreadable = append(d.Unreadable, path)
	}
}

// ClaimOf is the record body that says all that a side holds.
func ClaimOf(holder ledger.ID, claims []detect.Claim) *ledger.Claim {
	out := &ledger.Claim{Holder: holder}
	for _, c := range claims {
		h := ledger.Held{Kind: uint64(c.Kind), Pattern: c.Pattern, Exclusive: c.Exclusive}
		if c.Covers >= 0 {
			n := uint64(c.Covers)
			h.Covers = &n
		}
		out.Claims = append(out.Claims, h)
	}
	slices.SortStableFunc(out.Claims, func(a, b ledger.Held) int {
		if a.Kind != b.Kind {
			return int(a.Kind) - int(b.Kind)
		}
		if c := strings.Compare(a.Pattern, b.Pattern); c != 0 {
			return c
		}
		if a.Exclusive && !b.Exclusive {
			return -1
		}
		return 0
	})
	out.Claims = slices.CompactFunc(out.Claims, func(a, b ledger.Held) bool { return a.Kind == b.Kind && a.Pattern == b.Pattern })
	return out
}

// validText is a path or an id as a record can hold it, "" for none.
func validText(s string) string {
	if s = clip(s, 1200); !utf8.ValidString(s) {
		return ""
	}
	return s
}
