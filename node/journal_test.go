package node

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parley-mesh/parley/node/core"
)

func TestALogThatGrowsBeginsANewFileAndGoesOnCounting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	j, err := openJournal(path, nil, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	const lines = 300
	long := strings.Repeat("x", journalBytesMax/lines*2)
	for range lines {
		j.add(core.Note{Level: "do", Text: long})
	}
	if err := j.close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, path + ".1"} {
		if info, err := os.Stat(name); err != nil || info.Size() > journalBytesMax+journalBytesMax/10 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	again, err := openJournal(path, nil, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer again.close()
	got := again.since(0, lines)
	if n := len(got); n < lines/2 || got[n-1].Seq != lines || got[0].Seq != uint64(lines-n+1) {
		t.Errorf("after a restart: %d lines, the last %d", n, got[len(got)-1].Seq)
	}
}
