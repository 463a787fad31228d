package repo

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// scan lets git look at the whole working copy.
func (d *Desk) scan(ctx context.Context) error {
	tree, err := d.repo.snapshot(ctx, d.there, "HEAD^{tree}")
	if err != nil {
		return err
	}
	a, err := d.there.ask(ctx, nil, "diff-tree", "-r", "-z", "--raw", "--no-abbrev", withoutRenames, d.base+"^{tree}", tree)
	if err != nil {
		return err
	}
	if a.code != 0 || a.complains() {
		return fmt.Errorf("compare with %s: %s", d.base, a.says())
	}
	now := map[string]entry{}
	for fields := cut(string(a.out)); len(fields) > 0; {
		f, used, err := parseRaw(fields)
		if err != nil {
			return err
		}
		now[f.Path] = entry{f.Mode, f.Blob}
		fields = fields[used:]
	}
	d.now, d.unread = now, map[string]bool{}
	return nil
}

// look looks at single paths. It reports whether the whole working copy has to be looked at instead: where rules
// changed, where directories came or went, and where git's index says what stands for what is not on the disk.
func (d *Desk) look(ctx context.Context, paths []string) (whole bool, err error) {
	var fresh []string
	for _, p := range paths {
		switch p = path.Clean(p); {
		case !fs.ValidPath(p):
			return false, fmt.Errorf("path %q is not below it", p)
		case p == ".git" || strings.HasPrefix(p, ".git/"):
			continue
		case d.sparse || p == "." || strings.HasPrefix(path.Base(p), ".git") || isCommit(d.was[p].mode) || isCommit(d.now[p].mode):
			d.restart()
			return true, nil
		}
		_, known := d.now[p]
		if _, committed := d.was[p]; !known && !committed {
			fresh = append(fresh, p)
			continue
		}
		if whole, err := d.lookAt(ctx, p); whole || err != nil {
			return whole, err
		}
	}
	fresh, err = d.notIgnored(ctx, fresh)
	for _, p := range fresh {
		if whole, err := d.lookAt(ctx, p); whole || err != nil {
			return whole, err
		}
	}
	return false, err
}

// restart lets go of gits that may remember old rules.
func (d *Desk) restart() {
	for _, p := range d.pipes() {
		_ = p.close() // it is idle
	}
}

// lookAt looks at one path.
func (d *Desk) lookAt(ctx context.Context, p string) (whole bool, err error) {
	delete(d.unread, p)
	info, err := d.lstat(p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.put(p, entry{})
		return d.isFolder(p), nil
	case err != nil:
		d.unread[p] = true
		return false, nil
	case info.IsDir():
		return true, nil
	case info.Mode()&fs.ModeSymlink != 0:
		return d.lookAtLink(ctx, p)
	case !info.Mode().IsRegular():
		d.put(p, entry{}) // git takes no notice of sockets and such
		return false, nil
	}
	returns, err := d.returns(p)
	if err != nil { // git would give up over it
		d.unread[p] = true
		return false, nil
	}
	if returns {
		return true, nil
	}
	blob, err := d.hashFile(ctx, p)
	if err != nil {
		if _, gone := d.lstat(p); errors.Is(gone, fs.ErrNotExist) && ctx.Err() == nil {
			d.put(p, entry{})
			return d.isFolder(p), nil
		}
		return false, err
	}
	d.put(p, entry{d.modeOf(p, info), blob})
	return false, nil
}

// returns reports whether some line of a file ends with a carriage return. Whether git takes those away may depend on what
// its index has, so that it has to look itself.
func (d *Desk) returns(p string) (bool, error) {
	f, err := os.Open(filepath.Join(d.top, filepath.FromSlash(p)))
	if err != nil {
		return false, err
	}
	defer f.Close() // it was only read
	in, held := bufio.NewReaderSize(f, 64<<10), false
	for {
		part, err := in.ReadSlice('\n')
		if bytes.HasSuffix(part, []byte("\r\n")) || held && len(part) == 1 {
			return true, nil
		}
		held = bytes.HasSuffix(part, []byte("\r"))
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return false, err
		}
	}
}

// lstat is what stands at a path. Behind a symbolic link stands nothing that git would take.
func (d *Desk) lstat(p string) (fs.FileInfo, error) {
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		info, err := os.Lstat(filepath.Join(d.top, filepath.FromSlash(dir)))
		if err == nil && !info.IsDir() {
			return nil, fs.ErrNotExist
		}
	}
	return os.Lstat(filepath.Join(d.top, filepath.FromSlash(p)))
}

