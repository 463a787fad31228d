package repo

import (
	"context"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// mergedFile is one file that both sides of a clean merge changed.
type mergedFile struct {
	pair    *pair
	path    string
	base    string // the blobs
	a, b    string
	content []byte // of the merged file
}

// declarations lets the reader look at what git merged without a conflict: both sides may have added the same
// declaration, or git may have lost one (C16). Only files in which both sides changed what is declared are looked
// at, as their digests show it.
func (r *Repo) declarations(ctx context.Context, result *Result, pairs []*pair) error {
	if r.reader == nil {
		return nil
	}
	var files []*mergedFile
	for _, p := range pairs {
		if p.git.Outcome == detect.Merges && p.tree != "" && result.own(p.i, p.base.commit) && result.own(p.j, p.base.commit) {
			files = append(files, slices.DeleteFunc(sharedFiles(p), func(f *mergedFile) bool { return !r.bothDeclare(f) })...)
		}
	}
	var specs []string
	wanted := map[string]*mergedFile{}
	for _, f := range files {
		spec := f.pair.tree + ":" + f.path
		specs = append(specs, spec)
		wanted[spec] = f
	}
	if err := r.blobs(ctx, specs, func(spec string, content []byte) { wanted[spec].content = content }); err != nil {
		return err
	}
	for _, f := range files {
		if d, ok := r.declared(f); ok {
			f.pair.with.Git.Declared = append(f.pair.with.Git.Declared, d)
		}
	}
	return nil
}

// sharedFiles are the files that both sides changed, each in its own way.
func sharedFiles(p *pair) (files []*mergedFile) {
	for _, f := range p.with.FilesA {
		i := slices.IndexFunc(p.with.FilesB, func(g detect.File) bool { return g.Path == f.Path })
		if i < 0 || f.Op != detect.Modify || strings.ContainsRune(f.Path, '\n') {
			continue
		}
		if g := p.with.FilesB[i]; g.Op == detect.Modify && g.Blob != f.Blob && f.Made == detect.ByHand && g.Made == detect.ByHand {
			files = append(files, &mergedFile{pair: p, path: f.Path, base: f.BaseBlob, a: f.Blob, b: g.Blob})
		}
	}
	return files
}

// bothDeclare reports whether both sides changed which symbols a file declares.
func (r *Repo) bothDeclare(f *mergedFile) bool {
	of := func(blob string) []string { return ids(r.units[unitKey{f.path, blob}]) }
	base := of(f.base)
	return !slices.Equal(base, of(f.a)) && !slices.Equal(base, of(f.b))
}

// declared counts the declarations of the four versions; false when one of them does not parse.
func (r *Repo) declared(f *mergedFile) (detect.Declarations, bool) {
	if f.content == nil {
		return detect.Declarations{}, false
	}
	whole := r.reader.Read(f.path, f.content)
	d := detect.Declarations{Path: f.path, Whole: ids(whole)}
	ok := whole.Quality == detect.Clean
	for blob, to := range map[string]*[]string{f.base: &d.Base, f.a: &d.A, f.b: &d.B} {
		u := r.units[unitKey{f.path, blob}]
		ok = ok && u.Quality == detect.Clean
		*to = ids(u)
	}
	return d, ok
}

func ids(u detect.Unit) (all []string) {
	for _, s := range u.Symbols {
		all = append(all, s.ID)
	}
	return all
}
