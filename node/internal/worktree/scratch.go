package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Scratch is a throw-away checkout for an agent. It is a repository of its own that borrows the mirror's
// objects: whatever the agent does with git in it, no ref of the mirror or of a person's checkout can move.
type Scratch struct {
	Dir    string // the working tree
	git    runner
	mirror *Mirror
	head   OID
	borrow []string // object directories
}

// scratchMark stands in the git directory of every scratch, so that no other directory is ever cleared.
const scratchMark = "parley-scratch"

// Scratch lays out head in dir, detached. dir must not exist, be empty, or be what a killed node left of an
// earlier scratch. Close removes it.
func (m *Mirror) Scratch(ctx context.Context, head OID, dir string) (*Scratch, error) {
	return m.scratch(ctx, head, dir)
}

// scratch also borrows the objects of other object directories.
func (m *Mirror) scratch(ctx context.Context, head OID, dir string, borrow ...string) (*Scratch, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("scratch: %w", err)
	}
	if err := clearScratch(dir); err != nil {
		return nil, fmt.Errorf("scratch %s: %w", dir, err)
	}
	s := &Scratch{Dir: dir, mirror: m, head: head, git: m.git, borrow: append([]string{filepath.Join(m.dir, "objects")}, borrow...)}
	s.git.place = []string{"-C", dir}
	if err := s.layOut(ctx); err != nil {
		return nil, fmt.Errorf("scratch %s: %w", dir, errors.Join(err, s.Close()))
	}
	return s, nil
}

func clearScratch(dir string) error {
	names, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(names) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, ".git", scratchMark)); err != nil {
		return fmt.Errorf("%w: the directory is in use for something else", ErrRefused)
	}
	return os.RemoveAll(dir)
}

func (s *Scratch) layOut(ctx context.Context) error {
	format, err := s.mirror.git.line(ctx, "rev-parse", "--show-object-format")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(s.Dir, ".git"), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(s.Dir, ".git", scratchMark), nil, 0o600); err != nil {
		return err
	}
	if _, err := s.git.line(ctx, "init", "-q", "--template=", "--object-format="+format); err != nil {
		return err
	}
	borrowed := strings.Join(s.borrow, "\n") + "\n"
	alternates := filepath.Join(s.Dir, ".git", "objects", "info", "alternates")
	if err := os.WriteFile(alternates, []byte(borrowed), 0o600); err != nil {
		return err
	}
	if _, err := s.git.line(ctx, "config", "gc.auto", "0"); err != nil {
		return err
	}
	_, err = s.git.line(ctx, "checkout", "-q", "--detach", string(s.head))
	return err
}

// SetIdentity names the author of the commits that the agent will make. Without it the person's own git
// settings count.
func (s *Scratch) SetIdentity(ctx context.Context, name, email string) error {
	for _, kv := range [][2]string{{"user.name", name}, {"user.email", email}} {
		if _, err := s.git.line(ctx, "config", kv[0], kv[1]); err != nil {
			return fmt.Errorf("scratch %s: %w", s.Dir, err)
		}
	}
	return nil
}

// StartMerge begins to merge theirs into the scratch and stops before the commit, so that the agent finds the
// conflict laid out. It returns the paths that conflict; none means that the merge is clean and only the commit
// is left to make.
func (s *Scratch) StartMerge(ctx context.Context, theirs OID) ([]string, error) {
	if !theirs.Valid() {
		return nil, fmt.Errorf("start merge of %q: not a commit", theirs)
	}
	c := call{
		args:   []string{"merge", "-q", "--no-commit", "--no-ff", "--no-verify", "--no-edit", string(theirs)},
		config: []string{"user.name=parley", "user.email=parley@localhost"},
	}
	a, err := s.git.ask(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("start merge: %w", err)
	}
	// Exit 1 means a conflict, but also a commit that cannot be merged at all; then no merge has begun.
	if _, begun := os.Stat(filepath.Join(s.Dir, ".git", "MERGE_HEAD")); a.code > 1 || a.code == 1 && begun != nil {
		return nil, fmt.Errorf("start merge: %w", a.fail(c))
	}
	out, err := s.git.must(ctx, call{args: []string{"diff", "--name-only", "-z", "--diff-filter=U"}})
	if err != nil {
		return nil, fmt.Errorf("start merge: %w", err)
	}
	return splitZero(out), nil
}

func splitZero(out []byte) []string {
	var list []string
	for s := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if s != "" {
			list = append(list, s)
		}
	}
	return list
}

// Import brings the agent's result into a mirror: the commit, which must descend from the head that the scratch
// began with (D-29), and every object that it needs. Each object is checked on the way. No setting of the
// scratch has a say: only its object directory is read. The commit is kept under a ref of its own.
func (s *Scratch) Import(ctx context.Context, commit OID, into *Mirror) error {
	if !commit.Valid() {
		return fmt.Errorf("import %q: not a commit", commit)
	}
	into.write.Lock()
	defer into.write.Unlock()
	if err := s.copyObjects(ctx, commit, into); err != nil {
		return fmt.Errorf("import %s: %w", commit, err)
	}
	grown, err := into.IsAncestor(ctx, s.head, commit)
	if err != nil {
		return fmt.Errorf("import %s: %w", commit, err)
	}
	if !grown {
		return fmt.Errorf("import %s: %w of %s", commit, ErrNotDescendant, s.head)
	}
	if err := into.setRefs(ctx, map[string]OID{refResult + string(commit): commit}); err != nil {
		return fmt.Errorf("import %s: %w", commit, err)
	}
	return nil
}

func (s *Scratch) copyObjects(ctx context.Context, commit OID, into *Mirror) error {
	has, err := into.CommitExists(ctx, commit)
	if err != nil {
		return err
	}
	if !has {
		if err := s.carryPack(ctx, commit, into); err != nil {
			return err
		}
	}
	// Without the scratch at hand, every object must now be there.
	_, err = into.git.must(ctx, call{args: []string{"rev-list", "--objects", "--quiet", string(commit), "--not", "--all"}})
	return err
}

// carryPack packs what the mirror lacks, with the scratch's objects at hand, and takes the pack in without them.
func (s *Scratch) carryPack(ctx context.Context, commit OID, into *Mirror) (err error) {
	refs, err := into.refs(ctx, "refs/")
	if err != nil {
		return err
	}
	var revs strings.Builder
	fmt.Fprintf(&revs, "%s\n--not\n", commit)
	for _, has := range refs {
		fmt.Fprintln(&revs, has)
	}
	pack, err := os.CreateTemp(into.dir, "tmp_import-") // cleared at the next open if this process is killed
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pack.Close(), os.Remove(pack.Name())) }()
	err = into.git.stream(ctx, call{
		args: []string{"pack-objects", "-q", "--revs", "--stdout"}, stdin: strings.NewReader(revs.String()),
		env: []string{"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + alternate(filepath.Join(s.Dir, ".git", "objects"))},
	}, func(out io.Reader) error {
		_, err := io.Copy(pack, out)
		return err
	})
	if err != nil {
		return err
	}
	if _, err := pack.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err = into.git.must(ctx, call{args: []string{"index-pack", "--stdin", "--strict", "--fix-thin"}, stdin: pack})
	return err
}

// Close removes the scratch and all that was made in it.
func (s *Scratch) Close() error {
	if err := os.RemoveAll(s.Dir); err != nil {
		return fmt.Errorf("close scratch: %w", err)
	}
	return nil
}
