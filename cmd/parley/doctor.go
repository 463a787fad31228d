package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
)

// check is one row of the doctor.
type check struct {
	Name string `json:"check"`
	OK   bool   `json:"ok"`
	Code string `json:"code,omitempty"` // of the table of ailments; "" when all is well
	Text string `json:"text"`
	Mend string `json:"mend,omitempty"` // the command that mends a fault
}

// faultsFound is the doctor's own error; its rows have said everything.
type faultsFound int

// Error counts.
func (f faultsFound) Error() string { return many(int(f), "fault") }

func good(name, text string) check { return check{Name: name, OK: true, Text: text} }

// because is the text of an error in one line of a table.
func because(err error) string { return api.Explain(err).Text }

func (a *app) doctor(c *cobra.Command, _ []string) error {
	checks := a.examine(c.Context())
	if err := c.Context().Err(); err != nil {
		return err
	}
	faults := 0
	rows := make([][]string, 0, len(checks))
	for _, x := range checks {
		word := "ok"
		if !x.OK {
			faults++
			word = "fault"
		}
		text := x.Text
		if x.Mend != "" {
			text += ": " + a.here(x.Mend)
		}
		rows = append(rows, []string{word, x.Name, text})
	}
	if a.json {
		if err := a.printJSON(api.List[check](checks)); err != nil {
			return err
		}
	} else {
		table(a.out, "", rows)
	}
	if faults > 0 {
		return faultsFound(faults)
	}
	return nil
}

// examine looks at everything that parley needs. What a fault makes pointless is left out.
func (a *app) examine(ctx context.Context) []check {
	home := a.openHome()
	out := []check{examineGit(ctx)}
	config, err := home.Config()
	if err != nil {
		out = append(out, examineNoHome(home, err), examineGh(ctx, home, node.Default()))
		return append(out, examineDisk(home), examineClock(home))
	}
	out = append(out, examineHome(home), examineGh(ctx, home, config), examineIdentity(home), examineApproval(home, config))
	if len(config.Repositories) == 0 {
		out = append(out, ill("repository-none", "none is set", home.ConfigPath()))
	}
	for _, r := range config.Repositories {
		out = append(out, examineRepository(ctx, home, config, r).about(r.Slug))
	}
	out = append(out, examineDesk(home, config), a.examineService(ctx, home))
	out = append(out, a.examineAgents(ctx, home)...)
	out = append(out, a.examineNode(ctx, home)...)
	return append(out, examinePorts(home, config), examineDisk(home), examineClock(home))
}

// setting is one fact about how this program was built, "" when unknown.
func setting(key string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// build is what `parley version` prints.
type build struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	System  string `json:"system"`
	Commit  string `json:"commit,omitempty"` // that it was built from, "+" behind it when the sources were changed; "" when unknown
}

// line is all of it for a person.
func (b build) line() string {
	line := []string{"parley", b.Version, b.Go, b.System}
	if b.Commit != "" {
		line = append(line, "commit "+b.Commit)
	}
	return strings.Join(line, " ")
}

// commit is what [build] says of one, from the facts about a build.
func commit(setting func(string) string) string {
	if revision := setting("vcs.revision"); revision != "" && setting("vcs.modified") == "true" {
		return revision + "+"
	}
	return setting("vcs.revision")
}

func (a *app) version(*cobra.Command, []string) error {
	b := build{Version: node.Version(), Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH, Commit: commit(setting)}
	if a.json {
		return a.printJSON(b)
	}
	fmt.Fprintln(a.out, b.line())
	return nil
}
