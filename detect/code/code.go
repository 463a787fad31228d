// Package code reads source code for package detect: declarations, contracts and uses of a file, and what
// changed between two versions of a set of files.
package code

import "github.com/parley-mesh/parley/detect"

// Project is what a file by itself does not say: how modules are found. The zero Project knows nothing, and
// then names of other files are resolved among the units at hand only.
type Project struct {
	// Has reports whether the repository has a file; nil when that is not known.
	Has func(path string) bool
	// Folder lists the files of a folder, those of folders in it left out; nil when that is not known. A package of Go is one.
	Folder func(folder string) []string
	// GoModules are the module paths of go.mod files by their folders, "" for the root.
	GoModules map[string]string
	// Packages are the folders of npm, PyPI and Cargo packages of this repository by name.
	Packages map[string]string
	// Aliases are prefixes of module names and the folders they stand for, as tsconfig's paths: "@/" is "src/".
	Aliases map[string]string
}

// Reader is the [detect.Reader] of this package. It may be used by several goroutines at once.
type Reader struct{ project Project }

var (
	_ detect.Reader   = (*Reader)(nil)
	_ detect.Outsider = (*Reader)(nil)
)

// New returns a reader for a repository.
func New(p Project) *Reader { return &Reader{project: p} }

// Grammars names the grammars and the rules, as every digest has to.
func (*Reader) Grammars() string { return grammarSet }

// Read reads one version of a file. Files above 1 MiB, with NUL octets, nested deeper than 2,000 nodes or
// slower to parse than the limit are Failed or TimedOut and otherwise empty, as is a file that a reader fails at.
func (r *Reader) Read(path string, content []byte) detect.Unit {
	return guarded(path, func() detect.Unit { return r.read(path, content) })
}

// guarded makes a fault of a reader one of the file that it met: whoever can push a file must not end the program.
func guarded(path string, read func() detect.Unit) (unit detect.Unit) {
	defer func() {
		if recover() != nil {
			unit = failed(path)
		}
	}()
	return read()
}

// failed is a file that nothing is known of.
func failed(path string) detect.Unit {
	return detect.Unit{Path: path, Language: languages[dialectOf(path)], Quality: detect.Failed}
}

func (r *Reader) read(path string, content []byte) detect.Unit {
	d := dialectOf(path)
	unit := detect.Unit{Path: path, Language: languages[d]}
	switch {
	case d == dialectNone:
		return unit
	case d == dialectGo:
		r.readGo(&unit, content)
		return unit
	}
	t, why := parse(d, content)
	if t == nil {
		unit.Quality = detect.Failed
		if why == tooSlow || why == tooLarge {
			unit.Quality = detect.TimedOut
		}
		return unit
	}
	s := newScan(r, t, d, unit)
	switch {
	case d.script():
		s.script()
	case d == dialectPy:
		s.python()
	case d == dialectRust:
		s.rust()
		s.rustRoutes()
	case d == dialectJava:
		s.java()
		s.springRoutes()
	}
	s.constants()
	s.finish()
	return *s.unit
}
