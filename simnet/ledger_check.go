package simnet

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/ledger"
)

// sameSetSameState: over all computers and all time, a set of records has one meaning.
func sameSetSameState(w *World, s Step) error {
	for _, f := range s.Folds {
		key := said{f.book.tid, f.set, f.roster}
		if old, ok := w.ledgerOf.states[key]; ok && old != f.hash {
			return fmt.Errorf("%s makes another state of the same records of %s", f.who, f.book.tid.Short())
		}
		w.ledgerOf.states[key] = f.hash
	}
	return nil
}

// orderFree folds now and then in a random order.
func orderFree(w *World, s Step) error {
	for _, f := range s.Folds {
		if !oneIn(w.rng.check, 50) || f.who.rosterSum != f.roster {
			continue
		}
		records := slices.Clone(f.held)
		w.shuffle(records)
		again := thread.Fold(records, w.refold(f.who))
		if stateHash(&again) != f.hash {
			return fmt.Errorf("%s holds a state of %s that its records in another order do not have", f.who, f.book.tid.Short())
		}
	}
	return nil
}

// appendOnly: a computer's ledgers only grow. A lost tail or a backup resets what is expected, because
// they replace the book.
func appendOnly(_ *World, s Step) error {
	for _, c := range s.Handled {
		for _, b := range c.books {
			if len(b.records) < b.checked || len(b.have) != len(b.records) {
				return fmt.Errorf("%s has %d records of %s and had %d", c, len(b.records), b.tid.Short(), b.checked)
			}
			b.checked = len(b.records)
		}
	}
	return nil
}

func noSelfFork(w *World, s Step) error {
	for _, one := range s.Sealed {
		r := one.record
		at := place{r.Ledger, r.Device, r.Inc, r.Seq}
		if old, ok := w.ledgerOf.places[at]; ok && old != r.ID {
			return fmt.Errorf("%s says two things at place %d of one chain", one.who, r.Seq)
		}
		w.ledgerOf.places[at] = r.ID
	}
	return nil
}

// onePerPull: a computer that opens a conversation knows no other that runs about the same pull request.
func onePerPull(_ *World, s Step) error {
	for _, one := range s.Sealed {
		o, ok := one.record.Content.(*ledger.Open)
		if !ok || !one.who.running {
			continue
		}
		for _, t := range one.who.core.Conversations() {
			other := t.State.Open
			if t.State.Phase != thread.Closed && other.Repo == o.Repo && other.Pull == o.Pull && other.Episode != o.Episode {
				return fmt.Errorf("%s opens a second conversation about pull request %d", one.who, o.Pull)
			}
		}
	}
	return nil
}

// phaseSeen is how far a computer had come in a thread.
type phaseSeen struct {
	tid   ledger.TID
	phase thread.Phase
	spine []ledger.ID
}

// spineAuthority walks every counted spine record: its author held the claim that it names, terms do not
// fall, and along one spine the phase only moves forward.
func spineAuthority(_ *World, s Step) error {
	for _, f := range s.Folds {
		st := &f.state
		rosters := f.who.core.Rosters()
		var term uint64
		for _, id := range st.Spine {
			i := slices.IndexFunc(f.held, func(r *ledger.Record) bool { return r.ID == id })
			if i < 0 {
				return fmt.Errorf("%s counts a spine record that it does not hold", f.who)
			}
			r := f.held[i]
			fleet, _ := rosters.Of(r.Device)
			t, ok := fleet.Term(r.Claim, r.Device)
			if !ok || t < term {
				return fmt.Errorf("%s counts %s %s without a claim of its author, or of an older term", f.who, r.Kind, id.Short())
			}
			term = t
		}
		if err := f.who.moves(st); err != nil {
			return err
		}
	}
	return nil
}

