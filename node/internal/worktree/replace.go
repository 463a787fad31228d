package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Outcome is how a replacement ended well.
type Outcome int

// The outcomes of Replace.
const (
	Took  Outcome = iota + 1 // the wanted version is now in place; what was there is kept
	HadIt                    // it was in place already; nothing was touched
)

var errOtherDevice = errors.New("on another file system")

// Replace puts want (the zero Entry: delete the file) at path, if what HEAD, the index and the working tree have
// there is all known. The index, HEAD and the stash are never touched (D-22).
//
// The new file is written aside and exchanged with the old one in a single step; only then is it decided what
// was displaced. So whatever was at the path at that moment, by whichever program, is either known and kept, or
// goes back. why is what the operation's record gives to people. Errors: ErrUnknownContent, ErrBusy (try again
// later), ErrRefused, ErrUnsupported; with each of them the file is as it was.
func (c *Checkout) Replace(ctx context.Context, why, path string, known *Known, want Entry) (Outcome, error) {
	release, err := c.exclusive(ctx)
	if err != nil {
		return 0, fmt.Errorf("replace %s: %w", path, err)
	}
	defer release()
	st, err := c.State(ctx)
	if err == nil {
		err = c.writable(st)
	}
	if err != nil {
		return 0, fmt.Errorf("replace %s: %w", path, err)
	}
	all, err := c.inspect(ctx, st.Head, []string{path})
	if err != nil {
		return 0, fmt.Errorf("replace %s: %w", path, err)
	}
	done, err := c.logged(opHead{Kind: OpReplace, Why: why}, func(op string) (Outcome, error) {
		return c.put(ctx, st, all[0], putting{want: want, known: known, mirror: known.mirror, op: op})
	})
	if err != nil {
		return 0, fmt.Errorf("replace %s: %w", path, err)
	}
	return done, nil
}

// logged runs a change of one path as an operation.
func (c *Checkout) logged(head opHead, change func(op string) (Outcome, error)) (Outcome, error) {
	j, err := c.begin(head)
	if err != nil {
		return 0, err
	}
	done, err := change(j.name)
	if err := errors.Join(err, j.end(false)); err != nil {
		return 0, err
	}
	return done, nil
}

// writable applies what holds for the whole checkout.
func (c *Checkout) writable(st CheckoutState) error {
	switch {
	case st.Busy != "":
		return fmt.Errorf("%w: %s is going on", ErrBusy, st.Busy)
	case c.Base != "" && st.Branch != c.Base:
		return fmt.Errorf("%w: the checkout does not stand on %s", ErrRefused, c.Base)
	}
	return nil
}

// stillAt looks once more, without git, whether the person has begun something or stands elsewhere since st.
func (c *Checkout) stillAt(st CheckoutState) error {
	if doing := c.busy(); doing != "" {
		return fmt.Errorf("%w: %s is going on", ErrBusy, doing)
	}
	head, err := os.ReadFile(c.gitFile("HEAD"))
	if err != nil {
		return err
	}
	want := string(st.Head)
	if st.Branch != "" {
		want = "ref: refs/heads/" + st.Branch
	}
	const inTable = "ref: refs/heads/.invalid" // what the file says where refs are kept in a table
	if at := strings.TrimSpace(string(head)); at == want || at == inTable {
		return nil
	}
	return fmt.Errorf("%w: another branch was checked out in the last moment", ErrBusy)
}

// putting is what replaces a file.
type putting struct {
	want   Entry
	raw    []byte  // the exact bytes; nil: want's blob as this computer checks it out
	known  *Known  // what may be displaced; nil: nothing but what was inspected
	mirror *Mirror // has blobs that the repository need not have; may be nil
	op     string  // the operation that it belongs to
}

// put works on what inspect found in the state st; the caller is the only writer.
func (c *Checkout) put(ctx context.Context, st CheckoutState, t Three, p putting) (Outcome, error) {
	switch {
	case t.Odd == OddMoving:
		return 0, fmt.Errorf("%w: it is %s", ErrBusy, t.Odd)
	case t.Odd == OddDirectory && p.want.Absent():
		return HadIt, nil // there is no file of that name
	case t.Odd != "":
		return 0, fmt.Errorf("%w: it is %s", ErrRefused, t.Odd)
	case !p.want.Absent() && !p.want.regular():
		return 0, fmt.Errorf("%w: mode %s is not a file's", ErrRefused, p.want.Mode)
	case p.inPlace(t):
		return HadIt, nil
	}
	if p.known != nil {
		if where := t.unknown(p.known); where != "" {
			return 0, fmt.Errorf("%w: %s", ErrUnknownContent, where)
		}
	}
	r := &replacement{c: c, st: st, known: p.known, was: t, want: p.want, body: p.raw, op: p.op}
	if !p.want.Absent() && p.raw == nil {
		var err error
		if r.body, err = c.smudged(ctx, t.Path, p.mirror, p.want.OID); err != nil {
			return 0, err
		}
	}
	if err := r.run(ctx); err != nil {
		return 0, err
	}
	return Took, nil
}

