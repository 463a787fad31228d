package node

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/ledger/disk"
	"github.com/parley-mesh/parley/mesh"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/core"
)

// viewer turns what a core knows into what people and programs are shown. A running node has one on its
// loop, and a home that is read without a node has one of its own.
type viewer struct {
	core    *core.Core
	cfg     Config
	device  ledger.Device
	fleet   ledger.TID
	running bool
	now     time.Time
	since   map[string]time.Time // cards: since when
	records func(ledger.TID) ([]*ledger.Record, error)
	graves  *disk.Store // where what was forgotten left its end
	branch  func(slug string) string
	folded  []lanes.Lane
}

func (v viewer) status(peers []mesh.PeerStatus) api.Status {
	roster := v.core.Roster()
	out := api.Status{
		Version: Version(), Running: v.running, Demo: v.cfg.Demo, TimersShortened: v.cfg.Timers.shortened(),
		Computer: api.Computer{Name: roster.Name(v.device), Device: v.device.String(), Fleet: v.fleet.String()},
		Main:     v.mainComputer(roster), Cards: len(v.core.Cards()), Paused: v.paused(),
	}
	if roster.Founder == (ledger.Device{}) {
		out.Computer.Name = v.cfg.Name
	}
	for _, d := range roster.Devices() {
		if d != v.device {
			out.Peers = append(out.Peers, v.peer(roster, d, peers))
		}
	}
	slices.SortFunc(out.Peers, func(a, b api.Peer) int { return strings.Compare(a.Name, b.Name) })
	for i, r := range v.core.Repos() {
		out.Repositories = append(out.Repositories, v.repository(r, v.cfg.Repositories[i]))
	}
	out.Lanes, out.Teammates = v.lanes(peers), v.core.Teammates()
	for _, t := range v.core.Conversations() {
		if t.State.Phase != thread.Closed {
			out.ThreadsOpen++
			out.Waiting = append(out.Waiting, t.State.Ref()+": "+t.Say)
		}
	}
	return out
}

func (v viewer) mainComputer(roster lanes.Roster) api.MainComputer {
	role, claim := roster.Main()
	switch role {
	case lanes.RoleMain:
		return api.MainComputer{State: "live", Name: roster.Name(claim.Device), Device: claim.Device.String(), Me: claim.Device == v.device}
	case lanes.RoleContested:
		return api.MainComputer{State: "contested"}
	case lanes.RoleNone:
	}
	return api.MainComputer{State: "none"}
}

func (v viewer) peer(roster lanes.Roster, d ledger.Device, peers []mesh.PeerStatus) api.Peer {
	out := api.Peer{Name: roster.Name(d), Device: d.String(), LastSeen: v.core.Seen(d)}
	for _, p := range peers {
		if p.Device == d {
			out.Connected, out.LastSeen, out.LatencyMS, out.Version = p.Connected, p.LastSeen, p.LatencyMS, p.Version
			out.Transport, out.Path, out.Address = p.Transport, p.Path, p.Addr
		}
	}
	return out
}

func (v viewer) repository(r core.RepoState, c RepositoryConfig) api.Repository {
	out := api.Repository{Slug: c.Slug, Base: r.Base, Checkout: c.Checkout}
	if v.branch != nil {
		out.Branch = v.branch(c.Slug)
	}
	switch {
	case len(r.Missing) > 0:
		out.State = "something is missing: run parley inbox"
		if r.ID == 0 {
			out.Unanswered = r.Missing[0].What
		}
	case !v.running:
		out.State = "not looked at: no node runs"
	case r.ID == 0 && r.ScanErr != "":
		out.State, out.Unanswered = "GitHub has not answered: "+r.ScanErr, r.ScanErr
	case r.ID == 0:
		out.State = "GitHub has not answered yet"
	case r.Paused:
		out.State = "paused: parley sync resume " + c.Slug
	case r.Master.Why != "":
		out.State = "stays where it is: " + r.Master.Why
	case len(r.Master.Kept) > 0:
		out.State = fmt.Sprintf("at %s, with own copies of %s", r.Master.To.Short(), keptPaths(r.Master.Kept))
	case r.Master.To != "" && r.Master.To != r.Master.Tip:
		out.State = fmt.Sprintf("at %s: %s of GitHub and own commits together", r.Master.To.Short(), r.Master.Tip.Short())
	case r.Master.Tip != "":
		out.State = "at " + r.Master.Tip.Short() + ", as on GitHub"
	default:
		out.State = "not brought up to date yet"
	}
	return out
}

