//go:build unix

package code

import (
	"bytes"
	"context"
	"fmt"
	"go/parser"
	"go/token"
	"strings"
	"syscall"
	"testing"
	"time"

	sitter "github.com/smacker/go-tree-sitter"

	"github.com/parley-mesh/parley/detect"
)

// samples are what files are made of: a class, a function with branches, calls and strings, a type. Each QQ
// becomes a number.
var samples = map[string]string{
	"a.ts": `import { helperQQ, type OptionsQQ } from './lib/moduleQQ';

export interface RecordQQ { id: string; amount?: number | null; tags: string[] }

// Issues what was asked for.
export async function issueQQ(record: RecordQQ, options: OptionsQQ = {}): Promise<string> {
  const total = record.tags.map((tag) => tag.length).reduce((a, b) => a + b, 0);
  if (total > 10 && options.strict) {
    throw new Error(` + "`too many: ${total}`" + `);
  }
  for (const tag of record.tags) {
    await helperQQ(tag, { retries: 3, label: 'x' + tag });
  }
  return record.amount ? record.id + ':' + record.amount : record.id;
}

export class ServiceQQ extends Base<RecordQQ> {
  private cache = new Map<string, RecordQQ>();
  get size(): number { return this.cache.size }
  find(id: string): RecordQQ | undefined { return this.cache.get(id) ?? this.load(id); }
  protected load(id: string) { return fetch('/v1/records/' + id, { method: 'POST' }) as any; }
}
`,
	"a.py": `from .lib import helper_QQ, Options as OptionsQQ

class RecordQQ(Base):
    """What is kept."""
    amount: int = 0

    def __init__(self, name: str, *, tags: list[str] | None = None) -> None:
        self.name = name
        self.tags = tags or []

    @property
    def size(self) -> int:
        return len(self.tags)

def issue_QQ(record: RecordQQ, options: OptionsQQ, strict: bool = False) -> str:
    total = sum(len(tag) for tag in record.tags)
    if total > 10 and strict:
        raise ValueError(f"too many: {total}")
    for tag in record.tags:
        helper_QQ(tag, retries=3, label="x" + tag)
    return record.name if not record.amount else f"{record.name}:{record.amount}"
`,
	"a.go": `
// RecordQQ is what is kept.
type RecordQQ struct {
	ID, Name string
	Amount   int
	Tags     []string
}

// IssueQQ issues what was asked for.
func IssueQQ(record *RecordQQ, strict bool) (string, error) {
	total := 0
	for _, tag := range record.Tags {
		total += len(tag)
	}
	if total > 10 && strict {
		return "", fmt.Errorf("too many: %d", total)
	}
	for i, tag := range record.Tags {
		if err := helper(tag, i, "x"+tag); err != nil {
			return "", err
		}
	}
	return record.ID + ":" + strings.Repeat("a", record.Amount), nil
}

func (r *RecordQQ) size() int { return len(r.Tags) + r.Amount }
`,
	"a.rs": `use crate::lib::helper_QQ;

/// What is kept.
#[derive(Debug, Clone)]
pub struct RecordQQ { pub id: String, amount: Option<i64>, tags: Vec<String> }

impl RecordQQ {
    pub fn size(&self) -> usize { self.tags.len() }
    pub fn issue_QQ(&mut self, strict: bool) -> Result<String, Error> {
        let total: usize = self.tags.iter().map(|t| t.len()).sum();
        if total > 10 && strict {
            return Err(Error::new(format!("too many: {}", total)));
        }
        for tag in &self.tags {
            helper_QQ(tag, 3, &format!("x{}", tag))?;
        }
        Ok(match self.amount { Some(a) => format!("{}:{}", self.id, a), None => self.id.clone() })
    }
}
`,
	"A.java": `/** What is kept. */
class RecordQQ extends Base<String> implements Comparable<RecordQQ> {
  private final String id;
  public int amount = 0;
  RecordQQ(String id, List<String> tags) { this.id = id; this.tags = tags; }
  public int size() { return tags.size(); }
  public String issueQQ(boolean strict, String... more) throws IOException {
    int total = tags.stream().mapToInt(t -> t.length()).sum();
    if (total > 10 && strict) {
      throw new IllegalStateException("too many: " + total);
    }
    for (String tag : tags) {
      Helper.run(tag, 3, "x" + tag);
    }
    return amount == 0 ? id : id + ":" + amount;
  }
}
`,
}

