package code

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
