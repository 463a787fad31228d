package simnet

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/parley-mesh/parley/ledger"
)

// pathNames are the files of the one repository, ascending.
var pathNames = [...]string{"api.go", "cart.go", "docs.md", "main.go", "pay.go", "ship.go"}

const pathCount = len(pathNames)

// blob is one content; 0 is the absent file.
type blob int32

// commit is one commit; 0 is none. A commit's parents have smaller numbers.
type commit int32

// content is a file as a set of lines. Every edit brings a line that nobody else ever writes, so that what
// is lost can be told.
type content struct {
	id      ledger.OID
	lines   []int32 // ascending
	markers bool    // holds conflict markers
}

type commitData struct {
	id      ledger.OID
	parents [2]commit
	tree    [pathCount]blob
	before  bits            // the commit and its ancestors
	reach   [pathCount]bits // every version of a path in those
}

// git is the object store that all computers and GitHub share. Who may know what is the business of those
// who use it.
type git struct {
	blobs    []content
	commits  []commitData
	byBlob   map[ledger.OID]blob
	byCommit map[ledger.OID]commit
	line     int32
	buf      []byte
}

func newGit() *git {
	return &git{
		blobs: make([]content, 1), commits: make([]commitData, 1),
		byBlob: map[ledger.OID]blob{}, byCommit: map[ledger.OID]commit{"": 0},
	}
}

func (g *git) oid(kind byte, numbers ...int32) ledger.OID {
	g.buf = append(g.buf[:0], kind)
	for _, n := range numbers {
		g.buf = binary.BigEndian.AppendUint32(g.buf, uint32(n))
	}
	sum := sha256.Sum256(g.buf)
	return ledger.OID(sum[:20])
}

// write is the blob with these lines, which must be ascending.
func (g *git) write(lines []int32, markers bool) blob {
	kind := byte('b')
	if markers {
		kind = 'm'
	}
	id := g.oid(kind, lines...)
	if b, ok := g.byBlob[id]; ok {
		return b
	}
	g.blobs = append(g.blobs, content{id: id, lines: slices.Clone(lines), markers: markers})
	b := blob(len(g.blobs) - 1)
	g.byBlob[id] = b
	return b
}

// edit is a content with one more line of its own, and sometimes without an old one.
func (g *git) edit(b blob, drop bool) blob {
	lines := slices.Clone(g.blobs[b].lines)
	if drop && len(lines) > 1 {
		lines = lines[1:]
	}
	g.line++
	return g.write(append(lines, g.line), false)
}

// union is a content with the lines of both.
func (g *git) union(a, b blob) blob {
	lines := append(slices.Clone(g.blobs[a].lines), g.blobs[b].lines...)
	slices.Sort(lines)
	return g.write(slices.Compact(lines), false)
}

func (g *git) blobID(b blob) ledger.OID { return g.blobs[b].id }

func (g *git) id(c commit) ledger.OID { return g.commits[c].id }

func (g *git) tree(c commit) *[pathCount]blob { return &g.commits[c].tree }

// commit records a tree. The number in its id keeps two commits of one tree apart.
func (g *git) commit(tree [pathCount]blob, parents ...commit) commit {
	n := commit(len(g.commits))
	d := commitData{tree: tree, id: g.oid('c', int32(n))}
	copy(d.parents[:], parents)
	for _, p := range parents {
		d.before.join(g.commits[p].before)
		for i := range d.reach {
			d.reach[i].join(g.commits[p].reach[i])
		}
	}
	d.before.set(int(n))
	for i, b := range tree {
		d.reach[i].set(int(b))
	}
	g.commits = append(g.commits, d)
	g.byCommit[d.id] = n
	return n
}

// ancestor reports whether a is b or before it.
func (g *git) ancestor(a, b commit) bool { return a != 0 && g.commits[b].before.has(int(a)) }

func (g *git) mergeBase(a, b commit) commit {
	return commit(lastShared(g.commits[a].before, g.commits[b].before))
}

// merged is a trial merge: the tree where one side alone changed a file, and the files that both changed.
type merged struct {
	base      commit
	tree      [pathCount]blob
	conflicts []int
}

func (g *git) merge(ours, theirs commit) merged {
	m := merged{base: g.mergeBase(ours, theirs)}
	base, a, b := g.tree(m.base), g.tree(ours), g.tree(theirs)
	for i := range m.tree {
		switch {
		case a[i] == b[i], b[i] == base[i]:
			m.tree[i] = a[i]
		case a[i] == base[i]:
			m.tree[i] = b[i]
		default:
			m.tree[i] = a[i]
			m.conflicts = append(m.conflicts, i)
		}
	}
	return m
}

// resolve is the merge of theirs into ours as somebody who understands both would make it.
func (g *git) resolve(ours, theirs commit) commit {
	m := g.merge(ours, theirs)
	for _, i := range m.conflicts {
		m.tree[i] = g.union(g.tree(ours)[i], g.tree(theirs)[i])
	}
	return g.commit(m.tree, ours, theirs)
}
