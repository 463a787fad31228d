package node

import (
	"testing"
	"time"

	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/ledger/disk"
	"github.com/parley-mesh/parley/mesh"
	"github.com/parley-mesh/parley/node/core"
)

func TestWhatIsSaidAfterARestartComesAfterWhatWasSaidBefore(t *testing.T) { // case 40
	id := mesh.NewIdentity([32]byte{1})
	store, err := disk.Open(disk.Options{Dir: t.TempDir(), Compactors: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	n := &Node{id: id, store: store, wall: time.Now}
	fleet := ledger.FleetID(id.Device(), [16]byte{1})
	say := func(inc byte, content ledger.Body) *ledger.Record {
		n.inc = ledger.Incarnation{inc}
		r, err := n.seal(core.Append{Ledger: fleet, Content: content})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := store.Apply(disk.Batch{Records: []*ledger.Record{r}}); err != nil {
			t.Fatal(err)
		}
		return r
	}
	say(1, &ledger.Genesis{Nonce: [16]byte{1}})
	before := say(1, &ledger.Name{Device: id.Device(), Name: "laptop"})

	after := say(2, &ledger.Name{Device: id.Device(), Name: "desktop"})

	if after.Lam <= before.Lam {
		t.Errorf("its logical time is %d, before the restart it was %d", after.Lam, before.Lam)
	}
}
