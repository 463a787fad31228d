//go:build cgo

package repo

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/detect"
)

// typedShop is a small program of TypeScript.
var typedShop = map[string]string{
	"tsconfig.json": `{"compilerOptions": {"strict": true, "noEmit": true, "target": "es2022", "module": "esnext", "moduleResolution": "bundler"}, "include": ["src"]}
`,
	"src/price/amount.ts": `// Money in cents.
export interface Amount {
  cents: number;
  currency: string;
}

export interface Rates {
  base: string;
  worth: Record<string, number>;
  stale?: boolean;
}

export type Rounding = 'up' | 'down' | 'even';

export enum Unit {
  Cent = 1,
  Whole = 100,
}

export const zero: Amount = { cents: 0, currency: 'EUR' };

export function add(a: Amount, b: Amount): Amount {
  return { cents: a.cents + b.cents, currency: a.currency };
}

// Reads an amount, null if there is none.
export function parse(text: string): Amount | null {
  const n = digits(text);
  return n < 0 ? null : { cents: n, currency: 'EUR' };
}

export function convert(a: Amount, rates: Rates, rounding?: Rounding): Amount {
  const cents = a.cents * (rates.worth[a.currency] ?? 1);
  return { cents: rounding === 'up' ? Math.ceil(cents) : Math.round(cents), currency: rates.base };
}

export function halve(a: Amount): Amount {
  return { cents: a.cents / 2, currency: a.currency };
}

export function first<T>(list: T[]): T | undefined {
  return list[0];
}

function digits(text: string): number {
  return /^\d+$/.test(text) ? Number(text) : -1;
}

export default function format(a: Amount): string {
  return (a.cents / 100).toFixed(2) + ' ' + a.currency;
}
`,
	"src/price/till.ts": `import { add, zero, type Amount } from './amount';

export interface Store {
  load(id: string): Amount;
}

export class Till {
  private held: Amount[] = [];

  put(a: Amount): void {
    this.held.push(a);
  }

  total(): Amount {
    return this.held.reduce(add, zero);
  }

  static empty(): Till {
    return new Till();
  }
}
`,
	"src/price/tax.ts": `import type { Amount } from './amount';

export function taxed(a: Amount): Amount {
  return { cents: Math.round(a.cents * 1.19), currency: a.currency };
}
`,
	"src/price/index.ts": `export * from './amount';
export { default as format } from './amount';
export { Till, type Store } from './till';
`,
	"src/order/order.ts": `import { add, zero, type Amount } from '../price';

export interface Line {
  name: string;
  count: number;
  each: Amount;
}

// What lines cost together.
export function total(lines: Line[]): Amount {
  let sum = zero;
  for (const line of lines) {
    for (let i = 0; i < line.count; i++) {
      sum = add(sum, line.each);
    }
  }
  return sum;
}
`,
}

// rewrite is one edit: a file, what stands there and what comes instead. With nothing there the file is new, with
// nothing instead of all of it the file goes.
type rewrite [3]string

const (
	amountFile = "src/price/amount.ts"
	tillFile   = "src/price/till.ts"
	taxFile    = "src/price/tax.ts"
	indexFile  = "src/price/index.ts"
	orderFile  = "src/order/order.ts"
	workFile   = "src/uses/uses.ts"
	parseText  = "// Reads an amount, null if there is none.\nexport function parse(text: string): Amount | null {\n  const n = digits(text);\n  return n < 0 ? null : { cents: n, currency: 'EUR' };\n}\n"
)

// uses is a new file that makes use of the shop.
func uses(text string) []rewrite { return []rewrite{{workFile, "", text}} }

var (
	callsParse = uses("import { parse } from '../price';\nexport const got = parse('12')?.cents ?? 0;\n")
	callsAdd   = uses("import { add, zero } from '../price';\nexport const got = add(zero, zero).cents;\n")
	callsHalve = uses("import { halve, zero } from '../price';\nexport const got = halve(zero).cents;\n")
	setsRates  = uses("import type { Rates } from '../price';\nexport const rates: Rates = { base: 'EUR', worth: {} };\n")
	usesTill   = uses("import { Till } from '../price';\nexport const got = new Till().total().cents;\n")
	converts   = uses("import { convert, zero, type Rates } from '../price';\nexport const got = (rates: Rates) => convert(zero, rates);\n")
	taxes      = uses("import { zero } from '../price';\nimport { taxed } from '../price/tax';\nexport const got = taxed(zero).cents;\n")
)

