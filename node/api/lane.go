package api

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/node/internal/presence"
)

// Lane is the link to another developer.
type Lane struct {
	ID           string       `json:"id"`    // the other developer's fleet, hexadecimal
	Party        string       `json:"party"` // how a conversation names them: lane:<id>
	Name         string       `json:"name"`
	Here         bool         `json:"here"`         // switched on at this end
	There        bool         `json:"there"`        // switched on at the other end, as far as is known
	Repositories List[string] `json:"repositories"` // switched on here; owner/name where it is known, else the number
	Common       List[string] `json:"common"`       // switched on at both ends
	Connected    bool         `json:"connected"`
	Account      string       `json:"account"` // login of the GitHub account that they answered with; "" unknown
	Computers    int          `json:"computers"`
	State        string       `json:"state"`      // a sentence
	Shares       List[string] `json:"shares"`     // whose live work this end shares, from the switch on; owner/name where it is known
	Hides        bool         `json:"hides"`      // with the names of paths and symbols hidden
	TheyShare    List[string] `json:"they_share"` // whose live work the other end shares
	TheyHide     bool         `json:"they_hide"`
}

// Teammates is the label of the switch that lets teammates' conflicts start conversations too (P12).
const Teammates = "Start conflicts for teammates' pull requests too"

// Laner keeps the links to other developers. A proof is checked against the act below that describes what
// would be done. Invitations of both kinds are followed, confirmed and cancelled by [Inviter].
type Laner interface {
	// InviteLane makes a code for another developer; as is how they are told that this one is called.
	InviteLane(ctx context.Context, as string, p presence.Proof) (Invitation, error)
	// AcceptLane follows another developer's code. Its Code and Expires are empty.
	AcceptLane(ctx context.Context, code, as string, p presence.Proof) (Invitation, error)
	// SwitchLane switches the lane of a name or id on for repositories (owner/name), or off; [ErrNoLane],
	// [ErrNoRepository].
	SwitchLane(ctx context.Context, lane string, repositories []string, on bool, p presence.Proof) (Outcome, error)
	// SetTeammates is the switch [Teammates].
	SetTeammates(ctx context.Context, on bool, p presence.Proof) (Outcome, error)
}

// laneVerbs are the rows of the table about lanes.
var laneVerbs = []Verb{
	{
		Name: "lane invite", Summary: "pair with another developer", Who: Person, Where: Node, Method: "POST", Path: "/v1/lane/invite",
		Help: "Prints a code that serves once, for ten minutes; the other developer runs parley lane accept with it. Both\n" +
			"screens show the same four words, and both of you say yes. The lane is off until it is switched on at both\n" +
			"ends. The other developer sees the keys of your computers, not their names.",
	},
	{
		Name: "lane accept", Summary: "follow another developer's code", Who: Person, Where: Node, Method: "POST", Path: "/v1/lane/accept",
		Help: "CODE is what `parley lane invite` printed for the other developer. The four words that appear must be the\n" +
			"same on both screens.",
	},
	{
		Name: "lane list", Summary: "list the lanes", Who: Agent, Where: Node, Reads: true, Method: "GET", Path: "/v1/lanes",
		Help: "A lane carries something only while it is on at both ends, and only about the repositories listed at both.",
	},
	{
		Name: "lane show", Summary: "show one lane", Who: Agent, Where: Node, Reads: true, Method: "GET", Path: "/v1/lane",
		Help: "NAME is the lane's name, or the start of its id.",
	},
	{
		Name: "lane on", Summary: "switch a lane on for repositories", Who: Person, Where: Node, Method: "POST", Path: "/v1/lane/on",
		Help: "Nothing is sent to the other developer before; from then on they may see the conversations about these\n" +
			"repositories that name them. What is on already is replaced by the repositories that are given. With other\n" +
			"repositories than before, overrides and answers that crossed the lane until now count at your end alone.",
	},
	{
		Name: "lane off", Summary: "switch a lane off", Who: Person, Where: Node, Method: "POST", Path: "/v1/lane/off",
		Help: "The connection ends at once. The other developer counts as away; once on again, the lane brings what was\n" +
			"missed, in order.",
	},
	{
		Name: "lane conflicts", Summary: "start conflicts for teammates' pull requests too, or not", Who: Person, Where: Node, Method: "POST", Path: "/v1/lane/conflicts",
		Help: "parley lane conflicts on     " + Teammates + "\n" +
			"parley lane conflicts off    only your own pull requests start conversations\n\n" +
			"It is off until you turn it on. On, the lanes are asked which GitHub account each teammate publishes as; their\n" +
			"own computer answers.",
	},
}

// withLanes puts the verbs about lanes before the first about the main computer.
func withLanes(verbs []Verb) []Verb {
	at := slices.IndexFunc(verbs, func(v Verb) bool { return v.Name == "main on" })
	return slices.Concat(verbs[:at], laneVerbs, verbs[at:])
}

