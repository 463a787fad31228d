// Package policy reads .parley/policy.yaml. It is strict: a key that it does not know, a value of another kind, a
// second line for the same key is a fault with its line, and a policy with a fault is none.
package policy

import (
	_ "embed" // the schema
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/parley-mesh/parley/detect"
)

//go:embed policy.schema.json
var schema []byte

// Schema is the JSON schema of the file, for editors.
func Schema() []byte { return slices.Clone(schema) }

// sizeMax bounds the file, in bytes.
const sizeMax = 256 << 10

// Fault is one thing that is wrong in a policy file.
type Fault struct {
	Line int    `json:"line"` // from 1
	Key  string `json:"key"`  // "" for the file as a whole
	Text string `json:"text"`
}

// Error names the line first.
func (f Fault) Error() string {
	if f.Key == "" {
		return fmt.Sprintf("line %d: %s", f.Line, f.Text)
	}
	return fmt.Sprintf("line %d: %s: %s", f.Line, f.Key, f.Text)
}

// Faults is everything that is wrong in a policy file, by line.
type Faults []Fault

// Error is the first one, and how many there are.
func (f Faults) Error() string {
	if len(f) == 1 {
		return f[0].Error()
	}
	return fmt.Sprintf("%s (and %d more)", f[0], len(f)-1)
}

// Parse reads a policy. What the file leaves out is as [detect.DefaultPolicy] has it. An error is of type [Faults].
func Parse(content []byte) (*detect.Policy, error) {
	r := &reader{lines: map[string]int{}, policy: detect.DefaultPolicy()}
	if len(content) > sizeMax {
		return nil, Faults{{1, "", fmt.Sprintf("the file is larger than %d KB", sizeMax>>10)}}
	}
	r.document(content)
	read := slices.Clone(r.faults)
	for _, p := range r.policy.Validate() {
		said := slices.ContainsFunc(read, func(f Fault) bool { return strings.HasPrefix(p.Key, f.Key) && f.Key != "" })
		if line := r.lineOf(p.Key); !said && line > 0 {
			r.faults = append(r.faults, Fault{line, p.Key, p.Text})
		}
	}
	if len(r.faults) > 0 {
		slices.SortStableFunc(r.faults, func(a, b Fault) int { return a.Line - b.Line })
		return nil, r.faults
	}
	return r.policy, nil
}

// lineOf is the line of a key, or, where what is asked for is missing, of what it is missing in; 0 for what the file
// does not speak of.
func (r *reader) lineOf(key string) int {
	for key != "" && r.lines[key] == 0 {
		key = key[:max(strings.LastIndexAny(key, ".["), 0)]
	}
	return r.lines[key]
}

// reader walks the nodes of one file.
type reader struct {
	policy *detect.Policy
	lines  map[string]int // of each key
	faults Faults
}

func (r *reader) fault(n *yaml.Node, key, format string, args ...any) {
	r.faults = append(r.faults, Fault{max(1, n.Line), key, fmt.Sprintf(format, args...)})
}

func (r *reader) document(content []byte) {
	var root, second yaml.Node
	d := yaml.NewDecoder(strings.NewReader(string(content)))
	err := d.Decode(&root)
	switch {
	case errors.Is(err, io.EOF):
		return // an empty policy says nothing
	case err != nil:
		line, text := yamlFault(err)
		r.faults = append(r.faults, Fault{line, "", text})
		return
	case !errors.Is(d.Decode(&second), io.EOF):
		r.fault(&second, "", "the file has a second document")
		return
	}
	if len(root.Content) == 1 && root.Content[0].Tag != "!!null" {
		r.top(root.Content[0])
	}
}

// yamlFault finds the line in what the library says.
func yamlFault(err error) (line int, text string) {
	text = strings.TrimPrefix(err.Error(), "yaml: ")
	if load, ok := errors.AsType[*yaml.LoadError](err); ok && load.Mark.Line > 0 {
		return load.Mark.Line, load.Message
	}
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		number, rest, _ := strings.Cut(rest, ":")
		if n, err := strconv.Atoi(number); err == nil {
			return n, strings.TrimSpace(rest)
		}
	}
	return 1, text
}

// field reads the value of one key.
type field struct {
	name string
	read func(n *yaml.Node, key string)
}

func (r *reader) top(n *yaml.Node) {
	p := r.policy
	r.mapping(n, "", []field{
		{"severity", r.severity},
		{"block_min_confidence", r.confidence},
		{"protected_paths", r.protected},
		{"ignore_paths", r.texts(&p.IgnorePaths)},
		{"exclusive_by_default", r.texts(&p.ExclusiveByDefault)},
		{"exclusive_max_files", r.number(&p.ExclusiveMaxFiles)},
		{"block_contract_break_when_criticality", r.texts(&p.BlockContractBreakWhenCriticality)},
		{"override", r.override},
		{"cross_repo_contracts", r.truth(&p.CrossRepoContracts)},
		{"projects", r.projects},
		{"members", r.members},
		{"criticality", r.criticality},
	})
}

// pairs walks a mapping, and refuses what is none, names that are no text, and a name that comes twice.
func (r *reader) pairs(n *yaml.Node, key string, each func(name, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		r.fault(n, key, "it is a mapping of names to values")
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		switch {
		case name.Kind != yaml.ScalarNode || name.Tag == "!!merge":
			r.fault(name, key, "a name is a plain text")
		case seen[name.Value]:
			r.fault(name, join(key, name.Value), "it is there twice")
		default:
			seen[name.Value] = true
			r.lines[join(key, name.Value)] = name.Line
			each(name, value)
		}
	}
}

