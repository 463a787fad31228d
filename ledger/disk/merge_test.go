package disk

import (
	"crypto/sha256"
	"encoding/binary"
	"testing"
	"time"
)

// grow writes n values of 64 KiB that cannot be compressed.
func grow(t testing.TB, s *Store, n int) {
	t.Helper()
	value := make([]byte, 64<<10)
	for i := range n {
		var key [8]byte
		binary.BigEndian.PutUint64(key[:], uint64(i))
		name := sha256.Sum256(key[:])
		for at := 0; at < len(value); at += 32 {
			binary.BigEndian.PutUint64(name[:], uint64(at))
			block := sha256.Sum256(name[:])
			copy(value[at:], block[:])
		}
		if _, err := s.Apply(Batch{Put: []Pair{{append([]byte("v/"), key[:]...), value}}}); err != nil {
			t.Fatal(err)
		}
	}
}

// settled waits until no more tables lie on the uppermost level than are left unmerged.
func settled(t testing.TB, s *Store) {
	t.Helper()
	for end := time.Now().Add(3 * time.Minute); s.db.Levels()[0].NumTables > mergeTables; {
		if time.Now().After(end) {
			t.Fatalf("%d tables lie unmerged", s.db.Levels()[0].NumTables)
		}
		grow(t, s, 20) // more news for the merger
	}
}

func TestAStoreThatGrowsIsMergedAndNeverStalls(t *testing.T) { // D-8
	dir := t.TempDir()
	s := open(t, Options{Dir: dir, Compactors: 2})
	grow(t, s, 1200) // 75 MiB, nine memory tables: without merging it stalls at six
	settled(t, s)
	closed(t, s)

	s = open(t, Options{Dir: dir, Compactors: 2})
	defer closed(t, s)
	n := 0
	for range s.Scan([]byte("v/")) {
		n++
	}
	if n != 1200 {
		t.Errorf("%d values, want 1200", n)
	}
}
