package mesh

import (
	"testing"

	"github.com/parley-mesh/parley/ledger"
)

// times is how often something was refused for a reason.
func times(m *Mesh, why Refusal) uint64 { return m.Refused()[why].Times }

func TestEveryRefusalHasItsWord(t *testing.T) { // S18
	seen := map[string]bool{"": true}
	for _, r := range new(Counters).All() {
		if seen[r.Why] {
			t.Errorf("the word %q is empty or there twice", r.Why)
		}
		seen[r.Why] = true
	}
}

func TestWhatIsRefusedInAnExchangeIsCountedByItsReason(t *testing.T) { // S18
	hello := &ledger.Hello{Version: 1, Now: 1, Digest: ledger.Digest{9}}
	good := newPen(NewIdentity([32]byte{2}), ledger.TID{7}).write(t)
	forged := append([]byte(nil), good.Wire...)
	forged[len(forged)-1] ^= 1
	sent := func(wire []byte) []byte {
		return said(t, hello, &ledger.List{Scope: ledger.ListAll}, &ledger.Bye{},
			&ledger.Records{Ledger: ledger.TID{7}, Family: ledger.Conversation, Wires: [][]byte{wire}}, &ledger.Bye{})
	}
	for why, in := range map[Refusal][]byte{
		RefusedSignature: sent(forged),
		RefusedMalformed: append(said(t, hello), 2, 0xff, 0xff),
		RefusedProtocol:  said(t, hello, &ledger.Bye{}),
	} {
		m := alone(newShelf())
		if _, err := answered(m, in); err == nil {
			t.Errorf("%s: the exchange ends well", why)
		}
		if n := times(m, why); n != 1 {
			t.Errorf("%s: counted %d times", why, n)
		}
		m.cancel()
	}
}
