package node

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-mesh/parley/conflicts/overlap"
	"github.com/parley-mesh/parley/detect"
	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/node/api"
)

// working is a paired node that looks after live work in the lane's repository.
func working(t *testing.T) (p *paired, r *liveRepo) {
	t.Helper()
	p = newSharing(t)
	p.cfg.Name = "desk"
	r = &liveRepo{Place: overlap.Place{Host: "github.com", Repo: laneRepo}, slug: "acme/shop"}
	p.live.repos, p.live.loaded = []*liveRepo{r}, true
	p.live.fold.SetRepo(overlap.Repo{Place: r.Place, Slug: r.slug})
	p.live.setPeople()
	return p, r
}

// says writes live work of this node, and stores it.
func (p *paired) saysWork(r *liveRepo, body ledger.Body) ledger.ID {
	p.t.Helper()
	p.live.mu.Lock()
	record, err := p.live.write(r, body)
	p.live.mu.Unlock()
	if err != nil {
		p.t.Fatal(err)
	}
	p.stores()
	return record.ID
}

func (p *paired) stores() {
	p.t.Helper()
	for p.live.waiting() > 0 {
		if err := p.live.storeSome(); err != nil {
			p.t.Fatal(err)
		}
	}
}

// switches says something in the lane, and lets live work know.
func (p *paired) switches(by *pen, body ledger.Body) ledger.ID {
	p.t.Helper()
	id := p.says(by, body)
	p.live.setPeople()
	p.stores()
	return id
}

// wire is everything of live work that the lane sends.
func (p *paired) wire() (all [][]byte) {
	p.t.Helper()
	v := p.view()
	for _, l := range v.Visible(p.maya.device()) {
		if f, _ := v.Family(l.Ledger); f != ledger.Work {
			continue
		}
		heads, err := v.Heads(l.Ledger)
		if err != nil {
			p.t.Fatal(err)
		}
		for _, h := range heads {
			wires, err := v.From(l.Ledger, h.Chain, 0, 1000)
			if err != nil {
				p.t.Fatal(err)
			}
			all = append(all, wires...)
		}
	}
	return all
}

func (p *paired) crossesText(text string) bool {
	return slices.ContainsFunc(p.wire(), func(w []byte) bool { return bytes.Contains(w, []byte(text)) })
}

func editOf(holder ledger.ID, path, blob string) *ledger.Edit {
	symbol := detect.SymbolChange{Symbol: detect.Symbol{ID: "sym:go:" + path + "#Refund", Kind: detect.Function}, Change: detect.Body}
	return overlap.EditOf(holder, &detect.File{Path: path, Op: detect.Modify, BaseBlob: oidText("base " + path), Blob: oidText(blob), BaseMode: 0o100644, Mode: 0o100644},
		&detect.Delta{Symbols: []detect.SymbolChange{symbol}}, nil, editBytesMax)
}

func oidText(name string) string {
	id := ledger.ConflictID("github.com", laneRepo, name, nil, nil)
	return ledger.OID(id[:20]).String()
}

var laneAt = []uint64{laneRepo}

func TestNothingFromBeforeTheSwitchCrossesALane(t *testing.T) { // D-26, L1
	p, r := working(t)
	p.switches(p.maya, &ledger.LaneOn{Repos: laneAt})
	p.switches(p.kim, &ledger.LaneOn{Repos: laneAt})
	s := p.saysWork(r, &ledger.Session{State: ledger.SessionLive, Agent: "codex", Checkout: [16]byte{1}})
	for _, body := range []ledger.Body{
		editOf(s, "old/undone.go", "a"), overlap.BackOf(s, "old/undone.go"), editOf(s, "billing/refund.go", "first"), editOf(s, "billing/refund.go", "second"),
		&ledger.Message{From: s, Text: "said before"},
	} {
		p.saysWork(r, body)
	}
	over := p.saysWork(r, &ledger.Session{State: ledger.SessionLive, Agent: "gemini", Checkout: [16]byte{2}})
	p.saysWork(r, &ledger.Session{First: over, State: ledger.SessionEnded, Agent: "gemini", Checkout: [16]byte{2}})
	if len(p.wire()) > 0 {
		t.Error("live work crosses a lane that shares none")
	}
	p.switches(p.kim, &ledger.LaneOn{Repos: laneAt, Live: laneAt})
	p.saysWork(r, &ledger.Message{From: s, Text: "said after"})
	first, second := ledger.OID(mustOID(t, oidText("first"))), ledger.OID(mustOID(t, oidText("second")))
	for text, want := range map[string]bool{
		"old/undone.go": false, "said before": false, "gemini": false, string(first): false,
		"billing/refund.go": true, "said after": true, "codex": true, string(second): true,
	} {
		if got := p.crossesText(text); got != want {
			t.Errorf("%q crosses: %v", text, got)
		}
	}
	wires := len(p.wire())
	p.switches(p.kim, &ledger.LaneOn{Repos: laneAt})
	p.saysWork(r, editOf(s, "billing/quiet.go", "quiet"))
	if len(p.wire()) > 0 {
		t.Error("live work crosses after it was shared no more")
	}
	p.saysWork(r, overlap.BackOf(s, "billing/quiet.go"))
	p.switches(p.kim, &ledger.LaneOn{Repos: laneAt, Live: laneAt})
	if p.crossesText("said after") || p.crossesText("quiet") || len(p.wire()) >= wires {
		t.Error("what was said under the earlier statement crosses again, or what was said in between")
	}
}

