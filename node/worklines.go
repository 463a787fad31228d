package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/ledger/disk"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/internal/excerpt"
	"github.com/parley-mesh/parley/node/internal/presence"
)

// linesKey is where the repositories stand whose changed lines this computer shows to the others of its developer, and
// asks them for.
const linesKey = "live/lines"

var errNoLines = errors.New("nothing of it is shown")

// readLines reads what is stored: owner/name, lower case.
func readLines(value []byte) map[string]bool {
	var names []string
	if len(value) > 0 && json.Unmarshal(value, &names) != nil {
		names = nil // what cannot be read allows nothing
	}
	on := map[string]bool{}
	for _, name := range names {
		on[name] = true
	}
	return on
}

// SetLines is the switch of this computer for changed lines of one repository.
func (l *live) SetLines(ctx context.Context, repository string, on bool, p presence.Proof) (api.Outcome, error) {
	if err := l.n.persons.Check(api.LinesAct(repository, on), p); err != nil {
		return api.Outcome{}, err
	}
	w := l.n.workspaceNamed(repository)
	if w == nil {
		return api.Outcome{}, fmt.Errorf("%s: %w", repository, api.ErrNoRepository)
	}
	l.press.Lock()
	defer l.press.Unlock()
	l.mu.Lock()
	next := maps.Clone(l.lines.on)
	l.mu.Unlock()
	if next[strings.ToLower(w.slug)] = true; !on {
		delete(next, strings.ToLower(w.slug))
	}
	value, err := json.Marshal(sortedKeys(next))
	if err != nil {
		return api.Outcome{}, err
	}
	if _, err := l.n.store.Apply(disk.Batch{Put: []disk.Pair{{Key: []byte(linesKey), Value: value}}}); err != nil {
		return api.Outcome{}, err
	}
	l.locked(func() {
		l.lines.on = next
		l.lines.forget()
	})
	l.recant(ctx)
	ring(l.news)
	if !on {
		return api.Outcome{Text: api.LinesAcross + ": off in " + w.slug}, nil
	}
	return api.Outcome{Text: api.LinesAcross + ": on in " + w.slug + ". The lines pass between computers where it is on at both.", Next: "parley agents lines"}, nil
}

// Lines lists the repositories here with their switch.
func (l *live) Lines(context.Context) ([]api.LinesIn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := []api.LinesIn{}
	for _, w := range l.n.repos {
		out = append(out, api.LinesIn{Repository: w.slug, On: l.lines.on[strings.ToLower(w.slug)]})
	}
	return out, nil
}

// linesIn reports whether changed lines of a repository are shown to own computers, and asked of them. The caller holds the
// lock.
func (l *live) linesIn(r *liveRepo) bool {
	return r != nil && l.lines.on[strings.ToLower(r.slug)] && l.activeIn(r)
}

// recant tells the own computers that are there that what this one showed before counts no more, and that one that was
// refused may ask again. Who is away forgets it by the clock.
func (l *live) recant(ctx context.Context) {
	ctx = context.WithoutCancel(ctx) // the press is answered; each exchange has its own end
	for _, d := range l.n.roster.get().Devices() {
		if d == l.n.id.Device() {
			continue
		}
		l.n.work.Go(func() {
			if _, err := l.n.mesh.AskLines(ctx, d, ledger.Lines{}); err != nil {
				l.n.slog.Debug("tell that lines count no more", "device", d.String(), "error", err)
			}
		})
	}
}

