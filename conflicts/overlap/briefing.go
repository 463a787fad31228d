package overlap

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/ledger"
)

// BriefingMax is how many things one briefing says; an agent reads each of them at the cost of its attention.
const BriefingMax = 8

// Fact is one thing to tell a side. The key is the same for as long as there is nothing new to say about it: what was
// told once need not be told again.
type Fact struct {
	Key      string
	Rank     int // 1 is said first
	Text     string
	Conflict ledger.ID // zero for what is about no conflict
}

// Briefing is what a side should know, the weightiest first.
type Briefing struct {
	Side  Side
	Facts []Fact
	More  int // how many were left out
}

// The ranks of facts.
const (
	rankBlocked = iota + 1
	rankBlocking
	rankMessage
	rankAnswer
	rankWarning
	rankExpiry
	rankInfo
)

// Briefing is what a session, or the intent that carries its work, should know (C1, C17).
func (f *Fold) Briefing(id ledger.ID) Briefing {
	f.settle()
	return f.SettledBriefing(id)
}

// SettledBriefing is a briefing of what was settled last.
func (f *Fold) SettledBriefing(id ledger.ID) Briefing {
	s := f.acting(id)
	if s == nil {
		return Briefing{}
	}
	b := Briefing{Side: f.view(s)}
	for _, i := range f.mine[s.id] {
		f.brief(&b, s, &f.list[i])
	}
	f.letters(&b, s, id)
	if s.phase == Idle || s.phase == Expired {
		b.add(rankExpiry, fmt.Sprintf("phase:%s:%s", hex.EncodeToString(s.id[:8]), s.phase), s.expiry(), ledger.ID{})
	}
	slices.SortStableFunc(b.Facts, func(a, b Fact) int { return a.Rank - b.Rank })
	if n := len(b.Facts); n > BriefingMax {
		b.Facts, b.More = b.Facts[:BriefingMax], n-BriefingMax
	}
	return b
}

func (b *Briefing) add(rank int, key, text string, about ledger.ID) {
	b.Facts = append(b.Facts, Fact{Key: key, Rank: rank, Text: text, Conflict: about})
}

// brief tells a conflict, and what the other side did about it.
func (f *Fold) brief(b *Briefing, s *side, c *Conflict) {
	if c.MutedFor(s.root) {
		return
	}
	rank := rankInfo
	switch {
	case c.Blocking && c.Blocked == s.id:
		rank = rankBlocked
	case c.Blocking:
		rank = rankBlocking
	case c.Severity >= detect.Warn:
		rank = rankWarning
	}
	b.add(rank, c.Fact(), c.Words(s.id), c.ID)
	for _, a := range c.Acts {
		if (a.Side == ledger.ID{} || a.By.Root != s.root) && !rules[a.Action].feedback {
			b.add(rankAnswer, "act:"+hex.EncodeToString(a.ID[:8]), a.words(c), c.ID)
		}
	}
}

// Fact is the key of what there is to tell about a conflict now: another one once the evidence changed, or once it
// blocks, or blocks no more.
func (c *Conflict) Fact() string {
	return fmt.Sprintf("conflict:%s:%s:%d:%d", hex.EncodeToString(c.ID[:8]), hex.EncodeToString(c.Evidence[:8]), c.Severity, c.Reopened)
}

// Words tell a side of a conflict.
func (c *Conflict) Words(to ledger.ID) string {
	what := c.Severity.String()
	switch {
	case c.Blocking && c.Blocked == to:
		what = "blocks you"
	case c.Blocking:
		what = "blocks the other side"
	}
	text := fmt.Sprintf("%s (%s, %s, %s): %s", c.Name, c.Kind, what, c.Status, c.Sentence)
	switch {
	case c.Suggestion == "":
	case c.Blocking && c.Blocked != to: // it is for who has to wait
		text += " The other side is told: " + c.Suggestion
	default:
		text += " " + c.Suggestion
	}
	return text
}

