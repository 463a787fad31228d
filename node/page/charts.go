package page

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/parley-mesh/parley/node/api"
)

// chart is columns of one or two series of numbers.
type chart struct {
	Title, Means string
	None         string // said while every number is 0
	Of, Count    string // what a column is, and what its height counts
	Series       []string
	Columns      []column
}

type column struct {
	Name   string
	Short  string // below the column
	Values []int  // as the chart's series
}

// A chart is drawn in a box of 340 by 176, so that its words can be read on a narrow screen: what it counts above the
// columns, what they are below them.
const (
	chartWidth  = 340
	chartBase   = 140
	chartHeight = 106
	labelWidth  = 44
)

var (
	barStyles = []string{"bar-found", "bar-gone"}
	keyStyles = []string{"key-found", "key-gone"}
)

// bar is one number as it is drawn.
type bar struct {
	X, Y, Width, Value int
	Style              string
}

func (c chart) tallest() (most int) {
	for _, x := range c.Columns {
		most = max(most, slices.Max(x.Values))
	}
	return most
}

func (c chart) bars() (out []bar) {
	place := chartWidth / len(c.Columns)
	width := min(30, (place-4)/len(c.Series))
	for i, x := range c.Columns {
		left := i*place + (place-width*len(c.Series))/2
		for k, v := range x.Values {
			if v > 0 {
				out = append(out, bar{left + k*width, chartBase - max(1, chartHeight*v/c.tallest()), width - 1, v, barStyles[k]})
			}
		}
	}
	return out
}

type chartLabel struct {
	X    int
	Text string
}

// labels are as many as fit.
func (c chart) labels() (out []chartLabel) {
	place := chartWidth / len(c.Columns)
	every := max(1, (labelWidth+place-1)/place)
	for i, x := range c.Columns {
		if (len(c.Columns)-1-i)%every == 0 {
			out = append(out, chartLabel{i*place + place/2, x.Short})
		}
	}
	return out
}

func (s *Server) saved(ctx context.Context, _ url.Values) (shown, error) {
	h, err := s.Live.History(ctx, api.HistoryQuery{Max: auditLines})
	off := errors.Is(err, api.ErrAgentsOff)
	if err != nil && !off {
		return shown{}, err
	}
	threads, err := s.Reader.Threads()
	if err != nil {
		return shown{}, err
	}
	turns, err := s.turns(threads)
	if err != nil {
		return shown{}, err
	}
	charts := []chart{overTime(h.Audit, s.Now()), toSettle(h.Audit, threads), turns}
	return shown{"Est. time saved", savedView(h.Saved, off, charts), fmt.Sprintf("%d minutes", h.Saved.Minutes)}, nil
}

// daysShown is how far the chart of conflicts over time goes back.
const daysShown = 14

// overTime counts what was found and what went on each of the last days.
func overTime(lines []api.AuditLine, now time.Time) chart {
	c := chart{
		Title: "Conflicts over time", Means: "Conflicts of live work in the last 14 days.", None: "None in the last 14 days.",
		Of: "Day (" + now.Local().Format("MST") + ")", Count: "Conflicts", Series: []string{"found", "gone"},
	}
	for i := range daysShown {
		at := now.AddDate(0, 0, i-daysShown+1).Local()
		c.Columns = append(c.Columns, column{at.Format("2006-01-02"), at.Format("01-02"), make([]int, 2)})
	}
	for _, l := range lines {
		name := l.At.Local().Format("2006-01-02")
		i := slices.IndexFunc(c.Columns, func(x column) bool { return x.Name == name })
		which := slices.Index([]string{"found", "gone"}, l.Action)
		if i >= 0 && which >= 0 {
			c.Columns[i].Values[which]++
		}
	}
	return c
}

// spans are how long it took, each with what is below it.
var spans = []struct {
	name, short string
	below       time.Duration
}{
	{"less than 5 minutes", "< 5 min", 5 * time.Minute},
	{"less than half an hour", "< 30 min", 30 * time.Minute},
	{"less than 2 hours", "< 2 h", 2 * time.Hour},
	{"less than a day", "< 1 day", 24 * time.Hour},
	{"a day and more", "longer", 1<<63 - 1},
}

// toSettle counts how long conflicts of live work and conversations took from their beginning to their end.
func toSettle(lines []api.AuditLine, threads []api.ThreadLine) chart {
	c := chart{
		Title: "Time to settle", Means: "From when a conflict was found, or a conversation opened, to when it was over.", None: "Nothing was settled yet.",
		Of: "Time it took", Count: "How many", Series: []string{"conflicts of live work", "conversations"},
	}
	for _, x := range spans {
		c.Columns = append(c.Columns, column{x.name, x.short, make([]int, 2)})
	}
	count := func(series int, took time.Duration) {
		for i, x := range spans {
			if took < x.below {
				c.Columns[i].Values[series]++
				return
			}
		}
	}
	since := map[string]time.Time{}
	for _, l := range slices.Backward(lines) { // oldest first
		began, goes := since[l.Conflict]
		switch l.Action {
		case "found":
			if !goes {
				since[l.Conflict] = l.At
			}
		case "gone", "resolve", "override", "false_positive":
			if goes && (l.Action != "false_positive" || l.Person) {
				count(0, l.At.Sub(began))
				delete(since, l.Conflict)
			}
		}
	}
	for _, t := range threads {
		if !t.Closed.IsZero() {
			count(1, t.Closed.Sub(t.Since))
		}
	}
	return c
}

// threadsCounted is how many conversations the chart of turns has: each is read whole.
const threadsCounted = 8

// turns counts the agent turns that conversations took.
func (s *Server) turns(threads []api.ThreadLine) (chart, error) {
	c := chart{
		Title: "Agent turns spent", Means: "Of the latest conversations, over all rounds. A round has at most 3 turns for each computer and 24 in all; records cost nothing.",
		None: "No agent was woken yet.", Of: "Conversation", Count: "Turns", Series: []string{"turns"},
	}
	latest := slices.SortedStableFunc(slices.Values(threads), func(a, b api.ThreadLine) int { return b.Since.Compare(a.Since) })
	for _, line := range slices.Backward(latest[:min(len(latest), threadsCounted)]) {
		t, err := s.Reader.Thread(line.ID)
		if errors.Is(err, api.ErrNoThread) {
			continue // it was forgotten meanwhile
		}
		if err != nil {
			return c, err
		}
		_, number, _ := strings.Cut(line.Ref, "#")
		c.Columns = append(c.Columns, column{line.Ref, "#" + number, []int{spent(t.Records)}})
	}
	return c, nil
}

// spent is how many turns the records of a conversation tell of. Each computer counts up within a round, and from
// the start in the next one.
func spent(records []api.ThreadRecord) (all int) {
	last := map[string]uint64{}
	for _, r := range records {
		more := r.Turns
		if more >= last[r.Who] {
			more -= last[r.Who]
		}
		all, last[r.Who] = all+int(more), r.Turns
	}
	return all
}
