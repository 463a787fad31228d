package node

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/ledger/disk"
)

func TestAnImportTakesWhatIsSignedByKnownComputersAndNothingElse(t *testing.T) {
	home := demoHome(t)
	n, err := start(t.Context(), RunConfig{Home: home, Demo: true})
	if err != nil {
		t.Fatal(err)
	}
	roster, said := closedThread(t, n)
	if _, err := n.store.Apply(disk.Batch{Records: roster}); err != nil {
		t.Fatal(err)
	}
	if err := n.close(); err != nil {
		t.Fatal(err)
	}
	wire := func(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
	wires := func(records ...*ledger.Record) (out []string) {
		for _, r := range records {
			out = append(out, wire(r.Wire))
		}
		return out
	}
	wants := func(what string, in []string, fresh, known, waiting int, refused ...string) {
		t.Helper()
		got, err := ImportThreads(t.Context(), home, in)
		if err != nil || got.New != fresh || got.Known != known || got.Waiting != waiting || len(got.Refused) != len(refused) {
			t.Fatalf("%s: %+v %v", what, got, err)
		}
		for i, why := range refused {
			if !strings.Contains(got.Refused[i].Why, why) {
				t.Errorf("%s: %+v, want %q", what, got.Refused[i], why)
			}
		}
	}
	changed := append([]byte(nil), said[0].Wire...)
	changed[len(changed)-1] ^= 1 // of the signature
	stranger := saidBy(t, 9, 1)
	wants("nothing opens it", wires(said[1]), 0, 0, 0, "opens its conversation")
	wants("a stranger's", wires(stranger...), 0, 0, 0, "its author is no computer of yours")
	wants("what is no record", []string{wire(changed), "?", "", wire(roster[0].Wire)}, 0, 0, 0, "signature", "base64url", "", "no record of a conversation")
	wants("a part", wires(said[0], said[2]), 1, 0, 1)
	wants("the whole, with a stranger's between", wires(said[2], stranger[0], said[1], said[0]), 2, 1, 0, "its author")
	wants("once more", wires(said...), 0, 3, 0)
	r, done, err := OpenReader(home)
	if err != nil {
		t.Fatal(err)
	}
	defer done() //nolint:errcheck // it was only read
	if got, err := r.Thread("acme/shop#42"); err != nil || len(got.Records) != len(said) {
		t.Errorf("the conversation has %d records: %v", len(got.Records), err)
	}
}
