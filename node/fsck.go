package node

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/parley-mesh/parley/ledger/disk"
	"github.com/parley-mesh/parley/node/api"
)

// LedgerCheck is what a check of a home's ledger found, and what became of it.
type LedgerCheck struct {
	Ledgers    int    `json:"ledgers"`
	Records    int    `json:"records"`
	Mended     int    `json:"mended"`                // heads, index entries and families that were wrong and are right now
	Unreadable int    `json:"unreadable"`            // records set aside: bytes changed; peers bring them again
	Gaps       int    `json:"gaps"`                  // chains that miss records; peers bring them
	MovedTo    string `json:"moved_to,omitempty"`    // where a ledger that could not be read at all went
	Contended  int    `json:"contended,omitempty"`   // records beyond the first at their place: no fault of this disk
	NothingYet bool   `json:"nothing_yet,omitempty"` // no node has run on this home
}

// Faults counts what was not as it should be, mended or not.
func (c LedgerCheck) Faults() int {
	n := c.Mended + c.Unreadable + c.Gaps
	if c.MovedTo != "" {
		n++
	}
	return n
}

// CheckLedger reads the whole ledger of a home on which no node runs, mends what follows from the records,
// and sets records aside whose bytes have changed, so that the next exchange with another computer brings
// them again (case 43). Records themselves are never changed. [api.ErrHomeInUse] while a node runs.
func (h Home) CheckLedger(ctx context.Context) (c LedgerCheck, err error) {
	lock, err := h.Lock(ctx)
	if errors.Is(err, api.ErrHomeInUse) {
		if pid := h.pid(); pid != 0 {
			return c, api.WithHint(err, fmt.Sprintf("stop process %d, then run parley fsck", pid))
		}
	}
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	return h.ledger(true)
}

// LookAtLedger is [Home.CheckLedger] without changing anything; damaged files are an error.
func (h Home) LookAtLedger(ctx context.Context) (c LedgerCheck, err error) {
	lock, err := h.Lock(ctx)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	return h.ledger(false)
}

func (h Home) ledger(mend bool) (LedgerCheck, error) {
	if !isDir(h.LedgerDir()) {
		return LedgerCheck{NothingYet: true}, nil
	}
	r, err := disk.Fsck(h.LedgerDir(), mend)
	return LedgerCheck{
		Ledgers: r.Ledgers, Records: r.Records, Mended: r.Mended, Unreadable: r.Unreadable, Gaps: r.Gaps,
		MovedTo: r.Salvaged, Contended: r.Contended,
	}, err
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
