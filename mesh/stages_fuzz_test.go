package mesh

import (
	"bytes"
	"testing"

	"github.com/parley-mesh/parley/ledger"
)

// sound wants every record of a shelf to be one that its author signed for its ledger.
func sound(t *testing.T, b *shelf) {
	t.Helper()
	for tid, chains := range b.chains {
		for _, records := range chains {
			for _, r := range records {
				if r.Ledger != tid || r.Verify(b.family[tid]) != nil {
					t.Errorf("a record of %s was taken that its author did not sign for it", r.Ledger.Short())
				}
			}
		}
	}
}

// stocked is a mesh that holds one thread.
func stocked(t *testing.T) (*Mesh, *shelf) {
	t.Helper()
	b := newShelf()
	both(t, newPen(NewIdentity([32]byte{1}), ledger.TID{5}).nod(t), &Mesh{c: Config{Book: b}})
	return alone(b), b
}

func FuzzStagesOfTheAnsweringSide(f *testing.F) {
	wire := newPen(NewIdentity([32]byte{2}), ledger.TID{7}).write(f).Wire
	hello := &ledger.Hello{Version: 1, Inc: ledger.Incarnation{9}, Now: 1, Digest: ledger.Digest{9}, Features: ledger.FeatureStages | ledger.FeatureTombs}
	one := []ledger.Listing{{Ledger: ledger.TID{5}, Digest: ledger.Digest{1}}}
	sent := &ledger.Records{Ledger: ledger.TID{7}, Family: ledger.Conversation, Wires: [][]byte{wire}}
	bye := &ledger.Bye{}
	f.Add(said(f, hello, &ledger.Have{Ledger: ledger.TID{5}}, bye, bye, sent, bye))
	f.Add(said(f, hello, &ledger.Bucket{Index: 5, Entries: one}, &ledger.Bucket{Index: 7}, bye, &ledger.Have{Ledger: ledger.TID{5}}, bye, sent, bye))
	f.Add(said(f, hello, &ledger.Tomb{Ledger: ledger.TID{7}, Open: wire, Spine: [][]byte{wire}}, bye, bye, bye))
	f.Fuzz(func(t *testing.T, in []byte) {
		m, b := stocked(t)
		defer m.cancel()
		_, _ = answered(m, in) // refusing is right, whatever it says
		sound(t, b)
	})
}

func FuzzStagesOfTheSideThatBegan(f *testing.F) {
	wire := newPen(NewIdentity([32]byte{2}), ledger.TID{7}).write(f).Wire
	hello := &ledger.Hello{Version: 1, Inc: ledger.Incarnation{9}, Now: 1, Digest: ledger.Digest{9}, Features: ledger.FeatureStages | ledger.FeatureTombs}
	detail := &ledger.Detail{Fleet: fleet, Roster: ledger.Digest{4}}
	one := []ledger.Listing{{Ledger: ledger.TID{5}, Digest: ledger.Digest{1}}}
	sent := &ledger.Records{Ledger: ledger.TID{7}, Family: ledger.Conversation, Wires: [][]byte{wire}}
	bye := &ledger.Bye{}
	f.Add(said(f, hello, detail, &ledger.List{Scope: ledger.ListAll, Entries: one}, &ledger.Have{Ledger: ledger.TID{5}}, bye, sent, bye))
	f.Add(said(f, hello, detail, &ledger.List{Scope: ledger.ListOpen, Entries: one}, &ledger.Buckets{Digests: make([]byte, 4096)}, bye, sent, bye))
	f.Fuzz(func(t *testing.T, in []byte) {
		m, b := stocked(t)
		defer m.cancel()
		x := ofMember(m, &script{in: bytes.NewReader(in)}, NewIdentity([32]byte{2}).Device())
		m.end(x, led(x))
		sound(t, b)
	})
}