// typedPairs are pairs of work that git merges cleanly, and whether tsc refuses the merge.
var typedPairs = []struct {
	what   string
	a, b   []rewrite
	broken bool
	not    string // why it is not told, or told although nothing breaks
}{
	{"removes a function, used", []rewrite{{amountFile, parseText, ""}}, callsParse, true, ""},
	{"removes a function, another is used", []rewrite{{amountFile, parseText, ""}}, callsAdd, false, ""},
	{"renames a function, used", []rewrite{{amountFile, "function parse(", "function parseAmount("}}, callsParse, true, ""},
	{"renames a function, another is used", []rewrite{{amountFile, "function parse(", "function parseAmount("}}, callsHalve, false, ""},
	{"hides a function, used", []rewrite{{amountFile, "export function parse(", "function parse("}}, callsParse, true, ""},
	{"adds a parameter, called", []rewrite{{amountFile, "parse(text: string)", "parse(text: string, radix: number)"}}, callsParse, true, ""},
	{"adds an optional parameter, called", []rewrite{{amountFile, "parse(text: string)", "parse(text: string, radix?: number)"}}, callsParse, false, ""},
	{"adds a parameter with a default, called", []rewrite{{amountFile, "parse(text: string)", "parse(text: string, radix = 10)"}}, callsParse, false, ""},
	{"requires an optional parameter, called without", []rewrite{{amountFile, "rounding?: Rounding", "rounding: Rounding"}}, converts, true, ""},
	{"retypes a parameter, called", []rewrite{{amountFile, "parse(text: string)", "parse(text: number[])"}, {amountFile, "digits(text);", "digits(text.join(''));"}}, callsParse, true, ""},
	{"widens a parameter, called", []rewrite{{amountFile, "parse(text: string)", "parse(text: string | number)"}, {amountFile, "digits(text);", "digits(String(text));"}}, callsParse, false, ""},
	{"swaps parameters, called", []rewrite{{amountFile, "convert(a: Amount, rates: Rates,", "convert(rates: Rates, a: Amount,"}}, converts, true, ""},
	{"narrows what is returned, called", []rewrite{{amountFile, "): Amount | null {", "): Amount {"}, {amountFile, "n < 0 ? null : { cents: n, currency: 'EUR' }", "{ cents: n, currency: 'EUR' }"}}, callsParse, false, ""},
	{"widens what is returned, called", []rewrite{{amountFile, "halve(a: Amount): Amount {", "halve(a: Amount): Amount | null {"}}, callsHalve, true, ""},
	{"makes a function wait, called", []rewrite{{amountFile, "export function halve(a: Amount): Amount {", "export async function halve(a: Amount): Promise<Amount> {"}}, callsHalve, true, ""},
	{"bounds a type parameter, called", []rewrite{{amountFile, "first<T>(", "first<T extends Amount>("}}, uses("import { first } from '../price';\nexport const got = first(['x']);\n"), true, ""},
	{"changes a body, called", []rewrite{{amountFile, "a.cents / 2", "a.cents * 0.5"}}, callsHalve, false, ""},
	{"writes about a function, called", []rewrite{{amountFile, "// Reads an amount,", "// Reads what is written,"}}, callsParse, false, ""},
	{"removes a field, set", []rewrite{{amountFile, "  stale?: boolean;\n", ""}}, uses("import type { Rates } from '../price';\nexport const rates: Rates = { base: 'EUR', worth: {}, stale: true };\n"), true, ""},
	{"adds a field, an object is made", []rewrite{{amountFile, "  stale?: boolean;\n", "  stale?: boolean;\n  from: string;\n"}}, setsRates, true, ""},
	{"adds an optional field, an object is made", []rewrite{{amountFile, "  stale?: boolean;\n", "  stale?: boolean;\n  from?: string;\n"}}, setsRates, false, ""},
	{"removes a member of a union, passed", []rewrite{{amountFile, "'up' | 'down' | 'even'", "'up' | 'even'"}}, uses("import { convert, zero, type Rates, type Rounding } from '../price';\nconst how: Rounding = 'down';\nexport const got = (rates: Rates) => convert(zero, rates, how);\n"), true, ""},
	{"adds a member of a union, another is passed", []rewrite{{amountFile, "'up' | 'down' | 'even'", "'up' | 'down' | 'even' | 'none'"}}, uses("import type { Rounding } from '../price';\nexport const how: Rounding = 'down';\n"), false, "who reads it may meet the new one"},
	{"removes a member of an enum, used", []rewrite{{amountFile, "  Whole = 100,\n", ""}}, uses("import { Unit } from '../price';\nexport const got = Unit.Whole;\n"), true, ""},
	{"renames a type, used", []rewrite{{amountFile, "export type Rounding", "export type Mode"}, {amountFile, "rounding?: Rounding", "rounding?: Mode"}}, uses("import type { Rounding } from '../price';\nexport const how: Rounding = 'up';\n"), true, ""},
	{"retypes a constant, used", []rewrite{{amountFile, "export const zero: Amount = { cents: 0, currency: 'EUR' };", "export const zero = (): Amount => ({ cents: 0, currency: 'EUR' });"}, {tillFile, "add, zero);", "add, zero());"}, {orderFile, "let sum = zero;", "let sum = zero();"}}, uses("import { zero } from '../price';\nexport const got = zero.cents;\n"), true, "the function may have the type that was written: told as information"},
	{"renames a method, called", []rewrite{{tillFile, "  total(): Amount {", "  sum(): Amount {"}}, usesTill, true, ""},
	{"hides a method, called", []rewrite{{tillFile, "  total(): Amount {", "  private total(): Amount {"}}, usesTill, true, ""},
	{"renames a method, called on a parameter", []rewrite{{tillFile, "  total(): Amount {", "  sum(): Amount {"}}, uses("import type { Till } from '../price';\nexport const got = (till: Till | null) => till?.total().cents;\n"), true, ""},
	{"renames a method, called on a field", []rewrite{{tillFile, "  total(): Amount {", "  sum(): Amount {"}}, uses("import { Till } from '../price';\nexport class Desk {\n  constructor(private till: Till) {}\n\n  close(): number {\n    return this.till.total().cents;\n  }\n}\n"), true, ""},
	{"renames a method, another value has one of that name", []rewrite{{tillFile, "  total(): Amount {", "  sum(): Amount {"}}, uses("import { Till } from '../price';\nexport const tills = new Map<string, Till>();\nexport class Sum {\n  total(): number {\n    return 1;\n  }\n}\nexport const got = (t: Till, sum: Sum) => {\n  const f = (t: Sum) => t.total();\n  t.put({ cents: 1, currency: 'EUR' });\n  return sum.total() + f(sum);\n};\n"), false, ""},
	{"removes an optional field, an object without it is made", []rewrite{{amountFile, "  stale?: boolean;\n", ""}}, setsRates, false, ""},
	{"removes a static method, called", []rewrite{{tillFile, "\n  static empty(): Till {\n    return new Till();\n  }\n", ""}}, uses("import { Till } from '../price';\nexport const got = Till.empty();\n"), true, ""},
	{"adds a method, the class is used", []rewrite{{tillFile, "  static empty()", "  clear(): void {\n    this.held = [];\n  }\n\n  static empty()"}}, usesTill, false, ""},
	{"adds a method to an interface, implemented", []rewrite{{tillFile, "  load(id: string): Amount;\n", "  load(id: string): Amount;\n  save(id: string, a: Amount): void;\n"}}, uses("import { zero, type Store } from '../price';\nexport class Memory implements Store {\n  load(id: string) {\n    return zero;\n  }\n}\n"), true, ""},
	{"names the default export, imported", []rewrite{{amountFile, "export default function format(", "export function format("}, {indexFile, "export { default as format } from './amount';\n", ""}}, uses("import format, { zero } from '../price/amount';\nexport const got = format(zero);\n"), true, ""},
	{"moves a function, the index still has it", []rewrite{{taxFile, "", "\nexport function halved(a: Amount): Amount {\n  return { cents: a.cents / 2, currency: a.currency };\n}\n"}, {amountFile, "export function halve(a: Amount): Amount {\n  return { cents: a.cents / 2, currency: a.currency };\n}\n", "export { halved as halve } from './tax';\n"}}, callsHalve, false, ""},
	{"moves a function to another file, imported from the first", []rewrite{{amountFile, parseText, ""}, {amountFile, "function digits(", "export function digits("}, {"src/price/read.ts", "", "import { digits, type Amount } from './amount';\n\n" + parseText}, {indexFile, "export * from './amount';\n", "export * from './amount';\nexport * from './read';\n"}}, uses("import { parse } from '../price/amount';\nexport const got = parse('12')?.cents ?? 0;\n"), true, ""},
	{"moves a function to another file, imported from the index", []rewrite{{amountFile, parseText, ""}, {amountFile, "function digits(", "export function digits("}, {"src/price/read.ts", "", "import { digits, type Amount } from './amount';\n\n" + parseText}, {indexFile, "export * from './amount';\n", "export * from './amount';\nexport * from './read';\n"}}, callsParse, false, "the import is known by where it leads, and that is gone"},
	{"passes a default export on no more, imported there", []rewrite{{indexFile, "export { default as format } from './amount';\n", ""}}, uses("import { format, zero } from '../price';\nexport const got = format(zero);\n"), true, "a default export looks exported under its own name too"},
	{"exports no more from the index, imported there", []rewrite{{indexFile, "export { Till, type Store } from './till';\n", ""}}, uses("import { Till } from '../price';\nexport const got: Till[] = [];\n"), true, ""},
	{"removes a file, imported", []rewrite{{taxFile, typedShop[taxFile], ""}}, taxes, true, ""},
	{"moves a file, imported", []rewrite{{taxFile, typedShop[taxFile], ""}, {"src/tax.ts", "", strings.Replace(typedShop[taxFile], "./amount", "./price/amount", 1)}}, taxes, true, ""},
	{"both add a function of one name to one file", []rewrite{{amountFile, "export function add(", "export function round(a: Amount): Amount {\n  return a;\n}\n\nexport function add("}}, []rewrite{{amountFile, "export default function", "export function round(a: Amount): Amount {\n  return { ...a, cents: Math.round(a.cents) };\n}\n\nexport default function"}}, true, ""},
	{"both add a function, of two names, to one file", []rewrite{{amountFile, "export function add(", "export function same(a: Amount): Amount {\n  return a;\n}\n\nexport function add("}}, []rewrite{{amountFile, "export default function", "export function round(a: Amount): Amount {\n  return { ...a, cents: Math.round(a.cents) };\n}\n\nexport default function"}}, false, ""},
	{"both add a function of one name, in two files", []rewrite{{taxFile, "", "\nexport function round(a: Amount): Amount {\n  return a;\n}\n"}}, []rewrite{{orderFile, "", "\nexport function round(n: number): number {\n  return n;\n}\n"}}, false, ""},
}

