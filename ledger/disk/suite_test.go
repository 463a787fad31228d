package disk_test

import (
	"testing"

	"github.com/parley-mesh/parley/ledger/disk"
	"github.com/parley-mesh/parley/ledger/logtest"
)

// log is a store as the suite sees it.
type log struct{ *disk.Store }

func (l log) Apply(b logtest.Batch) ([]logtest.Outcome, error) {
	own := disk.Batch{Records: b.Records}
	for _, p := range b.Put {
		own.Put = append(own.Put, disk.Pair{Key: []byte(p.Key), Value: []byte(p.Value)})
	}
	for _, k := range b.Delete {
		own.Delete = append(own.Delete, []byte(k))
	}
	names := map[disk.Outcome]logtest.Outcome{
		disk.Stored: logtest.Stored, disk.Known: logtest.Known, disk.Waiting: logtest.Waiting, disk.Forked: logtest.Forked,
	}
	got, err := l.Store.Apply(own)
	var out []logtest.Outcome
	for _, o := range got {
		out = append(out, names[o])
	}
	return out, err
}

func (l log) Get(key string) (string, bool, error) {
	v, err := l.Store.Get([]byte(key))
	return string(v), v != nil, err
}

func (l log) Scan(prefix string) (out []logtest.Pair) {
	for k, v := range l.Store.Scan([]byte(prefix)) {
		out = append(out, logtest.Pair{Key: string(k), Value: string(v)})
	}
	return out
}

func kind(o disk.Options) logtest.Kind {
	return logtest.Kind{Forgets: o.InMemory, Open: func(t testing.TB, dir string) logtest.Log {
		t.Helper()
		o.Dir, o.MinFree = dir, 1
		s, err := disk.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		return log{s}
	}}
}

func TestAStoreOnDiskKeepsThePromises(t *testing.T) { // D-4, D-6, D-22
	logtest.Run(t, kind(disk.Options{Compactors: 2}))
}

func TestAStoreInMemoryKeepsThePromises(t *testing.T) {
	logtest.Run(t, kind(disk.Options{InMemory: true}))
}
