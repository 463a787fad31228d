package page

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/parley-mesh/parley/node/api"
)

// Moment is a time as templates show it.
type Moment = time.Time

// query is pairs of names and values as an address holds them.
func query(pairs ...string) string {
	q := url.Values{}
	for pair := range slices.Chunk(pairs, 2) {
		q.Add(pair[0], pair[1])
	}
	return q.Encode()
}

// values is pairs of names and values as htmx sends them.
func values(pairs ...string) string {
	m := map[string]string{}
	for pair := range slices.Chunk(pairs, 2) {
		m[pair[0]] = pair[1]
	}
	text, err := json.Marshal(m)
	if err != nil {
		panic(err) // strings can always be written
	}
	return string(text)
}

func word(on bool) string { return fmt.Sprintf("%t", on) }

// flip is what a switch asks for next.
func flip(on bool) string {
	if on {
		return "0"
	}
	return "1"
}

func agentsVerb(on bool) string {
	if on {
		return "agents off"
	}
	return "agents on"
}

func linesVerb(on bool) string {
	if on {
		return "agents lines off"
	}
	return "agents lines on"
}

// linesText is what a side has changed in one file, a line for each, with a mark before what is not so at the base.
func linesText(q api.ConflictLines) string {
	var b strings.Builder
	for i, line := range q.Lines {
		if i > 0 && line.Number != q.Lines[i-1].Number+1 {
			b.WriteString("⋮\n")
		}
		fmt.Fprintf(&b, "%4d %s %s\n", line.Number, map[bool]string{true: "+", false: " "}[line.Changed], line.Text)
	}
	if q.Cut {
		b.WriteString("…\n")
	}
	return b.String()
}

func mainVerb(s api.Status) string {
	if s.Main.Me {
		return "main off"
	}
	return "main on"
}

func mainHelp(s api.Status) string {
	const what = "The main computer alone looks at GitHub for conflicts, opens conversations and publishes results. "
	switch {
	case s.Main.State == "contested":
		return what + "Two computers claim the role now: nothing is opened or published."
	case s.Main.Me:
		return what + "It is this one."
	case s.Main.State == "live":
		return what + "It is " + s.Main.Name + "."
	}
	return what + "No computer has the role now."
}

func pathWords(p api.Peer) string {
	text := "connected"
	if p.Path != "" {
		text += ", " + p.Path
	}
	if p.Transport != "" {
		text += " (" + p.Transport + ")"
	}
	if p.LatencyMS > 0 {
		text += fmt.Sprintf(", %d ms", p.LatencyMS)
	}
	return text
}

// dot is one computer or developer on the map.
type dot struct {
	Name, Path   string
	Line, Dot    string
	X, Y, LabelY int
	MidX, MidY   int
}

// dotsMax is how many fit on the map; the list below it has all.
const dotsMax = 16

// dots stand around this computer, in the order of their names.
func dots(s api.Status) []dot {
	var out []dot
	for _, p := range s.Peers {
		out = append(out, mark(p.Name, p.Path, p.Connected))
	}
	for _, l := range s.Lanes {
		d := mark(l.Name, "", l.Connected)
		if l.Connected {
			d.Path = "lane"
		}
		d.Dot += " map-lane"
		out = append(out, d)
	}
	out = out[:min(len(out), dotsMax)]
	first := 0.0
	if len(out)%4 == 0 { // nobody stands straight below, where this computer's name is
		first = math.Pi / float64(len(out))
	}
	for i := range out {
		angle := first + 2*math.Pi*float64(i)/float64(len(out))
		d := &out[i]
		d.X, d.Y = 300+int(220*math.Cos(angle)), 125+int(88*math.Sin(angle))
		d.LabelY = d.Y + 28
		if d.Y < 125 {
			d.LabelY = d.Y - 18
		}
		d.MidX, d.MidY = (300+d.X)/2, (130+d.Y)/2-6
	}
	return out
}

func mark(name, path string, connected bool) dot {
	if !connected {
		return dot{Name: name, Line: "map-away", Dot: "map-pale"}
	}
	return dot{Name: name, Path: path, Line: "map-line", Dot: "map-dot"}
}

func mapWords(s api.Status) string {
	var parts []string
	for _, p := range s.Peers {
		state := "away"
		if p.Connected {
			state = "connected by " + p.Path
		}
		parts = append(parts, p.Name+" is "+state)
	}
	for _, l := range s.Lanes {
		state := "not connected"
		if l.Connected {
			state = "connected"
		}
		parts = append(parts, "the lane with "+l.Name+" is "+state)
	}
	return "Map: " + strings.Join(parts, "; ")
}

// diffLine is one line of a diff with how it is drawn.
type diffLine struct{ text, style string }

func diffLines(diff string) (out []diffLine) {
	for line := range strings.Lines(diff) {
		style := "diff-same"
		switch {
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "index "):
			style = "diff-file"
		case strings.HasPrefix(line, "@@"):
			style = "diff-at"
		case strings.HasPrefix(line, "+"):
			style = "diff-new"
		case strings.HasPrefix(line, "-"):
			style = "diff-old"
		}
		out = append(out, diffLine{strings.TrimRight(line, "\r\n"), style})
	}
	return out
}
