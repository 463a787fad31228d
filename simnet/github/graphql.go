package github

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// schemaText is GitHub's own schema, cut to the types the stand-in has.
//
//go:embed schema/github.graphql
var schemaText string

func loadSchema() (*ast.Schema, error) {
	doc, err := parser.ParseSchemas(validator.Prelude, &ast.Source{Name: "github", Input: schemaText})
	if err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	schema, err := validator.ValidateSchemaDocument(doc)
	if err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	return schema, nil
}

// Missing counts the GraphQL fields that were asked for and that the stand-in cannot answer, as Type.field. Each was an error to its caller, never
// null, and a client whose words are all answered leaves this empty.
func (s *Server) Missing() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.missing)
}

// graphql validates a query as GitHub does and executes it.
func (s *Server) graphql(x *exchange) {
	in, ok := decode[struct {
		Query         string
		OperationName string
		Variables     map[string]any
	}](x)
	if !ok {
		return
	}
	query, err := parser.ParseQuery(&ast.Source{Input: in.Query})
	if err != nil {
		x.reply(http.StatusOK, doc{"errors": list{{"message": err.Error()}}})
		return
	}
	if problems := validator.ValidateWithRules(s.schema, query, rules.NewDefaultRules()); len(problems) > 0 {
		x.reply(http.StatusOK, doc{"errors": s.invalidQuery(problems)})
		return
	}
	operation := query.Operations.ForName(in.OperationName)
	if operation == nil {
		x.reply(http.StatusOK, doc{"errors": list{{"message": fmt.Sprintf("No operation named %q", in.OperationName)}}})
		return
	}
	variables, err := validator.VariableValues(s.schema, operation, in.Variables)
	if err != nil {
		x.reply(http.StatusOK, doc{"errors": list{{"message": err.Error()}}})
		return
	}
	e := &execution{s: s, x: x, variables: variables}
	var root object = queryRoot{}
	if operation.Operation == ast.Mutation {
		root = mutationRoot{}
	}
	answer := doc{"data": nil}
	if data, ok := e.selection(root.typeName(), root, operation.SelectionSet, nil); ok {
		answer["data"] = data
	}
	if len(e.errors) > 0 {
		answer["errors"] = e.errors
	}
	x.reply(http.StatusOK, answer)
}

// invalidQuery words what is wrong with a query and counts the fields the cut schema lacks.
func (s *Server) invalidQuery(problems gqlerror.List) list {
	out := list{}
	for _, p := range problems {
		if p.Rule == "FieldsOnCorrectType" || p.Rule == "KnownTypeNames" {
			s.missing[p.Message]++
		}
		where := list{}
		for _, l := range p.Locations {
			where = append(where, doc{"line": l.Line, "column": l.Column})
		}
		out = append(out, doc{"message": p.Message, "locations": where})
	}
	return out
}

// value is what a field resolves to: nil for null, a word, number or truth for a scalar, values for a list, or an object.
type value interface{ isValue() }

type (
	word   string
	number int64
	truth  bool
	values []value
)

func (word) isValue()   {}
func (number) isValue() {}
func (truth) isValue()  {}
func (values) isValue() {}

// object is a value with fields. An empty typeName means the type the field declares.
type object interface {
	value
	typeName() string
	field(e *execution, name string, a arguments) (value, error)
}

// errUnknownField is a field's answer to a name the stand-in does not know.
var errUnknownField = errors.New("unknown field")

// execution is one operation under way.
type execution struct {
	s         *Server
	x         *exchange
	variables map[string]any
	errors    list
}

type path []any

func (p path) then(step string) path { return append(slices.Clip(p), step) }

// problem adds an error for the field at p.
func (e *execution) problem(p path, kind, message string) {
	d := doc{"path": p, "message": message}
	if kind != "" {
		d["type"] = kind
	}
	e.errors = append(e.errors, d)
}

// selection resolves the fields asked of one object; ok is false when one that cannot be null is.
func (e *execution) selection(typeName string, o object, set ast.SelectionSet, at path) (d doc, ok bool) {
	asked := map[string][]*ast.Field{}
	var order []string
	e.collect(typeName, set, func(f *ast.Field) {
		if asked[f.Alias] == nil {
			order = append(order, f.Alias)
		}
		asked[f.Alias] = append(asked[f.Alias], f)
	})
	d = doc{}
	for _, alias := range order {
		fields := asked[alias]
		if fields[0].Name == "__typename" {
			d[alias] = typeName
			continue
		}
		here, told := at.then(alias), len(e.errors)
		v := e.resolve(typeName, o, fields[0], here)
		if d[alias], ok = e.complete(fields[0].Definition.Type, v, fields, here); !ok {
			if len(e.errors) == told {
				e.problem(here, "INTERNAL", "null for a field that cannot be null")
			}
			return nil, false
		}
	}
	return d, true
}

