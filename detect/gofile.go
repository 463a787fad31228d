package detect

import (
	"go/build/constraint"
	"slices"
	"strings"
)

// goSystems and goMachines are the ends of names of files that Go builds for one system or machine alone. A system also builds
// the files of the one that it descends from.
var (
	goSystems = map[string]string{
		"aix": "", "android": "linux", "darwin": "", "dragonfly": "", "freebsd": "", "illumos": "solaris", "ios": "darwin", "js": "", "linux": "",
		"netbsd": "", "openbsd": "", "plan9": "", "solaris": "", "wasip1": "", "windows": "",
	}
	goMachines = map[string]bool{
		"386": true, "amd64": true, "arm": true, "arm64": true, "loong64": true, "mips": true, "mips64": true, "mips64le": true, "mipsle": true,
		"ppc64": true, "ppc64le": true, "riscv64": true, "s390x": true, "wasm": true,
	}
)

// builtTogether reports whether two files of one folder may be compiled into one package of Go, as far as their names say it. A
// test may be of a package beside, so that it and what it tests may have one name.
func builtTogether(a, b string) bool {
	systemA, machineA, testA := goFile(a)
	systemB, machineB, testB := goFile(b)
	if testA != testB || machineA != machineB && machineA != "" && machineB != "" {
		return false
	}
	return systemA == systemB || systemA == "" || systemB == "" || goSystems[systemA] == systemB || goSystems[systemB] == systemA
}

// unlike are the systems that the tag unix does not stand for.
var unlike = []string{"js", "plan9", "wasip1", "windows"}

// GoFileTags are the build tags that the name of a file of Go asks for, as x_linux_amd64.go asks for linux and amd64.
func GoFileTags(path string) (tags []string) {
	system, machine, _ := goFile(path)
	return slices.DeleteFunc([]string{system, machine}, func(t string) bool { return t == "" })
}

// builtApart reports whether no build has two symbols, by the lines "//go:build …" among their modifiers.
func builtApart(a, b *Symbol) bool {
	line := func(s *Symbol) constraint.Expr {
		for _, m := range s.Signature.Modifiers {
			if x, err := constraint.Parse(m); err == nil {
				return x
			}
		}
		return nil
	}
	x, y := line(a), line(b)
	if x == nil || y == nil {
		return false
	}
	both := &constraint.AndExpr{X: x, Y: y}
	return !satisfiable(both, tagsOf(both))
}

// tagsMax is how many tags of one's own two lines may be made of, before they count as built together.
const tagsMax = 10

// satisfiable reports whether some system with some of the free tags and one machine builds what a line says.
func satisfiable(x constraint.Expr, free []string) bool {
	if len(free) > tagsMax {
		return true
	}
	for system := range goSystems {
		for chosen := range 1 << len(free) {
			if x.Eval(func(tag string) bool {
				if at := slices.Index(free, tag); at >= 0 {
					return chosen&(1<<at) != 0
				}
				return tag == system || tag == goSystems[system] || tag == "unix" && !slices.Contains(unlike, system)
			}) && oneMachine(free, chosen) {
				return true
			}
		}
	}
	return false
}

// oneMachine reports whether a choice among tags has no two machines.
func oneMachine(free []string, chosen int) bool {
	count := 0
	for at, tag := range free {
		if goMachines[tag] && chosen&(1<<at) != 0 {
			count++
		}
	}
	return count < 2
}

// tagsOf are the tags of a line that no system sets by itself.
func tagsOf(x constraint.Expr) (free []string) {
	switch x := x.(type) {
	case *constraint.AndExpr:
		free = append(tagsOf(x.X), tagsOf(x.Y)...)
	case *constraint.OrExpr:
		free = append(tagsOf(x.X), tagsOf(x.Y)...)
	case *constraint.NotExpr:
		free = tagsOf(x.X)
	case *constraint.TagExpr:
		if _, system := goSystems[x.Tag]; !system && x.Tag != "unix" {
			free = []string{x.Tag}
		}
	}
	slices.Sort(free)
	return slices.Compact(free)
}

// goFile is what the name of a file says of where it is built: x_linux_amd64_test.go.
func goFile(path string) (system, machine string, test bool) {
	name, _, _ := strings.Cut(path[strings.LastIndexByte(path, '/')+1:], ".")
	name, test = strings.CutSuffix(name, "_test")
	parts := strings.Split(name, "_")[1:]
	if n := len(parts); n > 0 && goMachines[parts[n-1]] {
		machine, parts = parts[n-1], parts[:n-1]
	}
	if n := len(parts); n > 0 {
		if _, known := goSystems[parts[n-1]]; known {
			system = parts[n-1]
		}
	}
	return system, machine, test
}