func (c *computer) moves(st *thread.State) error {
	i := slices.IndexFunc(c.phases, func(p phaseSeen) bool { return p.tid == st.Ledger })
	if i < 0 {
		c.phases = append(c.phases, phaseSeen{tid: st.Ledger})
		i = len(c.phases) - 1
	}
	p := &c.phases[i]
	n := len(p.spine)
	same := n <= len(st.Spine) && slices.Equal(p.spine, st.Spine[:n])
	shorter := len(st.Spine) < n && slices.Equal(st.Spine, p.spine[:len(st.Spine)])
	if same && st.Phase < p.phase || shorter && c.restored == 0 && !c.lostTail {
		return fmt.Errorf("%s goes back from %v to %v in %s", c, p.phase, st.Phase, st.Ledger.Short())
	}
	p.phase, p.spine = st.Phase, slices.Clone(st.Spine)
	return nil
}

// cleanRecords: a record fits, can be read back, and holds the id of no content that is on this computer
// alone.
func cleanRecords(w *World, s Step) error {
	if s.BadSeal != nil {
		return fmt.Errorf("a core asked for a record that cannot be: %w", s.BadSeal)
	}
	for _, one := range s.Sealed {
		r := one.record
		if len(r.Wire) > ledger.RecordBytesMax {
			return fmt.Errorf("%s says a record of %d bytes", one.who, len(r.Wire))
		}
		if again, err := ledger.Parse(r.Wire); err != nil || again.ID != r.ID {
			return errors.Join(fmt.Errorf("%s says a record that does not read back", one.who), err)
		}
		for path := range pathCount {
			for _, b := range one.who.three(path) {
				if b != 0 && !w.hub.published[path].has(int(b)) && bytes.Contains(r.Wire, []byte(w.git.blobID(b))) {
					return fmt.Errorf("%s tells the id of its unpublished %s", one.who, pathNames[path])
				}
			}
		}
	}
	return nil
}

// silence: nothing goes to another developer's computer before both have switched the lane on.
func silence(w *World, s Step) error {
	for _, m := range s.Sent {
		if w.cfg.Teams > 0 {
			if err := w.silent(m); err != nil {
				return err
			}
			continue
		}
		if m.from.fleet != m.to.fleet && (!w.laneOn || !m.concerns) {
			return fmt.Errorf("%s sends %d bytes to another developer's %s", m.from, m.bytes, m.to)
		}
	}
	return nil
}

// ledgerRecordsMax is how many records of one ledger a simulated world can come to.
const ledgerRecordsMax = 2000

// statement is when a computer last said what it holds, by its own clock: the last four times.
type statement struct {
	open ledger.ID
	at   [4]uint64
}

// restates: a computer says what it holds about once in a minute (rule A1), however often it starts. Giving
// up and being relieved come on top.
func (c *computer) restates(r *ledger.Record) error {
	i := slices.IndexFunc(c.stated, func(s statement) bool { return s.open == r.Open })
	if i < 0 {
		c.stated = append(c.stated, statement{open: r.Open})
		i = len(c.stated) - 1
	}
	at := &c.stated[i].at
	copy(at[:], at[1:])
	at[3] = r.At
	if at[3]-at[0] < uint64(c.w.timers().Restate.Milliseconds()) {
		return fmt.Errorf("%s says %s, its fourth statement within %d ms", c, r.Kind, at[3]-at[0])
	}
	return nil
}

func bounded(_ *World, s Step) error {
	for _, one := range s.Sealed {
		if k := one.record.Kind; k != ledger.KindAck && k != ledger.KindObject || one.who.twice {
			continue
		}
		if err := one.who.restates(one.record); err != nil {
			return err
		}
	}
	for _, b := range s.Begun {
		if slices.Contains(b.who.denials, b.act) {
			return fmt.Errorf("%s asks GitHub again for a push that it denied", b.who)
		}
	}
	for _, c := range s.Handled {
		for _, b := range c.books {
			if len(b.pending) > pendingMax || len(b.records) > ledgerRecordsMax {
				return fmt.Errorf("%s holds %d records of %s and %d that wait", c, len(b.records), b.tid.Short(), len(b.pending))
			}
		}
	}
	return nil
}
