package github

import (
	"fmt"
	"strconv"
	"strings"
)

// signature is who wrote or committed a commit, and when (RFC 3339).
type signature struct{ name, email, date string }

// commitFacts is what a commit object says.
type commitFacts struct {
	oid, tree, message string
	parents            []string
	author, committer  signature
}

func (b bare) readCommit(oid string) (commitFacts, error) {
	out, err := b.git("show", "-s", "--format=%T%x00%P%x00%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%B", oid)
	if err != nil {
		return commitFacts{}, err
	}
	f := strings.SplitN(out, "\x00", 9)
	if len(f) != 9 {
		return commitFacts{}, fmt.Errorf("read commit %s: %d fields where 9 belong", oid, len(f))
	}
	return commitFacts{
		oid: oid, tree: f[0], parents: strings.Fields(f[1]), author: signature{f[2], f[3], f[4]},
		committer: signature{f[5], f[6], f[7]}, message: strings.TrimRight(f[8], "\n"),
	}, nil
}

// headline is the first line of the message, body what follows the blank line after it.
func (c commitFacts) headline() string {
	first, _, _ := strings.Cut(c.message, "\n")
	return first
}

func (c commitFacts) body() string {
	_, rest, _ := strings.Cut(c.message, "\n")
	return strings.TrimSpace(rest)
}

func (b bare) readBlob(oid string) ([]byte, error) {
	out, err := b.run(invocation{args: []string{"cat-file", "--batch"}, stdin: oid + "\n"})
	if err != nil {
		return nil, err
	}
	about, content, _ := strings.Cut(out, "\n")
	f := strings.Fields(about)
	if len(f) != 3 || f[1] != "blob" {
		return nil, fmt.Errorf("read blob %s: git says %q", oid, about)
	}
	size, err := strconv.Atoi(f[2])
	if err != nil || size > len(content) {
		return nil, fmt.Errorf("read blob %s: git says %q and gives %d octets", oid, about, len(content))
	}
	return []byte(content[:size]), nil
}

// changedFile is a file a pull request changes. A binary file counts no lines.
type changedFile struct {
	path                 string
	additions, deletions int
}

// pullSize is what a pull request changes.
type pullSize struct{ additions, deletions, files, commits int }

// forkPoint is where the head left the base; empty for unrelated histories.
func (p *Pull) forkPoint() string {
	base := p.now.BaseOID
	if tip := p.baseTip(); tip != "" && !p.now.Merged {
		base = tip
	}
	out, err := p.base.bare().git("merge-base", base, p.now.HeadOID)
	if err != nil {
		return ""
	}
	return out
}

func (p *Pull) changedFiles() ([]changedFile, error) {
	from := p.forkPoint()
	if from == "" {
		return nil, nil
	}
	out, err := p.base.bare().git("diff", "--numstat", "-z", "--no-renames", from, p.now.HeadOID)
	if err != nil {
		return nil, err
	}
	var files []changedFile
	for entry := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		f := strings.SplitN(entry, "\t", 3)
		if len(f) != 3 {
			continue
		}
		added, _ := strconv.Atoi(f[0])
		deleted, _ := strconv.Atoi(f[1])
		files = append(files, changedFile{path: f[2], additions: added, deletions: deleted})
	}
	return files, nil
}

func (p *Pull) size() (pullSize, error) {
	files, err := p.changedFiles()
	if err != nil {
		return pullSize{}, err
	}
	size := pullSize{files: len(files)}
	for _, f := range files {
		size.additions += f.additions
		size.deletions += f.deletions
	}
	if from := p.forkPoint(); from != "" {
		out, err := p.base.bare().git("rev-list", "--count", from+".."+p.now.HeadOID)
		if err != nil {
			return pullSize{}, err
		}
		if size.commits, err = strconv.Atoi(out); err != nil {
			return pullSize{}, fmt.Errorf("count commits of %s#%d: %w", p.base.FullName(), p.Number, err)
		}
	}
	return size, nil
}
