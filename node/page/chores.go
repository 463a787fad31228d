package page

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/internal/presence"
)

// fleetPress gives a computer of this person another name, or removes it for ever.
func (s *Server) fleetPress(p *press, typed string) error {
	name := p.Form.Get("name")
	if p.Form.Get("verb") == "computers rename" {
		fresh := strings.TrimSpace(typed)
		p.Title, p.Button = "Call "+name+" otherwise", "Rename it"
		p.Typed, p.TypedHelp = "New name", "All your computers call it so as soon as they hear of it."
		p.act, p.seen = api.RenameAct(name, fresh), api.RenameAct(name, "").Binds
		p.do = func(ctx context.Context, proof presence.Proof) (api.Outcome, error) {
			return s.Fleet.Rename(ctx, name, fresh, proof)
		}
		return nil
	}
	why := api.RevokeWhy(p.Form.Get("why"))
	if !slices.Contains(api.RevokeWhys, why) {
		return fmt.Errorf("remove %s: %w: say why: lost, retired or stolen", name, api.ErrUsage)
	}
	p.Title, p.Button, p.Danger, p.act = "Remove "+name+" ("+string(why)+")", "Remove it for ever", true, api.RevokeAct(name, why)
	p.Words = []string{
		"It is cut off on all your computers as soon as they hear of it, and what it says from then on counts for nothing.",
		"What is on its disk stays there. Conversations that waited for it go on. This cannot be taken back.",
	}
	p.do = func(ctx context.Context, proof presence.Proof) (api.Outcome, error) {
		return s.Fleet.Revoke(ctx, name, why, proof)
	}
	return nil
}

// emailPress says which address this person has in policies, or with a lane its developer.
func (s *Server) emailPress(p *press, typed string) error {
	who, id := "you have", ""
	if lane := p.Form.Get("lane"); lane != "" {
		lanes, err := s.Reader.Lanes()
		if err != nil {
			return err
		}
		found, err := api.FindLane(lanes, lane)
		if err != nil {
			return err
		}
		who, id = found.Name+" has", found.ID
	}
	address := strings.TrimSpace(typed)
	p.Title, p.Button = "Say which address "+who+" in policies", "Save it"
	p.Typed, p.TypedHelp = "Address", "As .parley/policy.yaml has it behind user:, such as kim@acme.com."
	p.Words = []string{"Your own computers are told, and nobody else."}
	p.act, p.seen = api.EmailAct(id, address), api.EmailAct(id, "").Binds
	p.do = func(ctx context.Context, proof presence.Proof) (api.Outcome, error) {
		return s.Live.SetEmail(ctx, id, address, proof)
	}
	return nil
}

// pause lets this computer rest, so long or until it is told to go on.
func (s *Server) pause(ctx context.Context, length string) (api.Outcome, error) {
	if length == "" {
		return s.Actor.Pause(ctx, 0)
	}
	d, err := time.ParseDuration(length)
	if err != nil || d <= 0 {
		return api.Outcome{}, fmt.Errorf("pause %q: %w: want a duration such as 2h", length, api.ErrUsage)
	}
	return s.Actor.Pause(ctx, d)
}

// messagesShown is how many of the last messages the page has.
const messagesShown = 20

// send tells one side something, or everybody on a repository: that has a slash in its name.
func (s *Server) send(ctx context.Context, f url.Values) (api.Outcome, error) {
	to := f.Get("to")
	m := api.NewMessage{Text: strings.TrimSpace(f.Get("text"))}
	if strings.Contains(to, "/") {
		m.Repository = to
	} else {
		m.To = api.List[string]{to}
	}
	if m.Text == "" || to == "" {
		return api.Outcome{}, fmt.Errorf("send a message: %w: write something, and choose for whom", api.ErrUsage)
	}
	if _, err := s.Live.Send(ctx, m); err != nil {
		return api.Outcome{}, err
	}
	return api.Outcome{Text: "The message is sent to " + to + "."}, nil
}

// talk is the last messages, newest first, and to whom one can be sent.
type talk struct {
	Messages []api.Message
	To       [][2]string // value and words
}

func (s *Server) talk(ctx context.Context, intents []api.Intent, sessions []api.Session) (talk, error) {
	all, err := s.Live.Messages(ctx, api.MessageQuery{Max: messagesShown})
	if err != nil {
		return talk{}, err
	}
	status, err := s.Reader.Status()
	if err != nil {
		return talk{}, err
	}
	slices.Reverse(all)
	out := talk{Messages: all}
	for _, r := range status.Repositories {
		out.To = append(out.To, [2]string{r.Slug, "everybody on " + r.Slug})
	}
	for _, i := range intents[:min(len(intents), rowsMax)] {
		out.To = append(out.To, [2]string{i.Ref, listed(i.Ref, i.Developer, i.Agent, i.Branch)})
	}
	for _, x := range sessions[:min(len(sessions), rowsMax)] {
		if x.Intent == "" {
			out.To = append(out.To, [2]string{x.Ref, listed(x.Ref, x.Developer, x.Agent, x.Branch)})
		}
	}
	return out, nil
}

// keptBytesMax is how much of a kept file the page shows.
const keptBytesMax = 128 << 10

// keptFile is one kept file with what was in it.
type keptFile struct {
	api.KeptFile
	Text   string
	Binary bool
	Cut    bool
}

// kept is one kept file.
func (s *Server) kept(ctx context.Context, q url.Values) (shown, error) {
	k, err := s.Reader.KeptContent(ctx, q.Get("id"))
	if err != nil {
		return shown{}, err
	}
	out := keptFile{KeptFile: k.KeptFile, Cut: len(k.Content) > keptBytesMax}
	text := k.Content[:min(len(k.Content), keptBytesMax)]
	for out.Cut && len(text) > 0 && !utf8.RuneStart(k.Content[len(text)]) {
		text = text[:len(text)-1] // a letter is not cut in two
	}
	out.Text, out.Binary = string(text), !utf8.Valid(text) || strings.ContainsRune(string(text), 0)
	return shown{k.Path, keptFileView(out), "the kept file " + k.Path}, nil
}