func mustOID(t *testing.T, hex string) ledger.OID {
	t.Helper()
	id, err := ledger.ParseOID(hex)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// side is a session of the other developer's, as she shares it.
func (p *paired) side(on ledger.ID) ledger.ID {
	p.t.Helper()
	r := p.worksFor(p.maya, on, laneRepo)
	p.live.fold.Add(r, uint64(time.Now().UnixMilli()))
	p.live.fold.Settle()
	return r.Place().ID
}

func TestAMessageCrossesTheLanesOfItsReceiversAlone(t *testing.T) { // C17, L1
	p, r := working(t)
	hers := p.switches(p.maya, &ledger.LaneOn{Repos: laneAt, Live: laneAt})
	p.switches(p.kim, &ledger.LaneOn{Repos: laneAt, Live: laneAt})
	s := p.saysWork(r, &ledger.Session{State: ledger.SessionLive, Agent: "codex", Checkout: [16]byte{1}})
	other := p.saysWork(r, &ledger.Session{State: ledger.SessionLive, Agent: "codex", Checkout: [16]byte{2}})
	maya := p.side(hers)
	for text, to := range map[string][]ledger.ID{"for maya": {maya}, "for my own": {other}, "for a stranger": {{9}}, "for all": nil} {
		p.saysWork(r, &ledger.Message{From: s, To: to, Text: text})
	}
	for text, want := range map[string]bool{"for maya": true, "for my own": false, "for a stranger": false, "for all": true} {
		if got := p.crossesText(text); got != want {
			t.Errorf("%q crosses: %v", text, got)
		}
	}
}

func TestWithHiddenNamesNoNameCrosses(t *testing.T) { // D-26
	p, r := working(t)
	hers := p.switches(p.maya, &ledger.LaneOn{Repos: laneAt, Live: laneAt})
	p.switches(p.kim, &ledger.LaneOn{Repos: laneAt, Live: laneAt, Names: ledger.NamesKey{7}})
	s := p.saysWork(r, &ledger.Session{State: ledger.SessionLive, Agent: "codex", Checkout: [16]byte{1}, Branch: "feat/refund"})
	in := p.saysWork(r, &ledger.Intent{Session: s, State: ledger.IntentLive, Task: "rework Refund in billing/refund.go"})
	maya := p.side(hers)
	for _, body := range []ledger.Body{
		overlap.ClaimOf(in, []detect.Claim{{Kind: detect.PathClaim, Pattern: "billing/**", Covers: 2}}), editOf(s, "billing/refund.go", "a"),
		&ledger.Attempt{Session: s, Paths: []ledger.Trying{{Path: "billing/refund.go", Op: ledger.EditModify}}},
		&ledger.Message{From: in, Text: "I rework Refund in billing"}, &ledger.Branch{Name: "feat/refund", Head: mustOID(t, oidText("h")), Base: mustOID(t, oidText("b"))},
		&ledger.Message{From: in, To: []ledger.ID{maya}, Text: "for you"},
	} {
		p.saysWork(r, body)
	}
	base := mustOID(t, oidText("base billing/refund.go"))
	for _, name := range []string{"billing", "refund", "Refund", string(base)} {
		if p.crossesText(name) {
			t.Errorf("%q crosses", name)
		}
	}
	if hidden := ledger.HideName(ledger.NamesKey{7}, "billing/refund.go"); !p.crossesText(hidden) || !p.crossesText("for you") {
		t.Error("neither the hidden name nor the message to her crosses")
	}
	var g lanes.Grant
	for _, g = range p.lanes.grants() {
		if !g.CarriesAnyWork(p.kim.device()) {
			t.Error("the lane carries nothing")
		}
	}
}

func TestAnotherStartGoesOnWithWhatALaneWasTold(t *testing.T) { // D-26, D-8
	p, r := working(t)
	p.switches(p.maya, &ledger.LaneOn{Repos: laneAt})
	p.switches(p.kim, &ledger.LaneOn{Repos: laneAt, Live: laneAt})
	s := p.saysWork(r, &ledger.Session{State: ledger.SessionLive, Agent: "codex", Checkout: [16]byte{1}})
	p.saysWork(r, editOf(s, "billing/refund.go", "a"))
	before := p.wire()
	p.inc = ledger.Incarnation{9}
	p.live = newLive(p.Node)
	p.live.repos, p.workBook = []*liveRepo{r}, workBook{}
	p.live.fold.SetRepo(overlap.Repo{Place: r.Place, Slug: r.slug})
	if err := p.live.load(); err != nil {
		t.Fatal(err)
	}
	p.stores()
	if after := p.wire(); len(after) != len(before) {
		t.Errorf("%d records cross before another start, and %d after it", len(before), len(after))
	}
	p.saysWork(r, editOf(s, "billing/refund.go", "b"))
	if after := p.wire(); len(after) != len(before)+1 {
		t.Errorf("%d records cross after one more", len(after))
	}
	if n := len(p.live.fold.Sides()); n != 1 {
		t.Errorf("%d sides", n)
	}
}

func TestASwitchOfOneRepositoryLeavesTheOthersAsTheyAre(t *testing.T) { // D-27
	p, shop := working(t)
	web := &liveRepo{Place: overlap.Place{Host: "github.com", Repo: laneRepo + 1}, slug: "acme/web"}
	l := p.live
	for _, c := range []struct {
		repository     string
		on             bool
		shop, web, any bool
	}{
		{"", false, false, false, false},
		{"acme/shop", true, true, false, true},
		{"", true, true, true, true},
		{"Acme/Shop", false, false, true, true},
		{"acme/web", false, false, false, true}, // others, which are not configured yet, are on
		{"", false, false, false, false},
	} {
		l.switches = readSwitches(mustJSON(t, l.switches.with(c.repository, c.on)))
		if l.activeIn(shop) != c.shop || l.activeIn(web) != c.web || l.activeNow() != c.any {
			t.Errorf("after %q %v: %v in the shop, %v in the web, %v at all", c.repository, c.on, l.activeIn(shop), l.activeIn(web), l.activeNow())
		}
	}
	p.switches(p.maya, &ledger.LaneOn{Repos: laneAt})
	p.switches(p.kim, &ledger.LaneOn{Repos: laneAt, Live: laneAt})
	if !l.activeIn(shop) || l.activeIn(web) {
		t.Error("a lane that shares live work on the shop lets exactly that be looked after")
	}
	if l.switches = l.switches.with("acme/shop", false); l.activeIn(shop) {
		t.Error("the shop is looked after though its person switched it off")
	}
	for word, all := range map[string]bool{"on": true, "off": false, "": false} {
		if got := readSwitches([]byte(word)); got.All != all {
			t.Errorf("stored %q is read as %+v", word, got)
		}
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestATextThatIsTooLongIsRefusedWhole(t *testing.T) { // C17
	for n, fits := range map[int]bool{2000: true, 2001: false} {
		text, err := whole("message", strings.Repeat("ä", n), ledger.MessageBytesMax)
		if (err == nil) != fits || fits && len(text) != 2*n || !fits && !strings.Contains(err.Error(), "4000 bytes") {
			t.Errorf("%d characters: %d bytes, %v", n, len(text), err)
		}
	}
}

func TestAnIntentWhoseClaimsAreRefusedIsNobodys(t *testing.T) { // C7
	p, r := working(t)
	s := p.saysWork(r, &ledger.Session{State: ledger.SessionLive, Agent: "codex", Checkout: [16]byte{1}})
	l := p.live
	l.switches.All = true
	here := &session{key: sessionKey{"codex", "one"}, repo: r, id: s, top: "/shop", seen: time.Now()}
	l.sessions[here.key] = here
	full := &api.NewIntent{Caller: api.Caller{Session: "one"}, Task: "too much", Scope: api.Scope{Paths: api.List[string]{strings.Repeat("ä", 250)}}}
	for i := range 200 { // more than a record holds
		full.Scope.Symbols = append(full.Scope.Symbols, strings.Repeat("ä", 200)+fmt.Sprint(i))
	}
	if _, err := l.Declare(t.Context(), *full); err == nil {
		t.Fatal("more claims than a record holds are declared")
	}
	all, err := l.Intents(t.Context(), api.WorkQuery{})
	if err != nil || len(all) > 0 {
		t.Errorf("%d intents are left, %v", len(all), err)
	}
	if here.intent != (ledger.ID{}) {
		t.Error("the session goes on for an intent that its agent was told is none")
	}
}
