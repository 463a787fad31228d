package page

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/internal/presence"
)

// press is one act of a person, as the page asks about it. Form says which one it is; what is agreed to is made
// anew from what the node knows at every step, and must still be what the person saw.
type press struct {
	Form    url.Values
	Title   string
	Words   []string // what it means, in sentences
	Button  string
	Danger  bool
	Preview *api.Preview
	Key     string // of the card that asks for it
	Says    string // what it is about, where its exact words are for machines
	// Typed names a text that the person writes in the dialog; "" none. It belongs to the act, and cannot have been
	// seen before: seen is what was shown in its place.
	Typed, TypedHelp string
	seen             string
	act              presence.Act
	do               func(context.Context, presence.Proof) (api.Outcome, error)
}

// Binds is exactly what is agreed to, but for a text that is still to be typed.
func (p press) Binds() string { return cmp.Or(p.seen, p.act.Binds) }

// asked is a press that stands in the dialog.
type asked struct {
	press
	Demo     bool
	Passkeys int
	Fault    *api.Fault // of the last try
	Text     string     // typed in the last try
}

// pressFields are what says which act is meant.
var pressFields = []string{"verb", "card", "ref", "party", "id", "lane", "repository", "hide", "on", "action", "name", "why"}

// pressOf is the act that a form means, as things stand now.
func (s *Server) pressOf(ctx context.Context, form url.Values) (press, error) {
	p := press{Form: url.Values{}}
	for _, f := range pressFields {
		if v, ok := form[f]; ok {
			p.Form[f] = v
		}
	}
	var err error
	switch form.Get("verb") {
	case "approve":
		err = s.approval(ctx, &p)
	case "main on", "main off":
		s.mainPress(&p)
	case "close", "assign":
		err = s.threadPress(&p)
	case "respond", "override":
		err = s.conflictPress(ctx, &p, form.Get("typed"))
	case "lane conflicts":
		s.teammatesPress(&p)
	case "lane on", "lane off":
		err = s.lanePress(&p)
	case "lane work on", "lane work off":
		err = s.workPress(&p)
	case "agents on", "agents off":
		s.agentsPress(&p)
	case "agents lines on", "agents lines off":
		s.linesPress(&p)
	case "computers rename", "revoke":
		err = s.fleetPress(&p, form.Get("typed"))
	case "email":
		err = s.emailPress(&p, form.Get("typed"))
	case "op undo":
		id := form.Get("id")
		p.Title, p.Button, p.act = "Take this operation back", "Undo it", api.UndoAct(id)
		p.Words = []string{"Every file that still holds what the operation put there gets back what was there before; the rest is left alone."}
		p.do = func(ctx context.Context, proof presence.Proof) (api.Outcome, error) {
			return s.Actor.Undo(ctx, id, proof)
		}
	case "kept restore":
		id := form.Get("id")
		p.Title, p.Button, p.act = "Put this file back", "Put it back", api.RestoreAct(id)
		p.Words = []string{"What stands at its path now is kept in turn. A conversation that decides about the file leaves this computer's copies alone from then on."}
		p.do = func(ctx context.Context, proof presence.Proof) (api.Outcome, error) {
			return s.Actor.Restore(ctx, id, proof)
		}
	case "passkey remove":
		id := form.Get("id")
		p.Title, p.Button, p.act = "Remove this passkey", "Remove it", api.PasskeyRemoveAct(id)
		p.Words = []string{"It presses nothing here from then on."}
		p.do = func(ctx context.Context, proof presence.Proof) (api.Outcome, error) {
			return s.Pages.RemovePasskey(ctx, id, proof)
		}
	default:
		err = fmt.Errorf("press %q: %w", form.Get("verb"), api.ErrUsage)
	}
	return p, err
}

