//go:build linux || darwin

package main

import (
	"encoding/json"
	"maps"
	"net/http"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
)

// filled is a value in which nothing is empty, so that nothing is left out of its JSON.
func filled(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		filled(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		filled(v.Index(0))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(1700000000, 0).UTC()))
			return
		}
		for _, field := range v.Fields() {
			if field.CanSet() {
				filled(field)
			}
		}
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64, reflect.Int32:
		v.SetInt(1)
	case reflect.Uint, reflect.Uint64, reflect.Uint32, reflect.Uint8:
		v.SetUint(1)
	case reflect.Float64:
		v.SetFloat(1)
	}
}

// singles are the verbs that answer with one thing and not with a list.
var singles = []string{"status", "thread show", "why", "kept show", "ping", "netcheck", "preview", "show", "explain", "briefing", "saved"}

// answersInFull is a home whose node answers every verb with a value that is filled throughout. alone are the verbs that
// answer with one thing and not with a list.
func answersInFull(t *testing.T, alone []string) node.Home {
	t.Helper()
	home := node.OpenHome(filepath.Join(t.TempDir(), "h"))
	c := node.Default()
	c.Name, c.Demo = "x", true
	if err := home.Init(node.Setup{Config: c, Work: toyWork}); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	for _, v := range api.Verbs {
		view := api.ViewOf(v.Name)
		if view == nil {
			view = printedAs[v.Name]
		}
		if v.Method == "" {
			continue
		}
		if view == nil {
			view = api.Outcome{}
		}
		full := reflect.New(reflect.TypeOf(view))
		filled(full.Elem())
		var more []any
		answer := full.Interface()
		switch x := answer.(type) { // what the command line names
		case *api.Card:
			x.Ref, x.Verb, x.Action = "acme/shop#42", "approve", "push"
			merge := *x
			merge.Action = "merge"
			more = append(more, merge)
		case *api.Lane:
			x.Name = "kim"
		case *api.Passkey:
			x.ID = "id"
		}
		if v.Reads && !slices.Contains(alone, v.Name) {
			answer = append([]any{answer}, more...)
		}
		mux.HandleFunc(v.Method+" "+v.Path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if err := json.NewEncoder(w).Encode(answer); err != nil {
				t.Error(err)
			}
		})
	}
	l, err := api.Listen(home.SocketPath())
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: mux}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Close()
		<-ended
	})
	return home
}

// namesIn are the paths of names in a value of JSON, down to where the documented ones end.
func namesIn(v any, at string, documented map[string]bool, into map[string]bool) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			namesIn(x, at, documented, into)
		}
	case map[string]any:
		for name, x := range v {
			into[at+name] = true
			if slices.ContainsFunc(slices.Collect(maps.Keys(documented)), func(d string) bool { return strings.HasPrefix(d, at+name+".") }) {
				namesIn(x, at+name+".", documented, into)
			}
		}
	}
}

// paths are documented fields as paths.
func paths(fields []string) map[string]bool {
	out := map[string]bool{}
	var above []string
	name := ""
	end := func() {
		if name != "" {
			out[strings.Join(append(above[:len(above):len(above)], name), ".")] = true
		}
		name = ""
	}
	for _, r := range strings.Join(fields, ",") + "," {
		switch r {
		case '{':
			last := name
			end()
			above = append(above, last)
		case '}':
			end()
			above = above[:len(above)-1]
		case ',':
			end()
		default:
			name += string(r)
		}
	}
	return out
}

// withJSON are the commands that print JSON, by their names.
func withJSON(c *cobra.Command) (out []string) {
	if c.Flags().Lookup("json") != nil {
		out = append(out, strings.TrimPrefix(c.CommandPath(), "parley "))
	}
	for _, below := range c.Commands() {
		out = append(out, withJSON(below)...)
	}
	return out
}

func TestEveryCommandPrintsTheFieldsThatItsHelpNames(t *testing.T) {
	root := (&app{}).root()
	home := answersInFull(t, singles)
	args := map[string][]string{
		"thread show": {"x", "--raw"}, "why": {"x"}, "lane show": {"kim"}, "kept show": {"x"}, "ping": {"x", "-c", "1"}, "show": {"x"}, "explain": {"x"},
		"preview": {"acme/shop#42", "push"}, "claims check": {"x"}, "intent declare": {"x", "--path", "x"}, "message send": {"x"}, "respond": {"x", "wait"},
		"intent update": {"--task", "x"}, "agents check": {"claude"},
	}
	elsewhere := map[string]string{ // why a command is not run here
		"check": "wants a repository: the scripts run it", "service status": "wants a service manager", "fsck": "wants a home that no node holds",
		"watch": "never ends", "doctor": "looks at this machine",
	}
	absent := map[string]string{"version": "commit", "notices show": "snoozed"} // of a test's program, of a new home
	for _, name := range withJSON(root) {
		c, _, err := root.Find(strings.Fields(name))
		if err != nil {
			t.Fatal(err)
		}
		documented := paths(jsonFields(name))
		if len(documented) == 0 || !strings.Contains(c.Long, "JSON fields:") {
			t.Errorf("%s: its help names no fields", name)
			continue
		}
		if elsewhere[name] != "" {
			continue
		}
		var status int
		line := slices.Concat([]string{"--home", home.Dir}, strings.Fields(name), args[name], []string{"--json"})
		out, notes := printed(t, func(a *app) { status = run(t.Context(), line, a.streams) })
		var v any
		if err := json.NewDecoder(strings.NewReader(out)).Decode(&v); err != nil {
			t.Errorf("%s: status %d, %v: %s%s", name, status, err, out, notes)
			continue
		}
		got := map[string]bool{}
		namesIn(v, "", documented, got)
		for _, field := range slices.Sorted(maps.Keys(got)) {
			if !documented[field] {
				t.Errorf("%s prints %s, of which its help says nothing", name, field)
			}
		}
		for _, field := range slices.Sorted(maps.Keys(documented)) {
			if !got[field] && absent[name] != field {
				t.Errorf("%s: its help names %s, which is not printed", name, field)
			}
		}
	}
}
