package thread

import (
	"slices"
	"time"

	"github.com/parley-mesh/parley/ledger"
)

// stepping is one evaluation of the reconciler.
type stepping struct {
	s    *State
	self Self
	f    Facts
	t    Timers
	now  time.Time
	e    Effects
}

// Step says what a computer should do about a thread now. It is idempotent: with the same state, facts
// and time it asks for the same, and asking again after a crash is harmless.
func Step(s *State, self Self, f Facts, t Timers, now time.Time) Effects {
	p := stepping{s: s, self: self, f: f, t: t, now: now}
	switch {
	case s.Phase == None:
		p.e.Say = "its opening has not arrived here yet"
	case self.Party < 0:
		p.e.Say = "this computer is not involved"
	case s.Opaque:
		p.card("C10", "Update parley on this computer", "the conversation about "+p.subject()+" holds something that this version does not understand", "it is kept and passed on, and nothing is adopted or published meanwhile")
		p.e.Say = "it needs a newer parley here"
	default:
		p.reconcile()
	}
	return p.e
}

func (p *stepping) reconcile() {
	if p.s.Phase == Opened || p.s.Phase == Interim {
		p.hold()
		p.state()
		p.followInterim()
		p.buildFinal()
	}
	if p.s.Phase == Final || p.s.Phase == Closed {
		p.adopt()
	}
	if p.self.Main && p.s.Phase != Closed {
		p.lead()
	}
	p.deadlineCards()
	p.e.Say = p.say()
}

// fresh reports whether the outside world was looked at for the present state.
func (p *stepping) fresh() bool { return p.f.Look.For == p.s.Head() && !p.f.Look.At.IsZero() }

func (p *stepping) interimInForce() bool { return p.s.Phase != Opened || p.f.InterimFired }

func (p *stepping) author() bool { return p.f.Look.Author }

// by notes that the step should run again at a time.
func (p *stepping) by(at time.Time) {
	if p.e.Next.IsZero() || at.Before(p.e.Next) {
		p.e.Next = at
	}
}

func (p *stepping) emit(content ledger.Body, re ...ledger.ID) {
	if p.e.Emit == nil {
		p.e.Emit = &Draft{Content: content, Re: re}
	}
}

func (p *stepping) emitSpine(content ledger.Body, re ...ledger.ID) {
	if p.e.Emit == nil {
		p.e.Emit = &Draft{Content: content, Re: re, Spine: p.s.Head(), Claim: p.self.Claim}
	}
}

// card shows a matter once, whichever rules find it (S17).
func (p *stepping) card(code, title, what, why string) {
	if slices.ContainsFunc(p.e.Cards, func(c Card) bool { return c.Code == code }) {
		return
	}
	p.e.Cards = append(p.e.Cards, Card{Code: code, Title: title, What: what, Why: why})
}

// hold keeps the files of the thread from the master sync until the final.
func (p *stepping) hold() {
	for i := range p.s.Open.Files {
		p.e.Hold = append(p.e.Hold, i)
	}
}

// state says what this computer holds, once, and again only when it changes (rule A1). Files with lines
// that nobody else has make it an objection: "A computer whose master holds lines in a conflicted file
// that are in neither the pull request nor GitHub master objects automatically".
func (p *stepping) state() {
	if !p.fresh() || p.f.Look.Open != Yes {
		return
	}
	want, re := p.statement()
	have := p.s.Statements[p.self.Party]
	if same(want, have) {
		return
	}
	if again := p.f.Stated.Add(p.t.Restate); !p.f.Stated.IsZero() && p.now.Before(again) {
		p.by(again)
		return
	}
	p.emit(want, re)
}

func (p *stepping) statement() (ledger.Body, ledger.ID) {
	if p.gaveUp() {
		return &ledger.Object{Why: ledger.ObjectGaveUp}, p.s.Root.ID
	}
	object := &ledger.Object{Why: ledger.ObjectUnpublished}
	ack := &ledger.Ack{}
	for i, f := range p.f.Look.Files {
		switch {
		case f.Class == 0:
			object.Files = append(object.Files, ledger.OwnLines{File: uint64(i), Lines: uint64(f.Lines)})
		case p.author():
			ack.Classes = append(ack.Classes, ledger.KeepsAuthor)
		default:
			ack.Classes = append(ack.Classes, f.Class)
		}
	}
	if len(object.Files) > 0 {
		return object, p.s.Root.ID
	}
	if p.responsible() && p.built() != nil && p.waitsForPush() {
		ack.Wait = 1
	}
	return ack, p.s.Root.ID
}

// same compares what matters of two statements; how many lines are unpublished may change freely.
func same(want ledger.Body, have Statement) bool {
	switch w := want.(type) {
	case *ledger.Ack:
		return have.Ack != nil && slices.Equal(w.Classes, have.Ack.Classes) && w.Wait == have.Ack.Wait
	case *ledger.Object:
		return have.Object != nil && w.Why == have.Object.Why &&
			slices.EqualFunc(w.Files, have.Object.Files, func(a, b ledger.OwnLines) bool { return a.File == b.File })
	}
	return false
}

// followInterim brings each file to the interim (rule A2), unless this is the author's computer, which
// "keeps the pull request's changes in those files until the final lands". Another fleet's computer takes
// nothing but master's copy (P5).
func (p *stepping) followInterim() {
	if !p.interimInForce() || !p.fresh() || p.f.Look.Open != Yes || p.author() || !p.f.Look.OnBase {
		return
	}
	for i, f := range p.f.Look.Files {
		want := f.Tip
		if slices.Contains(p.s.Pick, uint64(i)) && p.s.Open.Fleet == p.self.Fleet {
			want = p.s.Open.Files[i].Pull
		}
		if f.Replaceable && f.Here != want {
			p.e.Do = append(p.e.Do, Replace{File: i, Want: want, Executable: f.Executable})
		}
	}
}

// adopt takes the verified final and confirms it (rule A4). Until it is verified nothing changes, and a
// copy that is not published stays as it is, visibly.
func (p *stepping) adopt() {
	if p.s.Final == nil || p.s.Adopted[p.self.Party] != (ledger.ID{}) {
		return
	}
	if !p.fresh() || p.f.Look.Final != Yes {
		p.hold()
		if p.now.Sub(time.UnixMilli(int64(p.s.Final.At))) > p.t.Unproven {
			p.card("C13", "GitHub does not hold the named final", p.subject()+": "+p.f.Look.FinalWhy, "this computer keeps its copies and looks again")
		}
		return
	}
	results := &ledger.Adopted{Tip: p.f.Look.Tip}
	for i, f := range p.f.Look.Files {
		if p.f.Look.OnBase && f.Replaceable && f.Here != f.Tip {
			p.e.Do = append(p.e.Do, Replace{File: i, Want: f.Tip, Executable: f.Executable})
		}
		results.Results = append(results.Results, p.result(i, f))
	}
	if len(p.e.Do) == 0 {
		p.emit(results, p.s.Final.ID)
	}
}

func (p *stepping) result(i int, f File) ledger.Result {
	took := slices.Contains(p.f.Took, i)
	switch {
	case !p.f.Look.OnBase || f.Class == ledger.NotHere:
		return ledger.WasNotHere
	case f.Here != f.Tip:
		return ledger.KeptOwn
	case took && f.Tip == "":
		return ledger.TookDeletion
	case took:
		return ledger.Took
	}
	return ledger.HadIt
}
