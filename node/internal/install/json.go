package install

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// entry is one item that parley puts into a JSON file.
type entry struct {
	spot
	text string // the item, in one line
	// lone: the name in front of it may be there already and then stays as it is.
	lone bool
}

// jsonFile is a file that holds some entries.
func jsonFile(path, what string, entries []entry) file {
	return file{
		path: path, what: what,
		put:  func(text string, exists bool) (string, error) { return putEntries(text, exists, entries) },
		take: func(text string, of homes) (string, bool, error) { return takeEntries(text, entries, of) },
	}
}

func putEntries(text string, exists bool, entries []entry) (string, error) {
	d := create()
	if exists {
		var err error
		if d, err = open(text); err != nil {
			return "", err
		}
	}
	whole := exists
	for _, e := range entries {
		ok, err := d.holds(e)
		if err != nil {
			return "", err
		}
		whole = whole && ok
	}
	if whole {
		return text, nil
	}
	if err := d.remove(spots(entries)); err != nil {
		return "", err
	}
	for _, e := range entries {
		if e.lone {
			if _, there, err := d.named(e); err != nil || there {
				if err != nil {
					return "", err
				}
				continue
			}
		}
		if err := d.put(e.path, e.array, e.text); err != nil {
			return "", err
		}
	}
	return d.text, nil
}

func takeEntries(text string, entries []entry, of homes) (string, bool, error) {
	d, err := open(text)
	if err != nil {
		return "", false, err
	}
	d.of, d.take = of, true
	made := d.root.made()
	if err := d.remove(spots(entries)); err != nil {
		return "", false, err
	}
	return d.text, made && strings.TrimSpace(d.text) == "{}", nil
}

func spots(entries []entry) []spot {
	var out []spot
	for _, e := range entries {
		out = append(out, e.spot)
	}
	return out
}

// named is the member that an entry of an object would stand beside.
func (d *document) named(e entry) (item, bool, error) {
	c, err := d.at(e.path)
	if err != nil || c == nil || e.array {
		return item{}, false, err
	}
	key, _, _ := strings.Cut(e.text, ":")
	i := slices.IndexFunc(c.items, func(i item) bool { return encode(i.key) == strings.TrimSpace(key) })
	if i < 0 {
		return item{}, false, nil
	}
	return c.items[i], true, nil
}

// holds reports whether an entry is there, once and as it should be. The name of an object's member that belongs
// to somebody else is an error.
func (d *document) holds(e entry) (bool, error) {
	c, err := d.at(e.path)
	if err != nil || c == nil {
		return false, err
	}
	if i, there, err := d.named(e); err != nil {
		return false, err
	} else if there && !e.ours(d, i) {
		if e.lone {
			return true, nil
		}
		return false, fmt.Errorf("%s is there already and is not parley's", strings.Join(append(slices.Clone(e.path), i.key), "."))
	}
	found := 0
	for _, i := range c.items {
		if e.ours(d, i) {
			found++
			if !same(d.text[i.start:i.value.end], e.text) {
				return false, nil
			}
		}
		for _, at := range e.among(d, i) {
			found++
			if !same(alone(d, i, at), e.text) {
				return false, nil
			}
		}
	}
	return found == 1, nil
}

// alone is a group with one of its handlers and none of the others.
func alone(d *document, group item, at int) string {
	list, err := group.value.member("hooks")
	if err != nil {
		return ""
	}
	first, last := list.items[0].start, list.items[len(list.items)-1].value.end
	it := list.items[at]
	return d.text[group.start:first] + d.text[it.start:it.value.end] + d.text[last:group.value.end]
}

// same reports whether two items mean the same; agents write their files anew with other spaces.
func same(a, b string) bool {
	if a == b {
		return true
	}
	read := func(s string) (v any, ok bool) {
		if strings.HasPrefix(s, `"`) {
			s = "{" + s + "}"
		}
		return v, json.Unmarshal([]byte(s), &v) == nil
	}
	x, okX := read(a)
	y, okY := read(b)
	return okX && okY && reflect.DeepEqual(x, y)
}

