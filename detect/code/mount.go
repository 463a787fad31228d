package code

import (
	"cmp"
	"slices"
	"strings"

	"github.com/parley-mesh/parley/detect"
)

// routerID names a router across files.
func (r *resolver) routerID(u *detect.Unit, name string) string {
	switch {
	case name == "":
		return u.Path + "#"
	case strings.HasPrefix(name, "mod:"):
		id, _ := r.resolve(u, name)
		return pathOf(id) + "#" + nameOf(id)
	}
	for _, e := range u.Exports {
		if e.Local == name && e.Module == "" {
			return u.Path + "#" + e.Name
		}
	}
	return u.Path + "#" + name
}

// fileOf is the file of a router.
func fileOf(router string) string {
	file, _, _ := strings.Cut(router, "#")
	return file
}

// ownPrefix stands for the router that a mount is into where it only says what a router's prefix is as long as
// nobody gives it another.
const ownPrefix = "="

// placesMax bounds at how many places one router is said to hang.
const placesMax = 64

// mounted is one place of a router. Via are the mounts on the way to it, each with the path of its file in place of its router.
type mounted struct {
	prefix, into string
	via          []detect.Mount
}

// mounts are the places of every router. What a test mounts says nothing of where others find it.
func (r *resolver) mounts(units []detect.Unit) map[string][]mounted {
	all, own := map[string][]mounted{}, map[string]string{}
	for i := range units {
		u := &units[i]
		for _, m := range u.Mounts {
			router, into, prefix := r.routerID(u, m.Router), "", r.unmarked(u, m.Prefix)
			if m.Into == ownPrefix {
				own[router] = prefix
				continue
			}
			if into = r.routerID(u, m.Into); router != into && (!testFile(u.Path) || testFile(fileOf(router))) {
				m.Router = u.Path
				all[router] = append(all[router], mounted{prefix, into, []detect.Mount{m}})
			}
		}
	}
	for router, prefix := range own {
		for i := range all[router] {
			all[router][i].prefix = cmp.Or(all[router][i].prefix, prefix)
		}
		if len(all[router]) == 0 {
			all[router] = []mounted{{prefix: prefix, into: router + "="}}
		}
	}
	for router, list := range all {
		slices.SortStableFunc(list, byPlace)
		all[router] = slices.CompactFunc(list, samePlace)
	}
	return all
}

// places are where the routes of a router are served in the end: below a prefix of a router that hangs nowhere.
// Routers that hang on each other in a circle are followed for a while.
func places(mounts map[string][]mounted, router string, left int) (all []mounted) {
	if left == 0 || len(mounts[router]) == 0 {
		return []mounted{{into: router}}
	}
	for _, m := range mounts[router] {
		for _, outer := range places(mounts, m.into, left/2) {
			at := mounted{below(outer.prefix, m.prefix), outer.into, append(slices.Clip(m.via), outer.via...)}
			if all = append(all, at); len(all) == placesMax {
				return all
			}
		}
	}
	slices.SortStableFunc(all, byPlace)
	return slices.CompactFunc(all, samePlace)
}

func byPlace(a, b mounted) int {
	return cmp.Or(cmp.Compare(a.prefix, b.prefix), cmp.Compare(a.into, b.into))
}

func samePlace(a, b mounted) bool { return byPlace(a, b) == 0 }

// handedOn reports whether a router is a function of Go or Rust, which gives the router that it makes or is given to
// somebody who was not seen.
func (r *resolver) handedOn(router string) bool {
	s := r.symbols["sym:go:"+router]
	if s == nil {
		s = r.symbols["sym:rs:"+router]
	}
	return s != nil && (s.Kind == detect.Function || s.Kind == detect.Method)
}
