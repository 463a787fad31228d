package node

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parley-mesh/parley/conflicts/thread"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/core"
)

var pullForm = regexp.MustCompile(`^([^#\s]+/[^#\s]+)#([0-9]{1,10})$`)

// why answers about a conversation, a pull request, or a path.
func (v viewer) why(subject string) (api.Why, error) {
	if filepath.IsAbs(subject) {
		return v.whyPath(subject)
	}
	if err := liveWork(subject); err != nil {
		return api.Why{}, err
	}
	t, err := v.find(subject)
	if err == nil {
		return v.whyThread(t), nil
	}
	if m := pullForm.FindStringSubmatch(subject); m != nil {
		n, _ := strconv.ParseUint(m[2], 10, 64)
		if out, ok := v.whyPull(m[1], n); ok {
			return out, nil
		}
	} else if len(v.cfg.Repositories) == 1 && subject != "" {
		return v.whyPath(filepath.Join(v.cfg.Repositories[0].Checkout, filepath.FromSlash(subject)))
	}
	return api.Why{}, fmt.Errorf("%w: neither a conversation, a pull request (owner/name#1) nor a file of a checkout", err)
}

// liveWork refuses what is named like a part of live work, and says who answers about that.
func liveWork(subject string) error {
	name := strings.ToUpper(subject)
	for _, w := range []struct{ start, what, ask string }{
		{"CF-", "a conflict of live work", "run parley explain " + name},
		{"INT-", "an intent", "run parley intents"},
		{"S-", "an agent's session", "run parley sessions"},
	} {
		if digits, ok := strings.CutPrefix(name, w.start); ok && digits != "" && strings.Trim(digits, "0123456789") == "" {
			return api.WithHint(fmt.Errorf("why %s: %w: it is the name of %s", name, api.ErrNoThread, w.what), w.ask)
		}
	}
	return nil
}

// fact is one line of an answer.
func fact(about, text string) api.Fact { return api.Fact{About: about, Text: text} }

func (v viewer) whyThread(t *core.Conversation) api.Why {
	s := &t.State
	out := api.Why{Subject: s.Ref(), Answer: t.Say, Next: t.Next, Thread: s.Ledger.String()}
	names := v.core.PartyNames(t)
	out.Facts = append(out.Facts,
		fact("phase", s.Phase.String()+", opened "+stamp(time.UnixMilli(int64(s.Root.At)))),
		fact("builds the final", names[s.Responsible]+", since "+stamp(time.UnixMilli(int64(s.AssignAt)))))
	for _, w := range t.Waits {
		out.Facts = append(out.Facts, fact("waits", w.Sentence(v.now)))
	}
	for i, name := range names {
		p := v.party(t, i, name)
		text := "has said nothing yet"
		if p.Statement != "" {
			text = p.Statement + " since " + stamp(time.UnixMilli(int64(s.Statements[i].At)))
		}
		if p.Adopted {
			text += "; holds the final"
		}
		out.Facts = append(out.Facts, fact(name, text))
	}
	for i, f := range s.Open.Files {
		out.Facts = append(out.Facts, fact(string(f.Path), v.file(t, i).Here))
	}
	for _, c := range t.Cards {
		out.Facts = append(out.Facts, fact("inbox", c.Title+": "+c.What))
	}
	for _, later := range v.core.Conversations() {
		if o := later.State.Open; o.Host == s.Open.Host && o.Repo == s.Open.Repo && o.Pull == s.Open.Pull && o.Episode > s.Open.Episode {
			out.Facts = append(out.Facts, fact("followed by", later.State.Ref()+", "+later.State.Phase.String()))
		}
	}
	return out
}

// stamp is a time as people read it.
func stamp(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }

// whyPull tells clean, conflict and "could not tell" apart.
func (v viewer) whyPull(slug string, pull uint64) (api.Why, bool) {
	for _, r := range v.cfg.Repositories {
		if strings.EqualFold(r.Slug, slug) {
			slug = r.Slug
		}
	}
	w, ok := v.core.WhyPull(slug, pull)
	if !ok {
		return api.Why{}, false
	}
	out := api.Why{Subject: fmt.Sprintf("%s#%d", slug, pull)}
	d := w.Verdict
	switch {
	case w.Untold != "":
		out.Answer = "could not tell whether it merges: " + w.Untold
	case w.ScanErr != "":
		out.Answer = "could not tell whether it merges: " + w.ScanErr
	case d.Verdict == core.VerdictClean:
		out.Answer = "merges cleanly: nothing is started until it is pushed to or the base branch moves"
	case d.Verdict == core.VerdictPerson:
		out.Answer = "conflicts in a way that only a person can settle: " + d.Reason
	case d.Verdict == core.VerdictConversation:
		out.Answer = "conflicts: its conversation is about to be opened, or was closed and follows at the next scan"
	case !w.Main:
		out.Answer = "not looked at here: only the main computer looks at pull requests"
	default:
		out.Answer = "not looked at yet: it is not one of your open pull requests into the base branch, or the next scan comes first"
	}
	if d.Head != "" {
		out.Facts = append(out.Facts, fact("tried", fmt.Sprintf("%s into %s, %s", d.Head.Short(), d.Tip.Short(), stamp(d.At))))
	}
	return out, true
}