// words tell of an act.
func (a Said) words(c *Conflict) string {
	who := a.By.Ref
	if who == "" {
		who = a.Who.Name
	}
	if who == "" {
		who = "somebody"
	}
	text := fmt.Sprintf("%s on %s: %s", who, c.Name, WordOf(a.Action))
	if a.Action == ledger.ActRequestOverride {
		text += " (" + OverrideMessage(c.Name) + ")"
	}
	if a.Note != "" {
		text += ": " + a.Note
	}
	return text
}

// OverrideMessage is what everybody who may override is sent once an override is requested (C14).
func OverrideMessage(conflict string) string { return "Override requested for " + conflict }

// letters tells the messages to a side. One to nobody in particular is for everybody near: the sides that its sender
// has a conflict with.
func (f *Fold) letters(b *Briefing, s *side, also ledger.ID) {
	for _, it := range slices.Backward(f.words) {
		m := it.Content.(*ledger.Message)
		from := f.sides[m.From]
		if f.now > it.when() && f.now-it.when() > ExpiresAfter || !f.honest(it, m.From) || from != nil && (from == s || from.session == s.session && s.session != ledger.ID{}) {
			continue
		}
		to := slices.ContainsFunc(m.To, func(id ledger.ID) bool { return id == s.id || id == s.session || id == also })
		if !to && (len(m.To) > 0 || from != nil && !f.near(s, from)) {
			continue
		}
		name := f.people[it.Device].Name
		if from != nil {
			name = from.digest.Side.Ref
		}
		if name == "" {
			name = "somebody"
		}
		b.add(rankMessage, "message:"+hex.EncodeToString(it.ID[:8]), fmt.Sprintf("%s writes: %s", name, m.Text), ledger.ID{})
	}
}

// honest reports whether a record is of who it says it is from; a person is whoever has the computer.
func (f *Fold) honest(it item, from ledger.ID) bool {
	if from == (ledger.ID{}) {
		return true
	}
	s := f.sides[from]
	return s != nil && s.who == f.developer(it.Device)
}

// near reports whether two sides have a live conflict.
func (f *Fold) near(a, b *side) bool {
	return slices.ContainsFunc(f.mine[a.id], func(i int) bool {
		return slices.ContainsFunc(f.list[i].Sides, func(o Side) bool { return o.ID == b.id })
	})
}

func (s *side) expiry() string {
	if s.phase == Expired {
		return s.digest.Side.Ref + " expired: nothing was heard of it for too long, and nobody holds its claims for taken any more. Declare the work anew to go on."
	}
	return s.digest.Side.Ref + " is idle: it expires when nothing is heard of it."
}

// Message is one message of live work.
type Message struct {
	ID    ledger.ID
	Place Place
	From  ledger.ID // zero: a person
	To    []ledger.ID
	Text  string
	Re    []ledger.ID
	Who   Person
	At    uint64
}

// Messages lists what sides and people wrote to each other, in order.
func (f *Fold) Messages() (all []Message) {
	f.settle()
	for _, it := range f.words {
		if m := it.Content.(*ledger.Message); f.honest(it, m.From) {
			all = append(all, Message{ID: it.ID, Place: it.place, From: m.From, To: m.To, Text: m.Text, Re: it.Re, Who: f.people[it.Device], At: it.At})
		}
	}
	return all
}

// bind lists the live conflicts of each side.
func (f *Fold) bind() {
	f.mine = map[ledger.ID][]int{}
	for i := range f.list {
		c := &f.list[i]
		if !c.Status.Live() {
			continue
		}
		for n, s := range c.Sides {
			if !slices.ContainsFunc(c.Sides[:n], func(o Side) bool { return o.ID == s.ID }) {
				f.mine[s.ID] = append(f.mine[s.ID], i)
			}
		}
	}
}

// say puts a decision into words for the agent.
func (d *Decision) say(s *side) string {
	var lines []string
	for i := range d.Conflicts {
		lines = append(lines, d.Conflicts[i].Words(s.id))
	}
	return strings.Join(lines, "\n")
}
