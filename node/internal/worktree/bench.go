package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// bench is where a person's own work and GitHub's are put together: an object directory of its own that sees the
// mirror's objects and the checkout's. What is made on it is in no repository until it is carried over, and no
// ref ever names it.
type bench struct {
	c    *Checkout
	m    *Mirror
	dir  string
	git  runner
	who  []string // the environment that names the author of its commits
	rest bool     // dir goes with the bench
}

// newBench makes a bench below dir, or in a temporary directory.
func newBench(ctx context.Context, c *Checkout, m *Mirror, dir string) (*bench, error) {
	if c.format != "sha1" {
		return nil, fmt.Errorf("%w: a %s repository cannot hold GitHub's objects", ErrRefused, c.format)
	}
	b := &bench{c: c, m: m}
	var err error
	if dir == "" {
		if dir, err = os.MkdirTemp("", "parley-sync-"); err != nil {
			return nil, err
		}
		b.rest = true
	}
	if b.dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	objects := b.objects()
	if err := errors.Join(os.RemoveAll(objects), os.MkdirAll(objects, 0o700)); err != nil {
		return nil, err
	}
	b.git = m.git
	b.git.env = append(append([]string(nil), m.git.env...), "GIT_OBJECT_DIRECTORY="+objects, b.sees(m, c))
	b.who = c.identity(ctx)
	return b, nil
}

func (b *bench) objects() string { return filepath.Join(b.dir, "objects") }

// sees names the object directories of others that are looked into.
func (b *bench) sees(m *Mirror, c *Checkout) string {
	list := []string{alternate(filepath.Join(m.dir, "objects")), alternate(filepath.Join(c.common, "objects"))}
	return "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + strings.Join(list, string(os.PathListSeparator))
}

func (b *bench) close() error {
	if b.rest {
		return os.RemoveAll(b.dir)
	}
	return os.RemoveAll(b.objects())
}

// identity is the person's own, as git would put it on a commit here, else parley's.
func (c *Checkout) identity(ctx context.Context) []string {
	name, email := "parley", "parley@localhost"
	ask := call{args: []string{"var", "GIT_AUTHOR_IDENT"}, config: []string{"user.useConfigOnly=true"}} // git must not guess
	if said, err := c.git.must(ctx, ask); err == nil {                                                  // "A Name <mail> seconds zone"
		if n, rest, ok := strings.Cut(string(said), " <"); ok && n != "" {
			if e, _, ok := strings.Cut(rest, ">"); ok {
				name, email = n, e
			}
		}
	}
	return []string{"GIT_AUTHOR_NAME=" + name, "GIT_AUTHOR_EMAIL=" + email, "GIT_COMMITTER_NAME=" + name, "GIT_COMMITTER_EMAIL=" + email}
}

// store keeps the content that git would record for these bytes at the path, and returns its id.
func (b *bench) store(ctx context.Context, path string, body []byte) (OID, error) {
	out, err := b.c.git.must(ctx, call{
		args: []string{"hash-object", "-w", "--stdin", "--path=" + path}, stdin: bytes.NewReader(body),
		env:    []string{"GIT_OBJECT_DIRECTORY=" + b.objects(), b.sees(b.m, b.c)},
		config: []string{"core.safecrlf=false"}, // nothing is being recorded for the person
	})
	return OID(strings.TrimSpace(string(out))), err
}

// storeRaw keeps the bytes as they are.
func (b *bench) storeRaw(ctx context.Context, body []byte) (OID, error) {
	out, err := b.git.must(ctx, call{args: []string{"hash-object", "-w", "--stdin", "--no-filters"}, stdin: bytes.NewReader(body)})
	return OID(strings.TrimSpace(string(out))), err
}