// whyPath says what a file of a checkout should hold here, and who decides it.
func (v viewer) whyPath(file string) (api.Why, error) {
	for _, r := range v.cfg.Repositories {
		rel, err := filepath.Rel(r.Checkout, file)
		if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			continue
		}
		rel = filepath.ToSlash(rel)
		w, ok := v.core.WhyPath(r.Slug, rel)
		if !ok {
			continue
		}
		out := api.Why{Subject: rel + " of " + r.Slug}
		if w.Thread != nil {
			v.whyHeld(&out, w)
			return out, nil
		}
		if w.Kept == "" {
			if err := knownFile(file); err != nil {
				return api.Why{}, err
			}
		}
		whySynced(&out, w)
		return out, nil
	}
	return api.Why{}, fmt.Errorf("%s: %w: it lies in none of the checkouts", file, api.ErrNoRepository)
}

// knownFile refuses what is no file of a checkout: nothing is known of it, and an answer would be made up.
func knownFile(file string) error {
	info, err := os.Lstat(file)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w, and no conversation is about it", file, api.ErrNoFile)
	case info.IsDir():
		return api.WithHint(fmt.Errorf("%s: %w: it is a folder", file, api.ErrNoFile), "name a file in it")
	}
	return nil
}

// whyHeld is the answer while a conversation decides.
func (v viewer) whyHeld(out *api.Why, w core.PathWhy) {
	t := w.Thread
	out.Thread, out.Next = t.State.Ledger.String(), t.Next
	out.Answer = "the conversation about " + t.State.Ref() + " decides: " + shouldHold(t, w.File)
	out.Facts = append(out.Facts, fact("here", v.file(t, w.File).Here), fact("conversation", t.State.Phase.String()+": "+t.Say))
}

// shouldHold says what a file of a conversation holds on this computer until its final.
func shouldHold(t *core.Conversation, i int) string {
	if i >= len(t.Look.Files) {
		return "it stays as it is; it was not looked at yet"
	}
	f := t.Look.Files[i]
	switch {
	case t.Look.Open == thread.CannotTell:
		return "it stays as it is; GitHub could not be asked about it yet"
	case t.Look.Open == thread.No:
		return "it stays as it is; the conversation could not be verified"
	case f.Class == 0:
		return fmt.Sprintf("it stays as it is, since it holds %d unpublished lines", f.Lines)
	case t.Look.Author:
		return "it stays the pull request's copy until the final, since this computer made the pull request"
	case !t.Look.OnBase:
		return "it stays as it is, since the checkout stands on another branch"
	case !f.Replaceable:
		return "it stays as it is, since it was changed here"
	case t.State.Phase == thread.Final || t.State.Phase == thread.Closed:
		return "it stays as it is until the final is verified on GitHub"
	case t.State.Phase == thread.Opened && !t.Local.InterimFired:
		return "it stays as it is until the interim is settled"
	}
	if slices.Contains(t.State.Pick, uint64(i)) {
		return "it holds the pull request's copy for the time being, as the main computer's agent decided"
	}
	return "it holds master's copy for the time being"
}

// whySynced is the answer where no conversation decides.
func whySynced(out *api.Why, w core.PathWhy) {
	switch {
	case w.Paused:
		out.Answer = "it stays as it is: the master sync of " + w.Slug + " is paused"
	case w.Kept != "":
		out.Answer = "it stays as it is: " + w.Kept
	case w.Why != "":
		out.Answer = "it stays as it is: " + w.Why
	case w.Tip == "":
		out.Answer = "the master sync decides, and has not run yet"
	default:
		out.Answer = fmt.Sprintf("it holds what %s has at %s, with own work brought together with it", w.Base, w.Tip)
	}
	out.Facts = append(out.Facts, fact("decides", "the master sync: no conversation is about this file"))
}
