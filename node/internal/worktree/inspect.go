package worktree

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"slices"
	"strings"
)

// Oddity is why a path is not an ordinary file that may be replaced. It fits after "it is".
type Oddity string

// The oddities. The zero value is an ordinary file, or nothing at all.
const (
	OddName      Oddity = "a name that parley never writes"
	OddSymlink   Oddity = "a symbolic link or behind one"
	OddSubmodule Oddity = "a submodule"
	OddNested    Oddity = "inside another repository"
	OddTwin      Oddity = "one of two names that differ only in case"
	OddFolded    Oddity = "a name that this file system takes for another"
	OddDirectory Oddity = "a directory"
	OddSpecial   Oddity = "no regular file"
	OddTooLarge  Oddity = "too large"
	OddMoving    Oddity = "being moved at this moment"
	OddUnmerged  Oddity = "unmerged in the index"
	OddSkipped   Oddity = "left out of this checkout (skip-worktree)"
	OddAssumed   Oddity = "marked assume-unchanged"
)

// Three is what a checkout holds at one path, three times: in HEAD's tree, in the index and as the working
// file, each as git would store it. The zero Entry means that it is absent there.
type Three struct {
	Path  string
	Head  Entry
	Index Entry
	Work  Entry  // its id is taken through this computer's filters
	Raw   OID    // the id of the working file's exact bytes
	Odd   Oddity // why the path is never replaced; empty for an ordinary one

	body []byte // the working file
	sum  string // SHA-256 of body
}

// Inspect reads a path. Nothing is written and no lock is taken.
func (c *Checkout) Inspect(ctx context.Context, path string) (Three, error) {
	head, err := c.commit(ctx, "HEAD")
	if err != nil {
		return Three{}, fmt.Errorf("inspect %s: %w", path, err)
	}
	all, err := c.inspect(ctx, head, []string{path})
	if err != nil {
		return Three{}, fmt.Errorf("inspect %s: %w", path, err)
	}
	return all[0], nil
}

// inspect reads several paths with one question to each of HEAD and the index.
func (c *Checkout) inspect(ctx context.Context, head OID, paths []string) ([]Three, error) {
	var sound []string
	for _, p := range paths {
		if ValidPath(p) == nil {
			sound = append(sound, p)
		}
	}
	heads := map[string]Entry{}
	var err error
	if head != "" {
		if heads, err = c.git.entries(ctx, string(head), sound); err != nil {
			return nil, err
		}
	}
	index, err := c.indexEntries(ctx, sound, nil)
	if err != nil {
		return nil, err
	}
	all := make([]Three, len(paths))
	for i, p := range paths {
		t := Three{Path: p, Head: heads[p], Index: index[p].Entry, Odd: index[p].odd}
		if ValidPath(p) != nil {
			t.Odd = OddName
		} else if err := c.inspectWork(ctx, &t); err != nil {
			return nil, err
		}
		if t.Head.Mode == modeSubmodule || t.Index.Mode == modeSubmodule {
			t.Odd = OddSubmodule
		}
		all[i] = t
	}
	return all, nil
}