// applied is the shop's files that edits change, as they are then; "" for one that is gone.
func applied(t *testing.T, edits []rewrite) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, e := range edits {
		text, seen := files[e[0]]
		if !seen {
			text = typedShop[e[0]]
		}
		switch {
		case e[1] == "":
			text += e[2]
		case strings.Count(text, e[1]) != 1:
			t.Fatalf("%s has %q %d times", e[0], e[1], strings.Count(text, e[1]))
		default:
			text = strings.Replace(text, e[1], e[2], 1)
		}
		files[e[0]] = text
	}
	return files
}

// TestATypeCheckThatBreaksIsForetold judges pairs of work on a small program of TypeScript. Which merges break is written
// beside them, and with
//
//	npm install --prefix DIR typescript@5.9.3
//
// PARLEY_ORACLES=DIR lets the real compiler say it again.
func TestATypeCheckThatBreaksIsForetold(t *testing.T) { // C3, C4
	s := newShop(t)
	var changes []string
	for _, p := range slices.Sorted(maps.Keys(typedShop)) {
		changes = append(changes, p, typedShop[p])
	}
	s.branch("main", "", changes...)
	var all []clash
	for _, p := range typedPairs {
		all = append(all, clash{p.what, applied(t, p.a), applied(t, p.b)})
	}
	s.commitClashes(all)
	verdicts, trees := s.judgeClashes(all)
	for i, tree := range trees {
		p, v := typedPairs[i], &verdicts[i]
		v.broken = p.broken
		if warned := v.found >= detect.Warn; tree == "" || warned != (p.broken == (p.not == "")) {
			t.Errorf("%s: breaks the build: %v, warned: %v (%q), merges: %v", p.what, p.broken, warned, v.kinds, tree != "")
		}
	}
	tally(t, verdicts)
	t.Run("tsc", func(t *testing.T) { typeChecked(t, s, trees) })
}

