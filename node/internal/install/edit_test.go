package install

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"
)

// foreign draws a JSON text of somebody else: odd spaces, comments, trailing commas.
type foreign struct {
	t  *rapid.T
	nl string
}

func (f foreign) gap() string {
	return f.pick("", "", " ", f.nl, f.nl+"  ", "\t", " // note"+f.nl, "/* c */", f.nl+f.nl+"    ", "//"+f.nl, " // 'a' ,"+f.nl+" ")
}

func (f foreign) pick(all ...string) string { return rapid.SampledFrom(all).Draw(f.t, "pick") }

func (f foreign) value(depth int) string {
	if depth == 0 {
		return f.pick("1", "true", "null", `"a,\"]}"`, "-1.5e3", `"//"`, "{}", "[]")
	}
	switch f.pick("atom", "list", "object") {
	case "list":
		return f.list(depth - 1)
	case "object":
		return f.object(depth-1, nil)
	}
	return f.value(0)
}

func (f foreign) list(depth int) string {
	var b strings.Builder
	b.WriteString("[")
	for i := range rapid.IntRange(0, 3).Draw(f.t, "n") {
		if i > 0 {
			b.WriteString(f.gap() + ",")
		}
		b.WriteString(f.gap() + f.value(depth))
	}
	return f.shut(&b, "]")
}

// shut ends a container, perhaps with a trailing comma.
func (f foreign) shut(b *strings.Builder, end string) string {
	if b.Len() > 1 && rapid.Bool().Draw(f.t, "trailing") {
		b.WriteString(f.gap() + ",")
	}
	b.WriteString(f.gap() + end)
	return b.String()
}

// object draws one with some members of a given form, at any place.
func (f foreign) object(depth int, some map[string]func() string) string {
	var b strings.Builder
	b.WriteString("{")
	var keys []string
	for i := range rapid.IntRange(0, 2).Draw(f.t, "n") {
		keys = append(keys, fmt.Sprint("k", i))
	}
	for _, k := range sortedKeys(some) {
		if rapid.Bool().Draw(f.t, k) {
			keys = append(keys, k)
		}
	}
	if len(keys) > 0 {
		keys = rapid.Permutation(keys).Draw(f.t, "order")
	}
	for i, k := range keys {
		if i > 0 {
			b.WriteString(f.gap() + ",")
		}
		b.WriteString(f.gap() + encode(k) + f.gap() + ":" + f.gap())
		if form := some[k]; form != nil {
			b.WriteString(form())
		} else {
			b.WriteString(f.value(depth))
		}
	}
	return f.shut(&b, "}")
}

// file draws a whole settings file with hooks and servers of others.
func (f foreign) file(events []string) string {
	lists := map[string]func() string{}
	for _, e := range events {
		lists[e] = func() string { return f.list(2) }
	}
	return f.gap() + f.object(2, map[string]func() string{
		"hooks":      func() string { return f.object(1, lists) },
		"mcpServers": func() string { return f.object(2, nil) },
		"mcp":        func() string { return f.object(2, nil) },
		"version":    func() string { return "1" },
	}) + f.gap()
}

func sortedKeys(m map[string]func() string) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	// Draws must not depend on a map's order.
	for i := range out {
		for j := i; j > 0 && out[j] < out[j-1]; j-- {
			out[j], out[j-1] = out[j-1], out[j]
		}
	}
	return out
}
