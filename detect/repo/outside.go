package repo

import (
	"context"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// How many unchanged files one digest may be compared with, and through how many of them one may lead to the next.
const (
	outsideMax   = 256
	outsideSteps = 3
)

// wants lists the unchanged files that the reader would like to see beside a side's changes and those it has.
func (r *Repo) wants(d *detect.Digest, have []detect.Unit) []string {
	reader, ok := r.reader.(detect.Outsider)
	if !ok || len(d.Files) == 0 {
		return nil
	}
	before, after := r.states(d)
	paths := append(reader.Outside(append(before, have...)), reader.Outside(append(after, have...))...)
	slices.Sort(paths)
	paths = slices.DeleteFunc(slices.Compact(paths), func(p string) bool {
		return strings.ContainsRune(p, '\n') || slices.ContainsFunc(d.Files, func(f detect.File) bool { return f.Path == p || f.From == p }) ||
			slices.ContainsFunc(have, func(u detect.Unit) bool { return u.Path == p })
	})
	return paths[:min(len(paths), max(0, outsideMax-len(have)))]
}

// quiet is an unchanged file as others see it: what it uses itself is nothing new.
func quiet(u detect.Unit) detect.Unit {
	u.References = nil
	return u
}

// outside reads the unchanged files that the reader would like to see, for each digest as they are at its base.
func (r *Repo) outside(ctx context.Context, list []*detect.Digest) ([][]detect.Unit, error) {
	found := make([][]detect.Unit, len(list))
	for range outsideSteps {
		var specs []string
		asked := make([][]string, len(list))
		for i, d := range list {
			if d.Base == "" {
				continue
			}
			asked[i] = r.wants(d, found[i])
			for _, p := range asked[i] {
				specs = append(specs, d.Base+":"+p)
			}
		}
		if len(specs) == 0 {
			return found, nil
		}
		blobs, err := r.blobIDs(ctx, specs)
		if err != nil {
			return nil, err
		}
		wanted := map[unitKey]bool{}
		for i, d := range list {
			for _, p := range asked[i] {
				wanted[unitKey{p, blobs[d.Base+":"+p]}] = true
			}
		}
		if err := r.readAll(ctx, wanted); err != nil {
			return nil, err
		}
		for i, d := range list {
			for _, p := range asked[i] {
				if u, ok := r.units[unitKey{p, blobs[d.Base+":"+p]}]; ok {
					found[i] = append(found[i], quiet(u))
				}
			}
		}
	}
	return found, nil
}

// blobIDs are the blobs of names <commit>:<path>; what is no blob is left out.
func (r *Repo) blobIDs(ctx context.Context, specs []string) (map[string]string, error) {
	out, err := r.out(ctx, strings.NewReader(strings.Join(specs, "\n")+"\n"), "cat-file", "--batch-check=%(objecttype) %(objectname)")
	if err != nil {
		return nil, err
	}
	blobs := map[string]string{}
	for i, line := range strings.Split(strings.TrimRight(out, "\n"), "\n") {
		if id, ok := strings.CutPrefix(line, "blob "); ok && i < len(specs) {
			blobs[specs[i]] = id
		}
	}
	return blobs, nil
}

// outside reads the unchanged files that the reader would like to see beside a digest.
func (d *Desk) outside(ctx context.Context, digest *detect.Digest, units map[unitKey]detect.Unit, made map[unitKey]detect.Made) (found []detect.Unit, err error) {
	for range outsideSteps {
		paths := d.repo.wants(digest, found)
		for _, p := range paths {
			k := unitKey{p, d.was[p].blob}
			if k.blob == "" || isCommit(d.was[p].mode) {
				continue
			}
			if err := d.content(ctx, k, units, made); err != nil {
				return nil, err
			}
			if u, ok := d.repo.units[k]; ok {
				found = append(found, quiet(u))
			}
		}
		if len(paths) == 0 {
			break
		}
	}
	return found, nil
}