// sized is about 64 kB of a language.
func sized(name string) []byte {
	var b bytes.Buffer
	if name == "a.go" {
		b.WriteString("package p\n\nimport (\n\t\"fmt\"\n\t\"strings\"\n)\n")
	}
	for n := 0; b.Len() < 64<<10; n++ {
		b.WriteString(strings.ReplaceAll(samples[name], "QQ", fmt.Sprint(n)))
	}
	return b.Bytes()
}

var benchmarked = map[string]string{"ts": "a.ts", "tsx": "a.tsx", "js": "a.js", "py": "a.py", "go": "a.go", "rs": "a.rs", "java": "A.java"}

func init() {
	samples["a.tsx"] = samples["a.ts"]
	samples["a.js"] = "function issueQQ(record, { strict } = {}) {\n  const total = record.tags.map((t) => t.length).reduce((a, b) => a + b, 0);\n" +
		"  if (total > 10 && strict) throw new Error(`too many: ${total}`);\n  return record.amount ? record.id + ':' + record.amount : record.id;\n}\nmodule.exports.issueQQ = issueQQ;\n"
}

// spent is the time that this process has had of a processor, which a busy machine changes less than time on
// the wall.
func spent() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// measure runs a benchmark and reports what it takes of a processor.
func measure(b *testing.B, size int, run func()) {
	b.SetBytes(int64(size))
	start := spent()
	for b.Loop() {
		run()
	}
	if used := spent() - start; used > 0 {
		b.ReportMetric(float64(size)*float64(b.N)/1e6/used.Seconds(), "cpu-MB/s")
	}
}

// BenchmarkBare is what the parsers take by themselves: tree-sitter, and for Go also its own parser.
func BenchmarkBare(b *testing.B) {
	for name, file := range sorted(benchmarked) {
		src := sized(file)
		g := grammars[dialectOf(file)]()
		b.Run(name, func(b *testing.B) {
			measure(b, len(src), func() {
				p := sitter.NewParser()
				p.SetLanguage(g.language)
				t, err := p.ParseCtx(context.Background(), nil, src)
				if err != nil {
					b.Fatal(err)
				}
				t.Close()
				p.Close()
			})
		})
	}
	src := sized("a.go")
	b.Run("go/parser", func(b *testing.B) {
		measure(b, len(src), func() {
			if _, err := parser.ParseFile(token.NewFileSet(), "", src, parser.SkipObjectResolution); err != nil {
				b.Fatal(err)
			}
		})
	})
}

// BenchmarkTree is parsing and flattening.
func BenchmarkTree(b *testing.B) {
	for name, file := range sorted(benchmarked) {
		src := sized(file)
		b.Run(name, func(b *testing.B) {
			measure(b, len(src), func() {
				if t, why := parse(dialectOf(file), src); t == nil || t.broken {
					b.Fatal(why)
				}
			})
		})
	}
}

// BenchmarkRead is all that a file is read for.
func BenchmarkRead(b *testing.B) {
	for name, file := range sorted(benchmarked) {
		src := sized(file)
		r := New(Project{})
		b.Run(name, func(b *testing.B) {
			measure(b, len(src), func() { r.Read(file, src) })
		})
	}
}

// BenchmarkCompare is one function of a 64 kB file that changed.
func BenchmarkCompare(b *testing.B) {
	src := sized("a.ts")
	r := New(Project{})
	before := r.Read("a.ts", src)
	after := r.Read("a.ts", bytes.Replace(src, []byte("total > 10"), []byte("total > 11"), 1))
	measure(b, len(src), func() {
		if d := r.Compare([]detect.Unit{before}, []detect.Unit{after}); len(d.Symbols) != 1 {
			b.Fatal(d.Symbols)
		}
	})
}