// inspectWork reads the working file. What is odd about it is noted, not an error.
func (c *Checkout) inspectWork(ctx context.Context, t *Three) error {
	s, err := c.openSpot(t.Path, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if odd, is := errors.AsType[oddError](err); is {
		t.Odd = Oddity(odd)
		return nil
	}
	if err != nil {
		return err
	}
	err = c.readWork(ctx, t, s)
	return errors.Join(err, s.close())
}

func (c *Checkout) readWork(ctx context.Context, t *Three, s *spot) error {
	if !s.there {
		return nil
	}
	body, fi, err := readRegular(s.parent(), s.name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if odd, is := errors.AsType[oddError](err); is {
		t.Odd = Oddity(odd)
		return nil
	}
	if err != nil {
		return err
	}
	t.body, t.sum, t.Raw = body, sumOf(body), c.blobID(body)
	t.Work.Mode = c.workMode(fi, t.Index, t.Head)
	t.Work.OID, err = c.cleanID(ctx, t.Path, body, t.Index.OID, t.Head.OID)
	return err
}

// workMode is the mode that git would record.
func (c *Checkout) workMode(fi fs.FileInfo, index, head Entry) string {
	switch {
	case !c.filer && index.regular():
		return index.Mode
	case !c.filer && head.regular():
		return head.Mode
	case c.filer && fi.Mode()&0o100 != 0:
		return modeExecutable
	}
	return modeFile
}

// blobID is the id that git gives to these bytes, filters aside.
func (c *Checkout) blobID(body []byte) OID {
	var h hash.Hash = sha1.New()
	if c.format == "sha256" {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", len(body))
	h.Write(body)
	return OID(hex.EncodeToString(h.Sum(nil)))
}

// cleanID is the id that git would record for these bytes at the path, through the person's line-end settings
// and filters. Bytes that are exactly one of the expected blobs need no question: git itself leaves such a file
// alone, whatever its filters would make of it.
func (c *Checkout) cleanID(ctx context.Context, path string, body []byte, expected ...OID) (OID, error) {
	if raw := c.blobID(body); slices.Contains(expected, raw) {
		return raw, nil
	}
	out, err := c.git.must(ctx, call{args: []string{"hash-object", "--stdin", "--path=" + path}, stdin: bytes.NewReader(body)})
	return OID(strings.TrimSpace(string(out))), err
}

// indexed is one path of an index.
type indexed struct {
	Entry
	odd  Oddity
	flag string // the update-index option that sets the entry's flag again
}

// indexEntries reads the index; env may name another index file.
func (c *Checkout) indexEntries(ctx context.Context, paths []string, env []string) (map[string]indexed, error) {
	found := map[string]indexed{}
	for some := range slices.Chunk(paths, pathsPerCall) {
		out, err := c.git.must(ctx, call{args: append([]string{"ls-files", "-z", "--stage", "-v", "--"}, some...), env: env})
		if err != nil {
			return nil, err
		}
		for rec := range strings.SplitSeq(string(out), "\x00") {
			meta, path, ok := strings.Cut(rec, "\t")
			f := strings.Fields(meta) // tag mode oid stage
			if !ok || len(f) != 4 {
				continue
			}
			e := indexed{Entry: Entry{Mode: f[1], OID: OID(f[2])}}
			switch tag := f[0]; {
			case f[3] != "0":
				e.odd = OddUnmerged
			case tag == "S" || tag == "s":
				e.odd, e.flag = OddSkipped, "--skip-worktree"
			case tag != strings.ToUpper(tag):
				e.odd, e.flag = OddAssumed, "--assume-unchanged"
			}
			found[path] = e
		}
	}
	return found, nil
}

// unknown names the first of the three that GitHub does not have, or "". A file that is gone here although HEAD
// or the index has it counts as known only if a published version deleted it.
func (t Three) unknown(k *Known) string {
	switch {
	case !t.Head.Absent() && !k.hasEntry(t.Head):
		return "the last commit"
	case !t.Index.Absent() && !k.hasEntry(t.Index):
		return "the index"
	case t.Index.Absent() && !t.Head.Absent() && !k.absent:
		return "the index (deleted)"
	case !t.Work.Absent() && !t.workKnown(k):
		return "the working file"
	case t.Work.Absent() && !(t.Index.Absent() && t.Head.Absent()) && !k.absent:
		return "the working file (deleted)"
	}
	return ""
}

// workKnown: the exact bytes count too, since a blob whose line ends break this computer's rules does not come
// back the same through the filters.
func (t Three) workKnown(k *Known) bool {
	return k.hasEntry(t.Work) || k.hasEntry(Entry{Mode: t.Work.Mode, OID: t.Raw})
}