// collect goes through the fields that apply to a type, into the fragments that do.
func (e *execution) collect(typeName string, set ast.SelectionSet, each func(*ast.Field)) {
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			if !e.skipped(s.Directives) {
				each(s)
			}
		case *ast.InlineFragment:
			if !e.skipped(s.Directives) && e.applies(typeName, s.TypeCondition) {
				e.collect(typeName, s.SelectionSet, each)
			}
		case *ast.FragmentSpread:
			if !e.skipped(s.Directives) && e.applies(typeName, s.Definition.TypeCondition) {
				e.collect(typeName, s.Definition.SelectionSet, each)
			}
		}
	}
}

func (e *execution) skipped(directives ast.DirectiveList) bool {
	for _, d := range directives {
		condition, _ := d.ArgumentMap(e.variables)["if"].(bool)
		if d.Name == "skip" && condition || d.Name == "include" && !condition {
			return true
		}
	}
	return false
}

func (e *execution) applies(typeName, condition string) bool {
	return condition == "" || condition == typeName || slices.ContainsFunc(e.s.schema.PossibleTypes[condition],
		func(d *ast.Definition) bool { return d.Name == typeName })
}

// resolve asks the object. An error of any kind becomes null and a line in the errors.
func (e *execution) resolve(typeName string, o object, f *ast.Field, at path) value {
	v, err := o.field(e, f.Name, arguments(f.ArgumentMap(e.variables)))
	no, refused := errors.AsType[*refusal](err)
	switch {
	case err == nil:
		return v
	case errors.Is(err, errUnknownField):
		name := typeName + "." + f.Name
		e.s.missing[name]++
		e.problem(at, "STAND_IN", "the stand-in does not know "+name)
	case refused:
		e.problem(at, no.kind, no.message)
	default:
		e.problem(at, "INTERNAL", err.Error())
	}
	return nil
}

// complete turns a value into JSON of the declared type.
func (e *execution) complete(t *ast.Type, v value, fields []*ast.Field, at path) (out any, ok bool) {
	switch v := v.(type) {
	case nil:
		return nil, !t.NonNull
	case values:
		all := make([]any, len(v))
		for i, item := range v {
			if all[i], ok = e.complete(t.Elem, item, fields, append(slices.Clip(at), i)); !ok {
				return nil, !t.NonNull
			}
		}
		return all, true
	case object:
		name := v.typeName()
		if name == "" {
			name = t.Name()
		}
		var set ast.SelectionSet
		for _, f := range fields {
			set = append(set, f.SelectionSet...)
		}
		d, ok := e.selection(name, v, set, at)
		if !ok {
			return nil, !t.NonNull
		}
		return d, true
	}
	return e.scalar(t, v, at)
}

// scalar lets a word of an enumeration through only when the schema has it.
func (e *execution) scalar(t *ast.Type, v value, at path) (out any, ok bool) {
	d := e.s.schema.Types[t.Name()]
	if w, isWord := v.(word); isWord && d.Kind == ast.Enum && d.EnumValues.ForName(string(w)) == nil {
		e.problem(at, "INTERNAL", fmt.Sprintf("%s is no %s", w, d.Name))
		return nil, !t.NonNull
	}
	return v, true
}

// arguments are those of one field, variables filled in. What is absent or null is the zero value.
type arguments map[string]any

func (a arguments) word(name string) string {
	w, _ := a[name].(string)
	return w
}

func (a arguments) number(name string) int {
	switch n := a[name].(type) {
	case int64:
		return int(n)
	case float64:
		return int(n)
	case json.Number:
		i, _ := n.Int64()
		return int(i)
	}
	return 0
}

// words reads a list, or the single word that stands for a list of one.
func (a arguments) words(name string) []string {
	switch v := a[name].(type) {
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, w := range v {
			if w, ok := w.(string); ok {
				out = append(out, w)
			}
		}
		return out
	}
	return nil
}

func (a arguments) truth(name string) bool {
	t, _ := a[name].(bool)
	return t
}

// input reads an argument that is an object.
func (a arguments) input(name string) arguments {
	in, _ := a[name].(map[string]any)
	return in
}
