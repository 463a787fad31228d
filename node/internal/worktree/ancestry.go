package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"
	commitgraph "github.com/go-git/go-git/v5/plumbing/format/commitgraph/v2"
)

// The commit graph, which git writes after each fetch: one file after a gc, else a chain of them.
const (
	graphFile = "objects/info/commit-graph"
	graphDir  = "objects/info/commit-graphs"
	chainFile = graphDir + "/commit-graph-chain"
)

// graph is git's commit graph. It holds every ancestor of each commit that it holds. A nil graph holds none.
type graph struct{ commitgraph.Index }

// openGraph opens the graph, or nil where there is none that can be read: it only makes answers cheap. The chain
// is put together here, since go-git's own way panics if a file vanishes under it.
func openGraph(dir string) *graph {
	if file, err := os.Open(filepath.Join(dir, filepath.FromSlash(graphFile))); err == nil {
		return (*graph)(nil).with(file)
	}
	list, err := os.Open(filepath.Join(dir, filepath.FromSlash(chainFile)))
	if err != nil {
		return nil
	}
	chain, err := commitgraph.OpenChainFile(list)
	if errors.Join(err, list.Close()) != nil {
		return nil
	}
	var g *graph
	for _, id := range chain {
		file, err := os.Open(filepath.Join(dir, filepath.FromSlash(graphDir), "graph-"+id+".graph"))
		if err != nil {
			g.close()
			return nil
		}
		if g = g.with(file); g == nil {
			return nil
		}
	}
	return g
}

// with puts a further file on top; nil, and everything closed, if it cannot be read.
func (g *graph) with(file *os.File) *graph {
	var below commitgraph.Index
	if g != nil {
		below = g.Index
	}
	index, err := commitgraph.OpenFileIndexWithParent(file, below)
	if err != nil {
		_ = file.Close() // it was only read
		g.close()
		return nil
	}
	return &graph{index}
}

func (g *graph) close() {
	if g != nil {
		_ = g.Index.Close() // its files were only read
	}
}

// position is where the graph has a commit.
func (g *graph) position(h plumbing.Hash) (uint32, bool) {
	if g == nil {
		return 0, false
	}
	at, err := g.GetIndexByHash(h)
	return at, err == nil
}

// maxWalk is how many commits are looked at for one question. At about 800 the git program is the faster one.
const maxWalk = 500

var errDeep = fmt.Errorf("%w: the history is too deep", errNotRead)

// descends reports whether new is old or has it among its ancestors.
func (r *reader) descends(ctx context.Context, new, old OID) (yes bool, err error) {
	err = r.try(ctx, func() error {
		yes, err = r.reaches(plumbing.NewHash(string(new)), plumbing.NewHash(string(old)))
		return err
	})
	return yes, err
}

// reaches goes first through the commits that the graph does not have yet. An old commit outside of the graph is
// no ancestor of one inside.
func (r *reader) reaches(new, old plumbing.Hash) (bool, error) {
	target, inGraph := r.graph.position(old)
	if !inGraph {
		if _, _, err := r.commit(old); err != nil {
			return false, err
		}
	}
	var below []uint32
	seen, todo := map[plumbing.Hash]bool{new: true}, []plumbing.Hash{new}
	for len(todo) > 0 {
		h := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if h == old {
			return true, nil
		}
		if at, known := r.graph.position(h); known {
			below = append(below, at)
			continue
		}
		_, parents, err := r.commit(h)
		if err != nil {
			return false, err
		}
		for _, p := range parents {
			if !seen[p] {
				seen[p], todo = true, append(todo, p)
			}
		}
		if len(seen) > maxWalk {
			return false, errDeep
		}
	}
	if !inGraph {
		return false, nil
	}
	return r.graph.reaches(below, target)
}

// reaches leaves out commits that stand too low in the graph to have target below them.
func (g *graph) reaches(from []uint32, target uint32) (bool, error) {
	goal, err := g.GetCommitDataByIndex(target)
	if err != nil {
		return false, err
	}
	seen, todo := map[uint32]bool{}, from
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if at == target {
			return true, nil
		}
		if seen[at] {
			continue
		}
		seen[at] = true
		if len(seen) > maxWalk {
			return false, errDeep
		}
		c, err := g.GetCommitDataByIndex(at)
		if err != nil {
			return false, err
		}
		switch {
		case c.Generation == 0 || goal.Generation == 0:
			return false, fmt.Errorf("%w: a commit graph without generations", errNotRead)
		case c.Generation > goal.Generation+maxWalk:
			return false, errDeep
		case c.Generation > goal.Generation:
			todo = append(todo, c.ParentIndexes...)
		}
	}
	return false, nil
}
