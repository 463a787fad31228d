package policy

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"github.com/parley-mesh/parley/detect"
)

const whole = `
severity: {path_overlap: warn, contract_break: block}
block_min_confidence: 0.9
protected_paths:
  - path: db/migrations/**
    owners: ["user:diego@acme.com"]
ignore_paths: ["**/*.lock", dist/]
exclusive_by_default: [db/schema.prisma]
exclusive_max_files: 5
block_contract_break_when_criticality: [frozen]
override: {allowed_roles: [owner], require_reason: false}
cross_repo_contracts: false
projects: {shop: [acme/shop, acme/web]}
members: {"user:ann@acme.com": owner, "user:bob@acme.com": member}
criticality:
  - {contract: "http:POST /v1/**", is: high}
`

func TestEveryKeyOfAPolicyIsRead(t *testing.T) { // D-25
	p, err := Parse([]byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	if p.Severity[detect.PathOverlap] != detect.Warn || p.Severity[detect.SymbolOverlap] != detect.Warn ||
		p.Severity[detect.ContractBreak] != detect.Block || p.BlockMinConfidence != 90 || p.ExclusiveMaxFiles != 5 {
		t.Errorf("%+v", p)
	}
	if len(p.ProtectedPaths) != 1 || p.ProtectedPaths[0].Path != "db/migrations/**" || p.ProtectedPaths[0].Owners[0] != "user:diego@acme.com" {
		t.Errorf("%+v", p.ProtectedPaths)
	}
	if !slices.Equal(p.IgnorePaths, []string{"**/*.lock", "dist/"}) || !slices.Equal(p.ExclusiveByDefault, []string{"db/schema.prisma"}) {
		t.Errorf("%+v", p)
	}
	if !slices.Equal(p.BlockContractBreakWhenCriticality, []string{"frozen"}) || !slices.Equal(p.Override.AllowedRoles, []string{"owner"}) ||
		p.Override.RequireReason || p.CrossRepoContracts {
		t.Errorf("%+v", p)
	}
	if len(p.Projects) != 1 || len(p.Projects[0].Repos) != 2 || p.Role("Ann@acme.com") != "owner" || p.Role("bob@acme.com") != "member" || p.Role("eve@acme.com") != "" {
		t.Errorf("%+v", p)
	}
	if len(p.Criticality) != 1 || p.Criticality[0] != (detect.Criticality{Contract: "http:POST /v1/**", Level: "high"}) {
		t.Errorf("%+v", p.Criticality)
	}
}

func TestAnEmptyPolicyIsTheDefault(t *testing.T) {
	for _, s := range []string{"", "# nothing yet\n", "---\n", "{}"} {
		p, err := Parse([]byte(s))
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		if p.BlockMinConfidence != 85 || !slices.Equal(p.Override.AllowedRoles, []string{"owner", "admin"}) || !p.Override.RequireReason {
			t.Errorf("%q: %+v", s, p)
		}
	}
}

// faulty is policies with the line and a part of what is said about them. Schema says whether the published schema
// can see the fault too.
var faulty = []struct {
	text   string
	line   int
	says   string
	schema bool
}{
	{"severity:\n  path_overlapp: warn\n", 2, "severity.path_overlapp: there is no such kind", true},
	{"# c\n\nseverty: {}\n", 3, "severty: there is no such key", true},
	{"severity: {path_overlap: loud}\n", 1, "none of info, warn, block", true},
	{"severity:\n  path_overlap: block\n  duplicate_work: block\n", 3, "severity.duplicate_work: it is info or warn: that two sides do the same is only inferred, which never blocks", true},
	{"block_min_confidence: 85\n", 1, "between 0 and 1", true},
	{"block_min_confidence: 0.855\n", 1, "two decimals", true},
	{"block_min_confidence: .nan\n", 1, "between 0 and 1", false},
	{"protected_paths:\n- path: a\n  owners:\n  - user:a@b.c\n  - team:billing\n", 5, "not of the form user:<email>", true},
	{"protected_paths:\n- owners: [\"user:a@b.c\"]\n", 2, "it has no path", true},
	{"protected_paths:\n- path: a\n  owner: x\n", 3, "there is no such key", true},
	{"ignore_paths: [ok, /abs]\n", 1, "starts with a slash", true},
	{"ignore_paths:\n- ok\n- \"[z-a]\"\n", 3, "empty range", false},
	{"ignore_paths: all\n", 1, "it is a list", true},
	{"ignore_paths: [1]\n", 1, "it is a text", true},
	{"exclusive_max_files: many\n", 1, "whole number", true},
	{"exclusive_max_files: -1\n", 1, "not negative", true},
	{"cross_repo_contracts: maybe\n", 1, "true or false", true},
	{"members:\n  user:a@b.c: boss\n", 2, "none of owner, admin, member", true},
	{"members: {ann: owner}\n", 1, "user:<email>", true},
	{"projects: {shop: [shop]}\n", 1, "is not owner/name", true},
	{"criticality: [{contract: a, is: huge}]\n", 1, "none of low, normal, high, frozen", true},
	{"override: {allowed_roles: [guest]}\n", 1, "none of owner, admin, member", true},
	{"ignore_paths: []\nignore_paths: []\n", 2, "twice", false},
	{"ignore_paths: &a [x]\nexclusive_by_default: *a\n", 2, "it is a list", false},
	{"ignore_paths: [\n", 2, "", false},
	{"{}\n---\n{}\n", 2, "second document", false},
	{"- a\n", 1, "mapping", true},
}

func TestAFaultIsNamedWithItsLine(t *testing.T) { // C8: other owners than user:<email> are refused when it is saved
	for _, c := range faulty {
		_, err := Parse([]byte(c.text))
		faults, ok := err.(Faults)
		if !ok {
			t.Errorf("%q: %v, want a fault", c.text, err)
			continue
		}
		if faults[0].Line != c.line || !strings.Contains(faults[0].Error(), c.says) {
			t.Errorf("%q: %s, want line %d and %q", c.text, faults[0], c.line, c.says)
		}
	}
}

func TestTheSchemaSaysWhatTheReaderSays(t *testing.T) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("policy.json", document); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("policy.json")
	if err != nil {
		t.Fatal(err)
	}
	valid := func(text string) error {
		var v any
		if err := yaml.Unmarshal([]byte(text), &v); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		return s.Validate(v)
	}
	for _, text := range []string{whole, "{}", "# nothing\n"} {
		if err := valid(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, c := range faulty {
		if c.schema && valid(c.text) == nil {
			t.Errorf("the schema takes %q", c.text)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(whole)
	for _, c := range faulty {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := Parse([]byte(s))
		if err != nil {
			return
		}
		if _, err := detect.NewRules(p); err != nil {
			t.Errorf("%q was read, but does not hold: %v", s, err)
		}
	})
}
