package code

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/detect"
)

// oracles is a directory with the programs that are asked, as PARLEY_ORACLES names it:
//
//	npm install --prefix DIR typescript@5.9.3 zod@4 hono@4 fastify@5 express@5
//	PARLEY_ORACLES=DIR go test ./detect/code -run Oracle -v
func oracles(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("PARLEY_ORACLES")
	if dir == "" {
		t.Skip("PARLEY_ORACLES does not name a directory with node_modules")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("no node")
	}
	return dir
}

// runNode runs a module of JavaScript where the programs are, and returns what it printed.
func runNode(t *testing.T, dir string, files map[string]string, args ...string) string {
	t.Helper()
	work, err := os.MkdirTemp(dir, "work-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(work); err != nil {
			t.Error(err)
		}
	})
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(work, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.CommandContext(t.Context(), "node", args...)
	c.Dir = work
	out, err := c.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && len(exit.Stderr) > 0 {
		t.Fatalf("node %q: %v\n%s", args, err, exit.Stderr)
	}
	return string(out)
}

// oracleCase is one change.
type oracleCase struct{ old, now string }

// types are held against each other in every place.
var oracleTypes = []string{
	"string", "number", "boolean", "null", "unknown", "'a'", "'a' | 'b'", "string | number", "string | undefined", "string[]", "readonly string[]",
	"(string | number)[]", "[string, number]", "{ a: string }", "{ a: string; b: number }", "{ a: string; b?: number }", "Record<string, string>",
	"() => string", "(x: string) => void", "Promise<string>", "Map<string, number>", "never", "any", "1 | 2", "bigint", "true",
}

// oraclePlaces are where a type is exchanged, each with what must compile: the new thing (2) stands where the old one (1)
// stood; of what others both build and read, either stands for the other.
var oraclePlaces = []struct{ text, probe string }{
	{"export declare function f(a: %s): void;", "const p: typeof %[1]s.f = null! as typeof %[2]s.f;"},
	{"export declare function f(): %s;", "const p: typeof %[1]s.f = null! as typeof %[2]s.f;"},
	{"export declare const f: %s;", "const p: typeof %[1]s.f = null! as typeof %[2]s.f;"},
	{"export interface f { x: %s }", "const p: [%[1]s.f, %[2]s.f] = null! as [%[2]s.f, %[1]s.f];"},
}

// oracleShapes are changes of parameters, each with a call that gives all it can take: fewer parameters are assignable, and
// yet break such callers.
var oracleShapes = []struct{ text, call string }{
	{"()", "f()"},
	{"(a: string)", "f('')"},
	{"(a?: string)", "f('')"},
	{"(a: string, b: number)", "f('', 1)"},
	{"(a: string, b?: number)", "f('', 1)"},
	{"(...a: string[])", "f('', '', '')"},
	{"(a: string, ...b: number[])", "f('', 1, 1)"},
	{"<T>(a: T)", "f<string>('')"},
	{"<T extends string>(a: T)", "f<string>('')"},
	{"<T>(a: T[], b?: T)", "f<string>([''], '')"},
	{"(a: string | number)", "f('')"},
	{"(a: number)", "f(1)"},
	{"({ a }: { a: string })", "f({ a: '' })"},
}

// tscCases are all pairs of types in all places, and all pairs of shapes.
func tscCases() (cases []oracleCase, probes []string) {
	for _, place := range oraclePlaces {
		for _, old := range oracleTypes {
			for _, now := range oracleTypes {
				if old != now {
					cases = append(cases, oracleCase{old: fmt.Sprintf(place.text, old), now: fmt.Sprintf(place.text, now)})
					probes = append(probes, place.probe)
				}
			}
		}
	}
	for _, old := range oracleShapes {
		for _, now := range oracleShapes {
			if old != now {
				cases = append(cases, oracleCase{"export declare function f" + old.text + ": void;", "export declare function f" + now.text + ": void;"})
				probes = append(probes, "const p: typeof %[1]s.f = null! as typeof %[2]s.f; %[2]s."+old.call+";")
			}
		}
	}
	return cases, probes
}

var tscError = regexp.MustCompile(`(?m)^a\.ts\((\d+),`)

// tscBreaks asks the compiler in one run which probes do not compile.
func tscBreaks(t *testing.T, dir string, cases []oracleCase, probes []string) []bool {
	var text strings.Builder
	for i, c := range cases {
		o, n := fmt.Sprintf("O%d", i), fmt.Sprintf("N%d", i)
		fmt.Fprintf(&text, "namespace %s { %s } namespace %s { %s } namespace P%d { %s }\n", o, c.old, n, c.now, i, fmt.Sprintf(probes[i], o, n))
	}
	out := runNode(t, dir, map[string]string{"a.ts": text.String()}, "../node_modules/typescript/bin/tsc", "--strict", "--noEmit", "--pretty", "false", "--target", "es2022", "a.ts")
	all := make([]bool, len(cases))
	for _, m := range tscError.FindAllStringSubmatch(out, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil || n > len(all) {
			t.Fatalf("odd line %q", m[0])
		}
		all[n-1] = true
	}
	return all
}

// graver is the worst verdict of a delta on symbols: breaking, then not to be told.
func graver(d detect.Delta) detect.Verdict {
	worst := detect.Compatible
	for _, c := range d.Symbols {
		switch {
		case c.Verdict == detect.Breaking:
			return detect.Breaking
		case c.Verdict == detect.CannotTell && c.Change == detect.SignatureChanged:
			worst = detect.CannotTell
		}
	}
	return worst
}

// TestOracleTypeScript holds the rules for TypeScript against the compiler's assignability.
func TestOracleTypeScript(t *testing.T) { // C4
	dir := oracles(t)
	cases, probes := tscCases()
	wants := tscBreaks(t, dir, cases, probes)
	count := map[string]int{}
	for i, c := range cases {
		got := graver(compare(t, Project{}, map[string]string{"a.ts": c.old}, map[string]string{"a.ts": c.now}))
		kind := "agrees"
		switch {
		case got == detect.CannotTell:
			kind = fmt.Sprintf("cannot tell (breaks: %t)", wants[i])
		case wants[i] && got != detect.Breaking:
			kind = "missed"
		case !wants[i] && got == detect.Breaking:
			kind = "false"
		}
		count[kind]++
		if kind == "missed" || kind == "false" {
			t.Logf("%s: %s => %s", kind, c.old, c.now)
		}
	}
	t.Log(count)
	if count["missed"] > 0 {
		t.Errorf("%d breaks were missed", count["missed"])
	}
}