// treeWith is the tree of a commit or tree with some entries changed.
func (b *bench) treeWith(ctx context.Context, on OID, entries map[string]Entry) (OID, error) {
	index := filepath.Join(b.dir, "index")
	env := []string{"GIT_INDEX_FILE=" + index}
	defer func() { _ = removeAny(index, index+".lock") }() // a leftover is overwritten by the next
	if err := removeAny(index, index+".lock"); err != nil {
		return "", err
	}
	if _, err := b.git.must(ctx, call{args: []string{"read-tree", string(on)}, env: env}); err != nil {
		return "", err
	}
	// Removals go first: a file may take the place of a directory, and the other way round.
	var gone, come strings.Builder
	for path, e := range entries {
		if e.Absent() {
			fmt.Fprintf(&gone, "0 %s\t%s\x00", strings.Repeat("0", len(on)), path)
		} else {
			fmt.Fprintf(&come, "%s %s\t%s\x00", e.Mode, e.OID, path)
		}
	}
	in := strings.NewReader(gone.String() + come.String())
	if _, err := b.git.must(ctx, call{args: []string{"update-index", "-z", "--index-info"}, stdin: in, env: env}); err != nil {
		return "", err
	}
	out, err := b.git.must(ctx, call{args: []string{"write-tree"}, env: env})
	return OID(strings.TrimSpace(string(out))), err
}

// commit makes a commit of a tree.
func (b *bench) commit(ctx context.Context, tree OID, message string, parents ...OID) (OID, error) {
	args := []string{"commit-tree", "--no-gpg-sign", "-m", message}
	for _, p := range parents {
		args = append(args, "-p", string(p))
	}
	out, err := b.git.must(ctx, call{args: append(args, string(tree)), env: b.who})
	return OID(strings.TrimSpace(string(out))), err
}

// merge lets git merge theirs into ours. The objects stay on the bench.
func (b *bench) merge(ctx context.Context, ours, theirs OID) (Verdict, error) {
	for _, commit := range []OID{ours, theirs} {
		if ok, err := b.git.hasCommit(ctx, commit); err != nil {
			return Verdict{}, err
		} else if !ok {
			return Verdict{}, fmt.Errorf("%w: no commit %q here", ErrVoid, commit)
		}
	}
	a, err := b.git.ask(ctx, call{args: []string{"merge-tree", "--write-tree", "-z", "--messages", string(ours), string(theirs)}})
	if err != nil {
		return Verdict{}, err
	}
	return a.verdict()
}

// scratch lays a commit of the bench out for a test command or an agent.
func (b *bench) scratch(ctx context.Context, head OID, name string) (*Scratch, error) {
	dir := filepath.Join(b.dir, name)
	return b.m.scratch(ctx, head, dir, filepath.Join(b.c.common, "objects"), b.objects())
}

// take brings what an agent made in a scratch to the bench. Each object is checked on the way, and nothing of the
// scratch but its object directory is read.
func (b *bench) take(ctx context.Context, s *Scratch, commit OID, have ...OID) error {
	if !commit.Valid() {
		return fmt.Errorf("%q is not a commit", commit)
	}
	var revs strings.Builder
	fmt.Fprintf(&revs, "%s\n--not\n", commit)
	for _, h := range have {
		fmt.Fprintln(&revs, h)
	}
	from := b.sees(b.m, b.c) + string(os.PathListSeparator) + alternate(filepath.Join(s.Dir, ".git", "objects"))
	pack := call{args: []string{"pack-objects", "-q", "--revs", "--stdout"}, stdin: strings.NewReader(revs.String()), env: []string{from}}
	return b.carry(ctx, pack, b.git, "--strict")
}

// bring puts objects that were made on the bench into the checkout's repository. No ref names them yet.
func (b *bench) bring(ctx context.Context, merged OID, have []OID, blobs []OID) error {
	args := []string{"rev-list", "--objects", "--no-object-names", string(merged), "--not"}
	for _, h := range have {
		args = append(args, string(h))
	}
	list, err := b.git.must(ctx, call{args: args})
	if err != nil {
		return err
	}
	var in strings.Builder
	in.Write(list)
	for _, o := range blobs {
		fmt.Fprintln(&in, o)
	}
	if in.Len() == 0 {
		return nil
	}
	pack := call{args: []string{"pack-objects", "-q", "--stdout"}, stdin: strings.NewReader(in.String())}
	return b.carry(ctx, pack, b.c.git)
}

// carry runs pack and takes its output in elsewhere. Every object gets the id that its content has.
func (b *bench) carry(ctx context.Context, pack call, into runner, options ...string) (err error) {
	file, err := os.CreateTemp(b.dir, "pack-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(file.Name())) }()
	err = b.git.stream(ctx, pack, func(out io.Reader) error {
		_, err := io.Copy(file, out)
		return err
	})
	if err != nil {
		return err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err = into.must(ctx, call{args: append([]string{"index-pack", "--stdin", "--fix-thin"}, options...), stdin: file})
	return err
}
