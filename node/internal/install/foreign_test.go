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
				rest, gone, err := f.take(text, homes{})
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
	rest, gone, err := f.take(with[:at]+theirs+with[at:], homes{})
	if err != nil || gone || rest != theirs {
		t.Errorf("gone %v, %v\n%s", gone, err, rest)
	}
}

func TestAHookPutBesideParleysInOneGroupStays(t *testing.T) { // foreign hooks are kept byte for byte
	theirs := `{"type": "command", "command": "/usr/bin/lint --fix", "timeout": 9}`
	for _, agent := range []string{Claude, Codex, Gemini} {
		for _, place := range []func(group string) string{
			func(g string) string { return strings.Replace(g, `"hooks": [`, `"hooks": [`+theirs+", ", 1) },
			func(g string) string { return strings.Replace(g, "}]}", "},\n  "+theirs+"\n]}", 1) },
			func(g string) string { return strings.Replace(g, "}]}", "}, // theirs\n"+theirs+",]}", 1) },
		} {
			o := options("/home/kim")
			f := o.files(agent, nowhere)[0]
			with, err := f.put("", false)
			if err != nil {
				t.Fatal(err)
			}
			at := strings.Index(with, `"matcher": `)
			mixed := with[:at] + place(with[at:])
			if strings.Count(mixed, theirs) != 1 {
				t.Fatalf("%s: %s", agent, mixed)
			}
			again, err := f.put(mixed, true)
			if err != nil || strings.Count(again, theirs) != 1 || strings.Count(again, "parley-hook") != strings.Count(with, "parley-hook") {
				t.Errorf("%s: put again, parley asks %d times: %v\n%s", agent, strings.Count(again, "parley-hook"), err, again)
			}
			moved := o
			moved.Hook = "/opt/bin/parley-hook"
			after, err := moved.files(agent, nowhere)[0].put(again, true)
			if err != nil || strings.Count(after, theirs) != 1 || strings.Contains(after, o.Hook) {
				t.Errorf("%s: another program: %v\n%s", agent, err, after)
			}
			rest, gone, err := f.take(again, homes{})
			if err != nil || gone || strings.Count(rest, theirs) != 1 || strings.Contains(rest, "parley-hook") {
				t.Errorf("%s: gone %v, %v\n%s", agent, gone, err, rest)
			}
			if _, err := parse(rest); err != nil {
				t.Errorf("%s: %v\n%s", agent, err, rest)
			}
			if there, err := moved.files(agent, nowhere)[0].put(rest, true); err != nil {
				t.Errorf("%s: %v", agent, err)
			} else if back, _, err := f.take(there, homes{}); err != nil || back != rest {
				t.Errorf("%s: put and taken once more, %v\n%q\nbecame\n%q", agent, err, rest, back)
			}
		}
	}
}

func TestTrustNamesParleysPlaceInAGroup(t *testing.T) { // Codex knows a hook by where it stands
	o := options("/home/kim")
	f := o.codexFiles(nowhere)[0]
	with, err := f.put("", false)
	if err != nil {
		t.Fatal(err)
	}
	mixed := strings.Replace(with, `"hooks": [{`, `"hooks": [{"type": "command", "command": "x", "timeout": 1}, {`, 1)
	before, err := o.codexTrust(with, f.path)
	if err != nil {
		t.Fatal(err)
	}
	after, err := o.codexTrust(mixed, f.path)
	if err != nil || len(after) != len(before) || !strings.HasSuffix(after[0].key, ":0:1") || after[0].hash != before[0].hash {
		t.Errorf("%v\n%v\n%v", err, before, after)
	}
}
