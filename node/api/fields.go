package api

import (
	"reflect"
	"strings"
)

// views are what the reading verbs of the node print as JSON; of a list, one of its items.
var views = map[string]any{
	"status": Status{}, "inbox": Card{}, "threads": ThreadLine{}, "thread show": Thread{}, "why": Why{}, "log": LogLine{},
	"lane list": Lane{}, "lane show": Lane{}, "kept list": KeptFile{}, "kept show": KeptContent{}, "op log": Operation{},
	"ping": Ping{}, "netcheck": Netcheck{}, "preview": Preview{}, "passkey list": Passkey{},
	"conflicts": Conflict{}, "show": ConflictShown{}, "explain": Explanation{}, "sessions": Session{}, "intents": Intent{},
	"claims check": ClaimsAnswer{}, "briefing": Briefing{}, "messages": Message{}, "watch": LiveEvent{}, "audit": AuditLine{},
	"saved": Saved{}, "agents lines": LinesIn{},
}

// Fields are the names that a reading verb prints with --json, in order; fields below another are written after it in
// braces. None for a verb whose names are not kept here.
func Fields(verb string) []string {
	view, ok := views[verb]
	if !ok {
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
		if f.Anonymous && name == "" {
			names = append(names, fieldsOf(f.Type)...)
			continue
		}
		below := f.Type
		for below.Kind() == reflect.Slice || below.Kind() == reflect.Pointer {
			below = below.Elem()
		}
		if below.Kind() == reflect.Struct && below.PkgPath() == reflect.TypeFor[Conflict]().PkgPath() {
			name += "{" + strings.Join(fieldsOf(below), ",") + "}"
		}
		names = append(names, name)
	}
	return names
}
