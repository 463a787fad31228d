package core

import (
	"maps"
	"slices"
	"time"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/ledger"
)

// tend runs what a repository is due for: the main computer's scan, and everybody's master sync.
func (c *Core) tend(r *repo, now time.Time) {
	if r.ID == 0 {
		if r.scanWanted {
			c.scan(r, now) // a person asks: the run begins with what GitHub calls it
		}
		return
	}
	if _, main := c.acting(now); main {
		c.scan(r, now)
	}
	c.syncMaster(r, now)
}

// scan starts a run 15 minutes after the last one started, or at once when a person asks.
func (c *Core) scan(r *repo, now time.Time) {
	key := "scan " + r.Slug
	due := r.scanWanted || r.scanned.IsZero() || !now.Before(r.scanned.Add(c.cfg.Every.Scan))
	if !due || c.flight[key] {
		return
	}
	r.scanned, r.scanWanted = now, false
	c.flight[key] = true
	c.effect(Scan{Slug: r.Slug, Known: maps.Clone(r.verdicts), Running: c.running(r), Teammates: c.authors(r)})
}

// running lists the pull requests whose conversation runs.
func (c *Core) running(r *repo) []uint64 {
	var out []uint64
	for _, tid := range c.order() {
		if o := c.threads[tid].State.Open; o != nil && c.threads[tid].State.Phase != thread.Closed && o.Host == r.Host && o.Repo == r.ID {
			out = append(out, o.Pull)
		}
	}
	return out
}

// tried remembers a verdict and opens a conversation where only one can settle it. Nothing is started
// twice: "A pull request whose conversation is still running is skipped".
func (c *Core) tried(in *Trial, now time.Time) {
	r := c.repos[in.Repo.Slug]
	if r == nil {
		return
	}
	v := Verdict{Head: in.Head, Tip: in.Tip, Verdict: in.Verdict, Reason: in.Reason, Title: in.Title, At: now}
	r.verdicts[in.Pull] = v
	c.effect(save(verdictKey(r.Slug, in.Pull), v))
	if in.Verdict == VerdictConversation {
		c.open(r, in, now)
	}
}

func (c *Core) open(r *repo, in *Trial, now time.Time) {
	claim, main := c.acting(now)
	if _, resting := c.Resting(now); resting {
		return // the run after the pause finds it again
	}
	if !main || slices.Contains(c.running(r), in.Pull) || len(r.Missing) > 0 {
		return
	}
	var episode uint64
	for c.begun(r.threadID(in.Pull, episode)) {
		episode++
	}
	parties, resp, auth, ok := c.parties(r, in)
	if !ok {
		return
	}
	if delete(r.crowded, in.Pull); len(parties) > ledger.PartiesMax {
		r.crowded[in.Pull] = len(parties)
		return // every run tries it anew, a card says why nothing opens
	}
	open := &ledger.Open{
		Host: r.Host, Repo: r.ID, Slug: r.Slug, Pull: in.Pull, Episode: episode, Base: r.Base,
		Algorithm: ledger.SHA1, Head: in.Head, BaseHead: in.Tip, MergeBase: in.MergeBase, Files: in.Files,
		Parties: parties, Resp: resp, Auth: auth, Author: in.Author, Fleet: c.cfg.Fleet,
	}
	if len(in.Head) == 32 {
		open.Algorithm = ledger.SHA256
	}
	t := c.conversation(open.Key().Thread())
	if t.emitting {
		return
	}
	t.emitting = true
	c.effect(Append{Ledger: open.Key().Thread(), Content: open, Claim: claim})
}

// parties are the computers of the fleet, and for a teammate's pull request their lane, which is the responsible
// side (P14). For an own one that is the computer that made the pull request's head; where none is known the main
// computer is. Without ok nothing may be opened: the teammate is to be left alone (P13).
func (c *Core) parties(r *repo, in *Trial) (parties []ledger.Party, resp uint64, auth *uint64, ok bool) {
	for _, d := range c.roster.Devices() {
		parties = append(parties, ledger.DeviceParty(d))
	}
	if in.Teammate {
		fleet, ok := c.teammate(r, in.Author)
		parties = append(parties, ledger.LaneParty(fleet)) // a lane is after every computer
		return parties, uint64(len(parties) - 1), nil, ok
	}
	for i, p := range parties {
		d, _ := p.Device()
		if slices.Contains(in.Made, d) && auth == nil {
			n := uint64(i)
			auth, resp = &n, n
		}
		if d == c.cfg.Device && auth == nil {
			resp = uint64(i)
		}
	}
	return parties, resp, auth, true
}

func (c *Core) scanned(in Scanned, now time.Time) {
	delete(c.flight, "scan "+in.Slug)
	r := c.repos[in.Slug]
	if r == nil {
		return
	}
	if len(r.Missing) > 0 && len(in.Missing) == 0 && in.Err == "" {
		r.scanWanted = true // what this run found while something counted as missing has not been opened
	}
	if in.Stood {
		r.last.Rewritten = in.Rewritten
	}
	told := r.ScanErr == in.Err
	r.Missing, r.ScanErr, r.untold = in.Missing, in.Err, in.Untold
	if in.Err != "" && !told {
		c.effect(Note{Level: "warn", Kind: "scan", Who: c.roster.Name(c.cfg.Device), Text: "could not look at " + in.Slug + ": " + in.Err})
	}
	if in.Open == nil {
		return
	}
	for _, n := range pulls(r.verdicts) {
		if !slices.Contains(in.Open, n) {
			delete(r.verdicts, n)
			delete(r.crowded, n)
			c.effect(Save{Key: verdictKey(in.Slug, n)})
		}
	}
}
