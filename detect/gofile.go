package detect

import "strings"

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
