package detect

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is the kind of a finding, in the owner's words.
type Kind string

// The kinds, in the order in which findings are listed.
const (
	ProtectedPath   Kind = "protected_path"
	ContractBreak   Kind = "contract_break"
	TextualMerge    Kind = "textual_merge"
	SymbolOverlap   Kind = "symbol_overlap"
	PathOverlap     Kind = "path_overlap"
	DependencyOrder Kind = "dependency_order"
	DuplicateWork   Kind = "duplicate_work"
)

// Kinds is every kind, in order.
var Kinds = []Kind{ProtectedPath, ContractBreak, TextualMerge, SymbolOverlap, PathOverlap, DependencyOrder, DuplicateWork}

// Severity is how loud a finding is.
type Severity uint8

// The severities.
const (
	Info Severity = iota + 1
	Warn
	Block
)

var severities = []string{Info: "info", Warn: "warn", Block: "block"}

// String is the word used in policies and on pages.
func (s Severity) String() string { return severities[s] }

// MarshalText is the word.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// ParseSeverity reads the word.
func ParseSeverity(word string) (Severity, bool) {
	i := slices.Index(severities, word)
	return Severity(max(i, 0)), i > 0
}

// Evidence is what a finding rests on (C9).
type Evidence string

// The classes of evidence.
const (
	Declared Evidence = "declared" // what a side says it does
	Observed Evidence = "observed" // what a side did
	Inferred Evidence = "inferred" // what follows from it, likely
)

// Confidence is in hundredths, so that all computers count alike.
type Confidence uint8

// String has two digits after the point.
func (c Confidence) String() string { return fmt.Sprintf("%d.%02d", c/100, c%100) }

// MarshalJSON is a number.
func (c Confidence) MarshalJSON() ([]byte, error) { return []byte(c.String()), nil }

// scaled is c weakened to that many hundredths of itself.
func (c Confidence) scaled(by int) Confidence { return Confidence(int(c) * by / 100) }

// Finding is one overlap or incompatibility.
type Finding struct {
	Kind       Kind       `json:"kind"`
	Severity   Severity   `json:"severity"`
	Confidence Confidence `json:"confidence"`
	Evidence   Evidence   `json:"evidence"`
	Blocking   bool       `json:"blocking"`
	Blocked    string     `json:"blocked,omitempty"`    // the side that has to wait: the newcomer
	Sides      []string   `json:"sides"`                // refs, in the order of the sentence
	About      []string   `json:"about"`                // paths, patterns, symbols or contracts, ascending
	Exclusive  bool       `json:"exclusive,omitempty"`  // about an exclusive claim
	Regenerate bool       `json:"regenerate,omitempty"` // the files are made again, not merged
	Sentence   string     `json:"sentence"`
	Suggestion string     `json:"suggestion"`
	From       []Source   `json:"from"` // what anyone needs to find the same
}

// Source is one content that a finding was computed from.
type Source struct {
	Side string `json:"side"`
	Base string `json:"base,omitempty"` // the commit
	Path string `json:"path,omitempty"`
	Old  string `json:"old,omitempty"` // the blob at Base
	New  string `json:"new,omitempty"` // the blob now
}

// Key names what a finding is about: the same overlap has the same key whenever it is found.
func (f Finding) Key() string {
	sides := slices.Clone(f.Sides)
	if f.Kind != ContractBreak && f.Kind != DependencyOrder {
		slices.SortFunc(sides, CompareRefs)
	}
	parts := append([]string{string(f.Kind)}, sides...)
	if f.Kind == ContractBreak || f.Kind == ProtectedPath || f.Exclusive || f.Regenerate {
		parts = append(parts, f.About...)
	}
	return strings.Join(parts, "\x00")
}

// Doubt is a question that could not be answered.
type Doubt struct {
	Kind  Kind     `json:"kind"`
	Sides []string `json:"sides"`
	Why   string   `json:"why"`
}

// Report is what was found. Its order depends on what was found alone.
type Report struct {
	Findings []Finding `json:"findings"`
	Doubts   []Doubt   `json:"cannot_tell"`
}

func (r *Report) add(findings ...Finding) { r.Findings = append(r.Findings, findings...) }

func (r *Report) doubt(kind Kind, why string, sides ...string) {
	r.Doubts = append(r.Doubts, Doubt{Kind: kind, Sides: sides, Why: why})
}

// Sort puts a report in order: by kind, loudest first, then by sides and what it is about.
func (r *Report) Sort() {
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return firstOf(
			int(b.Severity)-int(a.Severity),
			slices.Index(Kinds, a.Kind)-slices.Index(Kinds, b.Kind),
			slices.CompareFunc(a.Sides, b.Sides, CompareRefs),
			slices.Compare(a.About, b.About),
			strings.Compare(a.Sentence, b.Sentence),
		)
	})
	slices.SortStableFunc(r.Doubts, func(a, b Doubt) int {
		return firstOf(
			slices.Index(Kinds, a.Kind)-slices.Index(Kinds, b.Kind),
			slices.CompareFunc(a.Sides, b.Sides, CompareRefs),
			strings.Compare(a.Why, b.Why),
		)
	})
	r.Doubts = slices.CompactFunc(r.Doubts, func(a, b Doubt) bool {
		return a.Kind == b.Kind && a.Why == b.Why && slices.Equal(a.Sides, b.Sides)
	})
}

func firstOf(orders ...int) int {
	for _, o := range orders {
		if o != 0 {
			return o
		}
	}
	return 0
}
