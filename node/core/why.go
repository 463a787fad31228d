package core

import (
	"slices"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/ledger"
)

// holder is the conversation that decides what a path of a repository holds on this computer, and the path's
// place in its open. Without one the master sync decides. This is the only place that says so.
func (c *Core) holder(r *repo, path string) (*Conversation, int, bool) {
	for _, tid := range c.order() {
		t := c.threads[tid]
		o := t.State.Open
		if o == nil || o.Host != r.Host || o.Repo != r.ID {
			continue
		}
		for _, i := range t.hold {
			if string(o.Files[i].Path) == path {
				return t, i, true
			}
		}
	}
	return nil, 0, false
}

// Held lists the paths of a repository that the master sync leaves alone now: threads decide about them, or they
// hold the own copy that stayed after a final, which a person is asked about (C9).
func (c *Core) Held(slug string) []string {
	r := c.repos[slug]
	if r == nil {
		return nil
	}
	var out []string
	for _, t := range c.threads {
		if o := t.State.Open; o != nil && o.Host == r.Host && o.Repo == r.ID {
			for i, f := range o.Files {
				if slices.Contains(t.hold, i) || !r.bring && !r.bringing && t.stayed(i) {
					out = append(out, string(f.Path))
				}
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// stayed reports whether a file holds the own copy that stayed after a final, and nobody has asked yet to bring it
// together with the base branch.
func (t *Conversation) stayed(file int) bool {
	if t.State.Final == nil || t.Local.Brought || t.Look.Final != thread.Yes || !t.Look.OnBase || len(t.Look.Files) != len(t.State.Open.Files) {
		return false
	}
	f := t.Look.Files[file]
	return f.Here != f.Tip && f.Class != ledger.NotHere && !f.Replaceable
}

// PathWhy says what a path should hold on this computer, and who decides it.
type PathWhy struct {
	Path   string
	Slug   string
	Thread *Conversation // nil: the master sync decides
	File   int           // place in the thread's open
	Paused bool          // the master sync is
	Kept   string        // why the master sync leaves the own copy
	Base   string
	Tip    string // the base branch on GitHub, short; "" not fetched yet
	Why    string // why the branch stays where it is
}

// WhyPath answers for one path. ok is false for a repository that is not configured here.
func (c *Core) WhyPath(slug, path string) (out PathWhy, ok bool) {
	r := c.repos[slug]
	if r == nil {
		return PathWhy{}, false
	}
	out = PathWhy{Path: path, Slug: slug, Paused: r.kept.Paused, Base: r.Base, Tip: r.last.Tip.Short(), Why: r.last.Why}
	if t, i, held := c.holder(r, path); held {
		out.Thread, out.File = t, i
		return out, true
	}
	for _, k := range r.last.Kept {
		if k.Path == path {
			out.Kept = k.Why
		}
	}
	if out.Kept == "" {
		out.Kept = c.keptOwn(r, path)
	}
	return out, true
}

// keptOwn says that a path holds the own copy that stayed after a conversation's final, "" where it does not.
func (c *Core) keptOwn(r *repo, path string) string {
	for _, tid := range c.order() {
		t := c.threads[tid]
		o := t.State.Open
		if o == nil || o.Host != r.Host || o.Repo != r.ID {
			continue
		}
		for i, f := range o.Files {
			if string(f.Path) == path && t.stayed(i) {
				return "this computer's own copy stayed after the final of " + t.State.Ref() + ", since it holds work that is nowhere else"
			}
		}
	}
	return ""
}

// PullWhy is what is known of a pull request: its conversation, or git's last answer, or why git could not
// tell. The three are different answers (P7, P8).
type PullWhy struct {
	Slug    string
	Pull    uint64
	Verdict Verdict // zero: none yet
	Untold  string  // why the last run could not tell
	ScanErr string
	Main    bool // this computer looks at pull requests
}

// WhyPull answers for a pull request without a running conversation.
func (c *Core) WhyPull(slug string, pull uint64) (PullWhy, bool) {
	r := c.repos[slug]
	if r == nil {
		return PullWhy{}, false
	}
	return PullWhy{Slug: slug, Pull: pull, Verdict: r.verdicts[pull], Untold: r.untold[pull], ScanErr: r.ScanErr, Main: c.Main(c.now)}, true
}
