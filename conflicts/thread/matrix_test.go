package thread

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-mesh/parley/ledger"
)

var update = flag.Bool("update", false, "write testdata/matrix.golden anew")

// roles are who may try to say something: five computers that a thread knows, and one that it does not.
var roles = []string{"main", "responsible", "party", "lane", "removed", "stranger"}

// staged is a thread in a phase, with a computer for each role.
func staged(t *testing.T, phase Phase) (*world, map[string]*computer) {
	t.Helper()
	w := newWorldOf(t, 4, 1)
	cast := map[string]*computer{
		"main": w.people[0], "responsible": w.people[1], "party": w.people[2], "removed": w.people[3], "lane": w.people[4],
	}
	w.records, w.people[0].heads = nil, map[ledger.TID]ledger.Head{w.fleet: w.people[0].heads[w.fleet]}
	w.open.Resp = uint64(w.party(cast["responsible"]))
	w.removes(w.people[0], cast["removed"])
	seed := sha256.Sum256([]byte("a stranger"))
	key := ed25519.NewKeyFromSeed(seed[:])
	cast["stranger"] = &computer{
		name: "stranger", key: key, dev: ledger.Device(key.Public().(ed25519.PublicKey)), inc: ledger.Incarnation{77},
		heads: map[ledger.TID]ledger.Head{}, fleet: &fleet{},
	}
	if phase == None {
		return w, cast
	}
	w.say(w.main, ledger.Header{Ledger: w.open.Key().Thread(), Claim: w.main.claim}, w.open)
	if phase >= Interim {
		w.spine(w.main, &ledger.Interim{Why: ledger.InterimAgreed})
	}
	if phase >= Final {
		w.spine(w.main, sampleFinal(), w.state().Root.ID)
	}
	if phase == Closed {
		w.spine(w.main, &ledger.Closed{Why: ledger.ClosedPerson})
	}
	return w, cast
}

func sampleFinal() *ledger.Final {
	return &ledger.Final{Via: ledger.FinalHere, Commit: blob("merge"), Base: "master", Head: blob("result"), Files: versions()}
}

func versions() []ledger.FileVersion {
	return []ledger.FileVersion{{File: 0, Blob: blob("a")}, {File: 1, Blob: blob("b")}}
}

// attempt is a well-formed record of a kind, answering what it should as well as it can.
func (w *world) attempt(c *computer, kind ledger.Kind) *ledger.Record {
	w.t.Helper()
	s := w.state()
	h := ledger.Header{Ledger: w.open.Key().Thread(), Open: ledger.ID{1}}
	final, assign, head := ledger.ID{2}, ledger.ID{1}, ledger.ID{1}
	if s.Root != nil {
		h.Open, assign, head = s.Root.ID, s.Assign, s.Head()
	}
	if s.Final != nil {
		final = s.Final.ID
	}
	claim := c.claim
	if claim == (ledger.ID{}) {
		claim = w.main.claim
	}
	if kind.Spine() {
		h.Claim, h.Spine = claim, head
	}
	switch kind {
	case ledger.KindOpen:
		h.Open, h.Spine = ledger.ID{}, ledger.ID{}
		for { // of two opens of one term the lower id counts; here the second is to be the later one
			head := c.heads[h.Ledger]
			r := w.say(c, h, w.open)
			if s.Root == nil || s.Root.ID.Less(r.ID) {
				return r
			}
			w.records, c.heads[h.Ledger] = w.records[:len(w.records)-1], head
			w.now = w.now.Add(time.Second)
		}
	case ledger.KindInterim:
		return w.say(c, h, &ledger.Interim{Why: ledger.InterimDecided})
	case ledger.KindReassign:
		return w.say(c, h, &ledger.Reassign{To: 0, Why: ledger.ReassignOverdue})
	case ledger.KindFinal:
		h.Re = []ledger.ID{h.Open}
		return w.say(c, h, sampleFinal())
	case ledger.KindClosed:
		return w.say(c, h, &ledger.Closed{Why: ledger.ClosedPerson})
	case ledger.KindAck:
		h.Re = []ledger.ID{h.Open}
		return w.say(c, h, w.ack(ledger.HasMaster))
	case ledger.KindObject:
		h.Re = []ledger.ID{h.Open}
		return w.say(c, h, &ledger.Object{Why: ledger.ObjectPerson})
	case ledger.KindFinalReady:
		h.Re = []ledger.ID{assign}
		return w.say(c, h, &ledger.FinalReady{Head: blob("h"), BaseHead: blob("b"), Tests: ledger.TestsNone, Files: versions()})
	}
	h.Re = []ledger.ID{final}
	return w.say(c, h, &ledger.Adopted{Tip: blob("t"), Results: []ledger.Result{ledger.HadIt, ledger.HadIt}})
}

// kinds are the nine, the main computer's first.
var kinds = []ledger.Kind{
	ledger.KindOpen, ledger.KindInterim, ledger.KindReassign, ledger.KindFinal, ledger.KindClosed,
	ledger.KindAck, ledger.KindObject, ledger.KindFinalReady, ledger.KindAdopted,
}

// matrix is the whole machine on one page.
func matrix(t *testing.T) string {
	var out strings.Builder
	var rules []string
	line := func(cells ...string) {
		row := []string{fmt.Sprintf("%-8s%-12s", cells[0], cells[1])}
		for _, cell := range cells[2:] {
			row = append(row, fmt.Sprintf("%-12s", cell))
		}
		out.WriteString(strings.TrimRight(strings.Join(row, ""), " ") + "\n")
	}
	out.WriteString("Who says what in which phase: the new phase, or that it counts, or the number of the rule that refuses it.\n\n")
	line(append([]string{"phase", "kind"}, roles...)...)
	for phase := None; phase <= Closed; phase++ {
		out.WriteString("\n")
		w, cast := staged(t, phase)
		for _, kind := range kinds {
			cells := []string{phase.String(), string(kind)}
			for _, role := range roles {
				outcome, rule := w.outcome(cast[role], kind)
				if rule != "" && !slices.Contains(rules, rule) {
					rules = append(rules, rule)
				}
				if rule != "" {
					outcome = fmt.Sprint(slices.Index(rules, rule) + 1)
				}
				cells = append(cells, outcome)
			}
			line(cells...)
		}
	}
	out.WriteString("\n")
	for i, rule := range rules {
		fmt.Fprintf(&out, "%2d  %s\n", i+1, rule)
	}
	return out.String()
}

// outcome tries a record and takes it back.
func (w *world) outcome(c *computer, kind ledger.Kind) (word, rule string) {
	tid := w.open.Key().Thread()
	before, n, head := w.state().Phase, len(w.records), c.heads[tid]
	r := w.attempt(c, kind)
	s := w.state()
	w.records, c.heads[tid] = w.records[:n], head
	for _, refused := range s.Refused {
		if refused.Record.ID == r.ID {
			return "", refused.Rule
		}
	}
	if s.Phase != before {
		return s.Phase.String(), ""
	}
	return "counts", ""
}

func TestTheMatrixIsTheWholeMachine(t *testing.T) { // P3, P16, P25
	got, file := matrix(t), filepath.Join("testdata", "matrix.golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, []byte(got)) {
		t.Errorf("the machine differs from %s:\n%s", file, got)
	}
}
