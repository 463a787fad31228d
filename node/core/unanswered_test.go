package core

import (
	"testing"
	"time"
)

func TestWhatGitHubDidNotAnswerIsNotedOnceAndAskedForWhenAPersonWants(t *testing.T) { // P10
	w := newWorld(t)
	c := w.people[0].core
	slug := c.cfg.Slugs[0]
	c.repos[slug].Repository = Repository{Slug: slug} // as before GitHub's first answer
	notes, scans := 0, 0
	count := func(effects []Effect) {
		for _, e := range effects {
			switch e := e.(type) {
			case Note:
				if e.Kind == "scan" {
					notes++
				}
			case Scan:
				scans++
			}
		}
	}
	for range 3 {
		w.now = w.now.Add(time.Hour)
		count(c.Handle(Scanned{Slug: slug, Err: "no such host"}, w.now))
	}
	if notes != 1 || scans != 0 {
		t.Errorf("%d notes, %d scans", notes, scans)
	}
	count(c.ScanNow(w.now))
	if scans != 1 {
		t.Errorf("%d scans after a person asked", scans)
	}
	count(c.Handle(Scanned{Slug: slug}, w.now))
	count(c.Handle(Scanned{Slug: slug, Err: "no such host"}, w.now))
	if notes != 2 {
		t.Errorf("%d notes after it was well in between", notes)
	}
}