func keptPaths(kept []core.KeptOwn) string {
	var out []string
	for _, k := range kept {
		out = append(out, k.Path)
	}
	return strings.Join(out, ", ")
}

func (v viewer) threads() []api.ThreadLine {
	var out []api.ThreadLine
	for _, t := range v.core.Conversations() {
		out = append(out, v.line(t))
	}
	slices.SortStableFunc(out, func(a, b api.ThreadLine) int {
		if closed := a.Phase == "closed"; closed != (b.Phase == "closed") {
			if closed {
				return 1
			}
			return -1
		}
		return b.Since.Compare(a.Since)
	})
	return out
}

func (v viewer) line(t *core.Conversation) api.ThreadLine {
	names := v.core.PartyNames(t)
	out := api.ThreadLine{
		Ref: t.State.Ref(), ID: t.State.Ledger.String(), Phase: t.State.Phase.String(),
		Since: time.UnixMilli(int64(t.State.Root.At)), Responsible: names[t.State.Responsible], Waiting: t.Say, Next: t.Next,
	}
	if t.State.Phase == thread.Closed {
		out.Closed = time.UnixMilli(int64(t.State.ClosedAt))
	}
	return out
}

// find is the conversation of a ref, or of the start of an id that only one has.
func (v viewer) find(ref string) (*core.Conversation, error) {
	var found []*core.Conversation
	for _, t := range v.core.Conversations() {
		if strings.EqualFold(t.State.Ref(), ref) {
			return t, nil
		}
		if len(ref) >= 4 && strings.HasPrefix(t.State.Ledger.String(), strings.ToLower(ref)) {
			found = append(found, t)
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("%q: %w", ref, api.ErrNoThread)
	case 1:
		return found[0], nil
	}
	var names []string
	for _, t := range found {
		names = append(names, t.State.Ref())
	}
	return nil, fmt.Errorf("%q: %w: %s", ref, api.ErrAmbiguous, strings.Join(names, ", "))
}

func (v viewer) thread(ref string) (api.Thread, error) {
	t, err := v.find(ref)
	if errors.Is(err, api.ErrNoThread) {
		if left, ok := v.forgotten(ref); ok {
			return left, nil
		}
	}
	if err != nil {
		return api.Thread{}, err
	}
	records, err := v.records(t.State.Ledger)
	if err != nil {
		return api.Thread{}, err
	}
	return v.whole(t, records), nil
}

// whole shows a conversation with those of its records.
func (v viewer) whole(t *core.Conversation, records []*ledger.Record) api.Thread {
	out := api.Thread{ThreadLine: v.line(t), Base: t.State.Open.Base, Head: t.State.Open.Head.String()}
	for i := range t.State.Open.Files {
		out.Files = append(out.Files, v.file(t, i))
	}
	names := v.core.PartyNames(t)
	for i, name := range names {
		out.Parties = append(out.Parties, v.party(t, i, name))
	}
	slices.SortStableFunc(records, func(a, b *ledger.Record) int { return cmp.Compare(a.Lam, b.Lam) })
	for _, r := range records {
		out.Records = append(out.Records, v.record(t, r, names))
	}
	return out
}

func (v viewer) file(t *core.Conversation, i int) api.ThreadFile {
	s := &t.State
	f := s.Open.Files[i]
	out := api.ThreadFile{Path: string(f.Path), Master: f.Master.String(), Pull: f.Pull.String(), Here: "not looked at yet"}
	if s.Phase >= thread.Interim {
		out.Interim = out.Master
		if slices.Contains(s.Pick, uint64(i)) {
			out.Interim = out.Pull
		}
	}
	if s.Final != nil {
		out.Final = s.Final.Files[i].Blob.String()
	}
	if i < len(t.Look.Files) {
		out.Here = hereWord(t, i)
	}
	return out
}

func hereWord(t *core.Conversation, i int) string {
	here := t.Look.Files[i]
	switch {
	case here.Class == 0:
		return fmt.Sprintf("own copy with %d unpublished lines, kept", here.Lines)
	case t.State.Final != nil && here.Here == t.State.Final.Files[i].Blob:
		return "the final"
	case t.Look.Author:
		return "the author's copy, kept until the final"
	}
	return [...]string{
		ledger.HasMaster: "master's copy", ledger.HasPull: "the pull request's copy", ledger.HasOther: "an older published copy",
		ledger.NotHere: "not checked out here", ledger.KeepsAuthor: "", ledger.KeepsNoLines: "own copy without own lines, kept",
	}[here.Class]
}

func (v viewer) party(t *core.Conversation, i int, name string) api.ThreadParty {
	s := &t.State
	out := api.ThreadParty{Name: name, Responsible: i == s.Responsible, Adopted: s.Adopted[i] != ledger.ID{}}
	switch st := s.Statements[i]; {
	case st.Agreed():
		out.Statement = "agrees"
	case st.Objected():
		out.Statement = "objects"
	}
	return out
}

func (v viewer) record(t *core.Conversation, r *ledger.Record, names []string) api.ThreadRecord {
	out := api.ThreadRecord{
		ID: r.ID.String(), Short: r.ID.Short(), Kind: string(r.Kind), Who: v.core.Roster().Name(r.Device),
		At: time.UnixMilli(int64(r.At)), Sentence: thread.Sentence(&t.State, r, names), Turns: r.Turns, Counted: true,
		Wire: base64.RawURLEncoding.EncodeToString(r.Wire),
	}
	for _, refused := range t.State.Refused {
		if refused.Record.ID == r.ID {
			out.Counted, out.Rule = false, refused.Rule
		}
	}
	return out
}

func (v viewer) inbox() []api.Card {
	var out []api.Card
	for _, c := range v.core.Cards() {
		out = append(out, v.card(c))
	}
	return out
}

func (v viewer) card(c core.Card) api.Card {
	out := api.Card{Key: c.Key, Code: c.Code, Title: c.Title, What: c.What, Why: c.Why, Since: v.since[c.Key], Ref: c.Ref, Pull: pullAddress(v.cfg.GitHub, c.Ref)}
	if c.Thread != (ledger.TID{}) {
		out.Thread = c.Thread.String()
	}
	switch {
	case c.Binds != nil:
		out.Verb, out.Action, out.Binds = "approve", c.Binds.Action, bindsText(*c.Binds)
		out.Button = buttonText(*c.Binds)
		out.Command = fmt.Sprintf("parley approve %s %s", c.Ref, c.Binds.Action)
	case c.Code == "C9":
		out.Verb, out.Button, out.Command = "sync now", "Bring it together", "parley sync now"
	case c.Code == "C8":
		out.Verb, out.Button, out.Command = "main on", "Make this the main computer", "parley main on"
	case len(c.Fixes) > 0:
		var fixes []string
		for _, f := range c.Fixes {
			fixes = append(fixes, f.Fix)
		}
		out.Button, out.Command = "Show the fix", strings.Join(fixes, "; ")
	}
	return out
}

// pullAddress is where a browser sees a pull request, "" if a name is none of a pull request, or where GitHub is dialled
// elsewhere than by its name.
func pullAddress(g GitHubConfig, ref string) string {
	slug, number, _ := strings.Cut(ref, "#")
	number, _, _ = strings.Cut(number, "/") // the second time that it conflicts it is the same one
	if _, err := strconv.ParseUint(number, 10, 64); err != nil || strings.Count(slug, "/") != 1 || g.Addr != "" {
		return ""
	}
	return (&url.URL{Scheme: "https", Host: g.Host, Path: "/" + slug + "/pull/" + number}).String()
}

func buttonText(b thread.Binds) string {
	switch b.Action {
	case "round":
		return "Give the agents another round"
	case "fork":
		return "Go on"
	}
	return "Approve the " + b.Action
}

// bindsText is exactly what an approval is for, in a form that is signed.
func bindsText(b thread.Binds) string {
	switch b.Action {
	case "push":
		return fmt.Sprintf("push %s to branch %s of pull request %d in repository %d, exactly from %s", b.New, b.Ref, b.Pull, b.Repo, b.Old)
	case "round":
		return fmt.Sprintf("another round of agent turns after round %d for pull request %d in repository %d", b.Round+1, b.Pull, b.Repo)
	case "fork":
		return fmt.Sprintf("going on with pull request %d in repository %d in spite of two histories of %s", b.Pull, b.Repo, b.Devices)
	}
	if b.Action != "merge" {
		return fmt.Sprintf("%s pull request %d in repository %d", b.Action, b.Pull, b.Repo)
	}
	how := ""
	if b.Method != "" && b.Method != "merge" {
		how = " by " + b.Method
	}
	return fmt.Sprintf("merge pull request %d in repository %d into %s%s, exactly at %s", b.Pull, b.Repo, b.Ref, how, b.New)
}
