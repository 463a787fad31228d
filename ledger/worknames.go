package ledger

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// Names of sides and conflicts: what people and agents call them. A name is made of the id alone, so every computer
// calls a thing the same.
const (
	// NameDigits is how many digits a whole name has.
	NameDigits = 18
	// NameShown is how many of them are shown where that is clear.
	NameShown = 7
)

// NameOf is the number in the names INT-…, S-… and CF-… of an id, all [NameDigits] of it.
func NameOf(id ID) string {
	sum := sha256.Sum256(append([]byte("parley-name/1\x00"), id[:]...))
	return fmt.Sprintf("%0*d", NameDigits, binary.BigEndian.Uint64(sum[:8])%1_000_000_000_000_000_000)
}

// BranchSide is the id of a branch, or of a pull request "#42", as a side.
func BranchSide(host string, repo uint64, name string) ID {
	return hashed("parley-branch/1\x00", mustEncoded(struct {
		_    struct{} `cbor:",toarray"`
		Host string
		Repo uint64
		Name string
	}{Host: host, Repo: repo, Name: name}))
}

// ConflictID is the id of a conflict between live work: the same overlap of the same sides has the same one whenever
// it is found. Roots are the sides': of the first intent that a session declares, the session's id, so that the name
// stays when the conflict moves to the intent; of any other side its own. They are in ascending order, but in that
// of the sentence where the sides have different parts (contract_break, dependency_order). about is given where one
// pair of sides can have several conflicts of that kind.
func ConflictID(host string, repo uint64, kind string, roots []ID, about []string) ID {
	paths := make([]Path, len(about))
	for i, s := range about {
		paths[i] = Path(s)
	}
	return hashed("parley-conflict/1\x00", mustEncoded(struct {
		_     struct{} `cbor:",toarray"`
		Host  string
		Repo  uint64
		Kind  string
		Roots []ID
		About []Path
	}{Host: host, Repo: repo, Kind: kind, Roots: roots, About: paths}))
}