func (r *reader) mapping(n *yaml.Node, key string, fields []field) {
	r.pairs(n, key, func(name, value *yaml.Node) {
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == name.Value })
		if i < 0 {
			var names []string
			for _, f := range fields {
				names = append(names, f.name)
			}
			r.fault(name, join(key, name.Value), "there is no such key; there are %s", strings.Join(names, ", "))
			return
		}
		fields[i].read(value, join(key, name.Value))
	})
}

func join(key, name string) string {
	if key == "" {
		return name
	}
	return key + "." + name
}

// items walks a list.
func (r *reader) items(n *yaml.Node, key string, each func(n *yaml.Node, key string)) {
	if n.Kind != yaml.SequenceNode {
		r.fault(n, key, "it is a list")
		return
	}
	for i, item := range n.Content {
		k := fmt.Sprintf("%s[%d]", key, i)
		r.lines[k] = item.Line
		each(item, k)
	}
}

// text is a value that stands for itself. An alias stands for something else, and is refused.
func (r *reader) text(n *yaml.Node, key string) string {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" {
		r.fault(n, key, "it is a text")
		return ""
	}
	return n.Value
}

func (r *reader) texts(to *[]string) func(*yaml.Node, string) {
	return func(n *yaml.Node, key string) {
		*to = nil
		r.items(n, key, func(n *yaml.Node, key string) { *to = append(*to, r.text(n, key)) })
	}
}

func (r *reader) number(to *int) func(*yaml.Node, string) {
	return func(n *yaml.Node, key string) {
		v, err := strconv.Atoi(n.Value)
		if n.Kind != yaml.ScalarNode || err != nil {
			r.fault(n, key, "it is a whole number")
		}
		*to = v
	}
}

func (r *reader) truth(to *bool) func(*yaml.Node, string) {
	return func(n *yaml.Node, key string) {
		if n.Kind != yaml.ScalarNode || n.Value != "true" && n.Value != "false" {
			r.fault(n, key, "it is true or false")
		}
		*to = n.Value == "true"
	}
}

func (r *reader) confidence(n *yaml.Node, key string) {
	v, err := strconv.ParseFloat(n.Value, 64)
	hundredths := math.Round(v * 100)
	if n.Kind != yaml.ScalarNode || err != nil || !(v >= 0 && v <= 1) || math.Abs(hundredths-v*100) > 1e-9 {
		r.fault(n, key, "it is a number between 0 and 1 with at most two decimals")
		return
	}
	r.policy.BlockMinConfidence = detect.Confidence(hundredths)
}

func (r *reader) severity(n *yaml.Node, key string) {
	r.pairs(n, key, func(name, value *yaml.Node) {
		k := join(key, name.Value)
		s, ok := detect.ParseSeverity(r.text(value, k))
		switch kind := detect.Kind(name.Value); {
		case !slices.Contains(detect.Kinds, kind):
			r.fault(name, k, "there is no such kind of conflict; there are %s", kindNames())
		case !ok:
			r.fault(value, k, "%q is none of info, warn, block", value.Value)
		default:
			r.policy.Severity[kind] = s
		}
	})
}

func kindNames() string {
	var names []string
	for _, k := range detect.Kinds {
		names = append(names, string(k))
	}
	return strings.Join(names, ", ")
}

func (r *reader) protected(n *yaml.Node, key string) {
	r.items(n, key, func(n *yaml.Node, key string) {
		var rule detect.Protected
		r.mapping(n, key, []field{
			{"path", func(n *yaml.Node, key string) { rule.Path = r.text(n, key) }},
			{"owners", r.texts(&rule.Owners)},
		})
		if rule.Path == "" {
			r.fault(n, key, "it has no path")
		}
		r.policy.ProtectedPaths = append(r.policy.ProtectedPaths, rule)
	})
}

func (r *reader) override(n *yaml.Node, key string) {
	o := &r.policy.Override
	r.mapping(n, key, []field{{"allowed_roles", r.texts(&o.AllowedRoles)}, {"require_reason", r.truth(&o.RequireReason)}})
}

func (r *reader) projects(n *yaml.Node, key string) {
	r.pairs(n, key, func(name, value *yaml.Node) {
		project := detect.Project{Name: name.Value}
		r.texts(&project.Repos)(value, join(key, name.Value))
		r.policy.Projects = append(r.policy.Projects, project)
	})
	slices.SortFunc(r.policy.Projects, func(a, b detect.Project) int { return strings.Compare(a.Name, b.Name) })
}

func (r *reader) members(n *yaml.Node, key string) {
	r.pairs(n, key, func(name, value *yaml.Node) {
		r.policy.Members = append(r.policy.Members, detect.Member{User: name.Value, Role: r.text(value, join(key, name.Value))})
	})
	slices.SortFunc(r.policy.Members, func(a, b detect.Member) int { return strings.Compare(a.User, b.User) })
}

func (r *reader) criticality(n *yaml.Node, key string) {
	r.items(n, key, func(n *yaml.Node, key string) {
		var c detect.Criticality
		r.mapping(n, key, []field{
			{"contract", func(n *yaml.Node, key string) { c.Contract = r.text(n, key) }},
			{"is", func(n *yaml.Node, key string) { c.Level = r.text(n, key) }},
		})
		r.policy.Criticality = append(r.policy.Criticality, c)
	})
}
