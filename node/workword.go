package node

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/conflicts/overlap"
	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/node/api"
)

// briefingMax is how long a briefing's text may be, in characters.
const briefingMax = 8000

// Briefing is what a session should know; reading it marks its messages as told.
func (l *live) Briefing(ctx context.Context, who api.Caller) (api.Briefing, error) {
	l.seeSide(ctx, who)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.settled(); err != nil {
		return api.Briefing{}, err
	}
	s, side, err := l.callerOf(who)
	if err != nil {
		return api.Briefing{}, err
	}
	out := api.Briefing{At: l.n.wall(), Conflicts: api.List[api.Conflict]{}, Near: api.List[api.Intent]{}, Messages: api.List[api.Message]{}}
	if v, ok := l.fold.Side(s.id); ok {
		out.Session = v.Ref
	}
	if v, ok := l.fold.Side(side); ok && v.Kind == detect.Intent {
		out.Intent = v.Ref
	}
	for _, m := range l.fold.Messages() {
		if key := messageKey(m.ID); l.concerns(m, s, side) && !slices.Contains(s.told, key) {
			out.Messages = append(out.Messages, l.message(m))
		}
	}
	var lines []string
	b := l.fold.Briefing(s.id)
	for _, f := range b.Facts {
		lines = append(lines, quoted(f.Text))
		if !who.Peek {
			s.told.add(f.Key)
			delete(s.unsure, f.Key)
		}
	}
	if b.More > 0 {
		lines = append(lines, fmt.Sprintf("%d more: parley conflicts", b.More))
	}
	if near := l.near(s); near != "" {
		lines = append(lines, near)
	}
	if len(lines) == 0 {
		lines = []string{"Nobody else works near you, and nothing conflicts."}
	}
	room := quoteFiles
	for _, f := range b.Facts {
		quotes := l.quote(f.Conflict, side, &room)
		if lines = append(lines, quotes...); len(quotes) > 0 && !who.Peek {
			s.told.add(linesFact(f))
		}
	}
	out.Text = clipText(strings.Join(lines, "\n"), briefingMax)
	for _, c := range l.fold.Conflicts() {
		if c.Status.Live() && slices.ContainsFunc(c.Sides, func(o overlap.Side) bool { return o.ID == side }) {
			out.Conflicts = append(out.Conflicts, l.conflict(c))
		}
	}
	counts := l.liveCount()
	for _, o := range l.fold.Sides() {
		if o.Kind == detect.Intent && o.Place == s.repo.Place && o.Session != s.id && !o.Left && (o.Phase == overlap.Working || o.Phase == overlap.Idle) {
			out.Near = append(out.Near, l.shownIntent(o, counts))
		}
	}
	l.keepSession(s)
	return out, nil
}

// messageKey is the key of the fact that a message is.
func messageKey(id ledger.ID) string { return "message:" + id.String()[:16] }

// concerns reports whether a message is to or from a session, or to everybody.
func (l *live) concerns(m overlap.Message, s *session, side ledger.ID) bool {
	from := m.From == s.id || m.From == side
	return !from && (len(m.To) == 0 || slices.Contains(m.To, s.id) || slices.Contains(m.To, side))
}

// message is one as callers see it.
func (l *live) message(m overlap.Message) api.Message {
	own := l.n.roster.get()
	out := api.Message{ID: m.ID.String(), At: moment(m.At), Text: m.Text, Own: m.Who.Fleet == own.Fleet, Person: m.From == ledger.ID{}, Who: m.Who.Name, To: api.List[string]{}, Repository: l.slugOf(m.Place)}
	if s, ok := l.fold.Side(m.From); ok {
		out.From, out.Who = s.Ref, s.Label
	}
	for _, id := range m.To {
		if s, ok := l.fold.Side(id); ok {
			out.To = append(out.To, s.Ref)
		}
	}
	if len(m.Re) > 0 {
		out.Re = m.Re[0].String()
	}
	return out
}

// messagesMax is how many messages are listed where nobody says.
const messagesMax = 50

