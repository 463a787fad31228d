package install

import (
	"strings"
	"testing"
)

func TestWhatCodexWritesBetweenTheMarksIsKept(t *testing.T) {
	theirs := "\n# mine\n[projects.\"/home/kim/shop\"]\ntrust_level = \"trusted\"\n\n[mcp_servers.other]\ncommand = \"x\"\nargs = [\n  \"a\",\n]\n"
	for _, before := range []string{"", "model = \"o\"\n", "model = \"o\""} {
		for _, trust := range []bool{false, true} {
			o := options("/home/kim")
			o.Trust = trust
			f := o.codexFiles(nowhere)[1]
			with, err := f.put(before, before != "")
			if err != nil {
				t.Fatal(err)
			}
			// Codex adds its tables behind the last one: before the mark, which is the end of the text.
			at := strings.Index(with, blockTo)
			spread := with[:at] + theirs + with[at:]
			again, err := f.put(spread, true)
			if err != nil || !strings.Contains(again, strings.TrimSpace(theirs)) || strings.Index(again, "[projects.") < strings.Index(again, blockTo) {
				t.Errorf("put again: %v\n%s", err, again)
			}
			if twice, err := f.put(again, true); err != nil || twice != again {
				t.Errorf("put a third time: %v\n%s", err, twice)
			}
			for _, text := range []string{spread, again} {
				rest, gone, err := f.take(text)
				want := before
				if want != "" && !strings.HasSuffix(want, "\n") {
					want += "\n"
				}
				if want += theirs; err != nil || gone || rest != want {
					t.Errorf("take: gone %v, %v\n%q\nwant\n%q", gone, err, rest, want)
				}
				if _, err := o.TOML([]byte(rest)); err != nil {
					t.Errorf("what is left cannot be read: %v\n%s", err, rest)
				}
			}
		}
	}
}

func TestTrustThatCodexWroteForOtherHooksIsKept(t *testing.T) {
	o := options("/home/kim")
	o.Trust = true
	f := o.codexFiles(nowhere)[1]
	with, err := f.put("", false)
	if err != nil {
		t.Fatal(err)
	}
	theirs := "\n[hooks.state.\"/home/kim/.codex/hooks.json:pre_tool_use:7:0\"]\ntrusted_hash = \"sha256:theirs\"\n"
	at := strings.Index(with, blockTo)
	rest, gone, err := f.take(with[:at] + theirs + with[at:])
	if err != nil || gone || rest != theirs {
		t.Errorf("gone %v, %v\n%s", gone, err, rest)
	}
}
