package worktree

import (
	"context"
	"fmt"
)

// Lost lists the former tips of GitHub's branch that its rewritten history no longer has and the local branch still
// has: a person is to decide about them. The list stands until either of the two changes, whatever process asks.
func (c *Checkout) Lost(ctx context.Context, m *Mirror, base string) ([]OID, error) {
	gone, err := m.Rewrites(ctx, base)
	if err != nil || len(gone) == 0 {
		return nil, err
	}
	local, err := c.LocalBranch(ctx, base)
	if err != nil || local == "" {
		return nil, err
	}
	var lost []OID
	for _, tip := range gone {
		has, err := c.git.hasCommit(ctx, tip)
		if err == nil && has {
			has, err = c.git.isAncestor(ctx, tip, local)
		}
		if err != nil {
			return nil, fmt.Errorf("lost commits of %s: %w", base, err)
		}
		if has {
			lost = append(lost, tip)
		}
	}
	return lost, nil
}
