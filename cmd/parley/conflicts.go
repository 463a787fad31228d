package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-mesh/parley/node/api"
)

// fillConflicts gives the commands about conflicts of live work what they do; false for another verb.
func (a *app) fillConflicts(v api.Verb, c *cobra.Command) bool {
	switch v.Name {
	case "conflicts":
		a.conflictsCommand(c)
	case "show":
		c.Use, c.Args, c.RunE = "show REF", arguments("REF"), a.showConflict
	case "explain":
		c.Use, c.Args, c.RunE = "explain REF", arguments("REF"), a.explainConflict
	case "respond":
		a.respondCommand(c)
	case "override":
		a.overrideCommand(c)
	case "feedback":
		a.feedbackCommand(c)
	default:
		return false
	}
	return true
}

// asking does something with the running node.
func (a *app) asking(do func(*api.Client) error) error {
	_, client, err := a.running()
	if err != nil {
		return err
	}
	return errors.Join(do(client), client.Close())
}

// who adds the flag that says for which session a command is, and returns what it comes to.
func who(c *cobra.Command) func() api.Caller {
	session := c.Flags().String("session", "", "for this session: INT-…, S-…, or the agent's own name of it (default: the one of this checkout)")
	return func() api.Caller { return thisCaller(*session) }
}

// thisCaller is the session of a flag, or the one that this process belongs to.
func thisCaller(session string) api.Caller {
	cwd, _ := os.Getwd() // without one, the node asks for the session
	return api.Caller{Session: cmp.Or(session, os.Getenv("PARLEY_SESSION"), os.Getenv("CLAUDE_CODE_SESSION_ID")), Cwd: cwd}
}

func (a *app) jsonFlag(c *cobra.Command) {
	a.jsonFlags(c)
}

func repository(c *cobra.Command) *string {
	return c.Flags().String("repo", "", "of this repository only (owner/name)")
}

func (a *app) conflictsCommand(c *cobra.Command) {
	var q api.ConflictQuery
	c.Flags().StringVar(&q.Repository, "repo", "", "of this repository only (owner/name)")
	c.Flags().StringVar(&q.Side, "side", "", "of this side only: INT-… or S-…")
	c.Flags().BoolVar(&q.All, "all", false, "closed ones too")
	c.RunE = func(c *cobra.Command, _ []string) error {
		return a.asking(func(client *api.Client) error {
			all, err := client.Conflicts(c.Context(), q)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(api.List[api.Conflict](all))
			}
			if len(all) == 0 {
				fmt.Fprintln(a.out, "Nothing conflicts.")
				return nil
			}
			a.printConflicts(all, time.Now())
			return nil
		})
	}
}

func (a *app) printConflicts(all []api.Conflict, now time.Time) {
	rows := [][]string{{"CONFLICT", "KIND", "SEVERITY", "STATUS", "SIDES", "ABOUT", "SINCE"}}
	for _, c := range all {
		rows = append(rows, []string{c.Ref, c.Kind, loud(c), c.Status, sideNames(c), few(c.About), ago(c.Since, now)})
	}
	table(a.out, "", rows)
	for _, c := range all {
		if c.Tuned != "" {
			a.note("%s is listed late: %s", c.Ref, c.Tuned)
		}
	}
}

// loud is a severity with who has to wait.
func loud(c api.Conflict) string {
	if c.Blocking && c.Blocked != "" {
		return c.Severity + ": " + c.Blocked + " waits"
	}
	return c.Severity
}

