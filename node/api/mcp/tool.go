package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// spec is what an agent reads of a tool before it uses it. About has the words that agents search for.
type spec struct {
	name, title, about string
	reads              bool                          // changes nothing
	limits             map[string]*jsonschema.Schema // of arguments, beyond their types
}

// resultMax is how many characters a tool answers with; more is paged or cut, and says so.
const resultMax = 8000

// lists keeps a list from being allowed to be null.
var lists = &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[[]string](): {Type: "array", Items: &jsonschema.Schema{Type: "string"}},
}}

// add offers a tool. Arguments that the schema does not know are refused before do is called.
func add[In, Out any](s *Server, t spec, do func(context.Context, In) (Out, error)) {
	schema, err := jsonschema.For[In](lists)
	if err != nil {
		panic(fmt.Sprintf("mcp: schema of %s: %v", t.name, err))
	}
	for name, limit := range t.limits {
		restrict(schema.Properties[name], limit)
	}
	closedWorld := false
	tool := &sdk.Tool{
		Name: t.name, Title: t.title, Description: strings.Join(strings.Fields(t.about), " "), InputSchema: schema,
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: t.reads, Title: t.title, OpenWorldHint: &closedWorld, DestructiveHint: &closedWorld, IdempotentHint: t.reads},
	}
	sdk.AddTool(s.tool, tool, func(ctx context.Context, _ *sdk.CallToolRequest, in In) (*sdk.CallToolResult, any, error) {
		out, err := do(ctx, in)
		if err != nil {
			return nil, nil, s.failed(err)
		}
		text, err := json.Marshal(out)
		if err != nil {
			return nil, nil, err
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(text)}}}, nil, nil
	})
}

// restrict narrows what an argument may be.
func restrict(to, limit *jsonschema.Schema) {
	to.Enum, to.MinLength, to.MaxLength = limit.Enum, limit.MinLength, limit.MaxLength
	to.Minimum, to.Maximum, to.MaxItems = limit.Minimum, limit.Maximum, limit.MaxItems
	if limit.Pattern != "" {
		to.Pattern = limit.Pattern
	}
}

func oneOf(words ...string) *jsonschema.Schema {
	s := &jsonschema.Schema{}
	for _, w := range words {
		s.Enum = append(s.Enum, w)
	}
	return s
}

// between is a length in characters.
func between(least, most int) *jsonschema.Schema {
	return &jsonschema.Schema{MinLength: &least, MaxLength: &most}
}

// count is a whole number between two others.
func count(least, most float64) *jsonschema.Schema {
	return &jsonschema.Schema{Minimum: &least, Maximum: &most}
}

func atMost(items int) *jsonschema.Schema { return &jsonschema.Schema{MaxItems: &items} }

// page is part of a list. Next is where the rest begins, 0 when there is none.
type page[T any] struct {
	Items []T    `json:"items"`
	Total int    `json:"total"`
	Next  int    `json:"next,omitempty"`
	Note  string `json:"note,omitempty"`
}

// paged is as much of a list, from one item on, as a result holds; at least one item of what is left.
func paged[T any](all []T, from int, note string) page[T] {
	p := page[T]{Items: []T{}, Total: len(all), Note: note}
	room := resultMax - 200 - len(note)
	for i := min(max(from, 0), len(all)); i < len(all); i++ {
		text, err := json.Marshal(all[i])
		if err != nil || len(text) > room && len(p.Items) > 0 {
			p.Next = i
			break
		}
		room -= len(text) + 1
		p.Items = append(p.Items, all[i])
	}
	return p
}

// cut shortens what would be too long, and shows that it did.
func cut(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + " …"
	}
	return text
}