func (p putting) inPlace(t Three) bool {
	if p.raw != nil {
		return !t.Work.Absent() && t.sum == sumOf(p.raw) && t.Work.Mode == p.want.Mode
	}
	return t.holds(p.want)
}

func (t Three) holds(want Entry) bool {
	return t.Work == want || !want.Absent() && t.Raw == want.OID && t.Work.Mode == want.Mode
}

// smudged is the blob as this computer checks it out. Content that would not come back as the same blob is
// refused, except for the very bytes of the blob.
func (c *Checkout) smudged(ctx context.Context, path string, m *Mirror, blob OID) ([]byte, error) {
	var env []string
	if m != nil {
		env = []string{"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + alternate(filepath.Join(m.dir, "objects"))}
	}
	body, err := c.git.must(ctx, call{args: []string{"cat-file", "--filters", "--path=" + path, string(blob)}, env: env})
	if err != nil {
		return nil, err
	}
	back, err := c.cleanID(ctx, path, body, blob)
	if err != nil {
		return nil, err
	}
	if back != blob {
		return nil, fmt.Errorf("%w: the file does not survive this computer's line-end or filter settings", ErrRefused)
	}
	return body, nil
}

// replacement is one run. Its temporary file has the same name as its record, so that a killed run can be ended.
type replacement struct {
	c     *Checkout
	st    CheckoutState
	known *Known // nil: nothing but was may be displaced
	was   Three
	want  Entry
	body  []byte // the new bytes; nil for a deletion
	op    string

	id   string
	note record
	at   *spot
	dir  *os.File // the parent of the path
	tmp  *os.Root // where the temporary file stands
	tdir *os.File
	name string // its name there
}

func (r *replacement) run(ctx context.Context) (err error) {
	r.at, err = r.c.openSpot(r.was.Path, r.was.Work.Absent())
	if err != nil {
		return r.gone(err)
	}
	defer func() { err = errors.Join(err, r.at.close()) }()
	if r.dir, err = handle(r.at.parent()); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.dir.Close()) }()
	err = r.through(ctx, false)
	if errors.Is(err, errOtherDevice) {
		err = r.through(ctx, true)
	}
	if err == nil && r.want.Absent() {
		r.at.pruneEmpty()
	}
	return err
}

// gone translates what the walk met since the inspection.
func (r *replacement) gone(err error) error {
	if odd, is := errors.AsType[oddError](err); is {
		return fmt.Errorf("%w: it is %s", ErrRefused, Oddity(odd))
	}
	if errors.Is(err, fs.ErrNotExist) && r.was.Work.Absent() {
		return fmt.Errorf("%w: a file stands where its directory would be", ErrRefused)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: it went away in the last moment", ErrUnknownContent)
	}
	return err
}

// through stages the new file, in the work area or beside the path, moves the names and ends the run.
func (r *replacement) through(ctx context.Context, beside bool) (err error) {
	if err := r.stage(beside); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.tdir.Close(), r.tmp.Close()) }()
	r.c.at("staged")
	err = r.c.stillAt(r.st)
	if err == nil {
		err = r.swap()
	}
	if err != nil {
		return errors.Join(err, r.discard())
	}
	r.c.at("swapped")
	if r.was.Work.Absent() {
		return errors.Join(r.sync(), r.told())
	}
	if err := r.judge(ctx); err != nil {
		return errors.Join(err, r.sync())
	}
	return r.taken()
}

func (r *replacement) describe() string {
	if r.want.Absent() {
		return "its deletion"
	}
	return string(r.want.OID)
}

func (r *replacement) noteFile() string { return r.c.workArea(tmpDir, r.id+".json") }

// besidePattern matches the names of temporary files that stand in the working tree.
const (
	besidePrefix  = ".parley-"
	besideSuffix  = ".tmp"
	besidePattern = besidePrefix + "*" + besideSuffix
)

// stage writes the new file and then the record. A temporary file without a record was therefore never in
// place.
func (r *replacement) stage(beside bool) (err error) {
	r.id = newID()
	r.note = record{
		Path: r.was.Path, Worktree: r.c.top, Blob: r.was.Work.OID, Mode: r.was.Work.Mode, Want: r.want,
		When: time.Now().UTC(), Why: "a replacement was under way", Op: r.op,
	}
	if r.tmp, err = r.openTemp(beside); err != nil {
		return err
	}
	if r.tdir, err = handle(r.tmp); err != nil {
		return errors.Join(err, r.tmp.Close())
	}
	err = r.writeTemp()
	if err == nil {
		err = writeRecord(r.noteFile(), r.note)
	}
	if err != nil {
		return errors.Join(err, r.discard(), r.tdir.Close(), r.tmp.Close())
	}
	return nil
}