func sideNames(c api.Conflict) string {
	var names []string
	for _, s := range c.Sides {
		name := s.Ref
		if whose := cmp.Or(s.Developer, s.Computer); whose != "" {
			name += " (" + whose + ")"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// few is the first of a list, and how many more there are.
func few(all []string) string {
	switch len(all) {
	case 0:
		return "-"
	case 1:
		return all[0]
	}
	return fmt.Sprintf("%s and %d more", all[0], len(all)-1)
}

func (a *app) showConflict(c *cobra.Command, args []string) error {
	return a.asking(func(client *api.Client) error {
		shown, err := client.Conflict(c.Context(), args[0])
		if err != nil {
			return err
		}
		if a.json {
			return a.printJSON(shown)
		}
		a.printConflict(shown, time.Now())
		return nil
	})
}

func (a *app) printConflict(c api.ConflictShown, now time.Time) {
	a.printHead(c.Conflict, now)
	if c.Suggestion != "" {
		fmt.Fprintf(a.out, "\nSuggestion: %s\n", oneLine(c.Suggestion))
	}
	rows := [][]string{{"SIDE", "DEVELOPER", "AGENT", "BRANCH", "WHERE", "STATE"}}
	for _, s := range c.Sides {
		rows = append(rows, []string{s.Ref, orDash(s.Developer), workerName(s.Kind, s.Agent), orDash(s.Branch), sideWhere(s), sideState(c.Conflict, s)})
	}
	fmt.Fprintln(a.out)
	table(a.out, "", rows)
	a.printLines(c.Lines)
	if rows := history(c); len(rows) > 0 {
		fmt.Fprintln(a.out)
		table(a.out, "", rows)
	}
}

// history is what became of a conflict, oldest first.
func history(c api.ConflictShown) (rows [][]string) {
	turns, acts := c.Turns, c.Acts
	for len(turns)+len(acts) > 0 {
		if len(acts) == 0 || len(turns) > 0 && !acts[0].At.Before(turns[0].At) {
			rows = append(rows, []string{clock(turns[0].At), "", turns[0].State, turns[0].Severity})
			turns = turns[1:]
			continue
		}
		rows = append(rows, []string{clock(acts[0].At), acts[0].Who, acts[0].Action, said(acts[0].Note)})
		acts = acts[1:]
	}
	return rows
}

// printLines quotes what sides have changed, each line behind a bar.
func (a *app) printLines(all []api.ConflictLines) {
	for _, q := range all {
		fmt.Fprintf(a.out, "\n%s has in %s on %s:\n", oneLine(q.Side), oneLine(q.Path), oneLine(q.Computer))
		for i, line := range q.Lines {
			if i > 0 && line.Number != q.Lines[i-1].Number+1 {
				fmt.Fprintln(a.out, "  |")
			}
			mark := " "
			if line.Changed {
				mark = "+"
			}
			fmt.Fprintf(a.out, "  | %4d %s %s\n", line.Number, mark, oneLine(strings.ReplaceAll(line.Text, "\t", "    ")))
		}
		if q.Cut {
			fmt.Fprintln(a.out, "  | …")
		}
	}
}

func (a *app) printHead(c api.Conflict, now time.Time) {
	fmt.Fprintf(a.out, "%s  %s  %s  %s  since %s\n", a.bold(oneLine(c.Ref)), c.Kind, loud(c), c.Status, ago(c.Since, now))
	fmt.Fprintln(a.out, oneLine(c.Sentence))
	if c.Requested {
		fmt.Fprintln(a.out, "An override was requested (parley override).")
	}
}

// said marks what somebody else wrote.
func said(text string) string {
	if text == "" {
		return ""
	}
	return "“" + text + "”"
}

func clock(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }

func sideWhere(s api.ConflictSide) string {
	switch {
	case s.Here:
		return "this computer"
	case s.Computer != "":
		return s.Computer
	case s.Own:
		return "a computer of yours"
	}
	return "another developer"
}

// workerName is the agent of a side. A session without one is what a person does without any.
func workerName(kind, agent string) string {
	if kind == "session" && agent == "" {
		return "a person"
	}
	return orDash(agent)
}

func sideState(c api.Conflict, s api.ConflictSide) string {
	words := []string{s.State}
	if c.Blocking && c.Blocked == s.Ref {
		words = append(words, "waits")
	}
	if s.Muted {
		words = append(words, "muted")
	}
	return orDash(strings.TrimPrefix(strings.Join(words, ", "), ", "))
}

func (a *app) explainConflict(c *cobra.Command, args []string) error {
	return a.asking(func(client *api.Client) error {
		e, err := client.ExplainConflict(c.Context(), args[0])
		if err != nil {
			return err
		}
		if a.json {
			return a.printJSON(e)
		}
		a.printExplanation(e, time.Now())
		return nil
	})
}

func (a *app) printExplanation(e api.Explanation, now time.Time) {
	a.printHead(e.Conflict, now)
	fmt.Fprintln(a.out)
	rows := [][]string{{"Rule", e.Rule}}
	if e.Evidence != "" { // else it is over
		rows = append(rows, []string{"Evidence", e.Evidence}, []string{"Confidence", fmt.Sprintf("%.2f", e.Confidence)})
	}
	for i, w := range e.Why {
		rows = append(rows, []string{first(i, "Why"), w})
	}
	for i, l := range e.Policy {
		rows = append(rows, []string{first(i, "Policy"), l.Key + ": " + l.Value + " (" + l.Means + ")"})
	}
	if e.PolicyAt != "" {
		rows = append(rows, []string{"", "of " + e.PolicyAt})
	}
	table(a.out, "", rows)
	if len(e.From) > 0 {
		rows = [][]string{{"SIDE", "PATH", "BASE", "WAS", "IS"}}
		for _, f := range e.From {
			rows = append(rows, []string{f.Side, orDash(f.Path), orDash(short(f.Base)), orDash(short(f.Old)), orDash(short(f.New))})
		}
		fmt.Fprintln(a.out)
		table(a.out, "", rows)
	}
	if !e.CanTell {
		a.note("something could not be read: more may overlap than is known")
	}
}

// first names a row, and leaves the name of those below it out.
func first(i int, name string) string {
	if i > 0 {
		return ""
	}
	return name
}

func (a *app) respondCommand(c *cobra.Command) {
	var r api.Response
	caller := who(c)
	person := c.Flags().Bool("person", false, "it is you who says so, and not an agent: takes your passphrase")
	a.passphraseFlag(c)
	c.Flags().StringVar(&r.Note, "note", "", "a few words to the other side")
	a.jsonFlag(c)
	c.Use, c.Args = "respond REF ACTION", arguments("REF", "ACTION")
	c.RunE = func(c *cobra.Command, args []string) error {
		r.Conflict, r.Action, r.Caller = args[0], args[1], caller()
		if *person {
			return a.respondAs(c, r)
		}
		return a.asking(func(client *api.Client) error {
			out, err := client.Respond(c.Context(), r)
			if err != nil {
				return err
			}
			return a.printAfter(out)
		})
	}
}

// respondAs shows a person the conflict before they say something about it for everybody.
func (a *app) respondAs(c *cobra.Command, r api.Response) error {
	return a.seen(c, r.Conflict, "Passphrase for this: ", func(client *api.Client, seen api.Conflict, by api.Prover) error {
		out, err := client.RespondAs(c.Context(), seen, r, by)
		if err != nil {
			return err
		}
		return a.printAfter(out)
	})
}

// seen lets a person act on the conflict that they are shown.
func (a *app) seen(c *cobra.Command, ref, prompt string, do func(*api.Client, api.Conflict, api.Prover) error) error {
	home, client, err := a.running()
	if err != nil {
		return err
	}
	defer client.Close()
	shown, err := client.Conflict(c.Context(), ref)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.err, "%s: %s\n", shown.Ref, oneLine(shown.Sentence))
	by, err := a.unlock(c.Context(), home, prompt)
	if err != nil {
		return err
	}
	return do(client, shown.Conflict, by)
}

// printAfter is a conflict after somebody acted on it.
func (a *app) printAfter(c api.Conflict) error {
	if a.json {
		return a.printJSON(c)
	}
	_, err := fmt.Fprintf(a.out, "%s is %s.\n", c.Ref, c.Status)
	return err
}

func (a *app) overrideCommand(c *cobra.Command) {
	reason := c.Flags().String("reason", "", fmt.Sprintf("why, in %d to %d characters", api.ReasonMin, api.NoteMax))
	c.Use, c.Args = "override REF", arguments("REF")
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.seen(c, args[0], "Passphrase to let both sides go on: ", func(client *api.Client, seen api.Conflict, by api.Prover) error {
			out, err := client.Override(c.Context(), seen, strings.TrimSpace(*reason), by)
			if err == nil {
				a.tell(out)
			}
			return err
		})
	}
}

func (a *app) feedbackCommand(c *cobra.Command) {
	var v api.Verdict
	caller := who(c)
	c.Flags().StringVar(&v.Note, "note", "", "why")
	c.Use, c.Args = "feedback REF VERDICT", arguments("REF", "VERDICT")
	c.RunE = func(c *cobra.Command, args []string) error {
		v.Conflict, v.Verdict, v.Caller = args[0], args[1], caller()
		return a.act(func(client *api.Client) (api.Outcome, error) { return client.Feedback(c.Context(), v) })
	}
}

// act does what takes no person, and says what came of it.
func (a *app) act(do func(*api.Client) (api.Outcome, error)) error {
	return a.asking(func(client *api.Client) error {
		out, err := do(client)
		if err == nil {
			a.tell(out)
		}
		return err
	})
}

// listing prints what a node lists: as JSON, in a table, or the sentence for none.
func listing[T any](a *app, all []T, err error, none string, header []string, row func(T) []string) error {
	switch {
	case err != nil:
		return err
	case a.json:
		return a.printJSON(api.List[T](all))
	case len(all) == 0:
		_, err := fmt.Fprintln(a.out, none)
		return err
	}
	rows := [][]string{header}
	for _, v := range all {
		rows = append(rows, row(v))
	}
	table(a.out, "", rows)
	return nil
}

// sharing lets a person agree to something about a lane.
func (a *app) sharing(c *cobra.Command, name, prompt string, do func(context.Context, *api.Client, api.Lane, api.Prover) (api.Outcome, error)) error {
	return a.byPerson(c, prompt, func(client *api.Client, by api.Prover) (api.Outcome, error) {
		all, err := client.Lanes()
		if err != nil {
			return api.Outcome{}, err
		}
		l, err := api.FindLane(all, name)
		if err != nil {
			return api.Outcome{}, err
		}
		return do(c.Context(), client, l, by)
	})
}