// hookForm is a command line whose program is the hook, whatever its directory; the rest is the agent and the home.
var hookForm = regexp.MustCompile(`^(?:['"].*[/\\]|[^ ]*[/\\])?parley-hook(?:\.exe)?['"]?(?:$| (?:[a-z0-9-]+ )?(.*)$)`)

// isHook tells a handler of parley: a command that is the hook, and asks a home that is meant.
func isHook(d *document, n *node) bool {
	var h struct {
		Command string
		Args    []string
	}
	if json.Unmarshal([]byte(d.text[n.start:n.end]), &h) != nil {
		return false
	}
	found := hookForm.FindStringSubmatch(h.Command)
	if found == nil {
		return false
	}
	home := unquoted(found[1])
	if len(h.Args) > 0 {
		home = h.Args[len(h.Args)-1]
	}
	return d.of.has(home)
}

// others reports whether hooks stand there that ask a home which is not meant.
func (d *document) others() bool {
	every := *d
	every.of = homes{own: d.of.own}
	hooks, err := d.root.member("hooks")
	if err != nil || hooks == nil || hooks.kind != '{' {
		return false
	}
	return slices.ContainsFunc(hooks.items, func(list item) bool {
		return slices.ContainsFunc(list.value.items, func(i item) bool { return isHook(&every, i.value) && !isHook(d, i.value) })
	})
}

// isHandler tells parley's handlers in a list of them.
func isHandler(d *document, i item) bool { return isHook(d, i.value) }

// handlers are those of a group: where parley's stand, and how many there are in all.
func handlers(d *document, i item) (ours []int, all int) {
	if i.value.kind != '{' {
		return nil, 0
	}
	list, err := i.value.member("hooks")
	if err != nil || list == nil || list.kind != '[' {
		return nil, 0
	}
	for at, h := range list.items {
		if isHook(d, h.value) {
			ours = append(ours, at)
		}
	}
	return ours, len(list.items)
}

// isGroup tells parley's groups in a list of groups: all their handlers are parley's.
func isGroup(d *document, i item) bool {
	ours, all := handlers(d, i)
	return len(ours) == all && all > 0
}

// inGroup tells parley's handlers in a group that has others as well: somebody put theirs beside parley's.
func inGroup(d *document, i item) []int {
	ours, all := handlers(d, i)
	if len(ours) == all {
		return nil
	}
	return ours
}

// isServer tells parley's MCP server in an object of servers. Its command is a string, or a list in opencode.
func isServer(d *document, i item) bool {
	if i.key != serverName || i.value.kind != '{' {
		return false
	}
	var s struct {
		Command json.RawMessage
		Args    []string
	}
	if json.Unmarshal([]byte(d.text[i.value.start:i.value.end]), &s) != nil {
		return false
	}
	var program string
	var list []string
	if json.Unmarshal(s.Command, &list) == nil && len(list) > 0 {
		program, s.Args = list[0], list[1:]
	} else if json.Unmarshal(s.Command, &program) != nil {
		return false
	}
	name := program[strings.LastIndexAny(program, `/\`)+1:]
	return (name == "parley" || name == "parley.exe") && d.of.has(d.of.served(s.Args))
}

const serverName = "parley"

// server is the entry of parley's MCP server.
func server(path []string, value string) entry {
	return entry{spot: spot{path: path, ours: isServer}, text: encode(serverName) + ": " + value}
}

// group is the entry of a hook in an agent that has groups of handlers.
func group(event, matcher, handler string) entry {
	text := `{"hooks": [` + handler + `]}`
	if matcher != "" {
		text = `{"matcher": ` + encode(matcher) + `, "hooks": [` + handler + `]}`
	}
	return entry{spot: spot{path: []string{"hooks", event}, array: true, ours: isGroup, within: inGroup}, text: text}
}

func join(dir string, name ...string) string { return filepath.Join(append([]string{dir}, name...)...) }