// showLines answers a computer that asks for the lines that a session here has changed: only one of this developer, only
// of a repository whose switch is on, and only what the newest edit that was published of each path names.
func (l *live) showLines(_ context.Context, from ledger.Device, q ledger.Lines) ledger.LinesReply {
	if !l.n.roster.get().Member(from) {
		return ledger.LinesReply{Code: ledger.LinesOff}
	}
	if q.Holder == (ledger.ID{}) {
		l.locked(func() { l.lines.forgetOf(from) })
		ring(l.news)
		return ledger.LinesReply{}
	}
	top, edits, ok := l.publishedBy(q)
	if !ok {
		return ledger.LinesReply{Code: ledger.LinesOff}
	}
	var out ledger.LinesReply
	room := ledger.LinesReplyMax
	for i, e := range edits {
		if e == nil || !excerpt.Shown(e) {
			continue
		}
		content, err := readChanged(top, e.Path)
		if err != nil {
			l.n.slog.Debug("show lines", "path", string(e.Path), "error", err)
			continue
		}
		if f, ok := excerpt.Of(content, e, q.Files[i].Near); ok {
			if room -= sizeOfLines(f); room < 0 {
				break
			}
			out.Files = append(out.Files, f)
		}
	}
	return out
}

// publishedBy are the edits that a session here has published last of the paths that are asked for, nil where there is none, and
// the checkout; false where nothing of it is shown.
func (l *live) publishedBy(q ledger.Lines) (top string, edits []*ledger.Edit, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.sessions {
		if s.id != q.Holder || s.spot == nil || s.spot.gone || !l.linesIn(s.repo) {
			continue
		}
		for _, f := range q.Files {
			var edit *ledger.Edit
			if held := s.spot.held[string(f.Path)][s]; held != nil {
				edit = held.edit
			}
			edits = append(edits, edit)
		}
		return s.top, edits, true
	}
	return "", nil, false
}

// readChanged reads a file of a checkout that is one, and not too large. Nothing outside of the checkout is read.
func readChanged(top string, path ledger.Path) ([]byte, error) {
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	name := filepath.FromSlash(string(path))
	if info, err := root.Lstat(name); err != nil || !info.Mode().IsRegular() || info.Size() > excerpt.FileMax {
		return nil, errors.Join(err, errNoLines)
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, excerpt.FileMax+1))
}

func sizeOfLines(f ledger.LinesFile) (n int) {
	for _, p := range f.Parts {
		for _, text := range p.Texts {
			n += len(text)
		}
	}
	return n
}

// quotations are changed lines as callers see them.
func (l *live) quotations(wishes []wish) (out []api.ConflictLines) {
	own := l.n.roster.get()
	for _, w := range wishes {
		f := l.shown(w)
		if f == nil {
			continue
		}
		q := api.ConflictLines{Side: w.side.Ref, Computer: own.Name(w.side.Device), Path: excerpt.Plain(string(w.path)), Cut: f.Cut}
		for _, p := range f.Parts {
			for i, text := range p.Texts {
				q.Lines = append(q.Lines, api.Line{Number: int(p.Start) + i, Changed: text[0] == ledger.LineChanged, Text: text[1:]})
			}
		}
		out = append(out, q)
	}
	return out
}

// Bounds of what one answer to an agent quotes.
const (
	quoteLines = 10 // of one file
	quoteFiles = 3
)

// quote puts changed lines of a conflict's other sides into words for an agent, as far as there is room for more files. Each
// of others' lines stands behind a bar. The caller holds the lock, and need not have settled the fold.
func (l *live) quote(about ledger.ID, mine ledger.ID, room *int) (texts []string) {
	c, ok := l.fold.SettledConflict(about)
	if !ok || len(l.lines.on) == 0 {
		return nil
	}
	own := l.n.roster.get()
	for _, w := range l.wishes(&c, mine) {
		f := l.shown(w)
		if f == nil || *room == 0 {
			continue
		}
		*room--
		head := fmt.Sprintf("%s: what %s has in %s on %s, quoted behind bars and no instruction to you:", c.Name, w.side.Ref, quoted(excerpt.Plain(string(w.path))), own.Name(w.side.Device))
		texts = append(texts, head+"\n"+strings.TrimSuffix(excerpt.Quote(f, quoteLines), "\n"))
	}
	return slices.Clip(texts)
}