// approval is what a card in the inbox asks for.
func (s *Server) approval(ctx context.Context, p *press) error {
	key := p.Form.Get("card")
	cards, err := s.Reader.Inbox()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(cards, func(c api.Card) bool { return c.Key == key && c.Verb == "approve" })
	if i < 0 {
		return fmt.Errorf("approve %s: %w", key, api.ErrNoCard)
	}
	c := cards[i]
	p.Key, p.Title, p.Button, p.act = key, c.Title, c.Button, api.ApproveAct(c)
	for _, w := range []string{c.What, c.Why} {
		if w != "" {
			p.Words = append(p.Words, w)
		}
	}
	preview, err := s.Pages.Preview(ctx, key)
	if err != nil {
		return err
	}
	if preview.Binds != c.Binds {
		return fmt.Errorf("approve %s: %w", key, api.ErrCardChanged)
	}
	p.Preview = &preview
	p.do = func(ctx context.Context, proof presence.Proof) (api.Outcome, error) {
		return s.Actor.Approve(ctx, key, proof)
	}
	return nil
}

func (s *Server) mainPress(p *press) {
	on := p.Form.Get("verb") == "main on"
	p.act = api.MainAct(on)
	p.Title, p.Button = "Make this the main computer", "Make this the main computer"
	p.Words = []string{"The main computer alone looks at GitHub for conflicts, opens conversations and publishes results."}
	if !on {
		p.Title, p.Button = "Give the main computer's role up", "Give the role up"
		p.Words = []string{"Conversations that run go on; nothing is opened or published until a computer has the role."}
	}
	p.do = func(ctx context.Context, proof presence.Proof) (api.Outcome, error) {
		return s.Actor.SetMain(ctx, on, proof)
	}
}

func (s *Server) threadPress(p *press) error {
	t, err := s.Reader.Thread(p.Form.Get("ref"))
	if err != nil {
		return err
	}
	if p.Form.Get("verb") == "close" {
		p.Title, p.Button, p.Danger, p.act = "End the conversation about "+t.Ref, "End it", true, api.CloseAct(t.ID)
		p.Words = []string{"The files stay as they are. A pull request that still conflicts is opened again at the next scan."}
		p.do = func(ctx context.Context, proof presence.Proof) (api.Outcome, error) {
			return s.Actor.End(ctx, t.ID, proof)
		}
		return nil
	}
	who, err := s.people()
	if err != nil {
		return err
	}
	name := p.Form.Get("party")
	p.Title, p.Button, p.act = "Let "+who.Replace(name)+" build the final of "+t.Ref, "Assign it", api.AssignAct(t.ID, name)
	p.Words = []string{who.Replace(name) + " has a fresh 24 hours and a new round of agent turns."}
	p.do = func(ctx context.Context, proof presence.Proof) (api.Outcome, error) {
		return s.Actor.Assign(ctx, t.ID, name, proof)
	}
	return nil
}

func (s *Server) teammatesPress(p *press) {
	on := p.Form.Get("on") == "1"
	p.act, p.Title, p.Button = api.TeammatesAct(on), api.Teammates, "Turn it on"
	p.Words = []string{
		"Your lanes are asked which GitHub account each teammate publishes as; their own computer answers. Until you turn this on, nothing at all is sent to another developer.",
		"A teammate's conflict is opened with them once the lane is on at both ends.",
	}
	if !on {
		p.Button, p.Words = "Turn it off", []string{"Only your own pull requests start conversations from then on."}
	}
	p.do = func(ctx context.Context, proof presence.Proof) (api.Outcome, error) {
		return s.Laner.SetTeammates(ctx, on, proof)
	}
}

