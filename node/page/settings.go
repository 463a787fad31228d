package page

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/internal/presence"
)

// Settings are what the Setup tab shows beside the status: what the commands agents, lane work, notices and policy
// explain show.
type Settings struct {
	Agents   bool // the switch [api.AgentsAcross]
	AgentsIn []AgentsIn
	Shared   []Shared
	Notices  Notices
	Email    string // of this person in policies; "" none was said
	Policies []Policy
	Tools    []Tool
}

// AgentsIn is what the switch [api.AgentsAcross] comes to in one repository.
type AgentsIn struct {
	Repository string // owner/name
	On         bool
	Own        bool // it was switched for this repository alone, in place of the computer's switch
	Lines      bool // the switch [api.LinesAcross]
}

// Shared is the live work that a lane carries (D-26). Repositories are owner/name where it is known.
type Shared struct {
	Lane, Name string
	On         bool     // the lane, at this end
	For        []string // what the lane is on for, at this end
	Here       []string // whose live work this end shows the other one
	There      []string // whose live work the other end shows
	Hides      bool     // this end hides names in it
	Email      string   // of its developer in policies; "" none was said
}

// Notices are when this desktop is told of the inbox.
type Notices struct {
	On      bool
	Quiet   string    // hours of each day without notices, such as "22:00-07:00"; "" none
	Digest  string    // time of day at which all come as one; "" as they come
	Snoozed time.Time // none before
}

// Policy is what the policy of one repository says.
type Policy struct {
	Repository string
	Commit     string // where it was read; "" is the default policy
	Fault      string // why what stands there now does not hold
	Lines      []api.PolicyLine
}

// Tool is one coding agent of this computer.
type Tool struct {
	Name string
	Text string // what was found
	Mend string // what mends it, or sets it up; "" where it is in order
	Set  bool   // parley is in its settings
}

// agentsPress is the switch of this computer for its agents, or that of one repository (D-27).
func (s *Server) agentsPress(p *press) {
	on, repository := p.Form.Get("verb") == "agents on", p.Form.Get("repository")
	p.act, p.Title, p.Button = api.AgentsAct(repository, on), api.AgentsAcross, "Turn it on"
	p.Words = []string{
		"Your computers are told which agents work here, on what, and the names of what they change; conflicts are found while both still work.",
		"Nothing of it leaves your own computers, unless you share live work with a lane.",
	}
	if !on {
		p.Button, p.Words = "Turn it off", []string{"Agents of this computer work on, and neither hear of conflicts nor are seen by your other computers."}
	}
	if repository != "" {
		p.Title += " in " + repository
		p.Words = append(p.Words, "This holds for "+repository+" alone, whatever lanes share, until the switch for all repositories is pressed.")
	}
	p.do = func(ctx context.Context, proof presence.Proof) (api.Outcome, error) {
		return s.Live.SetAgents(ctx, repository, on, proof)
	}
}

// linesPress is the switch of one repository for changed lines of code.
func (s *Server) linesPress(p *press) {
	on, repository := p.Form.Get("verb") == "agents lines on", p.Form.Get("repository")
	p.act, p.Title, p.Button = api.LinesAct(repository, on), api.LinesAcross+" in "+repository, "Turn it on"
	p.Words = []string{
		"A conflict of two of your own computers shows the lines that the other side has changed, with three around, where this is on at both.",
		"Agents read them as quotations. No other developer is shown them, nothing of them is kept, and files that hold keys are left out.",
	}
	if !on {
		p.Button, p.Words = "Turn it off", []string{"Your other computers are shown no lines of it any more. What an agent was told it knows."}
	}
	p.do = func(ctx context.Context, proof presence.Proof) (api.Outcome, error) {
		return s.Live.SetLines(ctx, repository, on, proof)
	}
}

// workPress shares live work with the developer of a lane, or stops that (D-26).
func (s *Server) workPress(p *press) error {
	lanes, err := s.Reader.Lanes()
	if err != nil {
		return err
	}
	lane, err := api.FindLane(lanes, p.Form.Get("lane"))
	if err != nil {
		return err
	}
	repositories := p.Form["repository"]
	w := api.WorkSwitch{
		Lane: lane.ID, Repositories: repositories, On: p.Form.Get("verb") == "lane work on", HideNames: p.Form.Get("hide") != "",
	}
	p.act, p.Title, p.Button = api.WorkSwitchAct(w), "Share no more live work with "+lane.Name, "Share it no more"
	p.Words = []string{"What " + lane.Name + " has seen stays there. The lane itself stays as it is."}
	if w.On {
		if len(repositories) == 0 {
			return fmt.Errorf("share live work with %s: %w: choose a repository", lane.Name, api.ErrUsage)
		}
		p.Title, p.Button = "Share live work with "+lane.Name, "Share it"
		seen := "what for, and the names of what they change, never code."
		if w.HideNames {
			seen = "and finds the same names among its own. It is not shown other names, tasks or code."
		}
		p.Words = []string{
			lane.Name + " sees which agents of yours work in " + strings.Join(repositories, ", ") + ", " + seen,
			"Both of you switch it on. What is shared already is replaced by these repositories.",
		}
	}
	p.do = func(ctx context.Context, proof presence.Proof) (api.Outcome, error) {
		return s.Live.SwitchWork(ctx, w, proof)
	}
	return nil
}

// notices changes when the desktop is told, as parley notices does.
func (s *Server) notices(ctx context.Context, f url.Values) (api.Outcome, error) {
	now, err := s.Settings(ctx)
	if err != nil {
		return api.Outcome{}, err
	}
	wish := now.Notices
	switch f.Get("verb") {
	case "notices on", "notices off":
		wish.On = f.Get("verb") == "notices on"
	case "notices quiet":
		wish.Quiet = ""
		if from, to := f.Get("from"), f.Get("to"); from != "" || to != "" {
			wish.Quiet = from + "-" + to
		}
	}
	return s.SetNotices(ctx, wish)
}

// quiet is one end of the quiet hours, as the browser's field wants it.
func (n Notices) quiet(end int) string {
	from, to, _ := strings.Cut(n.Quiet, "-")
	return []string{from, to}[end]
}

func (a AgentsIn) words() string {
	switch {
	case a.Own && a.On:
		return "On, for this repository alone."
	case a.Own:
		return "Off, for this repository alone: nobody looks at its checkouts here, whatever lanes share."
	case a.On:
		return "On, as for all repositories or because a lane shares it."
	}
	return "Off, as for all repositories."
}

func (a AgentsIn) linesWords() string {
	switch {
	case a.Lines && !a.On:
		return "On, and nothing is shown while its agents are switched off above."
	case a.Lines:
		return "On, for computers of yours where it is on too."
	}
	return "Off: they see names alone."
}

func (n Notices) words() string {
	switch {
	case !n.On:
		return "Off: look into the inbox yourself."
	case n.Digest != "":
		return "On, once a day at " + n.Digest + "."
	}
	return "On: each change in the inbox is told once, and taken back when it is settled."
}

// sharedWords say what passes of live work.
func (x Shared) words() string {
	here, there := "You share none with "+x.Name+".", x.Name+" shares none with you."
	if len(x.Here) > 0 {
		here = "You share that on " + strings.Join(x.Here, ", ") + "."
		if x.Hides {
			here = strings.TrimSuffix(here, ".") + ", with names hidden."
		}
	}
	if len(x.There) > 0 {
		there = x.Name + " shares that on " + strings.Join(x.There, ", ") + "."
	}
	return here + " " + there
}
