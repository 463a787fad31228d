package worktree

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The directories of parley's work area. tmp holds the files that are about to be exchanged, each with the
// record that says how to end it; kept holds what was displaced.
const (
	tmpDir  = "tmp"
	keptDir = "kept"
)

// record describes one replacement. It is on disk before the first name moves, and becomes the note beside the
// kept file.
type record struct {
	Path      string    `json:"path"`
	Worktree  string    `json:"worktree"`
	Blob      OID       `json:"blob,omitempty"` // of the displaced content
	Mode      string    `json:"mode,omitempty"`
	Want      Entry     `json:"want"`
	Ours      string    `json:"ours,omitempty"`      // SHA-256 of the new bytes
	Before    string    `json:"before,omitempty"`    // SHA-256 of the bytes that were found, and found known
	Displaced string    `json:"displaced,omitempty"` // SHA-256 of the bytes that came out
	Beside    string    `json:"beside,omitempty"`    // where the temporary file stands if not in the work area
	When      time.Time `json:"when"`
	Why       string    `json:"why"`
	Op        string    `json:"op,omitempty"` // the operation that it belongs to
}

// KeptFile is content that parley took out of the working tree. It stays for 90 days (D-22).
type KeptFile struct {
	ID      string    // names it for people; short and lasting
	File    string    // where it lies now
	Path    string    // where it lay in the working tree
	Blob    OID       // what it was when it was taken; empty when nobody knew it
	Mode    string    // its mode then
	When    time.Time // when it was taken
	Why     string    // for people
	Changed bool      // a program that still had it open wrote to it afterwards
}

// Kept lists what was taken out of this working tree, oldest first.
func (c *Checkout) Kept(ctx context.Context) ([]KeptFile, error) {
	notes, err := filepath.Glob(filepath.Join(globQuote(c.workArea(keptDir)), "*.json"))
	if err != nil {
		return nil, fmt.Errorf("kept files: %w", err)
	}
	var list []KeptFile
	for _, note := range notes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r, err := readRecord(note)
		if err != nil {
			return nil, fmt.Errorf("kept files: %w", err)
		}
		file := strings.TrimSuffix(note, ".json")
		sum, err := fileSum(file)
		if errors.Is(err, fs.ErrNotExist) || r.Worktree != c.top {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("kept files: %w", err)
		}
		list = append(list, KeptFile{
			ID: shortID(filepath.Base(file)), File: file, Path: r.Path, Blob: r.Blob, Mode: r.Mode, When: r.When, Why: r.Why,
			Changed: r.Displaced != "" && sum != r.Displaced,
		})
	}
	slices.SortStableFunc(list, func(a, b KeptFile) int { return a.When.Compare(b.When) })
	return list, nil
}

// PruneKept removes what was taken out before the given time, except files that were written to afterwards, and
// forgets the operations before it.
func (c *Checkout) PruneKept(ctx context.Context, before time.Time) error {
	list, err := c.Kept(ctx)
	if err != nil {
		return err
	}
	for _, k := range list {
		if k.Changed || !k.When.Before(before) {
			continue
		}
		if err := errors.Join(os.Remove(k.File), os.Remove(k.File+".json")); err != nil {
			return fmt.Errorf("prune kept files: %w", err)
		}
	}
	if err := c.pruneOperations(ctx, before); err != nil {
		return fmt.Errorf("prune operations: %w", err)
	}
	return nil
}

// globQuote makes a directory name safe in front of a pattern.
func globQuote(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

func newID() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never fails
	return time.Now().UTC().Format("20060102T150405.000000") + "-" + hex.EncodeToString(b[:])
}

func readRecord(file string) (record, error) {
	var r record
	b, err := os.ReadFile(file)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(b, &r); err != nil {
		return r, fmt.Errorf("%s: %w", file, err)
	}
	return r, nil
}

// writeRecord puts the record on disk whole.
func writeRecord(file string, r record) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := writeSynced(file+".part", append(b, '\n'), 0o600); err != nil {
		return err
	}
	if err := os.Rename(file+".part", file); err != nil {
		return err
	}
	return syncDir(filepath.Dir(file))
}

func writeSynced(file string, body []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(body)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func sumOf(body []byte) string {
	s := sha256.Sum256(body)
	return hex.EncodeToString(s[:])
}

// fileSum is the sum of a file, or of a link's target.
func fileSum(file string) (string, error) {
	fi, err := os.Lstat(file)
	if err != nil {
		return "", err
	}
	if fi.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(file)
		return sumOf([]byte(target)), err
	}
	if !fi.Mode().IsRegular() {
		return "", nil
	}
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), errors.Join(err, f.Close())
}
