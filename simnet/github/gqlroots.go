package github

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// resolvers answer the fields of one type of object.
type resolvers[T object] map[string]func(e *execution, o T, a arguments) (value, error)

func (r resolvers[T]) field(e *execution, o T, name string, a arguments) (value, error) {
	resolve := r[name]
	if resolve == nil {
		return nil, errUnknownField
	}
	return resolve(e, o, a)
}

// record is an object whose fields are all known at once.
type record struct {
	kind   string
	fields map[string]value
}

func (record) isValue()           {}
func (r record) typeName() string { return r.kind }
func (r record) field(_ *execution, name string, _ arguments) (value, error) {
	v, ok := r.fields[name]
	if !ok {
		return nil, errUnknownField
	}
	return v, nil
}

func unresolved(format, name string) *refusal {
	return &refusal{status: http.StatusNotFound, message: fmt.Sprintf(format, name), kind: "NOT_FOUND"}
}

// orNone turns an empty word into null.
func orNone(w string) value {
	if w == "" {
		return nil
	}
	return word(w)
}

func moment(t time.Time) value {
	if t.IsZero() {
		return nil
	}
	return word(t.UTC().Format(time.RFC3339))
}

// orNobody and orNoRepo keep a nil pointer from becoming a value that is not nil.
func orNobody(u *User) value {
	if u == nil {
		return nil
	}
	return u
}

func orNoRepo(r *Repo) value {
	if r == nil {
		return nil
	}
	return r
}

// queryRoot is where a query starts.
type queryRoot struct{}

func (queryRoot) isValue()         {}
func (queryRoot) typeName() string { return "Query" }
func (q queryRoot) field(e *execution, name string, a arguments) (value, error) {
	switch name {
	case "viewer":
		return e.x.user, nil
	case "rateLimit":
		used := number(e.s.used[e.x.user.login()])
		return record{fields: map[string]value{
			"limit": number(hourly), "cost": number(1), "remaining": hourly - used, "used": used,
			"nodeCount": number(100), "resetAt": moment(e.s.Now().Add(time.Hour)),
		}}, nil
	case "__type":
		return e.typeInfo(a.word("name")), nil
	case "user", "organization", "repositoryOwner":
		u := e.s.user(a.word("login"))
		if u == nil || name != "repositoryOwner" && u.Org != (name == "organization") {
			return nil, unresolved("Could not resolve to a User with the login of '%s'.", a.word("login"))
		}
		return u, nil
	case "repository":
		r := e.s.repo(a.word("owner"), a.word("name"))
		if r == nil && a.truth("followRenames") {
			r = e.s.movedRepo(a.word("owner"), a.word("name"))
		}
		if r == nil || r.access(e.x.user) == NoAccess {
			return nil, unresolved("Could not resolve to a Repository with the name '%s'.", a.word("owner")+"/"+a.word("name"))
		}
		return r, nil
	case "node":
		return e.node(a.word("id"))
	case "nodes":
		var all values
		for _, id := range a.words("ids") {
			v, err := e.node(id)
			if err != nil {
				return nil, err
			}
			all = append(all, v)
		}
		return all, nil
	}
	return nil, errUnknownField
}

// node finds what a global id names, among what the caller may see.
func (e *execution) node(id string) (value, error) {
	for _, u := range e.s.users {
		if u.nodeID() == id {
			return u, nil
		}
	}
	for _, r := range e.s.repos {
		if r.access(e.x.user) == NoAccess {
			continue
		}
		if r.nodeID() == id {
			return r, nil
		}
		for _, p := range r.pulls {
			if p.nodeID() == id {
				return p, nil
			}
		}
	}
	return nil, unresolved("Could not resolve to a node with the global id of '%s'", id)
}

// typeInfo answers gh's questions what a type has.
func (e *execution) typeInfo(name string) value {
	d := e.s.schema.Types[name]
	if d == nil {
		return nil
	}
	named := func(name string) value { return record{fields: map[string]value{"name": word(name)}} }
	fields, inputs, words := values{}, values{}, values{}
	for _, f := range d.Fields {
		switch {
		case strings.HasPrefix(f.Name, "__"):
		case d.IsInputType():
			inputs = append(inputs, named(f.Name))
		default:
			fields = append(fields, named(f.Name))
		}
	}
	for _, v := range d.EnumValues {
		words = append(words, named(v.Name))
	}
	return record{fields: map[string]value{
		"name": word(d.Name), "kind": word(string(d.Kind)), "fields": fields, "inputFields": inputs,
		"enumValues": words,
	}}
}

// connection is one page of a list.
type connection struct {
	all      values
	from, to int
	unbound  bool // neither first nor last was given
}

// maxPage is the most nodes GitHub gives at once.
const maxPage = 100

// page cuts a list as its arguments say.
func page(all values, a arguments) (value, error) {
	first, last := a.number("first"), a.number("last")
	if max(first, last) > maxPage {
		return nil, &refusal{message: fmt.Sprintf("Requesting %d records on the connection exceeds the `first` limit of 100 records.",
			max(first, last)), kind: "EXCESSIVE_PAGINATION"}
	}
	c := connection{all: all, to: len(all), unbound: first <= 0 && last <= 0}
	if cursor := a.word("after"); cursor != "" {
		c.from = min(readCursor(cursor), len(all))
	}
	if first > 0 {
		c.to = min(c.from+first, len(all))
	} else {
		c.from = max(c.from, len(all)-last)
	}
	return c, nil
}

func cursor(i int) string {
	return base64.StdEncoding.EncodeToString([]byte("cursor:" + strconv.Itoa(i)))
}

// readCursor takes a foreign cursor for the start of the list.
func readCursor(cursor string) int {
	text, _ := base64.StdEncoding.DecodeString(cursor)
	i, err := strconv.Atoi(strings.TrimPrefix(string(text), "cursor:"))
	if err != nil {
		return 0
	}
	return i
}

func (connection) isValue()         {}
func (connection) typeName() string { return "" }
func (c connection) field(_ *execution, name string, _ arguments) (value, error) {
	if name == "totalCount" {
		return number(len(c.all)), nil
	}
	// GitHub counts a list without a bound, but does not give it.
	if c.unbound {
		return nil, &refusal{
			message: "You must provide a `first` or `last` value to properly paginate the connection.",
			kind:    "MISSING_PAGINATION_BOUNDARIES",
		}
	}
	nodes := c.all[c.from:c.to]
	switch name {
	case "nodes":
		return nodes, nil
	case "edges":
		edges := values{}
		for i, n := range nodes {
			edges = append(edges, record{fields: map[string]value{"node": n, "cursor": word(cursor(c.from + i + 1))}})
		}
		return edges, nil
	case "pageInfo":
		info := map[string]value{"hasNextPage": truth(c.to < len(c.all)), "hasPreviousPage": truth(c.from > 0), "startCursor": nil, "endCursor": nil}
		if len(nodes) > 0 {
			info["startCursor"], info["endCursor"] = word(cursor(c.from+1)), word(cursor(c.to))
		}
		return record{fields: info}, nil
	}
	return nil, errUnknownField
}
