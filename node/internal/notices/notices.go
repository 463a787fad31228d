// Package notices tells a person on their desktop what has come into the inbox: once for each change, never in
// quiet hours, and taken back when the matter is settled. [Book] decides, a [Desktop] shows.
package notices

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
)

// atOnceMax is how many notices come one by one; more are one digest.
const atOnceMax = 2

// digestKey is the key of the notice that stands for several.
const digestKey = "digest"

// Settings are when a person wants to be told.
type Settings struct {
	On      bool
	Quiet   *Span         // hours of each day without notices; nil: none
	Digest  time.Duration // since midnight: all notices of a day as one, then; negative: as they come
	Snoozed time.Time     // no notice before
}

// Span is a part of every day, from and to since midnight. From later than to goes over midnight.
type Span struct{ From, To time.Duration }

// ParseSpan reads "22:00-07:00".
func ParseSpan(s string) (Span, error) {
	from, to, ok := strings.Cut(s, "-")
	a, err := ParseClock(from)
	b, err2 := ParseClock(to)
	if !ok || err != nil || err2 != nil || a == b {
		return Span{}, fmt.Errorf("hours %q: want for example 22:00-07:00", s)
	}
	return Span{a, b}, nil
}

// ParseClock reads "09:30" as the time since midnight.
func ParseClock(s string) (time.Duration, error) {
	t, err := time.Parse("15:04", s)
	if err != nil {
		return 0, fmt.Errorf("time %q: want for example 09:30", s)
	}
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute, nil
}

func (s Span) holds(at time.Duration) bool {
	if s.From < s.To {
		return s.From <= at && at < s.To
	}
	return at >= s.From || at < s.To
}

// clock is a time since midnight, in the zone that the time is in.
func clock(t time.Time) time.Duration {
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute + time.Duration(t.Second())*time.Second
}

// Matter is one card of the inbox.
type Matter struct {
	Key   string
	Title string
	What  string // tells changes of one matter apart; it is not shown
}

func (m Matter) mark() string {
	sum := sha256.Sum256([]byte(m.Title + "\n" + m.What))
	return hex.EncodeToString(sum[:8])
}

// Told is one matter of which the person was told.
type Told struct {
	Key  string `json:"key"`
	Mark string `json:"mark"`
	By   string `json:"by"` // key of the notice
}

// Shown is one notice that stands on the desktop.
type Shown struct {
	Key string `json:"key"`
	ID  uint32 `json:"id"` // of the desktop
}

// Book is what was told and what stands on the desktop. It is kept over restarts.
type Book struct {
	Told   []Told    `json:"told"`
	Shown  []Shown   `json:"shown"`
	Digest time.Time `json:"digest,omitzero"` // when the day's digest was last due
}

// Step is one thing to do on the desktop: to show a notice, in place of the one with the same key, or to take
// one back.
type Step struct {
	Key   string
	Hide  bool
	Title string
	Body  string
}

// Next is what to do now that the inbox holds these matters. Times of day are those of now's zone. What it returns
// counts as told.
func (b *Book) Next(matters []Matter, s Settings, now time.Time) []Step {
	out := b.settle(matters)
	if !s.On {
		b.Told = nil // who switches notices on is told of what waits then
		return out
	}
	if !b.may(s, now) {
		return out
	}
	var fresh []Matter
	for _, m := range matters {
		if !slices.ContainsFunc(b.Told, func(t Told) bool { return t.Key == m.Key && t.Mark == m.mark() }) {
			fresh = append(fresh, m)
		}
	}
	if len(fresh) == 0 {
		return out
	}
	if len(fresh) > atOnceMax || s.Digest >= 0 && len(fresh) > 1 {
		return append(out, b.digest(fresh))
	}
	for _, m := range fresh {
		b.tell(m, m.Key)
		out = append(out, Step{Key: m.Key, Title: m.Title, Body: "parley inbox"})
	}
	return out
}

// settle forgets what no longer waits, and takes back the notices that were about nothing else.
func (b *Book) settle(matters []Matter) []Step {
	b.Told = slices.DeleteFunc(b.Told, func(t Told) bool {
		return !slices.ContainsFunc(matters, func(m Matter) bool { return m.Key == t.Key })
	})
	var out []Step
	for _, n := range b.Shown {
		if !slices.ContainsFunc(b.Told, func(t Told) bool { return t.By == n.Key }) {
			out = append(out, Step{Key: n.Key, Hide: true})
		}
	}
	return out
}

// may reports whether the person wants to be told now.
func (b *Book) may(s Settings, now time.Time) bool {
	if now.Before(s.Snoozed) || s.Quiet != nil && s.Quiet.holds(clock(now)) {
		return false
	}
	if s.Digest < 0 {
		return true
	}
	y, m, d := now.Date()
	due := time.Date(y, m, d, 0, 0, 0, 0, now.Location()).Add(s.Digest)
	if now.Before(due) || !b.Digest.Before(due) {
		return false
	}
	b.Digest = now
	return true
}

func (b *Book) tell(m Matter, by string) {
	b.Told = slices.DeleteFunc(b.Told, func(t Told) bool { return t.Key == m.Key })
	b.Told = append(b.Told, Told{Key: m.Key, Mark: m.mark(), By: by})
}

func (b *Book) digest(fresh []Matter) Step {
	lines := make([]string, 0, 3)
	for _, m := range fresh {
		b.tell(m, digestKey)
		if len(lines) < cap(lines) {
			lines = append(lines, m.Title)
		}
	}
	if n := len(fresh) - len(lines); n > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", n))
	}
	return Step{Key: digestKey, Title: fmt.Sprintf("parley: %d things wait for you", len(fresh)), Body: strings.Join(append(lines, "parley inbox"), "\n")}
}

// ID is the number under which a notice stands on the desktop; 0 for none.
func (b *Book) ID(key string) uint32 {
	for _, n := range b.Shown {
		if n.Key == key {
			return n.ID
		}
	}
	return 0
}

// Done notes what came of a step: the number of the notice that stands there now, 0 for none.
func (b *Book) Done(key string, id uint32) {
	b.Shown = slices.DeleteFunc(b.Shown, func(n Shown) bool { return n.Key == key })
	if id != 0 {
		b.Shown = append(b.Shown, Shown{key, id})
	}
}