// LaneInviteAct is making a code for another developer.
func LaneInviteAct(as string) presence.Act { return presence.Act{Verb: "lane invite", Binds: as} }

// LaneAcceptAct is following this code.
func LaneAcceptAct(code, as string) presence.Act {
	return presence.Act{Verb: "lane accept", Binds: code + "\n" + as}
}

// LaneSwitchAct is switching the named lane on for exactly these repositories, or off.
func LaneSwitchAct(lane string, repositories []string, on bool) presence.Act {
	if !on {
		return presence.Act{Verb: "lane off", Binds: lane}
	}
	return presence.Act{Verb: "lane on", Binds: strings.Join(append([]string{lane}, repositories...), "\n")}
}

// TeammatesAct is turning [Teammates] on or off.
func TeammatesAct(on bool) presence.Act {
	word := "off"
	if on {
		word = "on"
	}
	return presence.Act{Verb: "lane conflicts", Binds: Teammates + ": " + word}
}

// FindLane is the lane of a name, or of the start of an id that only one has; [ErrNoLane].
func FindLane(all []Lane, name string) (Lane, error) {
	text := strings.ToLower(strings.TrimPrefix(strings.TrimSpace(name), "lane:"))
	var found []Lane
	for _, l := range all {
		if strings.EqualFold(l.Name, text) || len(text) >= 4 && strings.HasPrefix(l.ID, text) {
			found = append(found, l)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return Lane{}, fmt.Errorf("%q: %w: several are called or begin so", name, ErrNoLane)
	}
	return Lane{}, fmt.Errorf("%q: %w", name, ErrNoLane)
}

// laneAnswers is what carries the verbs about lanes out; nil for another verb.
func (s *Server) laneAnswers(verb string) answer {
	switch verb {
	case "lane invite":
		return s.person(func(ctx context.Context, in personRequest) (reply, error) {
			return s.Laner.InviteLane(ctx, in.As, in.Proof)
		})
	case "lane accept":
		return s.person(func(ctx context.Context, in personRequest) (reply, error) {
			return s.Laner.AcceptLane(ctx, in.Code, in.As, in.Proof)
		})
	case "lane list":
		return func(*http.Request) (reply, error) { return list(s.Reader.Lanes()) }
	case "lane show":
		return func(r *http.Request) (reply, error) {
			all, err := s.Reader.Lanes()
			if err != nil {
				return nil, err
			}
			return FindLane(all, r.URL.Query().Get("name"))
		}
	case "lane on":
		return s.person(func(ctx context.Context, in personRequest) (reply, error) {
			return s.Laner.SwitchLane(ctx, in.Lane, in.Repositories, true, in.Proof)
		})
	case "lane off":
		return s.person(func(ctx context.Context, in personRequest) (reply, error) {
			return s.Laner.SwitchLane(ctx, in.Lane, nil, false, in.Proof)
		})
	case "lane conflicts":
		return s.person(func(ctx context.Context, in personRequest) (reply, error) {
			return s.Laner.SetTeammates(ctx, in.On, in.Proof)
		})
	}
	return nil
}

func (Lane) reply() {}

// Lanes implements [Reader].
func (c *Client) Lanes() ([]Lane, error) { return get[[]Lane](c, "lane list", nil) }

// Lane shows the lane of a name or of the start of an id.
func (c *Client) Lane(name string) (Lane, error) {
	return get[Lane](c, "lane show", url.Values{"name": {name}})
}

// InviteLane makes a code for another developer.
func (c *Client) InviteLane(ctx context.Context, as string, by Prover) (Invitation, error) {
	return act[Invitation](ctx, c, request{verb: "lane invite", person: personRequest{As: as}}, LaneInviteAct(as), by)
}

// AcceptLane follows another developer's code.
func (c *Client) AcceptLane(ctx context.Context, code, as string, by Prover) (Invitation, error) {
	r := request{verb: "lane accept", person: personRequest{Code: code, As: as}}
	return act[Invitation](ctx, c, r, LaneAcceptAct(code, as), by)
}

// SwitchLane switches a lane on for repositories, or off.
func (c *Client) SwitchLane(ctx context.Context, l Lane, repositories []string, on bool, by Prover) (Outcome, error) {
	a := LaneSwitchAct(l.ID, repositories, on)
	r := request{verb: a.Verb, person: personRequest{Lane: l.ID, Repositories: slices.Clone(repositories)}}
	return act[Outcome](ctx, c, r, a, by)
}

// SetTeammates is the switch [Teammates].
func (c *Client) SetTeammates(ctx context.Context, on bool, by Prover) (Outcome, error) {
	return act[Outcome](ctx, c, request{verb: "lane conflicts", person: personRequest{On: on}}, TeammatesAct(on), by)
}
