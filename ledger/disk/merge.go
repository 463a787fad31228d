package disk

import "time"

// Badger merges its tables in goroutines that wake forty times a second for as long as a store is open, which
// is most of what an idle node costs. They are left out; this one wakes when something was written.
const (
	mergeTables = 2       // tables of the uppermost level that are merged into those below
	mergeBytes  = 1 << 20 // written before it is looked whether there are so many
	mergeAgain  = 10 * time.Second
)

// grown tells the merger that a group was written. The writer's own.
func (s *Store) grown(bytes int) {
	if s.unmerged += bytes; s.unmerged < mergeBytes {
		return
	}
	s.unmerged = 0
	select {
	case s.growth <- struct{}{}:
	default: // it is told already
	}
}

// merge runs as long as the writer does. Writing goes on beside it, and waits in Badger at six tables that
// are not merged, so a merge that fails is tried again.
func (s *Store) merge() {
	defer close(s.merged)
	again := time.NewTimer(mergeAgain)
	again.Stop()
	defer again.Stop()
	for {
		if s.db.Levels()[0].NumTables >= mergeTables && (s.Low() || s.db.Flatten(1) != nil) {
			again.Reset(mergeAgain)
		}
		select {
		case <-s.growth:
		case <-again.C:
		case <-s.done:
			return
		}
	}
}
