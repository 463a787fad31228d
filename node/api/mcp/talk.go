package mcp

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/parley-mesh/parley/node/api"
)

type sendIn struct {
	Text       string   `json:"text" jsonschema:"what you want to tell them"`
	To         []string `json:"to,omitempty" jsonschema:"sides: INT-... or S-...; without it everybody on the repository"`
	Re         string   `json:"re,omitempty" jsonschema:"the message that this one answers"`
	Repository string   `json:"repository,omitempty" jsonschema:"owner/name, where neither to nor your session says it"`
	Session    string   `json:"session,omitempty" jsonschema:"your session; without it the one of this checkout"`
}

type messagesIn struct {
	Repository string `json:"repository,omitempty" jsonschema:"owner/name; without it every repository"`
	Session    string `json:"session,omitempty" jsonschema:"only to and from this session or intent"`
	Last       int    `json:"last,omitempty" jsonschema:"how many of the last ones; default 20"`
}

type threadIn struct {
	Ref string `json:"ref" jsonschema:"acme/shop#42, or the start of the conversation's id"`
}

// sent says that a message is on its way.
type sent struct {
	ID string    `json:"message"`
	At time.Time `json:"at"`
	To []string  `json:"to"`
}

// conversation is one conversation about a pull request.
type conversation struct {
	Ref     string   `json:"conversation"`
	Phase   string   `json:"phase"`
	Waiting string   `json:"waits_for"`
	Files   []file   `json:"files"`
	Parties []party  `json:"parties"`
	Records []record `json:"records"`
	Earlier int      `json:"earlier_records,omitempty"`
	Note    string   `json:"note"`
}

type file struct {
	Path  string `json:"path"`
	Here  string `json:"here"`
	Final string `json:"final,omitempty"`
}

type party struct {
	Name      string `json:"name"`
	Statement string `json:"statement,omitempty"`
	Adopted   bool   `json:"adopted,omitempty"`
}

type record struct {
	At   time.Time `json:"at"`
	Kind string    `json:"kind"`
	*quote
}

const (
	recordsMax  = 20
	messagesMax = 100
)

// talkTools are about messages and conversations.
func (s *Server) talkTools() {
	add(s, spec{
		name: "message_send", title: "Message another agent",
		about: `Send a message to another agent or developer's session to coordinate, agree on an order, ask a question, or hand work
			over. They see it as what you said, never as an instruction.`,
		limits: map[string]*jsonschema.Schema{"text": between(1, api.MessageMax), "to": atMost(api.AddressMax)},
	}, s.send)
	add(s, spec{
		name: "message_list", title: "Read messages", reads: true,
		about:  `List messages between agents, sessions and people about live work: the inbox of your session, newest last.`,
		limits: map[string]*jsonschema.Schema{"last": count(1, messagesMax)},
	}, s.messages)
	add(s, spec{
		name: "thread_read", title: "Read a pull request's conversation", reads: true,
		about: `Read the conversation in which computers settle a conflicting pull request: its files, who takes part, what was said,
			what is agreed and what it waits for.`,
		limits: map[string]*jsonschema.Schema{"ref": between(1, 300)},
	}, s.thread)
}

func (s *Server) send(ctx context.Context, in sendIn) (sent, error) {
	m, err := s.o.Client.Send(ctx, api.NewMessage{To: in.To, Text: in.Text, Re: in.Re, Repository: in.Repository, Caller: s.caller(in.Session)})
	return sent{m.ID, m.At, append([]string{}, m.To...)}, err
}

func (s *Server) messages(ctx context.Context, in messagesIn) (page[message], error) {
	if in.Last == 0 {
		in.Last = 20
	}
	q := api.MessageQuery{Repository: in.Repository, Max: in.Last + 1, Caller: api.Caller{Session: in.Session}}
	all, err := s.o.Client.Messages(ctx, q)
	older := len(all) > in.Last
	all = all[max(0, len(all)-in.Last):]
	out := make([]message, 0, len(all))
	for _, m := range slices.Backward(all) { // the newest are kept where there is no room for all
		out = append(out, messageOf(m))
	}
	p := paged(out, 0, quoted)
	switch left := len(all) - len(p.Items); {
	case left > 0:
		p.Note += fmt.Sprintf(" %d older ones did not fit; the command parley messages shows them.", left)
	case older && in.Last < messagesMax:
		p.Note += fmt.Sprintf(" There are older ones: ask with last up to %d.", messagesMax)
	case older:
		p.Note += " There are older ones; the command parley messages shows them."
	}
	p.Next = 0
	slices.Reverse(p.Items)
	return p, err
}

func (s *Server) thread(ctx context.Context, in threadIn) (conversation, error) {
	t, err := s.o.Client.Thread(in.Ref)
	if err != nil {
		return conversation{}, err
	}
	out := conversation{Ref: t.Ref, Phase: t.Phase, Waiting: t.Waiting, Files: []file{}, Parties: []party{}, Records: []record{}, Note: quoted}
	for _, f := range t.Files {
		out.Files = append(out.Files, file{f.Path, f.Here, f.Final})
	}
	for _, p := range t.Parties {
		out.Parties = append(out.Parties, party{p.Name, p.Statement, p.Adopted})
	}
	counted := slices.DeleteFunc(slices.Clone(t.Records), func(r api.ThreadRecord) bool { return !r.Counted })
	out.Earlier = max(0, len(counted)-recordsMax)
	for _, r := range counted[out.Earlier:] {
		out.Records = append(out.Records, record{r.At, r.Kind, said(r.Who, r.Sentence, 200)})
	}
	return out, ctx.Err()
}
