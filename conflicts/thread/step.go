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
	case self.Party < 0 || self.Party >= len(s.Open.Parties):
		p.e.Say = "this computer is not involved"
	case s.Gone[self.Party]:
		p.e.Say = "this computer was removed from its fleet"
	case s.Opaque:
		if s.Adopted[self.Party] == (ledger.ID{}) {
			p.hold()
		}
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
	p.passOn()
	p.overdueCard()
	p.forkCard()
	p.markersCard()
	p.keptCard()
	p.e.Waits = p.waits()
	p.e.Say = p.say()
}

// fresh reports whether the outside world was looked at for the present state.
func (p *stepping) fresh() bool { return p.f.Look.For == p.s.Head() && !p.f.Look.At.IsZero() }

func (p *stepping) interimInForce() bool { return p.s.Phase != Opened || p.f.InterimFired }

func (p *stepping) author() bool { return p.f.Look.Author }

// own reports whether this computer is of the fleet that opened the conversation; otherwise it takes part
// through a lane.
func (p *stepping) own() bool { return p.s.Open.Fleet == p.self.Fleet }

// speaks reports whether this computer states what its party thinks. A lane is one party: the computer
// that its desk answered from first goes on speaking for it, so that two of them never contradict each
// other.
func (p *stepping) speaks() bool {
	if p.own() {
		return true
	}
	by := p.s.Statements[p.self.Party].Device
	return p.self.Desk && (by == ledger.Device{} || by == p.self.Device)
}

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
	p.show(Card{Code: code, Title: title, What: what, Why: why})
}

// show puts a card into the inbox. Each matter has one: where two rules meet it, the first has said it.
func (p *stepping) show(card Card) {
	if !slices.ContainsFunc(p.e.Cards, func(c Card) bool { return c.Code == card.Code }) {
		p.e.Cards = append(p.e.Cards, card)
	}
}

// hold keeps the files of the thread from the master sync until the final.
func (p *stepping) hold() {
	if p.s.Phase == Closed && p.s.Final == nil {
		return
	}
	for i := range p.s.Open.Files {
		p.e.Hold = append(p.e.Hold, i)
	}
}

// state says what this computer holds, once, and again only when it changes (rule A1). Files with lines
// that nobody else has make it an objection: "A computer whose master holds lines in a conflicted file
// that are in neither the pull request nor GitHub master objects automatically".
func (p *stepping) state() {
	if !p.fresh() || p.f.Look.Open != Yes || len(p.f.Look.Files) != len(p.s.Open.Files) || !p.speaks() {
		return
	}
	want, re := p.statement()
	have := p.s.Statements[p.self.Party]
	if same(want, re, have) {
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
		return &ledger.Object{Why: ledger.ObjectGaveUp}, p.s.Renewed
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
	if p.f.Presses.Keep {
		return &ledger.Object{Why: ledger.ObjectPerson}, p.s.Root.ID
	}
	if p.builds() && p.needsBuild() && p.waitsForPush() {
		ack.Wait = 1
	}
	return ack, p.s.Root.ID
}

// same compares what matters of two statements; how many lines are unpublished may change freely. A side
// gives up for the turns that it was given last.
func same(want ledger.Body, re ledger.ID, have Statement) bool {
	switch w := want.(type) {
	case *ledger.Ack:
		return have.Ack != nil && slices.Equal(w.Classes, have.Ack.Classes) && w.Wait == have.Ack.Wait
	case *ledger.Object:
		return have.Object != nil && w.Why == have.Object.Why && (w.Why != ledger.ObjectGaveUp || re == have.Re) &&
			slices.EqualFunc(w.Files, have.Object.Files, func(a, b ledger.OwnLines) bool { return a.File == b.File })
	}
	return false
}

// followInterim brings each file to the interim (rule A2), unless this is the author's computer, which
// "keeps the pull request's changes in those files until the final lands". Another fleet's computer takes
// nothing but master's copy (P5).
func (p *stepping) followInterim() {
	if !p.interimInForce() || !p.fresh() || p.f.Look.Open != Yes || p.author() || !p.f.Look.OnBase || p.f.Presses.Keep ||
		len(p.f.Look.Files) != len(p.s.Open.Files) {
		return
	}
	for i, f := range p.f.Look.Files {
		want := f.Tip
		if slices.Contains(p.s.Pick, uint64(i)) && p.own() {
			want = p.s.Open.Files[i].Pull
		}
		if f.Replaceable && f.Here != want {
			p.e.Do = append(p.e.Do, Replace{File: i, Want: want, Executable: f.Executable})
		}
	}
}
