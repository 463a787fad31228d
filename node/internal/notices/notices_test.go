package notices

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var (
	noon    = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	ordered = Settings{On: true, Digest: -1}
)

func matter(key string) Matter { return Matter{Key: key, Title: "Approve " + key, What: "1"} }

// words is what a person sees of steps.
func words(steps []Step) string {
	var out []string
	for _, s := range steps {
		if s.Hide {
			out = append(out, "-"+s.Key)
		} else {
			out = append(out, "+"+s.Key)
		}
	}
	return strings.Join(out, " ")
}

// next carries the steps out on a desktop that numbers notices.
func (b *Book) next(t testing.TB, want string, s Settings, at time.Time, matters ...Matter) {
	t.Helper()
	steps := b.Next(matters, s, at)
	if got := words(steps); got != want {
		t.Errorf("at %s: %q, want %q", at.Format(time.DateTime), got, want)
	}
	for i, s := range steps {
		id := uint32(i + 1)
		if s.Hide {
			id = 0
		}
		b.Done(s.Key, id)
	}
}

func TestEachChangeIsToldOnceAndGoesWhenItIsSettled(t *testing.T) {
	var b Book
	b.next(t, "+a", ordered, noon, matter("a"))
	b.next(t, "", ordered, noon, matter("a"))
	changed := matter("a")
	changed.What = "2"
	b.next(t, "+a", ordered, noon, changed)
	b.next(t, "+b", ordered, noon, changed, matter("b"))
	b.next(t, "-a", ordered, noon, matter("b"))
	b.next(t, "-b", ordered, noon)
	b.next(t, "+a", ordered, noon, matter("a")) // it came back
}

func TestManyAtOnceAreOneDigest(t *testing.T) {
	var b Book
	steps := b.Next([]Matter{matter("a"), matter("b"), matter("c"), matter("d")}, ordered, noon)
	if len(steps) != 1 || steps[0].Title != "parley: 4 things wait for you" || steps[0].Body != "Approve a\nApprove b\nApprove c\nand 1 more\nparley inbox" {
		t.Fatalf("%+v", steps)
	}
	b.Done(digestKey, 9)
	b.next(t, "", ordered, noon, matter("a"))
	b.next(t, "-digest", ordered, noon)
}

func TestQuietHoursAndSnoozingHoldNoticesBack(t *testing.T) {
	span, err := ParseSpan("22:00-07:00")
	if err != nil {
		t.Fatal(err)
	}
	quiet := ordered
	quiet.Quiet = &span
	night := time.Date(2026, 5, 1, 23, 30, 0, 0, time.UTC)
	for _, at := range []time.Time{night, night.Add(4 * time.Hour), time.Date(2026, 5, 1, 22, 0, 0, 0, time.UTC), time.Date(2026, 5, 1, 6, 59, 59, 0, time.UTC)} {
		var b Book
		b.next(t, "", quiet, at, matter("a"))
	}
	var b Book
	b.next(t, "+a", quiet, noon, matter("a"))
	b.next(t, "", quiet, night, matter("a"), matter("b"), matter("c"))
	b.next(t, "-a", quiet, night, matter("b"), matter("c")) // what is settled goes in quiet hours, too
	b.next(t, "+b +c", quiet, night.Add(8*time.Hour), matter("b"), matter("c"))

	snoozed := ordered
	snoozed.Snoozed = noon.Add(time.Hour)
	b.next(t, "", snoozed, noon, matter("b"), matter("c"), matter("d"))
	b.next(t, "+d", snoozed, noon.Add(time.Hour), matter("b"), matter("c"), matter("d"))
}

func TestADailyDigestComesOnceADay(t *testing.T) {
	daily := ordered
	daily.Digest = 9 * time.Hour
	morning := time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC)
	var b Book
	b.next(t, "", daily, morning, matter("a"), matter("b"))
	b.next(t, "+digest", daily, morning.Add(time.Hour), matter("a"), matter("b"))
	b.next(t, "", daily, morning.Add(2*time.Hour), matter("a"), matter("b"), matter("c"))
	b.next(t, "+c", daily, morning.Add(26*time.Hour), matter("a"), matter("b"), matter("c"))
}

func TestWhoSwitchesNoticesOffSeesNoneAndLosesNone(t *testing.T) {
	var b Book
	b.next(t, "+a", ordered, noon, matter("a"))
	b.next(t, "-a", Settings{Digest: -1}, noon)
	b.next(t, "", Settings{Digest: -1}, noon, matter("b"))
	b.next(t, "+b", ordered, noon, matter("b"))
}

func TestOddHoursAreRefused(t *testing.T) {
	for _, s := range []string{"", "22:00", "22-7", "25:00-07:00", "07:00-07:00", "a-b"} {
		if _, err := ParseSpan(s); err == nil {
			t.Errorf("%q was taken", s)
		}
	}
}

// Whatever comes and goes: a matter that stays the same is never told twice, and nothing stands on the desktop that no
// matter is behind.
func TestNothingIsToldTwiceAndNothingStaysBehind(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b Book
		stands, seen := map[string]bool{}, map[string]bool{}
		at := noon
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			at = at.Add(time.Duration(rapid.IntRange(0, 600).Draw(t, "minutes")) * time.Minute)
			var all []Matter
			present := map[string]bool{}
			for i := range 6 {
				if rapid.Bool().Draw(t, "there") {
					m := matter(fmt.Sprint(i))
					all, present[m.Key] = append(all, m), true
				}
			}
			for key := range seen {
				if !present[key] {
					delete(seen, key)
				}
			}
			before := len(b.Told)
			for _, s := range b.Next(all, ordered, at) {
				if s.Hide {
					delete(stands, s.Key)
					b.Done(s.Key, 0)
					continue
				}
				if s.Key != digestKey && seen[s.Key] {
					t.Fatalf("%s was told twice", s.Key)
				}
				stands[s.Key] = true
				b.Done(s.Key, 1)
			}
			for _, told := range b.Told {
				seen[told.Key] = true
			}
			if len(all) == 0 && len(stands) > 0 || len(b.Told) != len(all) {
				t.Fatalf("stands %v, told %d (before %d), of %d", stands, len(b.Told), before, len(all))
			}
		}
	})
}
