package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Mirror is the node's own bare repository with what GitHub has. It belongs to one node process. Its methods
// may be called from several goroutines.
type Mirror struct {
	dir    string
	git    runner
	remote Remote
	write  *sync.Mutex // one fetch or import at a time
	read   *reader     // answers what it can without a process; nil: nothing
	sets   *knownSets  // what was told of paths before; nil: nothing is remembered
}

// The names under which the mirror keeps what it fetched.
const (
	refBase   = "refs/parley/base/"   // + branch: where the branch stood at the last fetch
	refWas    = "refs/parley/was/"    // + branch: where the last completed Fetch reported it
	refPull   = "refs/parley/pull/"   // + number: the head of the pull request at the last fetch
	refSeen   = "refs/parley/pr/"     // + number/oid: every head that it ever had
	refResult = "refs/parley/result/" // + oid: what came out of a scratch

	refRewritten = "refs/parley/rewritten/" // + oid/branch: a tip that the branch had before it was rewritten
)

// OpenMirror opens the mirror in dir and creates it on first use. Whatever a killed node or git left in it
// (half a repository, lock files, trial objects) is cleared away, so no second process may use dir.
func OpenMirror(ctx context.Context, git Git, dir string, remote Remote) (*Mirror, error) {
	if _, err := remote.parse(); err != nil {
		return nil, fmt.Errorf("open mirror: %w", err)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open mirror: %w", err)
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		err = createMirror(ctx, git, dir)
		if err != nil {
			return nil, fmt.Errorf("create mirror %s: %w", dir, err)
		}
	}
	m := &Mirror{dir: dir, git: git.own("--git-dir=" + dir), remote: remote, write: new(sync.Mutex), sets: new(knownSets)}
	if err := m.clearLeftovers(); err != nil {
		return nil, fmt.Errorf("open mirror %s: %w", dir, err)
	}
	about, err := m.git.line(ctx, "rev-parse", "--is-bare-repository", "--show-object-format")
	bare, format, _ := strings.Cut(about, "\n")
	if err != nil || bare != "true" {
		return nil, fmt.Errorf("open mirror %s: no bare repository: %w", dir, errors.Join(ErrNotRepository, err))
	}
	m.read = newReader(dir, format)
	return m, nil
}

// At is the same mirror in front of another remote, such as the fork that a pull request comes from.
func (m *Mirror) At(remote Remote) *Mirror {
	other := *m
	other.remote = remote
	return &other
}

// Dir is the directory of the bare repository.
func (m *Mirror) Dir() string { return m.dir }

// mirrorConfig is stored in the repository for the gits that serve it to others (upload-pack for a checkout).
// The fsck exceptions are flaws of old histories that GitHub itself accepts.
const mirrorConfig = `[gc]
	auto = 0
[core]
	hooksPath = /dev/null
	logAllRefUpdates = false
[transfer]
	fsckObjects = true
[uploadpack]
	allowAnySHA1InWant = true
[fetch "fsck"]
	zeroPaddedFilemode = ignore
	badTimezone = ignore
	missingSpaceBeforeDate = ignore
	missingSpaceBeforeEmail = ignore
	missingNameBeforeEmail = ignore
	missingEmail = ignore
`

// createMirror makes the repository under another name and moves it into place whole.
func createMirror(ctx context.Context, git Git, dir string) error {
	making := dir + ".making"
	if err := os.RemoveAll(making); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	// GitHub's repositories are SHA-1, whatever a later git takes for its default.
	init := call{args: []string{"init", "-q", "--bare", "--template=", "--object-format=sha1", making}, env: []string{"GIT_DEFAULT_REF_FORMAT=files"}}
	if _, err := git.own().must(ctx, init); err != nil {
		return err
	}
	config, err := os.OpenFile(filepath.Join(making, "config"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = config.WriteString(mirrorConfig)
	if err := errors.Join(err, config.Sync(), config.Close()); err != nil {
		return err
	}
	if err := os.Rename(making, dir); err != nil {
		return err
	}
	return syncDir(filepath.Dir(dir))
}

// clearLeftovers removes what only a killed process can have left: the mirror has one owner, and it has just
// started.
func (m *Mirror) clearLeftovers() error {
	return filepath.WalkDir(m.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		top, rest, _ := strings.Cut(strings.TrimPrefix(path, m.dir+string(filepath.Separator)), string(filepath.Separator))
		inObjects := top == "objects" && rest != ""
		switch {
		case d.IsDir() && (rest == "" && strings.HasPrefix(top, quarantinePrefix) || inObjects && strings.HasPrefix(d.Name(), "tmp_")):
			if err := os.RemoveAll(path); err != nil {
				return err
			}
			return fs.SkipDir
		case d.IsDir() && inObjects && len(rest) == 2: // loose objects are written under another name and renamed
			return fs.SkipDir
		// No ref can end in .lock, but a branch may well be called tmp_x.
		case !d.IsDir() && (strings.HasSuffix(d.Name(), ".lock") || (inObjects || rest == "") && strings.HasPrefix(d.Name(), "tmp_")):
			return os.Remove(path)
		}
		return nil
	})
}

// refs lists the mirror's refs below prefix.
func (m *Mirror) refs(ctx context.Context, prefix string) (map[string]OID, error) {
	out, err := m.git.must(ctx, call{args: []string{"for-each-ref", "--format=%(objectname) %(refname)", prefix}})
	if err != nil {
		return nil, err
	}
	refs := map[string]OID{}
	for line := range strings.Lines(string(out)) {
		oid, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		refs[name] = OID(oid)
	}
	return refs, nil
}

// setRefs moves refs, all or none.
func (m *Mirror) setRefs(ctx context.Context, refs map[string]OID) error {
	if len(refs) == 0 {
		return nil
	}
	var in strings.Builder
	for name, oid := range refs {
		fmt.Fprintf(&in, "update %s %s\n", name, oid)
	}
	_, err := m.git.must(ctx, call{args: []string{"update-ref", "--stdin"}, stdin: strings.NewReader(in.String())})
	return err
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	return errors.Join(err, d.Close())
}

// Tip is where a branch stood at GitHub when it was last fetched, "" before that.
func (m *Mirror) Tip(ctx context.Context, branch string) (OID, error) {
	if branch == "" {
		return "", nil
	}
	have, err := m.refs(ctx, refBase+branch)
	return have[refBase+branch], err
}
