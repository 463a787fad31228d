package hooks

import (
	"slices"
	"strings"
	"testing"
)

func TestACommandsFilesAreThoseThatItWrites(t *testing.T) { // C9
	for command, want := range map[string]string{
		"echo hi > README.md":                         "README.md",
		"echo hi >>a.txt 2>b.log":                     "a.txt b.log",
		"cat < in.txt":                                "",
		"make &> build.log && cat build.log":          "build.log",
		"sed -i 's/a/b/' src/a.ts src/b.ts":           "src/a.ts src/b.ts",
		"sed -i.bak s/a/b/ src/a.ts":                  "src/a.ts",
		"sed 's/a/b/' src/a.ts":                       "",
		"perl -pi -e 's/a/b/' a.pl":                   "a.pl",
		"tee -a one two < x":                          "one two",
		"mv a.ts b.ts":                                "a.ts b.ts",
		"mv a.ts b.ts lib/":                           "a.ts b.ts lib/a.ts lib/b.ts",
		"cp a.ts b.ts":                                "b.ts",
		"cp a.ts lib/":                                "lib/a.ts",
		"rm -rf dist old.go":                          "dist old.go",
		"git mv a.go b.go":                            "a.go b.go",
		"git rm -q a.go":                              "a.go",
		"git rm --cached a.go":                        "",
		"git checkout main":                           "",
		"git checkout HEAD~1 -- a.go b.go":            "",
		"git restore a.go":                            "",
		"git restore --staged a.go":                   "",
		"prettier --write src/a.ts":                   "src/a.ts",
		"npx prettier --check src/a.ts":               "",
		"gofmt -l a.go":                               "",
		"gofmt -w a.go":                               "a.go",
		"cd web && echo x > index.html; echo y > b":   "web/index.html web/b",
		"(cd web; echo x > a) ; echo y > b":           "web/a b",
		"cd $HOME && echo x > a; echo y > /tmp/b":     "/tmp/b",
		"cd /abs && touch a":                          "/abs/a",
		"cd - && touch a":                             "",
		"echo x > \"$FILE\"":                          "",
		"rm *.ts 'a b.ts' \"c d.ts\"":                 "a b.ts|c d.ts",
		"if true; then echo x > a; else rm b; fi":     "a b",
		"for f in *; do sed -i s/a/b/ \"$f\" c; done": "c",
		"cat <<EOF > notes.md\nrm other.md\nEOF":      "notes.md",
		"sudo -E env A=b touch a":                     "a",
		"bash -lc 'echo x > inner'":                   "inner",
		"bash -c 'cd sub && touch a' && touch b":      "sub/a b",
		"echo x | tee out.txt >/dev/null":             "out.txt",
		"echo 'unclosed":                              "",
		"Set-Content -Path a.txt":                     "",
		"echo x > a; echo x > ./a; touch a":           "a",
		"touch -- -odd":                               "-odd",
		"apply_patch <<'E'\n*** Begin Patch\n*** Update File: p.go\n*** End Patch\nE": "",
	} {
		got := shellPaths(command)
		list := strings.Fields(want)
		if strings.Contains(want, "|") {
			list = strings.Split(want, "|")
		}
		if !slices.Equal(got, list) {
			t.Errorf("%s\n got %q\nwant %q", command, got, list)
		}
	}
	if got := shellPaths(strings.Repeat("bash -c 'x'; touch a; ", 10) + strings.Repeat("(", 5000)); got != nil {
		t.Errorf("of what is no script: %q", got)
	}
}

func FuzzShellPaths(f *testing.F) {
	for _, seed := range []string{"echo hi > a", "sed -i s/a/b/ x", "bash -c 'mv a b'", "((a))", "$(<x)", "case x in a) rm b;; esac", "f() { rm a; }; f"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, command string) {
		paths := shellPaths(command)
		if len(paths) > pathsMax || slices.Contains(paths, "") {
			t.Errorf("%q", paths)
		}
	})
}