// modeOf is git's mode of a regular file.
func (d *Desk) modeOf(p string, info fs.FileInfo) uint32 {
	old := d.was[p].mode
	switch {
	case !d.links && old == 0o120000:
		return old // a link that the disk cannot have
	case !d.modes && old&0o170000 == 0o100000:
		return old
	case d.modes && info.Mode()&0o100 != 0:
		return 0o100755
	}
	return 0o100644
}

// lookAtLink keeps where a symbolic link leads as git does: as a content.
func (d *Desk) lookAtLink(ctx context.Context, p string) (whole bool, err error) {
	to, err := os.Readlink(filepath.Join(d.top, filepath.FromSlash(p)))
	if err != nil {
		d.unread[p] = true
		return false, nil
	}
	id, err := d.there.out(ctx, strings.NewReader(filepath.ToSlash(to)), "hash-object", "-w", "--stdin", "--no-filters")
	d.put(p, entry{0o120000, strings.TrimSpace(id)})
	return false, err
}

// put notes what a path is now.
func (d *Desk) put(p string, is entry) {
	if is == d.was[p] {
		delete(d.now, p)
		return
	}
	d.now[p] = is
}

// isFolder reports whether there is, or was, something below a path.
func (d *Desk) isFolder(p string) bool {
	for q, is := range d.now {
		if is.blob != "" && strings.HasPrefix(q, p+"/") {
			return true
		}
	}
	if _, ok := d.was[p]; ok {
		return false
	}
	for q := range d.was {
		if now, changed := d.now[q]; strings.HasPrefix(q, p+"/") && (!changed || now.blob != "") {
			return true
		}
	}
	return false
}

// hashFile is the blob of a file as git would commit it, line ends and all.
func (d *Desk) hashFile(ctx context.Context, p string) (id string, err error) {
	asked := p
	if strings.ContainsAny(p, "\n\"\\") || strings.ContainsFunc(p, func(r rune) bool { return r < ' ' }) {
		asked = quoteC(p)
	}
	err = d.hash.ask(ctx, asked+"\n", func(in *bufio.Reader) error {
		id, err = line(in)
		return err
	})
	return id, err
}

// quoteC is a name as git reads names in quotes.
func quoteC(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			fmt.Fprintf(&b, `\%03o`, c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String() + `"`
}

// notIgnored are the paths that no .gitignore names, or that the index has nevertheless.
func (d *Desk) notIgnored(ctx context.Context, paths []string) ([]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	a, err := d.there.ask(ctx, strings.NewReader(strings.Join(paths, "\x00")+"\x00"), "check-ignore", "-z", "--stdin")
	if err != nil {
		return nil, err
	}
	if a.code > 1 {
		if strings.Contains(a.stderr, "beyond a symbolic link") {
			return nil, nil
		}
		return nil, fmt.Errorf("git check-ignore: %s", a.says())
	}
	ignored := cut(string(a.out))
	return slices.DeleteFunc(paths, func(p string) bool { return slices.Contains(ignored, p) }), nil
}

// makeTree makes git's tree of some files.
func (d *Desk) makeTree(ctx context.Context, files map[string]entry) (string, error) {
	folders := map[string]map[string]entry{}
	var records []string
	for p, e := range files {
		if first, rest, ok := strings.Cut(p, "/"); ok {
			if folders[first] == nil {
				folders[first] = map[string]entry{}
			}
			folders[first][rest] = e
			continue
		}
		kind := "blob"
		if isCommit(e.mode) {
			kind = "commit"
		}
		records = append(records, strconv.FormatUint(uint64(e.mode), 8)+" "+kind+" "+e.blob+"\t"+p+"\x00")
	}
	for name, below := range folders {
		id, err := d.makeTree(ctx, below)
		if err != nil {
			return "", err
		}
		records = append(records, "040000 tree "+id+"\t"+name+"\x00")
	}
	slices.Sort(records)
	question := strings.Join(records, "") + "\x00"
	if id, ok := d.trees[question]; ok {
		return id, nil
	}
	var id string
	err := d.tree.ask(ctx, question, func(in *bufio.Reader) (err error) {
		id, err = line(in)
		return err
	})
	if len(d.trees) >= treesMax {
		clear(d.trees)
	}
	if err == nil {
		d.trees[question] = id
	}
	return id, err
}

// treesMax bounds how many trees are remembered.
const treesMax = 4096
