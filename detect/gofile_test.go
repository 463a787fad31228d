package detect

import (
	"strings"
	"testing"
)

func TestOneNameInTwoFilesThatAreNeverBuiltTogether(t *testing.T) { // C3
	for _, c := range []struct {
		a, b string
		met  bool
	}{
		{"p/a.go //go:build linux", "p/b.go //go:build !linux", false},
		{"p/a.go //go:build linux", "p/b.go //go:build linux && cgo", true},
		{"p/a.go //go:build linux", "p/b.go //go:build windows", false},
		{"p/a.go //go:build unix", "p/b.go //go:build windows", false},
		{"p/a.go //go:build unix", "p/b.go //go:build android", true},
		{"p/a.go //go:build amd64", "p/b.go //go:build arm64 || arm", false},
		{"p/a.go //go:build pro", "p/b.go //go:build !pro", false},
		{"p/a.go //go:build pro", "p/b.go //go:build free", true},
		{"p/a.go //go:build pro", "p/b.go", true},
		{"p/a.go //go:build !linux", "p/b.go //go:build !windows", true},
		{"p/a.go", "p/b.go", true},
		{"p/a_linux.go", "p/b_windows.go", false},
		{"p/a_linux_amd64.go", "p/a_linux_arm64.go", false},
		{"p/a_linux_amd64.go", "p/b_linux.go", true},
		{"p/a_linux.go", "p/b_arm64.go", true},
		{"p/a_linux.go", "p/b_android.go", true},
		{"p/a_darwin.go", "p/b_ios.go", true},
		{"p/a_darwin.go", "p/b_android.go", false},
		{"p/a_linux.go", "p/b.go", true},
		{"p/linux.go", "p/windows.go", true},
		{"p/a_linux_test.go", "p/b_windows_test.go", false},
		{"p/a.go", "p/b_test.go", false},
		{"p/a_test.go", "p/b_test.go", true},
	} {
		a, b := jordan(), maya()
		for d, file := range map[*Digest]string{a: c.a, b: c.b} {
			path, build, _ := strings.Cut(file, " ")
			d.Files = []File{edited(path, path)}
			d.Symbols = []SymbolChange{changed(Added, "sym:go:"+path+"#Open")}
			d.Symbols[0].Symbol.Signature.Modifiers = []string{build}
			d.Symbols[0].Symbol.Package = "pkg:go:acme/p#Open"
		}
		met := false
		for _, f := range find(t, DefaultPolicy(), a, b).Findings {
			met = met || f.Kind == SymbolOverlap
		}
		if met != c.met {
			t.Errorf("%s and %s: %v, want %v", c.a, c.b, met, c.met)
		}
	}
}
