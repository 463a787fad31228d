package install

import (
	"strings"
	"testing"
)

func TestASpoiledTextIsRefusedWithItsLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "line 1: a value is missing",
		"{":                      "line 1: a bracket is not closed",
		"{\n\"a\": 1\n":          "line 3: a bracket is not closed",
		"{\n\"a\" 1}":            "line 2: a colon is missing",
		"{\"a\":1 \"b\":2}":      "line 1: a comma is missing",
		"{,}":                    "line 1: a name is missing",
		"[1,,2]":                 "line 1: a value is missing",
		"{a: 1}":                 "line 1: a name is missing",
		"{\"a\": 'x'}":           "line 1: a value is missing",
		"{} {}":                  "line 1: text after the end",
		"/* {}":                  "line 1: a comment has no end",
		"\"a":                    "line 1: a string has no end",
		"\"\\x\"":                "line 1: a string is spoiled",
		"{\"a\":}":               "line 1: a value is missing",
		"[1 /]":                  "line 1: a comma is missing",
		strings.Repeat("[", 300): "line 1: too deep",
	} {
		if _, err := parse(text); err == nil || err.Error() != want {
			t.Errorf("%.20q: %v, want %s", text, err, want)
		}
	}
}

func TestANameThatStandsTwiceIsRefused(t *testing.T) {
	d, err := open(`{"a": {}, "\u0061": {}}`)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.put([]string{"a"}, false, `"b": 1`); err == nil {
		t.Error("which of them is it?")
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"{}", "{\"a\": [1, /* c */ 2,], // x\n\"b\": {\"c\": null}}", "\ufeff[]", "[\"\\\"\"]", "{\"hooks\": {\"Stop\": [{}]}}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := open(text)
		if err != nil || d.put([]string{"hooks", "Stop"}, true, `{"ours": true}`) != nil {
			return
		}
		ours := func(d *document, i item) bool { return d.text[i.start:i.value.end] == `{"ours": true}` }
		if strings.Contains(text, `{"ours": true}`) {
			return
		}
		if err := d.remove([]spot{{path: []string{"hooks", "Stop"}, array: true, ours: ours}}); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if d.text != text {
			t.Errorf("%q became %q", text, d.text)
		}
	})
}