func (r *replacement) openTemp(beside bool) (*os.Root, error) {
	if !beside {
		r.name = r.id
		return os.OpenRoot(r.c.workArea(tmpDir))
	}
	if err := r.c.excludeBeside(); err != nil {
		return nil, err
	}
	r.name = besidePrefix + r.id + besideSuffix
	r.note.Beside = r.name
	return r.at.parent().OpenRoot(".")
}

func (r *replacement) writeTemp() error {
	if !r.was.Work.Absent() {
		r.note.Before = r.was.sum
	}
	if r.want.Absent() {
		return nil
	}
	r.note.Ours = sumOf(r.body)
	perm := fs.FileMode(0o666)
	if r.want.Mode == modeExecutable {
		perm = 0o777
	}
	f, err := r.tmp.OpenFile(r.name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(r.body)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close(), r.tdir.Sync())
}

// swap moves the names in one step.
func (r *replacement) swap() error {
	var err error
	switch {
	case r.want.Absent():
		err = moveNew(r.dir, r.at.name, r.tdir, r.name)
	case r.was.Work.Absent():
		err = moveNew(r.tdir, r.name, r.dir, r.at.name)
	default:
		err = exchange(r.tdir, r.name, r.dir, r.at.name)
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%w: it appeared in the last moment", ErrUnknownContent)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: it went away in the last moment", ErrUnknownContent)
	}
	return err
}

// judge looks at what came out and puts it back if it is not what was found known.
func (r *replacement) judge(ctx context.Context) error {
	body, fi, err := readRegular(r.tmp, r.name)
	if odd, is := errors.AsType[oddError](err); is {
		return r.putBack(fmt.Errorf("%w: it became %s", ErrUnknownContent, Oddity(odd)))
	}
	if err != nil {
		return err // the record stays: what came out is looked at again at the next start
	}
	r.note.Displaced = sumOf(body)
	if r.note.Displaced == r.was.sum {
		return nil
	}
	t := r.was
	t.Raw, t.Work.Mode = r.c.blobID(body), r.c.workMode(fi, t.Index, t.Head)
	t.Work.OID, err = r.c.cleanID(ctx, t.Path, body)
	if err != nil {
		return r.putBack(err)
	}
	if r.known == nil || !t.workKnown(r.known) {
		return r.putBack(fmt.Errorf("%w: it was written in the last moment", ErrUnknownContent))
	}
	r.note.Blob, r.note.Mode = t.Work.OID, t.Work.Mode
	return nil
}

// putBack undoes the swap. If the path was written to meanwhile, the newest content ends up at the path and the
// older is kept. It returns why, with whatever else went wrong.
func (r *replacement) putBack(why error) error {
	if r.want.Absent() {
		err := moveNew(r.tdir, r.name, r.dir, r.at.name)
		if err == nil {
			return errors.Join(why, os.Remove(r.noteFile()))
		}
		return errors.Join(why, r.kept("written in the last moment; another file had taken its place"))
	}
	front := r.note.Ours // what we believe to be at the path
	const rounds = 8
	for range rounds {
		back, err := sumIn(r.tmp, r.name)
		if err == nil {
			err = exchange(r.tdir, r.name, r.dir, r.at.name)
		}
		if err != nil {
			return errors.Join(why, r.kept("written in the last moment; its place was gone"))
		}
		out, err := sumIn(r.tmp, r.name)
		if err == nil && out == front {
			break // nobody wrote since
		}
		front = back
	}
	if out, err := sumIn(r.tmp, r.name); err == nil && out == r.note.Ours {
		// It stood at the path for a moment, and a program that opened it then may write to it yet.
		r.note.Blob, r.note.Mode, r.note.Displaced = r.want.OID, r.want.Mode, out
		return errors.Join(why, r.kept("the new version, which stood in place for a moment while somebody was writing"))
	}
	return errors.Join(why, r.kept("overtaken by a newer version in the last moment"))
}

// sumIn is the sum of a regular file; anything else has none.
func sumIn(dir *os.Root, name string) (string, error) {
	body, _, err := readRegular(dir, name)
	if _, odd := errors.AsType[oddError](err); odd {
		return "", nil
	}
	return sumOf(body), err
}

// discard removes our own temporary file and the record.
func (r *replacement) discard() error {
	err := r.tmp.Remove(r.name)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	gone := os.Remove(r.noteFile())
	if errors.Is(gone, fs.ErrNotExist) {
		gone = nil
	}
	return errors.Join(err, gone)
}

// sync makes the moved names durable.
func (r *replacement) sync() error { return errors.Join(r.dir.Sync(), r.tdir.Sync()) }
