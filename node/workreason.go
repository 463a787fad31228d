package node

import (
	"crypto/ed25519"
	"fmt"
	"slices"

	"github.com/parley-mesh/parley/conflicts/overlap"
	"github.com/parley-mesh/parley/lanes"
	"github.com/parley-mesh/parley/ledger"
	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/internal/sealed"
)

// readersMax is for how many computers a reason is encrypted: each takes some 150 bytes of a record.
const readersMax = 16

// sealReason encrypts why a person overrides a conflict, for this developer's computers and those of its sides.
func (l *live) sealReason(c overlap.Conflict, reason string) ([]byte, error) {
	devices := []ledger.Device{l.n.id.Device()}
	add := func(some ...ledger.Device) {
		for _, d := range some {
			if !slices.Contains(devices, d) && len(devices) < readersMax {
				devices = append(devices, d)
			}
		}
	}
	for _, s := range c.Sides {
		add(s.Device)
	}
	add(l.n.roster.get().Devices()...)
	for _, s := range c.Sides {
		if i := slices.IndexFunc(l.n.lanes.rosters(), func(r lanes.Roster) bool { return r.Fleet == s.Developer }); i >= 0 {
			add(l.n.lanes.rosters()[i].Devices()...)
		}
	}
	var keys []ed25519.PublicKey
	for _, d := range devices {
		if d != (ledger.Device{}) {
			keys = append(keys, ed25519.PublicKey(d[:]))
		}
	}
	box, err := sealed.For(keys, []byte(reason))
	if err == nil && len(box) > ledger.ReasonBytesMax {
		err = fmt.Errorf("%w: the reason is too long once it is encrypted", api.ErrUsage)
	}
	return box, err
}

// openReason is a reason that this computer can read, else "".
func (l *live) openReason(box []byte) string {
	if len(box) == 0 {
		return ""
	}
	text, err := sealed.Open(l.n.id.Key(), box)
	if err != nil {
		return "(encrypted for others)"
	}
	return string(text)
}
