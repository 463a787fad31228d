package node

import (
	"slices"
	"time"
)

// touch is who says that it edits a path of a checkout. The lock of [live] guards it.
type touch struct {
	last *session // who edited it last, as its hook told; nil: nobody
	now  []try    // edits that were begun and of which nothing was told since, in order
}

// try is an edit that an agent was about to make.
type try struct {
	by   *session
	call string    // as the agent calls it; "" where it does not
	ends time.Time // when it counts no more, since its turn is over; zero: it may still be made
}

// trying notes an edit that is about to be made.
func (s *spot) trying(path string, t try) {
	at := s.touched[path]
	if at == nil {
		if len(s.touched) >= editsMax {
			return
		}
		at = &touch{}
		s.touched[path] = at
	}
	at.now = append(at.now, t)
}

// touch notes an edit that was made.
func (s *spot) touch(path string, t try) {
	s.tried(path, t)
	if s.touched[path] == nil {
		s.touched[path] = &touch{}
	}
	s.touched[path].last = t.by
}

// tried notes that an edit is not underway any more: what was touched before it is touched still.
func (s *spot) tried(path string, t try) {
	at := s.touched[path]
	if at == nil {
		return
	}
	i := slices.IndexFunc(at.now, func(o try) bool { return o.by == t.by && (o.call == t.call || o.call == "" || t.call == "") })
	if i >= 0 {
		at.now = slices.Delete(at.now, i, i+1)
	}
	if at.last == nil && len(at.now) == 0 {
		delete(s.touched, path)
	}
}

// turnOver ends what a session was about to edit: an edit that nobody told the end of was refused, or it is seen in a moment.
func (l *live) turnOver(s *session, now time.Time) {
	for _, top := range sortedKeys(l.spots) {
		for path, at := range l.spots[top].touched {
			at.now = slices.DeleteFunc(at.now, func(t try) bool { return !t.ends.IsZero() && now.After(t.ends) })
			for i := range at.now {
				if by := at.now[i].by; (by == s || by.parent == s) && at.now[i].ends.IsZero() {
					at.now[i].ends = now.Add(shellAfter)
				}
			}
			if at.last == nil && len(at.now) == 0 {
				delete(l.spots[top].touched, path)
			}
		}
	}
}

// editor is who has touched a path: of those that are at it now whoever began last, where it has changed, else who edited it
// last. nil: nobody that goes on.
func (s *spot) editor(path string, changed bool, now time.Time) *session {
	at := s.touched[path]
	if at == nil {
		return nil
	}
	if changed {
		for _, t := range slices.Backward(at.now) {
			if !t.by.ended && (t.ends.IsZero() || !now.After(t.ends)) {
				return t.by
			}
		}
	}
	if at.last != nil && !at.last.ended {
		return at.last
	}
	return nil
}
