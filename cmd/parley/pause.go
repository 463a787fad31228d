package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-mesh/parley/node/api"
)

// fillPause is [app.fill] for the verbs about pauses.
func (a *app) fillPause(v api.Verb, c *cobra.Command) bool {
	switch v.Name {
	case "pause":
		c.Use, c.Args, c.RunE = "pause [DURATION]", cobra.MaximumNArgs(1), a.pause
	case "resume":
		c.RunE = a.resume
	default:
		return false
	}
	return true
}

func (a *app) pause(c *cobra.Command, args []string) error {
	var length time.Duration
	if len(args) > 0 {
		var err error
		if length, err = parseLength(args[0]); err != nil {
			return usage(c, err.Error())
		}
	}
	_, client, err := a.running()
	if err != nil {
		return err
	}
	out, err := client.Pause(c.Context(), length)
	if err = errors.Join(err, client.Close()); err != nil {
		return err
	}
	a.tell(out)
	return nil
}

func (a *app) resume(c *cobra.Command, _ []string) error {
	_, client, err := a.running()
	if err != nil {
		return err
	}
	out, err := client.Resume(c.Context())
	if err = errors.Join(err, client.Close()); err != nil {
		return err
	}
	a.tell(out)
	return nil
}

// lengthMaxDays is how long somebody may ask for quiet at once.
const lengthMaxDays = 90

// parseLength reads 90m, 2h or 3d.
func parseLength(s string) (time.Duration, error) {
	given := s
	if days, ok := strings.CutSuffix(s, "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 31); err == nil {
			s = strconv.FormatUint(24*min(n, 2*lengthMaxDays), 10) + "h"
		}
	}
	d, err := time.ParseDuration(s)
	switch {
	case err != nil || d <= 0:
		return 0, fmt.Errorf("%q is no duration; want for example 90m, 2h or 3d", given)
	case d > lengthMaxDays*24*time.Hour:
		return 0, fmt.Errorf("%s is too long; want at most %dd", given, lengthMaxDays)
	}
	return d, nil
}

// pausedWords is the line of the status about a pause.
func pausedWords(p api.Pause) string {
	if p.Until.IsZero() {
		return "Paused until you run parley resume: nothing is opened, woken or written here."
	}
	return "Paused until " + until(p.Until) + " (parley resume): nothing is opened, woken or written here."
}

// until is an end in words: with its date, as it may be weeks away.
func until(t time.Time) string { return t.Local().Format(api.UntilForm) }