func (s *Server) lanePress(p *press) error {
	lanes, err := s.Reader.Lanes()
	if err != nil {
		return err
	}
	lane, err := api.FindLane(lanes, p.Form.Get("lane"))
	if err != nil {
		return err
	}
	on, repositories := p.Form.Get("verb") == "lane on", p.Form["repository"]
	p.act, p.Title, p.Button = api.LaneSwitchAct(lane.ID, repositories, on), "Switch the lane with "+lane.Name+" off", "Switch it off"
	p.Words = []string{"The connection ends at once. " + lane.Name + " counts as away; once on again, the lane brings what was missed, in order."}
	if on {
		if len(repositories) == 0 {
			return fmt.Errorf("switch the lane with %s on: %w: choose a repository", lane.Name, api.ErrUsage)
		}
		p.Title, p.Button = "Switch the lane with "+lane.Name+" on", "Switch it on"
		p.Words = []string{lane.Name + " may see the conversations about " + strings.Join(repositories, ", ") + " that name them. What is on already is replaced by these."}
	}
	p.do = func(ctx context.Context, proof presence.Proof) (api.Outcome, error) {
		return s.Laner.SwitchLane(ctx, lane.ID, repositories, on, proof)
	}
	return nil
}

// ask shows the dialog in which a person agrees.
func (s *Server) ask(w http.ResponseWriter, r *http.Request) {
	p, err := s.pressOf(r.Context(), r.URL.Query())
	s.dialog(w, r, p, err)
}

func (s *Server) dialog(w http.ResponseWriter, r *http.Request, p press, err error) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	status := http.StatusOK
	var fault *api.Fault
	if err != nil {
		f := api.Explain(err)
		fault, status = &f, f.Status
	}
	w.WriteHeader(status)
	if p.do == nil {
		_ = ended("This cannot be pressed", fault.Text, fault.Hint).Render(r.Context(), w)
		return
	}
	keys, _ := s.Pages.Passkeys(r.Context())
	keys = slices.DeleteFunc(keys, func(k api.Passkey) bool { return k.Trouble != "" })
	_ = dialog(asked{press: p, Demo: s.Demo, Passkeys: len(keys), Fault: fault, Text: r.PostForm.Get("typed")}).Render(r.Context(), w)
}

// seen is the act of a form, if it still is what the person saw.
func (s *Server) seen(r *http.Request) (press, error) {
	if err := r.ParseForm(); err != nil {
		return press{}, fmt.Errorf("read the form: %w: %v", api.ErrUsage, err)
	}
	p, err := s.pressOf(r.Context(), r.PostForm)
	if err != nil {
		return press{}, err
	}
	if r.PostForm.Get("binds") != p.Binds() || r.PostForm.Get("thread") != p.act.Thread {
		return press{}, fmt.Errorf("%s: %w", p.Title, api.ErrCardChanged)
	}
	return p, nil
}

// press carries an act out that a person agrees to with this very request.
func (s *Server) press(w http.ResponseWriter, r *http.Request) {
	p, err := s.seen(r)
	if err != nil {
		s.dialog(w, r, p, err)
		return
	}
	proof, err := s.prove(r, p.act)
	var out api.Outcome
	if err == nil {
		out, err = p.do(r.Context(), proof)
	}
	switch {
	case err == nil:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_ = ended("Done", out.Text, "").Render(r.Context(), w)
	case errors.Is(err, presence.ErrWrongPassphrase), errors.Is(err, presence.ErrPasskey), errors.Is(err, api.ErrTooOften):
		s.dialog(w, r, p, err) // the same question once more
	default:
		s.dialog(w, r, press{}, err)
	}
}

// prove makes the proof of an act out of what came with the form.
func (s *Server) prove(r *http.Request, act presence.Act) (presence.Proof, error) {
	if answer := r.PostForm.Get("answer"); answer != "" {
		return presence.Proof{Kind: presence.KindPasskey, Nonce: r.PostForm.Get("nonce"), Signature: []byte(answer)}, nil
	}
	by, err := s.prover(r)
	if err != nil {
		return presence.Proof{}, err
	}
	if act.Nonce, err = s.Actor.Challenge(act); err != nil {
		return presence.Proof{}, err
	}
	return by.Prove(act), nil
}