// Messages lists the last ones, oldest first.
func (l *live) Messages(_ context.Context, q api.MessageQuery) ([]api.Message, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.settled(); err != nil {
		return nil, err
	}
	var s *session
	var side ledger.ID
	if q.Caller != (api.Caller{}) {
		var err error
		if s, side, err = l.callerOf(q.Caller); err != nil {
			return nil, err
		}
	}
	out := []api.Message{}
	for _, m := range l.fold.Messages() {
		shown := l.message(m)
		mine := s == nil || m.From == s.id || m.From == side || l.concerns(m, s, side)
		if mine && (q.Repository == "" || strings.EqualFold(q.Repository, shown.Repository)) {
			out = append(out, shown)
		}
	}
	if s == nil {
		out = append(out, l.systemMessages(q.Repository)...)
	}
	slices.SortStableFunc(out, func(a, b api.Message) int { return a.At.Compare(b.At) })
	most := q.Max
	if most == 0 {
		most = messagesMax
	}
	return out[max(0, len(out)-most):], nil
}

// systemMessages say that overrides were requested (C14). They are no records of their own: the requests are.
func (l *live) systemMessages(repository string) (out []api.Message) {
	for _, c := range l.fold.Conflicts() {
		slug := l.slugOf(c.Place)
		if repository != "" && !strings.EqualFold(repository, slug) {
			continue
		}
		for _, a := range c.Acts {
			if a.Action == ledger.ActRequestOverride {
				out = append(out, api.Message{ID: a.ID.String(), At: moment(a.At), Repository: slug, Who: "parley", System: true, To: api.List[string]{}, Text: overlap.OverrideMessage(c.Name), Own: a.Who.Fleet == l.n.fleet})
			}
		}
	}
	return out
}

// Send writes a message from a session, or from the person.
func (l *live) Send(_ context.Context, m api.NewMessage) (api.Message, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.settled(); err != nil {
		return api.Message{}, err
	}
	to, err := l.idsOf(m.To)
	if err != nil {
		return api.Message{}, err
	}
	text, err := whole("message", m.Text, ledger.MessageBytesMax)
	if err != nil {
		return api.Message{}, err
	}
	body := &ledger.Message{To: to, Text: text}
	var r *liveRepo
	if m.Caller != (api.Caller{}) {
		s, side, err := l.callerOf(m.Caller)
		if err != nil {
			return api.Message{}, err
		}
		body.From, r = side, s.repo
	} else if r, err = l.repoFor(m.Repository, to); err != nil {
		return api.Message{}, err
	}
	var re []ledger.ID
	if m.Re != "" {
		var id ledger.ID
		if err := id.UnmarshalText([]byte(m.Re)); err != nil {
			return api.Message{}, fmt.Errorf("re %q: %w: want the id of a message", m.Re, api.ErrUsage)
		}
		re = append(re, id)
	}
	record, err := l.write(r, body, re...)
	if err != nil {
		return api.Message{}, err
	}
	l.fold.Settle()
	for _, sent := range l.fold.Messages() {
		if sent.ID == record.ID {
			return l.message(sent), nil
		}
	}
	return api.Message{ID: record.ID.String(), At: moment(record.At), Text: body.Text, Own: true}, nil
}

// whole is a text as a record holds it. One that is too long is refused: nobody shall think that all of it was read.
func whole(what, text string, most int) (string, error) {
	text = strings.ToValidUTF8(strings.TrimSpace(text), "�")
	if len(text) > most {
		return "", fmt.Errorf("%s of %d bytes: %w: at most %d bytes, of which a character outside ASCII takes 2 to 4", what, len(text), api.ErrUsage, most)
	}
	return text, nil
}

// repoFor is the repository that a person's message is about.
func (l *live) repoFor(slug string, to []ledger.ID) (*liveRepo, error) {
	for _, r := range l.repos {
		if strings.EqualFold(r.slug, slug) {
			return r, nil
		}
	}
	if slug == "" {
		for _, id := range to {
			if s, ok := l.fold.Side(id); ok && l.repoOf(s.Place.Repo) != nil {
				return l.repoOf(s.Place.Repo), nil
			}
		}
		if len(l.repos) == 1 {
			return l.repos[0], nil
		}
	}
	return nil, fmt.Errorf("%s: %w", slug, api.ErrNoRepository)
}