var typeError = regexp.MustCompile(`(?m)^(?:\.\./)*([mab])(\d+)/\S+: error TS`)

// typeChecked lets the compiler read each side alone and each merged tree.
func typeChecked(t *testing.T, s *shop, trees []string) {
	modules := os.Getenv("PARLEY_ORACLES")
	if modules == "" {
		t.Skip("PARLEY_ORACLES does not name a directory with node_modules")
	}
	dir := t.TempDir()
	for i, tree := range trees {
		for name, tree := range map[string]string{"m": tree, "a": fmt.Sprint("a", i), "b": fmt.Sprint("b", i)} {
			s.export(tree, filepath.Join(dir, name+strconv.Itoa(i)))
		}
	}
	config := strings.Replace(typedShop["tsconfig.json"], `"src"`, `"."`, 1)
	if err := os.WriteFile(filepath.Join(dir, "tsconfig.json"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "node", filepath.Join(modules, "node_modules/typescript/bin/tsc"), "--pretty", "false")
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil && len(out) == 0 {
		t.Fatal(err)
	}
	broken := map[string]bool{}
	for _, m := range typeError.FindAllStringSubmatch(string(out), -1) {
		broken[m[1]+m[2]] = true
	}
	for i, p := range typedPairs {
		n := strconv.Itoa(i)
		if broken["a"+n] || broken["b"+n] {
			t.Errorf("%s: a side does not build by itself:\n%s", p.what, out)
		}
		if broken["m"+n] != p.broken {
			t.Errorf("%s: tsc refuses the merge: %v", p.what, broken["m"+n])
		}
	}
}