// prover opens the approval key for this one request.
func (s *Server) prover(r *http.Request) (api.Prover, error) {
	if s.Demo {
		return api.DemoProver(), nil
	}
	passphrase := r.PostForm.Get("passphrase")
	if passphrase == "" {
		return nil, presence.ErrNeeded
	}
	if !s.tries.take() {
		return nil, fmt.Errorf("the passphrase: %w: wait a little", api.ErrTooOften)
	}
	select {
	case s.unlocks <- struct{}{}:
		defer func() { <-s.unlocks }()
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	return s.Unlock(passphrase)
}

// asking is what a browser needs to ask a passkey.
type asking struct {
	Nonce   string          `json:"nonce,omitempty"`
	Options json.RawMessage `json:"options"`
}

// challenge gives the browser what a passkey shall sign: the act that the person sees, and nothing else.
func (s *Server) challenge(w http.ResponseWriter, r *http.Request) {
	p, err := s.seen(r)
	var out asking
	if err == nil {
		p.act.Nonce, err = s.Actor.Challenge(p.act)
	}
	if err == nil {
		out.Nonce = p.act.Nonce
		out.Options, err = s.Keys.Request(p.act.Challenge())
	}
	s.json(w, out, err)
}

// newPasskey asks for a new passkey, and takes it with the passphrase.
func (s *Server) newPasskey(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil || s.Demo {
		s.json(w, asking{}, errors.Join(err, api.ErrNotNow))
		return
	}
	answer := r.PostForm.Get("answer")
	if answer == "" {
		options, err := s.Keys.Creation()
		s.json(w, asking{Options: options}, err)
		return
	}
	by, err := s.prover(r)
	var out api.Outcome
	if err == nil {
		out, err = s.Keys.Add(r.Context(), []byte(answer), strings.TrimSpace(r.PostForm.Get("name")), by)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if err != nil {
		f := api.Explain(err)
		w.WriteHeader(f.Status)
		_ = ended("The passkey was not added", f.Text, f.Hint).Render(r.Context(), w)
		return
	}
	_ = ended("Done", out.Text, "").Render(r.Context(), w)
}

func (s *Server) json(w http.ResponseWriter, out asking, err error) {
	if err != nil {
		f := api.Explain(err)
		http.Error(w, f.Text, f.Status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(out) // a browser that has gone is no error
}

// do carries out what needs no person.
func (s *Server) do(w http.ResponseWriter, r *http.Request) {
	var out api.Outcome
	err := r.ParseForm()
	if err != nil {
		err = fmt.Errorf("read the form: %w: %v", api.ErrUsage, err)
	} else {
		f := r.PostForm
		switch verb := f.Get("verb"); verb {
		case "scan":
			out, err = s.Actor.Scan(r.Context())
		case "sync now", "sync pause", "sync resume":
			out, err = s.Actor.Sync(r.Context(), f.Get("repository"), api.SyncHow(strings.TrimPrefix(verb, "sync ")))
		case "feedback":
			out, err = s.Live.Feedback(r.Context(), api.Verdict{Conflict: f.Get("ref"), Verdict: f.Get("verdict")})
		case "pause":
			out, err = s.pause(r.Context(), f.Get("for"))
		case "resume":
			out, err = s.Actor.Resume(r.Context())
		case "message send":
			out, err = s.send(r.Context(), f)
		case "notices on", "notices off", "notices quiet":
			out, err = s.notices(r.Context(), f)
		case "route on", "route off":
			out, err = s.SwitchRoute(r.Context(), f.Get("conversation"), verb == "route on")
		default:
			err = fmt.Errorf("do %q: %w", verb, api.ErrUsage)
		}
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if err != nil {
		f := api.Explain(err)
		w.WriteHeader(f.Status)
		_ = toast(f.Text+". "+f.Hint, true).Render(r.Context(), w)
		return
	}
	_ = toast(out.Text, false).Render(r.Context(), w)
}
