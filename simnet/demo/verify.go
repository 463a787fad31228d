package demo

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
)

// remember takes down what must not change: the objected file, and the whole checkout of the author.
func (s *stage) remember(ctx context.Context) (before, error) {
	var b before
	var err error
	if s.Objected != "" {
		if b.Objected, err = os.ReadFile(filepath.Join(s.checkout(tablet), filepath.FromSlash(s.Objected))); err != nil {
			return b, err
		}
	}
	if b.Author, err = files(s.checkout(laptop)); err != nil {
		return b, err
	}
	b.Branch, err = git(ctx, s.checkout(laptop), "symbolic-ref", "HEAD")
	return b, err
}

// files is every file of a checkout: its mode and the hash of its bytes.
func files(dir string) (map[string]string, error) {
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			if e.Name() == ".git" {
				return fs.SkipDir
			}
			return nil
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(content)
		out[filepath.ToSlash(name)] = fmt.Sprintf("%s %s", executable(info.Mode()), hex.EncodeToString(sum[:]))
		return nil
	})
	return out, err
}

func executable(m fs.FileMode) string {
	if m&0o100 != 0 {
		return "100755"
	}
	return "100644"
}

// bareDir is the stand-in's bare repository.
func (s *stage) bareDir() (string, error) {
	all, err := filepath.Glob(filepath.Join(s.bare(), "*.git"))
	if err != nil || len(all) != 1 {
		return "", fmt.Errorf("the stand-in has %d repositories: %v", len(all), err)
	}
	return all[0], nil
}

func (s *stage) publishedTip(ctx context.Context) (string, error) {
	bare, err := s.bareDir()
	if err != nil {
		return "", err
	}
	return git(ctx, bare, "rev-parse", "--verify", "refs/heads/"+s.Base)
}

// verify checks the promises with git and the file system alone, without asking any node.
func (d *show) verify(ctx context.Context) error {
	d.printf("\nChecking, without asking any computer:")
	var broken []error
	check := func(what string, err error) {
		if err != nil {
			broken = append(broken, fmt.Errorf("%s: %w", what, err))
			d.printf("  ✗ %s: %v", what, err)
			return
		}
		d.printf("  ✓ %s", what)
	}
	for i := range roles {
		branch, err := git(ctx, d.s.checkout(i), "symbolic-ref", "--short", "HEAD")
		if err == nil && branch == d.s.Base {
			check(fmt.Sprintf("%s holds what GitHub's %s holds%s", roles[i].name, d.s.Base, d.s.exception(i)), d.s.same(ctx, i))
		}
	}
	if d.s.Objected != "" {
		check(fmt.Sprintf("%s kept its unpublished %s, byte for byte", roles[tablet].name, d.s.Objected), d.s.keptObjected())
	}
	check("the author's own checkout was never touched", d.s.authorUntouched(ctx))
	check("GitHub was written exactly twice: one push, one merge", d.writtenTwice(ctx))
	if len(broken) > 0 {
		return fmt.Errorf("%w: %w", ErrBroken, errors.Join(broken...))
	}
	return nil
}

func (s *stage) exception(i int) string {
	if i == tablet && s.Objected != "" {
		return ", but for the file it objected about"
	}
	return ""
}

// same compares a checkout with the base branch on the stand-in: the commit, every file's bytes and mode,
// and that there is nothing besides.
func (s *stage) same(ctx context.Context, i int) error {
	tip, err := s.publishedTip(ctx)
	if err != nil {
		return err
	}
	if head, err := git(ctx, s.checkout(i), "rev-parse", "HEAD"); err != nil || head != tip {
		return fmt.Errorf("HEAD is %s, and GitHub has %s (%v)", head, tip, err)
	}
	want, err := s.published(ctx, tip)
	if err != nil {
		return err
	}
	have, err := files(s.checkout(i))
	if err != nil {
		return err
	}
	if i == tablet && s.Objected != "" {
		delete(want, s.Objected)
		delete(have, s.Objected)
	}
	return differ(want, have)
}

func differ(want, have map[string]string) error {
	if maps.Equal(want, have) {
		return nil
	}
	var out []string
	for path, v := range want {
		if have[path] != v {
			out = append(out, path)
		}
	}
	for path := range have {
		if _, ok := want[path]; !ok {
			out = append(out, path+" (should not be there)")
		}
	}
	return fmt.Errorf("differs in %s", strings.Join(out, ", "))
}

// published is every file of a commit: its mode and the hash of its bytes.
func (s *stage) published(ctx context.Context, tip string) (map[string]string, error) {
	bare, err := s.bareDir()
	if err != nil {
		return nil, err
	}
	list, err := git(ctx, bare, "ls-tree", "-r", "-z", tip)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for entry := range strings.SplitSeq(strings.TrimRight(list, "\x00"), "\x00") {
		meta, path, ok := strings.Cut(entry, "\t")
		part := strings.Fields(meta)
		if !ok || len(part) != 3 {
			return nil, fmt.Errorf("ls-tree: %q", entry)
		}
		content, err := blob(ctx, bare, part[2])
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(content)
		out[path] = part[0] + " " + hex.EncodeToString(sum[:])
	}
	return out, nil
}

func (s *stage) keptObjected() error {
	now, err := os.ReadFile(filepath.Join(s.checkout(tablet), filepath.FromSlash(s.Objected)))
	if err == nil && !bytes.Equal(now, s.Before.Objected) {
		err = errors.New("its bytes have changed")
	}
	return err
}

func (s *stage) authorUntouched(ctx context.Context) error {
	now, err := files(s.checkout(laptop))
	if err != nil {
		return err
	}
	branch, err := git(ctx, s.checkout(laptop), "symbolic-ref", "HEAD")
	if err != nil || branch != s.Before.Branch {
		return fmt.Errorf("HEAD is on %s (%v)", branch, err)
	}
	return differ(s.Before.Author, now)
}

// writtenTwice counts what was written to the stand-in since the scene was set. Its process is stopped for
// the count, since the log belongs to one process at a time.
func (d *show) writtenTwice(ctx context.Context) error {
	d.github.stop()
	writes, err := d.s.writes()
	if err != nil {
		return err
	}
	if d.o.Keep && !d.o.Page {
		if err := d.startGitHub(ctx); err != nil {
			return err
		}
	}
	var kinds []string
	for _, w := range writes {
		kinds = append(kinds, string(w.Kind))
	}
	if got := strings.Join(kinds, ", "); got != "push, merge" {
		return fmt.Errorf("the writes are: %s", got)
	}
	return nil
}
