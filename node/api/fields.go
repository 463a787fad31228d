package api

import (
	"cmp"
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
)

// views are what the node answers its reading verbs with; of a list, one of its items.
var views = map[string]any{
	"status": Status{}, "inbox": Card{}, "threads": ThreadLine{}, "thread show": Thread{}, "why": Why{}, "log": LogLine{},
	"lane list": Lane{}, "lane show": Lane{}, "kept list": KeptFile{}, "kept show": KeptContent{}, "op log": Operation{},
	"ping": Ping{}, "netcheck": Netcheck{}, "preview": Preview{}, "passkey list": Passkey{},
	"conflicts": Conflict{}, "show": ConflictShown{}, "explain": Explanation{}, "sessions": Session{}, "intents": Intent{},
	"claims check": ClaimsAnswer{}, "briefing": Briefing{}, "messages": Message{}, "watch": LiveEvent{}, "audit": AuditLine{},
	"saved": Saved{}, "agents lines": LinesIn{},
}

// ViewOf is an example of what a verb of the node answers with; of a list, one of its items. nil for a verb that has no
// view of its own.
func ViewOf(verb string) any { return views[verb] }

// Fields are the names in what the node answers a reading verb with, in order; fields below another are written after
// it in braces. None for a verb whose names are not kept here.
func Fields(verb string) []string { return FieldsOf(views[verb]) }

// FieldsOf is [Fields] of an example. None of nil.
func FieldsOf(view any) []string {
	if view == nil {
		return nil
	}
	return fieldsOf(reflect.TypeOf(view))
}

func fieldsOf(t reflect.Type) (names []string) {
	for f := range t.Fields() {
		if !f.IsExported() || f.Tag.Get("json") == "-" {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		below := f.Type
		for below.Kind() == reflect.Slice || below.Kind() == reflect.Pointer {
			below = below.Elem()
		}
		if f.Anonymous && name == "" {
			names = append(names, fieldsOf(below)...)
			continue
		}
		name = cmp.Or(name, f.Name)
		if below.Kind() == reflect.Struct && !spelled(below) {
			name += "{" + strings.Join(fieldsOf(below), ",") + "}"
		}
		names = append(names, name)
	}
	return names
}

// spelled is a struct that is one word in JSON, such as a time.
func spelled(t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}
